// SPDX-License-Identifier: MIT
// The kernel of a group without an anchor: element-wise operators and movement, row by row along the contiguous axis.
#pragma once

#include <string_view>

#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/loop.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct elementwise_map {
  static constexpr std::string_view name = "elementwise_map";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == operator_id::none; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    const std::size_t along = lane_axis(spec);
    if (!spec.is_setup() && spec.rank() > 0 && maps_bytes(spec, along))
      return element_choice(spec, facts_of_bytes(facts), along, true, {}, "rows in vectors of bytes");
    if (!spec.is_setup() && spec.rank() > 0 && has_vectors(spec))
      return element_choice(spec, facts, along, true, {}, "rows in vectors");
    kernel_choice c =
        element_choice(spec, facts, along, false, {}, "rows element by element: it runs once, or there are no vectors");
    c.left_to_compiler = !spec.is_setup() && is_left_to_compilers(spec, along);
    if (c.left_to_compiler) c.reason = "rows element by element, of which compilers make vectors";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  static constexpr bool is_left_to_compilers(const kernel_spec& spec, std::size_t along) {
    bool all = outputs_lie_in_rows(spec, along);
    for (std::size_t o = 0; o < spec.outputs(); ++o)
      all = all && cpu::is_left_to_compilers(spec, spec.output(o).value, along);
    return all;
  }
  // Is anything loaded, computed or stored in vectors?
  static constexpr bool has_vectors(const kernel_spec& spec) {
    bool any = false;
    for (std::size_t o = 0; o < spec.outputs(); ++o)
      spec.all_in_tree(spec.output(o).value, [&](operand_ref x) {
        const dtype t = spec.type_of(x);
        any = any || (x.from == source::node ? computes_in_vectors(spec, x)
                                             : is_computed_in_f32(t) || (is_wide(t) && spec.nodes() == 0));
        return !any;
      });
    return any;
  }
};

template <class Net, std::size_t R> struct elementwise_map::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr std::size_t along = access::choice.tile.along;
  static constexpr int width = access::choice.tile.lanes;

  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, along); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const index_t extent = access::rank == 0 ? 1 : access::bound(access::space(along), call);
    for (index_t row = first; row < last; ++row) {
      coordinates c = row_coordinates<Net, R>(call, along, row);
      for_lanes<width, along>(c, extent, [&](auto n) { values::template finish<width, along>(call, c, n, 0); });
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
