// SPDX-License-Identifier: MIT
// ONNX's operators of random numbers: RandomUniform, RandomNormal, those of an input's shape, Bernoulli, Multinomial
// and Dropout in training. Numbers come of the node's seed alone (op/random.hpp), so a node without one is refused.
// ONNX leaves open which numbers they are.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

// Dropout's is an integer, of which the nearest 32-bit float is taken; those of the others are reals.
inline float seed_of(node_context& c) {
  const attribute* const seed = c.find("seed");
  node_context::require(seed != nullptr,
                        "has no attribute 'seed', and random numbers are those of a seed here: with one, every run of "
                        "the network gives the same");
  return seed->type == attribute_type::integer ? static_cast<float>(seed->i) : c.real_attribute("seed", 0);
}

inline tensor uniform_numbers(node_context& c, const shape& dims, dtype type) {
  op::random_uniform numbers;
  numbers.dims = dims;
  numbers.seed = seed_of(c);
  numbers.to = type;
  return c.apply(numbers, std::vector<tensor>{});
}

// Op with attributes of the node, for the shape of attribute `shape`, or, if `Like`, for that of the input.
template <class Op, bool Like> void convert_random(node_context& c) {
  Op numbers;
  const auto extents = Like ? std::nullopt : c.integers("shape");
  node_context::require(Like || extents.has_value(), "attribute 'shape' is missing");
  node_context::require(Like || std::ranges::all_of(*extents, [](std::int64_t n) { return n >= 0; }),
                        "attribute 'shape' has a negative extent");
  if constexpr (Like) {
    numbers.dims = c.dims(0);
    if (is_floating(c.type(0))) numbers.to = c.type(0);
    node_context::require(is_floating(c.type(0)) || c.has_attribute("dtype"),
                          "needs an attribute 'dtype', the input not being real");
  } else numbers.dims = list_of<shape>(*extents, "shape");
  if (c.has_attribute("dtype")) read_attribute(c, "dtype", numbers.to);
  seed_of(c);
  Op::attributes(numbers, [&](std::string_view name, auto& x) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(x)>, float>) read_attribute(c, name, x);
  });
  c.out(0, c.apply(numbers, std::vector<tensor>{}));
}

// 1 with the probability that the input says.
inline void convert_bernoulli(node_context& c) {
  const dtype type = c.type(0), computed = type == f64 ? f64 : f32;
  dtype to = type;
  read_attribute(c, "dtype", to);
  const tensor chosen = c.apply(op::less{}, {uniform_numbers(c, c.dims(0), computed), cast_to(c, c.in(0), computed)});
  c.out(0, cast_to(c, chosen, to));
}

// Logarithms of probabilities, each row but for a constant [batch, classes] -> classes [batch, sample_size]: the first
// whose cumulative probability is above a number from 0 to the sum of all. That number has 24 bits of fraction and the
// sums have 53, so that it is below the last of them.
inline void convert_multinomial(node_context& c) {
  node_context::require(c.rank(0) == 2, "the input must be [batch, classes]");
  const std::int64_t samples = c.integer("sample_size", 1);
  node_context::require(samples > 0, "attribute 'sample_size' must be above 0");
  dtype to = i32;
  read_attribute(c, "dtype", to);
  const tensor parts = c.apply(op::softmax{.axis = 1}, {cast_to(c, c.in(0), f64)});
  const tensor sums = c.apply(op::cum_sum{.axis = 1}, {parts});
  const tensor numbers = cast_to(c, uniform_numbers(c, {c.dims(0)[0], samples, 1}, f32), f64);
  const tensor whole = c.apply(op::unsqueeze{{2}}, {c.apply(op::reduce_sum{.axes = {1}, .keepdims = true}, {parts})});
  const tensor passed =
      c.apply(op::greater_or_equal{}, {c.apply(op::mul{}, {numbers, whole}), c.apply(op::unsqueeze{{1}}, {sums})});
  c.out(0, c.apply(op::reduce_sum{.axes = {2}, .keepdims = false}, {cast_to(c, passed, to)}));
}

// In training, each element is kept with the probability 1 - ratio, divided by it, and is 0 else.
inline void convert_training_dropout(node_context& c) {
  const tensor x = c.in(0);
  const dtype computed = x.type() == f64 ? f64 : f32;
  const auto real = [&](double v) { return c.state.constant(scalar_of(computed, known_element::of_real(v))); };
  const tensor ratio = c.has(1) ? cast_to(c, c.in(1), computed) : real(0.5);
  const tensor kept = c.apply(op::greater_or_equal{}, {uniform_numbers(c, c.dims(0), computed), ratio});
  const tensor scaled = c.apply(op::div{}, {cast_to(c, x, computed), c.apply(op::sub{}, {real(1), ratio})});
  c.out(0, cast_to(c, c.apply(op::where{}, {kept, scaled, real(0)}), x.type()));
  if (c.wants(1)) c.out(1, kept);
}

// Otherwise, and where nothing is left out, it passes its input on, and the mask keeps everything. Without a seed the
// ratio must be known, and 0.
inline void convert_dropout(node_context& c) {
  for (const char* name : {"ratio", "is_test", "consumed_inputs", "seed"}) c.ignore(name);
  if (c.opset < 7 && !c.flag("is_test", false)) node_context::refuse("random dropout in training is not supported");
  if (c.has(2) && c.number(2, "training_mode") != 0) {
    const bool known = c.has(1) && (c.known(1) != nullptr || !c.has_attribute("seed"));
    if (!known || c.real(1, "ratio") != 0) return convert_training_dropout(c);
  }
  c.alias(0, c.reference(0));
  if (!c.wants(1)) return;
  // the mask of what is kept, from opset 12 on; before, ONNX leaves it open and ONNX Runtime writes zeros
  if (c.opset < 10) c.out(1, known_elements{c.type(0), c.dims(0), {known_element::of_real(0)}});
  else c.out(1, known_elements{boolean, c.dims(0), {known_element::of_number(c.opset < 12 ? 0 : 1)}});
}

}  // namespace dnnkit::onnx::detail
