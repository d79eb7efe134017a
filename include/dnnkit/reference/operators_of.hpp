// SPDX-License-Identifier: MIT
// The operators one model needs, so that evaluating it does not compile the definitions of all the others.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/operator/element_types.hpp"
#include "dnnkit/pass/expand_composites.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dnnkit {

namespace detail {

// Which operators of Set occur, as positions in it, and elements of which kinds.
template <class Set> struct use {
  std::array<std::size_t, Set::size> positions{};
  std::size_t count = 0;
  element_kinds kinds{};
};
template <class Model, class Set> constexpr use<Set> use_of() {
  std::array<bool, Set::size> used{};
  use<Set> u;
  const graph g = passes::expand_composites::run(graph_of<Model>());
  for (const node& n : g.nodes)
    if (const std::size_t i = Set::find(n.op->id); i < Set::size) used[i] = true;
  for (std::size_t i = 0; i < Set::size; ++i)
    if (used[i]) u.positions[u.count++] = i;
  for (const value& v : g.values) u.kinds = u.kinds | kind_of(v.type.type);
  return u;
}

template <class Model, class Set> struct operators_used {
  static constexpr use<Set> u = use_of<Model, Set>();
  template <std::size_t... K>
  static operators_on<u.kinds, typename Set::template at<u.positions[K]>...> list(std::index_sequence<K...>);
  using type = decltype(list(std::make_index_sequence<u.count>{}));
};

}  // namespace detail

// The model's operators, those that its composite operators expand to, and the kinds of elements they work on:
//   evaluate<operators_of<Model>>(graph_of<Model>(), inputs, weights)
template <class Model, class Set = typename detail::set_of_model<Model>::type>
using operators_of = typename detail::operators_used<Model, Set>::type;

}  // namespace dnnkit
