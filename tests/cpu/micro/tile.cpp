// SPDX-License-Identifier: MIT
// The micro-kernel alone: all four loops of the reduction, strides of both operands, the starting values and the valid
// lanes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/tile.hpp>

#include <cmath>

#include "../reference.hpp"

using namespace dnnkit::cpu;

namespace {

struct fetch_nothing {
  void next() noexcept {}
  void next_height() noexcept {}
};

template <int Rows, int Vectors> void check(const k_walk& walk, index_t row_stride) {
  const auto extent = [&](auto step) {
    index_t last = 0;
    for (const k_loop* l : {&walk.depth, &walk.height, &walk.width, &walk.run}) last += (l->count - 1) * step(*l);
    return last + 1;
  };
  const auto a = reference::values(extent([](const k_loop& l) { return l.step_a; }) + (Rows - 1) * row_stride);
  const auto b = reference::values(extent([](const k_loop& l) { return l.step_b; }) + Vectors * float_lanes - 1);
  index_t calls = 0, wrong = 0;
  tile<Rows, Vectors>(
      a.data(), row_stride, b.data(), walk, fetch_nothing{},
      [&](int i, int j) { return float_vec(static_cast<float>(100 * i + j)); },
      [&](int i, int j, float_vec acc) {
        ++calls;
        for (int lane = 0; lane < float_lanes; ++lane) {
          double sum = 100 * i + j;
          for (index_t d = 0; d < walk.depth.count; ++d)
            for (index_t h = 0; h < walk.height.count; ++h)
              for (index_t w = 0; w < walk.width.count; ++w)
                for (index_t k = 0; k < walk.run.count; ++k) {
                  const index_t at_a = d * walk.depth.step_a + h * walk.height.step_a + w * walk.width.step_a +
                                       k * walk.run.step_a + i * row_stride;
                  const index_t at_b = d * walk.depth.step_b + h * walk.height.step_b + w * walk.width.step_b +
                                       k * walk.run.step_b + j * float_lanes + lane;
                  sum += static_cast<double>(a[static_cast<std::size_t>(at_a)]) *
                         static_cast<double>(b[static_cast<std::size_t>(at_b)]);
                }
          if (!(std::abs(static_cast<double>(acc[lane]) - sum) <= 1e-4 * (1 + i))) ++wrong;
        }
      });
  CHECK(calls == Rows * Vectors);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("one loop") {
  check<1, 1>({.depth = {}, .height = {}, .width = {}, .run = {17, 1, float_lanes}}, 17);
  check<tile_rows(2), 2>({.depth = {}, .height = {}, .width = {}, .run = {5, 1, 2 * float_lanes}}, 9);
}

TEST_CASE("four loops, every step of its own") {
  check<3, 2>({.depth = {2, 90, 500}, .height = {3, 31, 160}, .width = {2, 13, 70}, .run = {4, 3, 7}}, 2);
}

TEST_CASE("an empty reduction leaves the starting values") {
  check<2, 2>({.depth = {}, .height = {0, 1, 1}, .width = {}, .run = {1, 1, 1}}, 1);
}

TEST_CASE("valid lanes") {
  index_t seen = -1;
  const auto record = [&](auto lanes) { seen = is_constant<decltype(lanes)> ? 0 : index_t(lanes); };
  with_lanes<false>(3, record);
  CHECK(seen == (float_lanes > 3 ? 3 : 0));
  with_lanes<false>(float_lanes + 5, record);
  CHECK(seen == 0);
  seen = -1;
  with_lanes<false>(0, record);
  with_lanes<false>(-16, record);
  CHECK(seen == -1);
}
