// SPDX-License-Identifier: MIT
// What the passes made of a model and why: a block for each kernel, then totals against the graph as it was built.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/inspect/compiled_graph.hpp"
#include "dnnkit/inspect/names.hpp"
#include "dnnkit/inspect/sizes.hpp"
#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/plan/plan_memory.hpp"

namespace dnnkit {

namespace detail {

class explanation {
 public:
  explanation(const graph& built, const compiled_graph& compiled, std::span<const binding> bindings)
      : built_(built),
        compiled_(compiled),
        plan_(compiled.plan),
        g_(compiled.g),
        bindings_(bindings),
        sizes_(table_of(plan_), bindings) {
    place_buffers();
  }

  std::string run() {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      out_ += "kernel " + std::to_string(i + 1) + ": " + std::string(plan_.text_of(plan_.steps[i].name)) + "\n";
      add_step(plan_.steps[i], false);
    }
    for (const step& s : plan_.setup_steps) {
      out_ += "setup: " + std::string(plan_.text_of(s.name)) + "\n";
      add_step(s, true);
    }
    add_totals();
    return std::move(out_);
  }

 private:
  void line(std::string_view label, const std::string& text) {
    constexpr std::size_t width = 14;
    out_ += "  " + std::string(label) + std::string(width - label.size(), ' ') + text + "\n";
  }

  // --- one kernel
  void add_step(const step& s, bool setup) {
    line("operators", list_of(compiled_.nodes_of(s)));
    if (const auto views = compiled_.views_of(s); !views.empty()) line("views", list_of(views));
    if (const std::string conditions = conditions_of(plan_, s); !conditions.empty()) line("runs only if", conditions);
    if (const fusion_group* group = compiled_.group_of(s)) line("mapping type", std::string(name_of(group->type)));
    dim read = 0, written = 0;
    for (std::int32_t b : operands(s, false)) {
      add_operand("reads", b, false);
      read = sizes_.sum(read, sizes_.bytes(buffer_at(b).type));
    }
    for (std::int32_t b : operands(s, true)) {
      add_operand("writes", b, true);
      written = sizes_.sum(written, sizes_.bytes(buffer_at(b).type));
    }
    line("cost", sizes_.text(s.flops) + " FLOPs, " + sizes_.text(read) + " bytes read, " + sizes_.text(written) +
                     " bytes written");
    if (!setup) {
      flops_ = sizes_.sum(flops_, s.flops);
      moved_ = sizes_.sum(moved_, sizes_.sum(read, written));
    }
    add_decisions(s);
    out_ += "\n";
  }

  const buffer& buffer_at(std::int32_t b) const { return plan_.buffers[static_cast<std::size_t>(b)]; }
  // The buffers a step reads or writes, each once.
  std::vector<std::int32_t> operands(const step& s, bool written) const {
    const auto all = plan_.numbers_of(s.operands);
    std::vector<std::int32_t> list;
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool is_output = false;
      for (const recipe_output& o : plan_.part<recipe_output>(plan_.outputs, plan_.recipes[s.kernel].outputs))
        is_output = is_output || o.operand == i;
      if (is_output == written && std::find(list.begin(), list.end(), all[i]) == list.end()) list.push_back(all[i]);
    }
    return list;
  }
  void add_operand(std::string_view label, std::int32_t b, bool written) {
    const buffer& x = buffer_at(b);
    std::string s = std::string(plan_.text_of(x.name));
    s += (s.empty() ? "" : ": ") + sizes_.text(x.type) + ", " + std::string(name_of(x.where));
    if (x.where == storage::arena) {
      if (placed_) s += " at byte " + grouped(offsets_[static_cast<std::size_t>(b)]);
      if (written) s += " (" + sizes_.text(sizes_.stored_bytes(x)) + " bytes)";
      s += ", " + describe(x.layout);
    }
    line(label, s);
  }

  // --- why these operators and no others
  std::string list_of(std::span<const node_id> nodes) const {
    std::string list;
    for (node_id n : nodes) list += (list.empty() ? "" : ", ") + describe(g_, n);
    return list;
  }
  // "Conv 'tail' -> DepthToSpace -> Add: successor"; mapping types are said where they were the reason
  void add_decision(bool fused, node_id first, node_id second, std::string_view reason) {
    std::vector<node_id> chain = compiled_.movement_between(first, second);
    chain.insert(chain.begin(), first);
    chain.push_back(second);
    std::string edge, types;
    for (node_id n : chain) {
      const fusion_group* group = n == first || n == second ? compiled_.home_of(n) : nullptr;
      const std::string arrow = n == first ? "" : " -> ";
      edge += arrow + describe(g_, n);
      types += arrow + std::string(name_of(group != nullptr ? group->type : g_.node_at(n).op->properties.map));
    }
    line(fused ? "fused" : "not fused",
         edge + ": " + std::string(reason) + (reason == "mapping types" ? " (" + types + ")" : ""));
  }
  void add_decisions(const step& s) {
    const auto nodes = compiled_.nodes_of(s);
    std::vector<std::pair<node_id, node_id>> said;
    const auto is_new = [&](node_id a, node_id b) {
      if (std::find(said.begin(), said.end(), std::pair(a, b)) != said.end()) return false;
      said.emplace_back(a, b);
      return true;
    };
    const auto inside = [&](node_id n) { return compiled_.contains(nodes, n); };
    for (const fusion_decision& d : compiled_.fusion.decisions)
      if (d.fused && inside(d.first) && inside(d.second) && is_new(d.first, d.second))
        add_decision(true, d.first, d.second, d.reason);
    for (const fusion_decision& d : compiled_.fusion.decisions)
      if (!d.fused && inside(d.first) != inside(d.second) && is_new(d.first, d.second))
        add_decision(false, d.first, d.second, d.reason);
    // edges nobody asked about
    const fusion_group* here = compiled_.group_of(s);
    for (node_id n : nodes)
      for (std::size_t i = 0; i < g_.node_at(n).inputs.count; ++i) {
        const value_id v = g_.input_of(g_.node_at(n), i);
        const node_id p = v == none ? none : g_.at(v).producer;
        const fusion_group* there = p == none ? nullptr : compiled_.home_of(p);
        if (here == nullptr || there == nullptr || there == here || there->setup != here->setup) continue;
        if (is_new(p, n)) add_decision(false, p, n, compiled_.reason_between(*there, *here));
      }
  }

  // --- memory under the given sizes
  void place_buffers() {
    placed_ = plan_.is_static || !bindings_.empty();
    if (!placed_) return;
    std::vector<memory_block> blocks;
    std::vector<std::size_t> owners;
    offsets_.resize(plan_.buffers.size(), 0);
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      const buffer& b = plan_.buffers[i];
      if (b.where != storage::arena) continue;
      blocks.push_back({aligned(sizes_.stored_bytes(b).value()), b.first, b.last, -1});
      owners.push_back(i);
      offsets_[i] = b.offset;
    }
    arena_bytes_ = plan_.arena_bytes;
    if (plan_.is_static) return;
    arena_bytes_ = plan_memory(blocks);
    for (std::size_t k = 0; k < owners.size(); ++k) offsets_[owners[k]] = blocks[k].offset;
  }

  // --- totals
  void add_totals() {
    graph built = built_;  // counting FLOPs adds expressions to its symbol table
    const auto alive = live_nodes(built), setup = setup_values(built);
    std::size_t operators = 0;
    std::vector<dim> flops_of;
    for (std::size_t k = 0; k < built.nodes.size(); ++k) {
      operators += alive[k] != 0;
      flops_of.push_back(built.flops_of(built.nodes[k]));
    }
    sizes s(built.symbols, bindings_);
    dim flops = 0, moved = 0, intermediates = 0;
    for (std::size_t k = 0; k < built.nodes.size(); ++k) {
      const node& n = built.nodes[k];
      if (alive[k] == 0 || setup[static_cast<std::size_t>(n.output)] != 0) continue;
      flops = s.sum(flops, flops_of[k]);
      for (std::size_t i = 0; i < n.inputs.count; ++i)
        if (const value_id v = built.input_of(n, i); v != none) moved = s.sum(moved, s.bytes(built.at(v).type));
      const dim result = s.bytes(built.at(n.output).type);
      moved = s.sum(moved, result);
      if (!is_output(built, n.output)) intermediates = s.sum(intermediates, result);
    }
    total("totals", "graph as built", "compiled");
    total("operators, kernels", std::to_string(operators), std::to_string(plan_.steps.size()));
    total("FLOPs", s.text(flops), sizes_.text(flops_));
    total("bytes moved", s.text(moved), sizes_.text(moved_));
    total("bytes of intermediates, arena", s.text(intermediates),
          placed_ ? grouped(arena_bytes_) : "planned when the symbols have values");
    total("kernels run once, at setup", "", std::to_string(plan_.setup_steps.size()));
    total("kernels to instantiate", "", std::to_string(plan_.recipes.size()));
  }
  void total(const std::string& label, const std::string& built, const std::string& compiled) {
    constexpr std::size_t width = 32;
    const auto column = [](const std::string& s) {
      return s + std::string(s.size() < width ? width - s.size() : 1, ' ');
    };
    out_ += column(label) + column(built) + compiled + "\n";
  }

  const graph& built_;
  const compiled_graph& compiled_;
  const plan_view& plan_;
  const graph& g_;
  std::span<const binding> bindings_;
  sizes sizes_;
  bool placed_ = false;
  std::vector<std::int64_t> offsets_;
  std::int64_t arena_bytes_ = 0;
  dim flops_ = 0, moved_ = 0;
  std::string out_;
};

}  // namespace detail

// A text about every kernel of Net (a dk::compile<...>): its operators by name and ONNX type, the mapping type of the
// group (DNNFusion, Table 3.2), what it reads and writes and where that lies, FLOPs, bytes, and which edges of the
// graph were fused or not, with the reason. FLOPs and sizes are expressions over the symbols; given the values of all
// symbols they are numbers: explain<net>({{"H", 480}, {"W", 640}}). Bytes count each operand of a kernel once and
// whole. Throws dnnkit::error for a symbol that the network does not have or that is left out.
template <class Net> std::string explain(std::initializer_list<binding> bindings = {}) {
  const graph built = graph_of<typename Net::model>();
  const auto compiled = detail::compiled_graph::of<Net>();
  return detail::explanation(built, compiled, {bindings.begin(), bindings.size()}).run();
}

// The same of a graph built at run time, an imported model for instance. Throws dnnkit::error when the passes make no
// plan of it.
template <class Pipeline> std::string explain(const graph& built, std::span<const binding> bindings = {}) {
  const auto compiled = detail::compiled_graph::of_graph<Pipeline>(built);
  if (!compiled.plan.error.empty())
    throw error("the graph cannot be planned", "explain", {}, compiled.plan.error.str());
  return detail::explanation(built, compiled, bindings).run();
}

}  // namespace dnnkit
