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
  template <class C, class O> constexpr auto at(const C& c, const O& o, auto x, auto grid) const {
    using number = coordinate_of<O>;
    using real = typename C::real;
    using std::floor;
    using std::nearbyint;
    const std::size_t axes = c.rank(0) - 2;
    O first{}, in_grid{o[0]};
    std::array<std::array<real, 4>, 3> weight{};
    coordinates k{}, taps{};
    for (std::size_t d = 0; d < axes; ++d) in_grid[d + 1] = o[d + 2];
    for (std::size_t d = 0; d < axes; ++d) {
      in_grid[axes + 1] = number(static_cast<std::int64_t>(axes - 1 - d));
      const real p = place<real>(static_cast<real>(grid(in_grid)), real(as_real(c.in(0, d + 2))));
      const real below = mode == grid_sample_mode::nearest ? nearbyint(p) : floor(p);
      weight[d] = mode == grid_sample_mode::nearest ? std::array<real, 4>{real(0), real(1), real(0), real(0)}
                                                    : weights<real>(p - below);
      first[d] = integer_below(below) - number(1);
      taps[d] = 4;
    }
    auto sum = variable(c, real(0));
    do {
      real w(1);
      for (std::size_t d = 0; d < axes; ++d) w = w * weight[d][static_cast<std::size_t>(k[d])];
      when(c, w != real(0), [&] {
        O i{o[0], o[1]};
        auto there = number(0) == number(0);
        for (std::size_t d = 0; d < axes; ++d) {
          const number n = c.in(0, d + 2), p = first[d] + number(k[d]);
          there = both(there, n > number(0));
          if (padding_mode == grid_padding::zeros) there = both(there, both(p >= number(0), p < n));
          i[d + 2] = inside<real>(p, n);
        }
        when(c, there, [&] { assign(c, sum, static_cast<real>(sum + w * static_cast<real>(x(i)))); });
      });
    } while (next(k, taps, axes));
    return sum;
  }
  constexpr dim flops(const inference& c) const {
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * 16;
  }

 private:
  // A place in units of elements, brought back into an image of n of them, unless what lies outside is 0 or its edge
  // (which the elements around the place see to).
  template <class T> constexpr T place(const T& given, const T& extent) const {
    const T one(1), half(0.5f), p = select(given != given, -one, given);
    const T at = align_corners ? (p + one) * half * (extent - one) : ((p + one) * extent - one) * half;
    if (padding_mode == grid_padding::reflection) return reflected(at, extent);
    const T outside(3);  // elements, from where on nothing changes
    return select(at < -outside, -outside, select(at > extent + outside, extent + outside, at));
  }
  template <class T> constexpr T reflected(const T& p, const T& extent) const {
    using std::fmod;
    const T zero(0), one(1), low(align_corners ? 0.0f : -0.5f), high = extent - one - low, length = high - low;
    const T period = select(length > zero, T(2) * length, one);
    const T beyond = fmod(select(p < low, low - p, p - high), period);  // after two reflections it is there again
    const T rest = select(beyond < length, beyond, beyond - length);
    const T folded = select((p < low) == (beyond < length), low + rest, high - rest);
    const T inner = select(beyond != beyond, low, folded);  // NaN is of an infinite place
    return select(either(p<low, p> high), select(length > zero, inner, zero), p);
  }
  // The nearest element of the image, or that of its mirror image.
  template <class T, class N> constexpr N inside(const N& i, const N& n) const {
    using std::nearbyint;
    const auto clamped = [&](const N& p) { return select(p < N(0), N(0), select(p < n, p, n - N(1))); };
    if (padding_mode != grid_padding::reflection) return clamped(i);
    const T mirrored = reflected(T(as_real(i)), T(as_real(n)));
    return select(both(i >= N(0), i < n), i, clamped(integer_below(nearbyint(mirrored))));
  }
  // Of the elements at -1, 0, 1, 2 for a place t behind 0: Keys' kernel with a = -0.75, or the two nearest ones.
  template <class T> constexpr std::array<T, 4> weights(const T& t) const {
    const T one(1), u = one - t;
    if (mode == grid_sample_mode::bilinear) return {T(0), u, t, T(0)};
    const T a(-0.75f), two(2), three(3), four(4), five(5), eight(8);
    const auto far = [&](const T& x) { return ((a * x - five * a) * x + eight * a) * x - four * a; };
    const auto near = [&](const T& x) { return ((a + two) * x - (a + three)) * x * x + one; };
    return {far(t + one), near(t), near(u), far(u + one)};
  }
};

}  // namespace op

inline constexpr function<op::grid_sample> grid_sample;

}  // namespace dnnkit
