// SPDX-License-Identifier: MIT
// Pass: where the coordinates of each stored value lie (SmartMem, sections 3.2.2 and 3.3: a producer writes
// contiguously what its reader reduces over). Values whose kernels all wish for the same are stored so
// (pass/layout_space.hpp): channels last, where convolutions whose channels fill vectors read and write them, else
// row-major. For the others, of which several orders are in question, and for all in a small graph, the families of
// kernels are asked what each kernel would take - where there are none, an estimate stands for them
// (pass/layout_estimates.hpp) - and the orders, and copies in a second order, are taken that make the sum of all least
// (pass/layout_problem.hpp). A value that a convolution reads as it is carries a halo as wide as the padding. Inputs
// and outputs of the graph stay row-major. Target says whether it gains from any of this, how many lanes a vector has,
// and how many dimensions its memory keeps contiguous (cost/target.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/cost/target_facts.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/concat.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/pass/layout_costs.hpp"
#include "dnnkit/pass/layout_estimates.hpp"
#include "dnnkit/pass/layout_problem.hpp"
#include "dnnkit/pass/layout_space.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/pass/second_layouts.hpp"

namespace dnnkit {

namespace detail {

inline constexpr std::string_view name_of_layout_selection = "select layouts";

// The facts of a target, or those of a processor that nothing is known of.
template <class Target> inline constexpr cpu_facts typical_facts{.float_lanes = static_cast<int>(Target::float_lanes)};
template <class Target> constexpr target_facts facts_or_typical() {
  if constexpr (requires { Target::facts; }) return Target::facts;
  else return typical_facts<Target>;
}

// The halos that convolutions wish for.
class halos {
 public:
  constexpr halos(const graph& g, const layout_space& space) : g_(g), space_(space) {}

  // Makes room for what a convolution reads beyond its input. Returns how much that is, on all sides together.
  constexpr std::int64_t add(node_id reader, vector<buffer_layout>& layouts) const {
    const node& anchor = g_.node_at(reader);
    if (!g_.is<op::conv>(anchor)) return 0;  // others may have no operand 0
    const value_id x = all_channels_of(g_.input_of(anchor, 0));
    if (!space_.is_free(x)) return 0;
    const shape& weight = g_.at(g_.input_of(anchor, 1)).type.dims;
    const window w = g_.as<op::conv>(anchor).over([&](std::size_t i) { return weight[i].value(); }, weight.size() - 2);
    buffer_layout& l = layouts.items[x];
    std::int64_t pads = 0;
    for (std::size_t i = 0; i + 2 < weight.size(); ++i) {
      widen(l.before[i + 2], w.pad_begin(i));
      widen(l.after[i + 2], w.pad_end(i));
      pads += w.pad_begin(i) + w.pad_end(i);
    }
    return pads;
  }
  // The value that v is some of the channels of, or v: where it lies decides where these do.
  constexpr value_id all_channels_of(value_id v) const {
    for (node_id p = g_.at(v).producer; p != none && g_.is<op::slice>(g_.node_at(p)); p = g_.at(v).producer) {
      const value_id whole = g_.input_of(g_.node_at(p), 0);
      const shape &of_part = g_.at(v).type.dims, &of_whole = g_.at(whole).type.dims;
      for (std::size_t d = 0; d < of_whole.size(); ++d)
        if (d != 1 && !(of_part[d] == of_whole[d])) return v;
      v = whole;
    }
    return v;
  }

 private:
  static constexpr void widen(std::uint8_t& border, std::int64_t pad) {
    constexpr std::int64_t widest = 255;  // a wider border is made in scratch memory
    const std::int64_t width = pad < widest ? pad : widest;
    if (border < width) border = static_cast<std::uint8_t>(width);
  }

  const graph& g_;
  const layout_space& space_;
};

// The orders that the values of a space have without a search, and the halos.
constexpr vector<buffer_layout> first_layouts(const graph& g, const fusion_plan& fusion, const layout_space& space) {
  vector<buffer_layout> layouts = row_major_layouts(g);
  for (std::size_t v = 0; v < g.values.count; ++v)
    if (space.is_free(static_cast<value_id>(v))) layouts.items[v].order = space.order.items[v];
  const halos wide(g, space);
  for (const fusion_group& group : fusion.groups)
    if (group.anchor != none && !group.setup) wide.add(group.anchor, layouts);
  return layouts;
}

// What a group takes with the layouts as they are now.
template <class Target> class group_prices {
 public:
  constexpr group_prices(graph& g, const fusion_plan& fusion, const layout_space& space,
                         const vector<buffer_layout>& layouts, const family_table& families)
      : g_(g),
        groups_(fusion.groups),
        space_(space),
        layouts_(layouts),
        asks_(families.has_value() && has_facts),
        asked_(g, fusion, layouts, asks_ ? *families : std::span<const kernel_family>(), facts_or_typical<Target>()),
        estimated_(g, fusion, space, layouts, Target::float_lanes, contiguous_dimensions_of<Target>()) {}

  constexpr double operator()(std::size_t k) {
    if (!asks_) return estimated_.cycles(k);
    if (is_none(k)) return 0;
    const double cycles = asked_.cycles_now(groups_.items[k]);
    return cycles == 0 ? layout_problem::no_kernel : cycles;
  }

 private:
  static constexpr bool has_facts = requires { Target::facts; };

  // A Concat whose parts lie as it does needs no kernel: theirs write into it (pass/place_parts.hpp).
  constexpr bool is_none(std::size_t k) const {
    const fusion_group& group = groups_.items[k];
    if (group.anchor == none || !g_.is<op::concat>(g_.node_at(group.anchor))) return false;
    const node& joins = g_.node_at(group.anchor);
    if (group.outputs.count != 1 || group.outputs.items[0] != joins.output || is_output(g_, joins.output)) return false;
    for (std::size_t i = 0; i < joins.inputs.count; ++i) {
      const value_id v = g_.input_of(joins, i);
      if (!space_.is_free(v) || contains(group, g_.at(v).producer)) return false;
      for (std::size_t level = 0; level < layouts_.items[v].order.size(); ++level)
        if (layouts_.items[v].order[level] != layouts_.items[joins.output].order[level]) return false;
    }
    return true;
  }

  graph& g_;
  const vector<fusion_group>& groups_;
  const layout_space& space_;
  const vector<buffer_layout>& layouts_;
  const bool asks_;
  layout_costs asked_;
  layout_estimates estimated_;
};

template <class Target> class layout_selection {
 public:
  constexpr layout_selection(schedule& s, contest which)
      : s_(s), space_(s.g, s.fusion, Target::float_lanes, contiguous_dimensions_of<Target>(), which) {}

  constexpr void run() {
    s_.layouts = first_layouts(s_.g, s_.fusion, space_);
    const decision_notes notes = s_.notes();
    if (notes.wanted()) note_halos(notes);
    if (space_.contested() == 0) {
      if (notes.wanted()) note_uncontested(notes);
      return;
    }
    layout_problem problem(s_.g, s_.fusion, space_, s_.layouts, facts_or_typical<Target>());
    group_prices<Target> prices(s_.g, s_.fusion, space_, s_.layouts, s_.families);
    problem.pose(prices);
    problem.solve();
    if (notes.wanted()) note_uncontested(notes), note_contested(notes, problem);
    const vector<second_layout> copies = problem.copies();
    if (copies.empty()) return;
    second_layouts seconds(s_, space_.stored);
    for (const second_layout& copy : copies) seconds.add(copy);
    seconds.finish();
  }

 private:
  constexpr void note_halos(const decision_notes& notes) const {
    vector<buffer_layout> layouts = row_major_layouts(s_.g);
    const halos wide(s_.g, space_);
    for (const fusion_group& group : s_.fusion.groups) {
      if (group.anchor == none || group.setup || wide.add(group.anchor, layouts) == 0) continue;
      decision d{name_of_layout_selection, "halo", "a convolution reads it padded"};
      d.second = group.anchor;
      d.value = wide.all_channels_of(s_.g.input_of(s_.g.node_at(group.anchor), 0));
      notes.add(d);
    }
  }
  // Why the coordinates of values that no costs were asked of lie as they do.
  constexpr void note_uncontested(const decision_notes& notes) const {
    for (const fusion_group& group : s_.fusion.groups)
      for (value_id v : group.outputs) {
        if (group.setup || space_.is_contested(v)) continue;
        decision d{name_of_layout_selection, name_of(s_.layouts.items[v].order), {}};
        if (is_output(s_.g, v)) d.reason = "the caller's memory is row-major";
        else if (space_.has_wishes(v)) d.reason = "all kernels that read or write it are best at it so";
        else if (space_.has_channels(v)) d.reason = "what it is computed from lies so";
        else d.reason = "no kernel reads or writes it better otherwise";
        d.value = v;
        notes.add(d);
      }
  }
  // The costs of each order that was in question.
  constexpr void note_contested(const decision_notes& notes, const layout_problem& problem) const {
    for (std::size_t i = 0; i < space_.contested(); ++i) {
      decision d{name_of_layout_selection, {}, {}};
      d.value = space_.contested_value(i);
      vector<plan::compared_cost> costs;
      bool twice = false, least = true;
      double chosen = 0;
      problem.for_each_choice(i, [&](const storage_order& order, bool is_stored_twice, double cycles, bool is_chosen) {
        costs.push_back({is_stored_twice ? "and a copy in a second order" : name_of(order), "cycles", cycles});
        if (!is_chosen) return;
        d.verdict = name_of(order);
        twice = is_stored_twice;
        chosen = cycles;
      });
      for (const plan::compared_cost& c : costs) least = least && chosen <= c.amount;
      d.reason = twice   ? "and copied into a second order, which some of its readers read in less time"
                 : least ? "its kernels take least time so"
                         : "its kernels and those beside them take least time so";
      notes.add(d, costs);
    }
  }

  schedule& s_;
  layout_space space_;
};

}  // namespace detail

namespace passes {

struct select_layouts {
  static constexpr std::string_view name = detail::name_of_layout_selection;
  template <class Target> static constexpr void run(schedule& s) { run<Target>(s, detail::contest::all_of_few); }
  template <class Target> static constexpr void run(schedule& s, detail::contest which) {
    if (s.has_stages()) return s.come_too_late(name, "stages of kernels");
    if constexpr (Target::channels_last) detail::layout_selection<Target>(s, which).run();
    else s.layouts = row_major_layouts(s.g);
  }
};

// The same, asking for costs where rules say so in small graphs, too.
struct select_layouts_by_rules {
  static constexpr std::string_view name = detail::name_of_layout_selection;
  template <class Target> static constexpr void run(schedule& s) {
    select_layouts::run<Target>(s, detail::contest::by_rules);
  }
};

// The same, asking for costs of every value's orders, of however many: no rule decides which are not asked for. In the
// compiler that takes some hundredths of a second for each combination of orders of each kernel that is not like
// another.
struct select_layouts_everywhere {
  static constexpr std::string_view name = detail::name_of_layout_selection;
  template <class Target> static constexpr void run(schedule& s) {
    select_layouts::run<Target>(s, detail::contest::all);
  }
};

}  // namespace passes

}  // namespace dnnkit
