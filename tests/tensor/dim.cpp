// SPDX-License-Identifier: MIT
// Dimensions: the laws of the canonical polynomials, and every operation against arithmetic on the symbols' values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/tensor/dim.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

using dnnkit::bounds;
using dnnkit::dim;
using dnnkit::symbol_table;

namespace {

// --- what holds as an equation of codes
constexpr bool equations() {
  symbol_table t;
  const dim h = t.symbol_named("H", {1, 512}), w = t.symbol_named("W", {1, 64});
  const dim two_h = t.mul(h, 2);
  return t.symbol_named("H", {1, 512}) == h && t.add(h, w) == t.add(w, h) && t.mul(h, w) == t.mul(w, h) &&
         t.mul(t.add(h, w), h) == t.add(t.mul(h, h), t.mul(w, h)) && t.sub(t.add(h, w), w) == h &&
         t.sub(h, h) == dim(0) && t.add(two_h, h) == t.mul(3, h) && t.mul(h, 1) == h && t.add(h, dim(0)) == h &&
         t.mul(t.add(h, 1), t.add(h, -1)) == t.add(t.mul(h, h), -1);
}
static_assert(equations());

constexpr bool divisions() {
  symbol_table t;
  const dim h = t.symbol_named("H", {1, 512}), w = t.symbol_named("W", {1, 64});
  const dim half_up = t.ceil_div(h, 2);
  return t.exact_div(t.mul(h, 6), 3) == t.mul(h, 2) && t.exact_div(h, 2).is_unknown() &&
         t.exact_div(t.mul(t.mul(h, w), 4), t.mul(h, 2)) == t.mul(w, 2) &&
         t.exact_div(t.mul(t.add(h, 1), t.add(w, 2)), t.add(w, 2)) == t.add(h, 1) && t.exact_div(h, h) == dim(1) &&
         t.exact_div(dim::unknown(), dim::unknown()).is_unknown() && t.exact_div(h, 0).is_unknown() &&
         t.floor_div(t.mul(h, 4), 2) == t.mul(h, 2) && t.floor_div(t.add(t.mul(h, 2), 1), 2) == h &&
         t.floor_div(t.add(t.mul(h, 2), -1), 2) == t.add(h, -1) && t.mod(t.mul(h, 4), 2) == dim(0) &&
         t.mod(t.add(h, 5), 2) == t.mod(t.add(h, 1), 2) && t.mod(t.add(t.mul(h, 2), 1), 2) == dim(1) &&
         // the extents of a convolution of stride 2, kernel 3 and padding 1, and of one after it
         t.add(t.floor_div(t.add(h, 2 - 3), 2), 1) == half_up &&
         t.add(t.floor_div(t.add(half_up, 2 - 3), 2), 1) == t.ceil_div(h, 4);
}
static_assert(divisions());

constexpr bool extrema() {
  symbol_table t;
  const dim h = t.symbol_named("H", {1, 512}), w = t.symbol_named("W", {1, 64});
  return t.min(h, 0) == dim(0) && t.max(h, 0) == h && t.max(t.add(h, -1), 0) == t.add(h, -1) &&
         t.min(h, t.add(h, 1)) == h && t.min(h, w) == t.min(w, h) && !(t.min(h, w) == t.max(h, w)) &&
         t.max(600, h) == dim(600) && t.min(dim(3), dim(5)) == dim(3) && t.max(dim(3), dim(5)) == dim(5);
}
static_assert(extrema());

constexpr bool ranges() {
  symbol_table t;
  const dim h = t.symbol_named("H", {2, 10}), huge = t.symbol_named("N", bounds{});
  const bounds a = t.range(t.sub(1, t.mul(h, 3))), b = t.range(t.mul(t.mul(huge, huge), t.mul(huge, huge)));
  const bounds c = t.range(t.floor_div(h, 3));
  return a.min == -29 && a.max == -5 && b.min == 0 && b.max == std::numeric_limits<std::int64_t>::max() && c.min == 0 &&
         c.max == 3;
}
static_assert(ranges());

// Too large for 64 bits, or too long: unknown, never a wrong number.
constexpr bool limits() {
  symbol_table t;
  const dim h = t.symbol_named("H", {1, 512}), big = std::int64_t{1} << 62;
  dim power = h, sum = h;
  for (int i = 0; i < 8; ++i) power = t.mul(power, h);
  for (int i = 0; i < 20; ++i) {
    const char name[] = {static_cast<char>('a' + i), 0};
    sum = t.add(sum, t.symbol_named(name, {}));
  }
  return t.mul(big, 4).is_unknown() && t.add(big, big).is_unknown() && t.mul(t.mul(h, big), 4).is_unknown() &&
         power.is_unknown() && sum.is_unknown() && t.add(dim::unknown(), 1).is_unknown() &&
         t.mul(dim::unknown(), 0) == dim(0);
}
static_assert(limits());

constexpr bool questions() {
  symbol_table t;
  const dim h = t.symbol_named("H", {1, 512}), w = t.symbol_named("W", {1, 64});
  const dim e = t.add(t.floor_div(w, 2), 3);
  return t.symbol_of(h) == 0u && t.symbol_of(w) == 1u && !t.symbol_of(e) && !t.symbol_of(t.mul(h, 2)) &&
         !t.symbol_of(5) && t.uses(e, 1) && !t.uses(e, 0) && !t.uses(dim(7), 0);
}
static_assert(questions());

// Expressions that would be too long, written out, are unknown, before anything takes long to walk over them.
constexpr bool lengths() {
  symbol_table t;
  dim d = t.symbol_named("H", {1, 512}), e = d;
  std::size_t steps = 0;
  for (; steps < 100 && !d.is_unknown(); ++steps) d = t.floor_div(t.add(t.floor_div(d, 3), d), 2);  // twice as long
  for (int i = 0; i < 6; ++i) e = t.floor_div(t.add(t.mul(e, 5), 1), 3);
  return steps > 5 && steps < 12 && !e.is_unknown();
}
static_assert(lengths());

TEST_CASE("printed as a user would write it") {
  symbol_table t;
  const dim h = t.symbol_named("H", {1, 512}), w = t.symbol_named("W", {1, 512});
  CHECK(t.print(h).view() == "H");
  CHECK(t.print(t.add(t.mul(h, 2), -1)).view() == "2*H-1");
  CHECK(t.print(t.mul(t.mul(h, w), 3)).view() == "3*H*W");
  CHECK(t.print(t.sub(w, h)).view() == "W-H");
  CHECK(t.print(t.floor_div(t.add(h, 1), 2)).view() == "floor_div(H+1, 2)");
  CHECK(t.print(t.sub(dim(1), dim(4))).view() == "-3");
  CHECK(t.print(t.sub(dim(0), h)).view() == "-H");
  CHECK(t.print(t.add(t.mul(t.sub(dim(0), h), 3), 5)).view() == "-3*H+5");
  CHECK(t.print(t.add(dim(0), std::numeric_limits<std::int64_t>::min())).view() == "-9223372036854775808");
  CHECK(t.print(dim::unknown()).view() == "?");
  const dim part = t.symbol_named("H/32", {1, 100});  // called like a calculation: in brackets beside other terms
  CHECK(t.print(part).view() == "H/32");
  CHECK(t.print(t.mul(part, 2)).view() == "2*(H/32)");
  CHECK(t.print(t.add(part, 1)).view() == "(H/32)+1");
}

__extension__ using wide = __int128;

// Random expressions over three symbols, each with its value computed beside it in 128 bits.
struct term {
  dim d;
  wide value;
};

wide floored(wide a, wide b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

TEST_CASE("every operation agrees with arithmetic on the symbols' values") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::size_t expressions = 0, unknown = 0;
  for (int round = 0; round < 400; ++round) {
    symbol_table t;
    std::vector<std::int64_t> values;
    std::vector<term> pool;
    for (const char* name : {"A", "B", "C"}) {
      const std::int64_t low = below(3), high = low + below(20);
      values.push_back(low + below(static_cast<int>(high - low + 1)));
      pool.push_back({t.symbol_named(name, {low, high}), values.back()});
    }
    for (std::int64_t k : {0, 1, 2, 3, 7}) pool.push_back({k, k});
    for (int step = 0; step < 25; ++step) {
      const term a = pool[static_cast<std::size_t>(below(static_cast<int>(pool.size())))];
      const term b = pool[static_cast<std::size_t>(below(static_cast<int>(pool.size())))];
      term r{};
      switch (below(8)) {
        case 0:
          r = {t.add(a.d, b.d), a.value + b.value};
          break;
        case 1:
          r = {t.sub(a.d, b.d), a.value - b.value};
          break;
        case 2:
          r = {t.mul(a.d, b.d), a.value * b.value};
          break;
        case 3:
          r = {t.min(a.d, b.d), std::min(a.value, b.value)};
          break;
        case 4:
          r = {t.max(a.d, b.d), std::max(a.value, b.value)};
          break;
        case 5:
          if (b.value <= 0) continue;
          r = {t.floor_div(a.d, b.d), floored(a.value, b.value)};
          break;
        case 6:
          if (b.value <= 0) continue;
          r = {t.mod(a.d, b.d), a.value - floored(a.value, b.value) * b.value};
          break;
        default:
          if (b.value <= 0) continue;
          r = {t.exact_div(a.d, b.d), b.value == 0 ? 0 : floored(a.value, b.value)};
          if (!r.d.is_unknown()) CHECK(r.value * b.value == a.value);
      }
      if (r.d.is_unknown()) {
        ++unknown;
        continue;
      }
      if (r.value > (wide{1} << 40) || r.value < -(wide{1} << 40)) continue;
      ++expressions;
      CAPTURE(t.print(r.d).str());
      CHECK(t.evaluate(r.d, values.data()) == static_cast<std::int64_t>(r.value));
      const bounds range = t.range(r.d);
      CHECK(range.min <= static_cast<std::int64_t>(r.value));
      CHECK(range.max >= static_cast<std::int64_t>(r.value));
      pool.push_back(r);
    }
  }
  CHECK(expressions > 4000);
  MESSAGE(expressions << " expressions, " << unknown << " unknown");
}

// Equal polynomials have equal codes whichever way they were made.
TEST_CASE("sums and products are canonical") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    symbol_table t;
    std::vector<dim> terms;
    for (const char* name : {"A", "B", "C"}) {
      terms.push_back(t.symbol_named(name, {0, 9}));
      terms.push_back(t.mul(terms.back(), static_cast<std::int64_t>(random() % 5)));
    }
    const auto total = [&] {
      dim sum = 0;
      for (dim d : terms) sum = t.add(sum, d);
      return sum;
    };
    const dim sum = total();
    std::shuffle(terms.begin(), terms.end(), random);
    CHECK(total() == sum);
    const dim x = terms[0], y = terms[1], z = terms[2];
    CHECK(t.mul(x, t.mul(y, z)) == t.mul(t.mul(z, x), y));
    CHECK(t.mul(x, t.add(y, z)) == t.add(t.mul(z, x), t.mul(x, y)));
    if (!(x == dim(0))) CHECK(t.exact_div(t.mul(x, t.add(y, z)), x) == t.add(y, z));
  }
}

}  // namespace

TEST_CASE("dimensions that are linear in one symbol") {
  symbol_table t;
  const dim h = t.symbol_named("H", {1, 100}), w = t.symbol_named("W", {1, 100});
  const auto x = t.linear_of(t.add(t.mul(w, 3), -2));
  REQUIRE(x);
  CHECK((x->symbol == 1 && x->factor == 3 && x->offset == -2));
  CHECK(x->solve(10) == 4);
  CHECK(!x->solve(11));
  CHECK(t.linear_of(h)->solve(7) == 7);
  for (dim d : {dim(5), dim::unknown(), t.add(h, w), t.mul(h, h), t.floor_div(h, 2), t.sub(5, h)})
    CHECK(!t.linear_of(d));
}

TEST_CASE("equations are noted only where they are collected, and could hold") {
  symbol_table t;
  const dim h = t.symbol_named("H", {4, 100}), w = t.symbol_named("W", {1, 100});
  t.collects_equations = true;
  CHECK(t.note_equation(h, w));
  CHECK(!t.note_equation(h, 3));
  CHECK(!t.note_equation(h, t.add(h, 1)));
  REQUIRE(t.equations.size() == 1);
  CHECK((t.equations[0].left == h && t.equations[0].right == w));
}

TEST_CASE("what may be equal is assumed to be where equations are not collected, each thing once") {
  symbol_table t;
  const dim h = t.symbol_named("H", {4, 100}), w = t.symbol_named("W", {1, 100});
  CHECK(!t.note_equation(h, 3));
  CHECK(!t.note_equation(h, t.add(h, 1)));
  CHECK(!t.note_equation(h, w, true));
  CHECK(t.assumptions.empty());
  CHECK(t.note_equation(h, w));
  CHECK(t.note_equation(w, h));
  CHECK(t.note_equation(t.mul(h, 2), t.add(h, w)));
  REQUIRE(t.assumptions.size() == 1);
  CHECK((t.assumptions[0].left == h && t.assumptions[0].right == w));
}

TEST_CASE("what replaces nothing is assumed once, too, whichever side comes first") {
  symbol_table t;
  const dim h = t.mul(t.symbol_named("H", {1, 100}), 2), w = t.mul(t.symbol_named("W", {1, 100}), 3);
  CHECK(t.assume(h, w));
  CHECK(t.assume(w, h));
  CHECK(t.assumptions.size() == 1);
}

TEST_CASE("an assumption replaces the atom made last that stands alone, symbols only where there is no other") {
  const auto replaced = [](auto make) {
    symbol_table t;
    const dim h = t.symbol_named("H", {1, 100}), w = t.symbol_named("W", {1, 100}), n = t.symbol_named("N", {1, 8});
    const auto [left, right] = make(t, h, w, n);
    CHECK(t.assume(left, right));
    const auto& a = t.assumptions[0];
    if (!a.replaces()) return std::string();
    return t.print(dim::of_code(right.code)).str() + " is " + t.print(t.settled(right)).str();
  };
  using pair = std::pair<dim, dim>;
  CHECK(replaced([](auto&, dim h, dim w, dim) { return pair(h, w); }) == "W is H");
  CHECK(replaced([](auto& t, dim h, dim w, dim) { return pair(t.add(t.mul(w, 2), 1), h); }) == "H is 2*W+1");
  CHECK(replaced([](auto& t, dim h, dim w, dim) { return pair(w, t.floor_div(h, 3)); }) == "floor_div(H, 3) is W");
  CHECK(replaced([](auto& t, dim h, dim, dim n) { return pair(n, t.mul(n, t.floor_div(h, 48))); }) ==
        "N*floor_div(H, 48) is N");
  CHECK(replaced([](auto& t, dim h, dim w, dim) { return pair(t.mul(h, 2), t.mul(w, 3)); }) == "");
  CHECK(replaced([](auto& t, dim h, dim, dim) { return pair(h, t.mul(t.floor_div(h, 2), 2)); }) == "");
}

TEST_CASE("settled expressions have the same values wherever what is assumed holds") {
  symbol_table t;
  const dim h = t.symbol_named("H", {1, 100}), w = t.symbol_named("W", {1, 100}), k = t.symbol_named("K", {1, 100});
  const dim before[] = {t.add(t.mul(w, 3), h), t.min(t.floor_div(h, 4), t.add(w, -3)), t.mod(t.add(w, h), 7),
                        t.floor_div(t.mul(t.floor_div(h, 4), w), k), t.max(k, t.floor_div(t.add(k, w), 2))};
  CHECK(t.assume(t.floor_div(h, 4), w));
  CHECK(t.assume(k, t.mul(w, 2)));
  for (const dim d : before) {
    const dim settled = t.settled(d);
    CHECK(t.settled(settled) == settled);
    CHECK(!t.uses(settled, 2));
    for (std::int64_t height = 4; height <= 100; ++height) {
      const std::int64_t values[] = {height, height / 4, height / 4 * 2};
      CHECK(t.evaluate(settled, values) == t.evaluate(d, values));
    }
  }
  CHECK(t.add(k, h) == t.add(t.mul(t.floor_div(h, 4), 2), h));
}

TEST_CASE("chains of 10,000 operations end in an unknown dimension") {
  symbol_table t;
  dim d = t.symbol_named("H", {1, 512});
  for (int i = 0; i < 10'000; ++i) d = t.add(t.floor_div(t.mul(d, 5), 3), 2);
  CHECK(d.is_unknown());
  CHECK(t.atoms.size() < 2 * symbol_table::most_atoms_written_out);
}

TEST_CASE("more symbols than can be numbered are unknown") {
  symbol_table t;
  t.atoms.resize(std::size_t{1} << 16);
  CHECK(t.symbol_named("one more", {}).is_unknown());
}
