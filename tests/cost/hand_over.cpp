// SPDX-License-Identifier: MIT
// What handing over costs, and what is gained by doing it in parts.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cost/hand_over.hpp"

#include <doctest/doctest.h>

namespace dk = dnnkit;

namespace {

constexpr dk::cpu_facts facts = dk::targets::avx512::facts;

static_assert(dk::hand_over_gain(facts, 500e3) == 0, "what the second cache holds is near enough");
static_assert(dk::hand_over_gain(facts, 3e6) > 0);
static_assert(dk::hand_over_gain(facts, 30e6) > 10 * dk::hand_over_gain(facts, 3e6), "memory is slower than the third");
static_assert(dk::hand_over_cycles(facts, 0) == 0);
static_assert(dk::parts_cycles(facts, 100, 100, 2, 1e6) == 0, "one part is the whole");
static_assert(dk::parts_cycles(facts, 100, 10, 2, 10e6) > dk::parts_cycles(facts, 100, 10, 2, 100e3));

}  // namespace

TEST_CASE("the gain grows with what is handed over and is a part of what that costs") {
  for (double bytes = 1; bytes < 1e10; bytes *= 1.3) {
    CHECK(dk::hand_over_gain(facts, bytes) >= 0);
    CHECK(dk::hand_over_gain(facts, bytes) <= dk::hand_over_cycles(facts, bytes));
    CHECK(dk::hand_over_gain(facts, 1.3 * bytes) >= dk::hand_over_gain(facts, bytes));
    CHECK(dk::hand_over_cycles(facts, 1.3 * bytes) >= dk::hand_over_cycles(facts, bytes));
  }
}

TEST_CASE("smaller parts cost more") {
  for (double part = 1; part < 128; part *= 2)
    for (const double weights : {0.0, 1e5, 1e6, 1e8})
      CHECK(dk::parts_cycles(facts, 128, part, 2, weights) >= dk::parts_cycles(facts, 128, 2 * part, 2, weights));
}

TEST_CASE("rows that fit half of the second cache, and at least one") {
  CHECK(dk::rows_in_cache(facts, 0) > 1'000'000);
  CHECK(dk::rows_in_cache(facts, 1e12) == 1);
  for (double row = 1; row < 1e9; row *= 1.7) {
    const std::int64_t rows = dk::rows_in_cache(facts, row);
    REQUIRE(rows >= 1);
    if (rows > 1) CHECK(static_cast<double>(rows) * row <= static_cast<double>(facts.l2_bytes) / 2);
    CHECK(dk::rows_in_cache(facts, 1.7 * row) <= rows);
  }
}
