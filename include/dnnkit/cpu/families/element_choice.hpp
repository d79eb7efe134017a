// SPDX-License-Identifier: MIT
// The choices of kernels that compute their output an element, or a vector of elements, at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu {

// Rows along one axis of an iteration space, and the vectors that they take, the last of a row being a part of one.
struct vector_rows {
  double rows = 0, vectors = 0;
};
constexpr vector_rows rows_along(const cpu_facts& facts, double elements, double extent, bool in_vectors) {
  const double rows = elements / extent;
  return {rows, in_vectors ? rows * vectors_of(facts, extent) : elements};
}
constexpr vector_rows rows_along(const kernel_spec& spec, const cpu_facts& facts, std::size_t along, bool in_vectors) {
  return rows_along(facts, spec.elements(), static_cast<double>(known_or_typical(spec.space(along))), in_vectors);
}

// Vectors along `along`, or single elements; `anchor`: what the anchor takes, the trees above it included. The
// element-wise nodes behind it, stores and what operands take on their way come on top.
constexpr kernel_choice element_choice(const kernel_spec& spec, const cpu_facts& facts, std::size_t along,
                                       bool in_vectors, kernel_work anchor, std::string_view reason) {
  kernel_choice c;
  if (spec.inputs() > 0) c.operands = {operand_reading::evaluated};
  c.tile.along = static_cast<std::int8_t>(along);
  if (in_vectors) c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
  const vector_rows pieces = rows_along(spec, facts, along, in_vectors);
  anchor.cycles += pieces.vectors * tree_cost(spec, facts, along, c.tile.lanes).outputs();
  anchor.starts += pieces.rows * facts.costs.row;
  anchor.traffic = traffic_of(spec, facts);
  c.cost = estimate(facts, anchor);
  c.reason = reason;
  return c;
}

}  // namespace dnnkit::cpu
