// SPDX-License-Identifier: MIT
// A compiled network as Graphviz text: operators as nodes, kernels as clusters, edges labelled with shapes.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/inspect/compiled_graph.hpp"
#include "dnnkit/inspect/names.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/weights/json_header.hpp"

namespace dnnkit {

namespace detail {

// `s` as a quoted string of Graphviz's language: line breaks and other control characters as the break of a label,
// backslashes and what looks like an entity as themselves, bytes that are no UTF-8 as '?'.
inline std::string dot_string(std::string_view s) {
  std::string out = "\"";
  std::size_t invalid = first_invalid_utf8(s);
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (i == invalid) {
      out += '?';
      const std::size_t next = first_invalid_utf8(s.substr(i + 1));
      invalid = next == s.npos ? next : i + 1 + next;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) out += "\\n";
    else if (c == '&') out += "&amp;";
    else if (c == '"' || c == '\\') (out += '\\') += c;
    else out += c;
  }
  return out + "\"";
}

class dot_writer {
 public:
  explicit dot_writer(const compiled_graph& compiled) : plan_(compiled.plan), g_(compiled.g) {
    for (const step& s : plan_.setup_steps) add_kernel(compiled, s, true);
    for (const step& s : plan_.steps) add_kernel(compiled, s, false);
  }

  std::string run() {
    out_ =
        "digraph network {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n";
    for (std::size_t i = 0; i < g_.inputs.size(); ++i)
      add("  {} [shape=ellipse, label={}];\n", leaf(g_.inputs[i]), dot_string(g_.name_of(g_.inputs[i])));
    for (const kernel& k : kernels_) add_cluster(k);
    for (const kernel& k : kernels_) add_edges(k);
    for (std::size_t i = 0; i < g_.outputs.size(); ++i) add_output(i);
    return out_ + "}\n";
  }

 private:
  template <class... Arguments> void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  // A node may be in several kernels, which then compute it again: it is drawn in each of them.
  struct kernel {
    std::string id, title;
    bool setup;
    std::vector<node_id> nodes;   // those it looks through included
    std::vector<node_id> sorted;  // the same in ascending order
    const fusion_group* group;
  };
  void add_kernel(const compiled_graph& compiled, const step& s, bool setup) {
    const std::size_t number = kernels_.size() + 1 - (setup ? 0 : plan_.setup_steps.size());
    kernel k{fmt::format("{}{}", setup ? 's' : 'k', number),
             fmt::format("{}: {}", setup ? "setup" : std::to_string(number), plan_.text_of(s.name)),
             setup,
             compiled.views_of(s),
             {},
             compiled.group_of(s)};
    if (const std::string conditions = conditions_of(plan_, s); !conditions.empty()) k.title += "\nif " + conditions;
    const auto nodes = compiled.nodes_of(s);
    k.nodes.insert(k.nodes.end(), nodes.begin(), nodes.end());
    k.sorted = k.nodes;
    std::sort(k.sorted.begin(), k.sorted.end());
    if (k.group != nullptr)
      for (value_id v : k.group->outputs) stored_by_.emplace(v, kernels_.size());
    kernels_.push_back(std::move(k));
  }
  static std::string id(const kernel& k, node_id n) { return fmt::format("{}_{}", k.id, n); }
  static std::string leaf(value_id v) { return fmt::format("v{}", v); }

  void add_cluster(const kernel& k) {
    add("  subgraph cluster_{} {{\n    label={};\n    style={};\n", k.id, dot_string(k.title),
        k.setup ? "\"rounded,dashed\"" : "rounded");
    for (node_id n : k.nodes) {
      const node& x = g_.node_at(n);
      std::string label(x.op->name);
      if (const std::string_view name = g_.text_of(x.name); name != x.op->name) (label += '\n') += name;
      add("    {} [label={}];\n", id(k, n), dot_string(label));
    }
    out_ += "  }\n";
  }

  // Where value v comes from, seen from kernel k: its own node, else the kernel that stores it; empty for weights and
  // constants, which are not drawn.
  std::string source_of(value_id v, const kernel* k) const {
    const value& x = g_.at(v);
    if (x.from == origin::input) return leaf(v);
    if (x.producer == none) return {};
    if (k != nullptr && compiled_graph::contains(k->sorted, x.producer)) return id(*k, x.producer);
    const auto home = stored_by_.find(v);
    return home == stored_by_.end() ? std::string() : id(kernels_[home->second], x.producer);
  }
  void add_edge(value_id v, const std::string& from, const std::string& to) {
    if (from.empty()) return;
    const std::string label = fmt::format("{} {}", g_.at(v).type.type, print(g_.symbols, g_.at(v).type.dims));
    add("  {} -> {} [label={}];\n", from, to, dot_string(label));
  }
  void add_edges(const kernel& k) {
    for (node_id n : k.nodes)
      for (std::size_t i = 0; i < g_.node_at(n).inputs.count; ++i)
        if (const value_id v = g_.input_of(g_.node_at(n), i); v != none) add_edge(v, source_of(v, &k), id(k, n));
  }
  void add_output(std::size_t i) {
    const value_id v = g_.outputs[i];
    const std::string out = fmt::format("out{}", i);
    add("  {} [shape=ellipse, label={}];\n", out, dot_string(g_.text_of(g_.output_names[i])));
    add_edge(v, source_of(v, nullptr), out);
  }

  const plan_view& plan_;
  const graph& g_;
  std::vector<kernel> kernels_;
  std::unordered_map<value_id, std::size_t> stored_by_;  // the first kernel that stores a value
  std::string out_;
};

}  // namespace detail

// Net (a dk::compile<...>) as a Graphviz digraph, for `dot -Tsvg`. Kernels that run once, when a session is made, have
// dashed outlines; what a branch alone needs says on which conditions it runs; weights and constants are left out.
template <class Net> std::string dot() {
  const auto compiled = detail::compiled_graph::of<Net>();
  return detail::dot_writer(compiled).run();
}

// The same of a graph built at run time. Throws dnnkit::error when the passes make no plan of it.
template <class Pipeline> std::string dot(const graph& built) {
  const auto compiled = detail::compiled_graph::of_graph<Pipeline>(built);
  if (!compiled.plan.error.empty()) throw error("the graph cannot be planned", "dot", {}, compiled.plan.error.str());
  return detail::dot_writer(compiled).run();
}

}  // namespace dnnkit
