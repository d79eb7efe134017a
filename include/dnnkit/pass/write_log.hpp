// SPDX-License-Identifier: MIT
// The log of a finished schedule, put down in its plan: what its nodes, values and kernels are, what the graph would
// take as it was built, and every decision of the passes. All that printers say of a plan is worked out here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/sort.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/pass/layout_tables.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/plan/plan_memory.hpp"

namespace dnnkit::detail {

// How many elements node n reads of its input i, at most: all of them, unless each position of the output picks some (a
// Gather reads as many elements of its table as it writes). The graph's symbol table grows.
constexpr dim elements_read(graph& g, const node& n, std::size_t i) {
  symbol_table& table = g.symbols;
  const tensor_type &input = g.at(g.input_of(n, i)).type, &output = g.at(n.output).type;
  const footprint f = g.footprint_of(n, i);
  const dim all = element_count(table, input.dims);
  dim needed = element_count(table, output.dims);
  if (f.is_view) return table.min(all, needed);
  bool picks = false;
  for (std::size_t d = 0; d < f.axes.size(); ++d) {
    const axis_reach& a = f.axes[d];
    if (a.how == reach::nothing) return 0;
    if (a.how == reach::same) continue;
    const dim positions = a.how == reach::whole ? input.dims[d] : a.extent;
    if (a.how != reach::whole && !positions.is_known()) return all;
    picks = picks || a.how == reach::indirect;
    needed = table.mul(needed, positions);
  }
  return picks ? table.min(all, needed) : all;
}

class log_writer {
 public:
  // s: a schedule whose plan is made. `built`: the graph that its passes were given.
  constexpr log_writer(schedule& s, graph built)
      : s_(s),
        g_(s.g),
        p_(s.plan),
        built_(static_cast<graph&&>(built)),
        stored_(g_.values.size(), 0),
        homes_(g_.nodes.size(), none),
        place_(g_.nodes.size(), none),
        seen_(g_.nodes.size(), none),
        needed_(g_.values.size(), dim(0)) {}

  constexpr void run() {
    number_kernels();
    note_left_out();
    note_memory();
    note_movers();
    add_kernels();
    add_values();
    add_nodes();
    add_totals();
    add_decisions();
    p_.atoms = g_.symbols.atoms;  // which have grown
    p_.polynomials = g_.symbols.polynomials;
  }

 private:
  static constexpr std::string_view mover_log = "make plan", only_moves = "only moves elements";
  constexpr bool is_movement(node_id n) const { return g_.nodes.items[n].op->kind == form::movement; }
  constexpr slice_of numbers_from(std::size_t first) const {
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(p_.numbers.count - first)};
  }
  constexpr dim bytes_of(const tensor_type& t) {
    return g_.symbols.mul(element_count(g_.symbols, t.dims), dim(static_cast<std::int64_t>(size_of(t.type))));
  }

  // --- kernels: one a group, or for groups that are its stages, those of the setup first
  constexpr void number_kernels() {
    auto setup = std::int32_t{0}, run = static_cast<std::int32_t>(p_.setup_steps.count);
    vector<std::uint8_t> is_final(g_.nodes.size(), 0);  // the home is that which stores the output
    kernels_.resize(p_.setup_steps.count + p_.steps.count);
    bool goes_on = false;
    for (const fusion_group& group : s_.fusion.groups) {
      if (group.is_there) {
        stored_.items[group.outputs.items[0]] = 1;
        continue;
      }
      const std::int32_t number = group.setup ? setup : run;
      if (!goes_on) kernels_.items[number] = &group;
      goes_on = group.goes_on;
      if (!goes_on) ++(group.setup ? setup : run);
      for (node_id n : group.nodes)
        if (is_final.items[n] == 0) homes_.items[n] = number;
      for (value_id v : group.outputs) {
        stored_.items[v] = 1;
        const node_id n = g_.values.items[v].producer;
        if (is_final.items[n] == 0) homes_.items[n] = number;
        is_final.items[n] = 1;
      }
    }
  }
  constexpr void add_kernels() {
    for (std::size_t k = 0; k < kernels_.count; ++k) {
      const fusion_group* stage = kernels_.items[k];
      const auto number = static_cast<std::int32_t>(k);
      logged_kernel row{};
      row.stages.first = static_cast<std::uint32_t>(p_.log_stages.count);
      vector<value_id> outputs;
      kept_.clear();
      for (bool goes_on = true; goes_on; ++stage) {
        goes_on = stage->goes_on;
        add_stage(*stage, number);
        add_bytes_read(*stage, number, row);
        for (node_id n : stage->nodes) place_.items[n] = none;
        for (value_id v : stage->outputs) {
          if (goes_on && !stage->keeps && !is_handed_whole(v)) continue;
          add_bytes_written(v, row);
          if (!goes_on || stage->keeps) outputs.push_back(v);
          if (stage->keeps) kept_.push_back(v);
        }
      }
      const std::size_t first = p_.numbers.count;
      p_.numbers.append(outputs.begin(), outputs.end());
      row.outputs = numbers_from(first);
      row.stages.count = static_cast<std::uint32_t>(p_.log_stages.count) - row.stages.first;
      p_.log_kernels.push_back(row);
    }
  }
  constexpr void add_bytes_written(value_id v, logged_kernel& row) {
    const dim bytes = bytes_of(g_.at(v).type);
    row.bytes_written = g_.symbols.add(row.bytes_written, bytes);
    if (is_intermediate(v)) row.intermediates_written = g_.symbols.add(row.intermediates_written, bytes);
  }
  constexpr void add_stage(const fusion_group& group, std::int32_t kernel) {
    for (node_id n : group.nodes) place_.items[n] = kernel;
    logged_stage row{};
    row.type = group.type;
    row.operators = operators_of(group, kernel);
    row.views = views_of(group, kernel);
    p_.log_stages.push_back(row);
  }
  constexpr bool inside(node_id n, std::int32_t kernel) const { return n != none && place_.items[n] == kernel; }

  // What is computed while the anchor's operands are read, the anchor, what follows it.
  constexpr slice_of operators_of(const fusion_group& group, std::int32_t kernel) {
    const std::size_t first = p_.numbers.count;
    if (group.anchor != none) compute(group.anchor, kernel, first);
    for (value_id v : group.outputs) compute(g_.at(v).producer, kernel, first);
    for (node_id n : group.nodes) compute(n, kernel, first);  // movement of which only the shape is needed
    return numbers_from(first);
  }
  // Appends n and, before it, what it needs of the kernel; what is there already stands behind number `first`.
  constexpr void compute(node_id n, std::int32_t kernel, std::size_t first) {
    if (!inside(n, kernel)) return;
    for (std::size_t i = first; i < p_.numbers.count; ++i)
      if (p_.numbers.items[i] == n) return;
    const node& x = g_.nodes.items[n];
    for (std::size_t i = 0; i < x.inputs.count; ++i)
      if (const value_id v = g_.input_of(x, i); v != none) compute(g_.at(v).producer, kernel, first);
    p_.numbers.push_back(n);
  }

  // Movement operators between the stored values that the kernel reads and its nodes: they only say where elements lie.
  constexpr slice_of views_of(const fusion_group& group, std::int32_t kernel) {
    vector<node_id> waiting = group.nodes, views;
    while (!waiting.empty()) {
      const node& x = g_.nodes.items[waiting.back()];
      waiting.pop_back();
      for (std::size_t i = 0; i < x.inputs.count; ++i) {
        const value_id v = g_.input_of(x, i);
        const node_id p = v == none ? none : g_.at(v).producer;
        if (p == none || stored_.items[v] != 0 || !is_movement(p) || inside(p, kernel) || seen_.items[p] == kernel)
          continue;
        seen_.items[p] = kernel;
        views.push_back(p);
        waiting.push_back(p);
      }
    }
    merge_sort(views, [](node_id a, node_id b) { return a < b; });
    const std::size_t first = p_.numbers.count;
    p_.numbers.append(views.begin(), views.end());
    return numbers_from(first);
  }

  // Of each stored value that a group reads: see elements_read. What lies in tiles does not count.
  constexpr void add_bytes_read(const fusion_group& group, std::int32_t kernel, logged_kernel& row) {
    touched_.clear();
    for (node_id n : group.nodes)  // movement operators are looked through by those that read them
      if (const node x = g_.nodes.items[n]; !is_movement(n))
        for (std::size_t i = 0; i < x.inputs.count; ++i)
          if (const value_id v = g_.input_of(x, i); v != none) read(v, elements_read(g_, x, i), kernel);
    for (value_id v : group.outputs)
      if (is_movement(g_.at(v).producer)) read(v, element_count(g_.symbols, g_.at(v).type.dims), kernel);
    for (value_id v : touched_) {
      const auto size = static_cast<std::int64_t>(size_of(g_.at(v).type.type));
      const dim bytes = g_.symbols.mul(needed_.items[v], dim(size));
      row.bytes_read = g_.symbols.add(row.bytes_read, bytes);
      if (is_intermediate(v)) row.intermediates_read = g_.symbols.add(row.intermediates_read, bytes);
      needed_.items[v] = 0;
    }
  }
  // Does a kernel of a run store it for others alone, or a stage all of it for the next one?
  constexpr bool is_intermediate(value_id v) const {
    const std::int32_t b = s_.log.buffer_of.items[v];
    return b != none && (is_between_kernels(p_.buffers.items[b].where) || is_handed_whole(v));
  }
  // Does a stage store all of it in memory of its kernel?
  constexpr bool is_handed_whole(value_id v) const {
    const buffer_layout& l = s_.layouts.items[v];
    for (std::uint16_t n : l.part)
      if (n != 0) return false;
    return !l.part.empty();
  }
  // `needed` elements of v, also through movement operators.
  constexpr void read(value_id v, dim needed, std::int32_t kernel) {
    symbol_table& table = g_.symbols;
    while (true) {
      const value& x = g_.values.items[v];
      needed = table.min(needed, element_count(table, x.type.dims));
      if (x.producer == none || (stored_.items[v] != 0 && !inside(x.producer, kernel))) break;
      if (!is_movement(x.producer)) return;  // computed here
      v = g_.input_of(g_.nodes.items[x.producer], 0);
    }
    const value& x = g_.values.items[v];
    if (x.from == origin::constant && x.data.count == 1) return;           // known to the kernel
    if (!s_.layouts.items[v].part.empty() && !is_handed_whole(v)) return;  // never leaves it
    for (value_id kept : kept_)
      if (kept == v) return;  // handed over as it is stored
    dim& sum = needed_.items[v];
    if (sum == dim(0)) touched_.push_back(v);
    sum = table.min(table.add(sum, needed), element_count(table, x.type.dims));
  }

  // --- nodes and values
  constexpr void add_nodes() {
    for (std::size_t k = 0; k < g_.nodes.count; ++k) {
      const node& x = g_.nodes.items[k];
      logged_node row{};
      row.op = *x.op;
      row.type = x.op->properties.map;
      row.name = x.name;
      const std::size_t first = p_.numbers.count;
      for (std::size_t i = 0; i < x.inputs.count; ++i) p_.numbers.push_back(g_.input_of(x, i));
      row.inputs = numbers_from(first);
      row.output = x.output;
      row.home = homes_.items[k];
      p_.log_nodes.push_back(row);
    }
  }
  constexpr void add_values() {
    for (std::size_t v = 0; v < g_.values.count; ++v) {
      const value& x = g_.values.items[v];
      p_.log_values.push_back({x.name, x.type, x.from, x.producer, s_.log.buffer_of.items[v]});
    }
  }

  // --- the graph as built
  constexpr void add_totals() {
    graph& b = built_;
    if (b.symbols.polynomials.count > g_.symbols.polynomials.count || b.symbols.atoms.count > g_.symbols.atoms.count)
      return;  // some pass has begun a new table, in which these dimensions mean nothing
    b.symbols = static_cast<symbol_table&&>(g_.symbols);
    symbol_table& table = b.symbols;
    const vector<std::uint8_t> alive = live_nodes(b), setup = setup_values(b);
    vector<std::uint8_t> given_out(b.values.size(), 0);
    for (value_id v : b.outputs) given_out.items[v] = 1;
    graph_totals t{};
    for (std::size_t k = 0; k < b.nodes.count; ++k) {
      if (alive.items[k] == 0) continue;
      ++t.operators;
      const node n = b.nodes.items[k];
      if (setup.items[n.output] != 0) continue;
      t.flops = table.add(t.flops, b.flops_of(n));
      const auto bytes = [&](dim elements, value_id v) {
        return table.mul(elements, dim(static_cast<std::int64_t>(size_of(b.at(v).type.type))));
      };
      for (std::size_t i = 0; i < n.inputs.count; ++i)
        if (const value_id v = b.input_of(n, i); v != none)
          t.bytes_moved = table.add(t.bytes_moved, bytes(elements_read(b, n, i), v));
      const dim result = bytes(element_count(table, b.at(n.output).type.dims), n.output);
      t.bytes_moved = table.add(t.bytes_moved, result);
      if (given_out.items[n.output] == 0) t.bytes_of_intermediates = table.add(t.bytes_of_intermediates, result);
    }
    p_.totals.push_back(t);
    g_.symbols = static_cast<symbol_table&&>(b.symbols);
  }

  // --- decisions that no pass has noted
  constexpr void note_left_out() {
    const vector<std::uint8_t> alive = live_nodes(built_);
    for (std::size_t k = 0; k < built_.nodes.count; ++k)
      if (alive.items[k] == 0)
        s_.notes().add({"live nodes", "left out", "no output depends on it"}, built_, built_.nodes.items[k]);
  }
  constexpr void note_memory() {
    if (!p_.is_static) return;
    double apart = 0;
    for (std::size_t v = 0; v < g_.values.count; ++v) {
      const std::int32_t b = s_.log.buffer_of.items[v];
      if (b == none || p_.buffers.items[b].where != storage::arena) continue;
      const buffer& x = p_.buffers.items[b];
      if (x.layout.within != none) continue;
      const auto bytes =
          static_cast<double>(aligned(x.elements.value() * static_cast<std::int64_t>(size_of(x.type.type))));
      apart += bytes;
      decision d{"make plan", "placed", "nothing else there is alive from the first to the last of these kernels"};
      d.value = static_cast<value_id>(v);
      s_.notes().add(d, {{"offset", "bytes", static_cast<double>(x.offset)},
                         {"size", "bytes", bytes},
                         {"first", "kernel", static_cast<double>(x.first + 1)},
                         {"last", "kernel", static_cast<double>(x.last + 1)}});
    }
    if (apart > 0)
      s_.notes().add(
          {"make plan", "one arena", "values that are not alive together share memory"},
          {{"arena", "bytes", static_cast<double>(p_.arena_bytes)}, {"each value for itself", "bytes", apart}});
  }
  // SmartMem's Table 5 eliminates what has a fixed output layout, whatever stands beside it. Why a kernel that does
  // nothing else is there all the same.
  constexpr void note_movers() {
    for (const fusion_group* group : kernels_) {
      if (group->goes_on) continue;
      node_id last = none;
      for (node_id n : group->nodes)
        if (const node x = g_.nodes.items[n]; !is_eliminated(*x.op) || !(g_.flops_of(x) == dim(0))) {
          last = none;
          break;
        } else {
          last = last == none || is_movement(last) ? n : last;
        }
      if (last == none) continue;
      decision d = group->setup ? decision{mover_log, only_moves, "it runs once",
                                           "when the session is made, of what is known by then"}
                                : why_kept(last);
      d.second = last;
      d.value = group->outputs[0];
      s_.notes().add(d);
    }
  }
  // Does it copy what a kernel stores, and stores it in another order?
  constexpr bool reads_stored(const node& copies) const {
    const value_id v = g_.input_of(copies, 0);
    const buffer_layout &from = s_.layouts.items[v], &to = s_.layouts.items[copies.output];
    bool same = true;
    for (std::size_t i = 0; i < from.order.size(); ++i) same = same && from.order[i] == to.order[i];
    for (const fusion_group& group : s_.fusion.groups)
      for (value_id o : group.outputs)
        if (o == v) return !same;
    return false;
  }
  constexpr decision why_kept(node_id n) {
    const node x = g_.nodes.items[n];
    if (is_movement(n)) {
      if (g_.is<op::identity>(x) && reads_stored(x))
        return {mover_log, only_moves, "a copy in a second order",
                "readers reduce over different dimensions: the log of layouts has the costs"};
      if (g_.at(root_of(n)).from != origin::node)
        return {mover_log, only_moves, "no kernel computes what it moves",
                "it is an output of the network, or a condition, of what is read from memory"};
      return {mover_log, only_moves, "the kernel before cannot store it so",
              "the log says why of the edge between the two"};
    }
    for (std::size_t i = 0; i < x.inputs.count; ++i)
      if (g_.input_of(x, i) != none)
        for (const axis_reach& a : g_.footprint_of(x, i).axes)
          if (a.how == reach::indirect)
            return {mover_log, only_moves, "indices pick its elements", "strides do not say where they lie"};
    if (x.inputs.count > 1)
      return {mover_log, only_moves, "it joins several parts",
              "a view has elements of one tensor, and the kernels before it store their results elsewhere"};
    return {mover_log, only_moves, "no view has its elements",
            "some positions have none of the operand's, or several have one, in an order that strides do not say"};
  }
  // The value that movement operator n, and those before it, move.
  constexpr value_id root_of(node_id n) const {
    value_id v = g_.input_of(g_.nodes.items[n], 0);
    while (g_.at(v).producer != none && is_movement(g_.at(v).producer))
      v = g_.input_of(g_.nodes.items[g_.at(v).producer], 0);
    return v;
  }

  constexpr void add_decisions() {
    const auto characters = static_cast<std::uint32_t>(p_.characters.count);
    p_.characters.append(s_.log.characters.begin(), s_.log.characters.end());
    p_.costs = s_.log.costs;
    p_.decisions = s_.log.decisions;
    for (decision& d : p_.decisions) {
      d.operators.first += characters;
      d.result.first += characters;
      d.by.first += characters;
    }
  }

  schedule& s_;
  graph& g_;
  plan_draft& p_;
  graph built_;
  vector<const fusion_group*> kernels_;  // by number: the first or only group
  vector<std::uint8_t> stored_;          // of values
  vector<std::int32_t> homes_;           // of nodes: their kernel, or none
  vector<std::int32_t> place_;           // of nodes: the kernel being written down, if they are in it
  vector<std::int32_t> seen_;            // of nodes: the last kernel that reads through them
  vector<dim> needed_;                   // of values: elements that the kernel being written down reads
  vector<value_id> touched_;
  vector<value_id> kept_;  // values that stages of the present kernel have stored, for others, too
};

}  // namespace dnnkit::detail
