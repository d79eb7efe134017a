// SPDX-License-Identifier: MIT
// Pass: groups nodes into kernels (DNNFusion, section 3.4.3, Listing 3.1): from the element-wise node with the smallest
// result outwards, first to predecessors, then to successors (the paper lets the two steps be swapped) and to what
// these read besides, by the verdict of Table 3.3 and the constraint check. What is then left without an anchor becomes
// the prologue of its readers. Takes a graph without composites; guarantees that every live node is in a group and
// groups are in a runnable order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/pass/fusion_block.hpp"
#include "dnnkit/pass/fusion_reason.hpp"
#include "dnnkit/pass/fusion_rules.hpp"
#include "dnnkit/pass/fusion_seeds.hpp"
#include "dnnkit/pass/kernel_order.hpp"
#include "dnnkit/pass/layout_tables.hpp"
#include "dnnkit/pass/mapping_table.hpp"
#include "dnnkit/pass/schedule.hpp"

namespace dnnkit::passes {

// Rules: see pass/fusion_rules.hpp.
template <class... Rules> struct plan_fusion {
  static constexpr std::string_view name = "plan fusion";

  template <class Target = targets::portable> static constexpr void run(schedule& s) {
    if (s.has_stages()) return s.come_too_late(name, "stages of kernels");
    s.fusion = plan_fusion(s.g, facts_of<Target>(), s.notes()).kernels();
    if constexpr (has_rules_of_user) s.fusion.refuses = &refused_by_rule<Rules...>;
  }

 private:
  static constexpr bool has_rules_of_user = (is_of_user<Rules> || ...);

  constexpr fusion_plan kernels() {
    for (node_id seed : fusion_seeds(g_, alive_))
      if (is_free(seed)) grow_from(seed);
    for (node_id n = 0; n < static_cast<node_id>(g_.nodes.size()); ++n)
      if (is_free(n) && is_anchor(n)) grow_from(n);
    store_movement();
    absorb_prologues();
    return kernel_order(g_, blocks_, [this](node_id n) { note_edges_from(n, n, false, fusion_reason::kernels_wait); })
        .run();
  }

  constexpr plan_fusion(graph& g, known_facts facts, decision_notes notes)
      : g_(g),
        facts_(facts),
        blocks_(g, limits_of(facts)),
        alive_(live_nodes(g)),
        setup_(setup_values(g)),
        notes_(notes) {}

  constexpr bool is_setup(node_id n) const { return setup_.items[g_.nodes.items[n].output] != 0; }
  constexpr bool is_movement(node_id n) const { return is_a_view(*g_.nodes.items[n].op); }
  constexpr bool is_anchor(node_id n) const { return fusion_blocks::is_anchor(g_.nodes.items[n]); }
  constexpr bool is_free(node_id n) const { return alive_.items[n] != 0 && blocks_.group_of(n) == none; }

  // How one edge maps elements: the operator's mapping type, or One-to-Many where an operand is broadcast.
  constexpr mapping type_of_edge(const node& n, std::size_t input) const {
    const value_id v = g_.input_of(n, input);
    if (n.op->kind == form::elementwise &&
        !same_shape(g_.values.items[v].type.dims, g_.values.items[n.output].type.dims))
      return mapping::one_to_many;
    return n.op->properties.map;
  }

  constexpr void grow_from(node_id seed) {
    const node& x = g_.node_at(seed);
    fusion_group block{{seed}, {x.output}, is_anchor(seed) ? seed : none, x.op->properties.map, is_setup(seed)};
    grow_to_predecessors(block, seed);
    grow_to_successors(block, seed);
    blocks_.settle(static_cast<fusion_group&&>(block));
  }

  // The node that value v comes from when movement operators are seen through; none for a leaf.
  constexpr node_id source_of(value_id v) const {
    node_id n = g_.values.items[v].producer;
    while (n != none && is_movement(n)) n = g_.values.items[g_.input_of(g_.nodes.items[n], 0)].producer;
    return n;
  }
  // That node, then the movement operators between it and v.
  constexpr void chain_to(value_id v, vector<node_id>& chain) const {
    const node_id n = g_.values.items[v].producer;
    if (is_movement(n)) chain_to(g_.input_of(g_.nodes.items[n], 0), chain);
    chain.push_back(n);
  }

  // To what n reads; of a successor, which became a member by input `joined_by`, to what it reads besides. Movement
  // on either side keeps the two apart: an epilogue that reads through views takes its anchor's tiles apart.
  static constexpr std::uint32_t no_input = ~std::uint32_t{0};
  constexpr void grow_to_predecessors(fusion_group& block, node_id n, std::uint32_t joined_by = no_input,
                                      bool is_moved = false) {
    const slice_of inputs = g_.nodes.items[n].inputs;
    for (std::uint32_t i = 0; i < inputs.count; ++i) {
      if (i == joined_by) continue;
      const value_id v = g_.operands.items[inputs.first + i];
      const node_id source = v == none ? none : source_of(v);
      if (source == none || is_setup(source) != block.setup) continue;
      if (!is_free(source)) {
        note(source, n, fusion_reason::in_another_kernel);
        continue;
      }
      if (!is_anchor(source) && is_anchor(n)) continue;  // a producer's epilogue comes before a reader's prologue
      vector<node_id> chain;
      chain_to(v, chain);
      if (joined_by != no_input && (is_moved || chain.count > 1)) {
        note(source, n, fusion_reason::moved_operand_of_successor);
        continue;
      }
      const bool is_member = contains(block, source);  // then what it reads has been asked about
      if (is_member && chain.count == 1) accept(source, n, fusion_reason::predecessor);
      else if (join(block, chain, n, i, true) && !is_member) grow_to_predecessors(block, source);
    }
  }

  constexpr void grow_to_successors(fusion_group& block, node_id n) {
    vector<node_id> movement{n};
    grow_through(block, movement);
  }

  // `through`: a member of the block, then movement operators that follow it.
  constexpr void grow_through(fusion_group& block, vector<node_id>& through) {
    const value_id v = g_.nodes.items[through.back()].output;
    const value_users::range users = blocks_.users()[v];
    for (std::size_t k = 0; k < users.size(); ++k) {
      const node_id u = users.first[k];
      if (alive_.items[u] == 0 || is_setup(u) != block.setup || contains(block, u)) continue;
      if (!is_free(u)) {
        note(through.front(), u, fusion_reason::in_another_kernel);
      } else if (is_movement(u)) {
        through.push_back(u);
        grow_through(block, through);
        through.pop_back();
      } else if (!is_anchor(u)) {
        std::uint32_t i = 0;
        while (g_.operands.items[g_.nodes.items[u].inputs.first + i] != v) ++i;
        if (through.count > 1 && would_sever(block, u, i)) {
          note(through.front(), u, fusion_reason::spread_over_successor);
          continue;
        }
        if (!join(block, through, u, i, false)) continue;
        grow_to_predecessors(block, u, i, through.count > 1);
        grow_to_successors(block, u);
      }
    }
  }

  // Does successor u, which reads the block's moved result as input i, spread it over an operand whose producer it
  // could still share a kernel with? That producer would not be taken behind movement (grow_to_predecessors), and what
  // it computes is larger than what the block does.
  constexpr bool would_sever(const fusion_group& block, node_id u, std::uint32_t i) const {
    const node& x = g_.nodes.items[u];
    if (type_of_edge(x, i) != mapping::one_to_many) return false;
    for (std::uint32_t k = 0; k < x.inputs.count; ++k) {
      const value_id v = g_.operands.items[x.inputs.first + k];
      if (v == none || k == i || type_of_edge(x, k) != mapping::one_to_one) continue;
      const node_id source = source_of(v);
      if (source != none && is_free(source) && is_setup(source) == block.setup && !contains(block, source)) return true;
    }
    return false;
  }

  // How member n's output is mapped to the kernel's results: the type of the edges behind it that is furthest from
  // One-to-One.
  constexpr mapping type_behind(const fusion_group& block, node_id n) {
    behind_.clear();
    behind_.push_back(n);
    mapping type = mapping::one_to_one;
    for (node_id m : block.nodes) {
      if (m <= n) continue;
      const node& x = g_.nodes.items[m];
      bool reads = false;
      for (std::uint32_t i = 0; i < x.inputs.count; ++i) {
        const value_id v = g_.operands.items[x.inputs.first + i];
        if (v == none || !is_behind(g_.values.items[v].producer)) continue;
        reads = true;
        if (const mapping edge = type_of_edge(x, i); edge > type) type = edge;
      }
      if (reads) behind_.push_back(m);
    }
    return type;
  }
  constexpr bool is_behind(node_id n) const {
    for (std::size_t k = 0; k < behind_.count; ++k)
      if (behind_.items[k] == n) return true;
    return false;
  }

  // Adds the nodes of `chain` (a producer and the movement behind it) and `last`, which reads the chain's end as its
  // input number `input`, if the table, the rules and the constraint check agree. `upwards`: last is a member already.
  constexpr bool join(fusion_group& block, const vector<node_id>& chain, node_id last, std::size_t input,
                      bool upwards) {
    const node& reader = g_.nodes.items[last];
    const node& producer = g_.nodes.items[chain.front()];
    mapping second = type_of_edge(reader, input);
    if (upwards && block.type > second)
      if (const mapping behind = type_behind(block, last); behind > second) second = behind;
    fused f{upwards ? producer.op->properties.map : block.type, verdict::fuse};
    const node_id source = upwards || block.anchor == none ? chain.front() : block.anchor;
    const value_id result = upwards ? block.outputs[0] : reader.output;
    const known_facts facts = block.setup ? known_facts{} : facts_;  // what runs once costs nothing to speak of
    edge_profile profile(g_, blocks_.users(), facts, source, chain, reader, result, f.type, second);
    const fusion_edge edge{g_, blocks_.users(), producer, reader, input, &profile};
    for (std::size_t k = 1; k <= chain.count; ++k) {
      const mapping next = k < chain.count ? g_.nodes.items[chain.items[k]].op->properties.map : second;
      fused step = fuse(f.type, next);
      const objection o = objection_of<Rules...>(edge, f.type, next, step.decision);
      if (o.reason != fusion_reason::nothing) return refuse(chain.front(), last, o.reason, o.rule, profile.costs());
      f = step;
    }
    added_.clear();
    for (std::size_t k = 0; k < chain.count; ++k)
      if (const node_id n = chain.items[k]; fusion_blocks::add(block.nodes, n)) added_.push_back(n);
    if (fusion_blocks::add(block.nodes, last)) added_.push_back(last);
    if constexpr (has_rules_of_user)
      if (const std::string_view rule = against_other_edges(block); !rule.empty()) {
        for (node_id n : added_) fusion_blocks::remove(block.nodes, n);
        return refuse(chain.front(), last, fusion_reason::rule, rule);
      }
    if (const fusion_reason reason = blocks_.check(block); reason != fusion_reason::nothing) {
      for (node_id n : added_) fusion_blocks::remove(block.nodes, n);
      return refuse(chain.front(), last, reason);
    }
    if (!upwards || f.type > block.type) block.type = f.type;
    return accept(chain.front(), last, upwards ? fusion_reason::predecessor : fusion_reason::successor,
                  profile.costs());
  }

  // The user's rule that has something against an edge of the block that has become one with the nodes just added,
  // whichever it was joined by.
  constexpr std::string_view against_other_edges(const fusion_group& block) const {
    for (node_id n : block.nodes) {
      const node& reader = g_.nodes.items[n];
      if (is_movement(n)) continue;
      for (std::uint32_t i = 0; i < reader.inputs.count; ++i) {
        const value_id v = g_.operands.items[reader.inputs.first + i];
        const node_id source = v == none ? none : source_of(v);
        if (source == none || !contains(block, source) || !(is_added(n) || is_added(source))) continue;
        const node& producer = g_.nodes.items[source];
        const std::string_view rule = refused_by_rule<Rules...>(g_, blocks_.users(), producer, reader, i,
                                                                producer.op->properties.map, type_of_edge(reader, i));
        if (!rule.empty()) return rule;
      }
    }
    return {};
  }
  constexpr bool is_added(node_id n) const {
    for (node_id added : added_)
      if (added == n) return true;
    return false;
  }

  // Each notes one decision about an edge: `last` reads the output of `first`, also through movement operators.
  constexpr bool accept(node_id first, node_id last, fusion_reason reason, const edge_costs& costs = {}) {
    add_note(first, last, reason, {}, true, true, costs);
    return true;
  }
  constexpr bool refuse(node_id first, node_id last, fusion_reason reason, std::string_view rule = {},
                        const edge_costs& costs = {}) {
    add_note(first, last, reason, rule, false, true, costs);
    return false;
  }
  // Says why an edge is not asked about.
  constexpr void note(node_id first, node_id last, fusion_reason reason, std::string_view rule = {}) {
    add_note(first, last, reason, rule, false, false);
  }
  constexpr void add_note(node_id first, node_id last, fusion_reason reason, std::string_view rule, bool fused,
                          bool asked, const edge_costs& costs = {}) {
    if (!notes_.wanted()) return;
    decision d{name, fused ? "fused" : "not fused", words_of(reason).name, words_of(reason).meaning, rule, first, last};
    d.applied = fused;
    d.asked = asked;
    d.compares_types = reason == fusion_reason::mapping_types;
    costs.add(d, notes_);
  }

  // A movement operator whose result must be stored is stored by the kernel that computes its input, when that is
  // possible, else by one of its own.
  constexpr void store_movement() {
    for (value_id v : g_.outputs) store_movement(v);
    for (value_id v : blocks_.guards().stored()) store_movement(v);
  }
  constexpr void store_movement(value_id v) {
    const node_id n = g_.at(v).producer;
    if (n == none || !is_movement(n) || is_stored(v)) return;
    const node_id source = source_of(v);
    const std::int32_t home = source == none ? none : blocks_.group_of(source);
    bool stored = false;
    if (home != none && blocks_.settled()[home].setup == is_setup(n)) {
      fusion_group larger = blocks_.settled()[home];
      vector<node_id> chain;
      chain_to(v, chain);
      for (node_id m : chain) fusion_blocks::add(larger.nodes, m);
      fusion_reason reason = blocks_.check(larger);
      std::string_view rule;
      if constexpr (has_rules_of_user)
        if (reason == fusion_reason::nothing) {
          rule = refused_by_rule<Rules...>(g_, blocks_.users(), g_.node_at(source), g_.node_at(n), 0, larger.type,
                                           g_.node_at(n).op->properties.map);
          if (!rule.empty()) reason = fusion_reason::rule;
        }
      stored = reason == fusion_reason::nothing ? accept(source, n, fusion_reason::stored_by_producer)
                                                : refuse(source, n, reason, rule);
      if (stored) blocks_.replace(static_cast<std::size_t>(home), static_cast<fusion_group&&>(larger));
    }
    if (!stored) blocks_.settle({{n}, {v}, none, g_.nodes.items[n].op->properties.map, is_setup(n)});
  }
  constexpr bool is_stored(value_id v) const {
    for (const fusion_group& group : blocks_.settled())
      for (value_id o : group.outputs)
        if (o == v) return true;
    return false;
  }

  // A kernel of element-wise operators whose only result is read by anchors becomes their prologue: of one reader by
  // the table; of several when computing it again costs less than storing and loading it.
  constexpr void absorb_prologues() {
    for (std::size_t k = 0; k < blocks_.settled().count; ++k) {
      const fusion_group& block = blocks_.settled().items[k];
      if (block.setup || block.nodes.empty()) continue;
      vector<std::int32_t> readers;
      vector<node_id> through;
      if (const objection o = against_prologue(block, readers, through); o.reason != fusion_reason::nothing) {
        if (costs_.known.by != answered_by::nobody)
          refuse(block.nodes.back(), blocks_.settled()[readers[0]].anchor, o.reason, o.rule, costs_);
        else
          for (value_id v : block.outputs) note_edges_from(source_of(v), g_.at(v).producer, true, o.reason, o.rule);
        continue;
      }
      vector<fusion_group> larger;
      for (std::int32_t r : readers) larger.push_back(with_prologue(block, through, blocks_.settled()[r]));
      accept(block.nodes.back(), larger[0].anchor,
             readers.size() > 1 ? fusion_reason::prologue_again : fusion_reason::prologue, costs_);
      for (std::size_t i = 0; i < readers.size(); ++i)
        blocks_.replace(static_cast<std::size_t>(readers[i]), static_cast<fusion_group&&>(larger[i]));
      blocks_.replace(k, {});
    }
  }

  // What speaks against `block` being the prologue of its readers, which are found on the way, with the movement
  // operators that they read it through.
  constexpr objection against_prologue(const fusion_group& block, vector<std::int32_t>& readers,
                                       vector<node_id>& through) {
    costs_ = {};
    if (block.anchor != none) return {fusion_reason::one_anchor, {}};
    if (block.outputs.size() != 1) return {fusion_reason::several_results, {}};
    const value_id result = block.outputs[0];
    if (blocks_.is_given_out(result)) return {fusion_reason::stored_anyway, {}};
    if (!collect_readers(result, readers, through) || readers.empty()) return {fusion_reason::read_elsewhere, {}};
    if (readers.size() > 1 && !is_cheap(block)) return {fusion_reason::too_dear, {}};
    for (std::int32_t r : readers) {
      const fusion_group& reader = blocks_.settled()[r];
      if (reader.anchor == none) return {fusion_reason::read_elsewhere, {}};
      if (const objection o = against_preceding(block, reader); o.reason != fusion_reason::nothing) return o;
      const fusion_group larger = with_prologue(block, through, reader);
      if (!reads_only_before_anchor(result, larger)) return {fusion_reason::read_behind_anchor, {}};
      if (!blocks_.guards().run_together(g_, larger.nodes)) return {fusion_reason::other_branches, {}};
    }
    return {};
  }
  static constexpr fusion_group with_prologue(const fusion_group& block, const vector<node_id>& through,
                                              fusion_group reader) {
    for (node_id n : block.nodes) fusion_blocks::add(reader.nodes, n);
    for (node_id n : through) fusion_blocks::add(reader.nodes, n);
    return reader;
  }

  // What the table and the rules have against `block` preceding `reader`, at any input its anchor reads it by.
  constexpr objection against_preceding(const fusion_group& block, const fusion_group& reader) {
    const node& anchor = g_.node_at(reader.anchor);
    if (anchor.op->kind == form::whole) return {fusion_reason::whole_operator, {}};
    for (std::size_t i = 0; i < anchor.inputs.count; ++i) {
      const value_id v = g_.input_of(anchor, i);
      const node_id first = v == none ? none : source_of(v);
      if (first == none || g_.node_at(first).output != block.outputs[0]) continue;
      vector<node_id> path;
      chain_to(v, path);
      edge_profile profile(g_, blocks_.users(), facts_, first, path, anchor, anchor.output, block.type, reader.type);
      const fusion_edge edge{g_, blocks_.users(), g_.node_at(first), anchor, i, &profile};
      const objection o = objection_of<Rules...>(edge, block.type, reader.type, fuse(block.type, reader.type).decision);
      costs_ = profile.costs();
      if (o.reason != fusion_reason::nothing) return o;
    }
    return {};
  }

  // Notes a reason for the edges from `first` to the nodes that read the output of `n`, which is `first` or movement
  // behind it: the anchors among them, or all.
  constexpr void note_edges_from(node_id first, node_id n, bool anchors_only, fusion_reason reason,
                                 std::string_view rule = {}) {
    if (!notes_.wanted() || first == none) return;
    for (node_id u : blocks_.users()[g_.node_at(n).output]) {
      if (alive_.items[u] == 0) continue;
      if (is_movement(u)) note_edges_from(first, u, anchors_only, reason, rule);
      else if (!anchors_only || is_anchor(u)) note(first, u, reason, rule);
    }
  }

  // The settled kernels that read v, also through movement; false when something else does.
  constexpr bool collect_readers(value_id v, vector<std::int32_t>& readers, vector<node_id>& through) const {
    for (node_id u : blocks_.users()[v]) {
      if (alive_.items[u] == 0) continue;
      if (is_movement(u)) {
        if (blocks_.is_given_out(g_.nodes.items[u].output) ||
            !collect_readers(g_.nodes.items[u].output, readers, through))
          return false;
        through.push_back(u);
        continue;
      }
      const std::int32_t r = blocks_.group_of(u);
      if (r == none || !is_anchor(u)) return false;
      bool known = false;
      for (std::int32_t other : readers) known = known || other == r;
      if (!known) readers.push_back(r);
    }
    return true;
  }
  constexpr bool reads_only_before_anchor(value_id v, const fusion_group& g) const {
    for (node_id u : blocks_.users()[v])
      if (!is_movement(u) && contains(g, u) && u != g.anchor) return false;
    return true;
  }

  // At most four operators, and at most one operand that is not broadcast.
  constexpr bool is_cheap(const fusion_group& block) const {
    if (block.nodes.size() > 4) return false;
    const shape& whole = g_.at(block.outputs[0]).type.dims;
    std::size_t large = 0;
    for (node_id n : block.nodes)
      for (std::size_t i = 0; i < g_.node_at(n).inputs.count; ++i) {
        const value_id v = g_.input_of(g_.node_at(n), i);
        if (!contains(block, g_.at(v).producer) && g_.at(v).type.dims == whole) ++large;
      }
    return large <= 1;
  }

  graph& g_;
  const known_facts facts_;
  fusion_blocks blocks_;
  vector<std::uint8_t> alive_, setup_;
  decision_notes notes_;
  vector<node_id> added_;   // to the block under examination
  vector<node_id> behind_;  // a member of it, and those that are computed from that
  edge_costs costs_;        // what was compared of the prologue that was asked about last
};

}  // namespace dnnkit::passes
