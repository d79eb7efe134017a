// SPDX-License-Identifier: MIT
// The order in which a graph's nodes are imported: that of the file, unless a node there reads what a later one
// computes (which ONNX forbids, tools that insert casts write, and ONNX Runtime runs); and which nodes are needed at
// all.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <vector>

#include "dnnkit/onnx/format/model.hpp"

namespace dnnkit::onnx {

namespace detail {

// Calls f(name) for everything that n reads, also inside of its bodies.
template <class F> void for_each_read(const node& n, const F& f) {
  for (std::string_view name : n.inputs)
    if (!name.empty()) f(name);
  for (const attribute& a : n.attributes)
    for (const graph& body : a.graphs) {
      for (const node& inner : body.nodes) for_each_read(inner, f);
      for (const value_info& o : body.outputs) f(o.name);
    }
}

}  // namespace detail

// The nodes' positions in the order in which each comes behind those it reads from, and else as in the file. Nodes that
// read from each other in a circle come last.
inline std::vector<std::size_t> node_order(const std::vector<node>& nodes) {
  std::map<std::string_view, std::size_t> writer;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::string_view name : nodes[i].outputs)
      if (!name.empty()) writer.emplace(name, i);
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  std::vector<std::size_t> missing(nodes.size(), 0), order;
  bool sorted = true;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    detail::for_each_read(nodes[i], [&](std::string_view name) {
      const auto found = writer.find(name);
      if (found == writer.end()) return;
      sorted = sorted && found->second < i;
      readers[found->second].push_back(i);
      ++missing[i];
    });
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (sorted) order.push_back(i);
    else if (missing[i] == 0) ready.push(i);
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (std::size_t r : readers[i])
      if (--missing[r] == 0) ready.push(r);
  }
  for (std::size_t i = 0; i < nodes.size() && order.size() < nodes.size(); ++i)
    if (missing[i] != 0) order.push_back(i);
  return order;
}

// Which nodes these outputs are computed from, directly or through others.
inline std::vector<bool> needed_nodes(const std::vector<node>& nodes, const std::vector<value_info>& outputs) {
  std::multimap<std::string_view, std::size_t> writers;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::string_view name : nodes[i].outputs)
      if (!name.empty()) writers.emplace(name, i);
  std::vector<bool> needed(nodes.size(), false);
  std::vector<std::size_t> unread;  // needed nodes whose inputs have not been looked at
  const auto need = [&](std::string_view name) {
    for (auto [at, end] = writers.equal_range(name); at != end; ++at)
      if (!needed[at->second]) {
        needed[at->second] = true;
        unread.push_back(at->second);
      }
  };
  for (const value_info& o : outputs) need(o.name);
  while (!unread.empty()) {
    const node& n = nodes[unread.back()];
    unread.pop_back();
    detail::for_each_read(n, need);
  }
  return needed;
}

}  // namespace dnnkit::onnx
