// SPDX-License-Identifier: MIT
// The choices of kernels that compute their output an element, or a vector of elements, at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu {

// Vectors along `along`, or single elements; `operations` on each of `elements` for the anchor, the element-wise nodes
// besides.
constexpr kernel_choice element_choice(const kernel_spec& spec, const cpu_facts& facts, std::size_t along,
                                       bool in_vectors, double elements, double operations, std::string_view reason) {
  kernel_choice c;
  if (spec.inputs() > 0) c.operands = {operand_reading::evaluated};
  c.tile.along = static_cast<std::int8_t>(along);
  if (in_vectors) c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
  const double all = elements * operations + spec.elements() * static_cast<double>(spec.nodes() + spec.outputs());
  kernel_work work;
  if (in_vectors) {
    work.vectors = all / facts.float_lanes;
    work.scattered = scattered(spec, along);
  } else {
    work.evaluated = all;
  }
  work.bytes = spec.bytes();
  c.cost = estimate(facts, work);
  c.reason = reason;
  return c;
}

}  // namespace dnnkit::cpu
