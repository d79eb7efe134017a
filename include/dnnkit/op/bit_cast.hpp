// SPDX-License-Identifier: MIT
// The bits of floating-point numbers as integers, and back: ONNX's BitCast in two operators. (Between integers of one
// width it is a Cast.)
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

// Each number's bits, as an integer as wide. The element type is an attribute, as at() is not told of it.
struct bits_of_real {
  dtype from = f32;

  static constexpr std::string_view name = "BitCast.BitsOfReal";
  static constexpr form kind = form::point;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("from", self.from); }

  constexpr void infer(inference& c) const {
    if (c.require(from == f32 || from == f64, "only bits of 32 and 64-bit floats are supported") &&
        c.require(c.type(0) == from, "the input is of another type than the attribute says"))
      c.out(from == f32 ? i32 : i64, c.in(0));
  }
  static constexpr footprint reads(const inference& c, std::size_t) { return footprint::same(c.rank(0)); }
  std::int64_t at(const auto&, const coordinates& o, auto x) const {
    if (from == f32) return std::bit_cast<std::int32_t>(static_cast<float>(x(o)));
    return std::bit_cast<std::int64_t>(static_cast<double>(x(o)));
  }
};

// The number whose bits each integer is. (A NaN may lose the mark that it is a signalling one.)
struct real_of_bits {
  dtype to = f32;

  static constexpr std::string_view name = "BitCast.RealOfBits";
  static constexpr form kind = form::point;
  static constexpr element_kinds accepts = element_kinds::integral;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("to", self.to); }

  constexpr void infer(inference& c) const {
    if (c.require(to == f32 || to == f64, "only 32 and 64-bit floats are supported") &&
        c.require(c.type(0) == (to == f32 ? i32 : i64), "the input must be i32 for f32, i64 for f64"))
      c.out(to, c.in(0));
  }
  static constexpr footprint reads(const inference& c, std::size_t) { return footprint::same(c.rank(0)); }
  double at(const auto&, const coordinates& o, auto x) const {
    const auto bits = static_cast<std::int64_t>(x(o));
    if (to == f32) return static_cast<double>(std::bit_cast<float>(static_cast<std::int32_t>(bits)));
    return std::bit_cast<double>(bits);
  }
};

}  // namespace op

}  // namespace dnnkit
