// SPDX-License-Identifier: MIT
// The cost model of GPUs beside times that were measured on an H200, and its laws.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cost/gpu_estimate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace dk = dnnkit;

namespace {

constexpr dk::gpu_facts h200 = dk::devices::h200, small = dk::devices::small;

constexpr double microseconds(const dk::gpu_facts& facts, const dk::kernel_cost& c) {
  return c.cycles / (1e3 * facts.gigahertz);
}
// In groups that have all of the reduction, as the kernels that were measured had.
constexpr double time_of_product(dk::gpu_product p) {
  return microseconds(h200, dk::estimate(h200, dk::planned(h200, p, 1).work));
}

// Times in microseconds of one launch among many of its kind, float32: the best of the tiles that were tried.
struct measured_product {
  dk::gpu_product p;
  double microseconds;
};
constexpr double windows = h200.shares.convolution;
constexpr measured_product measured[] = {
    {{.rows = 128, .columns = 768, .depth = 768}, 10.2},
    {{.rows = 128, .columns = 3072, .depth = 768}, 23.4},
    {{.rows = 128, .columns = 768, .depth = 3072}, 31.9},
    {{.rows = 197, .columns = 768, .depth = 768}, 15.8},
    {{.rows = 197, .columns = 3072, .depth = 768}, 39.4},
    {{.rows = 197, .columns = 768, .depth = 3072}, 55.2},
    {{.rows = 3136, .columns = 384, .depth = 96}, 10.6},
    {{.rows = 3136, .columns = 96, .depth = 384}, 12.4},
    {{.rows = 784, .columns = 768, .depth = 192}, 12.0},
    {{.rows = 196, .columns = 1024, .depth = 256}, 7.3},
    {{.rows = 1024, .columns = 1024, .depth = 1024}, 61.1},
    {{.rows = 4096, .columns = 4096, .depth = 4096}, 3207},
    // convolutions: ResNet-50's layers
    {{.rows = 3136, .columns = 64, .depth = 576, .part = windows}, 14.1},
    {{.rows = 784, .columns = 128, .depth = 1152, .part = windows}, 16.2},
    {{.rows = 196, .columns = 256, .depth = 2304, .part = windows}, 18.6},
    {{.rows = 49, .columns = 512, .depth = 4608, .part = windows}, 33.9},
    {{.rows = 3136, .columns = 256, .depth = 64}, 6.7},
};

// What begins is never less than a launch; a kernel whose work is behind the launch takes that and the gap.
static_assert(microseconds(h200, dk::estimate(h200, {})) == h200.launch);
static_assert(microseconds(h200, dk::estimate(h200, {.compute = 100})) == 100 + h200.gap + h200.start);
static_assert(microseconds(small, dk::estimate(small, {})) == small.launch);

// Two steps that are shorter than a launch gain from one kernel, by what a launch costs less a hand-over.
constexpr double two_steps(double each) {
  dk::gpu_kernel_time t(h200);
  t.add({.compute = each});
  t.add({.compute = each});
  t.add_handover();
  return microseconds(h200, t.cost());
}
static_assert(two_steps(0.5) < 2 * h200.launch - 3);
static_assert(two_steps(100) < 2 * microseconds(h200, dk::estimate(h200, {.compute = 100})));

// Slices of the reduction, each for groups of its own, where tiles leave compute units idle and sums are long.
constexpr dk::gpu_product few_tiles{.rows = 49, .columns = 512, .depth = 4608};
static_assert(dk::planned(h200, few_tiles).slices > 1);
static_assert(dk::planned(h200, {.rows = 4096, .columns = 4096, .depth = 4096}).slices == 1);
static_assert(dk::planned(h200, {.rows = 4096, .columns = 4096, .depth = 4096}).tile->item_columns == 8);

}  // namespace

TEST_CASE("products and convolutions are expected to take about what was measured") {
  double errors[std::size(measured)], logarithms = 0;
  for (std::size_t i = 0; i < std::size(measured); ++i) {
    const dk::gpu_product& p = measured[i].p;
    const double found = measured[i].microseconds;
    const double expected = time_of_product(p);
    errors[i] = std::abs(expected / found - 1);
    logarithms += std::log(expected / found);
    INFO(p.rows, " x ", p.columns, " x ", p.depth, ": expected ", expected, ", measured ", found);
    CHECK(errors[i] < 0.2);
  }
  std::sort(std::begin(errors), std::end(errors));
  CHECK(errors[std::size(errors) / 2] < 0.08);
  CHECK(std::abs(logarithms / static_cast<double>(std::size(measured))) < 0.07);
}

TEST_CASE("more work never takes less time") {
  for (const dk::gpu_facts& facts : {h200, small})
    for (double n = 1; n < 1e12; n *= 1.7) {
      const dk::gpu_work work{.compute = n / 1e6, .near = n / 3, .far = n / 7, .fixed = 1};
      const dk::kernel_cost cost = dk::estimate(facts, work);
      CHECK(cost.cycles >= cost.arithmetic);
      CHECK(cost.cycles >= cost.memory);
      CHECK(cost.cycles >= cost.starts);
      for (double dk::gpu_work::*part :
           {&dk::gpu_work::compute, &dk::gpu_work::near, &dk::gpu_work::far, &dk::gpu_work::fixed}) {
        dk::gpu_work more = work;
        more.*part = 2 * work.*part;
        CHECK(dk::estimate(facts, more).cycles >= cost.cycles);
      }
    }
}
