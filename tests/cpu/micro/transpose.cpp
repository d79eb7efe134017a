// SPDX-License-Identifier: MIT
// Transposition: in registers, and of matrices of all sizes around whole blocks.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/transpose.hpp>

#include <cstdint>
#include <vector>

#include "../reference.hpp"

using namespace dnnkit::cpu;

TEST_CASE("in registers") {
  square_block block;
  for (int i = 0; i < float_lanes; ++i) block[i] = float_vec::iota(static_cast<float>(100 * i));
  transpose(block);
  index_t wrong = 0;
  for (int i = 0; i < float_lanes; ++i)
    for (int j = 0; j < float_lanes; ++j) wrong += block[i][j] != static_cast<float>(100 * j + i);
  CHECK(wrong == 0);
}

namespace {

template <class T> void check_elements() {
  for (index_t rows = 0; rows <= 37; rows += 1 + rows / 5)
    for (index_t columns = 0; columns <= 75; columns += 1 + columns / 4) {
      const index_t in_stride = columns + rows % 3, out_stride = rows + columns % 2;
      // No more memory than the matrices span.
      const auto spanned = [](index_t m, index_t stride, index_t n) {
        return static_cast<std::size_t>(m == 0 || n == 0 ? 0 : (m - 1) * stride + n);
      };
      std::vector<T> in(spanned(rows, in_stride, columns)), out(spanned(columns, out_stride, rows), T(1));
      for (T& x : in) x = static_cast<T>(2 * reference::random()());
      std::vector<T> expected = out;  // what lies between the rows stays
      for (index_t c = 0; c < columns; ++c)
        for (index_t r = 0; r < rows; ++r)
          expected[static_cast<std::size_t>(c * out_stride + r)] = in[static_cast<std::size_t>(r * in_stride + c)];
      transpose_elements(in.data(), in_stride, rows, columns, out.data(), out_stride);
      INFO(rows, " rows, ", columns, " columns of ", sizeof(T), " bytes");
      CHECK(out == expected);
    }
}

}  // namespace

TEST_CASE("elements of all sizes") {
  check_elements<std::uint8_t>();
  check_elements<std::uint16_t>();
  check_elements<std::uint32_t>();
  check_elements<std::uint64_t>();
  check_elements<double>();
}

TEST_CASE("matrices") {
  const index_t most = 2 * float_lanes + 1;
  for (index_t rows = 0; rows <= most; ++rows) {
    for (index_t columns = 0; columns <= most; columns += 1 + columns / 3) {
      const index_t in_stride = columns + rows % 3;
      const index_t whole = ceil_div(rows, float_lanes) * float_lanes, out_stride = whole + columns % 2;
      // No more memory than the matrix spans.
      const std::vector<float> in = reference::values(rows == 0 || columns == 0 ? 0 : (rows - 1) * in_stride + columns);
      std::vector<float> out(static_cast<std::size_t>(columns * out_stride), NAN);
      transpose_matrix(in.data(), in_stride, rows, columns, out.data(), out_stride);
      index_t wrong = 0;
      for (index_t c = 0; c < columns; ++c)
        for (index_t r = 0; r < out_stride; ++r) {
          const float got = out[static_cast<std::size_t>(c * out_stride + r)];
          if (r < rows) wrong += got != in[static_cast<std::size_t>(r * in_stride + c)];
          else wrong += r < whole ? got != 0 : !std::isnan(got);
        }
      INFO(rows, " rows, ", columns, " columns");
      CHECK(wrong == 0);
    }
  }
}
