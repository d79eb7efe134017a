// SPDX-License-Identifier: MIT
// LABELS: alone
// The search of `dnnkit tune` and its estimator on times that are a formula: the best candidate is found in far fewer
// measurements than there are candidates, and in fewer with what the estimator has learnt than without.
#include "cmake/onnx_tool/genetic_search.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmake/onnx_tool/time_estimator.hpp"

using dnnkit::tool::genetic_search;
using dnnkit::tool::genome;
using dnnkit::tool::search_space;
using dnnkit::tool::time_estimator;

namespace {

// Two families, of which the second, slower where it starts, has three genes; not every combination is a candidate, and
// rows beyond what registers hold are those that they hold.
constexpr std::int32_t most_rows = 14;
search_space space_of(std::int32_t family_of_start) {
  search_space s;
  s.starts = {{0, 2, 6, 0}, {1, 2, 6, 64}};
  if (family_of_start == 1) std::swap(s.starts[0], s.starts[1]);
  s.values = {{}, {1, 2, 3, 4}, {}, {}};
  for (std::int32_t rows = 1; rows <= 20; ++rows) s.values[2].push_back(rows);
  for (std::int32_t depth = 16; depth <= 1024; depth += 16) s.values[3].push_back(depth);
  s.standing_for = [](const genome& g) -> std::optional<genome> {
    genome one = g;
    one[2] = std::min(one[2], most_rows / one[1] + 2);
    if (one[1] * one[2] > 28) return std::nullopt;
    return one;
  };
  return s;
}
std::size_t candidates() {
  std::set<genome> all;
  const search_space s = space_of(0);
  for (std::int32_t v : s.values[1])
    for (std::int32_t r : s.values[2]) {
      if (const auto g = s.standing_for({0, v, r, 0})) all.insert(*g);
      for (std::int32_t d : s.values[3])
        if (const auto g = s.standing_for({1, v, r, d})) all.insert(*g);
    }
  return all.size();
}
// The best is {1, 3, 6, 320}: bowls over octaves of each gene, with dents of two per cent where rows are odd.
double time_of(const genome& g) {
  const auto octaves = [](std::int32_t x, double from) { return std::log2(x / from) * std::log2(x / from); };
  const double tile = 0.2 * octaves(g[1], 3) + 0.1 * octaves(g[2], 6) + 0.02 * (g[2] % 2);
  return g[0] == 0 ? 100 * (1 + tile) : 80 * (1 + tile + 0.08 * octaves(g[3], 320));
}
// Beside where its family starts.
std::vector<double> features_of(const genome& g) {
  std::vector<double> x(7, 0);
  x[0] = g[0] == 0 ? 1 : 0;
  const genome start{g[0], 2, 6, 64};
  for (std::size_t i = 1; i < g.size(); ++i)
    if (g[i] != 0) {
      const double octaves = std::log2(static_cast<double>(g[i]) / start[i]);
      x[2 * i - 1] = octaves;
      x[2 * i] = octaves * octaves;
    }
  return x;
}

// Measurements until a candidate is within two per cent of the best, three at a time; `most` where none is.
std::size_t measurements(std::uint64_t seed, bool learns, std::size_t most = 400) {
  const search_space space = space_of(1);
  const genome start = space.starts[0];
  const double best = time_of({1, 3, 6, 320});
  genetic_search search(space, seed);
  time_estimator estimator(7);
  std::size_t n = 0;
  while (n < most) {
    const std::vector<genome> next =
        search.propose(3, [&](const genome& g) { return learns ? estimator.ratio(features_of(g)) : 1; });
    if (next.empty()) break;
    for (const genome& g : next) {
      search.learn(g, time_of(g));
      estimator.learn(features_of(g), time_of(g) / time_of(start));
      ++n;
    }
    estimator.fit();
    if (search.best().time <= 1.02 * best) return n;
  }
  return most;
}

}  // namespace

TEST_CASE("the best is found in a fraction of the measurements that all candidates would take") {
  const std::size_t all = candidates();
  CHECK(all > 1500);
  double with = 0, without = 0;
  constexpr int seeds = 20;
  for (int seed = 1; seed <= seeds; ++seed) {
    const std::size_t learning = measurements(static_cast<std::uint64_t>(seed), true);
    CHECK_MESSAGE(learning < all / 10, "seed " << seed);
    with += static_cast<double>(learning) / seeds;
    without += static_cast<double>(measurements(static_cast<std::uint64_t>(seed), false)) / seeds;
  }
  MESSAGE(all << " candidates; measurements on average: " << with << " with the estimator, " << without << " without");
  CHECK(with < 0.85 * without);
}

TEST_CASE("candidates are starts first, none twice, all of them possible, and the same for the same seed") {
  std::vector<genome> first_time;
  for (int time = 0; time < 2; ++time) {
    genetic_search search(space_of(0), 7);
    std::vector<genome> all;
    std::set<genome> seen;
    while (all.size() < 60) {
      const auto next = search.propose(4, [](const genome& g) { return static_cast<double>(g[2]); });
      REQUIRE(!next.empty());
      for (const genome& g : next) {
        CHECK(seen.insert(g).second);
        CHECK(space_of(0).standing_for(g) == g);
        search.learn(g, time_of(g));
        all.push_back(g);
      }
    }
    CHECK(all[0] == space_of(0).starts[0]);
    CHECK(all[1] == space_of(0).starts[1]);
    if (time == 0) first_time = all;
    else CHECK(all == first_time);
  }
}

TEST_CASE("a space without alternatives is exhausted at once, a small one when all of it was proposed") {
  search_space one;
  one.starts = {{0, 0}};
  one.values = {{}, {}};
  one.standing_for = [](const genome& g) { return std::optional(g); };
  genetic_search alone(one, 1);
  CHECK(alone.propose(3, [](const genome&) { return 1; }).size() == 1);
  alone.learn({0, 0}, 5);
  CHECK(alone.propose(3, [](const genome&) { return 1; }).empty());
  CHECK(alone.best().time == 5);

  search_space few = one;
  few.starts = {{0, 2}};
  few.values = {{}, {1, 2, 3, 4}};
  genetic_search search(few, 1);
  std::set<genome> seen;
  for (auto next = search.propose(2, [](const genome&) { return 1; }); !next.empty();
       next = search.propose(2, [](const genome&) { return 1; }))
    for (const genome& g : next) {
      seen.insert(g);
      search.learn(g, 10.0 - g[1]);
    }
  CHECK(seen.size() == 4);
  CHECK(search.best().genes == genome{0, 4});
  search.learn({0, 4}, 11);  // measured again, it is not the best any more
  CHECK(search.best().genes == genome{0, 3});
}

TEST_CASE("the estimator finds how a time depends on numbers of any unit") {
  time_estimator e(3);
  CHECK(e.ratio(std::vector<double>{1, 1, 1}) == 1);
  for (int a = -3; a <= 3; ++a)
    for (int b = -3; b <= 3; ++b)
      for (int c = 0; c < 2; ++c)
        e.learn(std::vector<double>{double(a), 1000.0 * b, double(c)}, std::exp(0.1 * a - 0.2 * b + 0.05 * c));
  e.fit();
  CHECK(e.measurements() == 98);
  CHECK(std::log(e.ratio(std::vector<double>{2, -1000, 1})) == doctest::Approx(0.45).epsilon(0.05));
  CHECK(std::log(e.ratio(std::vector<double>{0, 0, 0})) == 0);
}
