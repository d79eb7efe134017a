// SPDX-License-Identifier: MIT
// What it costs that one kernel stores what the next one reads, and what is saved where the two run in turns on a part
// of it at a time: passes that join kernels into stages ask here.
#pragma once

#include <cstdint>

#include "dnnkit/cost/estimate.hpp"

namespace dnnkit {

// Cycles in which so many bytes are written and read again, as a whole ...
// @post does not fall where bytes grow
constexpr double hand_over_cycles(const cpu_facts& facts, double bytes) {
  memory_traffic t;
  t.add_written(level_of(facts, bytes), bytes);
  t.add_read(level_of(facts, bytes), bytes);
  return t.cycles(facts);
}
// ... and what is saved of them where they pass through the second cache in parts; nothing where the whole fits it.
// @post in [0, hand_over_cycles(facts, bytes)]
constexpr double hand_over_gain(const cpu_facts& facts, double bytes) {
  memory_traffic near;
  near.add_written(memory_level::l2, bytes);
  near.add_read(memory_level::l2, bytes);
  const double gain = hand_over_cycles(facts, bytes) - near.cycles(facts);
  return gain > 0 ? gain : 0;
}

// Cycles that parts of `part` of `whole` rows cost more than the whole: kernels begin once a part, and weights that the
// second cache does not hold beside it come again.
constexpr double parts_cycles(const cpu_facts& facts, double whole, double part, double kernels, double weight_bytes) {
  const double parts = part < whole ? whole / part : 1;
  const bool stay = weight_bytes <= static_cast<double>(facts.l2_bytes) / 2;
  return (parts - 1) * (kernels * facts.costs.phase +
                        (stay ? 0 : weight_bytes / bytes_a_cycle(facts, level_of(facts, weight_bytes))));
}

// Rows of `row_bytes` that a part may have at most for half of the second cache to hold them; at least one.
constexpr std::int64_t rows_in_cache(const cpu_facts& facts, double row_bytes) {
  const double half = static_cast<double>(facts.l2_bytes) / 2;
  if (row_bytes <= 0 || row_bytes * static_cast<double>(INT32_MAX) < half) return INT32_MAX;
  const auto rows = static_cast<std::int64_t>(half / row_bytes);
  return rows < 1 ? 1 : rows;
}

}  // namespace dnnkit
