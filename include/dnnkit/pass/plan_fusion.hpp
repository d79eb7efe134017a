// SPDX-License-Identifier: MIT
// Pass: groups nodes into kernels (DNNFusion, section 3.4.3, Listing 3.1): from the element-wise node with the smallest
// result outwards, first to predecessors, then to successors (the paper lets the two steps be swapped), by the verdict
// of Table 3.3 and the constraint check. What is then left without an anchor becomes the prologue of its readers. Takes
// a graph without composites; guarantees that every live node is in a group and groups are in a runnable order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/pass/fusion_block.hpp"
#include "dnnkit/pass/mapping_table.hpp"

namespace dnnkit::passes {

// The edge a fusion rule is asked about: `second` reads `first`'s output as its input number `input`.
struct fusion_edge {
  const graph& g;
  const node& first;
  const node& second;
  std::size_t input;
};

// The library's answer to Table 3.3's yellow cells: views cost nothing, so movement fuses; growing a result that took
// many operations to compute does not.
struct profile_rule {
  static constexpr std::string_view name = "profile";
  static constexpr verdict decide(const fusion_edge&, mapping first, mapping second, verdict v) {
    if (v != verdict::profile) return v;
    return first == mapping::many_to_many && second == mapping::one_to_many ? verdict::never : verdict::fuse;
  }
};

// Rules are asked in order; each may change the verdict of the one before.
template <class... Rules> struct plan_fusion {
  static constexpr std::string_view name = "plan fusion";

  static constexpr fusion_plan run(graph& g) {
    plan_fusion p(g);
    for (node_id seed : p.seeds())
      if (p.is_free(seed)) p.grow_from(seed);
    for (node_id n = 0; n < static_cast<node_id>(g.nodes.size()); ++n)
      if (p.is_free(n) && fusion_blocks::is_anchor(g.node_at(n))) p.grow_from(n);
    p.store_movement();
    p.absorb_prologues();
    return p.result();
  }

 private:
  constexpr explicit plan_fusion(graph& g) : g_(g), blocks_(g), alive_(live_nodes(g)), setup_(setup_values(g)) {}

  static constexpr std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  constexpr bool is_setup(node_id n) const { return setup_[index(g_.node_at(n).output)] != 0; }
  constexpr bool is_movement(node_id n) const { return g_.node_at(n).op->kind == form::movement; }
  constexpr bool is_anchor(node_id n) const { return fusion_blocks::is_anchor(g_.node_at(n)); }
  constexpr bool is_free(node_id n) const { return alive_[index(n)] != 0 && blocks_.group_of(n) == none; }

  // Element-wise nodes, smallest result first.
  constexpr vector<node_id> seeds() {
    vector<node_id> order;
    vector<std::int64_t> size(g_.nodes.size(), 0);
    for (std::size_t n = 0; n < g_.nodes.size(); ++n) {
      if (alive_[n] == 0 || g_.nodes[n].op->kind != form::elementwise) continue;
      order.push_back(static_cast<node_id>(n));
      size[n] = g_.symbols.range(element_count(g_.symbols, g_.at(g_.nodes[n].output).type.dims)).min;
    }
    std::sort(order.begin(), order.end(), [&](node_id a, node_id b) {
      return size[index(a)] != size[index(b)] ? size[index(a)] < size[index(b)] : a < b;
    });
    return order;
  }

  // How one edge maps elements: the operator's mapping type, or One-to-Many where an operand is broadcast.
  constexpr mapping type_of_edge(const node& n, std::size_t input) const {
    const value_id v = g_.input_of(n, input);
    if (n.op->kind == form::elementwise && !(g_.at(v).type.dims == g_.at(n.output).type.dims))
      return mapping::one_to_many;
    return n.op->properties.map;
  }

  constexpr void grow_from(node_id seed) {
    fusion_group block{{seed}, {}, none, g_.node_at(seed).op->properties.map, is_setup(seed)};
    blocks_.check(block);
    grow_to_predecessors(block, seed);
    grow_to_successors(block, seed);
    blocks_.settle(block);
  }

  // Movement operators from value v upwards (nearest first), and the node or leaf value they start from.
  struct path {
    vector<node_id> movement;
    node_id end = none;
  };
  constexpr path path_up(value_id v) const {
    path p;
    for (p.end = g_.at(v).producer; p.end != none && is_movement(p.end); p.end = g_.at(v).producer) {
      p.movement.push_back(p.end);
      v = g_.input_of(g_.node_at(p.end), 0);
    }
    return p;
  }

  constexpr void grow_to_predecessors(fusion_group& block, node_id n) {
    const node& x = g_.node_at(n);
    for (std::size_t i = 0; i < x.inputs.count; ++i) {
      const value_id v = g_.input_of(x, i);
      if (v == none) continue;
      path p = path_up(v);
      if (p.end == none || !is_free(p.end) || is_setup(p.end) != block.setup) continue;
      if (!is_anchor(p.end) && is_anchor(n)) continue;  // a producer's epilogue comes before a reader's prologue
      std::reverse(p.movement.begin(), p.movement.end());
      p.movement.insert(p.movement.begin(), p.end);
      if (join(block, p.movement, n, i, true)) grow_to_predecessors(block, p.end);
    }
  }

  constexpr void grow_to_successors(fusion_group& block, node_id n) {
    vector<node_id> movement{n};
    grow_through(block, movement);
  }

  // `through`: a member of the block, then movement operators that follow it.
  constexpr void grow_through(fusion_group& block, vector<node_id>& through) {
    const value_id v = g_.node_at(through.back()).output;
    for (node_id u : blocks_.users()[index(v)]) {
      if (!is_free(u) || is_setup(u) != block.setup || contains(block, u)) continue;
      if (is_movement(u)) {
        through.push_back(u);
        grow_through(block, through);
        through.pop_back();
      } else if (!is_anchor(u)) {
        for (std::size_t i = 0; i < g_.node_at(u).inputs.count; ++i)
          if (g_.input_of(g_.node_at(u), i) == v) {
            if (join(block, through, u, i, false)) grow_to_successors(block, u);
            break;
          }
      }
    }
  }

  static constexpr bool contains(const fusion_group& block, node_id n) {
    return std::find(block.nodes.begin(), block.nodes.end(), n) != block.nodes.end();
  }

  // Adds the nodes of `chain` (a producer and the movement behind it) and `last`, which reads the chain's end as its
  // input number `input`, if the table, the rules and the constraint check agree. `upwards`: last is a member already.
  constexpr bool join(fusion_group& block, const vector<node_id>& chain, node_id last, std::size_t input,
                      bool upwards) {
    const node& reader = g_.node_at(last);
    const node& producer = g_.node_at(chain.front());
    mapping second = type_of_edge(reader, input);
    if (upwards && block.type > second) second = block.type;
    fused f{upwards ? producer.op->properties.map : block.type, verdict::fuse};
    for (std::size_t k = 1; k <= chain.size(); ++k) {
      const mapping next = k < chain.size() ? g_.node_at(chain[k]).op->properties.map : second;
      fused step = fuse(f.type, next);
      const fusion_edge edge{g_, producer, reader, input};
      ((step.decision = Rules::decide(edge, f.type, next, step.decision)), ...);
      if (step.decision != verdict::fuse)
        return decide(chain.front(), last, false, step.decision == verdict::never ? "mapping types" : "profile");
      f = step;
    }
    fusion_group larger = block;
    larger.type = f.type;
    for (node_id n : chain)
      if (!contains(larger, n)) larger.nodes.push_back(n);
    if (!contains(larger, last)) larger.nodes.push_back(last);
    std::sort(larger.nodes.begin(), larger.nodes.end());
    if (const std::string_view reason = blocks_.check(larger); !reason.empty())
      return decide(chain.front(), last, false, reason);
    block = larger;
    return decide(chain.front(), last, true, upwards ? "predecessor" : "successor");
  }

  constexpr bool decide(node_id first, node_id second, bool yes, std::string_view reason) {
    decisions_.push_back({first, second, yes, reason});
    return yes;
  }

  // A movement operator whose result the graph gives out is stored by the kernel that computes its input, when that is
  // possible, else by one of its own.
  constexpr void store_movement() {
    for (value_id v : g_.outputs) {
      const node_id n = g_.at(v).producer;
      if (n == none || !is_movement(n)) continue;
      path p = path_up(v);
      const std::int32_t home = p.end == none ? none : blocks_.group_of(p.end);
      bool stored = false;
      if (home != none && blocks_.settled()[index(home)].setup == is_setup(n)) {
        fusion_group larger = blocks_.settled()[index(home)];
        for (node_id m : p.movement)
          if (!contains(larger, m)) larger.nodes.push_back(m);
        std::sort(larger.nodes.begin(), larger.nodes.end());
        stored = blocks_.check(larger).empty();
        if (stored) blocks_.replace(index(home), larger);
      }
      if (!stored) {
        fusion_group copy{{n}, {v}, none, g_.node_at(n).op->properties.map, is_setup(n)};
        blocks_.settle(copy);
      }
    }
  }

  // A kernel of element-wise operators whose only result is read by anchors becomes their prologue: of one reader by
  // the table; of several when computing it again costs less than storing and loading it.
  constexpr void absorb_prologues() {
    for (std::size_t k = 0; k < blocks_.settled().size(); ++k) {
      const fusion_group block = blocks_.settled()[k];
      if (block.anchor != none || block.setup || block.outputs.size() != 1 || is_output(g_, block.outputs[0])) continue;
      vector<std::int32_t> readers;
      vector<node_id> through;
      if (!collect_readers(block.outputs[0], readers, through) || readers.empty()) continue;
      if (readers.size() > 1 && !is_cheap(block)) continue;
      vector<fusion_group> larger;
      bool possible = true;
      for (std::int32_t r : readers) {
        fusion_group g = blocks_.settled()[index(r)];
        possible = possible && g.anchor != none && fuse(block.type, g.type).decision != verdict::never;
        for (node_id n : block.nodes) g.nodes.push_back(n);
        for (node_id n : through) g.nodes.push_back(n);
        std::sort(g.nodes.begin(), g.nodes.end());
        g.nodes.erase(std::unique(g.nodes.begin(), g.nodes.end()), g.nodes.end());
        larger.push_back(g);
      }
      for (fusion_group& g : larger) possible = possible && reads_only_before_anchor(block.outputs[0], g);
      if (!possible) continue;
      for (std::size_t i = 0; i < readers.size(); ++i) {
        larger[i].outputs = blocks_.settled()[index(readers[i])].outputs;
        blocks_.replace(index(readers[i]), larger[i]);
      }
      blocks_.replace(k, {});
      decide(block.nodes.back(), larger[0].anchor, true, readers.size() > 1 ? "prologue, computed again" : "prologue");
    }
  }

  // The settled kernels that read v, also through movement; false when something else does.
  constexpr bool collect_readers(value_id v, vector<std::int32_t>& readers, vector<node_id>& through) const {
    for (node_id u : blocks_.users()[index(v)]) {
      if (alive_[index(u)] == 0) continue;
      if (is_movement(u)) {
        if (is_output(g_, g_.node_at(u).output) || !collect_readers(g_.node_at(u).output, readers, through))
          return false;
        through.push_back(u);
        continue;
      }
      const std::int32_t r = blocks_.group_of(u);
      if (r == none || !is_anchor(u)) return false;
      if (std::find(readers.begin(), readers.end(), r) == readers.end()) readers.push_back(r);
    }
    return true;
  }
  constexpr bool reads_only_before_anchor(value_id v, const fusion_group& g) const {
    for (node_id u : blocks_.users()[index(v)])
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

  // Kernels in a runnable order (that of their last nodes, corrected where kernels interleave).
  constexpr fusion_plan result() {
    fusion_plan plan;
    plan.decisions = decisions_;
    vector<fusion_group> waiting;
    for (const fusion_group& g : blocks_.settled())
      if (!g.nodes.empty()) waiting.push_back(g);
    std::sort(waiting.begin(), waiting.end(),
              [](const fusion_group& a, const fusion_group& b) { return a.nodes.back() < b.nodes.back(); });
    vector<std::uint8_t> ready(g_.values.size(), 0);
    for (std::size_t v = 0; v < g_.values.size(); ++v) ready[v] = g_.values[v].from != origin::node;
    while (!waiting.empty()) {
      std::size_t next = 0;
      while (next < waiting.size() && !can_run(waiting[next], ready)) ++next;
      if (next == waiting.size()) {
        break_up(waiting);
        continue;
      }
      for (value_id v : waiting[next].outputs) ready[index(v)] = 1;
      plan.groups.push_back(waiting[next]);
      waiting.erase(waiting.begin() + next);
    }
    return plan;
  }

  // Kernels wait for each other: one of them becomes a kernel for each of its nodes. What another kernel stores as well
  // is left to that one.
  constexpr void break_up(vector<fusion_group>& waiting) {
    std::size_t next = 0;
    while (next < waiting.size() && waiting[next].nodes.size() == 1) ++next;
    if (next == waiting.size()) throw "dnnkit: kernels of one operator wait for each other";
    const fusion_group broken = waiting[next];
    waiting.erase(waiting.begin() + next);
    for (node_id n : broken.nodes) {
      fusion_group single{{n}, {}, none, g_.node_at(n).op->properties.map, broken.setup};
      const value_id v = g_.node_at(n).output;
      bool stored = is_movement(n) && !is_output(g_, v);
      for (const fusion_group& g : waiting)
        for (value_id o : g.outputs) stored = stored || o == v;
      if (!stored && blocks_.check(single).empty()) waiting.push_back(single);
    }
  }

  // Are all values that the kernel loads stored by then?
  constexpr bool can_run(const fusion_group& group, const vector<std::uint8_t>& ready) const {
    for (node_id n : group.nodes)
      for (std::size_t i = 0; i < g_.node_at(n).inputs.count; ++i) {
        value_id v = g_.input_of(g_.node_at(n), i);
        while (v != none && ready[index(v)] == 0 && g_.at(v).producer != none && !contains(group, g_.at(v).producer) &&
               is_movement(g_.at(v).producer))
          v = g_.input_of(g_.node_at(g_.at(v).producer), 0);
        if (v != none && ready[index(v)] == 0 && !contains(group, g_.at(v).producer)) return false;
      }
    return true;
  }

  graph& g_;
  fusion_blocks blocks_;
  vector<std::uint8_t> alive_, setup_;
  vector<fusion_decision> decisions_;
};

}  // namespace dnnkit::passes
