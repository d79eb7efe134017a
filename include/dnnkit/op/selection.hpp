// SPDX-License-Identifier: MIT
// Operators whose output's extents depend on the elements of their inputs (SoD2's class edo): ONNX's Compress, NonZero,
// Unique. Inference leaves those extents unknown; extents() says them when the elements are there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/sort.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits selecting{.map = mapping::many_to_many, .dynamic = dynamism::edo};
}  // namespace detail

namespace op {

// data, condition [at most as long as the axis] -> the slices along `axis` for which the condition holds; of all
// elements in row-major order, if `flatten`.
struct compress {
  std::int64_t axis = 0;
  bool flatten = false;

  static constexpr std::string_view name = "Compress";
  static constexpr std::string_view operands = "data, condition";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 2;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr std::array<element, 2> elements{element::common, element::logical};
  static constexpr traits properties = detail::selecting;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("flatten", self.flatten);
  }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!c.require_rank(1, 1, 1)) return;
    if (flatten) return c.out(c.type(0), {dim::unknown()});
    if (!c.normalise_axis(a, c.rank(0))) return;
    shape s = c.in(0);
    s[static_cast<std::size_t>(a)] = dim::unknown();
    c.out(c.type(0), s);
  }
  constexpr around_axis<> rows(const auto& c) const {
    if (flatten) return {1, input_count(c, 0), 1};
    return around(c, 0, axis_position(axis, c.rank(0)));
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    if (input == 1) return {needs::whole};
    if (flatten) return footprint::all(c.rank(0), needs::one_chosen);
    return footprint::same_except(c.rank(0), axis_position(axis, c.rank(0)), needs::one_chosen);
  }
  coordinates extents(const auto& c, auto, auto condition) const {
    coordinates e{};
    for (std::size_t d = 0; !flatten && d < c.rank(0); ++d) e[d] = c.in(0, d);
    std::int64_t& count = e[flatten ? 0 : axis_position(axis, c.rank(0))];
    count = 0;
    const around_axis<> a = rows(c);
    for (std::int64_t k = 0; k < a.length && k < c.in(1, 0); ++k) count += condition[k] ? 1 : 0;
    return e;
  }
  void compute(const auto& c, auto y, auto data, auto condition) const {
    const around_axis<> a = rows(c);
    std::int64_t to = 0;
    for (std::int64_t o = 0; o < a.outer; ++o)
      for (std::int64_t k = 0; k < a.length && k < c.in(1, 0); ++k)
        for (std::int64_t i = 0; condition[k] && i < a.inner; ++i) y.store(to++, data[a.at(o, k, i)]);
  }
};

// The coordinates of the elements that are not 0, as the columns of a matrix (i64), in row-major order.
struct non_zero {
  static constexpr std::string_view name = "NonZero";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr traits properties = detail::selecting;

  static constexpr void infer(inference& c) { c.out(i64, {static_cast<std::int64_t>(c.rank(0)), dim::unknown()}); }
  static coordinates extents(const auto& c, auto x) {
    std::int64_t count = 0;
    for (std::int64_t n = 0; n < input_count(c, 0); ++n) count += x[n] != 0 ? 1 : 0;
    return {static_cast<std::int64_t>(c.rank(0)), count};
  }
  static void compute(const auto& c, auto y, auto x) {
    std::int64_t to = 0;
    for (std::int64_t n = 0; n < input_count(c, 0); ++n) {
      if (x[n] == 0) continue;
      const coordinates i = input_coordinates(c, 0, n);
      for (std::size_t d = 0; d < c.rank(0); ++d) y.store(static_cast<std::int64_t>(d) * c.out(1) + to, i[d]);
      ++to;
    }
  }
};

// The different slices along `axis` (different elements, if `flatten`), in order of size if `sorted`, else as they
// come. output: 0 those slices, 1 where each comes first, 2 for each slice of the input which of them it is, 3 how
// often each occurs; 1 to 3 are i64 [n].
struct unique {
  std::int64_t axis = 0;
  bool flatten = false, sorted = true;
  std::int64_t output = 0;

  static constexpr std::string_view name = "Unique";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr traits properties = detail::selecting;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("flatten", self.flatten);
    visit("sorted", self.sorted);
    visit("output", self.output);
  }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!flatten && !c.normalise_axis(a, c.rank(0))) return;
    const auto along = static_cast<std::size_t>(a);
    if (output == 2) return c.out(i64, {flatten ? dim(c.count(0)) : c.in(0)[along]});
    if (output != 0) return c.out(i64, {dim::unknown()});
    if (flatten) return c.out(c.type(0), {dim::unknown()});
    shape s = c.in(0);
    s[along] = dim::unknown();
    c.out(c.type(0), s);
  }
  coordinates extents(const auto& c, auto x) const {
    const found f = find(c, x);
    const auto count = static_cast<std::int64_t>(f.first.size());
    coordinates e{};
    if (output == 2) e[0] = static_cast<std::int64_t>(f.which.size());
    else if (output != 0 || flatten) e[0] = count;
    else
      for (std::size_t d = 0; d < c.rank(0); ++d) e[d] = d == axis_position(axis, c.rank(0)) ? count : c.in(0, d);
    return e;
  }
  void compute(const auto& c, auto y, auto x) const {
    const found f = find(c, x);
    const around_axis<> a = rows(c);
    const auto count = static_cast<std::int64_t>(f.first.size());
    if (output == 0)
      for (std::int64_t o = 0; o < a.outer; ++o)
        for (std::int64_t k = 0; k < count; ++k)
          for (std::int64_t i = 0; i < a.inner; ++i)
            y.store((o * count + k) * a.inner + i, x[a.at(o, f.first[static_cast<std::size_t>(k)], i)]);
    const vector<std::int64_t>& numbers = output == 1 ? f.first : output == 2 ? f.which : f.times;
    for (std::size_t k = 0; output != 0 && k < numbers.size(); ++k) y.store(static_cast<std::int64_t>(k), numbers[k]);
  }

 private:
  struct found {
    vector<std::int64_t> first, which, times;
  };

  constexpr around_axis<> rows(const auto& c) const {
    if (flatten) return {1, input_count(c, 0), 1};
    return around(c, 0, axis_position(axis, c.rank(0)));
  }
  // -1, 0 or 1 as slice p comes before, is, or comes behind slice q
  static int compare(const around_axis<>& a, const auto& x, std::int64_t p, std::int64_t q) {
    for (std::int64_t o = 0; o < a.outer; ++o)
      for (std::int64_t i = 0; i < a.inner; ++i) {
        const auto u = x[a.at(o, p, i)], v = x[a.at(o, q, i)];
        if (u != v) return u < v ? -1 : 1;
      }
    return 0;
  }
  found find(const auto& c, const auto& x) const {
    const around_axis<> a = rows(c);
    vector<std::int64_t> order(static_cast<std::size_t>(a.length));
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int64_t>(k);
    merge_sort(order, [&](std::int64_t p, std::int64_t q) { return compare(a, x, p, q) < 0; });
    // groups of equal slices, each in order of appearance
    vector<vector<std::int64_t>> groups;
    for (std::int64_t p : order)
      if (!groups.empty() && compare(a, x, groups.back()[0], p) == 0) groups.back().push_back(p);
      else groups.push_back({p});
    if (!sorted) merge_sort(groups, [](const auto& g, const auto& h) { return g[0] < h[0]; });
    found f;
    f.which.resize(order.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      f.first.push_back(groups[g][0]);
      f.times.push_back(static_cast<std::int64_t>(groups[g].size()));
      for (std::int64_t p : groups[g]) f.which[static_cast<std::size_t>(p)] = static_cast<std::int64_t>(g);
    }
    return f;
  }
};

}  // namespace op

inline constexpr function<op::compress> compress;
inline constexpr function<op::non_zero> non_zero;
inline constexpr function<op::unique> unique;

}  // namespace dnnkit
