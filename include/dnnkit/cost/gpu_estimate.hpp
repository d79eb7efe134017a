// SPDX-License-Identifier: MIT
// How long an OpenCL kernel is expected to take on a GPU: what a launch costs, or what its stages do behind the gap
// before it, whichever is longer. A stage takes its arithmetic or the way of its operands, of which the longer counts
// (the roofline model of Williams, Waterman and Patterson) and a part of the shorter; arithmetic runs at the share of
// the peak that kernels of its kind come to, on as many compute units as it has work-groups for.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dnnkit/cost/estimate.hpp"
#include "dnnkit/cost/gpu_facts.hpp"

namespace dnnkit {

constexpr double rounded_up(double x) {
  const auto whole = static_cast<std::int64_t>(x);
  return static_cast<double>(whole) + (static_cast<double>(whole) < x ? 1 : 0);
}

// What a stage does in one run.
struct gpu_work {
  double compute = 0;        // microseconds of arithmetic
  double near = 0, far = 0;  // bytes from and to L2, and memory
  double fixed = 0;          // microseconds in which work-items wait for each other
  constexpr gpu_work& operator+=(const gpu_work& more) {
    compute += more.compute;
    near += more.near;
    far += more.far;
    fixed += more.fixed;
    return *this;
  }
};
constexpr double memory_time(const gpu_facts& facts, const gpu_work& w) {
  return w.near / (1e3 * facts.l2_bandwidth) + w.far / (1e3 * facts.memory_bandwidth);
}
// Microseconds of a stage by itself, without what its kernel costs.
// @post does not fall where the work grows
constexpr double time_of(const gpu_facts& facts, const gpu_work& w) {
  constexpr double not_hidden = 0.1;
  const double memory = memory_time(facts, w);
  return std::max(w.compute, memory) + not_hidden * std::min(w.compute, memory) + w.fixed;
}

// Arithmetic of work-groups that are alike: so many operations each, at a share of a compute unit's peak. Groups begin
// in turns, one a compute unit.
constexpr double compute_time(const gpu_facts& facts, double groups, double operations, double share) {
  const double of_unit = facts.peak() / facts.compute_units * share;
  return rounded_up(std::max(groups, 1.0) / facts.compute_units) * operations / of_unit;
}
// Of operations that any number of work-items may share.
constexpr double element_time(const gpu_facts& facts, double operations) {
  return operations / (facts.peak() * facts.shares.elements);
}

// --- products: each of `batch` has rows by columns sums over `depth`.
struct gpu_product {
  double batch = 1, rows = 1, columns = 1, depth = 1;
  double part = 1;  // of the share that matrix products have of the peak
};

// The part of a product that a work-group computes, and of a tile, that a work-item has in registers.
struct gpu_tile {
  int rows, columns, item_rows, item_columns;
  double gpu_shares::*share;
  double part = 1;
};
inline constexpr gpu_tile gpu_tiles[] = {{4, 32, 4, 1, &gpu_shares::tiles_4x4, 0.6},  // a vector or a few
                                         {16, 32, 4, 4, &gpu_shares::tiles_4x4},
                                         {32, 32, 8, 4, &gpu_shares::tiles_8x4},
                                         {64, 64, 8, 8, &gpu_shares::tiles_8x8},
                                         {128, 128, 8, 8, &gpu_shares::tiles_8x8}};

struct gpu_product_plan {
  const gpu_tile* tile = nullptr;
  double groups = 0, column_blocks = 1, row_blocks = 1;
  int slices = 1;  // of the reduction, in groups of their own, of which the last to arrive adds up the sums
  gpu_work work;
};

// Two stages of slices of both factors, 16 steps deep.
constexpr std::int64_t local_bytes_of(const gpu_tile& t) {
  return std::int64_t{2} * (t.rows * 20 + 16 * t.columns) * 4;
}

// In the tile that takes least time: what it computes and how often its factors come from L2.
constexpr gpu_product_plan planned(const gpu_facts& facts, const gpu_product& p, int most_slices = 8) {
  gpu_product_plan best;
  double least = 0;
  bool has_one = false;
  for (const gpu_tile& t : gpu_tiles) {
    if (t.item_rows > facts.tile_rows || t.item_columns > facts.tile_columns || local_bytes_of(t) > facts.local_bytes)
      continue;
    gpu_product_plan one;
    one.tile = &t;
    one.column_blocks = rounded_up(p.columns / t.columns);
    one.row_blocks = rounded_up(p.rows / t.rows);
    const double share = facts.shares.*t.share * t.part * p.part;
    const double blocks = p.batch * one.row_blocks * one.column_blocks;
    // slices are for compute units that would have no group
    const auto pays = [&](int n) {
      return n <= most_slices && p.depth / n >= 64 && blocks * n < 2 * facts.compute_units;
    };
    for (int slices = 1; slices == 1 || pays(slices); slices *= 2) {
      one.slices = slices;
      one.groups = blocks * slices;
      one.work = {};
      one.work.compute = compute_time(facts, one.groups, 2.0 * t.rows * t.columns * p.depth / slices, share);
      one.work.near = 4 * p.batch * p.depth * (p.rows * one.column_blocks + p.columns * one.row_blocks);
      if (slices > 1) one.work.near += 8 * p.batch * p.rows * p.columns * slices;
      one.work.fixed = facts.pipeline + (slices > 1 ? facts.handover : 0);
      const double time = time_of(facts, one.work);
      if (has_one && !(time < least)) continue;
      has_one = true;
      best = one;
      least = time;
    }
  }
  return best;
}

// --- kernels
// What stages of a kernel take, one after the other.
class gpu_kernel_time {
 public:
  constexpr explicit gpu_kernel_time(const gpu_facts& facts) : facts_(facts) {}
  constexpr void add(const gpu_work& w, double times = 1) {
    sum_ += w;
    work_ += times * time_of(facts_, w);
  }
  constexpr const gpu_facts& facts() const { return facts_; }
  constexpr void add_handover() { waits_ += facts_.handover; }

  // @post cycles >= arithmetic, memory and starts, and not less than a launch takes
  constexpr kernel_cost cost() const {
    const double to_cycles = 1e3 * facts_.gigahertz, starts = facts_.gap + facts_.start + waits_;
    kernel_cost c;
    c.arithmetic = to_cycles * sum_.compute;
    c.memory = to_cycles * memory_time(facts_, sum_);
    c.starts = to_cycles * starts;
    c.bytes = sum_.near + sum_.far;
    c.cycles = to_cycles * std::max(facts_.launch, starts + work_);
    return c;
  }

 private:
  const gpu_facts& facts_;
  gpu_work sum_;
  double work_ = 0, waits_ = 0;
};

constexpr kernel_cost estimate(const gpu_facts& facts, const gpu_work& w) {
  gpu_kernel_time t(facts);
  t.add(w);
  return t.cost();
}

}  // namespace dnnkit
