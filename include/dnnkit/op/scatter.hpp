// SPDX-License-Identifier: MIT
// A tensor with elements or slices replaced at given positions: ONNX's ScatterElements and ScatterND.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/op/gather_elements.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

// What becomes of an element that an update meets. ONNX: none, add, mul, max, min
enum class scatter_reduction : std::int64_t { replace, plus, times, most, least };

namespace detail {

template <class T> constexpr T scattered(scatter_reduction how, T old, T update) {
  if constexpr (std::is_same_v<T, bool>) {
    return how == scatter_reduction::plus || how == scatter_reduction::most     ? old || update
           : how == scatter_reduction::times || how == scatter_reduction::least ? old && update
                                                                                : update;
  } else {
    switch (how) {
      case scatter_reduction::plus:
        return T(modular(old) + modular(update));
      case scatter_reduction::times:
        return T(modular(old) * modular(update));
      case scatter_reduction::most:
        return maximum(old, update);
      case scatter_reduction::least:
        return minimum(old, update);
      default:
        return update;
    }
  }
}

inline constexpr traits scattering{.map = mapping::many_to_many};

}  // namespace detail

namespace op {

// data, indices, updates of indices' shape: element (i, j, ...) of updates meets the element of data whose coordinate
// along `axis` is the index and whose others are i, j, ...
struct scatter_elements {
  std::int64_t axis = 0;
  scatter_reduction reduction = scatter_reduction::replace;

  static constexpr std::string_view name = "ScatterElements";
  static constexpr std::string_view operands = "data, indices, updates";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 3;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr std::array<element, 3> elements{element::common, element::index, element::common};
  static constexpr traits properties = detail::scattering;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("reduction", self.reduction);
  }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!c.normalise_axis(a, c.rank(0)) || !c.require_same_rank(0, 1) || !c.require_same_rank(0, 2)) return;
    for (std::size_t d = 0; d < c.rank(1); ++d)
      if (!c.require_equal(c.in(1)[d], "an extent of indices", c.in(2)[d], "that of updates")) return;
    if (detail::check_indices_fit(c, static_cast<std::size_t>(a))) c.out(c.type(0), c.in(0));
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    const std::size_t rank = c.rank(0);
    return input == 0 ? footprint::same(rank) : footprint::same_except(rank, axis_position(axis, rank));
  }
  // One a row of data. Updates of rows that data does not have, as symbols may turn out, meet nothing.
  constexpr auto parts(const auto& c) const {
    const auto a = around(c, 0, axis_position(axis, c.rank(0)));
    return a.outer * a.inner;
  }
  template <class C>
  constexpr void compute_part(const C& c, const number_of<C>& part, auto y, auto data, auto indices,
                              auto updates) const {
    using number = number_of<C>;
    const std::size_t along = axis_position(axis, c.rank(0));
    const around_axis<number> a = around(c, 0, along);
    const number o = part / a.inner, i = part % a.inner;
    for_each(c, a.length, [&](const number& k) { y.store(a.at(o, k, i), data[a.at(o, k, i)]); });
    auto row = input_coordinates(c, 0, a.at(o, number(0), i));
    auto is_there = number(0) == number(0);
    for (std::size_t d = 0; d < c.rank(0); ++d)
      if (d != along) is_there = both(is_there, row[d] < c.in(1, d));
    when(c, is_there, [&] {
      for_each(c, c.in(1, along), [&](const number& k) {
        row[along] = k;
        const number n = a.at(o, position_in(c, indices(row), a.length), i);
        y.store(n, detail::scattered(reduction, y.load(n), updates(row)));
      });
    });
  }
  static constexpr dim flops(const inference&) { return 0; }
};

// data, indices [..., k], updates: each slice of updates meets the slice of data whose first coordinates are the k
// numbers.
struct scatter_nd {
  scatter_reduction reduction = scatter_reduction::replace;

  static constexpr std::string_view name = "ScatterND";
  static constexpr std::string_view operands = "data, indices, updates";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 3;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr std::array<element, 3> elements{element::common, element::index, element::common};
  static constexpr traits properties = detail::scattering;
  static constexpr void attributes(auto& self, auto&& visit) { visit("reduction", self.reduction); }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 1, max_rank) || !c.require_rank(1, 1, max_rank)) return;
    const std::size_t outer = c.rank(1) - 1;
    const dim tuple = c.in(1)[outer];
    if (!c.require(tuple.is_known() && static_cast<std::size_t>(tuple.value()) <= c.rank(0),
                   "the last extent of indices must be known and at most data's rank"))
      return;
    const auto fixed = static_cast<std::size_t>(tuple.value());
    if (!c.require_rank(2, outer + c.rank(0) - fixed, outer + c.rank(0) - fixed)) return;
    for (std::size_t d = 0; d < c.rank(2); ++d)
      if (!c.require_equal(c.in(2)[d], "an extent of updates", d < outer ? c.in(1)[d] : c.in(0)[d - outer + fixed],
                           d < outer ? "that of indices" : "that of data"))
        return;
    c.out(c.type(0), c.in(0));
  }
  static constexpr footprint reads(const inference& c, std::size_t input) {
    if (input == 0) return footprint::same(c.rank(0));
    return footprint::all(c.rank(input), input == 1 ? needs::whole : needs::some_chosen);
  }
  // One for each element of a slice, of all slices.
  template <class C> constexpr number_of<C> parts(const C& c) const {
    number_of<C> slice = 1;
    for (std::size_t d = fixed_axes(c); d < c.rank(0); ++d) slice = slice * c.in(0, d);
    return slice;
  }
  template <class C>
  constexpr void compute_part(const C& c, const number_of<C>& part, auto y, auto data, auto indices,
                              auto updates) const {
    using number = number_of<C>;
    const std::size_t fixed = fixed_axes(c);
    const number slice = parts(c), tuple(static_cast<std::int64_t>(fixed));
    number rows = 1, count = 1;  // of data, and of updates
    for (std::size_t d = 0; d < fixed; ++d) rows = rows * c.in(0, d);
    for (std::size_t d = 0; d + 1 < c.rank(1); ++d) count = count * c.in(1, d);
    for_each(c, rows, [&](const number& n) { y.store(n * slice + part, data[n * slice + part]); });
    for_each(c, count, [&](const number& n) {
      number row = 0;
      for (std::size_t d = 0; d < fixed; ++d)
        row = row * c.in(0, d) + position_in(c, indices[n * tuple + number(static_cast<std::int64_t>(d))], c.in(0, d));
      const number m = row * slice + part;
      y.store(m, detail::scattered(reduction, y.load(m), updates[n * slice + part]));
    });
  }
  static constexpr dim flops(const inference&) { return 0; }

 private:
  // Axes of data whose coordinates indices say: those that updates do not have.
  static constexpr std::size_t fixed_axes(const auto& c) { return c.rank(0) + c.rank(1) - 1 - c.rank(2); }
};

}  // namespace op

inline constexpr function<op::scatter_elements> scatter_elements;
inline constexpr function<op::scatter_nd> scatter_nd;

}  // namespace dnnkit
