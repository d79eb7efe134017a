// SPDX-License-Identifier: MIT
// Operators that only move elements and are bijections: Reshape, Flatten, Squeeze, Unsqueeze, Transpose, Identity.
// Each is an index map (SmartMem, section 3.2): forward() turns a view of the input into the view of the output,
// backward() the other way round, and at() says the same for one element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <source_location>
#include <string_view>
#include <type_traits>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/statistics.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits reorganize{.map = mapping::reorganize};
inline constexpr traits reorganize_as_told{.map = mapping::reorganize, .dynamic = dynamism::isvdos};
inline constexpr traits shuffle{.map = mapping::shuffle};

// at() of every operator that keeps the row-major order of the elements
template <class C, class Coordinates, class X> constexpr auto reorganized(const C& c, const Coordinates& o, X x) {
  const auto n = linear_index(
      o, [&](std::size_t d) { return c.out(d); }, c.out_rank());
  return x(coordinates_of<Coordinates>(
      n, [&](std::size_t d) { return c.in(0, d); }, c.rank(0)));
}

constexpr int_list inverse_of(const int_list& perm) {
  int_list inverse = perm;
  for (std::size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  return inverse;
}

}  // namespace detail

namespace op {

// The new shape is an attribute: known or symbolic extents, at most one -1 (inferred); a 0 copies the input's extent,
// and is an extent of 0 where the input has no element.
struct reshape {
  shape dims = {};

  static constexpr std::string_view name = "Reshape";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::reorganize_as_told;
  static constexpr void attributes(auto& self, auto&& visit) { visit("shape", self.dims); }

  constexpr void infer(inference& c) const {
    shape s = dims;
    extent rest = c.count(0);
    std::size_t inferred = max_rank;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (s[i] == dim(0) && !(rest.d == dim(0))) {
        if (!c.require(i < c.rank(0), "a 0 in the shape copies an extent the input does not have")) return;
        s[i] = c.in(0)[i];
      }
      if (s[i].is_unknown()) {
        if (!c.require(inferred == max_rank, "more than one -1 in the shape")) return;
        inferred = i;
      }
    }
    const dim whole = rest;
    if (whole == dim(0)) {  // no element: what is inferred has extent 0 unless another one has
      bool empty = false;
      for (dim d : s) empty = empty || d == dim(0);
      rest.d = empty ? 1 : inferred < max_rank ? dim(0) : dim::unknown();
    } else {
      for (dim d : s)
        if (!d.is_unknown()) rest.d = c.table().exact_div(rest.d, d);
    }
    if (inferred < max_rank) s[inferred] = rest.d;
    bool fits = !rest.d.is_unknown() && (inferred < max_rank || rest.d == dim(1));
    if (!fits && !whole.is_unknown()) fits = fits_symbols(c, s, inferred, whole);
    if (!fits) {
      text t;
      c.fail(t << c.print(c.in(0)) << " has " << c.table().print(whole) << " elements, which do not fit shape "
               << c.print(dims));
      return;
    }
    c.out(c.type(0), s);
  }
  // Whether s has `whole` elements if the symbols are what an importer can still find out: the number of elements is
  // the same; or, where one extent is inferred, a symbol is a multiple of a number, or the first extent the input's.
  static constexpr bool fits_symbols(inference& c, shape& s, std::size_t inferred, dim whole) {
    symbol_table& t = c.table();
    dim product = 1, rest = whole;
    std::int64_t number = 1;  // what is left of the extents that are numbers
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (i == inferred) continue;
      product = t.mul(product, s[i]);
      if (const dim e = t.exact_div(rest, s[i]); !e.is_unknown()) rest = e;
      else if (__builtin_mul_overflow(number, s[i].is_known() ? s[i].value() : 0, &number)) return false;
    }
    if (product.is_unknown()) return false;
    if (inferred == max_rank) return whole == product || t.note_equation(whole, product);
    if (const auto linear = t.linear_of(rest); linear && linear->offset == 0 && linear->factor > 0 && number > 1) {
      const std::int64_t common = std::gcd(linear->factor, number);
      rest = t.exact_div(rest, common);
      s[inferred] = t.floor_div(rest, number / common);
      return t.note_equation(rest, t.mul(s[inferred], number / common));
    }
    if (inferred == 0 || c.rank(0) == 0) return false;
    rest = t.exact_div(t.mul(t.exact_div(whole, c.in(0)[0]), s[0]), product);
    if (rest.is_unknown() || !t.note_equation(c.in(0)[0], s[0])) return false;
    s[inferred] = rest;
    return true;
  }
  static constexpr bool forward(const movement& m, view& v) { return m.algebra.reshape(v, m.out); }
  static constexpr bool backward(const movement& m, view& v) { return m.algebra.reshape(v, m.in); }
  static constexpr auto at(const auto& c, const auto& o, auto x) { return detail::reorganized(c, o, x); }
};

struct flatten {
  std::int64_t axis = 1;

  static constexpr std::string_view name = "Flatten";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::reorganize;
  static constexpr void attributes(auto& self, auto&& visit) { visit("axis", self.axis); }

  constexpr void infer(inference& c) const {
    std::int64_t split = axis;
    if (split != static_cast<std::int64_t>(c.rank(0)) && !c.normalise_axis(split, c.rank(0))) return;
    extent outer = c.number(1), inner = c.number(1);
    for (std::size_t i = 0; i < c.rank(0); ++i)
      if (static_cast<std::int64_t>(i) < split) outer = outer * c.size(0, i);
      else inner = inner * c.size(0, i);
    c.out(c.type(0), {outer, inner});
  }
  static constexpr bool forward(const movement& m, view& v) { return m.algebra.reshape(v, m.out); }
  static constexpr bool backward(const movement& m, view& v) { return m.algebra.reshape(v, m.in); }
  static constexpr auto at(const auto& c, const auto& o, auto x) { return detail::reorganized(c, o, x); }
};

// Without the given axes, which have extent 1; an empty list means all axes that are known to.
struct squeeze {
  int_list axes = {};

  static constexpr std::string_view name = "Squeeze";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::reorganize_as_told;
  static constexpr void attributes(auto& self, auto&& visit) { visit("axes", self.axes); }

  constexpr void infer(inference& c) const {
    shape s = c.in(0);
    for (std::size_t d = s.size(); d-- > 0;) {
      bool named = axes.empty() && s[d] == dim(1);
      for (std::int64_t a : axes) {
        if (!c.normalise_axis(a, c.rank(0))) return;
        named = named || a == static_cast<std::int64_t>(d);
      }
      if (!named) continue;
      if (!c.require_equal(s[d], "the extent of an axis to squeeze", 1, "what it must be")) return;
      s.erase(d);
    }
    c.out(c.type(0), s);
  }
  static constexpr bool forward(const movement& m, view& v) { return m.algebra.reshape(v, m.out); }
  static constexpr bool backward(const movement& m, view& v) { return m.algebra.reshape(v, m.in); }
  static constexpr auto at(const auto& c, const auto& o, auto x) { return detail::reorganized(c, o, x); }
};

// With axes of extent 1 put in, at the given positions in the output.
struct unsqueeze {
  int_list axes = {};

  static constexpr std::string_view name = "Unsqueeze";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::reorganize_as_told;
  static constexpr void attributes(auto& self, auto&& visit) { visit("axes", self.axes); }

  constexpr void infer(inference& c) const {
    const std::size_t rank = c.rank(0) + axes.size();
    if (!c.require(rank <= max_rank, "the output's rank is more than 8")) return;
    axis_set added;
    for (std::int64_t a : axes) {
      if (!c.normalise_axis(a, rank)) return;
      if (!c.require(!added.has(static_cast<std::size_t>(a)), "axes names an axis twice")) return;
      added.add(static_cast<std::size_t>(a));
    }
    shape s;
    std::size_t next = 0;
    for (std::size_t d = 0; d < rank; ++d) s.push_back(added.has(d) ? dim(1) : c.in(0)[next++]);
    c.out(c.type(0), s);
  }
  static constexpr bool forward(const movement& m, view& v) { return m.algebra.reshape(v, m.out); }
  static constexpr bool backward(const movement& m, view& v) { return m.algebra.reshape(v, m.in); }
  static constexpr auto at(const auto& c, const auto& o, auto x) { return detail::reorganized(c, o, x); }
};

struct identity {
  static constexpr std::string_view name = "Identity";
  static constexpr form kind = form::movement;
  static constexpr traits properties{};
  static constexpr void infer(inference& c) { c.out(c.type(0), c.in(0)); }
  static constexpr bool forward(const movement&, view&) { return true; }
  static constexpr bool backward(const movement&, view&) { return true; }
  static constexpr auto at(const auto&, const auto& o, auto x) { return x(o); }
};

// Output axis i is input axis perm[i]; an empty perm reverses the axes.
struct transpose {
  int_list perm = {};

  static constexpr std::string_view name = "Transpose";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::shuffle;
  static constexpr void attributes(auto& self, auto&& visit) { visit("perm", self.perm); }

  constexpr int_list order(std::size_t rank) const {
    int_list p = perm;
    if (p.empty())
      for (std::size_t i = rank; i-- > 0;) p.push_back(static_cast<std::int64_t>(i));
    return p;
  }
  constexpr void infer(inference& c) const {
    const int_list p = order(c.rank(0));
    const shape& in = c.in(0);
    if (!c.require(p.count == in.count, "perm must name every axis of the input once")) return;
    shape s;
    for (std::size_t i = 0; i < p.count; ++i) {
      const std::int64_t a = p.items[i];
      for (std::size_t j = 0; j < i; ++j)
        if (a == p.items[j]) return void(c.fail("perm names an axis twice"));
      if (a < 0 || a >= static_cast<std::int64_t>(p.count)) return void(c.fail("perm names an axis the input lacks"));
      s.push_back(in.items[a]);
    }
    c.out(c.type(0), s);
  }
  constexpr bool forward(const movement& m, view& v) const { return m.algebra.transpose(v, order(m.in.size())); }
  constexpr bool backward(const movement& m, view& v) const {
    return m.algebra.transpose(v, detail::inverse_of(order(m.in.size())));
  }
  constexpr auto at(const auto& c, const auto& o, auto x) const {
    const int_list p = order(c.rank(0));
    std::remove_cvref_t<decltype(o)> i{};
    for (std::size_t d = 0; d < p.size(); ++d) i[static_cast<std::size_t>(p[d])] = o[d];
    return x(i);
  }
};

}  // namespace op

inline constexpr function<op::flatten> flatten;
inline constexpr function<op::identity> identity;
inline constexpr function<op::squeeze> squeeze;
inline constexpr function<op::unsqueeze> unsqueeze;
inline constexpr function<op::transpose> transpose;

template <graph_tensor T>
constexpr T reshape(T x, shape_argument dims, std::source_location caller = std::source_location::current()) {
  return x.owner().apply(op::reshape{x.owner().to_shape(dims)}, {x}, caller);
}
// Of a pattern, which has the extents as attributes with a name: reshape(a)[p].
template <pattern_of_operators P> constexpr P reshape(const P& x) { return P::apply(op::reshape{}, x); }

}  // namespace dnnkit
