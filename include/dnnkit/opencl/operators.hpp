// SPDX-License-Identifier: MIT
// From an operator's number in a plan to its type: its definition applied to expressions. One instantiation of an
// operator serves all kernels that are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "dnnkit/opencl/expression.hpp"
#include "dnnkit/operator/attributes.hpp"
#include "dnnkit/operator/op_set.hpp"
#include "dnnkit/plan/recipe.hpp"

namespace dnnkit::opencl {

namespace detail {

// Does Op compute with real numbers or truth values, from a fixed number of elements?
template <class Op>
inline constexpr bool has_text = Op::kind == form::elementwise && !is_variadic<Op> &&
                                 (has(accepts<Op>, element_kinds::floating) || accepts<Op> == element_kinds::logical);

template <class Op, std::size_t... I>
constexpr expression applied(const std::int64_t* codes, std::span<const expression> x, std::index_sequence<I...>) {
  return decode<Op>(codes).apply(x[I]...);
}

}  // namespace detail

// Writes what the element-wise operator `op` computes of x. False when it is none of Set, or of other elements.
template <class... Ops>
constexpr bool apply(op_set<Ops...>, operator_id op, const std::int64_t* codes, std::span<const expression> x,
                     expression& result) {
  const auto try_one = [&]<class Op>(std::type_identity<Op>) {
    if constexpr (detail::has_text<Op>) {
      if (id_of<Op> != op || most_inputs<Op>() != x.size()) return false;
      result = detail::applied<Op>(codes, x, std::make_index_sequence<most_inputs<Op>()>{});
      return true;
    } else return false;
  };
  return (try_one(std::type_identity<Ops>{}) || ...);
}

// Returns visit(operator) of the operator behind `op`, if Visited<Op> holds for it. False when there is none such.
template <template <class> class Visited, class... Ops>
constexpr bool visit_operator(op_set<Ops...>, operator_id op, const std::int64_t* codes, auto visit) {
  const auto try_one = [&]<class Op>(std::type_identity<Op>) {
    if constexpr (Visited<Op>::value) {
      if (id_of<Op> != op) return false;
      return visit(decode<Op>(codes));
    } else return false;
  };
  return (try_one(std::type_identity<Ops>{}) || ...);
}

}  // namespace dnnkit::opencl
