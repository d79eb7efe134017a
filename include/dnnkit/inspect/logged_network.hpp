// SPDX-License-Identifier: MIT
// A plan with its log (plan/decision.hpp) as printers see it: kernels with what was decided about their operators, and
// sizes and places when the symbols have values. Made of plan and log alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/inspect/sizes.hpp"
#include "dnnkit/plan/placement.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

class logged_network {
  template <class Table> static auto& at(Table& table, std::int32_t i) { return table[static_cast<std::size_t>(i)]; }

 public:
  // Which of the steps, and what the log says of it.
  struct kernel {
    const step& runs;
    const logged_kernel& log;
    bool setup;
    std::size_t number;  // from 1 on, among the kernels of a run or of the setup
  };

  // `plan` outlives this. `bindings`: of none of the symbols, or of all. Throws dnnkit::error, which names the printer,
  // when there is no plan or no log, and for a symbol that is unknown or left out.
  logged_network(const plan_view& plan, std::string_view printer, std::span<const binding> bindings = {})
      : plan_(plan),
        sizes_(checked(plan, printer), bindings),
        value_in_(plan.buffers.size(), none),
        decisions_at_(plan.log_nodes.size()) {
    for (value_id v = 0; v < std::ssize(plan_.log_values); ++v)
      if (const std::int32_t b = value_at(v).buffer; b != none) value_in_[static_cast<std::size_t>(b)] = v;
    is_placed_ = plan_.is_static || !bindings.empty();
    if (is_placed_) placement_ = placement_of(plan_, [&](const buffer& b) { return sizes_.stored_bytes(b).value(); });
    for (std::size_t k = 0; k < plan_.decisions.size(); ++k) {
      const decision& d = plan_.decisions[k];
      if (is_join(d)) joins_.push_back(&d);
      if (!is_edge(d)) continue;
      at(decisions_at_, d.second).push_back(k);
      if (!d.applied) at(decisions_at_, d.first).push_back(k);
    }
  }

  const plan_view& plan() const { return plan_; }
  sizes& in_numbers() { return sizes_; }

  // Of a run, in their order, and of the setup.
  std::vector<kernel> kernels() const { return kernels_of(plan_.steps, plan_.setup_steps.size(), false); }
  std::vector<kernel> setup_kernels() const { return kernels_of(plan_.setup_steps, 0, true); }

  std::span<const node_id> nodes_of(const kernel& k) const { return plan_.numbers_of(k.runs.nodes); }
  std::span<const logged_stage> stages_of(const kernel& k) const {
    return plan_.part<logged_stage>(plan_.log_stages, k.log.stages);
  }
  // Of a stage, in the order in which it computes them.
  std::span<const node_id> operators_of(const logged_stage& s) const { return plan_.numbers_of(s.operators); }
  std::span<const node_id> views_of(const logged_stage& s) const { return plan_.numbers_of(s.views); }
  // Of all stages of a kernel.
  std::vector<node_id> operators_of(const kernel& k) const {
    std::vector<node_id> all;
    for (const logged_stage& s : stages_of(k)) all.insert(all.end(), operators_of(s).begin(), operators_of(s).end());
    return all;
  }
  // The same, each once, in topological order.
  std::vector<node_id> views_of(const kernel& k) const {
    std::set<node_id> all;
    for (const logged_stage& s : stages_of(k)) all.insert(views_of(s).begin(), views_of(s).end());
    return {all.begin(), all.end()};
  }
  std::span<const value_id> outputs_of(const kernel& k) const { return plan_.numbers_of(k.log.outputs); }
  const logged_node& node_at(node_id n) const { return at(plan_.log_nodes, n); }
  const logged_value& value_at(value_id v) const { return at(plan_.log_values, v); }
  const buffer& buffer_at(std::int32_t b) const { return at(plan_.buffers, b); }
  value_id value_in(std::int32_t b) const { return at(value_in_, b); }

  // Of a kernel's nodes, which are in topological order.
  static bool contains(std::span<const node_id> nodes, node_id n) {
    return std::binary_search(nodes.begin(), nodes.end(), n);
  }

  // The buffers that a step reads or writes, each once; those of its tiles are neither.
  std::vector<std::int32_t> operands(const step& s, bool written) const {
    const auto all = plan_.numbers_of(s.operands);
    std::vector<std::int32_t> list;
    for (std::size_t i = 0; i < all.size(); ++i) {
      bool is_output = false;
      if (buffer_at(all[i]).where == storage::tiles) continue;
      for_each_written(plan_, s, [&](std::int32_t b) { is_output = is_output || b == all[i]; });
      if (is_output == written && std::find(list.begin(), list.end(), all[i]) == list.end()) list.push_back(all[i]);
    }
    return list;
  }
  // The buffers in which its stages hand to each other.
  std::vector<std::int32_t> tile_buffers(const step& s) const {
    std::vector<std::int32_t> list;
    for (std::int32_t b : plan_.numbers_of(s.operands))
      if (buffer_at(b).where == storage::tiles) list.push_back(b);
    return list;
  }

  // Do buffers of the arena have places: are all sizes known?
  bool is_placed() const { return is_placed_; }
  std::int64_t offset_of(std::int32_t b) const { return at(placement_.offsets, b); }

  // Of a buffer that lies inside another: that one, the bytes of it before this one's first element, borders included,
  // and the bytes from one position of each dimension to the next, which are the other one's.
  struct part_of_buffer {
    std::int32_t whole = none;
    std::int64_t first = 0;
    std::vector<dim> strides;
  };
  std::optional<part_of_buffer> part_of(std::int32_t b) {
    const buffer& x = buffer_at(b);
    if (x.layout.within == none) return std::nullopt;
    const buffer& whole = buffer_at(x.layout.within);
    part_of_buffer place{x.layout.within, bytes_before(x), std::vector<dim>(x.layout.order.size())};
    dim stride = static_cast<std::int64_t>(size_of(x.type.type));
    for (std::size_t level = whole.layout.order.size(); level-- > 0;) {
      const std::size_t d = whole.layout.order[level];
      place.strides[d] = stride;
      const dim room = sizes_.sum(whole.type.dims[d], whole.layout.before[d] + whole.layout.after[d]);
      stride = sizes_.product(stride, room);
    }
    return place;
  }
  std::int64_t arena_bytes() const { return placement_.bytes; }

  // What was decided about the edges within the kernel that were fused, then about those that cross its border. Of an
  // edge that was asked about more than once the first refusal counts, else the last reason for not asking.
  std::vector<const decision*> decisions_about(const kernel& about) const {
    const auto nodes = nodes_of(about);
    std::vector<std::size_t> here;
    for (node_id n : nodes) here.insert(here.end(), at(decisions_at_, n).begin(), at(decisions_at_, n).end());
    std::sort(here.begin(), here.end());
    here.erase(std::unique(here.begin(), here.end()), here.end());
    std::set<std::pair<node_id, node_id>> fused;
    std::map<std::pair<node_id, node_id>, std::size_t> refused;  // their places in the second list
    std::vector<const decision*> list, across;
    for (std::size_t k : here) {
      const decision& d = plan_.decisions[k];
      const std::pair edge(d.first, d.second);
      const bool first = contains(nodes, d.first), second = contains(nodes, d.second);
      if (d.applied && first && second && fused.insert(edge).second) list.push_back(&d);
      if (d.applied || first == second) continue;
      const auto [known, is_new] = refused.emplace(edge, across.size());
      if (is_new) across.push_back(&d);
      else if (!across[known->second]->asked) across[known->second] = &d;
    }
    list.insert(list.end(), across.begin(), across.end());
    return list;
  }

  // What was decided about the kernel's stages, then about what it might have been one kernel with.
  std::vector<const decision*> joins_about(const kernel& about) const {
    const auto nodes = nodes_of(about);
    std::vector<const decision*> list;
    for (const bool applied : {true, false})
      for (const decision* d : joins_) {
        const bool first = contains(nodes, d->first), second = contains(nodes, d->second);
        if (d->applied == applied && (applied ? first && second : first != second)) list.push_back(d);
      }
    return list;
  }
  std::span<const compared_cost> costs_of(const decision& d) const {
    return plan_.part<compared_cost>(plan_.costs, d.costs);
  }

  // Which family carries it out; null where none was chosen.
  const kernel_choice* choice_of(const kernel& k) const {
    return k.runs.kernel < plan_.choices.size() ? &plan_.choices[k.runs.kernel] : nullptr;
  }
  std::span<const kernel_alternative> alternatives_of(const kernel_choice& c) const {
    return plan_.part<kernel_alternative>(plan_.alternatives, c.alternatives);
  }

  // The movement operators between the output of `first` and `second`, which reads it; empty when it reads it directly.
  std::vector<node_id> movement_between(node_id first, node_id second) const {
    for (value_id v : plan_.numbers_of(node_at(second).inputs)) {
      std::vector<node_id> way;
      for (node_id p = producer(v); p != none; p = is_movement(p) ? producer(first_input(p)) : none) {
        if (p == first) return {way.rbegin(), way.rend()};
        way.push_back(p);
      }
    }
    return {};
  }

  // The mapping type of the stage that node n is at home in, else its own.
  mapping type_around(node_id n) const {
    const logged_node& x = node_at(n);
    if (x.home == none) return x.type;
    const auto stages = plan_.part<logged_stage>(plan_.log_stages, at(plan_.log_kernels, x.home).stages);
    for (const logged_stage& s : stages)
      for (node_id m : operators_of(s))
        if (m == n) return s.type;
    return stages.back().type;
  }

 private:
  static bool is_edge(const decision& d) { return d.first != none && d.second != none && d.value == none; }
  // About the value that the kernel of one anchor would hand to that of the other.
  static bool is_join(const decision& d) { return d.first != none && d.second != none && d.value != none; }
  bool is_movement(node_id n) const { return node_at(n).op.kind == form::movement; }
  node_id producer(value_id v) const { return v == none ? none : value_at(v).producer; }
  value_id first_input(node_id n) const { return plan_.numbers_of(node_at(n).inputs)[0]; }

  static symbol_table checked(const plan_view& plan, std::string_view printer) {
    if (!plan.error.empty()) throw error("the graph cannot be planned", std::string(printer), {}, plan.error.str());
    if (plan.log_kernels.size() != plan.setup_steps.size() + plan.steps.size())
      throw error("the plan was made without a log", std::string(printer));
    return table_of(plan);
  }
  std::vector<kernel> kernels_of(std::span<const step> steps, std::size_t first, bool setup) const {
    std::vector<kernel> list;
    for (std::size_t i = 0; i < steps.size(); ++i)
      list.push_back({steps[i], plan_.log_kernels[first + i], setup, i + 1});
    return list;
  }

  plan_view plan_;
  sizes sizes_;
  bool is_placed_ = false;
  placement placement_;
  std::vector<value_id> value_in_;                      // of buffers
  std::vector<std::vector<std::size_t>> decisions_at_;  // of nodes: decisions about edges, in their order
  std::vector<const decision*> joins_;                  // decisions about stages
};

}  // namespace dnnkit::detail
