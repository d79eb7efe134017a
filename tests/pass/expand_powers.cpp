// SPDX-License-Identifier: MIT
// Powers by constant exponents: which become products and roots, and that they are the same numbers.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/expand_powers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

namespace {

struct result {
  std::string operators;
  std::vector<dk::host_tensor> expected, found;
};
// x to the power `exponent`, before the pass and behind it.
result powers(dk::dtype type, const dk::host_tensor& x, double exponent) {
  dk::builder b;
  b.output("y", dk::pow(b.input("x", type, {x.dims[0]}), b.scalar(exponent, type)));
  const dk::graph after = dk::passes::expand_powers::run(b.value());
  REQUIRE(dk::verify(after).str() == "");
  result r;
  for (const dk::node& n : after.nodes) (r.operators += n.op->name) += " ";
  r.expected = evaluate(b.value(), {x});
  r.found = evaluate(after, {x});
  return r;
}

// Numbers at all ends of the floats, of either sign, and what is none.
dk::host_tensor reals(dk::dtype type) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> x{0,       infinity, std::numeric_limits<double>::quiet_NaN(),
                        1,       0.1,      1.5,
                        3,       1e19,     1.8e19,
                        1e30,    3e38,     1e-19,
                        1.2e-38, 1e-40,    1.4e-45,
                        7e-20,   65504,    6e-8,
                        300};
  for (std::size_t i = 0, n = x.size(); i < n; ++i) x.push_back(-x[i]);
  dk::host_tensor t(type, {static_cast<std::int64_t>(x.size())});
  for (std::size_t i = 0; i < x.size(); ++i) t.reals[i] = dk::round_to(type, x[i]);
  return t;
}

// How many units of 2^-bits two numbers are apart, relative to their size but not below `least`.
double units_apart(double a, double b, int bits, double least) {
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (a == b) return std::signbit(a) == std::signbit(b) ? 0 : 1e9;
  if (!std::isfinite(a) || !std::isfinite(b)) return 1e9;
  return std::abs(a - b) / std::ldexp(std::max({std::abs(a), std::abs(b), least}), -bits);
}

void check_reals(dk::dtype type, double exponent, const std::string& operators, int bits, double least) {
  CAPTURE(exponent);
  const dk::host_tensor x = reals(type);
  const result r = powers(type, x, exponent);
  CHECK(r.operators == operators);
  for (std::size_t i = 0; i < x.reals.size(); ++i)
    CHECK_MESSAGE(units_apart(r.found[0].reals[i], r.expected[0].reals[i], bits, least) <= 3,
                  x.reals[i] << ": " << r.found[0].reals[i] << ", not " << r.expected[0].reals[i]);
}

}  // namespace

TEST_CASE("floats of 32 bits and more") {
  for (const dk::dtype type : {dk::f32, dk::f64}) {
    CAPTURE(name(type));
    const bool narrow = type == dk::f32;
    const int bits = narrow ? 24 : 53;
    const double least = narrow ? 1.2e-38 : 2.3e-308;
    const std::string root = "Add Equal Sqrt Where ";
    const auto check = [&](double exponent, const char* operators) {
      check_reals(type, exponent, operators, bits, least);
    };
    check(1, "");
    check(2, "Mul ");
    check(3, "Mul Mul ");
    check(4, "Mul Mul ");
    check(-1, "Reciprocal ");
    check(-2, "Reciprocal Mul ");
    check(0, "Pow ");
    check(5, "Pow ");
    check(-3, "Pow ");
    check(1.75, "Pow ");
    check(1e300, "Pow ");
    check(std::numeric_limits<double>::quiet_NaN(), "Pow ");
  }
}

TEST_CASE("roots") {
  for (const double exponent : {0.5, -0.5}) {
    const result r = powers(dk::f32, reals(dk::f32), exponent);
    CHECK(r.operators.find("Sqrt") != std::string::npos);
    CHECK(r.operators.find("Pow") == std::string::npos);
    check_reals(dk::f32, exponent, r.operators, 24, 1.2e-38);
    check_reals(dk::f64, exponent, r.operators, 53, 2.3e-308);
  }
}

TEST_CASE("floats of 16 bits become what is rounded once") {
  check_reals(dk::f16, 2, "Mul ", 11, 6.2e-5);
  check_reals(dk::f16, -1, "Reciprocal ", 11, 6.2e-5);
  check_reals(dk::f16, 3, "Pow ", 11, 6.2e-5);
  check_reals(dk::bf16, 4, "Pow ", 8, 1.2e-38);
}

TEST_CASE("powers of integers wrap around, exactly") {
  const auto check = [](dk::dtype type, const std::vector<std::int64_t>& x, double exponent,
                        const std::string& operators) {
    CAPTURE(exponent);
    const auto count = static_cast<std::int64_t>(x.size());
    const result r = powers(type, dk::host_tensor::of_integers(type, {count}, x), exponent);
    CHECK(r.operators == operators);
    CHECK(r.found[0].integers == r.expected[0].integers);
  };
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::int64_t> x{0,      1,          -1,     2,          -3,           7, 200, 65535,
                                    -46341, 3037000500, lowest, lowest + 1, -(lowest + 1)};
  for (const dk::dtype type : {dk::i64, dk::i32, dk::u8, dk::i8}) {
    CAPTURE(name(type));
    check(type, x, 2, "Mul ");
    check(type, x, 3, "Mul Mul ");
    check(type, x, 6, "Mul Mul Mul ");
    check(type, x, 16, "Mul Mul Mul Mul ");
    check(type, x, 15, "Pow ");
    check(type, x, 0, "Pow ");
  }
  check(dk::i64, x, -1, "Pow ");
}

TEST_CASE("an exponent that is larger than the base, or not known, stays") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {3});
  b.output("larger", dk::pow(x, b.constant({2}, {4, 3})));
  b.output("unknown", dk::pow(x, b.input("e", dk::f32, {})));
  b.output("several", dk::pow(x, b.constant({2, 3, 2}, {3})));
  const dk::graph after = dk::passes::expand_powers::run(b.value());
  int powers_left = 0;
  for (const dk::node& n : after.nodes) powers_left += n.op->name == dk::op::pow::name ? 1 : 0;
  CHECK(powers_left == 3);
}

TEST_CASE("the log says so") {
  dk::builder b;
  b.output("y", dk::pow(b.input("x", dk::f32, {3}), b.scalar(3)));
  bool said = false;
  for (const dk::plan::decision& d : dk::default_pipeline::run_logged(b.value()).plan.decisions)
    said = said || d.pass == dk::passes::expand_powers::name;
  CHECK(said);
}
