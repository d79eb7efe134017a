// SPDX-License-Identifier: MIT
// How long a kernel is expected to take on one core: what begins; then arithmetic or the way of its operands through
// the first two caches, of which the longer counts, since cores do both at once (the roofline model of Williams,
// Waterman and Patterson), and of the shorter the part that it does not hide; then what comes from farther away, which
// arithmetic hides the lesser part of. Families of kernels are compared with each other by it, and so are layouts;
// printers turn it into seconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dnnkit/cost/target.hpp"

namespace dnnkit {

// Where operands lie: in a cache, or in none.
enum class memory_level : std::uint8_t { l1, l2, l3, memory };
inline constexpr std::size_t memory_levels = 4;

// The smallest memory that holds so many bytes.
constexpr memory_level level_of(const cpu_facts& facts, double bytes) {
  if (bytes <= static_cast<double>(facts.l1_bytes)) return memory_level::l1;
  if (bytes <= static_cast<double>(facts.l2_bytes)) return memory_level::l2;
  return bytes <= static_cast<double>(facts.l3_bytes) ? memory_level::l3 : memory_level::memory;
}
constexpr double bytes_a_cycle(const cpu_facts& facts, memory_level level) {
  switch (level) {
    case memory_level::l1:
      return facts.l1_width;
    case memory_level::l2:
      return facts.l2_width;
    case memory_level::l3:
      return facts.l3_width;
    case memory_level::memory:
      break;
  }
  return facts.memory_width;
}
// @post not increasing in `bytes`
constexpr double bytes_a_cycle(const cpu_facts& facts, double bytes) {
  return bytes_a_cycle(facts, level_of(facts, bytes));
}

// Bytes that a kernel moves, by where they lie; what is written somewhere is first read from there, but for L1.
struct memory_traffic {
  std::array<double, memory_levels> read{}, written{};

  constexpr void add_read(memory_level from, double bytes) { read[static_cast<std::size_t>(from)] += bytes; }
  constexpr void add_written(memory_level to, double bytes) { written[static_cast<std::size_t>(to)] += bytes; }
  constexpr memory_traffic& operator+=(const memory_traffic& more) {
    for (std::size_t i = 0; i < memory_levels; ++i) {
      read[i] += more.read[i];
      written[i] += more.written[i];
    }
    return *this;
  }
  constexpr double bytes() const {
    double n = 0;
    for (std::size_t i = 0; i < memory_levels; ++i) n += read[i] + written[i];
    return n;
  }
  // In the first two caches, and farther away.
  constexpr double near_cycles(const cpu_facts& facts) const {
    return (read[0] + written[0]) / facts.l1_width + (read[1] + 2 * written[1]) / facts.l2_width;
  }
  constexpr double far_cycles(const cpu_facts& facts) const {
    return (read[2] + 2 * written[2]) / facts.l3_width + (read[3] + 2 * written[3]) / facts.memory_width;
  }
  constexpr double cycles(const cpu_facts& facts) const { return near_cycles(facts) + far_cycles(facts); }

  friend constexpr bool operator==(const memory_traffic&, const memory_traffic&) = default;
};

// What a kernel does in one run.
struct kernel_work {
  double vectors = 0;    // vector operations, a multiply-add being one
  double scattered = 0;  // elements that leave a vector one by one
  double gathered = 0;   // elements that are put into vectors, or into scratch memory, one by one
  double evaluated = 0;  // elements that an operator's definition computes or reads on its own
  double bytes = 0;      // of operands and results, each once, where nothing is said of where they lie
  double staged = 0;     // bytes that are written to scratch memory and read again
  double cycles = 0;     // of arithmetic that were counted in full (cost/register_tile.hpp, cpu/tree_cost.hpp)
  double starts = 0;     // cycles in which rows, tiles and phases begin
  memory_traffic traffic{};
};

struct kernel_cost {
  double arithmetic = 0;    // cycles in which units for arithmetic work
  double memory = 0;        // cycles in which operands are on their way
  double starts = 0;        // cycles in which the kernel, its phases, rows and tiles begin
  double bytes = 0;         // that are on their way: operands, results, scratch memory
  double cycles = 0;        // in all; families are compared by it
  double microseconds = 0;  // the same for the clock that the coefficients assume; said where a kernel is chosen
  double measured = 0;      // microseconds that it took where it was tuned (cost/tuned.hpp); 0: not known

  friend constexpr bool operator==(const kernel_cost&, const kernel_cost&) = default;
};

// @post cycles >= arithmetic, memory and starts, and none of them falls where the work grows
constexpr kernel_cost estimate(const cpu_facts& facts, const kernel_work& work) {
  const cost_coefficients& of = facts.costs;
  kernel_cost c;
  c.arithmetic = work.cycles + work.vectors / facts.multiply_adds + work.scattered * of.scattered +
                 work.gathered * of.gathered + work.evaluated * of.evaluated;
  memory_traffic all = work.traffic;
  all.add_read(level_of(facts, work.bytes), work.bytes);
  all.add_read(level_of(facts, work.staged), 2 * work.staged);
  const double near = all.near_cycles(facts), far = all.far_cycles(facts);
  c.memory = near + far;
  c.starts = of.kernel + work.starts;
  c.bytes = all.bytes();
  const bool computes = c.arithmetic > near;
  const double longer = computes ? c.arithmetic : near, shorter = computes ? near : c.arithmetic;
  // What comes from far away takes its time in any case, and adds as much as is not hidden to the rest.
  const double here = longer + of.overlap * shorter, both = here + of.exposed * far;
  c.cycles = c.starts + (both > far ? both : far);
  return c;
}

// For the clock that the coefficients assume.
constexpr double microseconds(const cpu_facts& facts, const kernel_cost& cost) {
  return cost.cycles / (1e3 * facts.costs.gigahertz);
}

}  // namespace dnnkit
