// SPDX-License-Identifier: MIT
// Families of OpenCL kernels of one stage, as plans for a GPU's facts count on them. They say what a kernel costs and
// in what tiles it runs; no text is made from their choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/opencl/planned/stage_work.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::opencl::planned {

constexpr kernel_choice choice_of(const gpu_facts& facts, const gpu_work& work, std::string_view reason) {
  kernel_choice c;
  c.tile.lanes = static_cast<std::uint8_t>(facts.vector);
  c.cost = estimate(facts, work);
  c.reason = reason;
  return c;
}

// Matrix products and convolutions in register tiles, operands in local memory slice by slice. Parameters: rows and
// columns of a work-group's tile, and slices of the reduction, each for groups of its own, of which the last to arrive
// adds the sums up, so that there is no second kernel.
struct register_tiles {
  static constexpr std::string_view name = "register_tiles";
  static constexpr bool carries_out(const plan::operator_tag& anchor) {
    return gpu_stage::is_product(anchor) || gpu_stage::is_convolution(anchor);
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    const gpu_stage stage(spec);
    if (!stage.multiplies()) return no_match{"channels are not summed up"};
    const gpu_product_plan tiles = dnnkit::planned(facts, stage.product(facts));
    kernel_choice c =
        choice_of(facts, stage.work(facts),
                  tiles.slices > 1 ? "slices of the reduction fill the compute units; the last adds them up"
                                   : "work-groups of tiles, whose factors go through local memory");
    c.parameters = {tiles.tile->rows, tiles.tile->columns, tiles.slices};
    return c;
  }
};

// A window on each channel: a work-item an element.
struct channel_windows {
  static constexpr std::string_view name = "channel_windows";
  static constexpr bool carries_out(const plan::operator_tag& anchor) {
    return gpu_stage::is_convolution(anchor) || gpu_stage::is_pool(anchor);
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    const gpu_stage stage(spec);
    if (stage.multiplies()) return no_match{"a window sums up all channels of a group"};
    return choice_of(facts, stage.work(facts), "a work-item an element; neighbours find the window in the first cache");
  }
};

// Passes over rows: work-groups of rows, whose work-items merge their sums in local memory.
struct group_rows {
  static constexpr std::string_view name = "group_rows";
  static constexpr bool carries_out(const plan::operator_tag& anchor) { return gpu_stage::is_of_rows(anchor); }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    return choice_of(facts, gpu_stage(spec).work(facts), "a work-group a row, or several");
  }
};

// Element-wise operators, and operators of which a work-item computes an element from anywhere.
struct work_items {
  static constexpr std::string_view name = "work_items";
  static constexpr bool carries_out(const plan::operator_tag& anchor) {
    return anchor.id == operator_id::none || (anchor.kind == form::point && !register_tiles::carries_out(anchor) &&
                                              !channel_windows::carries_out(anchor));
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    return choice_of(facts, gpu_stage(spec).work(facts), "a work-item an element");
  }
};

// Operators that compute all elements at once.
struct one_group {
  static constexpr std::string_view name = "one_group";
  static constexpr bool carries_out(const plan::operator_tag& anchor) { return anchor.kind == form::whole; }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    kernel_choice c = choice_of(facts, gpu_stage(spec).work(facts), "its elements cannot be computed each on its own");
    c.tile.lanes = 1;
    return c;
  }
};

}  // namespace dnnkit::opencl::planned
