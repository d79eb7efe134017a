// SPDX-License-Identifier: MIT
// Extents as data: those of a tensor, and numbers computed from the symbols of a graph, which is what arithmetic on
// extents becomes (a position, a scale by the length of a sequence).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

// No input -> i64 [values.size()], the values of known or symbolic dimensions.
struct dims {
  shape values = {};

  static constexpr std::string_view name = "Dims";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 0;
  static constexpr traits properties{.dynamic = dynamism::isdo};
  static constexpr bool has_numbers = true;  // its dimensions are no extents: they may be negative
  static constexpr void attributes(auto& self, auto&& visit) { visit("values", self.values); }

  constexpr void infer(inference& c) const {
    for (dim d : values)
      if (!c.require(!d.is_unknown(), "a value is not known")) return;
    c.out(i64, {static_cast<std::int64_t>(values.size())});
  }
  template <class O> constexpr auto at(const auto& c, const O& o) const {
    using number = coordinate_of<O>;
    if constexpr (std::integral<number>) return c.value(values[o[0]]);
    else {
      number n = c.value(values[0]);
      for (std::size_t i = 1; i < values.size(); ++i)
        n = select(o[0] == number(static_cast<std::int64_t>(i)), c.value(values[i]), n);
      return n;
    }
  }
  static constexpr dim flops(const inference&) { return 0; }
};

// The extents of axes start ... end - 1 of the input, of which no element is read: i64 [number of axes]. Negative
// positions count from the end, and what lies outside is clamped, as in ONNX's Shape.
struct shape_of {
  std::int64_t start = 0, end = max_rank;

  static constexpr std::string_view name = "Shape";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr traits properties{.dynamic = dynamism::isdo};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("start", self.start);
    visit("end", self.end);
  }

  constexpr std::size_t first(std::size_t rank) const { return clamped(start, rank); }
  constexpr std::size_t count(std::size_t rank) const {
    const std::size_t last = clamped(end, rank);
    return last > first(rank) ? last - first(rank) : 0;
  }
  constexpr void infer(inference& c) const { c.out(i64, {static_cast<std::int64_t>(count(c.rank(0)))}); }
  static constexpr footprint reads(const inference& c, std::size_t) {
    return footprint::all(c.rank(0), needs::nothing);
  }
  template <class O> constexpr auto at(const auto& c, const O& o, auto) const {
    using number = coordinate_of<O>;
    const std::size_t from = first(c.rank(0));
    if constexpr (std::integral<number>) return c.in(0, from + static_cast<std::size_t>(o[0]));
    else {
      number n = c.in(0, from);
      for (std::size_t i = 1; i < count(c.rank(0)); ++i)
        n = select(o[0] == number(static_cast<std::int64_t>(i)), c.in(0, from + i), n);
      return n;
    }
  }
  static constexpr dim flops(const inference&) { return 0; }

 private:
  static constexpr std::size_t clamped(std::int64_t position, std::size_t rank) {
    const auto n = static_cast<std::int64_t>(rank);
    const std::int64_t p = position < 0 ? position + n : position;
    return static_cast<std::size_t>(p < 0 ? 0 : p > n ? n : p);
  }
};

}  // namespace op

inline constexpr function<op::shape_of> shape_of;

}  // namespace dnnkit
