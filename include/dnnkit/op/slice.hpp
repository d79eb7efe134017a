// SPDX-License-Identifier: MIT
// Parts of a tensor: ONNX's Slice, and Split one part at a time. Index maps, not bijections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <source_location>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits part{.map = mapping::one_to_one, .dynamic = dynamism::isvdos};
}  // namespace detail

namespace op {

// Elements starts, starts + steps, ... before ends, along each of `axes` (empty: the first ones; steps empty: all 1).
// Negative starts and ends count from the end of the axis, and what lies outside is clamped, as in ONNX.
struct slice {
  int_list starts = {}, ends = {}, axes = {}, steps = {};

  static constexpr std::string_view name = "Slice";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::part;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("starts", self.starts);
    visit("ends", self.ends);
    visit("axes", self.axes);
    visit("steps", self.steps);
  }

  // What is taken of one axis: count elements from start on, step apart.
  struct range {
    dim start = 0, count = 0;
    std::int64_t step = 1;
  };
  constexpr range range_of(symbol_table& t, std::size_t k, dim extent_of_axis) const {
    const dim n = extent_of_axis;
    const std::int64_t step = step_along(k, n), far = n.is_known() ? std::int64_t{1} << 62 : longest;
    const dim last = t.add(n, step > 0 ? 0 : -1), first = t.add(dim(0), step > 0 ? 0 : -1);
    const auto position = [&](std::int64_t bound) { return bound >= 0 ? dim(bound) : t.add(n, bound); };
    // A start is an element if there is one, an end may be the place before all.
    const auto start_of = [&](std::int64_t bound) {
      return bound >= far ? last : t.min(bound <= -far ? dim(0) : t.max(position(bound), dim(0)), last);
    };
    const auto end_of = [&](std::int64_t bound) {
      return bound >= far ? last : bound <= -far ? first : t.max(t.min(position(bound), last), first);
    };
    range r{start_of(starts[k]), 0, step};
    const dim end = end_of(ends[k]);
    const dim length = t.max(step > 0 ? t.sub(end, r.start) : t.sub(r.start, end), dim(0));
    r.count = t.ceil_div(length, dim(step > 0 ? step : -step));
    return r;
  }
  constexpr std::size_t axis(std::size_t k, std::size_t rank) const {
    const std::int64_t a = axes.empty() ? static_cast<std::int64_t>(k) : axes[k];
    return static_cast<std::size_t>(a < 0 ? a + static_cast<std::int64_t>(rank) : a);
  }

  constexpr void infer(inference& c) const {
    if (!c.require(ends.size() == starts.size() && (axes.empty() || axes.size() == starts.size()) &&
                       (steps.empty() || steps.size() == starts.size()) && starts.size() <= c.rank(0),
                   "starts, ends, axes and steps must be equally long, and no longer than the rank"))
      return;
    shape s = c.in(0);
    for (std::size_t k = 0; k < starts.size(); ++k) {
      std::int64_t a = axes.empty() ? static_cast<std::int64_t>(k) : axes[k];
      if (!c.normalise_axis(a, c.rank(0))) return;
      if (!c.require(steps.empty() || steps[k] != 0, "steps must not be 0")) return;
      for (std::size_t j = 0; j < k; ++j)
        if (!c.require(axis(j, c.rank(0)) != axis(k, c.rank(0)), "axes names an axis twice")) return;
      const auto d = static_cast<std::size_t>(a);
      s[d] = range_of(c.table(), k, c.in(0)[d]).count;
    }
    c.out(c.type(0), s);
  }
  constexpr bool forward(const movement& m, view& v) const {
    const view before = v;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      const std::size_t d = axis(k, m.in.size());
      const range r = range_of(m.algebra.table(), k, m.in[d]);
      if (r.step > 0 && m.algebra.slice(v, d, r.start, r.count, r.step)) continue;
      v = before;
      return false;
    }
    return true;
  }
  constexpr auto at(const auto& c, const auto& o, auto x) const {
    using number = coordinate_of<decltype(o)>;
    auto i = o;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      const std::size_t d = axis(k, c.rank(0));
      const std::int64_t step = steps.empty() ? 1 : steps[k];
      const number n = c.in(0, d), last = step > 0 ? n : n - number(1);
      const number asked = starts[k] < 0 ? n + number(starts[k]) : number(starts[k]);
      const number start = select(asked < number(0), number(0), select(last < asked, last, asked));
      i[d] = start + o[d] * number(step);
    }
    return x(i);
  }

 private:
  // An axis of an extent that is not known has no more elements.
  static constexpr std::int64_t longest = bounds{}.max;
  // A step as long as the axis takes one element, as all longer ones do.
  constexpr std::int64_t step_along(std::size_t k, dim n) const {
    const std::int64_t step = steps.empty() ? 1 : steps[k];
    const std::int64_t most = !n.is_known() ? longest : n.value() == 0 ? 1 : n.value();
    return step > most ? most : step < -most ? -most : step;
  }
};

// Elements begin ... begin + size - 1 along an axis: one output of ONNX's Split.
struct split {
  std::int64_t axis = 0;
  dim begin = 0, size = 0;

  static constexpr std::string_view name = "Split";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::part;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("begin", self.begin);
    visit("size", self.size);
  }

  constexpr std::size_t along(std::size_t rank) const {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  }
  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!c.normalise_axis(a, c.rank(0))) return;
    const auto d = static_cast<std::size_t>(a);
    if (!c.require_extent(begin, "the begin") || !c.require_extent(size, "the size")) return;
    const extent end = c.number(begin) + c.number(size);
    if (c.table().range(c.size(0, d) - end).max < 0) {
      text t;
      t << "the part ends at " << c.table().print(end) << ", the axis at ";
      c.fail(t << c.table().print(c.in(0)[d]));
      return;
    }
    shape s = c.in(0);
    s[d] = size;
    c.out(c.type(0), s);
  }
  constexpr bool forward(const movement& m, view& v) const {
    return m.algebra.slice(v, along(m.in.size()), begin, size, 1);
  }
  constexpr auto at(const auto& c, const auto& o, auto x) const {
    auto i = o;
    const std::size_t d = along(c.rank(0));
    i[d] = i[d] + c.value(begin);
    return x(i);
  }
};

}  // namespace op

inline constexpr function<op::slice> slice;

// Elements begin ... begin + size - 1 along an axis.
template <graph_tensor T>
constexpr T narrow(T x, std::int64_t axis, dim_argument begin, dim_argument size,
                   std::source_location caller = std::source_location::current()) {
  const shape s = x.owner().to_shape({begin, size});
  return x.owner().apply(op::split{axis, s[0], s[1]}, {x}, caller);
}
// Parts of the given sizes, one behind the other, along an axis.
template <graph_tensor T>
constexpr vector<T> split(T x, std::initializer_list<dim_argument> sizes, std::int64_t axis = 0,
                          std::source_location caller = std::source_location::current()) {
  vector<T> parts;
  dim begin = 0;
  for (dim size : x.owner().to_shape(sizes)) {
    parts.push_back(x.owner().apply(op::split{axis, begin, size}, {x}, caller));
    begin = x.owner().value().symbols.add(begin, size);
  }
  return parts;
}
// As many equal parts.
template <graph_tensor T>
constexpr vector<T> split(T x, std::int64_t parts_wanted, std::int64_t axis = 0,
                          std::source_location caller = std::source_location::current()) {
  symbol_table& table = x.owner().value().symbols;
  const dim size = table.exact_div(x.size(axis), dim(parts_wanted));
  vector<T> parts;
  for (std::int64_t i = 0; i < parts_wanted; ++i)
    parts.push_back(x.owner().apply(op::split{axis, table.mul(size, dim(i)), size}, {x}, caller));
  return parts;
}

}  // namespace dnnkit
