// SPDX-License-Identifier: MIT
// Operators of the domain com.microsoft that ONNX Runtime's optimiser makes of several of ONNX's: activations,
// products, convolutions and normalisations with what stands around them; and a few of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/convert_attention.hpp"
#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/onnx/import/convert_windows.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

// --- activations

inline void convert_microsoft_gelu(node_context& c) { c.out(0, c.apply(op::gelu{}, {c.in(0)})); }

// Gelu of the sum with a bias, where there is one.
template <gelu_approximation How> void convert_bias_gelu(node_context& c) {
  const tensor x = c.has(1) ? c.apply(op::add{}, {c.in(0), c.in(1)}) : c.in(0);
  c.out(0, c.apply(op::gelu{How}, {x}));
}

inline void convert_quick_gelu(node_context& c) {
  c.out(0, c.apply(op::swish{c.real_attribute("alpha", 1.702f)}, {c.in(0)}));
}

// What a fused operator applies to its result: a function and its parameters, by the names of ONNX Runtime.
struct fused_activation {
  using parameters = std::vector<float>;
  struct entry {
    std::size_t parameters;
    tensor (*apply)(node_context&, tensor, const fused_activation::parameters&);
  };

  static const std::map<std::string_view, entry>& table() {
    static const std::map<std::string_view, entry> functions{
        {"Relu", {0, [](auto& c, tensor x, auto&) { return c.apply(op::relu{}, {x}); }}},
        {"Tanh", {0, [](auto& c, tensor x, auto&) { return c.apply(op::tanh{}, {x}); }}},
        {"Sigmoid", {0, [](auto& c, tensor x, auto&) { return c.apply(op::sigmoid{}, {x}); }}},
        {"Softplus", {0, [](auto& c, tensor x, auto&) { return c.apply(op::softplus{}, {x}); }}},
        {"Softsign", {0, [](auto& c, tensor x, auto&) { return c.apply(op::softsign{}, {x}); }}},
        {"HardSwish", {0, [](auto& c, tensor x, auto&) { return c.apply(op::hard_swish{}, {x}); }}},
        {"LeakyRelu", {1, [](auto& c, tensor x, auto& p) { return c.apply(op::leaky_relu{p[0]}, {x}); }}},
        {"Elu", {1, [](auto& c, tensor x, auto& p) { return c.apply(op::elu{p[0]}, {x}); }}},
        {"ThresholdedRelu", {1, [](auto& c, tensor x, auto& p) { return c.apply(op::thresholded_relu{p[0]}, {x}); }}},
        {"HardSigmoid",
         {2,
          [](auto& c, tensor x, auto& p) {
            return c.apply(op::hard_sigmoid{p[0], p[1]}, {x});
          }}},
        {"Selu",
         {2,
          [](auto& c, tensor x, auto& p) {
            return c.apply(op::selu{p[0], p[1]}, {x});
          }}},
        {"Clip",
         {2,
          [](auto& c, tensor x, auto& p) {
            return c.apply(op::clip{p[0], p[1]}, {x});
          }}},
    };
    return functions;
  }
  static tensor of(node_context& c, tensor x, const std::string& name, const parameters& given) {
    if (name.empty()) return x;
    const auto found = table().find(name);
    if (found == table().end())
      node_context::refuse("attribute 'activation' is '" + name + "', which is not supported");
    if (given.size() < found->second.parameters)
      node_context::refuse("the activation " + name + " needs " + std::to_string(found->second.parameters) +
                           " parameters, the node gives " + std::to_string(given.size()));
    return found->second.apply(c, x, given);
  }
};

// --- products and convolutions

// X, W, optional bias, optional addend of the result's shape; then the activation.
inline void convert_fused_conv(node_context& c) {
  op::conv conv = attributes_from<op::conv>(c);
  kernel_from_weight(c, conv);
  check_window_lists(c, conv);
  apply_auto_pad(c, conv);
  tensor y = c.has(2) ? c.apply(conv, {c.in(0), c.in(1), c.in(2)}) : c.apply(conv, {c.in(0), c.in(1)});
  if (c.has(3)) y = c.apply(op::add{}, {y, c.in(3)});
  c.out(0, fused_activation::of(c, y, c.word("activation", ""),
                                c.reals("activation_params").value_or(std::vector<float>{})));
}

inline void convert_fused_gemm(node_context& c) {
  const tensor y = c.apply(attributes_from<op::gemm>(c), given_inputs(c));
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (c.has_attribute(name)) parameters.push_back(c.real_attribute(name, 0));
  c.out(0, fused_activation::of(c, y, c.word("activation", ""), parameters));
}

// An operand with its first axis in front of the last (`batch`), then with its last two exchanged (`last`).
inline tensor fused_operand(node_context& c, std::size_t i, bool batch, bool last) {
  const tensor x = c.in(i);
  if (x.rank() < 2 || (!batch && !last)) return x;
  int_list order;
  for (std::int64_t d = 0; d < x.rank(); ++d) order.push_back(d);
  const auto end = static_cast<std::size_t>(x.rank());
  if (batch)
    for (std::size_t d = 0; d + 1 < end; ++d) order[d] = d + 2 == end ? 0 : static_cast<std::int64_t>(d) + 1;
  if (last) std::swap(order[end - 2], order[end - 1]);
  return c.apply(op::transpose{order}, {x});
}
inline void convert_fused_matmul(node_context& c) {
  const tensor a = fused_operand(c, 0, c.flag("transBatchA", false), c.flag("transA", false));
  const tensor b = fused_operand(c, 1, c.flag("transBatchB", false), c.flag("transB", false));
  const auto alpha = static_cast<double>(c.real_attribute("alpha", 1));
  const tensor y = c.apply(op::matmul{}, {a, b});
  c.out(0, alpha == 1 ? y : c.apply(op::mul{}, {y, c.graph().scalar(alpha, y.type())}));
}

// --- normalisations

// The sum of those inputs that are given.
inline tensor sum_of_inputs(node_context& c, std::initializer_list<std::size_t> inputs) {
  tensor sum;
  for (const std::size_t i : inputs)
    if (c.has(i)) sum = sum.present() ? c.apply(op::add{}, {sum, c.in(i)}) : c.in(i);
  return sum;
}

// Input, what skips it, scale, optional shift, optional bias; the fourth output is the sum that is normalised.
inline void convert_skip_layer_normalization(node_context& c) {
  const tensor sum = sum_of_inputs(c, {0, 1, 4});
  const op::layer_normalization norm{-1, c.real_attribute("epsilon", 1e-12f)};
  c.out(0, c.has(3) ? c.apply(norm, {sum, c.in(2), c.in(3)}) : c.apply(norm, {sum, c.in(2)}));
  if (c.wants(3)) c.out(3, sum);
}
inline void convert_skip_simplified_layer_normalization(node_context& c) {
  const tensor sum = sum_of_inputs(c, {0, 1, 3});
  c.out(0, c.apply(op::rms_normalization{-1, c.real_attribute("epsilon", 1e-12f)}, {sum, c.in(2)}));
  if (c.wants(3)) c.out(3, sum);
}

// Of ONNX's own domain, though only ONNX Runtime has it; the second output is one over the root of the mean square.
inline void convert_simplified_layer_normalization(node_context& c) {
  const op::rms_normalization norm = attributes_from<op::rms_normalization>(c);
  node_context::require(c.integer("stash_type", 1) == 1, "only stash_type = 1 is supported");
  const tensor x = c.in(0);
  c.out(0, c.apply(norm, {x, c.in(1)}));
  if (!c.wants(1)) return;
  op::reduce_mean over;
  for (std::int64_t d = norm.axis < 0 ? norm.axis + x.rank() : norm.axis; d < x.rank(); ++d)
    over.axes.list.push_back(d);
  const tensor mean = c.apply(over, {c.apply(op::mul{}, {x, x})});
  const tensor moved = c.apply(op::add{}, {mean, c.graph().scalar(static_cast<double>(norm.epsilon), x.type())});
  c.out(1, c.apply(op::reciprocal{}, {c.apply(op::sqrt{}, {moved})}));
}

// Word numbers, optional segment numbers, the three tables, scale, shift, optional mask and positions. The second
// output is how many places of each text the mask keeps, the third the sum that is normalised.
inline void convert_embed_layer_normalization(node_context& c) {
  c.ignore("mask_index_type");
  attention_parts p(c);
  const tensor words = c.in(0);
  node_context::require(words.rank() == 2, "input_ids must be [batch, length]");
  tensor sum = c.apply(op::gather{0}, {c.in(2), words});
  const tensor positions = c.in(3);
  sum = p.add(sum, c.has(8) ? c.apply(op::gather{0}, {positions, c.in(8)}) : p.part(positions, 0, 0, words.size(1)));
  if (c.has(1)) sum = p.add(sum, c.apply(op::gather{0}, {c.in(4), c.in(1)}));
  c.out(0, c.apply(op::layer_normalization{-1, c.real_attribute("epsilon", 1e-12f)}, {sum, c.in(5), c.in(6)}));
  if (c.wants(2)) c.out(2, sum);
  if (!c.wants(1)) return;
  if (!c.has(7)) return c.out(1, c.apply(op::expand{shape{words.size(0)}}, {c.graph().scalar(0, i32)}));
  op::reduce_sum over;
  over.axes.list = {1};
  over.keepdims = false;
  c.out(1, c.apply(over, {cast_to(c, c.in(7), i32)}));
}

// --- others

// Softmax of the sum, where the elements of all axes from `axis` on are one row.
inline void convert_bias_softmax(node_context& c) {
  static_cast<void>(c.integer("is_inner_broadcast"));  // the shapes say the same
  const tensor x = c.in(0), sum = c.apply(op::add{}, {x, c.in(1)});
  node_context::require(sum.dims() == x.dims(), "the bias does not broadcast to the data's shape");
  std::int64_t axis = c.integer("axis", 1);
  if (axis < 0) axis += x.rank();
  node_context::require(axis >= 0 && axis < x.rank(), "axis is outside the input");
  if (axis + 1 == x.rank()) return c.out(0, c.apply(op::softmax{axis}, {sum}));
  const tensor rows = c.apply(op::flatten{axis}, {sum});
  c.out(0, c.apply(op::reshape{x.dims()}, {c.apply(op::softmax{1}, {rows})}));
}

// The order of axes that brings the channels from behind the spatial axes in front of them, or back.
inline int_list channels_first(std::int64_t rank) {
  int_list order{0, rank - 1};
  for (std::int64_t d = 1; d + 1 < rank; ++d) order.push_back(d);
  return order;
}
inline int_list channels_last(std::int64_t rank) {
  int_list order{0};
  for (std::int64_t d = 2; d < rank; ++d) order.push_back(d);
  order.push_back(1);
  return order;
}

inline void convert_nhwc_max_pool(node_context& c) {
  op::max_pool pool = attributes_from<op::max_pool>(c);
  check_window_lists(c, pool);
  apply_auto_pad(c, pool, 1);
  const tensor x = c.in(0);
  const tensor y = c.apply(pool, {c.apply(op::transpose{channels_first(x.rank())}, {x})});
  c.out(0, c.apply(op::transpose{channels_last(x.rank())}, {y}));
}

// The distance of each row of A [M, N] from each of B [K, N].
inline void convert_cdist(node_context& c) {
  const std::int64_t metric = c.choice("metric", {"sqeuclidean", "euclidean"}, "sqeuclidean");
  node_context::require(c.rank(0) == 2 && c.rank(1) == 2, "the inputs must be matrices");
  const tensor apart =
      c.apply(op::sub{}, {c.apply(op::unsqueeze{{1}}, {c.in(0)}), c.apply(op::unsqueeze{{0}}, {c.in(1)})});
  op::reduce_sum_square over;
  over.axes.list = {2};
  over.keepdims = false;
  const tensor squares = c.apply(over, {apart});
  c.out(0, metric == 0 ? squares : c.apply(op::sqrt{}, {squares}));
}

}  // namespace dnnkit::onnx::detail
