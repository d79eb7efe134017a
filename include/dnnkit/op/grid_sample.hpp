// SPDX-License-Identifier: MIT
// Sampling of images at given places: ONNX's GridSample.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/op/access.hpp"
#include "dnnkit/op/function.hpp"

namespace dnnkit {

enum class grid_sample_mode : std::int64_t { bilinear, nearest, bicubic };
// What lies outside the image: 0, its edge, its mirror image.
enum class grid_padding : std::int64_t { zeros, border, reflection };

namespace op {

// X [N, C, H, W], grid [N, H', W', 2] of places (x, y) between -1 and 1, the middles of the corners (align_corners) or
// the image's outer edges -> [N, C, H', W'].
struct grid_sample {
  grid_sample_mode mode = grid_sample_mode::bilinear;
  grid_padding padding_mode = grid_padding::zeros;
  bool align_corners = false;

  static constexpr std::string_view name = "GridSample";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2;
  static constexpr traits properties{.map = mapping::many_to_many, .layout = layout_class::ild_variable};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("mode", self.mode);
    visit("padding_mode", self.padding_mode);
    visit("align_corners", self.align_corners);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 4, 4) || !c.require_rank(1, 4, 4)) return;
    if (c.require_equal(c.in(0)[0], "the number of images", c.in(1)[0], "that of grids") &&
        c.require_equal(c.in(1)[3], "the last extent of the grid", 2, "expected"))
      c.out(c.type(0), {c.in(0)[0], c.in(0)[1], c.in(1)[1], c.in(1)[2]});
  }
  template <class C> auto at(const C& c, const coordinates& o, auto x, auto grid) const {
    using real = typename C::real;
    const std::int64_t height = c.in(0, 2), width = c.in(0, 3);
    const real px = place(static_cast<real>(grid(coordinates{o[0], o[2], o[3], 0})), width);
    const real py = place(static_cast<real>(grid(coordinates{o[0], o[2], o[3], 1})), height);
    const auto pixel = [&](std::int64_t row, std::int64_t column) -> real {
      if (padding_mode == grid_padding::zeros && (row < 0 || row >= height || column < 0 || column >= width)) return 0;
      return static_cast<real>(x(coordinates{o[0], o[1], inside<real>(row, height), inside<real>(column, width)}));
    };
    if (mode == grid_sample_mode::nearest)
      return pixel(static_cast<std::int64_t>(std::nearbyint(py)), static_cast<std::int64_t>(std::nearbyint(px)));
    const auto row = static_cast<std::int64_t>(std::floor(py)), column = static_cast<std::int64_t>(std::floor(px));
    const std::array<real, 4> down = weights(py - static_cast<real>(row));
    const std::array<real, 4> across = weights(px - static_cast<real>(column));
    real sum = 0;
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 4; ++j)
        if (const real w = down[static_cast<std::size_t>(i)] * across[static_cast<std::size_t>(j)]; w != 0)
          sum += w * pixel(row + i - 1, column + j - 1);
    return sum;
  }
  constexpr dim flops(const inference& c) const {
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * 16;
  }

 private:
  // A place in units of elements, brought back into an image of n of them, unless what lies outside is 0 or its edge
  // (which the elements around the place see to).
  template <class T> T place(T p, std::int64_t n) const {
    const T extent = static_cast<T>(n);
    p = align_corners ? (p + 1) / 2 * (extent - 1) : ((p + 1) * extent - 1) / 2;
    return padding_mode == grid_padding::reflection ? reflected(p, n) : p;
  }
  template <class T> T reflected(T p, std::int64_t n) const {
    const T low = align_corners ? T(0) : T(-0.5), high = static_cast<T>(n) - 1 - low, length = high - low;
    if (p >= low && p <= high) return p;
    if (length <= 0) return 0;
    const T beyond = p < low ? low - p : p - high, times = std::floor(beyond / length), rest = beyond - times * length;
    const bool from_there = std::fmod(times, T(2)) == 0;  // reflected an odd number of times
    return (p < low) == from_there ? low + rest : high - rest;
  }
  // The nearest element of the image, or that of its mirror image.
  template <class T> std::int64_t inside(std::int64_t i, std::int64_t n) const {
    if (i >= 0 && i < n) return i;
    if (padding_mode == grid_padding::reflection)
      i = static_cast<std::int64_t>(std::nearbyint(reflected(static_cast<T>(i), n)));
    return i < 0 ? 0 : i >= n ? n - 1 : i;
  }
  // Of the elements at -1, 0, 1, 2 for a place t behind 0: Keys' kernel with a = -0.75, or the two nearest ones.
  template <class T> std::array<T, 4> weights(T t) const {
    if (mode == grid_sample_mode::bilinear) return {0, 1 - t, t, 0};
    const T a = T(-0.75), u = 1 - t;
    return {((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a, ((a + 2) * t - (a + 3)) * t * t + 1,
            ((a + 2) * u - (a + 3)) * u * u + 1, ((a * (u + 1) - 5 * a) * (u + 1) + 8 * a) * (u + 1) - 4 * a};
  }
};

}  // namespace op

inline constexpr function<op::grid_sample> grid_sample;

}  // namespace dnnkit
