// SPDX-License-Identifier: MIT
// The largest or smallest elements along an axis: ONNX's TopK, its values or their positions; and Hardmax.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/arg_reduction.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/range.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

namespace op {

// The k best elements along `axis`, best first; of equal ones the first comes first, and NaN counts as the largest.
// output: 0 the values, 1 their positions (i64).
struct top_k {
  dim k = 1;
  std::int64_t axis = -1;
  bool largest = true, sorted = true;
  std::int64_t output = 0;

  static constexpr std::string_view name = "TopK";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.map = mapping::many_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("k", self.k);
    visit("axis", self.axis);
    visit("largest", self.largest);
    visit("sorted", self.sorted);
    visit("output", self.output);
  }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!c.normalise_axis(a, c.rank(0)) || !c.require_extent(k, "k")) return;
    const auto along = static_cast<std::size_t>(a);
    if (!c.require(c.table().range(c.table().sub(k, c.in(0)[along])).min <= 0, "k is more than there are elements"))
      return;
    shape s = c.in(0);
    s[along] = k;
    c.out(output == 0 ? c.type(0) : i64, s);
  }
  constexpr footprint reads(const inference& c, std::size_t) const {
    return footprint::same_except(c.rank(0), axis_position(axis, c.rank(0)));
  }
  // Does element a at position i come before b at j?
  template <class T> constexpr bool before(T a, std::int64_t i, T b, std::int64_t j) const {
    const bool above = a > b || (a != a && b == b), below = a < b || (a == a && b != b);
    if (above || below) return largest ? above : below;
    return i < j;
  }
  void compute(const auto& c, auto y, auto x) const {
    const std::size_t along = axis_position(axis, c.rank(0));
    const around_axis<> a = around(c, 0, along);
    for (std::int64_t o = 0; o < a.outer; ++o)
      for (std::int64_t i = 0; i < a.inner; ++i) one_row(a, o, i, c.out(along), y, x);
  }
  constexpr dim flops(const inference& c) const { return c.count(0) * c.number(k); }

 private:
  // In turns over the row, each of which finds the next of the best, up to this many.
  static constexpr std::size_t at_once = 64;

  template <class T> struct found {
    T value;
    std::int64_t position;
  };
  // So many are looked at without a jump, as vectors where they lie next to each other.
  static constexpr std::int64_t together = 32;

  // A number that at least `wanted` elements of a row are or come before. The row is dealt out to `together` hands;
  // that many of them hold an element that the one found is not better than. NaN aside, which may come before all.
  template <class T>
  T least_of_best(const around_axis<>& a, std::int64_t o, std::int64_t i, std::size_t wanted, auto x) const {
    const auto better = [this](T l, T r) { return largest ? l > r : l < r; };
    const T none = largest ? lowest<T>() : highest<T>();
    std::array<T, static_cast<std::size_t>(together)> hands;
    hands.fill(none);
    for (std::int64_t p = 0; p + together <= a.length; p += together)
      for (std::int64_t n = 0; n < together; ++n) {
        const T e = x[a.at(o, p + n, i)];
        T& hand = hands[static_cast<std::size_t>(n)];
        hand = better(e, hand) ? e : hand;
      }
    T best = none;
    for (std::size_t turn = 0; turn < wanted; ++turn) {  // equal ones go at once: then more come before
      auto rounds = hands;
      for (std::size_t left = hands.size() / 2; left > 0; left /= 2)
        for (std::size_t n = 0; n < left; ++n)
          rounds[n] = better(rounds[n + left], rounds[n]) ? rounds[n + left] : rounds[n];
      best = rounds[0];
      for (T& hand : hands) hand = hand == best ? none : hand;
    }
    return best;
  }
  // Of a row's elements from p on, the first that may come before one equal to `worst` in front of it - with OrEqual:
  // behind it -, or its length.
  template <bool OrEqual, class T>
  std::int64_t first_candidate(const around_axis<>& a, std::int64_t o, std::int64_t p, std::int64_t i, T worst,
                               auto x) const {
    const auto may_come = [&](std::int64_t at) {
      const T e = x[a.at(o, at, i)];
      if constexpr (OrEqual) return largest ? !(e < worst) : !(e > worst);
      else return largest ? !(e <= worst) : !(e >= worst);
    };
    using counter = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;  // lanes as wide as elements
    for (; p + together <= a.length; p += together) {
      counter any = 0;
      for (std::int64_t n = 0; n < together; ++n) any |= static_cast<counter>(may_come(p + n));
      if (any != 0) break;
    }
    while (p < a.length && !may_come(p)) ++p;
    return p;
  }
  void one_row(const around_axis<>& a, std::int64_t o, std::int64_t i, std::int64_t count, auto y, auto x) const {
    using element = found<std::remove_cvref_t<decltype(x[0])>>;
    const auto comes_before = [&](const element& l, const element& r) {
      return before(l.value, l.position, r.value, r.position);
    };
    std::array<element, at_once> best;
    element last{};  // of the turn before
    for (std::int64_t first = 0; first < count; first += at_once) {
      const auto wanted = static_cast<std::size_t>(std::min(count - first, std::int64_t{at_once}));
      const bool filters = first == 0 && wanted <= 8 && a.length >= 4 * together;
      const auto least = filters ? least_of_best<decltype(last.value)>(a, o, i, wanted, x) : last.value;
      std::size_t size = 0;
      for (std::int64_t p = 0; p < a.length; ++p) {
        if (size == wanted) p = first_candidate<false>(a, o, p, i, best[size - 1].value, x);
        else if (filters) p = first_candidate<true>(a, o, p, i, least, x);
        if (p == a.length) break;
        const element e{x[a.at(o, p, i)], p};
        if (first > 0 && !comes_before(last, e)) continue;
        if (size == wanted && !comes_before(e, best[size - 1])) continue;
        std::size_t to = size < wanted ? size++ : size - 1;
        for (; to > 0 && comes_before(e, best[to - 1]); --to) best[to] = best[to - 1];
        best[to] = e;
      }
      for (std::size_t n = 0; n < size; ++n) {
        const std::int64_t to = (o * count + first + static_cast<std::int64_t>(n)) * a.inner + i;
        if (output == 0) y.store(to, best[n].value);
        else y.store(to, best[n].position);
      }
      if (size > 0) last = best[size - 1];
    }
  }
};

// 1 at the first of the largest elements along `axis`, 0 elsewhere
struct hardmax {
  std::int64_t axis = -1;

  static constexpr std::string_view name = "Hardmax";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties = detail::reduction;
  static constexpr void attributes(auto& self, auto&& visit) { visit("axis", self.axis); }
  constexpr void infer(inference& c) const {
    if (check_axes(c, {axis})) c.out(c.type(0), c.in(0));
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    auto& owner = in[0].owner();
    const std::size_t along = axis_position(axis, static_cast<std::size_t>(in[0].rank()));
    const dim extent = in[0].dims()[along];
    if (extent == dim(0)) return owner.apply(identity{}, {in[0]});
    shape s = shape::filled(in[0].dims().size(), 1);
    s[along] = extent;
    const T positions = dnnkit::range(owner.scalar(0, i64), owner.scalar(1, i64), {.count = extent});
    const T best = dnnkit::arg_max(in[0], {.axis = axis});
    return dnnkit::cast(dnnkit::equal(best, owner.apply(reshape{s}, {positions})), {.to = in[0].type()});
  }
};

}  // namespace op

inline constexpr function<op::top_k> top_k;
inline constexpr function<op::hardmax> hardmax;

}  // namespace dnnkit
