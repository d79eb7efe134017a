// SPDX-License-Identifier: MIT
// The least sum of functions of few variables, against every assignment there is.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/min_sum.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "tests/support/harness.hpp"
#include "tests/support/random_source.hpp"

namespace dk = dnnkit;
using dk::detail::min_sum;

namespace {

// A function of these variables, each of two states, by the bits of `values`' place.
constexpr min_sum::function of(dk::vector<std::uint32_t> variables, dk::vector<double> values) {
  return {variables, values};
}

// A chain of which each link alone would rather have the other state.
constexpr bool chain_is_solved = [] {
  min_sum m;
  for (int i = 0; i < 4; ++i) m.add_variable(2);
  m.add_function(of({0}, {5, 0}));
  for (std::uint32_t i = 0; i < 3; ++i) m.add_function(of({i, i + 1}, {0, 10, 10, 0}));
  m.add_function(of({3}, {0, 9}));
  const dk::vector<std::uint8_t> s = m.solve();
  return m.is_exact() && m.is_searched() && m.total(s) == 5 && s == dk::vector<std::uint8_t>{0, 0, 0, 0};
}();
static_assert(chain_is_solved);

// One state beats the others whatever the rest is in: nothing is searched.
constexpr bool dominant_states_need_no_search = [] {
  min_sum m;
  m.add_variable(2);
  m.add_variable(2);
  m.add_function(of({0, 1}, {4, 3, 2, 1}));
  m.add_function(of({1}, {1, 0}));
  return m.solve() == dk::vector<std::uint8_t>{1, 1} && !m.is_searched();
}();
static_assert(dominant_states_need_no_search);

// Of equals the first.
constexpr bool first_of_equals = [] {
  min_sum m;
  m.add_variable(3);
  m.add_function(of({0}, {2, 1, 1}));
  return m.solve() == dk::vector<std::uint8_t>{1};
}();
static_assert(first_of_equals);

struct problem {
  min_sum sum;
  dk::vector<std::uint8_t> states;
  problem(random_source& r, std::size_t variables, std::size_t functions, std::size_t widest, std::size_t most) {
    for (std::size_t v = 0; v < variables; ++v) {
      states.push_back(static_cast<std::uint8_t>(r.between(1, static_cast<std::int64_t>(most))));
      sum.add_variable(states.back());
    }
    for (std::size_t f = 0; f < functions; ++f) {
      min_sum::function x;
      std::size_t size = 1;
      for (std::size_t k = 1 + r.below(widest); k > 0; --k) {
        const auto v = static_cast<std::uint32_t>(r.below(variables));
        bool known = false;
        for (std::uint32_t o : x.of) known = known || o == v;
        if (known) continue;
        x.of.push_back(v);
        size *= states[v];
      }
      for (std::size_t i = 0; i < size; ++i) x.values.push_back(static_cast<double>(r.between(0, 50)));
      sum.add_function(x);
    }
  }
  double least() const {
    dk::vector<std::uint8_t> at(states.size(), 0);
    double best = 1e300;
    while (true) {
      const double now = sum.total(at);
      best = now < best ? now : best;
      std::size_t v = at.size();
      while (v > 0 && ++at[v - 1] == states[v - 1]) at[--v] = 0;
      if (v == 0) return best;
    }
  }
};

}  // namespace

TEST_CASE("random sums: the least of all assignments") {
  for (const std::uint64_t seed : harness::seeds(1, 300)) {
    random_source r(seed);
    const auto variables = static_cast<std::size_t>(r.between(1, 9));
    problem p(r, variables, static_cast<std::size_t>(r.between(1, 14)), 3, 3);
    const dk::vector<std::uint8_t> found = p.sum.solve();
    CAPTURE(seed);
    CHECK(p.sum.is_exact());
    CHECK(p.sum.total(found) == p.least());
  }
}
TEST_CASE("where tables would be too large, the graph is cut, and what is found cannot be bettered by one change") {
  bool any_cut = false;
  for (const std::uint64_t seed : harness::seeds(1, 10)) {
    random_source r(seed);
    min_sum m;
    constexpr std::size_t variables = 16;
    for (std::size_t v = 0; v < variables; ++v) m.add_variable(3);
    for (std::uint32_t a = 0; a < variables; ++a)
      for (std::uint32_t b = a + 1; b < variables; ++b) {
        min_sum::function f{{a, b}, {}};
        for (int i = 0; i < 9; ++i) f.values.push_back(static_cast<double>(r.between(0, 50)));
        m.add_function(f);
      }
    dk::vector<std::uint8_t> found = m.solve();
    any_cut = any_cut || !m.is_exact();
    const double total = m.total(found);
    CAPTURE(seed);
    for (std::size_t v = 0; v < variables; ++v)
      for (std::uint8_t s = 0; s < 3; ++s) {
        dk::vector<std::uint8_t> other = found;
        other[v] = s;
        CHECK(total <= m.total(other));
      }
  }
  CHECK(any_cut);
}
