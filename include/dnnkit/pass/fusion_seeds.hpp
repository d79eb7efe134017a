// SPDX-License-Identifier: MIT
// Where fusion begins to grow kernels: at element-wise operators, those with the smallest result first (DNNFusion,
// section 3.4.3, step I).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/sort.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/operator/op_info.hpp"

namespace dnnkit::plan {

// Of nodes that are alive.
constexpr vector<node_id> fusion_seeds(graph& g, const vector<std::uint8_t>& alive) {
  struct size_class {
    std::int64_t size = 0;
    vector<node_id> nodes;
  };
  vector<size_class> classes;  // few, so that sorting them takes no time to speak of
  for (std::size_t n = 0; n < g.nodes.count; ++n) {
    const node& x = g.nodes.items[n];
    if (alive.items[n] == 0 || x.op->kind != form::elementwise) continue;
    const dim size = element_count(g.symbols, g.values.items[x.output].type.dims);
    const std::int64_t least = size.is_known() ? size.value() : g.symbols.range(size).min;
    std::size_t k = 0;
    while (k < classes.count && classes.items[k].size != least) ++k;
    if (k == classes.count) classes.push_back({least, {}});
    classes.items[k].nodes.push_back(static_cast<node_id>(n));
  }
  merge_sort(classes, [](const size_class& a, const size_class& b) { return a.size < b.size; });
  vector<node_id> nodes;
  for (const size_class& c : classes) nodes.append(c.nodes.begin(), c.nodes.end());
  return nodes;
}

}  // namespace dnnkit::plan
