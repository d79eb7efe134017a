// SPDX-License-Identifier: MIT
// The cost model's laws over sizes from a few bytes to far beyond all caches.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cost/estimate.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

namespace dk = dnnkit;

namespace {

constexpr dk::cpu_facts narrow = dk::targets::sse2::facts, wide = dk::targets::avx512::facts;

// As many elements, in vectors of each.
constexpr double cycles_of(const dk::cpu_facts& facts, double elements) {
  return dk::estimate(facts, {.vectors = elements / facts.float_lanes}).cycles;
}
static_assert(cycles_of(wide, 1e6) < cycles_of(narrow, 1e6));
static_assert(dk::estimate(wide, {.evaluated = 1e6}).cycles > cycles_of(narrow, 1e6));
static_assert(dk::estimate(wide, {.vectors = 1000, .bytes = 1e9}).cycles > 1e8);

// Bound by arithmetic, time is that of arithmetic, and bound by memory, that of memory, and a part of the other.
constexpr dk::memory_traffic from(dk::memory_level level, double bytes) {
  dk::memory_traffic t;
  t.add_read(level, bytes);
  return t;
}
constexpr dk::kernel_cost computes = dk::estimate(wide, {.cycles = 1e6, .traffic = from(dk::memory_level::l1, 1000)}),
                          moves = dk::estimate(wide, {.cycles = 10, .traffic = from(dk::memory_level::memory, 1e7)});
static_assert(computes.arithmetic == 1e6 && computes.memory < 100 && computes.cycles < 1.01e6);
static_assert(moves.memory == 1e7 / wide.memory_width && moves.cycles < 1.01 * moves.memory);
static_assert(dk::microseconds(wide, computes) * wide.costs.gigahertz * 1e3 == computes.cycles);

// The farther away, the longer it takes; what is written comes from there first.
constexpr double way(dk::memory_level level) { return from(level, 1e6).cycles(wide); }
static_assert(way(dk::memory_level::l1) < way(dk::memory_level::l2));
static_assert(way(dk::memory_level::l2) < way(dk::memory_level::l3));
static_assert(way(dk::memory_level::l3) < way(dk::memory_level::memory));
constexpr double written(dk::memory_level level) {
  dk::memory_traffic t;
  t.add_written(level, 1e6);
  return t.cycles(wide);
}
static_assert(written(dk::memory_level::memory) > way(dk::memory_level::memory));

}  // namespace

TEST_CASE("more work never takes less time, and bytes come no faster from a larger memory") {
  for (const dk::cpu_facts& facts : {narrow, dk::targets::avx2::facts, wide})
    for (double n = 1; n < 1e12; n *= 1.7) {
      CHECK(dk::bytes_a_cycle(facts, n) >= dk::bytes_a_cycle(facts, n * 1.7));
      const dk::kernel_work work{n, n / 2, n / 3, n / 5, n / 7, n / 11, n / 13, n / 17};
      const dk::kernel_cost cost = dk::estimate(facts, work);
      CHECK(cost.cycles >= cost.arithmetic);
      CHECK(cost.cycles >= cost.memory);
      CHECK(cost.cycles > cost.starts);
      using work_of = dk::kernel_work;
      for (double work_of::*part : {&work_of::vectors, &work_of::scattered, &work_of::gathered, &work_of::evaluated,
                                    &work_of::bytes, &work_of::staged, &work_of::cycles, &work_of::starts}) {
        dk::kernel_work more = work;
        more.*part *= 1.7;
        CHECK(dk::estimate(facts, more).cycles >= cost.cycles);
        CHECK(dk::estimate(facts, more).arithmetic >= cost.arithmetic);
      }
    }
}
