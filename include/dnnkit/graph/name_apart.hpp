// SPDX-License-Identifier: MIT
// Names by which logs tell the operators of a model apart, whatever passes do with them: of operators of one kind and
// name the second is called "Relu #2", or "conv1 #2", by its place in the model as it was built. What passes put in the
// place of an operator has its name (graph/rebuild.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit {

constexpr void name_apart(graph& g) {
  struct known_name {
    operator_id op = operator_id::none;
    slice_of name;
    std::size_t count = 1;
    std::int32_t next = none;
  };
  constexpr std::size_t buckets = 256;
  vector<std::int32_t> first(buckets, none);
  vector<known_name> known;
  for (std::size_t k = 0; k < g.nodes.count; ++k) {
    const node& n = g.nodes.items[k];
    std::size_t hash = 0;
    for (std::uint32_t i = 0; i < n.name.count; ++i)
      hash = (hash * 31 + static_cast<unsigned char>(g.characters.items[n.name.first + i])) % 65'521;
    std::int32_t& head = first.items[hash % buckets];
    std::int32_t i = head;
    while (i != none && !(known.items[i].op == n.op->id && g.text_of(known.items[i].name) == g.text_of(n.name)))
      i = known.items[i].next;
    if (i == none) {
      known.push_back({n.op->id, n.name, 1, head});
      head = static_cast<std::int32_t>(known.count) - 1;
      continue;
    }
    text name = g.text_of(n.name);
    if (name.length == 0) name = n.op->name;
    name << " #" << ++known.items[i].count;
    g.rename(static_cast<node_id>(k), g.store(name));
  }
}

}  // namespace dnnkit
