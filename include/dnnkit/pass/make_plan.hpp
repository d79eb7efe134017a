// SPDX-License-Identifier: MIT
// Pass: from a graph, its fusion groups and layouts to the plan: one step a group, or for groups that are stages of one
// kernel, one buffer a stored value, one recipe for all steps that compute the same. Where no pass has grouped the
// nodes, each has a kernel of its own; where none has chosen layouts, they are row-major. Refuses graphs that need a
// pass that has not run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/branch_assumptions.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/fusion_block.hpp"
#include "dnnkit/pass/recipe_builder.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/pass/structural_equality.hpp"
#include "dnnkit/plan/image_place.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/plan/plan_memory.hpp"

namespace dnnkit {

namespace detail {

// Logical extents with the border on both sides; in tile storage, what a tile has of each.
constexpr shape room_of(symbol_table& table, const buffer& b) {
  shape room;
  for (std::size_t i = 0; i < b.type.dims.size(); ++i)
    if (!b.layout.part.empty() && b.layout.part[i] != 0) room.push_back(b.layout.part[i]);
    else room.push_back(table.add(b.type.dims[i], b.layout.before[i] + b.layout.after[i]));
  return room;
}

class plan_maker {
 public:
  constexpr plan_maker(graph& g, const fusion_plan& fusion, const vector<buffer_layout>& layouts)
      : g_(g),
        fusion_(fusion),
        layouts_(layouts),
        buffer_of_(g.values.size(), none),
        stored_(g.values.size(), 0),
        begun_(g.values.size(), 0),
        setup_(setup_values(g)),
        guards_(g),
        equality_(g, stored_, setup_, layouts) {}

  // Tells `notes` which buffer each value lies in.
  constexpr plan_draft run(decision_notes notes) {
    make_room();
    for (const fusion_group& group : fusion_.groups)
      for (value_id o : group.outputs) stored_.items[o] = 1;
    for (value_id v : g_.inputs) p_.inputs.push_back(buffer_for(v));
    for (value_id v : g_.outputs) p_.results.push_back(buffer_for(v));
    for (std::size_t k = 0; k < fusion_.groups.count && g_.error.empty();) {
      const std::size_t stages = fusion_.stages_from(k);
      if (const fusion_group& group = fusion_.groups.items[k]; group.is_there) begin(group.outputs.items[0]);
      else add_step(&group, stages);
      k += stages;
    }
    if (!g_.error.empty()) {
      plan_draft none;
      none.error = g_.error;
      return none;
    }
    p_.characters = g_.characters;  // names are where they are in the graph
    p_.symbols = g_.symbols.symbols;
    find_assumptions();
    p_.declared_inputs = g_.declared_inputs;
    p_.atoms = g_.symbols.atoms;
    p_.polynomials = g_.symbols.polynomials;
    p_.is_static = p_.symbols.empty();
    if (p_.is_static) place_buffers();
    share_images(p_.buffers);
    if (notes.wanted()) notes.log().buffer_of = buffer_of_;
    return static_cast<plan_draft&&>(p_);
  }

 private:
  // About as much as a plan of this graph takes: what has to grow is moved element by element.
  constexpr void make_room() {
    p_.buffers.reserve(g_.values.count);
    p_.steps.reserve(fusion_.groups.count);
    p_.numbers.reserve(4 * g_.nodes.count);
  }

  // The numbers put down since there were `first` of them.
  constexpr slice_of numbers_from(std::size_t first) const {
    return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(p_.numbers.count - first)};
  }
  static constexpr std::int32_t port_of(const vector<value_id>& list, value_id v) {
    for (std::size_t i = 0; i < list.count; ++i)
      if (list.items[i] == v) return static_cast<std::int32_t>(i);
    return none;
  }

  constexpr std::int32_t buffer_for(value_id v) {
    if (buffer_of_.items[v] != none) return buffer_of_.items[v];
    const value& x = g_.values.items[v];
    buffer b{};
    b.type = x.type;
    b.layout = layouts_.items[v];
    b.name = x.name;
    if (x.from == origin::input) {
      b.where = storage::input;
      b.port = port_of(g_.inputs, v);
    } else if (x.from == origin::weight) {
      b.where = storage::weight;
    } else if (x.from == origin::constant) {
      b.where = storage::constant;
      b.data = {static_cast<std::uint32_t>(p_.constants.size()), x.data.count};
      p_.constants.append(g_.constants.begin() + x.data.first, g_.constants.begin() + x.data.first + x.data.count);
    } else if (const std::int32_t port = port_of(g_.outputs, v); port != none) {
      b.where = storage::output;
      b.port = port;
      b.name = g_.output_names[port];
    } else if (!b.layout.part.empty()) {
      b.where = storage::tiles;
    } else if (b.layout.texel_row != 0) {
      b.where = storage::image;
    }
    if (b.layout.within != none) b.layout.within = buffer_for(b.layout.within);
    const bool as_it_is = b.layout.part.empty() && !has_border(b.layout);
    b.elements = element_count(g_.symbols, as_it_is ? x.type.dims : room_of(g_.symbols, b));
    if (b.elements.is_unknown() && g_.error.empty())
      g_.error << "tensor '" << g_.text_of(b.name) << "': " << print(g_.symbols, x.type.dims)
               << " has too many elements for any memory";
    buffer_of_.items[v] = static_cast<std::int32_t>(p_.buffers.count);
    p_.buffers.push_back(b);
    return buffer_of_.items[v];
  }

  // What is known of the first of several kernels that compute the same.
  struct known_kernel {
    const fusion_group* groups = nullptr;
    std::size_t stages = 1;
    vector<value_id> operands;
    std::uint32_t kernel = 0;
    slice_of extents;
    dim flops = 0;
  };

  // The kernel of these groups: one, or its stages.
  constexpr void add_step(const fusion_group* groups, std::size_t stages) {
    const fusion_group& last = groups[stages - 1];
    const std::size_t k = known_equal(groups, stages);
    const bool is_known = k < known_.count;
    if (!is_known) {
      std::optional<known_kernel> made = made_for(groups, stages);
      if (!made) return;  // the graph says why
      known_.push_back(static_cast<known_kernel&&>(*made));
    }
    next_known_ = k + 1;
    const known_kernel& known = known_.items[k];
    step s{};
    s.kernel = known.kernel;
    s.extents = known.extents;
    s.flops = known.flops;
    const std::size_t first_operand = p_.numbers.count;
    for (value_id v : known.operands) p_.numbers.push_back(buffer_for(is_known ? equality_.counterpart(v) : v));
    s.operands = numbers_from(first_operand);
    s.guards = guards_of(last);
    for (std::size_t i = 0; i + 1 < stages; ++i)
      if (groups[i].keeps) begin(groups[i].outputs.items[0]);
    touch_operands(s.operands, s.guards, last);
    const std::size_t first_border = p_.numbers.count;
    for (std::size_t i = 0; i < stages; ++i)
      for (value_id o : groups[i].outputs)
        if (!groups[i].goes_on || groups[i].keeps)
          if (has_border(layouts_.items[o])) add_border(whole_of(buffer_for(o)), first_border);
    s.borders = numbers_from(first_border);
    s.nodes = nodes_of(groups, stages);
    const node_id named = last.anchor != none ? last.anchor : last.nodes.back();
    s.name = g_.nodes.items[named].name;
    (last.setup ? p_.setup_steps : p_.steps).push_back(s);
  }
  // The first kernel that writes into a buffer clears its border.
  constexpr void add_border(std::int32_t b, std::size_t first_border) {
    for (std::size_t i = first_border; i < p_.numbers.count; ++i)
      if (p_.numbers.items[i] == b) return;
    const buffer& whole = p_.buffers.items[b];
    const bool is_first = whole.where != storage::arena || whole.first == static_cast<std::int32_t>(p_.steps.count);
    if (is_first) p_.numbers.push_back(b);
  }
  constexpr std::int32_t whole_of(std::int32_t b) const {
    const std::int32_t within = p_.buffers.items[b].layout.within;
    return within == none ? b : within;
  }
  // In topological order, each once.
  constexpr slice_of nodes_of(const fusion_group* groups, std::size_t stages) {
    const std::size_t first = p_.numbers.count;
    if (stages == 1) {
      p_.numbers.append(groups->nodes.begin(), groups->nodes.end());
      return numbers_from(first);
    }
    vector<node_id> all;
    for (std::size_t i = 0; i < stages; ++i)
      for (node_id n : groups[i].nodes) fusion_blocks::add(all, n);
    p_.numbers.append(all.begin(), all.end());
    return numbers_from(first);
  }

  constexpr slice_of guards_of(const fusion_group& group) {
    if (guards_.empty() || group.setup) return numbers_from(p_.numbers.count);
    return numbers_of(guards_.set(guards_.of_kernel(g_, group.nodes)));
  }
  constexpr slice_of numbers_of(const vector<branch>& branches) {
    const std::size_t first = p_.numbers.count;
    for (const branch& b : branches) {
      p_.numbers.push_back(buffer_for(b.condition));
      p_.numbers.push_back(b.when ? 1 : 0);
    }
    return numbers_from(first);
  }

  // The number of a known kernel that computes the same, or of the next one to be known. Blocks repeat themselves in
  // the same order, so the one behind the last that was found is tried first.
  constexpr std::size_t known_equal(const fusion_group* groups, std::size_t stages) {
    for (std::size_t tries = 0; tries < known_.count; ++tries, ++next_known_) {
      if (next_known_ >= known_.count) next_known_ = 0;
      if (const known_kernel& known = known_.items[next_known_];
          known.stages == stages && equality_.are_equal(known.groups, groups, stages))
        return next_known_;
    }
    return known_.count;
  }

  constexpr std::optional<known_kernel> made_for(const fusion_group* groups, std::size_t stages) {
    std::optional<step_recipe> made = recipe_of(g_, groups, stages, stored_, setup_, layouts_, p_);
    if (!made) return std::nullopt;
    known_kernel known{groups, stages, static_cast<vector<value_id>&&>(made->operands), made->kernel, {}, 0};
    known.extents = {static_cast<std::uint32_t>(p_.dims.size()), static_cast<std::uint32_t>(made->extents.size())};
    p_.dims.append(made->extents.begin(), made->extents.end());
    for (std::size_t i = 0; i < stages; ++i)
      for (node_id n : groups[i].nodes) known.flops = g_.symbols.add(known.flops, g_.flops_of(g_.nodes.items[n]));
    return known;
  }

  // The step that comes next uses these buffers, and makes those of the group's outputs.
  constexpr void touch_operands(slice_of operands, slice_of guards, const fusion_group& group) {
    const auto now = static_cast<std::int32_t>(p_.steps.count);
    const std::int32_t* const buffers = p_.numbers.items + operands.first;
    for (value_id o : group.outputs) {
      if (group.setup) p_.buffers.items[buffer_for(o)].where = storage::setup;
      else begin(o);
    }
    if (group.setup) return;
    for (std::uint32_t i = 0; i < operands.count; ++i)
      for (const std::int32_t b : {buffers[i], whole_of(buffers[i])}) p_.buffers.items[b].last = now;
    for (std::uint32_t i = 0; i < guards.count; i += 2) p_.buffers.items[p_.numbers.items[guards.first + i]].last = now;
  }
  // The step that comes next is the first to write v, unless another was, and so it is with what v lies in.
  constexpr void begin(value_id v) {
    for (const value_id o : {v, layouts_.items[v].within}) {
      if (o == none || begun_.items[o] != 0) continue;
      begun_.items[o] = 1;
      p_.buffers.items[buffer_for(o)].first = static_cast<std::int32_t>(p_.steps.count);
    }
  }
  static constexpr bool has_border(const buffer_layout& l) {
    for (std::size_t i = 0; i < l.before.count; ++i)
      if (l.before.items[i] != 0 || l.after.items[i] != 0) return true;
    return false;
  }

  constexpr void find_assumptions() {
    p_.assumptions = g_.symbols.assumptions;
    for (const branch_assumption& a : branch_assumptions_of(g_, branches_of(g_, joins_booleans::of_both)))
      if (a.branches.empty()) p_.assumptions.push_back(a.assumed);
      else p_.branch_assumptions.push_back({a.assumed, numbers_of(a.branches)});
  }

  constexpr void place_buffers() {
    vector<memory_block> blocks;
    vector<std::size_t> owners;
    for (std::size_t i = 0; i < p_.buffers.count; ++i) {
      const buffer& b = p_.buffers.items[i];
      if (b.where != storage::arena || b.layout.within != none) continue;
      const auto bytes = b.elements.value() * static_cast<std::int64_t>(size_of(b.type.type));
      blocks.push_back({aligned(bytes), b.first, b.last, -1});
      owners.push_back(i);
    }
    p_.arena_bytes = plan_memory(blocks);
    for (std::size_t i = 0; i < owners.size(); ++i) p_.buffers.items[owners[i]].offset = blocks[i].offset;
    for (buffer& b : p_.buffers)
      if (b.layout.within != none) b.offset = p_.buffers.items[b.layout.within].offset + bytes_before(b);
  }

  graph& g_;
  const fusion_plan& fusion_;
  const vector<buffer_layout>& layouts_;
  vector<std::int32_t> buffer_of_;
  vector<std::uint8_t> stored_, begun_, setup_;
  guard_sets guards_;
  structural_equality equality_;
  vector<known_kernel> known_;
  std::size_t next_known_ = 0;
  plan_draft p_;
};

}  // namespace detail

namespace detail {

// Why no plan can be made of a graph, whatever its groups; empty when one can.
constexpr text missing_pass(const graph& g) {
  text t;
  for (const node& n : g.nodes)
    if (n.op->kind == form::composite)
      return t << g.label_of(n)
               << " is said in terms of other operators, and no kernel is made of it: the pipeline lacks the pass "
                  "expand_composites";
  const vector<std::uint8_t> setup = setup_values(g);
  for (std::size_t i = 0; i < g.outputs.count; ++i) {
    const value_id v = g.outputs.items[i];
    bool twice = false;
    for (std::size_t k = 0; k < i; ++k) twice = twice || g.outputs.items[k] == v;
    if (twice || g.values.items[v].from != origin::node || setup.items[v] != 0)
      return t << "output '" << g.text_of(g.output_names.items[i])
               << "' is stored by no kernel of its own: the pipeline lacks the pass separate_outputs";
  }
  return t;
}

// A kernel for each live node, but for movement operators whose result nobody has to store.
constexpr fusion_plan kernel_for_each_node(graph& g) {
  fusion_plan plan;
  fusion_blocks blocks(g);
  const vector<std::uint8_t> alive = live_nodes(g), setup = setup_values(g);
  for (node_id n = 0; n < static_cast<node_id>(g.nodes.count); ++n) {
    const value_id v = g.node_at(n).output;
    if (alive.items[n] == 0 || (g.node_at(n).op->kind == form::movement && !blocks.is_given_out(v))) continue;
    fusion_group single{{n}, {v}, none, g.node_at(n).op->properties.map, setup.items[v] != 0};
    if (blocks.check(single) == fusion_reason::nothing) plan.groups.push_back(static_cast<fusion_group&&>(single));
  }
  return plan;
}

}  // namespace detail

// A tensor of more elements than 63 bits count gives an empty plan with that error, which is then the graph's too.
constexpr plan::plan_draft make_plan(graph& g, const plan::fusion_plan& fusion,
                                     const vector<plan::buffer_layout>& layouts, plan::decision_notes notes = {}) {
  return detail::plan_maker(g, fusion, layouts).run(notes);
}

namespace passes {

struct make_plan {
  static constexpr std::string_view name = "make plan";
  static constexpr std::string_view needed = "it makes the plan";

  static constexpr void run(schedule& s) {
    if (s.g.error = detail::missing_pass(s.g); !s.is_right()) return;
    if (s.fusion.groups.empty()) s.fusion = detail::kernel_for_each_node(s.g);
    if (s.layouts.empty()) s.layouts = row_major_layouts(s.g);
    s.plan = dnnkit::make_plan(s.g, s.fusion, s.layouts, s.notes());
  }
};

}  // namespace passes

}  // namespace dnnkit
