// SPDX-License-Identifier: MIT
// The intervals of recurring stretches against comparing all places with all, on random sequences.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/source/recurrences.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <vector>

using dnnkit::generation::recurrences;

namespace {

std::size_t common(const std::vector<std::size_t>& x, std::size_t i, std::size_t j, std::size_t longest) {
  std::size_t n = 0;
  while (n < longest && std::max(i, j) + n < x.size() && x[i + n] == x[j + n]) ++n;
  return n;
}

void check(const std::vector<std::size_t>& x, std::size_t longest) {
  const recurrences r(x, longest);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t most = 0;
    for (std::size_t j = 0; j < x.size(); ++j)
      if (i != j) {
        const std::size_t n = common(x, i, j, longest);
        REQUIRE(r.common(i, j) == n);
        most = std::max(most, n);
      }
    REQUIRE(r.at(r.deepest(i)).length == most);
    for (std::size_t k = r.deepest(i); k != recurrences::whole; k = r.at(k).parent) {
      const auto& interval = r.at(k);
      REQUIRE(interval.length > r.at(interval.parent).length);
      std::set<std::size_t> found;
      for (std::size_t place : r.places(interval)) found.insert(place);
      std::set<std::size_t> expected{i};
      for (std::size_t j = 0; j < x.size(); ++j)
        if (i != j && common(x, i, j, longest) >= interval.length) expected.insert(j);
      REQUIRE(found == expected);
    }
  }
}

}  // namespace

TEST_CASE("every place knows the stretches from it that occur elsewhere, and where") {
  const unsigned seed = std::random_device{}();
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  check({}, 8);
  check({7}, 8);
  check(std::vector<std::size_t>(50, 3), 8);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::size_t> x(1 + random() % 60);
    const std::size_t kinds = 1 + random() % 4;
    for (std::size_t& e : x) e = random() % kinds;
    if (round % 3 == 0) x.insert(x.end(), x.begin(), x.end() - static_cast<std::ptrdiff_t>(x.size() / 3));
    check(x, 1 + random() % 40);
  }
}
