// SPDX-License-Identifier: MIT
// ONNX operators that carry state from one run of a generating model to the next: TensorScatter (opset 24),
// CausalConvWithState (27) and LinearAttention (27).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dnnkit/onnx/import/convert_attention.hpp"
#include "dnnkit/onnx/import/convert_elementwise.hpp"
#include "dnnkit/onnx/import/convert_movement.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

// past_cache, update, optional first positions [batch]: the update's rows written over the cache's, along `axis`.
inline void convert_tensor_scatter(node_context& c) {
  const tensor cache = c.in(0), update = c.in(1);
  const std::int64_t rank = cache.rank(), given = c.integer("axis", -2);
  const std::int64_t axis = given < 0 ? given + rank : given;
  node_context::require(axis > 0 && axis < rank, "axis must name one behind the batch");
  node_context::require(update.rank() == rank, "the ranks of cache and update differ");
  const dim length = update.size(axis), most = cache.size(axis);
  node_context::require(!length.is_known() || !most.is_known() || length.value() <= most.value(),
                        "the update is longer than the cache");
  for (std::int64_t d = 0; d < rank; ++d)
    node_context::require(
        d == axis || update.size(d) == cache.size(d) || c.table().note_equation(update.size(d), cache.size(d)),
        "the shapes of cache and update differ in more than the axis");
  const auto number = [&](dim d) { return c.state.constant(scalar_of(i64, c.arithmetic.to_element(d))); };
  const tensor zero = number(0), one = number(1);
  shape along = shape::filled(static_cast<std::size_t>(rank), 1), batch = along;
  along[static_cast<std::size_t>(axis)] = length;
  tensor places = c.apply(op::reshape{along}, {c.apply(op::range{length}, {zero, one})});
  if (c.has(2)) {
    node_context::require(c.rank(2) == 1, "write_indices must be one number for each element of the batch");
    batch[0] = c.dims(2)[0];
    const tensor first = c.apply(op::reshape{batch}, {cast_to(c, c.in(2), i64)});
    places = c.apply(op::add{}, {first, places});
  }
  if (c.choice("mode", {"linear", "circular"}, "linear") == 1) places = c.apply(op::mod{}, {places, number(most)});
  places = c.apply(op::expand{update.dims()}, {places});
  c.out(0, c.apply(op::scatter_elements{axis}, {cache, places, update}));
}

// x [B, C, L], weight [C, 1, k], optional bias [C] and past state [B, C, k - 1]: a convolution that sees what is before
// each element, zeros before the first where no state is given; the second output is the state to go on from.
inline void convert_causal_conv_with_state(node_context& c) {
  const tensor x = c.in(0), weight = c.in(1);
  node_context::require(x.rank() == 3 && weight.rank() == 3, "input and weight must have rank 3");
  const dim channels = weight.size(0), k = weight.size(2);
  constexpr std::string_view form = "the weight must be [channels, 1, k] with known extents";
  node_context::require_known({channels, k}, form);
  node_context::require(k.value() > 0 && weight.size(1) == dim(1), form);
  const std::int64_t before = k.value() - 1;
  tensor seen = x;  // with what is before it
  op::conv conv;
  conv.group = channels.value();
  conv.kernel_shape = {k.value()};
  if (c.has(3) && before > 0) seen = c.apply(op::concat{2}, {c.in(3), x});
  else conv.pads = {before, 0};
  const tensor read = conv.pads.empty() ? seen : x;
  tensor y = c.has(2) ? c.apply(conv, {read, weight, c.in(2)}) : c.apply(conv, {read, weight});
  if (c.choice("activation", {"none", "silu", "swish"}, "none") != 0) y = c.apply(op::swish{}, {y});
  c.out(0, y);
  if (!c.wants(1)) return;
  if (before == 0) return c.out(1, empty_tensor(c, x.type(), {x.size(0), x.size(1), 0}));
  if (!c.has(3)) seen = c.apply(op::pad{.pads = {0, 0, before, 0, 0, 0}}, {x});
  c.out(1, c.apply(op::split{2, x.size(2), before}, {seen}));
}

// Queries, keys and values [B, T, heads * size], optional state [B, heads, size of a key, size of a value], decay and
// rate of correction [B, T, ...]: in each step the state fades, is corrected towards the value at its key, and is read
// by the query. All in f32; one operator after the other for each step.
class linear_attention {
 public:
  explicit linear_attention(node_context& c) : c_(c), p_(c) {}

  void convert() {
    const std::int64_t rule = c_.choice("update_rule", {"linear", "gated", "delta", "gated_delta"}, "gated_delta");
    const bool fades = rule == 1 || rule == 3, corrects = rule >= 2;
    node_context::require(c_.has(4) == fades, "the input 'decay' does not fit the rule");
    node_context::require(c_.has(5) == corrects, "the input 'beta' does not fit the rule");
    c_.ignore("chunk_size");
    const std::int64_t q_heads = c_.integer("q_num_heads"), heads = c_.integer("kv_num_heads");
    node_context::require(heads > 0 && q_heads > 0 && q_heads % heads == 0,
                          "'q_num_heads' must be a multiple of 'kv_num_heads'");
    for (std::size_t i = 0; i < 3; ++i) node_context::require(c_.rank(i) == 3, "queries, keys and values have rank 3");
    const dim steps = c_.dims(0)[1];
    constexpr std::int64_t most_steps = 256;
    constexpr std::string_view number = "the number of steps must be known, from 1 to 256";
    node_context::require_known({steps}, number);
    node_context::require(steps.value() > 0 && steps.value() <= most_steps, number);
    const tensor q = split(0, q_heads), k = split(1, heads), v = split(2, heads);
    node_context::require_known({q.size(3)}, "the size of a head must be known");
    const dtype type = c_.type(0);
    tensor state = c_.has(3) ? cast_to(c_, c_.in(3), f32)
                             : c_.apply(op::expand{shape{k.size(0), heads, k.size(3), v.size(3)}}, {p_.number(0, f32)});
    double scale = static_cast<double>(c_.real_attribute("scale", 0));
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(q.size(3).value()));
    tensor decay, rate;
    if (fades) {  // one for each head, or for each element of its keys
      const bool each = c_.dims(4)[2] == dim(heads);
      decay = c_.apply(op::exp{}, {each ? one_a_head(4, heads) : split(4, heads)});
    }
    if (corrects) rate = one_a_head(5, c_.dims(5)[2] == dim(1) ? 1 : heads);
    std::vector<tensor> results;
    for (std::int64_t i = 0; i < steps.value(); ++i) {
      const tensor key = p_.transpose(at(k, i), {0, 1, 3, 2});  // a column
      tensor value = at(v, i);
      if (fades) state = p_.mul(state, p_.transpose(at(decay, i), {0, 1, 3, 2}));
      if (corrects) value = p_.mul(at(rate, i), p_.sub(value, c_.apply(op::matmul{}, {at(k, i), state})));
      state = p_.add(state, p_.mul(key, value));
      results.push_back(c_.apply(op::matmul{}, {at(q, i), p_.spread_heads(state, q_heads)}));
    }
    const tensor y = results.size() == 1 ? results[0] : c_.apply(op::concat{2}, results);
    c_.out(0, cast_to(c_, p_.join_heads(p_.mul(y, p_.number(scale, f32))), type));
    if (c_.wants(1)) c_.out(1, cast_to(c_, state, c_.has(3) ? c_.type(3) : type));
  }

 private:
  // Input i as [B, heads, T, size] or, with one element a head, [B, heads, T, 1], in f32.
  tensor split(std::size_t i, std::int64_t heads) {
    return cast_to(c_, p_.split_heads(c_.in(i), heads, "the number of heads"), f32);
  }
  tensor one_a_head(std::size_t i, std::int64_t heads) {
    node_context::require(c_.rank(i) == 3, "decay and beta have rank 3");
    return split(i, heads);
  }
  tensor at(tensor x, std::int64_t step) { return p_.part(x, 2, step, 1); }

  node_context& c_;
  attention_parts p_;
};
inline void convert_linear_attention(node_context& c) { linear_attention(c).convert(); }

}  // namespace dnnkit::onnx::detail
