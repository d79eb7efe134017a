// SPDX-License-Identifier: MIT
// Pooling of regions of images at places between elements: ONNX's RoiAlign.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

// What a bin makes of its samples: their mean, or the greatest of the parts that each is the sum of (an element times
// its share), as ONNX has it. ONNX: avg, max
enum class roi_pooling : std::int64_t { average, best };
// Is the middle of an element half an element behind its edge, or on it?
enum class roi_coordinates : std::int64_t { half_pixel, output_half_pixel };

namespace op {

// X [N, C, H, W], rois [R, 4] (x1, y1, x2, y2, times spatial_scale), batch_indices [R] -> [R, C, height, width]: every
// region divided into bins, a bin sampled at sampling_ratio x sampling_ratio places (0: as many as elements it spans,
// 2^31 at most). Samples outside the image count as 0, and so do those whose place is no number.
struct roi_align {
  roi_coordinates coordinate_transformation_mode = roi_coordinates::half_pixel;
  roi_pooling mode = roi_pooling::average;
  std::int64_t output_height = 1, output_width = 1, sampling_ratio = 0;
  float spatial_scale = 1;

  static constexpr std::string_view name = "RoiAlign";
  static constexpr std::string_view operands = "x, rois, batch_indices";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 3;
  static constexpr std::array<element, 3> elements{element::common, element::common, element::index};
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("coordinate_transformation_mode", self.coordinate_transformation_mode);
    visit("mode", self.mode);
    visit("output_height", self.output_height);
    visit("output_width", self.output_width);
    visit("sampling_ratio", self.sampling_ratio);
    visit("spatial_scale", self.spatial_scale);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 4, 4) || !c.require_rank(1, 2, 2) || !c.require_rank(2, 1, 1)) return;
    if (!c.require_equal(c.in(1)[1], "the last extent of rois", 4, "expected") ||
        !c.require_equal(c.in(1)[0], "the number of rois", c.in(2)[0], "that of batch indices") ||
        !c.require(output_height > 0 && output_width > 0 && sampling_ratio >= 0,
                   "the output's extents must be positive") ||
        !c.require(sampling_ratio <= most_samples, "sampling_ratio must be 1024 at most"))
      return;
    c.out(c.type(0), {c.in(1)[0], c.in(0)[1], output_height, output_width});
  }
  static constexpr footprint reads(const inference&, std::size_t input) {
    if (input == 0) return {needs::one_chosen, needs::same(1), needs::some_chosen, needs::some_chosen};
    if (input == 1) return {needs::same(0), needs::whole};
    return {needs::same(0)};
  }
  template <class C> auto at(const C& c, const coordinates& o, auto x, auto rois, auto batch_indices) const {
    using real = typename C::real;
    const std::int64_t image = position_in(c, static_cast<std::int64_t>(batch_indices(coordinates{o[0]})), c.in(0, 0));
    const bool half = coordinate_transformation_mode == roi_coordinates::half_pixel;
    const auto corner = [&](std::int64_t k) {
      return static_cast<real>(rois(coordinates{o[0], k})) * static_cast<real>(spatial_scale) - real(half ? 0.5 : 0);
    };
    const bins<real> across(corner(0), corner(2), output_width, half, sampling_ratio);
    const bins<real> down(corner(1), corner(3), output_height, half, sampling_ratio);
    const auto [top, bottom] = down.inside(o[2], c.in(0, 2));
    const auto [left, right] = across.inside(o[3], c.in(0, 3));
    const bool all = bottom - top == down.samples && right - left == across.samples;
    real result = 0;
    for (std::int64_t i = top; i < bottom; ++i)
      for (std::int64_t j = left; j < right; ++j) {
        const corners<real> v = sampled<real>(c, image, o[1], down.at(o[2], i), across.at(o[3], j), x);
        if (mode == roi_pooling::average) {
          result += v[0] + v[1] + v[2] + v[3];
          continue;
        }
        const real best = *std::max_element(v.begin(), v.end());
        if ((all && i == 0 && j == 0) || best > result) result = best;
      }
    const real samples = static_cast<real>(down.samples) * static_cast<real>(across.samples);
    return mode == roi_pooling::average && samples > 0 ? result / samples : result;
  }
  constexpr dim flops(const inference& c) const {
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * 40;
  }

 private:
  static constexpr std::int64_t most_samples = 1024;

  // One direction of a region, divided.
  template <class T> struct bins {
    T first, size;
    std::int64_t samples;  // of a bin

    bins(T begin, T end, std::int64_t count, bool half, std::int64_t ratio) : first(begin) {
      T length = end - begin;
      if (!half && length < 1) length = 1;
      size = length / static_cast<T>(count);
      constexpr auto most = T(0x1p31);
      samples = ratio > 0 ? ratio : to_integer(std::ceil(std::clamp(size, T(0), most)));
    }
    // The samples first ... last - 1 of a bin, of which those in an image of n elements are some: without those that
    // lie further outside than what rounding moves them.
    struct part {
      std::int64_t first, last;
    };
    part inside(std::int64_t bin, std::int64_t n) const {
      if (!(size > 0) || samples <= most_samples) return {0, samples};
      const double each = static_cast<double>(size) / static_cast<double>(samples);
      const double begin = static_cast<double>(first) + static_cast<double>(size) * static_cast<double>(bin);
      const double reach =
          std::fabs(static_cast<double>(first)) + static_cast<double>(size) * static_cast<double>(bin + 1);
      const double moved = 4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * reach;
      const auto number = [&](double place) { return std::clamp<std::int64_t>(to_integer(place / each), 0, samples); };
      return {number(-2 - moved - begin), number(static_cast<double>(n) + 2 + moved - begin)};
    }
    T at(std::int64_t bin, std::int64_t sample) const {
      return first + size * (static_cast<T>(bin) + (static_cast<T>(sample) + T(0.5)) / static_cast<T>(samples));
    }
  };
  // The four elements around (py, px), each times its share in what lies between them; 0 more than an element outside.
  template <class T> using corners = std::array<T, 4>;
  template <class T>
  static corners<T> sampled(const auto& c, std::int64_t image, std::int64_t channel, T py, T px, const auto& x) {
    const std::int64_t height = c.in(0, 2), width = c.in(0, 3);
    const bool near = py >= -1 && py <= static_cast<T>(height) && px >= -1 && px <= static_cast<T>(width);
    if (!near || height == 0 || width == 0) return {};  // nor is a place that is no number near
    const auto clamped = [](T p, std::int64_t n) {
      return p < 0 ? T(0) : p > static_cast<T>(n - 1) ? static_cast<T>(n - 1) : p;
    };
    py = clamped(py, height);
    px = clamped(px, width);
    const auto row = static_cast<std::int64_t>(py), column = static_cast<std::int64_t>(px);
    const T down = py - static_cast<T>(row), across = px - static_cast<T>(column);
    const auto value = [&](std::int64_t i, std::int64_t j) {
      return static_cast<T>(x(coordinates{image, channel, i < height ? i : height - 1, j < width ? j : width - 1}));
    };
    return {(1 - down) * (1 - across) * value(row, column), (1 - down) * across * value(row, column + 1),
            down * (1 - across) * value(row + 1, column), down * across * value(row + 1, column + 1)};
  }
};

}  // namespace op

inline constexpr function<op::roi_align> roi_align;

}  // namespace dnnkit
