// SPDX-License-Identifier: MIT
// Pass: groups that become stages of one kernel, which runs them in turn tile by tile, so that what one hands to the
// next is never stored as a whole. It goes past DNNFusion, whose Table 3.3 forbids two Many-to-Many operators in a
// kernel; what the operators compute is not looked at.
//
// A chain of groups is joined where each but the last stores one value, which only the next one reads; where footprints
// (pass/tile_reaches.hpp) say that positions of outer axes of the last group's iteration space need positions of that
// value; and where some family of kernels carries the whole out and expects to take less time than the kernels would
// take that are chosen for the groups one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/choose_kernels.hpp"
#include "dnnkit/pass/recipe_builder.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/pass/structural_equality.hpp"
#include "dnnkit/pass/tile_reaches.hpp"

namespace dnnkit {

namespace detail {

inline constexpr std::string_view name_of_joining = "join stages";

class stage_joining {
 public:
  static constexpr std::size_t most_stages = 4;

  constexpr stage_joining(schedule& s, const cpu_facts& facts)
      : s_(s),
        g_(s.g),
        groups_(s.fusion.groups),
        families_(*s.families),
        facts_(facts),
        stored_(g_.values.size(), 0),
        setup_(setup_values(g_)),
        kernel_of_(g_.values.size(), none),
        readers_(g_.values.size(), 0),
        taken_(s.fusion.groups.count, 0),
        guards_(g_),
        equality_(g_, stored_, setup_, s.layouts) {}

  constexpr void run() {
    for (std::size_t k = 0; k < groups_.count; ++k)
      for (value_id v : groups_.items[k].outputs) {
        stored_.items[v] = 1;
        kernel_of_.items[v] = static_cast<std::int32_t>(k);
      }
    for (std::size_t k = 0; k < groups_.count; ++k) find_loads(groups_.items[k]);
    for (std::size_t k = groups_.count; k-- > 0;)  // the later a chain ends, the longer it is
      if (is_free(k)) grow({k});
    if (!joins_.empty()) apply();
  }

 private:
  using chain = vector<std::size_t>;  // numbers of groups, in the order in which they run

  // One way to make a kernel of a chain.
  struct joint {
    vector<fusion_group> stages;         // with what tiles need of them
    vector<value_id> between;            // what they hand to each other,
    vector<buffer_layout> tile_layouts;  // and how that is stored
    double cycles = 0, apart = 0;        // as one kernel, and as several
    std::string_view refused;            // why it is none; empty when it is one
  };

  constexpr bool is_free(std::size_t k) const {
    return taken_.items[k] == 0 && !groups_.items[k].setup && groups_.items[k].anchor != none;
  }

  // --- what groups read
  constexpr void find_loads(const fusion_group& group) {
    vector<value_id> loads;
    find_loads(group, loads);
    for (value_id v : loads) ++readers_.items[v];
  }
  // The stored values that a group reads, each once; movement operators are looked through.
  constexpr void find_loads(const fusion_group& group, vector<value_id>& loads) const {
    for (node_id n : group.nodes)
      for (std::size_t i = 0; i < g_.node_at(n).inputs.count; ++i) {
        value_id v = g_.input_of(g_.node_at(n), i);
        while (v != none && stored_.items[v] == 0 && g_.at(v).producer != none && !contains(group, g_.at(v).producer))
          v = g_.input_of(g_.node_at(g_.at(v).producer), 0);
        if (v == none || stored_.items[v] == 0 || contains(group, g_.at(v).producer)) continue;
        bool known = false;
        for (value_id other : loads) known = known || other == v;
        if (!known) loads.push_back(v);
      }
  }
  static constexpr bool contains(const fusion_group& group, node_id n) {
    for (node_id m : group.nodes)
      if (m == n) return true;
    return false;
  }

  // --- chains
  // Joins the longest chain that ends as this one does and pays; true when there is one.
  constexpr bool grow(const chain& c) {
    if (c.count < most_stages) {
      vector<value_id> loads;
      find_loads(groups_.items[c.items[0]], loads);
      for (value_id v : loads) {
        if (!is_handed_over(v, c)) continue;
        chain longer{static_cast<std::size_t>(kernel_of_.items[v])};
        longer.append(c.begin(), c.end());
        if (grow(longer)) return true;
      }
    }
    return c.count > 1 && join(c);
  }
  // Is v all that a free group computes, and read by the first group of the chain alone?
  constexpr bool is_handed_over(value_id v, const chain& c) const {
    const std::int32_t k = kernel_of_.items[v];
    return k != none && readers_.items[v] == 1 && is_free(static_cast<std::size_t>(k)) &&
           groups_.items[k].outputs.count == 1 && !is_given_out(v) &&
           guards_.of_kernel(g_, groups_.items[k].nodes) == guards_.of_kernel(g_, groups_.items[c.items[0]].nodes);
  }
  constexpr bool is_given_out(value_id v) const {
    for (value_id condition : guards_.conditions())
      if (condition == v) return true;
    return is_output(g_, v);
  }

  constexpr bool join(const chain& c) {
    vector<operator_tag> anchors;
    for (std::size_t k : c) anchors.push_back(*g_.node_at(groups_.items[k].anchor).op);
    tile_wish wish;
    for (const kernel_family& f : families_)
      if (wish.positions == 0) wish = f.joins({anchors.items, anchors.count}, facts_);
    if (wish.positions == 0) return false;
    joint j = made_of(c, wish);
    const bool pays = j.refused.empty();
    note(c, j);
    if (!pays) return false;
    for (std::size_t k : c) taken_.items[k] = 1;
    joins_.push_back(static_cast<joint&&>(j));
    chains_.push_back(c);
    return true;
  }

  // --- tiles
  constexpr joint made_of(const chain& c, const tile_wish& wish) {
    joint j;
    for (std::size_t k : c) j.stages.push_back(groups_.items[k]);
    for (std::size_t i = 0; i + 1 < c.count; ++i) j.between.push_back(groups_.items[c.items[i]].outputs.items[0]);
    if (!find_tile(j, wish)) {
      j.refused = "what passes between them is needed as a whole, or is rearranged across the tiles";
      return j;
    }
    compare(j);
    return j;
  }

  // Says what tiles are, and what they need of each stage and of what lies between them.
  constexpr bool find_tile(joint& j, const tile_wish& wish) {
    fusion_group& last = j.stages.items[j.stages.count - 1];
    const shape& space = g_.at(g_.node_at(last.anchor).output).type.dims;
    for (std::size_t d = 0; d < space.size(); ++d) last.reach.push_back({static_cast<std::int8_t>(d)});
    vector<vector<tile_reach>> handed;
    if (!find_reaches(j, handed)) return false;
    // the outer axes of which all that lies between them has positions, as the last stage stores them
    const buffer_layout& stored_as = s_.layouts.items[last.outputs.items[0]];
    std::size_t innermost = space.size();
    last.tile.resize(space.size(), 0);
    for (std::size_t level = 0; level + wish.whole_axes < space.size(); ++level) {
      const std::size_t d = stored_as.order.size() == space.size() ? stored_as.order[level] : level;
      if (!is_followed(handed, d)) continue;
      last.tile.items[d] = 1;
      if (!(space[d] == dim(1))) innermost = d;
    }
    if (innermost == space.size()) return false;
    const dim extent = space[innermost];
    last.tile.items[innermost] = !extent.is_known() || extent.value() >= wish.positions ? wish.positions
                                 : extent.value() > 0 ? static_cast<std::int32_t>(extent.value())
                                                      : 1;
    for (fusion_group& stage : j.stages) keep_cut(stage.reach, last.tile);
    for (std::size_t i = 0; i < handed.count; ++i) {
      keep_cut(handed.items[i], last.tile);
      if (!add_layout(j, handed.items[i], last.tile)) return false;
    }
    return true;
  }
  // From the last stage to the first, what positions of all axes of the last one's iteration space need.
  constexpr bool find_reaches(joint& j, vector<vector<tile_reach>>& handed) {
    handed.resize(j.between.count);
    for (std::size_t i = j.stages.count - 1; i > 0; --i) {
      const fusion_group &reader = j.stages.items[i], &writer = j.stages.items[i - 1];
      const value_id v = j.between.items[i - 1];
      const node& anchor = g_.node_at(reader.anchor);
      reach_walk to_value(g_, reader, stored_, v);
      for (value_id o : reader.outputs)  // read behind the anchor
        if (to_value.leads_to_target(o)) return false;
      for (std::size_t input = 0; input < anchor.inputs.count; ++input)
        if (const value_id in = g_.input_of(anchor, input); in != none && to_value.leads_to_target(in))
          if (!to_value.from(in, reaches_of_input(g_, anchor, input, reader.reach))) return false;
      if (!to_value.found()) return false;
      handed.items[i - 1] = *to_value.found();
      reach_walk to_space(g_, writer, stored_, g_.node_at(writer.anchor).output);
      if (!to_space.from(v, handed.items[i - 1]) || !to_space.found()) return false;
      j.stages.items[i - 1].reach = *to_space.found();
    }
    return true;
  }
  // Has everything between the stages positions of axis d?
  static constexpr bool is_followed(const vector<vector<tile_reach>>& handed, std::size_t d) {
    for (const vector<tile_reach>& reaches : handed) {
      bool follows = false;
      for (const tile_reach& r : reaches) follows = follows || r.of == static_cast<std::int8_t>(d);
      if (!follows) return false;
    }
    return true;
  }
  static constexpr void keep_cut(vector<tile_reach>& reaches, const vector<std::int32_t>& positions) {
    for (tile_reach& r : reaches)
      if (!r.is_whole() && positions.items[r.of] == 0) r = {};
  }
  // In the order that has been chosen for it, without a border, as much of each axis as a tile needs.
  constexpr bool add_layout(joint& j, const vector<tile_reach>& needed, const vector<std::int32_t>& positions) {
    constexpr std::int64_t most = 65'535;
    const value_id v = j.between.items[j.tile_layouts.count];
    const shape& dims = g_.at(v).type.dims;
    buffer_layout l;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      l.order.push_back(s_.layouts.items[v].order[d]);
      l.before.push_back(0);
      l.after.push_back(0);
      const tile_reach& r = needed.items[d];
      const std::int64_t n = r.is_whole() ? 0 : r.count(positions.items[r.of]);
      if (n > most) return false;
      l.part.push_back(static_cast<std::uint16_t>(n));
    }
    j.tile_layouts.push_back(l);
    return true;
  }

  // --- costs: those of recipes made on trial, once for all chains alike
  struct known_joint {
    vector<fusion_group> groups;
    double cycles, apart;
    std::string_view refused;
  };

  constexpr void compare(joint& j) {
    vector<fusion_group> groups;  // as they are without a tile
    for (const fusion_group& stage : j.stages) {
      groups.push_back(stage);
      groups.items[groups.count - 1].reach = {};
      groups.items[groups.count - 1].tile = {};
    }
    for (const known_joint& k : known_)
      if (k.groups.count == groups.count && equality_.are_equal(k.groups.items, groups.items, groups.count)) {
        j.cycles = k.cycles;
        j.apart = k.apart;
        j.refused = k.refused;
        return;
      }
    for (const fusion_group& group : groups) j.apart += best_of(&group, 1).cycles;
    vector<buffer_layout> kept;
    for (std::size_t i = 0; i < j.between.count; ++i) {
      kept.push_back(s_.layouts.items[j.between.items[i]]);
      s_.layouts.items[j.between.items[i]] = j.tile_layouts.items[i];
    }
    const trial together = best_of(j.stages.items, j.stages.count);
    for (std::size_t i = 0; i < j.between.count; ++i) s_.layouts.items[j.between.items[i]] = kept.items[i];
    j.cycles = together.cycles;
    if (!together.matches) j.refused = together.reason;
    else if (!(j.cycles < j.apart)) j.refused = "the kernels are expected to take less time one by one";
    known_.push_back({static_cast<vector<fusion_group>&&>(groups), j.cycles, j.apart, j.refused});
  }
  // The kernel that would be chosen for groups; where there is none, what the last family that was asked said.
  struct trial {
    bool matches = false;
    double cycles = 0;
    std::string_view reason;
  };
  constexpr trial best_of(const fusion_group* groups, std::size_t stages) {
    const std::optional<step_recipe> made = recipe_of(g_, groups, stages, stored_, setup_, s_.layouts, trial_);
    if (!made) return {};  // the graph says why
    const plan_view plan = view_of(trial_);
    const kernel_spec spec(plan, made->kernel);
    trial best;
    for (const kernel_family& f : families_) {
      if (!f.is_asked(spec, facts_)) continue;
      const kernel_match match = f.match(spec, facts_);
      if (match && (!best.matches || match->cost.cycles < best.cycles)) best = {true, match->cost.cycles, {}};
      else if (!best.matches) best.reason = match.reason();
    }
    return best;
  }

  // --- what comes of it
  constexpr void note(const chain& c, const joint& j) {
    if (!s_.logged) return;
    for (std::size_t i = 0; i + 1 < c.count; ++i) {
      decision d{name_of_joining, j.refused.empty() ? "stages of one kernel" : "kernels of their own",
                 j.refused.empty() ? "what one hands to the other stays with the worker, tile by tile" : j.refused};
      d.first = j.stages.items[i].anchor;
      d.second = j.stages.items[i + 1].anchor;
      d.value = j.between.items[i];
      d.applied = j.refused.empty();
      if (j.apart > 0) s_.notes().add(d, {{"one kernel", "cycles", j.cycles}, {"one by one", "cycles", j.apart}});
      else s_.notes().add(d);
    }
  }

  // Stages run where the last of them did: nobody else waits for what the others compute.
  constexpr void apply() {
    vector<std::int32_t> joint_of(groups_.count, none);
    for (std::size_t i = 0; i < chains_.count; ++i)
      joint_of.items[chains_.items[i].back()] = static_cast<std::int32_t>(i);
    vector<fusion_group> groups;
    groups.reserve(groups_.count);
    for (std::size_t k = 0; k < groups_.count; ++k) {
      if (joint_of.items[k] == none) {
        if (taken_.items[k] == 0) groups.push_back(static_cast<fusion_group&&>(groups_.items[k]));
        continue;
      }
      joint& j = joins_.items[joint_of.items[k]];
      for (std::size_t i = 0; i < j.stages.count; ++i) {
        j.stages.items[i].goes_on = i + 1 < j.stages.count;
        groups.push_back(static_cast<fusion_group&&>(j.stages.items[i]));
      }
      for (std::size_t i = 0; i < j.between.count; ++i) s_.layouts.items[j.between.items[i]] = j.tile_layouts.items[i];
    }
    groups_ = static_cast<vector<fusion_group>&&>(groups);
  }

  schedule& s_;
  graph& g_;
  vector<fusion_group>& groups_;
  std::span<const kernel_family> families_;
  const cpu_facts& facts_;
  vector<std::uint8_t> stored_, setup_;
  vector<std::int32_t> kernel_of_;  // of values: the group that stores it
  vector<std::uint32_t> readers_;   // of values: groups that read it
  vector<std::uint8_t> taken_;      // groups that are a stage already
  guard_sets guards_;
  structural_equality equality_;
  plan_draft trial_;
  vector<known_joint> known_;
  vector<joint> joins_;
  vector<chain> chains_;
};

}  // namespace detail

namespace passes {

struct join_stages {
  static constexpr std::string_view name = detail::name_of_joining;

  // Where no kernels are chosen, or none of several stages, all stay as they are.
  template <class Target> static constexpr void run(schedule& s) {
    if constexpr (requires { Target::facts; })
      if (s.families) detail::stage_joining(s, Target::facts).run();
  }
};

}  // namespace passes

}  // namespace dnnkit
