// SPDX-License-Identifier: MIT
// The bits of numbers and back: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/bit_cast.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return g.apply(op::bits_of_real{f64}, {g.input("x", f64, {2, L})});
              }) == "i64 [2, L]");
static_assert(inferred([](builder& g) {
                return g.apply(op::real_of_bits{f32}, {g.input("x", i32, {2, L})});
              }) == "f32 [2, L]");
static_assert(inferred([](builder& g) { return g.apply(op::bits_of_real{f64}, {g.input("x", f32, {2})}); }) ==
              "BitCast.BitsOfReal: the input is of another type than the attribute says");
static_assert(inferred([](builder& g) { return g.apply(op::real_of_bits{f16}, {g.input("x", i16, {2})}); }) ==
              "BitCast.RealOfBits: only 32 and 64-bit floats are supported");

TEST_CASE("bit_cast: numpy's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("bit_cast", 0);
  CHECK(outcome.cases >= 4);
  CHECK(outcome.symbolic_graphs >= 4);
}

}  // namespace
