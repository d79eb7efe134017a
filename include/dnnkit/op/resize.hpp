// SPDX-License-Identifier: MIT
// Resampling along any axes: ONNX's Resize, nearest, linear and cubic.
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

enum class resize_mode : std::int64_t { nearest, linear, cubic };
// From an output coordinate x to an input coordinate, s being the scale.
enum class coordinate_mode : std::int64_t {
  half_pixel,            // (x + 0.5) / s - 0.5
  pytorch_half_pixel,    // the same, but 0 for an output extent of 1
  asymmetric,            // x / s
  align_corners,         // first on first and last on last
  tf_crop_and_resize,    // first and last on the ends of the part of the input that `roi` names
  tf_half_pixel_for_nn,  // (x + 0.5) / s
  half_pixel_symmetric   // like the first, but about the middle of the output before its extent was made whole
};
// ONNX: round_prefer_floor, round_prefer_ceil, floor, ceil
enum class nearest_rounding : std::int64_t { prefer_lower, prefer_upper, lower, upper };

namespace op {

// `scales` or `sizes` (known or symbolic extents) for all axes; of both, the sizes are the output's and the scales map
// its coordinates (ONNX's keep_aspect_ratio_policy rounds the sizes that its one scale gives). tf_crop_and_resize:
// `roi` names the begin of the part that is taken along each axis, then the ends, where 0 is the first element and 1
// the last; what lies outside the input is extrapolation_value. Cubic: taps outside the input are those at its edge, or
// left out (exclude_outside). antialias: where the output has fewer elements, linear and cubic weights reach over as
// many more of the input's.
struct resize {
  float_list scales = {};
  shape sizes = {};
  resize_mode mode = resize_mode::nearest;
  coordinate_mode coordinate_transformation_mode = coordinate_mode::half_pixel;
  nearest_rounding nearest_mode = nearest_rounding::prefer_lower;
  float cubic_coeff_a = -0.75f, extrapolation_value = 0;
  bool exclude_outside = false, antialias = false;
  float_list roi = {};

  static constexpr std::string_view name = "Resize";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("scales", self.scales);
    visit("sizes", self.sizes);
    visit("mode", self.mode);
    visit("coordinate_transformation_mode", self.coordinate_transformation_mode);
    visit("nearest_mode", self.nearest_mode);
    visit("cubic_coeff_a", self.cubic_coeff_a);
    visit("extrapolation_value", self.extrapolation_value);
    visit("exclude_outside", self.exclude_outside);
    visit("antialias", self.antialias);
    visit("roi", self.roi);
  }

  constexpr void infer(inference& c) const {
    const std::size_t rank = c.rank(0);
    const auto named = [rank](const auto& list) { return list.empty() || list.size() == rank; };
    if (!c.require(named(scales) && named(sizes) && (rank == 0 || scales.size() + sizes.size() > 0),
                   "scales, sizes or both must name one number for each axis"))
      return;
    if (!c.require(coordinate_transformation_mode != coordinate_mode::tf_crop_and_resize || roi.size() == 2 * rank,
                   "roi must name two numbers for each axis"))
      return;
    for (float x : roi)
      if (!c.require(x > -65536 && x < 65536, "the numbers of roi must lie between -65536 and 65536")) return;
    for (dim d : sizes)
      if (!c.require_extent(d, "a size")) return;
    shape s = sizes;
    for (std::size_t d = 0; d < rank; ++d) {
      if (!scales.empty() && !c.require(scales[d] > 0 && scales[d] < 65536, "scales must be positive and below 65536"))
        return;
      if (!sizes.empty()) {
        if (!c.require(!(c.in(0)[d] == dim(0)) || s[d] == dim(0), "there is no element to resample")) return;
        if (!scales.empty() && !c.require(gives(scales[d], c.in(0)[d], s[d]), "a size is not what its scale gives"))
          return;
        continue;
      }
      dim n;
      if (!scaled(c, c.size(0, d), scales[d], n)) return;
      s.push_back(n);
    }
    c.out(c.type(0), s);
  }

  // Does axis d stay as it is? Known to have as many elements as before or not.
  constexpr bool keeps(std::size_t d, bool same_extent) const {
    return coordinate_transformation_mode != coordinate_mode::tf_crop_and_resize &&
           (scales.empty() ? same_extent : scales[d] == 1);
  }

  // Along an axis that is resampled: one position, two or four, or, without aliasing, as many as the scale asks for.
  constexpr footprint reads(const inference& c, std::size_t) const {
    const dim count = mode == resize_mode::nearest  ? 1
                      : antialias                   ? dim::unknown()
                      : mode == resize_mode::linear ? 2
                                                    : 4;
    footprint f;
    for (std::size_t d = 0; d < c.rank(0); ++d) {
      const bool stays = keeps(d, c.outputs()[0].dims[d] == c.in(0)[d]);
      f.axes.push_back(stays ? needs::same(d) : needs::indirect(count));
    }
    return f;
  }
  template <class C> constexpr auto at(const C& c, const coordinates& o, auto x) const {
    using result = sum_of<C, decltype(x(o))>;
    if (coordinate_transformation_mode == coordinate_mode::tf_crop_and_resize)
      for (std::size_t d = 0; d < c.rank(0); ++d)
        if (const float p = source(c, d, o[d]); p < 0 || p > static_cast<float>(c.in(0, d) - 1))
          return spread<result>(extrapolation_value);
    if (mode == resize_mode::nearest) return static_cast<result>(nearest(c, o, x));
    return static_cast<result>(mode == resize_mode::linear && !antialias ? linear(c, o, x) : weighted(c, o, x));
  }
  constexpr dim flops(const inference& c) const {
    return mode == resize_mode::nearest ? dim(0)
                                        : dim(extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} *
                                              (mode == resize_mode::linear ? 8 : 40));
  }

  // The positions along an axis that an output position is a mean of, and their weights, which add up to 1.
  struct neighbours {
    std::array<std::int64_t, 4> positions{};
    std::array<float, 4> weights{1};
    std::size_t count = 1;
  };
  // How many there are at most; 0: as many as the scale asks for, or none, as elements may lie outside.
  constexpr std::size_t most_neighbours() const {
    if (coordinate_transformation_mode == coordinate_mode::tf_crop_and_resize) return 0;
    if (mode == resize_mode::nearest) return 1;
    return antialias ? 0 : mode == resize_mode::linear ? 2 : 4;
  }
  // Those of output position o of axis d. @pre most_neighbours() > 0
  constexpr neighbours neighbours_of(const auto& c, std::size_t d, std::int64_t o) const {
    neighbours n;
    if (mode == resize_mode::nearest) {
      n.positions[0] = nearest(c, d, o);
    } else if (mode == resize_mode::linear) {
      const part p = between(c, d, o);
      n = {{p.below, p.below + 1}, {1 - p.share, p.share}, p.share > 0 ? 2u : 1u};
    } else {
      const taps t = taps_of(c, d, o);
      n.count = static_cast<std::size_t>(t.count);
      for (std::size_t k = 0; k < n.count; ++k) {
        const std::int64_t i = t.first + static_cast<std::int64_t>(k);
        n.positions[k] = inside(i, c.in(0, d));
        n.weights[k] = share_of(t, i, c.in(0, d));
      }
    }
    return n;
  }

  // Where output coordinate o of axis d lies in the input: a real number that may lie outside.
  constexpr float source(const auto& c, std::size_t d, std::int64_t o) const {
    const auto at_output = static_cast<float>(o), n = static_cast<float>(c.in(0, d)), m = static_cast<float>(c.out(d));
    const float scale = scales.empty() ? m / n : scales[d];
    if (coordinate_transformation_mode == coordinate_mode::tf_crop_and_resize) {
      const float first = roi[d], last = roi[d + c.rank(0)];
      return m > 1 ? first * (n - 1) + at_output * (last - first) * (n - 1) / (m - 1) : (first + last) / 2 * (n - 1);
    }
    if (scale == 1) return at_output;
    switch (coordinate_transformation_mode) {
      case coordinate_mode::asymmetric:
        return at_output / scale;
      case coordinate_mode::align_corners:
        return m == 1 ? 0 : at_output * (n - 1) / (m - 1);
      case coordinate_mode::pytorch_half_pixel:
        if (m == 1) return 0;
        [[fallthrough]];
      case coordinate_mode::half_pixel:
        return (at_output + 0.5f) / scale - 0.5f;
      case coordinate_mode::tf_half_pixel_for_nn:
        return (at_output + 0.5f) / scale;
      case coordinate_mode::half_pixel_symmetric:
        return n / 2 * (1 - m / (n * scale)) + (at_output + 0.5f) / scale - 0.5f;
      default:
        return (at_output + 0.5f) / scale - 0.5f;
    }
  }

 private:
  // Is m, known as n is, n * scale rounded up or down?
  static constexpr bool gives(float scale, dim n, dim m) {
    if (!n.is_known() || !m.is_known()) return scale == 1 && n == m;
    const float difference = static_cast<float>(n.value()) * scale - static_cast<float>(m.value());
    return difference > -1 && difference < 1;
  }
  // floor(n * scale)
  static constexpr bool scaled(inference& c, extent n, float scale, dim& result) {
    if (n.d.is_known()) {
      result = to_integer(static_cast<float>(n.d.value()) * scale);
      return true;
    }
    for (std::int64_t denominator = 1; denominator <= 64; denominator *= 2)
      if (const float numerator = scale * static_cast<float>(denominator);
          numerator == static_cast<float>(static_cast<std::int64_t>(numerator))) {
        result = n * static_cast<std::int64_t>(numerator) / denominator;
        return true;
      }
    return c.fail("an extent that is a symbol needs a scale that is a multiple of 1/64, or sizes");
  }
  static constexpr std::int64_t whole_below(float x) {
    const std::int64_t n = to_integer(x);
    return static_cast<float>(n) > x ? n - 1 : n;
  }
  static constexpr std::int64_t inside(std::int64_t p, std::int64_t n) { return p < 0 ? 0 : p >= n ? n - 1 : p; }

  constexpr std::int64_t rounded(float x) const {
    const std::int64_t below = whole_below(x);
    const float rest = x - static_cast<float>(below);
    switch (nearest_mode) {
      case nearest_rounding::lower:
        return below;
      case nearest_rounding::upper:
        return rest > 0 ? below + 1 : below;
      case nearest_rounding::prefer_upper:
        return rest >= 0.5f ? below + 1 : below;
      default:
        return rest > 0.5f ? below + 1 : below;
    }
  }
  constexpr std::int64_t nearest(const auto& c, std::size_t d, std::int64_t o) const {
    return inside(rounded(source(c, d, o)), c.in(0, d));
  }
  constexpr auto nearest(const auto& c, const coordinates& o, auto x) const {
    coordinates i{};
    for (std::size_t d = 0; d < c.rank(0); ++d) i[d] = nearest(c, d, o[d]);
    return x(i);
  }
  // What means of T are kept in: integers in real numbers, too.
  template <class C, class T> using mean_of = std::conditional_t<std::is_arithmetic_v<T>, typename C::real, T>;

  // A place between two positions, or on one: the share is that of the upper neighbour.
  struct part {
    std::int64_t below = 0;
    float share = 0;
  };
  constexpr part between(const auto& c, std::size_t d, std::int64_t o) const {
    const std::int64_t last = c.in(0, d) - 1;
    float p = source(c, d, o);
    p = p < 0 ? 0 : p > static_cast<float>(last) ? static_cast<float>(last) : p;
    const std::int64_t below = inside(whole_below(p), last + 1);
    return {below, p - static_cast<float>(below)};
  }

  // The mean of the corners around the source, weighted by nearness along each axis.
  template <class C> constexpr auto linear(const C& c, const coordinates& o, auto x) const {
    using mean = mean_of<C, decltype(x(o))>;
    const std::size_t rank = c.rank(0);
    coordinates below{};
    std::array<float, max_rank> share{};  // of the upper neighbour
    std::uint32_t doubled = 0;            // axes along which there are two
    for (std::size_t d = 0; d < rank; ++d) {
      const part p = between(c, d, o[d]);
      below[d] = p.below;
      share[d] = p.share;
      if (share[d] > 0) doubled |= 1u << d;
    }
    mean sum(0);
    std::uint32_t upper = doubled;
    do {  // every subset of `doubled`, down to the empty one
      coordinates i = below;
      typename C::real weight = 1;
      for (std::size_t d = 0; d < rank; ++d) {
        if ((doubled >> d & 1) == 0) continue;
        const bool high = (upper >> d & 1) != 0;
        i[d] += high;
        weight *= static_cast<typename C::real>(high ? share[d] : 1 - share[d]);
      }
      sum += spread<mean>(weight) * static_cast<mean>(x(i));
      upper = (upper - 1) & doubled;
    } while (upper != doubled);
    return sum;
  }

  // The elements that an output element is a mean of, along one axis: `count` from `first` on, weighted by the kernel
  // at their distances from `place`, times `narrow` where there are fewer elements than before; the weights add up to
  // total.
  struct taps {
    std::int64_t first = 0, count = 1;
    float place = 0, narrow = 1, total = 1;
  };
  constexpr float weight(const taps& t, std::int64_t k) const {
    if (t.count == 1) return 1;
    float x = (static_cast<float>(t.first + k) - t.place) * t.narrow;
    x = x < 0 ? -x : x;
    if (mode == resize_mode::linear) return x < 1 ? 1 - x : 0;
    const float a = cubic_coeff_a;  // Keys' kernel
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }
  constexpr taps around(float p, std::int64_t n, float scale) const {
    taps t{0, 0, p, antialias && scale < 1 ? scale : 1, 0};
    const float reach = (mode == resize_mode::linear ? 1 : 2) / t.narrow;
    t.first = whole_below(p - reach) + 1;
    t.count = whole_below(p + reach) - t.first + 1;
    if (t.count < 2) t.count = 2;
    for (std::int64_t k = 0; k < t.count; ++k)
      if (!left_out(t.first + k, n)) t.total += weight(t, k);
    return t;
  }
  constexpr bool left_out(std::int64_t i, std::int64_t n) const { return exclude_outside && (i < 0 || i >= n); }
  constexpr taps taps_of(const auto& c, std::size_t d, std::int64_t o) const {
    const float scale = scales.empty() ? static_cast<float>(c.out(d)) / static_cast<float>(c.in(0, d)) : scales[d];
    if (scale == 1 && coordinate_transformation_mode != coordinate_mode::tf_crop_and_resize) return {.first = o};
    return around(source(c, d, o), c.in(0, d), scale);
  }
  // The weight of position i, which may lie outside, of all those of t.
  constexpr float share_of(const taps& t, std::int64_t i, std::int64_t n) const {
    return left_out(i, n) ? 0 : weight(t, i - t.first) / t.total;
  }

  template <class C> constexpr auto weighted(const C& c, const coordinates& o, auto x) const {
    using mean = mean_of<C, decltype(x(o))>;
    const std::size_t rank = c.rank(0);
    std::array<taps, max_rank> along{};
    coordinates counts{}, k{};
    for (std::size_t d = 0; d < rank; ++d) {
      along[d] = taps_of(c, d, o[d]);
      counts[d] = along[d].count;
    }
    mean sum(0);
    do {
      coordinates i{};
      typename C::real w = 1;
      for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t p = along[d].first + k[d];
        i[d] = inside(p, c.in(0, d));
        w *= static_cast<typename C::real>(share_of(along[d], p, c.in(0, d)));
      }
      if (w != 0) sum += spread<mean>(w) * static_cast<mean>(x(i));
    } while (next(k, counts, rank));
    return sum;
  }
};

}  // namespace op

inline constexpr function<op::resize> resize;

}  // namespace dnnkit
