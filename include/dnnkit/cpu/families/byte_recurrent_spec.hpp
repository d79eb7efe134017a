// SPDX-License-Identifier: MIT
// What the family of recurrent layers of bytes knows of a specification: its extents, whether its weights are the same
// in every run, and what it is expected to take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cpu/families/recurrent_spec.hpp"
#include "dnnkit/cpu/micro/byte_gemm.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

class byte_recurrent_spec : public recurrent_spec {
 public:
  // The inputs of a layer, by number.
  enum number : std::size_t {
    of_steps,
    of_weight,
    of_recurrence,
    of_weight_scale,
    of_weight_zero,
    of_recurrence_scale,
    of_recurrence_zero,
    of_bias,
    of_lengths,
    of_state,
    of_cell,
    of_peepholes
  };

  constexpr explicit byte_recurrent_spec(const kernel_spec& spec) : recurrent_spec(spec) {}

  constexpr std::int64_t wide() const { return extent_of(of_weight, 1).value(); }
  constexpr std::int64_t units() const { return extent_of(of_recurrence, 1).value(); }

  // Why it is no product of panels and vectors; empty when it can be.
  constexpr std::string_view unfit() const { return recurrent_spec::unfit(of_weight, of_recurrence); }
  // Are all weights the same in every run?
  constexpr bool is_packed_once() const {
    for (std::size_t i = of_weight; i <= of_bias; ++i)
      if (has(i) && !is_setup(input(i))) return false;
    return !has(of_peepholes) || is_setup(input(of_peepholes));
  }

  // The widest panels of W, in vectors.
  constexpr int widest(const cpu_facts& facts) const { return byte_panel_vectors(facts, wide()); }

  constexpr kernel_cost cost(const cpu_facts& facts) const {
    const cost_coefficients& of = facts.costs;
    const auto length = static_cast<double>(known_or_typical(steps())),
               rows = static_cast<double>(known_or_typical(batch())), ways = static_cast<double>(directions()),
               h = static_cast<double>(units()), n = static_cast<double>(wide());
    const double blocks = vectors_of(facts, h), vectors = 4 * blocks;
    const tiled_cycles all_steps =
        cycles_of_bytes(facts, length * rows, vectors, 1, wide(), widest(facts), rows_collide(facts, wide()));
    const tiled_cycles one_step =
        cycles_of(facts,
                  {.rows = rows,
                   .vectors = vectors,
                   .depth = static_cast<double>((units() + bytes_a_step - 1) / bytes_a_step) * facts.products_of_bytes},
                  4);
    // sums become reals; states are read twice, for their range and as what becomes bytes
    const double of_block = cell_cycles(facts) + 4 * (2 * of.load + 3 * of.simple) + 2 * of.load + 8 * of.simple;
    const tree_cost tree(*this, facts, 2, facts.float_lanes);
    kernel_work work{
        .cycles = ways * (all_steps.arithmetic + length * (one_step.arithmetic + rows * blocks * of_block)) +
                  length * rows * vectors_of(facts, n) * (2 * tree.value(input(of_steps)) + of.store + 8 * of.simple),
        .starts = 2 * of.phase + ways * (all_steps.starts + length * one_step.starts) + 2 * length * rows * of.row,
        .traffic = traffic_of(*this, facts)};
    work.staged += length * rows * n;
    if (!is_packed_once()) work.gathered += elements_of(of_weight) + elements_of(of_recurrence);
    // Each step reads all recurrent weights; what the second cache keeps of them from the step before is read there.
    const double weights = static_cast<double>(sizeof(packed_byte)) * vectors * facts.float_lanes * h,
                 kept = static_cast<double>(facts.l2_bytes);
    work.staged += 16 * ways * length * rows * h;
    if (weights > kept) work.traffic.add_read(memory_level::l3, ways * (length - 1) * (weights - kept));
    return estimate(facts, work);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
