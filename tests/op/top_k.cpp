// SPDX-License-Identifier: MIT
// TopK and Hardmax: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/top_k.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return top_k(g.input("x", f32, {7, L}), {.k = 3, .axis = 0, .output = 1});
              }) == "i64 [3, L]");
static_assert(inferred([](builder& g) {
                return top_k(g.input("x", f32, {7, L}), {.k = 9, .axis = 0});
              }) == "TopK: k is more than there are elements");
static_assert(inferred([](builder& g) {
                return top_k(g.input("x", f32, {7, L}), {.k = -1, .axis = 0});
              }) == "TopK: k is not known, or is -1, which no extent is");
static_assert(inferred([](builder& g) {
                return top_k(g.input("x", f32, {7, L}), {.k = g.size({"L"}) - 600, .axis = 0});
              }) == "TopK: k is L-600, which is negative");

TEST_CASE("top_k: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("top_k");
  CHECK(outcome.cases >= 35);
  CHECK(outcome.symbolic_graphs >= 38);
}

// compute() on one row, without a graph around it.
struct row_context {
  std::int64_t length, count;
  static constexpr std::size_t rank(std::size_t) { return 1; }
  constexpr std::int64_t in(std::size_t, std::size_t) const { return length; }
  constexpr std::int64_t out(std::size_t) const { return count; }
};
struct positions {
  std::vector<std::int64_t>& of;
  void store(std::int64_t i, auto x) const { of[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(x); }
};
struct row {
  const std::vector<float>& of;
  float operator[](std::int64_t i) const { return of[static_cast<std::size_t>(i)]; }
};

// What a stable sort puts first, NaN being above all.
std::vector<std::int64_t> sorted_positions(const std::vector<float>& x, std::int64_t count, bool largest) {
  std::vector<std::int64_t> order(x.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    float a = x[static_cast<std::size_t>(i)], b = x[static_cast<std::size_t>(j)];
    if (!largest) std::swap(a, b);
    return a > b || (a != a && b == b);
  });
  order.resize(static_cast<std::size_t>(count));
  return order;
}

TEST_CASE("top_k: the first of a stable sort, of rows with ties, infinities and NaN") {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (int round = 0; round < 4000; ++round) {
    const auto length = static_cast<std::int64_t>(random() % 400 + 1);
    const std::int64_t count = 1 + static_cast<std::int64_t>(random()) % std::min<std::int64_t>(length, 80);
    std::vector<float> x(static_cast<std::size_t>(length));
    const unsigned kinds = round % 4 == 0   ? 3
                           : round % 4 == 1 ? 1000000
                                            : 40;  // few numbers, none twice, several twice
    for (float& e : x) {
      e = static_cast<float>(random() % kinds) - static_cast<float>(kinds / 2);
      const auto rare = random() % 1000;
      if (round % 3 == 0 && rare < 30) e = rare < 10 ? nan : rare < 20 ? inf : -inf;
    }
    if (round % 50 == 0) std::fill(x.begin(), x.end() - 1, round % 100 == 0 ? -inf : nan);
    for (const bool largest : {true, false}) {
      const op::top_k best{.k = count, .axis = 0, .largest = largest, .output = 1};
      std::vector<std::int64_t> found(static_cast<std::size_t>(count), -1);
      best.compute(row_context{length, count}, positions{found}, row{x});
      REQUIRE(found == sorted_positions(x, count, largest));
    }
  }
}

}  // namespace
