// SPDX-License-Identifier: MIT
// The part of fusion's constraint check that concerns index maps (SmartMem, section 3.2): no operator is computed again
// and again, and movement behind an anchor is undone in strided views, whatever the layouts of what the kernel stores
// and reads there.
#pragma once

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/pass/operand_walk.hpp"

namespace dnnkit::plan {

class operand_check : public operand_sink {
 public:
  struct operand {};

  constexpr explicit operand_check(graph& g) : operand_sink(g), g_(g) {}

  constexpr operand constant(value_id) { return {}; }
  constexpr operand anchor() { return {}; }
  constexpr operand load(value_id v, index_map m, std::int32_t) {
    require_view(v, m);
    return {};
  }
  constexpr operand computed(value_id, const node&, const vector<operand>&) { return {}; }
  // Some other kernel may store it, and then it is loaded.
  constexpr void passes(value_id v, index_map m) { require_view(v, m); }
  constexpr void input(value_id, operand) {}
  constexpr void output(value_id v, index_map m, operand) { require_view(v, m); }

 private:
  // Where a value's axes never follow each other in memory, as here, a map is a strided view only if it is one for
  // every layout.
  constexpr void require_view(value_id v, index_map m) {
    if (!maps.has_inverse(m)) return;
    view x;
    for (dim d : g_.at(v).type.dims) x.dims.push_back({axis{d, 1}});
    if (maps.apply(m, x) != index_maps::identity) refuse(fusion_reason::no_view);
  }

  graph& g_;
};

// Why these nodes (in topological order) cannot be one kernel; `nothing` when they can.
constexpr fusion_reason check_operands(graph& g, const vector<node_id>& members, node_id anchor,
                                       const vector<value_id>& outputs) {
  operand_check check(g);
  operand_walk(g, members, anchor, nullptr, check).run(outputs);
  return check.refused;
}

}  // namespace dnnkit::plan
