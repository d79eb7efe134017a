// SPDX-License-Identifier: MIT
// Casts to ONNX's types of 8 bits and fewer, over all of their numbers: each stays what it is, what lies between two
// goes to the nearer one, and from the middle to the even one.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/import/narrow_values.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

namespace {

using list = std::vector<double>;
constexpr double infinite = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();

// x, f32, cast to a narrow type.
list narrowed(const list& x, std::int64_t to, attributes how = {}) {
  graph_of g;
  g.input("x", f32, {"N"}).output("y");
  how.push_back(integer("to", to));
  g.node("Cast", {"x"}, {"y"}, how);
  const auto m = model_of(g, 25);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  host_tensor given(f32, {static_cast<std::int64_t>(x.size())});
  given.reals = x;
  const host_tensor y = run(r, {given})[0];
  if (y.floating()) return y.reals;
  return list(y.integers.begin(), y.integers.end());
}

// The finite numbers of a narrow float from 0 on, in the order of their codes.
list numbers_of(const onnx::narrow_type& t) {
  list all;
  for (unsigned code = 0; code < 1U << (t.top == onnx::specials::scale ? t.bits : t.bits - 1); ++code)
    if (const double x = onnx::real_of_code(t, code); std::isfinite(x)) all.push_back(x);
  return all;
}

}  // namespace

TEST_CASE("floats of 8 and 4 bits round to the nearest number, from the middle to the even one") {
  for (const onnx::narrow_type& t : onnx::narrow_types) {
    if (!t.is_real() || t.top == onnx::specials::scale) continue;
    CAPTURE(t.number);
    const list numbers = numbers_of(t);
    list given, expected;
    const auto expect = [&](double x, double y) {
      given.push_back(x), expected.push_back(y);
      given.push_back(-x), expected.push_back(-y);
    };
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      expect(numbers[i], numbers[i]);
      if (i + 1 == numbers.size()) break;
      const double middle = (numbers[i] + numbers[i + 1]) / 2;
      expect(middle, numbers[i % 2 == 0 ? i : i + 1]);
      expect(static_cast<double>(std::nextafter(static_cast<float>(middle), 0.0F)), numbers[i]);
      expect(static_cast<double>(std::nextafter(static_cast<float>(middle), 1e9F)), numbers[i + 1]);
    }
    expect(2 * t.largest(), t.largest());
    expect(infinite, t.largest());
    expect(std::numeric_limits<float>::max(), t.largest());
    expect(1e-40, 0);
    CHECK(narrowed(given, t.number) == expected);
    const double of_nan = narrowed({not_a_number}, t.number)[0];
    CHECK((t.top == onnx::specials::none ? of_nan == 0 : std::isnan(of_nan)));
  }
}

TEST_CASE("what is too large becomes infinite or no number where it does not saturate") {
  const attributes how{integer("saturate", 0)};
  CHECK(narrowed({448, -57344, 1e6, -1e6, infinite}, 19, how) == list{448, -57344, infinite, -infinite, infinite});
  for (const std::int64_t type : {17, 18, 20})
    for (const double x : narrowed({1e6, -1e6, infinite, -infinite}, type, how)) CHECK(std::isnan(x));
  CHECK(narrowed({448, 463, -1}, 17, how) == list{448, 448, -1});
}

TEST_CASE("powers of two are rounded as is asked for") {
  const list x{1, 1.25, 1.5, 3, 0.75, 0};
  CHECK(narrowed(x, 24) == list{1, 2, 2, 4, 1, std::ldexp(1.0, -127)});
  CHECK(narrowed(x, 24, {word("round_mode", "down")}) == list{1, 1, 1, 2, 0.5, std::ldexp(1.0, -127)});
  CHECK(narrowed(x, 24, {word("round_mode", "nearest")}) == list{1, 1, 2, 4, 1, std::ldexp(1.0, -127)});
  const list all = numbers_of(*onnx::narrow_type_of(24));
  CHECK(narrowed(all, 24) == all);
}

TEST_CASE("integers of 4 and 2 bits keep their lowest bits") {
  CHECK(narrowed({-8, -1, 0, 7, 3.9, -3.9}, 22) == list{-8, -1, 0, 7, 3, -3});
  CHECK(narrowed({0, 15, 3.9}, 21) == list{0, 15, 3});
  CHECK(narrowed({-2, -1, 0, 1}, 26) == list{-2, -1, 0, 1});
  CHECK(narrowed({0, 3, 2.5}, 25) == list{0, 3, 2});
}

TEST_CASE("a narrow type goes on through what moves elements, and its bits are refused") {
  graph_of g;
  g.input("x", f32, {2}).output("y");
  g.node("Cast", {"x"}, {"n"}, {integer("to", 17)}).node("Unsqueeze", {"n", "axis"}, {"u"}).constant("axis", {0});
  g.input("z", f32, {3}).node("CastLike", {"z", "u"}, {"y"});
  std::swap(g.g.nodes[1], g.g.nodes[2]);
  const auto m = model_of(g, 25);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  CHECK(run(r, {host_tensor({2}, {1, 2}), host_tensor({3}, {1.03, 17, 1e9})})[0].reals == list{1, 16, 448});
  graph_of bits;
  bits.input("x", f32, {2}).output("y").node("Cast", {"x"}, {"n"}, {integer("to", 17)});
  bits.node("BitCast", {"n"}, {"y"}, {integer("to", 2)});
  CHECK(problems(import(bits, 26)) == "BitCast 'y': bits of types of 8 bits and fewer are not supported\n");
}
