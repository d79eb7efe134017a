// SPDX-License-Identifier: MIT
// Pass: groups that become stages of one kernel, which runs them in turn tile by tile, so that what one hands to the
// next is never stored as a whole. It goes past DNNFusion, whose Table 3.3 forbids two Many-to-Many operators in a
// kernel; what the operators compute is not looked at.
//
// A chain of groups is joined where each but the last stores one value, which only the next one reads; where footprints
// (pass/tile_reaches.hpp) say that positions of outer axes of the last group's iteration space need positions of that
// value, unless a family wants all of it in one tile; and where some family of kernels carries the whole out and
// expects to take less time than the kernels would take that are chosen for the groups one by one. Of chains that have
// groups in common, and of families, the one that gains most is taken.
//
// Two groups are not joined where a fusion rule of the user's keeps an operator of the one out of the kernel of the
// other (fusion_plan::refuses).
//
// Of two groups the first may store a value that others read, too, where a family keeps it: it is stored as if there
// were no stages, all of it being one tile, and the kernel runs where the first of them did, before all its readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/choose_kernels.hpp"
#include "dnnkit/pass/fusion_reason.hpp"
#include "dnnkit/pass/group_loads.hpp"
#include "dnnkit/pass/layout_costs.hpp"
#include "dnnkit/pass/recipe_builder.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/pass/stage_objections.hpp"
#include "dnnkit/pass/stage_wishes.hpp"
#include "dnnkit/pass/structural_equality.hpp"
#include "dnnkit/pass/tile_reaches.hpp"

namespace dnnkit {

namespace detail {

inline constexpr std::string_view name_of_joining = "join stages";

class stage_joining {
 public:
  static constexpr std::size_t most_stages = 4;

  constexpr stage_joining(schedule& s, std::span<const kernel_family> families, target_facts facts, tuned_table tuned)
      : s_(s),
        g_(s.g),
        groups_(s.fusion.groups),
        facts_(facts),
        tuned_(tuned),
        stored_(g_.values.size(), 0),
        setup_(setup_values(g_)),
        kernel_of_(g_.values.size(), none),
        readers_(g_.values.size(), 0),
        taken_(s.fusion.groups.count, 0),
        guards_(g_),
        equality_(g_, stored_, setup_, s.layouts),
        singles_(g_, s.fusion, s.layouts, families, facts),
        wishes_(families, facts),
        objections_(s, stored_, setup_, kernel_of_) {}

  constexpr void run() {
    for (std::size_t k = 0; k < groups_.count; ++k)
      for (value_id v : groups_.items[k].outputs) {
        stored_.items[v] = 1;
        kernel_of_.items[v] = static_cast<std::int32_t>(k);
      }
    for (std::size_t k = 0; k < groups_.count; ++k) find_loads(groups_.items[k]);
    for (std::size_t k = 0; k < groups_.count; ++k)
      if (is_free(k)) grow({k});
    take_best();
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
    std::string_view refused;            // why it is none; empty when it could be one
    std::string_view rule;               // of the user's, if that is why
    constexpr double gain() const { return refused.empty() ? apart - cycles : 0; }
    constexpr bool keeps() const { return stages.items[0].keeps; }
  };
  struct considered_chain {
    chain groups;
    joint made;
    bool is_taken = false;
  };

  constexpr bool is_free(std::size_t k) const {
    const fusion_group& group = groups_.items[k];
    const bool is_stage = group.goes_on || !group.reach.empty();  // the pass has run before
    return taken_.items[k] == 0 && !is_stage && !group.setup && !group.is_there && group.anchor != none;
  }

  // --- what groups read
  constexpr void find_loads(const fusion_group& group) {
    vector<value_id> loads;
    detail::find_loads(g_, group, stored_, loads);
    for (value_id v : loads) ++readers_.items[v];
  }

  // --- chains
  // Looks at all chains that end as this one does.
  constexpr void grow(const chain& c) {
    if (c.count > 1) consider(c);
    if (c.count == most_stages) return;
    vector<value_id> loads;
    detail::find_loads(g_, groups_.items[c.items[0]], stored_, loads);
    for (value_id v : loads) {
      if (!is_handed_over(v, c)) continue;
      chain longer{static_cast<std::size_t>(kernel_of_.items[v])};
      longer.append(c.begin(), c.end());
      if (!is_kept(v)) grow(longer);
      else if (c.count == 1) consider(longer);
    }
  }
  // Is v all that a free group computes, and read by the first group of the chain?
  constexpr bool is_handed_over(value_id v, const chain& c) const {
    const std::int32_t k = kernel_of_.items[v];
    return k != none && is_free(static_cast<std::size_t>(k)) && groups_.items[k].outputs.count == 1 &&
           !is_given_out(v) &&
           guards_.of_kernel(g_, groups_.items[k].nodes) == guards_.of_kernel(g_, groups_.items[c.items[0]].nodes);
  }
  // Is it read by others as well?
  constexpr bool is_kept(value_id v) const { return readers_.items[v] > 1; }
  constexpr bool is_given_out(value_id v) const {
    for (value_id stored : guards_.stored())
      if (stored == v) return true;
    return is_output(g_, v);
  }

  constexpr void consider(const chain& c) {
    const op_info* anchors[most_stages] = {};
    for (std::size_t i = 0; i < c.count; ++i) anchors[i] = g_.node_at(groups_.items[c.items[i]].anchor).op;
    const bool keeps = is_kept(handed_by(c.items[0]));
    considered_chain best;
    for (const auto& [family, wish] : wishes_.of({anchors, c.count})) {
      if (keeps && !wish.keeps) continue;
      const stage_objection against = objections_.to(c, wish, keeps);
      if (!against.refused.empty() && !s_.logged) continue;
      joint made = made_of(c, wish, *family, against);
      if (best.groups.empty() || made.gain() > best.made.gain()) best = {c, static_cast<joint&&>(made), false};
    }
    if (!best.groups.empty()) considered_.push_back(static_cast<considered_chain&&>(best));
  }
  // Those that gain most first; of equal gains the first, which has the fewest stages.
  constexpr void take_best() {
    while (true) {
      std::size_t best = considered_.count;
      double most = 0;
      for (std::size_t i = 0; i < considered_.count; ++i)
        if (const considered_chain& c = considered_.items[i]; c.made.gain() > most && is_left(c.groups)) {
          best = i;
          most = c.made.gain();
        }
      if (best == considered_.count) break;
      for (std::size_t k : considered_.items[best].groups) taken_.items[k] = 1;
      considered_.items[best].is_taken = true;
    }
    if (s_.logged)
      for (std::size_t i = 0; i < considered_.count; ++i)
        if (considered_.items[i].is_taken || speaks_for_others(i)) note(considered_.items[i]);
    for (considered_chain& c : considered_)
      if (c.is_taken) joins_.push_back(static_cast<considered_chain&&>(c));
  }
  constexpr bool is_left(const chain& groups) const {
    for (std::size_t k : groups)
      if (taken_.items[k] != 0) return false;
    return true;
  }
  // Do two groups, one behind the other, have a kernel together?
  constexpr bool are_joined(std::size_t first, std::size_t second) const {
    for (const considered_chain& c : considered_)
      for (std::size_t i = 0; c.is_taken && i + 1 < c.groups.count; ++i)
        if (c.groups.items[i] == first && c.groups.items[i + 1] == second) return true;
    return false;
  }

  // --- tiles
  // Costs, and the size of tiles, are those of recipes made on trial, once for all chains alike.
  struct known_joint {
    const kernel_family* family;
    vector<fusion_group> groups;  // as they are without a tile
    std::int32_t positions;
    double cycles, apart;
    std::string_view refused;
  };

  constexpr joint stages_of(const chain& c) const {
    joint j;
    for (std::size_t k : c) j.stages.push_back(groups_.items[k]);
    for (std::size_t i = 0; i + 1 < c.count; ++i) {
      j.between.push_back(groups_.items[c.items[i]].outputs.items[0]);
      j.stages.items[i].keeps = is_kept(j.between.back());
    }
    return j;
  }
  constexpr value_id handed_by(std::size_t group) const { return groups_.items[group].outputs.items[0]; }

  constexpr joint made_of(const chain& c, const tile_wish& wish, const kernel_family& family,
                          const stage_objection& against) {
    joint j = stages_of(c);
    j.refused = against.refused;
    j.rule = against.rule;
    if (!j.refused.empty()) return j;
    const std::size_t k = known_equal(family, j.stages);
    if (k == known_.count) known_.push_back(tried_out(c, j, wish, family));
    else if (known_.items[k].refused.empty()) find_tile(j, wish, known_.items[k].positions);
    j.cycles = known_.items[k].cycles;
    j.apart = known_.items[k].apart;
    j.refused = known_.items[k].refused;
    return j;
  }
  constexpr std::size_t known_equal(const kernel_family& family, const vector<fusion_group>& groups) {
    std::size_t k = 0;
    while (k < known_.count && !(known_.items[k].family == &family && known_.items[k].groups.count == groups.count &&
                                 equality_.are_equal(known_.items[k].groups.items, groups.items, groups.count)))
      ++k;
    return k;
  }
  // What ask(specification) says of the stages as one kernel; nothing where there is no such recipe, which is then the
  // graph's error.
  constexpr auto with_trial(const joint& j, auto ask) {
    vector<buffer_layout> kept;
    for (std::size_t i = 0; i < j.between.count; ++i) {
      kept.push_back(s_.layouts.items[j.between.items[i]]);
      s_.layouts.items[j.between.items[i]] = j.tile_layouts.items[i];
    }
    const std::optional<step_recipe> made =
        recipe_of(g_, j.stages.items, j.stages.count, stored_, setup_, s_.layouts, trial_);
    for (std::size_t i = 0; i < j.between.count; ++i) s_.layouts.items[j.between.items[i]] = kept.items[i];
    using answer = decltype(ask(std::declval<const kernel_spec&>()));
    if (!made) return answer();
    const plan_view plan = view_of(trial_);
    return ask(kernel_spec(plan, made->kernel));
  }

  constexpr known_joint tried_out(const chain& c, joint& j, const tile_wish& wish, const kernel_family& family) {
    known_joint found{&family, j.stages, wish.positions, 0, 0, {}};
    if (!find_tile(j, wish, wish.positions)) {
      found.refused = "what passes between them is needed as a whole, or is rearranged across the tiles";
      return found;
    }
    const std::int32_t best = with_trial(j, [&](const kernel_spec& spec) { return family.positions(spec, facts_); });
    if (best != 0 && best != wish.positions) {
      found.positions = best;
      j = stages_of(c);
      find_tile(j, wish, best);
    }
    for (std::size_t k : c) found.apart += singles_.cycles(groups_.items[k]);
    const kernel_match together = with_trial(j, [&](const kernel_spec& spec) { return family.match(spec, facts_); });
    found.cycles = together->cost.cycles;
    if (!together) found.refused = together.reason();
    else if (!(found.cycles < found.apart)) found.refused = "the kernels are expected to take less time one by one";
    if (found.refused.empty() && !tuned_.empty()) find_tuned_tile(c, j, wish, found);
    return found;
  }
  // Whether stages are joined is decided by what is expected of the tile that the family finds best; then the tile is
  // that of which a table says that it took least.
  constexpr void find_tuned_tile(const chain& c, joint& j, const tile_wish& wish, known_joint& found) {
    const std::int32_t tuned =
        with_trial(j, [&](const kernel_spec& spec) { return positions_of(spec, *found.family); });
    if (tuned == 0 || tuned == found.positions) return;
    joint other = stages_of(c);
    if (!find_tile(other, wish, tuned)) return;
    j = static_cast<joint&&>(other);
    found.positions = tuned;
  }
  // Of the innermost axis of a tile: those that a table asks for, else those that the family finds best.
  constexpr std::int32_t positions_of(const kernel_spec& spec, const kernel_family& family) const {
    const tuned_choices tuned(tuned_, spec, facts_);
    const tuned_table entry = tuned.of(family.name);
    return family.positions(entry.empty() ? spec : spec.with(entry[0].genes), facts_);
  }
  // Says what tiles are, and what they need of each stage and of what lies between them.
  constexpr bool find_tile(joint& j, const tile_wish& wish, std::int32_t positions) {
    fusion_group& last = j.stages.items[j.stages.count - 1];
    const bool one_tile = wish.one_tile || j.keeps();
    const shape& space = g_.at(g_.node_at(last.anchor).output).type.dims;
    for (std::size_t d = 0; d < space.size(); ++d)
      last.reach.push_back(one_tile ? tile_reach{} : tile_reach{static_cast<std::int8_t>(d)});
    vector<vector<tile_reach>> handed;
    if (!find_reaches(g_, stored_, j.stages, j.between, handed)) return false;
    // the outer axes of which all that lies between them has positions, as the last stage stores them
    const buffer_layout& stored_as = s_.layouts.items[last.outputs.items[0]];
    std::size_t innermost = space.size();
    last.tile.resize(space.size(), 0);
    for (std::size_t level = 0; level + wish.whole_axes < space.size() && !one_tile; ++level) {
      const std::size_t d = stored_as.order.size() == space.size() ? stored_as.order[level] : level;
      if (decides(d, j.stages.items[0].reach, wish.whole) || !is_followed(handed, d)) continue;
      last.tile.items[d] = 1;
      if (!(space[d] == dim(1))) innermost = d;
    }
    if (innermost < space.size()) {
      const dim extent = space[innermost];
      last.tile.items[innermost] = !extent.is_known() || extent.value() >= positions ? positions
                                   : extent.value() > 0 ? static_cast<std::int32_t>(extent.value())
                                                        : 1;
    } else if (!one_tile) {
      return false;
    }
    for (fusion_group& stage : j.stages) keep_cut(stage.reach, last.tile);
    for (std::size_t i = 0; i < handed.count; ++i) {
      keep_cut(handed.items[i], last.tile);
      if (!add_layout(j, handed.items[i], last.tile)) return false;
    }
    return true;
  }
  // In the order that has been chosen for it, as much of each axis as a tile needs; with a border where that is all.
  constexpr bool add_layout(joint& j, const vector<tile_reach>& needed, const vector<std::int32_t>& positions) {
    constexpr std::int64_t most = 65'535;
    const value_id v = j.between.items[j.tile_layouts.count];
    if (j.keeps()) {
      j.tile_layouts.push_back(s_.layouts.items[v]);
      return true;
    }
    const shape& dims = g_.at(v).type.dims;
    buffer_layout l;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const buffer_layout& chosen = s_.layouts.items[v];
      const tile_reach& r = needed.items[d];
      l.order.push_back(chosen.order[d]);
      l.before.push_back(r.is_whole() ? chosen.before[d] : std::uint8_t{0});
      l.after.push_back(r.is_whole() ? chosen.after[d] : std::uint8_t{0});
      const std::int64_t n = r.is_whole() ? 0 : r.count(positions.items[r.of]);
      if (n > most) return false;
      l.part.push_back(static_cast<std::uint16_t>(n));
    }
    j.tile_layouts.push_back(l);
    return true;
  }

  // --- what comes of it
  // What is said of a chain that is not taken is said of its first two stages: without the first, it is a chain of its
  // own, which was considered as well. Of all chains that begin with two stages that are not joined, one is spoken of:
  // the one that would gain most; of equal gains the first, which has no other stages.
  constexpr bool speaks_for_others(std::size_t i) const {
    const considered_chain& c = considered_.items[i];
    const std::size_t first = c.groups.items[0], second = c.groups.items[1];
    if (are_joined(first, second)) return false;
    for (std::size_t k = 0; k < considered_.count; ++k) {
      const considered_chain& other = considered_.items[k];
      if (other.groups.items[0] != first || other.groups.items[1] != second) continue;
      if (other.made.gain() > c.made.gain() || (k < i && !(other.made.gain() < c.made.gain()))) return false;
    }
    return true;
  }
  constexpr void note(const considered_chain& c) {
    const joint& j = c.made;
    const bool is_taken = c.is_taken;
    std::string_view reason = j.refused;
    if (is_taken && j.keeps()) reason = "what one hands to the other is stored for others, and not read again";
    else if (is_taken && is_one_tile(j)) reason = "what one hands to the other stays with the kernel";
    else if (is_taken) reason = "what one hands to the other stays with the worker, tile by tile";
    else if (reason.empty()) reason = "other stages gain more";
    for (std::size_t i = 0; i + 1 < (is_taken ? c.groups.count : 2); ++i) {
      decision d{name_of_joining, is_taken ? "stages of one kernel" : "kernels of their own", reason};
      d.first = j.stages.items[i].anchor;
      d.second = j.stages.items[i + 1].anchor;
      d.value = j.between.items[i];
      d.applied = is_taken;
      d.rule = j.rule;
      if (!j.rule.empty()) d.meaning = words_of(fusion_reason::rule).meaning;
      if (j.cycles > 0) s_.notes().add(d, {{"one kernel", "cycles", j.cycles}, {"one by one", "cycles", j.apart}});
      else if (j.apart > 0) s_.notes().add(d, {{"one by one", "cycles", j.apart}});
      else s_.notes().add(d);
    }
  }

  static constexpr bool is_one_tile(const joint& j) {
    for (std::int32_t positions : j.stages.back().tile)
      if (positions != 0) return false;
    return true;
  }

  // Stages run where the last of them did: nobody else waits for what the others compute. Where others do, they run
  // where the first did.
  constexpr void apply() {
    vector<std::int32_t> joint_of(groups_.count, none);
    for (std::size_t i = 0; i < joins_.count; ++i)
      joint_of.items[joins_.items[i].made.keeps() ? joins_.items[i].groups.items[0] : joins_.items[i].groups.back()] =
          static_cast<std::int32_t>(i);
    vector<fusion_group> groups;
    groups.reserve(groups_.count);
    for (std::size_t k = 0; k < groups_.count; ++k) {
      if (joint_of.items[k] == none) {
        if (taken_.items[k] == 0) groups.push_back(static_cast<fusion_group&&>(groups_.items[k]));
        continue;
      }
      joint& j = joins_.items[joint_of.items[k]].made;
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
  const target_facts facts_;
  const tuned_table tuned_;
  vector<std::uint8_t> stored_, setup_;
  vector<std::int32_t> kernel_of_;  // of values: the group that stores it
  vector<std::uint32_t> readers_;   // of values: groups that read it
  vector<std::uint8_t> taken_;      // groups that are a stage already
  guard_sets guards_;
  structural_equality equality_;
  layout_costs singles_;
  plan_draft trial_;
  stage_wishes wishes_;
  stage_objections objections_;
  vector<known_joint> known_;
  vector<considered_chain> considered_, joins_;
};

}  // namespace detail

namespace passes {

struct join_stages {
  static constexpr std::string_view name = detail::name_of_joining;

  // Where no kernels are chosen, or none of several stages, all stay as they are. A target whose kernels are made in
  // another way than by choosing families may say which families stages are joined for (opencl/target.hpp).
  template <class Target> static constexpr void run(schedule& s) {
    if constexpr (requires { Target::facts; }) {
      if (s.families) join(s, *s.families, Target::facts, s.families.tuned());
    } else if constexpr (requires { Target::joins::facts; }) {
      join(s, Target::joins::families.table, Target::joins::facts, {});
    }
  }

 private:
  static constexpr void join(schedule& s, std::span<const kernel_family> families, target_facts facts,
                             tuned_table tuned) {
    if (s.fusion.groups.empty()) return;
    if (s.layouts.empty()) s.layouts = row_major_layouts(s.g);  // no pass has chosen any
    detail::stage_joining(s, families, facts, tuned).run();
  }
};

}  // namespace passes

}  // namespace dnnkit
