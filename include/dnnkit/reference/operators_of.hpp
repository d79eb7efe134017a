// SPDX-License-Identifier: MIT
// The operators one model needs, so that evaluating it does not compile the definitions of all the others.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/expand_composites.hpp"

namespace dnnkit {

namespace detail {

template <class Model> struct all_operators_of { using type = builtin_set; };
template <class Model>
requires requires { Model::ops; }
struct all_operators_of<Model> {
  using type = std::remove_cvref_t<decltype(Model::ops)>;
};

template <class Model, class Set> constexpr std::array<bool, Set::size> used_operators() {
  std::array<bool, Set::size> used{};
  const graph g = passes::expand_composites::run(graph_of<Model>());
  for (const node& n : g.nodes)
    if (const std::size_t i = Set::find(n.op->id); i < Set::size) used[i] = true;
  return used;
}

template <class Model, class Set, std::size_t... I> constexpr auto operators_used(std::index_sequence<I...>) {
  constexpr std::array<bool, Set::size> used = used_operators<Model, Set>();
  return (op_set<>{} + ... + std::conditional_t<used[I], op_set<typename Set::template at<I>>, op_set<>>{});
}

}  // namespace detail

// The op_set of the model's operators, and of those that its composite operators expand to:
//   evaluate<operators_of<Model>>(graph_of<Model>(), inputs, weights)
template <class Model, class Set = typename detail::all_operators_of<Model>::type>
using operators_of = decltype(detail::operators_used<Model, Set>(std::make_index_sequence<Set::size>{}));

}  // namespace dnnkit
