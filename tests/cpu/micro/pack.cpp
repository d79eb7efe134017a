// SPDX-License-Identifier: MIT
// Weight panels hold every element once, where the layout says, and zeros elsewhere.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/pack.hpp>

#include <vector>

using namespace dnnkit::cpu;

namespace {

template <int MaxVectors, class N> void check(index_t k, N n) {
  using layout = panels<MaxVectors, N>;
  std::vector<float> out(static_cast<std::size_t>(k * layout::padded(n)), -1.0f);
  const auto value = [&](index_t row, index_t column) { return static_cast<float>(1 + row * n + column); };
  pack_panels<layout>(k, n, value, out.data());
  std::size_t at = 0;
  index_t wrong = 0, next = 0;
  for (index_t p = 0; p < layout::count(n); ++p) {
    layout::visit(p, [&](auto vectors, index_t first) {
      CHECK(first == next);
      CHECK(vectors <= MaxVectors);
      next = first + vectors * float_lanes;
      for (index_t row = 0; row < k; ++row)
        for (index_t column = first; column < next; ++column)
          if (out[at++] != (column < n ? value(row, column) : 0.0f)) ++wrong;
    });
  }
  CHECK(wrong == 0);
  CHECK(next == layout::padded(n));
  CHECK(at == out.size());
}

}  // namespace

// Five vectors are cut into 3 + 2, not 4 + 1.
static_assert(panels<4, constant<5 * float_lanes>>::count(5 * float_lanes) == 2);
static_assert(panels<4, constant<5 * float_lanes>>::vector_split::large == 3);
static_assert(panels<4, constant<1>>::padded(1) == float_lanes);

TEST_CASE("known columns") {
  check<4>(3, constant<1>{});
  check<4>(3, constant<5 * float_lanes>{});
  check<3>(2, constant<7 * float_lanes - 3>{});
  check<4>(0, constant<24>{});
}

TEST_CASE("columns at run time") {
  for (index_t n = 0; n <= 9 * float_lanes; ++n) check<2>(2, n);
}

TEST_CASE("a bias is padded with zeros") {
  using layout = panels<2, index_t>;
  const float bias[] = {1, 2, 3};
  std::vector<float> out(static_cast<std::size_t>(layout::padded(3)), -1.0f);
  pack_bias<layout>(3, bias, out.data());
  CHECK(out[2] == 3.0f);
  for (std::size_t i = 3; i < out.size(); ++i) CHECK(out[i] == 0.0f);
}
