// SPDX-License-Identifier: MIT
// What the passes made of a model and why: a block for each kernel, then totals against the graph as it was built.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/fmt.hpp"
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
      add("kernel {}: {}\n", i + 1, plan_.text_of(plan_.steps[i].name));
      add_step(plan_.steps[i], false);
    }
    for (const step& s : plan_.setup_steps) {
      add("setup: {}\n", plan_.text_of(s.name));
      add_step(s, true);
    }
    add_legend();
    add_totals();
    return std::move(out_);
  }

 private:
  template <class... Arguments> void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }
  void line(std::string_view label, std::string_view text) { add("  {:<14}{}\n", label, text); }

  // --- one kernel
  void add_step(const step& s, bool setup) {
    line("operators", list_of(compiled_.in_order_of_computation(s)));
    if (const auto views = compiled_.views_of(s); !views.empty()) line("views", list_of(views));
    if (const std::string conditions = conditions_of(plan_, s); !conditions.empty()) line("runs only if", conditions);
    if (const fusion_group* group = compiled_.group_of(s)) line("mapping type", name_of(group->type));
    dim read = 0, written = 0;
    for (std::int32_t b : operands(s, false)) add_operand("reads", b, false);
    for (dim bytes : bytes_read(s)) read = sizes_.sum(read, bytes);
    for (std::int32_t b : operands(s, true)) {
      add_operand("writes", b, true);
      written = sizes_.sum(written, sizes_.bytes(buffer_at(b).type));
    }
    line("cost", fmt::format("{} FLOPs, {} bytes read, {} bytes written", sizes_.text(s.flops), sizes_.text(read),
                             sizes_.text(written)));
    if (!setup) {
      flops_ = sizes_.sum(flops_, s.flops);
      moved_ = sizes_.sum(moved_, sizes_.sum(read, written));
    }
    add_decisions(s);
    out_ += "\n";
  }

  // Of each stored value that the step reads, in no order: see elements_read.
  std::vector<dim> bytes_read(const step& s) {
    const auto nodes = compiled_.nodes_of(s);
    std::map<value_id, dim> elements;
    const auto read = [&](value_id v, dim needed) {  // v, also through movement operators
      for (;;) {
        needed = sizes_.least(needed, sizes_.elements(g_.at(v).type));
        const node_id p = g_.at(v).producer;
        if (p == none || (compiled_.is_stored(v) && !compiled_.contains(nodes, p))) break;
        if (!compiled_.is_movement(p)) return;  // computed here
        v = g_.input_of(g_.node_at(p), 0);
      }
      if (g_.at(v).from == origin::constant && g_.at(v).data.count == 1) return;  // known to the kernel
      dim& sum = elements.try_emplace(v, dim(0)).first->second;
      sum = sizes_.least(sizes_.sum(sum, needed), sizes_.elements(g_.at(v).type));
    };
    for (node_id n : nodes)  // movement operators are looked through by those that read them
      if (const node& x = g_.node_at(n); !compiled_.is_movement(n))
        for (std::size_t i = 0; i < x.inputs.count; ++i)
          if (const value_id v = g_.input_of(x, i); v != none) read(v, elements_read(sizes_, g_, x, i));
    if (const fusion_group* group = compiled_.group_of(s))
      for (value_id v : group->outputs)
        if (compiled_.is_movement(g_.at(v).producer)) read(v, sizes_.elements(g_.at(v).type));
    std::vector<dim> bytes;
    for (const auto& [v, n] : elements)
      bytes.push_back(sizes_.product(n, static_cast<std::int64_t>(size_of(g_.at(v).type.type))));
    return bytes;
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
    const std::string_view name = plan_.text_of(x.name);
    std::string s = fmt::format("{}{}{}, {}", name, name.empty() ? "" : ": ", sizes_.text(x.type), name_of(x.where));
    if (x.where == storage::arena) {
      if (placed_) s += fmt::format(" at byte {}", grouped(offsets_[static_cast<std::size_t>(b)]));
      if (written) s += fmt::format(" ({} bytes)", sizes_.text(sizes_.stored_bytes(x)));
      s += fmt::format(", {}", describe(x.layout));
    }
    line(label, s);
  }

  // --- why these operators and no others
  std::string list_of(std::span<const node_id> nodes) const {
    std::vector<std::string> list;
    for (node_id n : nodes) list.push_back(describe(g_, n));
    return fmt::format("{}", fmt::join(list, ", "));
  }
  // "Conv 'tail' -> DepthToSpace -> Add: successor"; mapping types are said where they were the reason, and the rule
  // where one was
  void add_decision(const fusion_decision& d) {
    std::vector<node_id> chain = compiled_.movement_between(d.first, d.second);
    chain.insert(chain.begin(), d.first);
    chain.push_back(d.second);
    std::vector<std::string> edge;
    std::vector<std::string_view> types;
    for (std::size_t k = 0; k < chain.size(); ++k) {
      const node_id n = chain[k];
      const fusion_group* group = k == 0 || k + 1 == chain.size() ? compiled_.home_of(n) : nullptr;
      edge.push_back(describe(g_, n));
      types.push_back(name_of(group != nullptr ? group->type : g_.node_at(n).op->properties.map));
    }
    std::string why(words_of(d.reason).name);
    if (d.reason == fusion_reason::mapping_types) why += fmt::format(" ({})", fmt::join(types, " -> "));
    if (!d.rule.empty()) why += fmt::format(" '{}'", d.rule);
    line(d.fused ? "fused" : "not fused", fmt::format("{}: {}", fmt::join(edge, " -> "), why));
    reasons_said_[static_cast<std::size_t>(d.reason)] = true;
  }
  // What was decided about the edges within the kernel that were fused, then about those that cross its border. Of an
  // edge that was asked about more than once the first refusal counts, else the last reason for not asking.
  void add_decisions(const step& s) {
    const auto nodes = compiled_.nodes_of(s);
    const auto& decisions = compiled_.fusion.decisions;
    std::vector<std::size_t> here;
    for (node_id n : nodes) here.insert(here.end(), compiled_.decisions_at(n).begin(), compiled_.decisions_at(n).end());
    std::sort(here.begin(), here.end());
    here.erase(std::unique(here.begin(), here.end()), here.end());
    std::map<std::pair<node_id, node_id>, std::size_t> refused;
    std::set<std::pair<node_id, node_id>> fused;
    std::vector<std::pair<node_id, node_id>> order;  // of what was refused
    for (std::size_t k : here) {
      const fusion_decision& d = decisions[k];
      const std::pair edge(d.first, d.second);
      const bool first = compiled_.contains(nodes, d.first), second = compiled_.contains(nodes, d.second);
      if (d.fused && first && second && fused.insert(edge).second) add_decision(d);
      if (d.fused || first == second) continue;
      const auto [known, is_new] = refused.emplace(edge, k);
      if (is_new) order.push_back(edge);
      else if (!decisions[known->second].asked) known->second = k;
    }
    for (const auto& edge : order) add_decision(decisions[refused[edge]]);
  }

  // --- the words used above
  void add_legend() {
    for (std::size_t r = 0; r < reasons_said_.size(); ++r)
      if (reasons_said_[r]) add("{}: {}\n", fusion_words_of_reasons[r].name, fusion_words_of_reasons[r].meaning);
    if (std::find(reasons_said_.begin(), reasons_said_.end(), true) != reasons_said_.end()) out_ += "\n";
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
    std::vector<char> given_out(built.values.size());
    for (value_id v : built.outputs) given_out[static_cast<std::size_t>(v)] = 1;
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
        if (const value_id v = built.input_of(n, i); v != none)
          moved = s.sum(moved, s.product(elements_read(s, built, n, i),
                                         static_cast<std::int64_t>(size_of(built.at(v).type.type))));
      const dim result = s.bytes(built.at(n.output).type);
      moved = s.sum(moved, result);
      if (given_out[static_cast<std::size_t>(n.output)] == 0) intermediates = s.sum(intermediates, result);
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
  void total(std::string_view label, std::string_view built, std::string_view compiled) {
    add("{:<31} {:<31} {}\n", label, built, compiled);
  }

  const graph& built_;
  const compiled_graph& compiled_;
  const plan_view& plan_;
  graph g_;  // a copy: what operators say of themselves adds expressions to its symbol table
  std::span<const binding> bindings_;
  sizes sizes_;
  bool placed_ = false;
  std::vector<std::int64_t> offsets_;
  std::int64_t arena_bytes_ = 0;
  dim flops_ = 0, moved_ = 0;
  std::array<bool, static_cast<std::size_t>(fusion_reason::count)> reasons_said_{};
  std::string out_;
};

}  // namespace detail

// A text about every kernel of Net (a dk::compile<...>): its operators by name and ONNX type, the mapping type of the
// group (DNNFusion, Table 3.2), what it reads and writes and where that lies, FLOPs, bytes, and which edges of the
// graph were fused or not, with the reason. FLOPs and sizes are expressions over the symbols; given the values of all
// symbols they are numbers: explain<net>({{"H", 480}, {"W", 640}}). Bytes count each element of an operand once, and
// of one that indices pick elements from as many as are picked. Throws dnnkit::error for a symbol that the network
// does not have or that is left out.
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
