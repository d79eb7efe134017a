// SPDX-License-Identifier: MIT
// ONNX operators that carry state from one run of a generating model to the next: TensorScatter (opset 24) and
// CausalConvWithState (27).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
  node_context::require(channels.is_known() && k.is_known() && k.value() > 0 && weight.size(1) == dim(1),
                        "the weight must be [channels, 1, k] with known extents");
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

}  // namespace dnnkit::onnx::detail
