// SPDX-License-Identifier: MIT
// What a GPU's facts make of a network: families of OpenCL kernels that plans count on, and targets with such facts.
//
// Planned only. The kernels that targets::opencl runs are those of opencl/kernels.hpp, of which attention
// (opencl/attention_family.hpp) and normalised rows with their product (opencl/normalised_family.hpp) have several
// stages; these families say what kernels with register tiles and local memory would cost, so that passes can be asked
// what plan a target with launches of some microseconds would get: `dnnkit explain --target opencl`. Nothing is
// compiled from such a plan.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "dnnkit/opencl/planned/attention.hpp"
#include "dnnkit/opencl/planned/image_tiles.hpp"
#include "dnnkit/opencl/planned/kernels.hpp"
#include "dnnkit/opencl/planned/normalised.hpp"
#include "dnnkit/opencl/planned/small_steps.hpp"
#include "dnnkit/pass/pipeline.hpp"

namespace dnnkit {

namespace opencl {

inline constexpr auto planned_families =
    family_list<planned::register_tiles, planned::channel_windows, planned::group_rows, planned::work_items,
                planned::one_group, planned::attention, planned::normalised_operand, planned::normalised_result,
                planned::product_pair, planned::image_tiles, planned::small_steps>{};

}  // namespace opencl

namespace targets {

// Activations are stored channels last, as register tiles read them, with borders in place of tests.
template <const gpu_facts& Facts> struct planned_opencl {
  static constexpr bool channels_last = true;
  static constexpr std::int64_t float_lanes = 1;  // a work-item computes with elements
  static constexpr gpu_facts facts = Facts;
};

}  // namespace targets

namespace opencl {

// The plan of a graph for a device, and its log, by all passes but those named in `left_out`; its error says why there
// is none.
template <const gpu_facts& Facts = devices::h200, class Pipeline = default_pipeline>
constexpr plan::plan_draft planned_for(graph g, std::span<const std::string_view> left_out = {}) {
  return Pipeline::template run_logged<targets::planned_opencl<Facts>>(std::move(g), planned_families.table, left_out)
      .plan;
}

}  // namespace opencl

}  // namespace dnnkit
