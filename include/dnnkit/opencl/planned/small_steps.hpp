// SPDX-License-Identifier: MIT
// Short steps and those beside them, one after the other in one OpenCL kernel, planned only: what squeezes and excites
// channels (Hu et al., Squeeze-and-Excitation Networks, section 3), heads of classifiers, a normalisation behind the
// product whose results it waits for.
//
// All work-groups share each stage. A group takes its number from a counter when it begins, and waits for results of
// groups with lower numbers alone, which have begun before (Merrill and Garland, Single-pass Parallel Prefix Scan with
// Decoupled Look-back, section 4), so that it does not matter how many groups a device holds at once. The kernel has
// registers and local memory for the largest of its stages, so that products of different shapes are slower in it
// (gpu_facts::mixed_tiles): of two products, only what is short gains more from the launch that is saved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/opencl/planned/stage_chain.hpp"

namespace dnnkit::opencl::planned {

struct small_steps {
  static constexpr std::string_view name = "small_steps";

  static constexpr tile_wish joins(std::span<const plan::operator_tag> anchors, const gpu_facts& facts) {
    if (anchors.size() < 2) return {};
    for (const plan::operator_tag& a : anchors)
      if (a.kind == form::whole) return {};
    return {.positions = 1, .most_bytes = static_cast<double>(facts.l2_bytes) / 8, .one_tile = true};
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    const stage_chain chain(spec);
    if (chain.positions() != 0) return no_match{"tiles are some positions, and each stage is to be shared as a whole"};
    std::size_t products = 0;
    for (std::size_t i = 0; i < chain.size(); ++i) products += chain[i].multiplies() ? 1 : 0;
    gpu_kernel_time t(facts);
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const gpu_stage stage = chain[i];
      gpu_work w = stage.work(facts);
      if (i + 1 < chain.size()) {
        w.near += 2 * stage.result_bytes();
        t.add_handover();
      }
      t.add(w, products > 1 && stage.multiplies() ? facts.mixed_tiles : 1);
    }
    return choice_of(t, "launches are saved; groups wait for results of those with lower numbers");
  }
};

}  // namespace dnnkit::opencl::planned
