// SPDX-License-Identifier: MIT
// Sampling of images at given places: ONNX's GridSample.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

enum class grid_sample_mode : std::int64_t { bilinear, nearest, bicubic };
// What lies outside the image: 0, its edge, its mirror image.
enum class grid_padding : std::int64_t { zeros, border, reflection };

namespace op {

// X [N, C, spatial...], grid [N, spatial of the output..., 2 or 3] -> [N, C, spatial of the output...]: two or three
// spatial axes, and in the grid places (x, y or x, y, z: the last axis first) between -1 and 1, the middles of the
// corners (align_corners) or the image's outer edges. A place that is no number is the first one, -1. What is sampled
// from an image without elements is 0.
struct grid_sample {
  grid_sample_mode mode = grid_sample_mode::bilinear;
  grid_padding padding_mode = grid_padding::zeros;
  bool align_corners = false;

  static constexpr std::string_view name = "GridSample";
  static constexpr std::string_view operands = "x, grid";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2;
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("mode", self.mode);
    visit("padding_mode", self.padding_mode);
    visit("align_corners", self.align_corners);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 4, 5) || !c.require_same_rank(0, 1)) return;
    const std::size_t last = c.rank(0) - 1;
    if (!c.require_equal(c.in(0)[0], "the number of images", c.in(1)[0], "that of grids") ||
        !c.require_equal(c.in(1)[last], "the last extent of the grid", static_cast<std::int64_t>(last) - 1,
                         "the number of spatial axes"))
      return;
    shape s{c.in(0)[0], c.in(0)[1]};
    for (std::size_t d = 1; d < last; ++d) s.push_back(c.in(1)[d]);
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    footprint f{needs::same(0)};
    if (input == 0) f.axes.push_back(needs::same(1));
    for (std::size_t d = 2; d < c.rank(0); ++d)
      f.axes.push_back(input == 1 ? needs::same(d) : needs::indirect(mode == grid_sample_mode::nearest ? 1 : 4));
    if (input == 1) f.axes.push_back(needs::whole);
    return f;
  }
  template <class C> auto at(const C& c, const coordinates& o, auto x, auto grid) const {
    using real = typename C::real;
    const std::size_t axes = c.rank(0) - 2;
    coordinates first{}, k{}, taps{}, in_grid{o[0]};
    std::array<std::array<real, 4>, 3> weight{};
    for (std::size_t d = 0; d < axes; ++d) in_grid[d + 1] = o[d + 2];
    for (std::size_t d = 0; d < axes; ++d) {
      in_grid[axes + 1] = static_cast<std::int64_t>(axes - 1 - d);
      const real p = place(static_cast<real>(grid(in_grid)), c.in(0, d + 2));
      const real below = mode == grid_sample_mode::nearest ? std::nearbyint(p) : std::floor(p);
      weight[d] = mode == grid_sample_mode::nearest ? std::array<real, 4>{0, 1, 0, 0} : weights(p - below);
      first[d] = to_integer(below) - 1;
      taps[d] = 4;
    }
    real sum = 0;
    do {
      real w = 1;
      for (std::size_t d = 0; d < axes; ++d) w *= weight[d][static_cast<std::size_t>(k[d])];
      if (w == 0) continue;
      coordinates i{o[0], o[1]};
      bool there = true;
      for (std::size_t d = 0; d < axes; ++d) {
        const std::int64_t p = first[d] + k[d], n = c.in(0, d + 2);
        there = there && n > 0 && (padding_mode != grid_padding::zeros || (p >= 0 && p < n));
        i[d + 2] = inside<real>(p, n);
      }
      if (there) sum += w * static_cast<real>(x(i));
    } while (next(k, taps, axes));
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
    if (p != p) p = -1;
    p = align_corners ? (p + 1) / 2 * (extent - 1) : ((p + 1) * extent - 1) / 2;
    if (padding_mode == grid_padding::reflection) return reflected(p, n);
    const T outside = 3;  // elements, from where on nothing changes
    return p < -outside ? -outside : p > extent + outside ? extent + outside : p;
  }
  template <class T> T reflected(T p, std::int64_t n) const {
    const T low = align_corners ? T(0) : T(-0.5), high = static_cast<T>(n) - 1 - low, length = high - low;
    if (p >= low && p <= high) return p;
    if (length <= 0) return 0;
    const T beyond = std::fmod(p < low ? low - p : p - high, 2 * length);  // after two reflections it is there again
    if (beyond != beyond) return low;                                      // of an infinite place
    const T rest = beyond < length ? beyond : beyond - length;
    return (p < low) == (beyond < length) ? low + rest : high - rest;
  }
  // The nearest element of the image, or that of its mirror image.
  template <class T> std::int64_t inside(std::int64_t i, std::int64_t n) const {
    if (i >= 0 && i < n) return i;
    if (padding_mode == grid_padding::reflection) i = to_integer(std::nearbyint(reflected(static_cast<T>(i), n)));
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
