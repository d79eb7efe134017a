// SPDX-License-Identifier: MIT
// The micro-kernel alone: all four loops of the reduction, strides of both operands, the starting values and the valid
// lanes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/tile.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../reference.hpp"

using namespace dnnkit::cpu;

namespace {

struct fetch_nothing {
  void next(index_t = 1) noexcept {}
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

// Counts the steps that it is told of.
struct count_steps {
  index_t* steps;
  void next(index_t n = 1) noexcept { *steps += n; }
  void next_height() noexcept {}
};
// A run along which the elements of A lie next to each other, as the compiler knows here and in check does not.
template <int Rows, int Vectors> void check_run(index_t count) {
  constexpr index_t width = Vectors * float_lanes;
  const index_t row_stride = count + 3;
  const auto a = reference::values(Rows * row_stride);
  const auto b = reference::values(count * width);
  index_t steps = 0, wrong = 0;
  tile<Rows, Vectors>(
      a.data(), row_stride, b.data(), k_loop{count, 1, width}, count_steps{&steps},
      [](int i, int j) { return float_vec(static_cast<float>(10 * i + j)); },
      [&](int i, int j, float_vec acc) {
        for (int lane = 0; lane < float_lanes; ++lane) {
          double sum = 10 * i + j;
          for (index_t k = 0; k < count; ++k)
            sum += static_cast<double>(a[static_cast<std::size_t>(i * row_stride + k)]) *
                   static_cast<double>(b[static_cast<std::size_t>(k * width + j * float_lanes + lane)]);
          wrong += !(std::abs(static_cast<double>(acc[lane]) - sum) <= 1e-4 * (1 + i));
        }
      });
  CHECK(steps == count);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("runs of all lengths, whatever number of steps a tile takes at once") {
  for (index_t count = 0; count <= 50; ++count) {
    CAPTURE(count);
    check_run<tile_rows(1), 1>(count);
    check_run<tile_rows(2), 2>(count);
    check_run<tile_rows(panel_vectors), panel_vectors>(count);
    check_run<tile_rows(panel_vectors) - 1, panel_vectors>(count);
    check_run<tile_rows(3), 3>(count);
    check_run<1, 3>(count);
  }
}

TEST_CASE("one loop") {
  check<1, 1>({.depth = {}, .height = {}, .width = {}, .run = {17, 1, float_lanes}}, 17);
  check<tile_rows(2), 2>({.depth = {}, .height = {}, .width = {}, .run = {5, 1, 2 * float_lanes}}, 9);
}

TEST_CASE("four loops, every step of its own") {
  check<3, 2>({.depth = {2, 90, 500}, .height = {3, 31, 160}, .width = {2, 13, 70}, .run = {4, 3, 7}}, 2);
}

TEST_CASE("tiles together fetch the next panel, each a share, and nothing behind the last one") {
  // addresses are only computed
  const auto first = reinterpret_cast<const float*>(std::uintptr_t{4096});
  for (index_t width : {8, 16, 24})
    for (index_t k : {1, 7, 144})
      for (index_t tiles : {1, 3, 16, 95, 96, 97, 11008})
        for (index_t panels : {1, 2, 3})
          for (index_t p = 0; p < panels; ++p) {
            const float *next = first + (p + 1) * k * width, *end = first + panels * k * width;
            const bool is_last = p + 1 == panels;
            const auto from = [](const void* address) { return reinterpret_cast<std::uintptr_t>(address); };
            std::uintptr_t fetched = from(next);  // up to here
            for (index_t t = 0; t < tiles; ++t) {
              const fetch_ahead ahead = share_of(next, end, k, width, t, tiles);
              const std::uintptr_t begin = from(ahead.address), size = static_cast<std::uintptr_t>(k * ahead.step);
              REQUIRE(ahead.step > 0);
              REQUIRE(from(first) <= begin);
              REQUIRE(begin + size <= from(is_last ? end : next + k * width));
              if (!is_last) {
                REQUIRE(begin >= from(next));
                REQUIRE(begin <= fetched);
                fetched = std::max(fetched, begin + size);
              }
            }
            CHECK(fetched == from(is_last ? end : next + k * width));
          }
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
