// SPDX-License-Identifier: MIT
// The operators one model needs, so that evaluating it does not compile the definitions of all the others.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/op/element_types.hpp"
#include "dnnkit/pass/expand_composites.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dnnkit {

namespace detail {

template <class Model> struct all_operators_of { using type = builtin_set; };
template <class Model>
requires requires { Model::ops; }
struct all_operators_of<Model> {
  using type = std::remove_cvref_t<decltype(Model::ops)>;
};

// Which operators of Set occur, and elements of which kinds.
template <class Set> struct use {
  std::array<bool, Set::size> operators{};
  element_kinds kinds{};
};
template <class Model, class Set> constexpr use<Set> use_of() {
  use<Set> u;
  const graph g = passes::expand_composites::run(graph_of<Model>());
  for (const node& n : g.nodes)
    if (const std::size_t i = Set::find(n.op->id); i < Set::size) u.operators[i] = true;
  for (const value& v : g.values) u.kinds = u.kinds | kind_of(v.type.type);
  return u;
}

template <element_kinds Kinds, class... Ops> operators_on<Kinds, Ops...> with_kinds(op_set<Ops...>);

template <class Model, class Set, std::size_t... I> constexpr auto operators_used(std::index_sequence<I...>) {
  constexpr use<Set> u = use_of<Model, Set>();
  constexpr auto set =
      (op_set<>{} + ... + std::conditional_t<u.operators[I], op_set<typename Set::template at<I>>, op_set<>>{});
  return decltype(with_kinds<u.kinds>(set)){};
}

}  // namespace detail

// The model's operators, those that its composite operators expand to, and the kinds of elements they work on:
//   evaluate<operators_of<Model>>(graph_of<Model>(), inputs, weights)
template <class Model, class Set = typename detail::all_operators_of<Model>::type>
using operators_of = decltype(detail::operators_used<Model, Set>(std::make_index_sequence<Set::size>{}));

}  // namespace dnnkit
