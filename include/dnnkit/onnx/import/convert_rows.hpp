// SPDX-License-Identifier: MIT
// ONNX's reductions, Softmax and normalisations: axes as attribute or input, and their older forms.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/onnx/import/convert_elementwise.hpp"
#include "dnnkit/onnx/import/convert_movement.hpp"
#include "dnnkit/onnx/import/convert_windows.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

// Whether the fold of one element is that element.
template <class Op>
inline constexpr bool keeps_one_element =
    !(std::same_as<Op, op::reduce_l1> || std::same_as<Op, op::reduce_l2> || std::same_as<Op, op::reduce_log_sum> ||
      std::same_as<Op, op::reduce_sum_square>);

// The fold of each element alone, in a row of its own.
template <class Op> tensor fold_of_each(node_context& c, tensor x) {
  if constexpr (keeps_one_element<Op>) return x;
  else if constexpr (std::same_as<Op, op::reduce_sum_square>) return c.apply(op::mul{}, {x, x});
  else if constexpr (std::same_as<Op, op::reduce_log_sum>) return c.apply(op::log{}, {x});
  else return c.apply(op::abs{}, {x});
}

// Axes are an attribute before opset 18 (ReduceSum: 13), an input later; none means all, unless noop_with_empty_axes.
// Where integers have a root or a logarithm for a result, it is that of their real numbers without its fraction, as in
// ONNX Runtime.
template <class Op, std::int64_t Since = 18> void convert_reduction(node_context& c) {
  const auto axes = list_argument(c, "axes", 1, Since);
  Op reduce;
  reduce.keepdims = c.flag("keepdims", true);
  const bool each = c.flag("noop_with_empty_axes", false) && (!axes || axes->empty());
  if (each && keeps_one_element<Op>) return c.alias(0, c.reference(0));
  const dtype type = c.type(0);
  const bool by_reals = is_integral(type) && !has(Op::accepts, element_kinds::integral);
  tensor x = by_reals ? cast_to(c, c.in(0), f64) : c.in(0);
  const bool scalar = c.rank(0) == 0 && !each;
  if (scalar) x = c.apply(op::reshape{shape{1}}, {x});
  if (axes) reduce.axes.list = to_int_list(*axes, "axes");
  tensor y = each ? fold_of_each<Op>(c, x) : c.apply(reduce, {x});
  if (scalar) y = c.apply(op::reshape{shape{}}, {y});
  c.out(0, cast_to(c, y, type));
}

// Up to opset 12 all axes from `axis` (1 if not given) on are one row.
template <class Op> void convert_softmax(node_context& c) {
  const auto rank = static_cast<std::int64_t>(c.rank(0));
  std::int64_t axis = c.integer("axis", c.opset < 13 ? 1 : -1);
  if (axis < 0) axis += rank;
  node_context::require(axis >= 0 && (axis < rank || (rank == axis && c.opset < 13)), "axis is outside the input");
  const tensor x = c.in(0);
  if (c.opset >= 13 || axis + 1 == rank) return c.out(0, c.apply(Op{axis}, {x}));
  const shape dims = x.dims();
  const tensor rows = c.apply(op::flatten{axis}, {x});
  c.out(0, c.apply(op::reshape{dims}, {c.apply(Op{1}, {rows})}));
}

// Scale and bias, and mean and variance, may be of other types than the input: all is computed in the widest.
inline void convert_batch_normalization(node_context& c) {
  op::batch_normalization norm;
  std::vector<tensor> inputs = c.all_inputs();
  const dtype type = inputs.at(0).type();
  dtype widest = type;
  for (const tensor& t : inputs)
    if (size_of(t.type()) > size_of(widest)) widest = t.type();
  for (tensor& t : inputs) t = cast_to(c, t, widest);
  norm.epsilon = c.real_attribute("epsilon", 1e-5f);
  for (const char* name : {"momentum", "consumed_inputs"}) c.ignore(name);
  node_context::require(c.integer("spatial", 1) != 0, "attribute 'spatial' = 0 is not supported");
  if (c.opset < 7) node_context::require(c.flag("is_test", false), "training is not supported");
  if (c.opset < 14) {
    for (std::size_t i = 1; i < c.node.outputs.size(); ++i)
      node_context::require(!c.wants(i), "outputs of training are not supported");
    return c.out(0, c.apply(norm, inputs));
  }
  if (!c.flag("training_mode", false)) return c.out(0, cast_to(c, c.apply(norm, inputs), type));
  op::batch_normalization_training training{norm.epsilon, c.real_attribute("momentum", 0.9f), 0};
  const dtype statistics_type = c.in(3).type();
  for (std::size_t i = 0; i < 3; ++i) {
    training.output = static_cast<std::int64_t>(i);
    if (c.wants(i)) c.out(i, cast_to(c, c.apply(training, inputs), i == 0 ? type : statistics_type));
  }
}

// The second and third output are the rows' means and reciprocal standard deviations.
inline void convert_layer_normalization(node_context& c) {
  op::layer_normalization norm = attributes_from<op::layer_normalization>(c);
  node_context::require(c.integer("stash_type", 1) == 1, "only stash_type = 1 is supported");
  c.out(0, c.apply(norm, given_inputs(c)));
  if (!c.wants(1) && !c.wants(2)) return;
  const tensor x = c.in(0);
  op::reduce_mean over;
  for (std::int64_t d = norm.axis < 0 ? norm.axis + x.rank() : norm.axis; d < x.rank(); ++d)
    over.axes.list.push_back(d);
  const tensor mean = c.apply(over, {x});
  if (c.wants(1)) c.out(1, mean);
  if (!c.wants(2)) return;
  const tensor centred = c.apply(op::sub{}, {x, mean});
  const tensor variance = c.apply(over, {c.apply(op::mul{}, {centred, centred})});
  const tensor moved = c.apply(op::add{}, {variance, c.graph().scalar(static_cast<double>(norm.epsilon), x.type())});
  c.out(2, c.apply(op::reciprocal{}, {c.apply(op::sqrt{}, {moved})}));
}

inline void convert_rms_normalization(node_context& c) {
  node_context::require(c.integer("stash_type", 1) == 1, "only stash_type = 1 is supported");
  c.out(0, c.apply(attributes_from<op::rms_normalization>(c), c.all_inputs()));
}

inline void convert_instance_normalization(node_context& c) {
  c.ignore("consumed_inputs");
  c.out(0, c.apply(attributes_from<op::instance_normalization>(c), c.all_inputs()));
}

// Up to opset 20 scale and bias have one element a group, later one a channel.
inline void convert_group_normalization(node_context& c) {
  const op::group_normalization norm = attributes_from<op::group_normalization>(c);
  c.ignore("stash_type");
  const tensor x = c.in(0);
  tensor scale = c.in(1), bias = c.in(2);
  if (c.opset < 21) {
    const dim channels = x.size(1),
              each = c.table().exact_div(channels, dim(norm.num_groups > 0 ? norm.num_groups : 1));
    const auto spread = [&](tensor t) {
      const tensor column = c.apply(op::reshape{shape{norm.num_groups, 1}}, {t});
      return c.apply(op::reshape{shape{channels}}, {c.apply(op::expand{shape{norm.num_groups, each}}, {column})});
    };
    node_context::require(norm.num_groups > 0 && !each.is_unknown(), "num_groups does not divide the channels");
    scale = spread(scale);
    bias = spread(bias);
  }
  c.out(0, c.apply(norm, {x, scale, bias}));
}

}  // namespace dnnkit::onnx::detail
