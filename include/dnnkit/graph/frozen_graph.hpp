// SPDX-License-Identifier: MIT
// A graph made in a constant expression, kept as static arrays, and made into a graph again at run time. Building a
// model a second time at run time would not do: C++ leaves the order of function arguments open, compilers choose
// another one at run time than in constant expressions, and the nodes would be numbered differently.
#pragma once

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dnnkit/graph/graph.hpp"

namespace dnnkit {

namespace detail {

// The tables of a graph, each as the function that finds it in one; the one list of them.
// clang-format off
inline constexpr std::tuple graph_tables{
    [](auto& g) -> auto& { return g.nodes; },
    [](auto& g) -> auto& { return g.values; },
    [](auto& g) -> auto& { return g.inputs; },
    [](auto& g) -> auto& { return g.outputs; },
    [](auto& g) -> auto& { return g.output_names; },
    [](auto& g) -> auto& { return g.operands; },
    [](auto& g) -> auto& { return g.attributes; },
    [](auto& g) -> auto& { return g.constants; },
    [](auto& g) -> auto& { return g.characters; },
    [](auto& g) -> auto& { return g.symbols.symbols; },
    [](auto& g) -> auto& { return g.symbols.atoms; },
    [](auto& g) -> auto& { return g.symbols.polynomials; },
    [](auto& g) -> auto& { return g.symbols.assumptions; },
    [](auto& g) -> auto& { return g.declared_inputs; }};
// clang-format on
inline constexpr std::size_t graph_table_count = std::tuple_size_v<decltype(graph_tables)>;
using graph_sizes = std::array<std::size_t, graph_table_count>;

// Calls visit(number of a table as a constant, the table of g) for every table.
constexpr void for_each_table_of(auto& g, auto visit) {
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    (visit(std::integral_constant<std::size_t, K>{}, std::get<K>(graph_tables)(g)), ...);
  }
  (std::make_index_sequence<graph_table_count>{});
}
constexpr graph_sizes sizes_of_graph(const graph& g) {
  graph_sizes sizes{};
  for_each_table_of(g, [&](auto k, const auto& table) { sizes[k] = table.size(); });
  return sizes;
}

// The rows of all tables, of which there are N.
template <std::size_t K>
using graph_row = typename std::remove_cvref_t<decltype(std::get<K>(graph_tables)(std::declval<graph&>()))>::value_type;
template <graph_sizes N, class Numbers = std::make_index_sequence<graph_table_count>> struct graph_arrays;
template <graph_sizes N, std::size_t... K> struct graph_arrays<N, std::index_sequence<K...>> {
  std::tuple<std::array<graph_row<K>, N[K]>...> tables;
  text error;
};

}  // namespace detail

// Make{}() is a constant expression giving a graph.
template <class Make> struct frozen_graph {
  static constexpr detail::graph_sizes sizes = detail::sizes_of_graph(Make{}());
  static constexpr detail::graph_arrays<sizes> arrays = [] {
    detail::graph_arrays<sizes> a{};
    const graph g = Make{}();
    detail::for_each_table_of(g, [&](auto k, const auto& from) {
      for (std::size_t i = 0; i < from.size(); ++i) std::get<k>(a.tables)[i] = from[i];
    });
    a.error = g.error;
    return a;
  }();

  static graph thaw() {
    graph g;
    detail::for_each_table_of(g, [](auto k, auto& to) {
      const auto& from = std::get<k>(arrays.tables);
      to.append(from.begin(), from.end());
    });
    g.error = arrays.error;
    return g;
  }
};

}  // namespace dnnkit
