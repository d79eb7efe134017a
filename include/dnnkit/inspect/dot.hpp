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

#include "dnnkit/cpu/families.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/inspect/logged_network.hpp"
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
  explicit dot_writer(const logged_network& net) : net_(net), plan_(net.plan()) {
    for (const logged_network::kernel& k : net.setup_kernels()) add_kernel(k);
    for (const logged_network::kernel& k : net.kernels()) add_kernel(k);
  }

  std::string run() {
    out_ =
        "digraph network {\n  rankdir=TB;\n  node [shape=box, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n";
    for (std::int32_t b : plan_.inputs)
      add("  {} [shape=ellipse, label={}];\n", leaf(net_.value_in(b)),
          dot_string(plan_.text_of(net_.buffer_at(b).name)));
    for (const kernel& k : kernels_) add_cluster(k);
    for (const kernel& k : kernels_) add_edges(k);
    for (std::size_t i = 0; i < plan_.results.size(); ++i) add_output(i);
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
  };
  void add_kernel(const logged_network::kernel& of) {
    kernel k{fmt::format("{}{}", of.setup ? 's' : 'k', of.number),
             fmt::format("{}: {}", of.setup ? "setup" : std::to_string(of.number), plan_.text_of(of.runs.name)),
             of.setup,
             {},
             {}};
    if (const std::string conditions = conditions_of(plan_, of.runs.guards); !conditions.empty())
      k.title += "\nif " + conditions;
    if (const std::size_t stages = net_.stages_of(of).size(); stages > 1) k.title += fmt::format("\n{} stages", stages);
    k.nodes = net_.views_of(of);
    const auto nodes = net_.nodes_of(of);
    k.nodes.insert(k.nodes.end(), nodes.begin(), nodes.end());
    k.sorted = k.nodes;
    std::sort(k.sorted.begin(), k.sorted.end());
    for (value_id v : net_.outputs_of(of)) stored_by_.emplace(v, kernels_.size());
    kernels_.push_back(std::move(k));
  }
  static std::string id(const kernel& k, node_id n) { return fmt::format("{}_{}", k.id, n); }
  static std::string leaf(value_id v) { return fmt::format("v{}", v); }

  void add_cluster(const kernel& k) {
    add("  subgraph cluster_{} {{\n    label={};\n    style={};\n", k.id, dot_string(k.title),
        k.setup ? "\"rounded,dashed\"" : "rounded");
    for (node_id n : k.nodes) {
      const logged_node& x = net_.node_at(n);
      std::string label(x.op.name);
      if (const std::string_view name = plan_.text_of(x.name); name != x.op.name) (label += '\n') += name;
      add("    {} [label={}];\n", id(k, n), dot_string(label));
    }
    out_ += "  }\n";
  }

  // Where value v comes from, seen from kernel k: its own node, else the kernel that stores it; empty for weights and
  // constants, which are not drawn.
  std::string source_of(value_id v, const kernel* k) const {
    const logged_value& x = net_.value_at(v);
    if (x.from == origin::input) return leaf(v);
    if (x.producer == none) return {};
    if (k != nullptr && logged_network::contains(k->sorted, x.producer)) return id(*k, x.producer);
    const auto home = stored_by_.find(v);
    return home == stored_by_.end() ? std::string() : id(kernels_[home->second], x.producer);
  }
  void add_edge(value_id v, const std::string& from, const std::string& to) {
    if (from.empty()) return;
    const std::string label =
        fmt::format("{} {}", net_.value_at(v).type.type, print(symbols_, net_.value_at(v).type.dims));
    add("  {} -> {} [label={}];\n", from, to, dot_string(label));
  }
  void add_edges(const kernel& k) {
    for (node_id n : k.nodes)
      for (value_id v : plan_.numbers_of(net_.node_at(n).inputs))
        if (v != none) add_edge(v, source_of(v, &k), id(k, n));
  }
  void add_output(std::size_t i) {
    const std::string out = fmt::format("out{}", i);
    add("  {} [shape=ellipse, label={}];\n", out, dot_string(plan_.text_of(net_.buffer_at(plan_.results[i]).name)));
    const value_id v = net_.value_in(plan_.results[i]);
    add_edge(v, source_of(v, nullptr), out);
  }

  const logged_network& net_;
  const plan_view& plan_;
  symbol_table symbols_ = table_of(plan_);
  std::vector<kernel> kernels_;
  std::unordered_map<value_id, std::size_t> stored_by_;  // the first kernel that stores a value
  std::string out_;
};

}  // namespace detail

// A plan made with a log as a Graphviz digraph, for `dot -Tsvg`. Kernels that run once, when a session is made, have
// dashed outlines; what a branch alone needs says on which conditions it runs; weights and constants are left out.
// Throws dnnkit::error when there is no plan or no log.
[[nodiscard]] inline std::string dot(const plan_view& plan) {
  const detail::logged_network net(plan, "dot");
  return detail::dot_writer(net).run();
}

// The same of Net, a dk::compile<...>.
template <class Net> [[nodiscard]] std::string dot() { return dot(Net::logged_plan()); }

// The same of a graph built at run time.
template <class Pipeline, class Target = targets::native> [[nodiscard]] std::string dot(const graph& built) {
  const plan::plan_draft plan = Pipeline::template run_logged<Target>(built, cpu::default_families.table).plan;
  return dot(plan::view_of(plan));
}

}  // namespace dnnkit
