// SPDX-License-Identifier: MIT
// A border around a tensor: ONNX's Pad, a guarded index map; and the same of elements of the tensor itself, which is an
// index map without a guard.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

enum class pad_mode : std::int64_t { constant, reflect, edge, wrap };

namespace op {

// pads: elements added before each axis, then after each axis; negative ones are taken away first. New elements are
// `value`, or the one element of the second input (constant), the nearest one of those left (edge), their mirror image
// about the first or last one (reflect), or they again (wrap). Where a symbol leaves no element to repeat, `value`.
struct pad {
  int_list pads = {};
  pad_mode mode = pad_mode::constant;
  float value = 0;

  static constexpr std::string_view name = "Pad";
  static constexpr std::string_view operands = "x, value";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2, optional_inputs = 1;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr traits properties{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("pads", self.pads);
    visit("mode", self.mode);
    visit("value", self.value);
  }

  constexpr void infer(inference& c) const {
    const std::size_t rank = c.rank(0);
    if (!c.require(pads.size() == 2 * rank, "pads must name two numbers for each axis")) return;
    shape s;
    for (std::size_t d = 0; d < rank; ++d) {
      const extent left = c.size(0, d) + std::min<std::int64_t>(pads[d], 0) + std::min<std::int64_t>(pads[d + rank], 0);
      const bool grows = pads[d] > 0 || pads[d + rank] > 0;
      const extent n = c.size(0, d) + pads[d] + pads[d + rank];
      if (!c.require(c.table().range(n).max >= 0, "pads take away more than there is")) return;
      if (!c.require(mode == pad_mode::constant || !grows || c.table().range(left).max > 0,
                     "there is no element to repeat"))
        return;
      s.push_back(n);
    }
    if (c.has(1) && !c.require_equal(c.count(1), "the number of values", 1, "expected")) return;
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    if (input == 1) return footprint::all(c.rank(1));
    footprint f;
    for (std::size_t d = 0; d < c.rank(0); ++d) {
      if (pads[d] == 0 && pads[d + c.rank(0)] == 0) f.axes.push_back(needs::same(d));
      else if (mode != pad_mode::constant) f.axes.push_back(needs::one_chosen);
      else f.axes.push_back(needs::window(d, 1, 1, 1, c.table().add(dim(0), pads[d])));
    }
    return f;
  }
  // The coordinate that mirroring about 0 and n - 1 takes p to.
  template <class Number> static constexpr Number reflected(Number p, Number n) {
    const Number period = select(n == Number(1), Number(1), Number(2) * (n - Number(1)));
    const Number r = (p % period + period) % period;
    return select(r < n, r, period - r);
  }
  // The elements that are left of the input along an axis, `count` of them from `first` on, lie in the output from
  // `begin` on.
  template <class N> struct part {
    std::int64_t first = 0;
    N count = 0;
    std::int64_t begin = 0;
  };
  template <class C> constexpr auto left(const C& c, std::size_t d) const {
    using number = std::remove_cvref_t<decltype(c.in(0, d))>;
    const std::int64_t before = pads[d], behind = pads[d + c.rank(0)];
    const std::int64_t first = mode == pad_mode::constant || before > 0 ? 0 : -before;
    const std::int64_t less = mode == pad_mode::constant || behind > 0 ? first : first - behind;
    return part<number>{first, c.in(0, d) - number(less), before + first};
  }
  template <class O, class V = absent> constexpr auto at(const auto& c, const O& o, auto x, V given = {}) const {
    using T = decltype(x(o));
    using number = coordinate_of<O>;
    O i{};
    auto is_read = number(0) == number(0);  // else the element is padding
    for (std::size_t d = 0; d < c.rank(0); ++d) {
      const part<number> rest = left(c, d);
      const number p = o[d] - number(rest.begin);
      const auto is_inside = both(p >= number(0), p < rest.count);
      i[d] = p + number(rest.first);
      if (mode == pad_mode::constant) {
        is_read = both(is_read, is_inside);
        continue;
      }
      is_read = both(is_read, rest.count > number(0));
      i[d] = variable(c, i[d]);
      when(c, both(is_read, negation(is_inside)),
           [&] { assign(c, i[d], repeated(mode, p, rest.count) + number(rest.first)); });
    }
    auto y = variable(c, [&] {
      if constexpr (is_present<V>) return spread<T>(given(O{}));
      else return output_element<T>(c, value);
    }());
    when(c, is_read, [&] { assign(c, y, x(i)); });
    return y;
  }
  // The position among n that p, outside of them, repeats.
  template <class Number> static constexpr Number repeated(pad_mode mode, Number p, Number n) {
    if (mode == pad_mode::wrap) return (p % n + n) % n;
    return mode == pad_mode::reflect ? reflected(p, n) : select(p < Number(0), Number(0), n - Number(1));
  }
  static constexpr dim flops(const inference&) { return 0; }
};

// Pad with elements of the input (mode: not constant), of which every axis that grows has some: passes put it where
// such a Pad was, since its elements can be read where they lie.
struct repeated_border {
  int_list pads = {};
  pad_mode mode = pad_mode::reflect;

  static constexpr std::string_view name = "RepeatedBorder";
  static constexpr form kind = form::movement;
  static constexpr traits properties = pad::properties;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("pads", self.pads);
    visit("mode", self.mode);
  }

  constexpr void infer(inference& c) const {
    const std::size_t rank = c.rank(0);
    if (!c.require(mode != pad_mode::constant, "a border of a constant is Pad's")) return;
    if (!c.require(pads.size() == 2 * rank, "pads must name two numbers for each axis")) return;
    for (std::size_t d = 0; d < rank; ++d)
      if (!c.require(pads[d] >= 0 && pads[d + rank] >= 0, "pads must not be negative") ||
          !c.require(pads[d] + pads[d + rank] == 0 || c.table().range(c.in(0)[d]).min > 0,
                     "there may be no element to repeat"))
        return;
    pad{pads, mode}.infer(c);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const { return pad{pads, mode}.reads(c, input); }
  constexpr bool forward(const movement&, view&) const {
    for (std::int64_t n : pads)
      if (n != 0) return false;
    return true;
  }
  constexpr auto at(const auto& c, const auto& o, auto x) const {
    using number = coordinate_of<decltype(o)>;
    std::remove_cvref_t<decltype(o)> i{};
    for (std::size_t d = 0; d < c.rank(0); ++d) {
      const number n = c.in(0, d), p = o[d] - number(pads[d]);
      if constexpr (std::is_integral_v<number>) i[d] = p >= 0 && p < n ? p : pad::repeated(mode, p, n);
      else if (const std::size_t rank = c.rank(0); pads[d] == 0 && pads[d + rank] == 0) i[d] = p;
      else i[d] = select(p < number(0), pad::repeated(mode, p, n), select(p < n, p, pad::repeated(mode, p, n)));
    }
    return x(i);
  }
};

}  // namespace op

inline constexpr function<op::pad> pad;

}  // namespace dnnkit
