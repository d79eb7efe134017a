// SPDX-License-Identifier: MIT
// The measure that every rewriting lowers: cycles of a small vector unit that the operators of a graph take, with what
// each reads and writes, as if it had a kernel of its own. Movement operators are views, and take none. Setup takes
// none; extents that are not known count as typical ones. (DNNFusion, section 3.4.2, measures floating-point
// operations; a division is dearer than a product.)
#pragma once

#include <cstddef>

#include "dnnkit/cost/operator_cycles.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit::rewrite {

namespace detail {
inline constexpr double extent_not_known = 64, cycles_of_element = 0.5, cycles_of_node = 1;

constexpr double elements_of(const graph& g, value_id v) {
  double n = 1;
  for (const dim d : g.at(v).type.dims) n *= d.is_known() ? static_cast<double>(d.value()) : extent_not_known;
  return n;
}
}  // namespace detail

// Of one run of node n.
constexpr double work_of(graph& g, const node& n) {
  double reads = 0;
  for (std::size_t i = 0; i < n.inputs.count; ++i)
    if (const value_id v = g.input_of(n, i); v != none) reads += detail::elements_of(g, v);
  double cycles = 0;
  const double written = detail::elements_of(g, n.output);
  if (n.op->kind == form::elementwise) cycles = written * plan::vector_cycles(targets::portable::facts, n.op->id);
  else if (n.op->kind != form::movement) {
    const dim flops = g.flops_of(n);
    cycles = flops.is_known() ? static_cast<double>(flops.value()) : reads + written;
  }
  const double moved = n.op->kind == form::movement ? 0 : reads + written;
  return detail::cycles_of_node + cycles + detail::cycles_of_element * moved;
}

}  // namespace dnnkit::rewrite
