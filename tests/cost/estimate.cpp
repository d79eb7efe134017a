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

}  // namespace

TEST_CASE("more work never takes less time, and bytes come no faster from a larger memory") {
  for (const dk::cpu_facts& facts : {narrow, dk::targets::avx2::facts, wide})
    for (double n = 1; n < 1e12; n *= 1.7) {
      CHECK(dk::bytes_a_cycle(facts, n) >= dk::bytes_a_cycle(facts, n * 1.7));
      const dk::kernel_work work{n, n / 2, n / 3, n / 5, n / 7, n / 11};
      const dk::kernel_cost cost = dk::estimate(facts, work);
      CHECK(cost.cycles >= cost.arithmetic);
      using work_of = dk::kernel_work;
      for (double work_of::*part : {&work_of::vectors, &work_of::scattered, &work_of::gathered, &work_of::evaluated,
                                    &work_of::bytes, &work_of::staged}) {
        dk::kernel_work more = work;
        more.*part *= 1.7;
        CHECK(dk::estimate(facts, more).cycles >= cost.cycles);
        CHECK(dk::estimate(facts, more).arithmetic >= cost.arithmetic);
      }
    }
}
