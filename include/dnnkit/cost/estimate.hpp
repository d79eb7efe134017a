// SPDX-License-Identifier: MIT
// How long a kernel is expected to take on one core: arithmetic and the way of its operands through the caches, of
// which the longer counts, since cores do both at once (the roofline model of Williams, Waterman and Patterson). It
// compares families of kernels with each other; it is not fitted to a machine.
#pragma once

#include "dnnkit/cost/target.hpp"

namespace dnnkit {

// What a kernel does in one run.
struct kernel_work {
  double vectors = 0;    // vector operations, a multiply-add being one
  double scattered = 0;  // elements that leave a vector one by one
  double gathered = 0;   // elements that are put into vectors, or into scratch memory, one by one
  double evaluated = 0;  // elements that an operator's definition computes or reads on its own
  double bytes = 0;      // of operands and results, each once
  double staged = 0;     // bytes that are written to scratch memory and read again
};

struct kernel_cost {
  double arithmetic = 0;  // cycles in which units for arithmetic work
  double bytes = 0;       // that pass between the caches and the registers: operands, results, scratch memory
  double cycles = 0;      // in all; families are compared by it

  friend constexpr bool operator==(const kernel_cost&, const kernel_cost&) = default;
};

// Bytes a cycle from the smallest memory that holds so many.
// @post not increasing in `bytes`
constexpr double bytes_a_cycle(const cpu_facts& facts, double bytes) {
  if (bytes <= static_cast<double>(facts.l1_bytes)) return facts.l1_width;
  if (bytes <= static_cast<double>(facts.l2_bytes)) return facts.l2_width;
  return bytes <= static_cast<double>(facts.l3_bytes) ? facts.l3_width : facts.memory_width;
}

// @post cycles >= arithmetic, and neither falls where the work grows
constexpr kernel_cost estimate(const cpu_facts& facts, const kernel_work& work) {
  constexpr double start_up = 100, a_store = 1.5, a_load = 2.5, a_definition = 4;  // cycles
  kernel_cost c;
  c.arithmetic = work.vectors / facts.multiply_adds + work.scattered * a_store + work.gathered * a_load +
                 work.evaluated * a_definition;
  c.bytes = work.bytes + 2 * work.staged;
  const double moving =
      work.bytes / bytes_a_cycle(facts, work.bytes) + 2 * work.staged / bytes_a_cycle(facts, work.staged);
  c.cycles = start_up + (c.arithmetic > moving ? c.arithmetic : moving);
  return c;
}

}  // namespace dnnkit
