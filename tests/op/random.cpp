// SPDX-License-Identifier: MIT
// RandomUniform and RandomNormal: shapes, the generator's own numbers, and distributions. The numbers do not vary, so
// what is claimed of a distribution here either holds or does not.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/random.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

template <class Op> constexpr tensor numbers(builder& g, const Op& op) { return g.apply(op, vector<tensor>{}); }
template <class Op> std::vector<double> evaluated(const Op& op) {
  builder g;
  g.output("y", numbers(g, op));
  return evaluate(g.value(), std::vector<host_tensor>{})[0].reals;
}

static_assert(inferred([](builder& g) {
                return numbers(g, op::random_uniform{.dims = {2, g.symbol(L)}});
              }) == "f32 [2, L]");
static_assert(inferred([](builder& g) { return numbers(g, op::random_normal{.dims = {}, .to = f16}); }) == "f16 []");
static_assert(inferred([](builder& g) { return numbers(g, op::random_normal{.dims = {3}, .to = i32}); }) ==
              "RandomNormal: random numbers are real");
static_assert(inferred([](builder& g) { return numbers(g, op::random_uniform{.dims = {dim::unknown()}}); }) ==
              "RandomUniform: an extent is not known, or is -1, which no extent is");

constexpr std::array seeds{0.0f, 1.0f, 0.5f, -3.0f, 1e9f};

// The mean of f(x), and how far from `expected` it is in standard errors of that mean, `deviation` being that of f(x).
double errors_from(const std::vector<double>& x, auto&& f, double expected, double deviation) {
  double sum = 0;
  for (const double v : x) sum += f(v);
  const auto n = static_cast<double>(x.size());
  return std::fabs(sum / n - expected) * std::sqrt(n) / deviation;
}
// The correlation of neighbours, in standard errors, of numbers of mean 0 and variance 1.
double neighbours(const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) sum += x[i] * x[i + 1];
  return std::fabs(sum) / std::sqrt(static_cast<double>(x.size()));
}

TEST_CASE("numbers in order, with as many bits as the type has") {
  // the first block of key (0, 0), known from the generator's authors: 6627e8d5 e169c58d bc57ac4c 9b00dbd8
  CHECK(evaluated(op::random_uniform{.dims = {2}}) == std::vector{0xe169c5 * 0x1p-24, 0x9b00db * 0x1p-24});
  CHECK(evaluated(op::random_uniform{.dims = {2, 1}, .to = f64})[0] ==
        static_cast<double>(0xe169c58d6627e8d5 >> 11) * 0x1p-53);
  CHECK(evaluated(op::random_uniform{.dims = {1}, .to = f16}) == std::vector{(0xe169 >> 5) * 0x1p-11});
  CHECK(evaluated(op::random_uniform{.dims = {1}, .to = bf16}) == std::vector{0xe1 * 0x1p-8});
  const double u = static_cast<double>(0xe169c58d6627e8d5 >> 11) * 0x1p-53,
               v = static_cast<double>(0x9b00dbd8bc57ac4c >> 11) * 0x1p-53, radius = std::sqrt(-2 * std::log(1 - u));
  const auto normal = evaluated(op::random_normal{.dims = {2}, .mean = 3, .scale = 2, .to = f64});
  CHECK(normal[0] == doctest::Approx(3 + 2 * radius * std::cos(2 * 3.14159265358979323846 * v)).epsilon(1e-14));
  CHECK(normal[1] == doctest::Approx(3 + 2 * radius * std::sin(2 * 3.14159265358979323846 * v)).epsilon(1e-14));
}

TEST_CASE("the shape says how numbers lie, not which they are; the seed says which") {
  CHECK(evaluated(op::random_normal{.dims = {3, 4}, .seed = 5}) ==
        evaluated(op::random_normal{.dims = {12}, .seed = 5}));
  std::set<double> first;
  for (const float seed : seeds) first.insert(evaluated(op::random_uniform{.dims = {1}, .seed = seed})[0]);
  CHECK(first.size() == seeds.size());
}

TEST_CASE("uniform numbers: moments, intervals and neighbours, within 4 standard errors") {
  for (const float seed : seeds) {
    CAPTURE(seed);
    std::vector<double> x = evaluated(op::random_uniform{.dims = {100, 400}, .low = -1, .high = 3, .seed = seed});
    std::array<double, 64> count{};
    for (double& v : x) {
      REQUIRE(v >= -1);
      REQUIRE(v < 3);
      ++count[static_cast<std::size_t>((v + 1) * 16)];
      v = (v - 1) * std::sqrt(12.0) / 4;  // mean 0, variance 1
    }
    CHECK(errors_from(
              x, [](double v) { return v; }, 0, 1) < 4);
    CHECK(errors_from(
              x, [](double v) { return v * v; }, 1, std::sqrt(0.8)) < 4);  // E v^4 = 9 / 5
    CHECK(neighbours(x) < 4);
    double chi = 0;  // 63 degrees of freedom: mean 63, variance 126
    for (const double n : count) chi += (n - 625) * (n - 625) / 625;
    CHECK(std::fabs(chi - 63) < 4 * std::sqrt(126.0));
  }
}

TEST_CASE("normal numbers: four moments, both halves of pairs, tails, within 4 standard errors") {
  for (const float seed : seeds) {
    CAPTURE(seed);
    std::vector<double> x = evaluated(op::random_normal{.dims = {40000}, .mean = 2, .scale = 0.5, .seed = seed});
    for (double& v : x) v = (v - 2) * 2;
    CHECK(errors_from(
              x, [](double v) { return v; }, 0, 1) < 4);
    CHECK(errors_from(
              x, [](double v) { return v * v; }, 1, std::sqrt(2.0)) < 4);  // E v^4 - 1
    CHECK(errors_from(
              x, [](double v) { return v * v * v; }, 0, std::sqrt(15.0)) < 4);  // E v^6
    CHECK(errors_from(
              x, [](double v) { return v * v * v * v; }, 3, std::sqrt(96.0)) < 4);  // E v^8 - 9
    constexpr double beyond = 0.04550026389635842;                                  // P(|v| > 2)
    CHECK(errors_from(
              x, [](double v) { return std::fabs(v) > 2 ? 1 : 0; }, beyond, std::sqrt(beyond * (1 - beyond))) < 4);
    CHECK(neighbours(x) < 4);
  }
}

}  // namespace
