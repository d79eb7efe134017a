// SPDX-License-Identifier: MIT
// Operators computed on small tensors of integers and truth values that are known, or expressions over symbols, before
// the network runs (SoD2, section 4.1: the value half of the forward transfer functions), from the operators' own
// scalar definitions. They are given integers, or truth values. One that may be given expressions as well, because it
// asks nothing of a number but what symbolic_number has, says
//   static constexpr bool symbolic = true;
// Movement operators need not, as they ask nothing.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/element_types.hpp"
#include "dnnkit/operator/statistics.hpp"
#include "dnnkit/tensor/symbolic_number.hpp"

namespace dnnkit {

// More elements than this are data, not something that shapes or branches depend on.
inline constexpr std::size_t most_known_values = 64;

// A tensor of known extents whose elements are known as far as each of them says, in row-major order.
struct known_tensor {
  dtype type = i64;
  shape dims;
  vector<symbolic_number> elements;

  static constexpr bool may_hold(dtype type) { return (is_integral(type) && type != u64) || type == boolean; }
  // The number of elements; more than `most_known_values` where there are too many, or the extents are not known.
  static constexpr std::size_t count_of(const shape& dims) {
    std::size_t count = 1;
    for (dim d : dims)
      if (!d.is_known()) return most_known_values + 1;
    for (dim d : dims) {
      if (d == dim(0)) return 0;
      count = static_cast<std::size_t>(d.value()) > most_known_values / count
                  ? most_known_values + 1
                  : count * static_cast<std::size_t>(d.value());
      if (count > most_known_values) break;
    }
    return count;
  }
  constexpr bool are_numbers() const {
    for (const symbolic_number& e : elements)
      if (!e.is_number()) return false;
    return true;
  }
  // What an element of this type keeps of x.
  constexpr symbolic_number kept(symbolic_number x) const {
    if (x.is_number()) return wrap_to(type, x.number());
    if (type == boolean) return x != symbolic_number(0);
    return type == i64 || type == i32 ? x : symbolic_number();  // narrower ones would have to wrap
  }
};

// The inputs of one operator, and its output, of which type and shape are there already. Where elements of inputs are
// not read (dynamism::isdo), they are not there, and extents may be expressions.
struct known_operands {
  symbol_table& symbols;
  const vector<const known_tensor*>& inputs;
  known_tensor& output;
};

namespace detail {

// What at() sees. ByShape: what it computes are the extents, which are symbolic numbers then. Else a position outside
// its range, or an attribute that is no number, makes the result unknown.
template <bool ByShape> struct known_context {
  using real = double;
  const known_operands& o;
  bool& failed;

  constexpr std::size_t rank(std::size_t i) const { return o.inputs[i]->dims.size(); }
  constexpr auto in(std::size_t i, std::size_t d) const {
    if constexpr (ByShape) return symbolic_number(o.symbols, o.inputs[i]->dims[d]);
    else return o.inputs[i]->dims[d].value();
  }
  constexpr std::size_t out_rank() const { return o.output.dims.size(); }
  constexpr std::int64_t out(std::size_t d) const { return o.output.dims[d].value(); }
  constexpr auto value(dim d) const {
    if constexpr (ByShape) return symbolic_number(o.symbols, d);
    else {
      failed = failed || !d.is_known();
      return d.is_known() ? d.value() : std::int64_t{0};
    }
  }
  constexpr void out_of_range(std::string_view, std::int64_t, std::int64_t, std::int64_t) const { failed = true; }
};

template <class T> struct known_elements_of {
  const known_tensor& t;
  constexpr T operator()(const coordinates& c) const {
    const auto n = linear_index(
        c, [&](std::size_t d) { return t.dims[d].value(); }, t.dims.size());
    if constexpr (std::is_same_v<T, symbolic_number>) return t.elements[n];
    else return static_cast<T>(t.elements[n].number());
  }
};

template <class Op> constexpr bool takes_expressions() {
  if constexpr (requires { Op::symbolic; }) return Op::symbolic;
  else return Op::kind == form::movement;
}

// What input i is computed with.
template <class Op, std::size_t I, bool Symbolic> constexpr auto known_element_of() {
  if constexpr (holds_integers<Op>(I)) return std::type_identity<std::int64_t>{};
  else if constexpr (Symbolic) return std::type_identity<symbolic_number>{};
  else if constexpr (element_of<Op>(I) == element::logical || !has(accepts<Op>, element_kinds::integral))
    return std::type_identity<bool>{};
  else return std::type_identity<std::int64_t>{};
}

template <class Op, bool Symbolic, std::size_t... I>
constexpr bool compute_known(const Op& op, const known_operands& o, std::index_sequence<I...>) {
  constexpr bool by_shape = Op::properties.dynamic == dynamism::isdo;
  bool failed = false;
  const known_context<by_shape> c{o, failed};
  std::array<std::int64_t, max_rank> extents{};
  for (std::size_t d = 0; d < c.out_rank(); ++d) extents[d] = c.out(d);
  coordinates at{};
  for (std::size_t n = known_tensor::count_of(o.output.dims); n-- > 0; next(at, extents, c.out_rank())) {
    const auto element = [&] {
      if constexpr (by_shape) {
        return op.at(c, at, ((void)I, absent{})...);
      } else if constexpr (is_variadic<Op>) {
        using T = typename decltype(known_element_of<Op, 0, Symbolic>())::type;
        const auto x = [&](std::size_t i, const coordinates& where) {
          return known_elements_of<T>{*o.inputs[i]}(where);
        };
        return op.at(c, at, x);
      } else if constexpr (Op::kind == form::elementwise) {
        return op.apply(known_elements_of<typename decltype(known_element_of<Op, I, Symbolic>())::type>{*o.inputs[I]}(
            broadcast_coordinates(c, I, at))...);
      } else {
        return op.at(c, at,
                     known_elements_of<typename decltype(known_element_of<Op, I, Symbolic>())::type>{*o.inputs[I]}...);
      }
    }();
    if constexpr (!std::constructible_from<symbolic_number, decltype(element)>) return false;
    else o.output.elements.push_back(o.output.kept(element));
  }
  return !failed;
}

template <class Op, bool Symbolic> constexpr bool reduce_known(const Op& op, const known_operands& o) {
  using T = typename decltype(known_element_of<Op, 0, Symbolic>())::type;
  const known_tensor& in = *o.inputs[0];
  const std::size_t rank = in.dims.size(), out_rank = o.output.dims.size();
  const axis_set axes = op.axes(rank);
  if (in.elements.empty()) return false;
  std::array<std::int64_t, max_rank> extents{}, out_extents{};
  for (std::size_t d = 0; d < rank; ++d) extents[d] = in.dims[d].value();
  for (std::size_t d = 0; d < out_rank; ++d) out_extents[d] = o.output.dims[d].value();
  coordinates to{};
  do {
    statistics<T, Op::passes> s{};
    [&]<std::size_t... P>(std::index_sequence<P...>) {
      const auto fold = [&](auto p) {
        T sum = op.template start<T>(p);
        std::int64_t folded = 0;
        coordinates from{};
        do {
          bool mine = true;
          for (std::size_t d = 0, k = 0; d < rank; ++d) {
            const bool kept = out_rank == rank || !axes.has(d);
            if (kept && !axes.has(d)) mine = mine && to[k] == from[d];
            k += kept ? 1 : 0;
          }
          if (!mine) continue;
          sum = op.template accumulate<T>(p, sum, known_elements_of<T>{in}(from), s);
          ++folded;
        } while (next(from, extents, rank));
        s[p] = op.template close<T>(p, sum, T(folded), s);
      };
      (fold(pass<P>{}), ...);
    }
    (std::make_index_sequence<Op::passes>());
    o.output.elements.push_back(o.output.kept(s[Op::passes - 1]));
  } while (next(to, out_extents, out_rank));
  return true;
}

template <class Op, bool Symbolic> constexpr bool evaluate_known_as(const Op& op, const known_operands& o) {
  if constexpr (Op::kind == form::reduction) return reduce_known<Op, Symbolic>(op, o);
  else if constexpr (is_variadic<Op>) return compute_known<Op, Symbolic>(op, o, std::index_sequence<>{});
  else return compute_known<Op, Symbolic>(op, o, std::make_index_sequence<most_inputs<Op>()>());
}

// Does the operator compute integers or truth values, each from few others? Not products and windows, of which shapes
// are not made.
template <class Op> constexpr bool is_computed_on_known_values() {
  constexpr bool fits = has(accepts<Op>, element_kinds::integral) || has(accepts<Op>, element_kinds::logical);
  if constexpr (!fits || Op::kind == form::composite || Op::kind == form::constant) return false;
  else if constexpr (Op::kind == form::point)
    return Op::properties.dynamic == dynamism::isdo ||
           (Op::properties.map != mapping::many_to_many && (is_variadic<Op> || most_inputs<Op>() > 0));
  else return Op::kind == form::elementwise || Op::kind == form::movement || Op::kind == form::reduction;
}

// The elements of the output, whose dims are known; false where they are not.
template <class Op> constexpr bool evaluate_known(const Op& op, const known_operands& o) {
  if (!known_tensor::may_hold(o.output.type) || (!is_variadic<Op> && o.inputs.size() != most_inputs<Op>()))
    return false;
  constexpr bool by_shape = Op::properties.dynamic == dynamism::isdo, symbolic = by_shape || takes_expressions<Op>();
  for (std::size_t i = 0; i < o.inputs.size() && !by_shape; ++i) {
    const bool must_be_numbers = !symbolic || (!is_variadic<Op> && holds_integers<Op>(i));
    if (must_be_numbers && !o.inputs[i]->are_numbers()) return false;
  }
  return evaluate_known_as<Op, symbolic>(op, o);
}

}  // namespace detail

}  // namespace dnnkit
