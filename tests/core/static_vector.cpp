// SPDX-License-Identifier: MIT
// A vector in place: what goes in comes out, and not more than fits.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/core/static_vector.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using vector_of_six = dnnkit::static_vector<int, 6>;

static_assert(vector_of_six{1, 2, 3}.size() == 3 && vector_of_six{}.empty() && vector_of_six::capacity() == 6);
static_assert(vector_of_six{1, 2} == vector_of_six{1, 2} && !(vector_of_six{1, 2} == vector_of_six{1}) &&
              vector_of_six::filled(3, 7) == vector_of_six{7, 7, 7});
static_assert([] {
  vector_of_six v{1, 3};
  v.insert(1, 2);
  v.push_back(4);
  v.erase(0);
  v.back() = 5;
  return v == vector_of_six{2, 3, 5};
}());
// what was there before does not take part in a comparison
static_assert([] {
  vector_of_six v{1, 2, 3};
  v.resize(1);
  vector_of_six w{1, 9};
  w.pop_back();
  return v == w;
}());

TEST_CASE("random operations agree with std::vector") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  vector_of_six v;
  std::vector<int> w;
  for (int step = 0; step < 5000; ++step) {
    const int x = static_cast<int>(random() % 100);
    const std::size_t at = random() % (w.size() + 1);
    switch (random() % 4) {
      case 0:
        if (w.size() == 6) {
          CHECK_THROWS_AS(v.push_back(x), std::length_error);
          break;
        }
        v.push_back(x);
        w.push_back(x);
        break;
      case 1:
        if (w.size() == 6) break;
        v.insert(at, x);
        w.insert(w.begin() + static_cast<std::ptrdiff_t>(at), x);
        break;
      case 2:
        if (at == w.size()) break;
        v.erase(at);
        w.erase(w.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      default:
        v.resize(at, x);
        w.resize(at, x);
    }
    REQUIRE(std::equal(v.begin(), v.end(), w.begin(), w.end()));
  }
}
