// SPDX-License-Identifier: MIT
// Element-wise arithmetic: shapes, types and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/arithmetic.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return g.input("x", f32, {2, 1, L}) + g.input("y", f32, {3, 1});
              }) == "f32 [2, 3, L]");
static_assert(inferred([](builder& g) { return -g.input("x", i64, {L}) * 2.0 - 1.0; }) == "i64 [L]");
static_assert(inferred([](builder& g) { return 1.0 / g.input("x", f32, {}); }) == "f32 []");
static_assert(inferred([](builder& g) { return add(g.input("x", f32, {2}), g.input("y", i64, {2})); }) ==
              "Add: input 0 is f32, input 1 is i64");
static_assert(inferred([](builder& g) {
                return add(g.input("x", f32, {2, 3}), g.input("y", f32, {2}));
              }) == "Add: shapes [2, 3] and [2] do not broadcast");
static_assert(inferred([](builder& g) { return mul(g.input("x", f32, {L}), g.input("y", f32, {sym{"M"}})); }) ==
              "f32 [L]");  // it is assumed that M is L, too
static_assert(inferred([](builder& g) {
                return mul(g.input("x", f32, {L}), g.input("y", f32, {sym{"M", {513, 600}}}));
              }) == "Mul: shapes [L] and [M] do not broadcast");
static_assert(inferred([](builder& g) { return add(g.input("x", boolean, {2}), g.input("y", boolean, {2})); }) ==
              "Add: input 0 is bool, expected a number");
static_assert(inferred([](builder& g) { return dnnkit::floor(g.input("x", i64, {2})); }) ==
              "Floor: input 0 is i64, expected a floating-point type");
static_assert(inferred([](builder& g) { return add(g.input("x", f32, {2})); }) == "Add: has 1 input, takes 2");

// NaN goes through minimum and maximum whichever side it is on.
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
static_assert(op::min::apply(nan, 1.f) != op::min::apply(nan, 1.f) &&
              op::min::apply(1.f, nan) != op::min::apply(1.f, nan));
static_assert(op::max::apply(nan, 1.f) != op::max::apply(nan, 1.f) &&
              op::max::apply(1.f, nan) != op::max::apply(1.f, nan));
static_assert(op::sign::apply(nan) != op::sign::apply(nan) && op::sign::apply(-3.f) == -1);
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
static_assert(op::sub::apply(least, std::int64_t{1}) == std::numeric_limits<std::int64_t>::max() &&
              op::neg::apply(least) == least);

// Integers of every width wrap around, and have quotient and remainder 0 where the divisor is 0.
template <class T> constexpr bool divides() {
  constexpr T lowest = std::numeric_limits<T>::lowest(), minus = static_cast<T>(-1), zero = 0;
  constexpr op::mod floored{}, truncated{.fmod = true};
  const bool by_zero = op::div::apply(T{7}, zero) == 0 && floored.apply(T{7}, zero) == 0 &&
                       floored.apply(lowest, zero) == 0 && truncated.apply(lowest, zero) == 0;
  const bool by_minus =
      !std::is_signed_v<T> || (op::div::apply(lowest, minus) == lowest && op::div::apply(T{7}, minus) == -7 &&
                               floored.apply(lowest, minus) == 0 && truncated.apply(lowest, minus) == 0);
  return by_zero && by_minus && op::div::apply(lowest, T{1}) == lowest;
}
static_assert(divides<std::int8_t>() && divides<std::int16_t>() && divides<std::int32_t>() && divides<std::int64_t>());
static_assert(divides<std::uint8_t>() && divides<std::uint16_t>() && divides<std::uint32_t>() &&
              divides<std::uint64_t>());
static_assert(op::div::apply(-7, 2) == -3);

// What cannot be told from the numbers alone: on which side of 0 a remainder of 0 lies.
TEST_CASE("a remainder of 0 has the sign of the divisor, or with fmod that of the dividend") {
  CHECK(1 / op::mod{}.apply(6.f, -3.f) < 0);
  CHECK(1 / op::mod{}.apply(-6.f, 3.f) > 0);
  CHECK(1 / op::mod{.fmod = true}.apply(6.f, -3.f) > 0);
  CHECK(1 / op::mod{.fmod = true}.apply(-6.f, 3.f) < 0);
}

TEST_CASE("arithmetic: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("arithmetic");
  CHECK(outcome.cases >= 88);
  CHECK(outcome.symbolic_graphs >= 100);
}

}  // namespace
