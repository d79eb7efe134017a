// SPDX-License-Identifier: MIT
// A graph made in a constant expression, kept as static arrays, and made into a graph again at run time. Building a
// model a second time at run time would not do: C++ leaves the order of function arguments open, compilers choose
// another one at run time than in constant expressions, and the nodes would be numbered differently.
#pragma once

#include <array>
#include <cstddef>

#include "dnnkit/graph/graph.hpp"

namespace dnnkit {

namespace detail {

// Calls visit(member) for every table of a graph-like object; the one list of them.
template <class Visit> constexpr void for_each_graph_table(Visit visit) {
  visit([](auto& g) -> auto& { return g.nodes; });
  visit([](auto& g) -> auto& { return g.values; });
  visit([](auto& g) -> auto& { return g.inputs; });
  visit([](auto& g) -> auto& { return g.outputs; });
  visit([](auto& g) -> auto& { return g.output_names; });
  visit([](auto& g) -> auto& { return g.operands; });
  visit([](auto& g) -> auto& { return g.attributes; });
  visit([](auto& g) -> auto& { return g.constants; });
  visit([](auto& g) -> auto& { return g.characters; });
  visit([](auto& g) -> auto& { return g.symbols.symbols; });
  visit([](auto& g) -> auto& { return g.symbols.atoms; });
  visit([](auto& g) -> auto& { return g.symbols.polynomials; });
}
using graph_sizes = std::array<std::size_t, 12>;

template <graph_sizes N> struct graph_tables {
  std::array<node, N[0]> nodes;
  std::array<value, N[1]> values;
  std::array<value_id, N[2]> inputs;
  std::array<value_id, N[3]> outputs;
  std::array<slice_of, N[4]> output_names;
  std::array<value_id, N[5]> operands;
  std::array<std::int64_t, N[6]> attributes;
  std::array<std::int64_t, N[7]> constants;
  std::array<char, N[8]> characters;
  struct {
    std::array<symbol, N[9]> symbols;
    std::array<atom, N[10]> atoms;
    std::array<polynomial, N[11]> polynomials;
  } symbols;
  text error;
};

constexpr graph_sizes sizes_of_graph(const graph& g) {
  graph_sizes sizes{};
  std::size_t k = 0;
  for_each_graph_table([&](auto table) { sizes[k++] = table(g).size(); });
  return sizes;
}

}  // namespace detail

// Make{}() is a constant expression giving a graph.
template <class Make> struct frozen_graph {
  static constexpr detail::graph_sizes sizes = detail::sizes_of_graph(Make{}());
  static constexpr detail::graph_tables<sizes> tables = [] {
    detail::graph_tables<sizes> t{};
    const graph g = Make{}();
    detail::for_each_graph_table([&](auto table) {
      auto& to = table(t);
      const auto& from = table(g);
      for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
    });
    t.error = g.error;
    return t;
  }();

  static graph thaw() {
    graph g;
    detail::for_each_graph_table([&](auto table) {
      const auto& from = table(tables);
      table(g).append(from.begin(), from.end());
    });
    g.error = tables.error;
    return g;
  }
};

}  // namespace dnnkit
