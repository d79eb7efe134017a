// SPDX-License-Identifier: MIT
// GEMM against plain loops: known and run-time extents, narrow and ragged sizes, padded rows, any division of the work;
// floats, and the other numbers that vectors are of.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/gemm.hpp>
#include <dnnkit/cpu/micro/wide.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "../reference.hpp"
#include "tests/support/thoroughly.hpp"

using namespace dnnkit::cpu;

namespace {

// Runs g in random ranges in random order and compares every element; rows of A and C end where their vectors end, so
// that the address sanitizer sees any access beyond.
template <class Gemm> void check(const Gemm& g) {
  const index_t m = g.m, n = g.n, k = g.k, stride = g.row_stride;
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  const auto a = reference::values(m == 0 ? 0 : (m - 1) * stride + k), b = reference::values(k * n),
             bias = reference::values(n);
  std::vector<float> packed(static_cast<std::size_t>(g.packed_size())), start(static_cast<std::size_t>(g.bias_size()));
  g.pack([&](index_t row, index_t column) { return b[static_cast<std::size_t>(row * n + column)]; }, packed.data());
  pack_bias<typename Gemm::panel_layout>(n, bias.data(), start.data());

  std::vector<float> scratch(static_cast<std::size_t>(g.scratch_size()));
  const float unset = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> c(static_cast<std::size_t>(m * n), unset), whole = c;
  index_t twice = 0;
  const auto store_to = [n, &twice](std::vector<float>& out) {
    return [data = out.data(), n, &twice](float_vec acc, index_t row, index_t column, auto lanes) {
      float* p = data + row * n + column;
      reference::store_once(acc, p, lanes, twice);
    };
  };
  g.run(a.data(), packed.data(), start.data(), 0, g.units(), store_to(whole));

  std::vector<index_t> cuts{0, g.units(), reference::pick(0, g.units()), reference::pick(0, g.units())};
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t i = cuts.size() - 1; i > 0; --i)
    g.run(a.data(), packed.data(), start.data(), cuts[i - 1], cuts[i], store_to(c),
          scratch.empty() ? nullptr : scratch.data());

  index_t wrong = 0, different = 0;
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      double sum = static_cast<double>(bias[static_cast<std::size_t>(j)]);
      for (index_t l = 0; l < k; ++l)
        sum += static_cast<double>(a[static_cast<std::size_t>(i * stride + l)]) *
               static_cast<double>(b[static_cast<std::size_t>(l * n + j)]);
      const float got = c[static_cast<std::size_t>(i * n + j)];
      const double tolerance = 1e-6 * (2 + static_cast<double>(k));
      if (!(std::abs(static_cast<double>(got) - sum) <= tolerance)) ++wrong;
      if (got != whole[static_cast<std::size_t>(i * n + j)]) ++different;
    }
  CHECK(wrong == 0);
  CHECK(twice == 0);
  CHECK(different == 0);
}

template <index_t M, index_t N, index_t K, index_t Stride = K> void check_known() {
  check(gemm<constant<M>, constant<N>, constant<K>, constant<Stride>>{});
  check(gemm<index_t, constant<N>, constant<K>, constant<Stride>>{.m = M});
}

// Integers of all sizes: their sums wrap around.
template <class T> std::vector<T> numbers(index_t count) {
  std::vector<T> v(static_cast<std::size_t>(count));
  for (T& x : v) {
    if constexpr (std::is_integral_v<T>) x = static_cast<T>(reference::random()() * 0x9E3779B97F4A7C15U >> 7);
    else x = std::uniform_real_distribution<T>(-1, 1)(reference::random());
  }
  return v;
}

// The same for vectors of other numbers, whole and without a bias; integers are exact, doubles as such are.
template <class Vec, class M, class N, class K> void check_of(M m, N n, K k) {
  using number = typename Vec::value_type;
  using modular = typename std::conditional_t<std::is_integral_v<number>, std::make_unsigned<number>,
                                              std::type_identity<number>>::type;
  constexpr int widest = gemm_panel_vectors(dnnkit::targets::native::facts, value_or<K>(1), sizeof(number));
  const gemm<M, N, K, K, widest, Vec> g{m, n, k, k};
  const auto a = numbers<number>(m * k), b = numbers<number>(k * n);
  std::vector<number> packed(static_cast<std::size_t>(g.packed_size()));
  g.pack([&](index_t row, index_t column) { return b[static_cast<std::size_t>(row * n + column)]; }, packed.data());
  std::vector<number> scratch(static_cast<std::size_t>(g.scratch_size()));
  std::vector<number> c(static_cast<std::size_t>(m * n)), whole = c;
  const auto store_to = [n](std::vector<number>& out) {
    return [data = out.data(), n](Vec acc, index_t row, index_t column, auto lanes) {
      acc.store(data + row * n + column, lanes);
    };
  };
  g.run(a.data(), packed.data(), nullptr, 0, g.units(), store_to(whole));
  g.run(a.data(), packed.data(), nullptr, 0, g.units(), store_to(c), scratch.empty() ? nullptr : scratch.data());
  index_t wrong = 0;
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      modular sum = 0;
      for (index_t l = 0; l < k; ++l)
        sum += static_cast<modular>(a[static_cast<std::size_t>(i * k + l)]) *
               static_cast<modular>(b[static_cast<std::size_t>(l * n + j)]);
      const number got = c[static_cast<std::size_t>(i * n + j)], expected = static_cast<number>(sum);
      const number tolerance = static_cast<number>(1e-15 * static_cast<double>(k));
      if constexpr (std::is_integral_v<number>) wrong += got != expected;
      else wrong += !(std::abs(got - expected) <= tolerance);
      wrong += got != whole[static_cast<std::size_t>(i * n + j)];
    }
  CHECK(wrong == 0);
}
template <class Vec> void check_numbers() {
  check_of<Vec>(constant<7>{}, constant<20>{}, constant<33>{});
  check_of<Vec>(constant<29>{}, constant<80>{}, constant<40>{});
  check_of<Vec>(index_t{11}, constant<40>{}, constant<3100>{});
  for (int round = 0; round < 20; ++round)
    check_of<Vec>(reference::pick(1, 70), reference::pick(1, 70), reference::pick(0, 70));
}

}  // namespace

TEST_CASE("other numbers than floats") {
  check_numbers<vec<std::int32_t, float_lanes>>();
  check_numbers<wide<std::int64_t, float_lanes>>();
  harness::thoroughly([](auto) { check_numbers<wide<double, float_lanes>>(); });
}

TEST_CASE("known extents") {
  check_known<7, 20, 33>();
  check_known<29, 88, 40>();  // panels of equal widths, of which the last one ends in half a vector
  check_known<128, 200, 64>();
  harness::thoroughly([](auto) {
    check_known<1, 10, 7>();
    check_known<13, 24, 16, 19>();
    check_known<29, 80, 40>();
  });
}

TEST_CASE("no bias starts from zero") {
  const gemm<index_t, constant<16>, index_t, index_t> g{.m = 3, .k = 2, .row_stride = 2};
  std::vector<float> packed(static_cast<std::size_t>(g.packed_size()));
  g.pack([](index_t k, index_t n) { return static_cast<float>(100 * k + n); }, packed.data());
  const float a[] = {1, 0, 0, 1, 1, 1};
  float c[3][16];
  g.run(a, packed.data(), nullptr, 0, g.units(),
        [&](float_vec acc, index_t m, index_t n, auto) { acc.store(&c[m][n]); });
  for (int n = 0; n < 16; ++n) {
    CHECK(c[0][n] == static_cast<float>(n));
    CHECK(c[1][n] == static_cast<float>(100 + n));
    CHECK(c[2][n] == static_cast<float>(100 + 2 * n));
  }
}

TEST_CASE("an empty product has no work") {
  CHECK(gemm<index_t, index_t, index_t, index_t>{.m = 0, .n = 8, .k = 8, .row_stride = 8}.units() == 0);
  CHECK(gemm<index_t, index_t, index_t, index_t>{.m = 8, .n = 0, .k = 8, .row_stride = 8}.units() == 0);
  check(gemm<index_t, index_t, index_t, index_t>{.m = 3, .n = 5, .k = 0, .row_stride = 0});
}

TEST_CASE("random extents, all at run time") {
  for (int round = 0; round < 60; ++round) {
    const index_t k = reference::pick(1, 90), high = round % 2 ? 90 : 12;
    check(gemm<index_t, index_t, index_t, index_t>{
        .m = reference::pick(1, high), .n = reference::pick(1, high), .k = k, .row_stride = k + reference::pick(0, 5)});
  }
}

TEST_CASE("a long reduction in blocks, with scratch, is bit for bit the one without") {
  const gemm<index_t, constant<40>, constant<3100>> g{.m = 17};
  CHECK(g.scratch_size() > 0);
  check(g);
}

TEST_CASE("random rows, known columns") {
  for (int round = 0; round < 40; ++round) {
    check(gemm<index_t, constant<72>, constant<30>, constant<31>>{.m = reference::pick(1, 200)});
    check(gemm<index_t, constant<8>, constant<24>>{.m = reference::pick(1, 60)});
  }
}
