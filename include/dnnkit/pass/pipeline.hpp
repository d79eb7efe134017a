// SPDX-License-Identifier: MIT
// The list of passes, in order, with the reason for each place; nothing else calls a pass.
#pragma once

#include "dnnkit/cost/target.hpp"
#include "dnnkit/pass/expand_composites.hpp"
#include "dnnkit/pass/fold_into_convolution.hpp"
#include "dnnkit/pass/lower_transposed_convolution.hpp"
#include "dnnkit/pass/plan_fusion.hpp"
#include "dnnkit/pass/plan_strips.hpp"
#include "dnnkit/pass/select_layouts.hpp"
#include "dnnkit/pass/separate_outputs.hpp"
#include "dnnkit/plan/make_plan.hpp"

namespace dnnkit {

// Passes from graph to graph, run in order.
template <class... Passes> struct rewrites {
  static constexpr graph run(graph g) {
    ((g.error.empty() ? void(g = Passes::run(static_cast<graph&&>(g))) : void()), ...);
    return g;
  }
};

// Layouts<Target> chooses for a target, by default that of the compiler's flags.
template <class Rewrites, class Fusion, template <class> class Layouts, class Target = unit_target> struct pipeline {
  using rewriting = Rewrites;
  using fusion = Fusion;
  using layouts = Layouts<Target>;
  using target = Target;

  // All passes: a graph as it was built, to its plan. `g` is left as the passes left it. A graph with an error gives an
  // empty plan with that error.
  static constexpr plan_draft run(graph& g) {
    if (g.error.empty()) g = Rewrites::run(static_cast<graph&&>(g));
    if (g.error.empty()) refuse_unknown_extents(g);
    if (!g.error.empty()) {
      plan_draft p;
      p.error = g.error;
      return p;
    }
    const fusion_plan groups = Fusion::run(g);
    vector<buffer_layout> order = layouts::run(g, groups);
    passes::plan_strips::run(g, groups, order);
    return make_plan(g, groups, order);
  }

 private:
  // A plan's buffers need extents that follow from the inputs' (SoD2's class edo has none).
  static constexpr void refuse_unknown_extents(graph& g) {
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node& n = g.nodes.items[k];
      if (!has_unknown(g.values.items[n.output].type.dims)) continue;
      g.error << n.op->name << " '" << g.text_of(n.name)
              << "': the extents of its output depend on the elements of its inputs; a compiled network has no room "
                 "for that, the reference evaluator does";
      return;
    }
  }
};

using default_rewrites =
    rewrites<passes::expand_composites,             // later passes see simple operators only
             passes::lower_transposed_convolution,  // so that all further passes know one kind of convolution
             passes::fold_into_convolution,         // before fusion, which would keep the scales
             passes::separate_outputs>;             // last: it also drops what no output depends on

// What compile<> uses unless told otherwise. Further fusion rules (see pass/plan_fusion.hpp) are asked in order.
template <class... Rules>
using pipeline_with_rules =
    pipeline<default_rewrites, passes::plan_fusion<passes::profile_rule, Rules...>, passes::select_layouts>;
using default_pipeline = pipeline_with_rules<>;

}  // namespace dnnkit
