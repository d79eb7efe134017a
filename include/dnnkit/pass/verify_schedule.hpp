// SPDX-License-Identifier: MIT
// The specification of a legal schedule, as far as passes have come. Every pass may rely on it and must keep it; tests
// call verify() between passes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/pass_promises.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/plan/verify_plan.hpp"

namespace dnnkit {

namespace detail {

// Every live node that computes is in a kernel, each kernel finds its operands stored by an earlier one, every output
// of the graph is stored once, and what stages hand to each other is read by stages of the same kernel alone. Empty
// when all is well, else what is wrong.
inline text fusion_error(const graph& g, const fusion_plan& fusion) {
  const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  std::vector<std::size_t> handed(g.values.size(), 0);  // 1 + the number of the kernel whose stage computes it
  std::size_t kernel = 1;
  std::vector<bool> stored(g.values.size(), false), covered(g.nodes.size(), false);
  for (std::size_t v = 0; v < g.values.size(); ++v) stored[v] = g.values[v].from != origin::node;
  for (const fusion_group& group : fusion.groups) {
    const std::set<node_id> members(group.nodes.begin(), group.nodes.end());
    const auto wrong = [&](std::string_view problem) {
      text t(problem);
      return t << " (kernel of " << g.text_of(g.node_at(group.nodes.back()).name) << ")";
    };
    if (group.nodes.empty() || group.outputs.empty()) return text("a kernel without nodes or without outputs");
    std::size_t anchors = 0;
    for (node_id n : group.nodes) {
      covered[at(n)] = true;
      const form kind = g.node_at(n).op->kind;
      anchors += kind != form::elementwise && kind != form::movement;
      for (std::size_t i = 0; i < g.node_at(n).inputs.count; ++i) {
        value_id v = g.input_of(g.node_at(n), i);
        // a movement operator that is nowhere stored is looked through
        while (v != none && !stored[at(v)] && !members.contains(g.at(v).producer) &&
               g.node_at(g.at(v).producer).op->kind == form::movement)
          v = g.input_of(g.node_at(g.at(v).producer), 0);
        if (v != none && !stored[at(v)] && !members.contains(g.at(v).producer))
          return wrong("an operand that is not stored yet");
        if (v != none && handed[at(v)] != 0 && handed[at(v)] != kernel && !members.contains(g.at(v).producer))
          return wrong("an operand that is tile storage of another kernel");
      }
    }
    const bool is_stage = group.goes_on || !group.reach.empty();
    if (is_stage && group.anchor == none) return wrong("a stage without an anchor");
    if (is_stage && group.reach.size() != g.at(g.node_at(group.anchor).output).type.dims.size())
      return wrong("a stage that does not say of each axis what tiles need");
    if (is_stage && group.goes_on != group.tile.empty()) return wrong("tiles of a stage that is not the last");
    if (group.goes_on && (group.outputs.size() != 1 || group.setup || is_output(g, group.outputs[0])))
      return wrong("a stage that hands over more or less than one value");
    if (group.keeps && (!group.goes_on || !std::ranges::all_of(group.reach, &plan::tile_reach::is_whole)))
      return wrong("a stage that stores what it hands over tile by tile, or hands over nothing");
    if (anchors > 1) return wrong("two anchors in a kernel");
    for (value_id v : group.outputs) {
      if (!members.contains(g.at(v).producer)) return wrong("an output that is not computed");
      if (stored[at(v)]) return wrong("a value that is stored twice");
      stored[at(v)] = true;
      if (group.goes_on && !group.keeps) handed[at(v)] = kernel;
    }
    if (!group.goes_on) ++kernel;
  }
  if (!fusion.groups.empty() && fusion.groups.back().goes_on) return text("a kernel without its last stage");
  const auto alive = live_nodes(g);
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    if (alive[n] != 0 && !covered[n] && g.nodes[n].op->kind != form::movement)
      return text("no kernel computes ") << g.text_of(g.nodes[n].name);
  for (value_id v : g.outputs)
    if (!stored[at(v)]) return text("an output of the graph is not stored");
  return {};
}

// Every recipe has a kernel of a family of the list, of those that were asked about it the cheapest; and so has every
// earlier stage, of the same family.
inline text choices_error(const plan_draft& plan, std::span<const kernel_family> families) {
  if (plan.choices.size() != plan.recipes.size() + plan.stages.size()) return "not one choice a recipe and stage";
  for (std::size_t r = 0; r < plan.recipes.size(); ++r) {
    const kernel_choice& c = plan.choices[r];
    if (c.number >= families.size() || families[c.number].name != c.family)
      return text("a kernel of a family that is not in the list, ") << c.family;
    for (const kernel_alternative& a : plan.part<kernel_alternative>(plan.alternatives, c.alternatives))
      if (a.matches && a.cost.cycles < c.cost.cycles)
        return text("a kernel of ") << c.family << ", which takes longer than one of " << a.family;
    for (std::size_t i = 0; i + 1 < plan.stages_of(plan.recipes[r]); ++i)
      if (plan.choices[plan.number_of_stage(r, i)].number != c.number)
        return text("a stage of another family than its kernel's, ") << c.family;
  }
  return {};
}

}  // namespace detail

// Empty when the graph is legal (graph/verify.hpp), and so are its kernels, layouts, plan and choices where there are
// any yet; else what is wrong. `symbols`: see verify() of a plan.
[[nodiscard]] inline text verify(const schedule& s, std::span<const std::int64_t> symbols = {}) {
  if (text wrong = verify(s.g); !wrong.empty()) return wrong;
  if (!s.fusion.groups.empty())
    if (text wrong = detail::fusion_error(s.g, s.fusion); !wrong.empty()) return wrong;
  if (!s.layouts.empty())
    if (text wrong = detail::layouts_error(s.g, s.fusion, s.layouts); !wrong.empty()) return wrong;
  if (s.families && !s.plan.choices.empty())
    if (text wrong = detail::choices_error(s.plan, *s.families); !wrong.empty()) return wrong;
  return s.plan.buffers.empty() ? text() : verify(plan::view_of(s.plan), symbols);
}

}  // namespace dnnkit
