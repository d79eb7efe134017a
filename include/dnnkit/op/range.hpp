// SPDX-License-Identifier: MIT
// Tensors made from positions: ONNX's Range, EyeLike, Trilu, OneHot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

namespace op {

// start, delta (one element each) -> [count]: start + i delta; count is known or symbolic.
struct range {
  dim count = 0;

  static constexpr std::string_view name = "Range";
  static constexpr std::string_view operands = "start, delta";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) { visit("count", self.count); }

  constexpr void infer(inference& c) const {
    for (std::size_t i = 0; i < 2; ++i)
      if (!c.require_equal(c.count(i), "the number of elements of start or delta", 1, "expected")) return;
    if (c.require_extent(count, "the number of elements")) c.out(c.type(0), {count});
  }
  template <class O> constexpr auto at(const auto&, const O& o, auto start, auto delta) const {
    using T = decltype(start(o));
    return plus_product(start(O{}), as_element<T>(o[0]), delta(O{}));
  }
};

// 1 on diagonal k of a matrix of the input's shape (k > 0 above the main one), 0 elsewhere; elements of type `to`.
struct eye_like {
  dtype to = f32;
  std::int64_t k = 0;

  static constexpr std::string_view name = "EyeLike";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr traits properties{.map = mapping::one_to_many, .dynamic = dynamism::isdo};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("to", self.to);
    visit("k", self.k);
  }

  constexpr void infer(inference& c) const {
    if (c.require_rank(0, 2, 2)) c.out(to, c.in(0));
  }
  static constexpr footprint reads(const inference& c, std::size_t) {
    return footprint::all(c.rank(0), needs::nothing);
  }
  template <class O> constexpr auto at(const auto&, const O& o, auto) const {
    using number = coordinate_of<O>;
    return select(o[1] - o[0] == number(k), number(1), number(0));
  }
};

// The elements on diagonal k of the last two axes and above (upper) or below it; 0 elsewhere.
struct trilu {
  bool upper = true;
  std::int64_t k = 0;

  static constexpr std::string_view name = "Trilu";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("upper", self.upper);
    visit("k", self.k);
  }

  constexpr void infer(inference& c) const {
    if (c.require_rank(0, 2, max_rank)) c.out(c.type(0), c.in(0));
  }
  static constexpr footprint reads(const inference& c, std::size_t) { return footprint::same(c.rank(0)); }
  template <class O> constexpr auto at(const auto& c, const O& o, auto x) const {
    using T = decltype(x(o));
    using number = coordinate_of<O>;
    const number diagonal = o[c.out_rank() - 1] - o[c.out_rank() - 2];
    return select(upper ? diagonal >= number(k) : diagonal <= number(k), x(o), T(0));
  }
  static constexpr dim flops(const inference&) { return 0; }
};

// indices, values [off, on] -> indices' shape with an axis of extent `depth` put in: on where the axis' coordinate is
// the index (negative ones count from the end), off elsewhere.
struct one_hot {
  dim depth = 0;
  std::int64_t axis = -1;

  static constexpr std::string_view name = "OneHot";
  static constexpr std::string_view operands = "indices, values";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr std::array<element, 2> elements{element::index, element::common};
  static constexpr traits properties{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("depth", self.depth);
    visit("axis", self.axis);
  }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!c.require_rank(0, 0, max_rank - 1) || !c.normalise_axis(a, c.rank(0) + 1) ||
        !c.require_extent(depth, "the depth"))
      return;
    if (!c.require_rank(1, 1, 1) || !c.require_equal(c.in(1)[0], "the number of values", 2, "expected")) return;
    shape s = c.in(0);
    s.insert(static_cast<std::size_t>(a), depth);
    c.out(c.type(1), s);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    if (input == 1) return {needs::one_chosen};
    const std::size_t put_in = axis_position(axis, c.outputs()[0].dims.size());
    footprint f;
    for (std::size_t d = 0; d < c.rank(0); ++d) f.axes.push_back(needs::same(d < put_in ? d : d + 1));
    return f;
  }
  template <class O> constexpr auto at(const auto& c, const O& o, auto indices, auto values) const {
    using number = coordinate_of<O>;
    const std::size_t put_in = axis_position(axis, c.out_rank());
    O i{};
    for (std::size_t d = 0; d + 1 < c.out_rank(); ++d) i[d] = o[d < put_in ? d : d + 1];
    const number index = as_coordinate<number>(indices(i));
    const auto is_on = select(index < number(0), index + c.out(put_in), index) == o[put_in];
    return values(O{select(is_on, number(1), number(0))});
  }
  static constexpr dim flops(const inference&) { return 0; }
};

}  // namespace op

// A function, not an object: a local variable of this name would be said to hide an object.
template <graph_tensor T>
constexpr T range(T start, T delta, const op::range& attributes,
                  std::source_location caller = std::source_location::current()) {
  return start.owner().apply(attributes, {start, delta}, caller);
}
inline constexpr function<op::eye_like> eye_like;
inline constexpr function<op::trilu> trilu;
inline constexpr function<op::one_hot> one_hot;

}  // namespace dnnkit
