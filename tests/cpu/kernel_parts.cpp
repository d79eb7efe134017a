// SPDX-License-Identifier: MIT
// LABELS: no_sanitize alone
// OPTIONS: -O1
// Kernels dealt out to units: each to one part, the dear ones evenly; a network whose kernels come from three units
// computes what it does when they are compiled in one.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/kernel_parts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "tests/cpu/fixtures/model_in_parts.hpp"

namespace dk = dnnkit;

namespace {

using dk::cpu::kernel_part;
using whole = dk::compile<layers_of_parts>;
using net = dk::compile<model_in_parts>;
static_assert(dk::cpu::kernel_parts<whole>() == 1 && dk::cpu::kernel_parts<net>() == 3);

// Every recipe is in one part, and none in the session's.
static_assert(kernel_part<net, 0>::recipes.empty());
static_assert(kernel_part<net, 1>::recipes.size() + kernel_part<net, 2>::recipes.size() == net::distinct_kernels);
static_assert(kernel_part<net, 1>::recipes.size() > 0 && kernel_part<net, 2>::recipes.size() > 0);

// Unless the model says so, and kernels cost more than a session.
using shared = dk::compile<model_shared_with_session>;
static_assert(kernel_part<shared, 0>::recipes.empty());
static_assert(kernel_part<shared, 1>::recipes.size() == shared::distinct_kernels);

constexpr std::array<std::size_t, 200> costs_from_1_to_4() {
  std::array<std::size_t, 200> costs{};
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = 1 + i * 7 % 4;
  return costs;
}

template <std::size_t N> std::array<float, N> wave() {
  std::array<float, N> x{};
  for (std::size_t i = 0; i < N; ++i) x[i] = static_cast<float>(i * 37 % 64) / 32 - 1;
  return x;
}

template <class Net> std::array<float, 2 + 28> result() {
  const auto a = wave<30>();
  const auto b = wave<35>();
  dk::session<Net> s(dk::weight_file("waves", {{"a", dk::f32, {6, 5}, std::as_bytes(std::span(a))},
                                               {"b", dk::f32, {5, 7}, std::as_bytes(std::span(b))}}));
  std::array<float, 2> y{};
  std::array<float, 28> z{};
  s.run(wave<12>(), y, z);
  std::array<float, 30> all{};
  std::copy(y.begin(), y.end(), all.begin());
  std::copy(z.begin(), z.end(), all.begin() + 2);
  return all;
}

}  // namespace

TEST_CASE("parts have equally much to compile, and those before the first nothing") {
  constexpr auto costs = costs_from_1_to_4();
  for (const std::size_t first : std::array<std::size_t, 2>{0, 1})
    for (const std::size_t parts : std::array<std::size_t, 4>{2, 3, 4, 6}) {
      CAPTURE(first);
      CAPTURE(parts);
      const auto part = dk::cpu::deal_kernels(costs, first, parts);
      std::vector<std::size_t> load(parts, 0);
      for (std::size_t k = 0; k < costs.size(); ++k) load.at(part[k]) += costs[k];
      for (std::size_t p = 0; p < first; ++p) CHECK(load[p] == 0);
      const auto begin = load.begin() + static_cast<std::ptrdiff_t>(first);
      CHECK(*std::max_element(begin, load.end()) - *std::min_element(begin, load.end()) <= 1);
    }
}

TEST_CASE("the first part gets less by what it costs without kernels") {
  constexpr auto costs = costs_from_1_to_4();
  const auto part = dk::cpu::deal_kernels(costs, 0, 3, dk::cpu::compile_cost_of_session);
  std::vector<std::size_t> load{dk::cpu::compile_cost_of_session, 0, 0};
  for (std::size_t k = 0; k < costs.size(); ++k) load.at(part[k]) += costs[k];
  CHECK(*std::max_element(load.begin(), load.end()) - *std::min_element(load.begin(), load.end()) <= 1);
  CHECK(std::count(part.begin(), part.end(), 0U) > 0);
}

TEST_CASE("more parts than kernels") {
  for (const std::size_t part : dk::cpu::deal_kernels(costs_from_1_to_4(), 1, 500)) {
    CHECK(part >= 1);
    CHECK(part < 500);
  }
}

TEST_CASE("a kernel costs what its stages cost") { CHECK(dk::cpu::compile_cost(net::plan) == 4 + 4 + 2 + 1 + 1); }

TEST_CASE("the same results, whichever units the kernels come from") {
  CHECK(result<net>() == result<whole>());
  CHECK(result<shared>() == result<whole>());
  CHECK(result<dk::compile<model_with_kernels_alone>>() == result<whole>());
}
