// SPDX-License-Identifier: MIT
// What expressions write: literals that are the very numbers, a statement an operation; every operator of reals.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/expression.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string_view>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/opencl/operators.hpp"

using namespace dnnkit;
using opencl::expression;
using opencl::source_writer;

namespace {

constexpr bool writes(auto write, std::string_view expected) {
  char room[1000]{};
  source_writer out(room, sizeof room);
  write(out);
  return std::string_view(room, out.size()) == expected;
}
static_assert(writes(
    [](source_writer& out) {
      out << -120 << ',' << 0U << "," << std::int64_t{1} << ',' << std::numeric_limits<std::int64_t>::min();
    },
    "-120,0,1,-9223372036854775808"));
static_assert(writes([](source_writer& out) { out << 0.1F << ' ' << -1.0F << ' ' << 0.0F << ' ' << -0.0F; },
                     "0x1.99999ap-4f -0x1p0f 0.0f -0.0f"));
static_assert(writes([](source_writer& out) { out << 0x1p-149F << ' ' << std::numeric_limits<float>::max(); },
                     "0x0.000002p-126f 0x1.fffffep127f"));
static_assert(writes(
    [](source_writer& out) {
      out << std::numeric_limits<float>::infinity() << ' ' << -std::numeric_limits<float>::infinity();
    },
    "INFINITY -INFINITY"));

// The variables x0 and x1 of a kernel.
constexpr bool says(auto compute, std::string_view expected) {
  return writes([&](source_writer& out) { compute(expression(out, 'x', 0), expression(out, 'x', 1)); }, expected);
}
static_assert(says([](expression a, expression b) { return (a + b) * a; },
                   "const float t0=x0+x1;\nconst float t1=t0*x0;\n"));
static_assert(says([](expression a, expression) { return a - expression(-2); }, "const float t0=x0-(-0x1p1f);\n"));
static_assert(says([](expression a, expression b) { return select(a < b, opencl::exp(a), b); },
                   "const int t0=x0<x1;\nconst float t1=exp(x0);\nconst float t2=t0?t1:x1;\n"));
static_assert(says([](expression, expression) { return expression(2) * expression(3) - expression(1) / expression(4); },
                   ""));  // literals are computed with at once
// Whole literals beside integers are integers, on either side; others are not.
static_assert(writes(
    [](source_writer& out) {
      const expression n(out, 'n', 0, opencl::element_kind::integer), rest = expression(3) - n;
      static_cast<void>(rest * expression(0.5F));
    },
    "const long t0=(3)-n0;\nconst float t1=t0*(0x1p-1f);\n"));
static_assert(writes(
    [](source_writer& out) {
      const expression n(out, 'n', 0, opencl::element_kind::integer);
      select(n == expression(7), expression(1), n);
    },
    "const int t0=n0==(7);\nconst long t1=t0?(1):n0;\n"));
static_assert((expression(2) * expression(3) - expression(1) / expression(4)).literal() == 5.75F);
static_assert(says([](expression a, expression) { return op::gelu{}.apply(a); },
                   "const float t0=(0x1p-1f)*x0;\nconst float t1=x0*(0x1.6a09e6p-1f);\nconst float t2=erf(t1);\n"
                   "const float t3=(0x1p0f)+t2;\nconst float t4=t0*t3;\n"));

// Bytes that Op writes in a constant expression; 0: it computes no real numbers or truth values.
template <class Op> constexpr std::size_t size_of_text() {
  source_writer out(nullptr, 0);  // which counts
  if constexpr (opencl::detail::has_text<Op>) {
    const expression x[]{{out, 'x', 0}, {out, 'x', 1}, {out, 'x', 2}};
    const vector<std::int64_t> codes = [] {
      vector<std::int64_t> list;
      encode(Op{}, list);
      return list;
    }();
    expression result;
    if (!opencl::apply(op_set<Op>{}, id_of<Op>, codes.data(), {x, most_inputs<Op>()}, result)) return 0;
  }
  return out.size();
}
template <class... Ops> constexpr int count_texts(op_set<Ops...>) { return ((size_of_text<Ops>() > 0 ? 1 : 0) + ...); }

}  // namespace

TEST_CASE("every element-wise operator of real numbers or truth values writes text") {
  constexpr int count = count_texts(builtin_ops);
  CHECK(count == 63);
}

TEST_CASE("a literal is read back as the number it was") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 20000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (x - x != 0) continue;  // infinite, or no number
    char room[32]{};
    source_writer(room, sizeof room) << x;
    CHECK(std::bit_cast<std::uint32_t>(std::strtof(room, nullptr)) == std::bit_cast<std::uint32_t>(x));
  }
}
