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
  template <class C, class O> constexpr auto at(const C& c, const O& o, auto x) const {
    using result = sum_of<C, decltype(x(o))>;
    const auto within_input = [&] {
      if (mode == resize_mode::nearest) return static_cast<result>(nearest(c, o, x));
      return static_cast<result>(mode == resize_mode::linear && !antialias ? linear(c, o, x) : weighted(c, o, x));
    };
    if (coordinate_transformation_mode != coordinate_mode::tf_crop_and_resize) return within_input();
    auto y = variable(c, output_element<result>(c, extrapolation_value));
    when(c, negation(is_cropped(c, o)), [&] { assign(c, y, within_input()); });
    return y;
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
      const part<std::int64_t> p = between(c, d, o);
      n = {{p.below, p.below + 1}, {1 - p.share, p.share}, p.share > 0 ? 2u : 1u};
    } else {
      const taps<std::int64_t> t = taps_of(c, d, o);
      const std::int64_t extent = c.in(0, d);
      n.count = static_cast<std::size_t>(t.count);
      for (std::size_t k = 0; k < n.count; ++k) {
        const std::int64_t i = t.first + static_cast<std::int64_t>(k);
        n.positions[k] = inside(i, extent);
        n.weights[k] = share_of(t, i, extent);
      }
    }
    return n;
  }

  // Where output coordinate o of axis d lies in the input: a real number that may lie outside.
  template <class N> constexpr real_of<N> source(const auto& c, std::size_t d, const N& o) const {
    using real = real_of<N>;
    const real at_output = as_real(o), n = as_real(c.in(0, d)), m = as_real(c.out(d)), one(1), half(0.5f);
    const real scale = scales.empty() ? m / n : real(scales[d]);
    if (coordinate_transformation_mode == coordinate_mode::tf_crop_and_resize) {
      const real first(roi[d]), last(roi[d + c.rank(0)]);
      return select(m > one, first * (n - one) + at_output * (last - first) * (n - one) / steps(m),
                    (first + last) / real(2) * (n - one));
    }
    const auto moved = [&] {
      switch (coordinate_transformation_mode) {
        case coordinate_mode::asymmetric:
          return at_output / scale;
        case coordinate_mode::align_corners:
          return select(m == one, real(0), at_output * (n - one) / steps(m));
        case coordinate_mode::pytorch_half_pixel:
          return select(m == one, real(0), (at_output + half) / scale - half);
        case coordinate_mode::tf_half_pixel_for_nn:
          return (at_output + half) / scale;
        case coordinate_mode::half_pixel_symmetric:
          return n / real(2) * (one - m / (n * scale)) + (at_output + half) / scale - half;
        default:
          return (at_output + half) / scale - half;
      }
    };
    return select(scale == one, at_output, moved());
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
  // Of an output extent, the steps from the first position to the last; 1 where there are none, for a division.
  template <class R> static constexpr R steps(const R& m) { return select(m > R(1), m - R(1), R(1)); }
  template <class N> static constexpr N inside(const N& p, const N& n) {
    return select(p < N(0), N(0), select(p < n, p, n - N(1)));
  }

  template <class R> constexpr auto rounded(const R& x) const {
    const auto below = integer_below(x);
    using number = std::remove_const_t<decltype(below)>;
    const R rest = x - as_real(below);
    const auto above = below + number(1);
    switch (nearest_mode) {
      case nearest_rounding::lower:
        return below;
      case nearest_rounding::upper:
        return select(rest > R(0), above, below);
      case nearest_rounding::prefer_upper:
        return select(rest >= R(0.5f), above, below);
      default:
        return select(rest > R(0.5f), above, below);
    }
  }
  template <class N> constexpr N nearest(const auto& c, std::size_t d, const N& o) const {
    return inside<N>(rounded(source(c, d, o)), c.in(0, d));
  }
  template <class O> constexpr auto nearest(const auto& c, const O& o, auto x) const {
    O i{};
    for (std::size_t d = 0; d < c.rank(0); ++d) i[d] = nearest(c, d, o[d]);
    return x(i);
  }
  // Does an output element lie outside the part of the input that is taken?
  template <class O> constexpr auto is_cropped(const auto& c, const O& o) const {
    using number = coordinate_of<O>;
    using real = real_of<number>;
    auto outside = real(0) > real(1);
    for (std::size_t d = 0; d < c.rank(0); ++d) {
      const real p = source(c, d, o[d]);
      outside = either(outside, either(p<real(0), p> as_real(c.in(0, d) - number(1))));
    }
    return outside;
  }
  // What means of T are kept in: integers in real numbers, too.
  template <class C, class T> using mean_of = std::conditional_t<std::is_arithmetic_v<T>, typename C::real, T>;

  // A place between two positions, or on one: the share is that of the upper neighbour.
  template <class N> struct part {
    N below = 0;
    real_of<N> share{};
  };
  template <class N> constexpr part<N> between(const auto& c, std::size_t d, const N& o) const {
    using real = real_of<N>;
    const N n = c.in(0, d);
    const real last = as_real(n - N(1)), p = source(c, d, o);
    const real inner = select(p < real(0), real(0), select(p > last, last, p));
    const N below = inside<N>(integer_below(inner), n);
    return {below, inner - as_real(below)};
  }

  // The mean of the corners around the source, weighted by nearness along each axis.
  template <class C, class O> constexpr auto linear(const C& c, const O& o, auto x) const {
    using mean = mean_of<C, decltype(x(o))>;
    using number = coordinate_of<O>;
    using real = typename C::real;
    const std::size_t rank = c.rank(0);
    std::array<part<number>, max_rank> along{};
    std::uint32_t doubled = 0;  // axes along which there may be two
    for (std::size_t d = 0; d < rank; ++d) {
      if (keeps(d, is_certain(c.in(0, d) == c.out(d)))) {
        along[d].below = o[d];
        continue;
      }
      along[d] = between(c, d, o[d]);
      if (is_possible(along[d].share > real_of<number>(0))) doubled |= 1u << d;
    }
    auto sum = variable(c, mean(0));
    std::uint32_t upper = doubled;
    do {  // every subset of `doubled`, down to the empty one
      O i{};
      real weight(1);
      for (std::size_t d = 0; d < rank; ++d) {
        i[d] = along[d].below;
        if ((doubled >> d & 1) == 0) continue;
        const bool is_high = (upper >> d & 1) != 0;
        if (is_high) i[d] = inside<number>(i[d] + number(1), c.in(0, d));
        weight = weight * static_cast<real>(is_high ? along[d].share : real_of<number>(1) - along[d].share);
      }
      when(c, weight > real(0),
           [&] { assign(c, sum, static_cast<mean>(sum + spread<mean>(weight) * static_cast<mean>(x(i)))); });
      upper = (upper - 1) & doubled;
    } while (upper != doubled);
    return sum;
  }

  // The elements that an output element is a mean of, along one axis: `count` from `first` on, weighted by the kernel
  // at their distances from `place`, times `narrow` where there are fewer elements than before; the weights add up to
  // total. Or one, where the axis stays as it is.
  template <class N> struct taps {
    N first = 0, count = 1;
    bool is_one = true;
    real_of<N> place{}, narrow{}, total{};
  };
  // The weight of position i of n, which may lie outside, before they are made to add up to 1.
  template <class N> constexpr real_of<N> weight(const taps<N>& t, const N& i, const N& n) const {
    using real = real_of<N>;
    const real one(1), two(2), difference = (as_real(i) - t.place) * t.narrow;
    const real x = select(difference < real(0), -difference, difference);
    const auto of_kernel = [&] {
      if (mode == resize_mode::linear) return select(x < one, one - x, real(0));
      const real a(cubic_coeff_a), four(4), five(5), eight(8), three(3);  // Keys' kernel
      return select(x <= one, ((a + two) * x - (a + three)) * x * x + one,
                    select(x < two, ((a * x - five * a) * x + eight * a) * x - four * a, real(0)));
    };
    if (!exclude_outside) return of_kernel();
    return select(either(i < N(0), i >= n), real(0), of_kernel());
  }
  template <class N> constexpr taps<N> taps_of(const auto& c, std::size_t d, const N& o) const {
    using real = real_of<N>;
    const N n = c.in(0, d);
    if (keeps(d, is_certain(n == c.out(d)))) return {.first = o};
    const real scale = scales.empty() ? as_real(c.out(d)) / as_real(n) : real(scales[d]);
    taps<N> t{0, 0, false, source(c, d, o), antialias ? select(scale < real(1), scale, real(1)) : real(1)};
    const real reach = real(mode == resize_mode::linear ? 1 : 2) / t.narrow;
    t.first = integer_below(t.place - reach) + N(1);
    t.count = integer_below(t.place + reach) - t.first + N(1);
    t.count = select(t.count < N(2), N(2), t.count);
    t.total = variable(c, real(0));
    for_each(c, t.count, [&](const N& k) { assign(c, t.total, t.total + weight(t, t.first + k, n)); });
    return t;
  }
  // The weight of position i of n, of all those of t.
  template <class N> constexpr real_of<N> share_of(const taps<N>& t, const N& i, const N& n) const {
    return t.is_one ? real_of<N>(1) : weight(t, i, n) / t.total;
  }

  template <class C, class O> constexpr auto weighted(const C& c, const O& o, auto x) const {
    std::array<taps<coordinate_of<O>>, max_rank> along{};
    for (std::size_t d = 0; d < c.rank(0); ++d) along[d] = taps_of(c, d, o[d]);
    auto sum = variable(c, mean_of<C, decltype(x(o))>(0));
    add_taps(c, along, 0, typename C::real(1), O{}, x, sum);
    return sum;
  }
  // Adds the elements whose coordinates of the first d axes are those of i, the product of whose weights is w.
  template <class C, class O>
  constexpr void add_taps(const C& c, const auto& along, std::size_t d, const typename C::real& w, O i, auto& x,
                          auto& sum) const {
    using mean = std::remove_reference_t<decltype(sum)>;
    using number = coordinate_of<O>;
    if (d == c.rank(0)) {
      when(c, w != typename C::real(0),
           [&] { assign(c, sum, static_cast<mean>(sum + spread<mean>(w) * static_cast<mean>(x(i)))); });
      return;
    }
    for_each(c, along[d].count, [&](const number& k) {
      const number p = along[d].first + k, n = c.in(0, d);
      i[d] = inside<number>(p, n);
      add_taps(c, along, d + 1, w * static_cast<typename C::real>(share_of(along[d], p, n)), i, x, sum);
    });
  }
};

}  // namespace op

inline constexpr function<op::resize> resize;

}  // namespace dnnkit
