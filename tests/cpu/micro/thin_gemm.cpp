// SPDX-License-Identifier: MIT
// Products of few rows by a matrix that is read where it lies, against plain loops.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cpu/micro/thin_gemm.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "dnnkit/cpu/lanes.hpp"

namespace {

using dnnkit::cpu::constant;
using dnnkit::cpu::float_lanes;
using dnnkit::cpu::index_t;

// Small whole numbers, of which sums are exact in every type. Memory ends with the last elements of A and B.
template <dnnkit::dtype Type, int Rows, class N> void check(N n, index_t k, index_t gap) {
  using vector = dnnkit::cpu::lanes<Type, float_lanes>;
  using number = typename vector::value_type;
  CAPTURE(Rows);
  CAPTURE(index_t(n));
  CAPTURE(k);
  const index_t of_a = k + gap, of_b = n + gap;
  std::vector<number> a(static_cast<std::size_t>(k == 0 ? 0 : (Rows - 1) * of_a + k)),
      b(static_cast<std::size_t>(k == 0 ? 0 : (k - 1) * of_b + n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<number>(i * 7 % 11);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<number>(i * 5 % 13);
  std::vector<number> y(static_cast<std::size_t>(Rows * n), number(-1));
  const dnnkit::cpu::thin_gemm<Rows, N, index_t, index_t, index_t, vector> g{n, k, of_a, of_b};
  for (index_t u = g.units(); u-- > 0;)
    g.run(a.data(), b.data(), u, u + 1, [&](auto acc, index_t row, index_t column, auto lanes) {
      for (int i = 0; i < lanes; ++i) y.at(static_cast<std::size_t>(row * n + column + i)) = acc[i];
    });
  for (index_t row = 0; row < Rows; ++row)
    for (index_t column = 0; column < n; ++column) {
      number sum = 0;
      for (index_t i = 0; i < k; ++i)
        sum += a[static_cast<std::size_t>(row * of_a + i)] * b[static_cast<std::size_t>(i * of_b + column)];
      REQUIRE(y[static_cast<std::size_t>(row * n + column)] == sum);
    }
}
template <dnnkit::dtype Type, int Rows> void check_sizes() {
  for (const index_t k : {0, 1, 7, 8, 9, 16, 35})
    for (const index_t n : {1, 5, 16, 31, 63, 64, 65, 200, 512, 513, 1100}) {
      check<Type, Rows>(n, k, 0);
      check<Type, Rows>(n, k, 3);
    }
  check<Type, Rows>(constant<96>{}, 20, 0);
  check<Type, Rows>(constant<9>{}, 20, 0);
}

}  // namespace

TEST_CASE("few rows") {
  check_sizes<dnnkit::f32, 1>();
  check_sizes<dnnkit::f32, 3>();
  check_sizes<dnnkit::f32, dnnkit::cpu::most_thin_rows(dnnkit::targets::native::facts)>();
  check_sizes<dnnkit::f64, 1>();
  check_sizes<dnnkit::i32, 2>();
  check_sizes<dnnkit::i64, 1>();
}
