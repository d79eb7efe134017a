// SPDX-License-Identifier: MIT
// Random numbers of a seed: ONNX's RandomUniform and RandomNormal. Elements in row-major order come of the sequence of
// Philox4x32-10 (core/philox.hpp) whose key is the bits of the seed as a 32-bit float: the same in every run, on every
// target, whatever computes them.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "dnnkit/core/philox.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace detail {

inline constexpr traits generation_of_numbers{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};

// Number i of those of a seed, as the 2^bits-th parts in [0, 1) that it begins with.
constexpr double random_fraction(std::uint64_t i, float seed, int bits) {
  const std::uint64_t number = philox_number(i, {std::bit_cast<std::uint32_t>(seed), 0});
  const double parts = static_cast<double>(std::uint64_t{1} << bits);
  return static_cast<double>(number >> (64 - bits)) / parts;
}

// Bits of the significand of a type, the one that is not stored included.
constexpr int significant_bits(dtype type) { return type == f64 ? 53 : type == f16 ? 11 : type == bf16 ? 8 : 24; }

constexpr std::uint64_t row_major_position(const auto& c, const coordinates& o) {
  return static_cast<std::uint64_t>(linear_index(
      o, [&](std::size_t d) { return c.out(d); }, c.out_rank()));
}

constexpr bool takes_random_numbers(inference& c, const shape& dims, dtype type, float seed) {
  if (!c.require(is_floating(type), "random numbers are real")) return false;
  if (!c.require(seed == seed, "the seed is not a number")) return false;
  for (const dim& d : dims)
    if (!c.require_extent(d, "an extent")) return false;
  return true;
}

}  // namespace detail

namespace op {

// Numbers in [low, high): low + (high - low) u, where u is what number i of the sequence begins with, as many bits as
// the significand of `to` has, so that it is less than 1 in that type too.
struct random_uniform {
  shape dims = {};
  float low = 0, high = 1, seed = 0;
  dtype to = f32;

  static constexpr std::string_view name = "RandomUniform";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 0;
  static constexpr traits properties = detail::generation_of_numbers;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("shape", self.dims);
    visit("low", self.low);
    visit("high", self.high);
    visit("seed", self.seed);
    visit("to", self.to);
  }

  constexpr void infer(inference& c) const {
    if (detail::takes_random_numbers(c, dims, to, seed)) c.out(to, dims);
  }
  constexpr double at(const auto& c, const coordinates& o) const {
    const double width = static_cast<double>(high) - static_cast<double>(low);
    const double u = detail::random_fraction(detail::row_major_position(c, o), seed, detail::significant_bits(to));
    return static_cast<double>(low) + width * u;
  }
};

// Normally distributed numbers of the given mean and standard deviation, two at a time (Box, Muller: "A note on the
// generation of random normal deviates", 1958): mean + scale sqrt(-2 ln(1 - u)) cos(2 pi v), and sin for the second.
struct random_normal {
  shape dims = {};
  float mean = 0, scale = 1, seed = 0;
  dtype to = f32;

  static constexpr std::string_view name = "RandomNormal";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 0;
  static constexpr traits properties = detail::generation_of_numbers;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("shape", self.dims);
    visit("mean", self.mean);
    visit("scale", self.scale);
    visit("seed", self.seed);
    visit("to", self.to);
  }

  constexpr void infer(inference& c) const {
    if (detail::takes_random_numbers(c, dims, to, seed)) c.out(to, dims);
  }
  double at(const auto& c, const coordinates& o) const {
    const std::uint64_t i = detail::row_major_position(c, o), first = i - i % 2;
    const double radius = std::sqrt(-2 * std::log(1 - detail::random_fraction(first, seed, 53)));
    const double angle = 2 * std::numbers::pi * detail::random_fraction(first + 1, seed, 53);
    return static_cast<double>(mean) +
           static_cast<double>(scale) * radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
  }
};

}  // namespace op

}  // namespace dnnkit
