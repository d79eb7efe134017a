// SPDX-License-Identifier: MIT
// Discrete Fourier transforms and what goes with them: ONNX's DFT, STFT, HannWindow, HammingWindow, BlackmanWindow,
// MelWeightMatrix. Every element is a sum of its own, in the order of the definition.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits transform{.map = mapping::many_to_many, .dynamic = dynamism::isvdos};

// exp(sign 2 pi i k / n), its real part, or (half 1) the imaginary one; k may be large
template <class T> T unit_root(std::int64_t k, std::int64_t n, T sign, std::int64_t half) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return half == 0 ? static_cast<T>(std::cos(angle)) : sign * static_cast<T>(std::sin(angle));
}
}  // namespace detail

namespace op {

// x [..., n, ..., 1 or 2] (real, or real and imaginary parts) -> [..., m, ..., 2] along `axis`: the transform of length
// dft_length (0: that of the axis; x is cut off or continued by zeros); onesided: the first half and one of it. The
// inverse of that takes such a half [..., h, ..., 2] to the real elements [..., m, ..., 1] (0: 2 (h - 1) of them).
struct dft {
  std::int64_t axis = 1;
  bool inverse = false, onesided = false;
  dim dft_length = 0;

  static constexpr std::string_view name = "DFT";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 1;
  static constexpr traits properties = detail::transform;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("inverse", self.inverse);
    visit("onesided", self.onesided);
    visit("dft_length", self.dft_length);
  }

  constexpr void infer(inference& c) const {
    std::int64_t a = axis;
    if (!c.require_rank(0, 2, max_rank) || !c.normalise_axis(a, c.rank(0)) ||
        !c.require_extent(dft_length, "dft_length"))
      return;
    const dim parts = c.in(0)[c.rank(0) - 1];
    if (!c.require(parts == dim(1) || parts == dim(2), "the last extent must be 1 or 2") ||
        !c.require(static_cast<std::size_t>(a) + 1 < c.rank(0), "the axis must not be the last one") ||
        !c.require(!onesided || parts == dim(inverse ? 2 : 1),
                   "onesided needs real elements, or complex ones for the inverse transform"))
      return;
    shape s = c.in(0);
    const auto along = static_cast<std::size_t>(a);
    if (onesided && inverse && dft_length == dim(0)) {
      if (!c.require(c.table().range(s[along]).max > 1, "half a transform has two elements at least")) return;
      s[along] = (c.number(s[along]) - 1) * 2;
    }
    if (!(dft_length == dim(0))) s[along] = dft_length;
    if (onesided && !inverse) s[along] = c.number(s[along]) / 2 + 1;
    s[s.size() - 1] = onesided && inverse ? 1 : 2;
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t) const {
    footprint f = footprint::same_except(c.rank(0), axis_position(axis, c.rank(0)));
    f.axes[c.rank(0) - 1] = needs::whole;
    return f;
  }
  template <class C> auto at(const C& c, const coordinates& o, auto x) const {
    using real = typename C::real;
    const std::size_t along = axis_position(axis, c.rank(0)), last = c.rank(0) - 1;
    const std::int64_t given = c.in(0, along), part = o[last];
    const bool halved = onesided && inverse;  // what x leaves out are the conjugates of all but its first and middle
    const std::int64_t length = halved ? c.out(along) : dft_length == dim(0) ? given : c.value(dft_length);
    const std::int64_t count = halved ? length / 2 + 1 : length;
    const real sign = inverse ? real(1) : real(-1);
    real sum = 0;
    coordinates i = o;
    for (std::int64_t n = 0; n < given && n < count; ++n) {
      const std::int64_t turns = o[along] * n % length;
      i[along] = n;
      i[last] = 0;
      real v = static_cast<real>(x(i)) * detail::unit_root<real>(turns, length, sign, part);
      if (c.in(0, last) == 2) {
        i[last] = 1;  // (a + b i) r: real part - b r'', imaginary part + b r'
        const real imaginary = static_cast<real>(x(i)) * detail::unit_root<real>(turns, length, sign, 1 - part);
        v += part == 0 ? -imaginary : imaginary;
      }
      sum += halved && n > 0 && 2 * n != length ? 2 * v : v;
    }
    return inverse ? sum / static_cast<real>(length) : sum;
  }
  constexpr dim flops(const inference& c) const { return c.count(0) * c.size(0, axis_position(axis, c.rank(0))) * 8; }
};

// signal [batch, n, 1 or 2], optional window [frame_length] -> [batch, frames, bins, 2]: the transforms of frames that
// begin frame_step apart; onesided: the first half and one of each.
struct stft {
  std::int64_t frame_step = 1, frame_length = 1;
  bool onesided = true;

  static constexpr std::string_view name = "STFT";
  static constexpr std::string_view operands = "signal, window";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 2, optional_inputs = 1;
  static constexpr traits properties = detail::transform;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("frame_step", self.frame_step);
    visit("frame_length", self.frame_length);
    visit("onesided", self.onesided);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 2, 3) || !c.require(frame_step > 0 && frame_length > 0, "frames need a length and a step"))
      return;
    if (c.has(1) && (!c.require_rank(1, 1, 1) ||
                     !c.require_equal(c.in(1)[0], "the window's length", frame_length, "that of a frame")))
      return;
    if (!c.require(c.table().range(c.size(0, 1) - frame_length).max >= 0, "the signal is shorter than a frame")) return;
    const dim frames = (c.size(0, 1) - frame_length) / frame_step + 1;
    c.out(c.type(0), {c.in(0)[0], frames, onesided ? frame_length / 2 + 1 : frame_length, 2});
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    if (input == 1) return {needs::whole};
    footprint f{needs::same(0), needs::window(1, frame_step, frame_length, 1, 0)};
    if (c.rank(0) == 3) f.axes.push_back(needs::whole);
    return f;
  }
  template <class C, class X, class W = absent> auto at(const C& c, const coordinates& o, X x, W window = {}) const {
    using real = typename C::real;
    real sum = 0;
    for (std::int64_t n = 0; n < frame_length; ++n) {
      const std::int64_t turns = o[2] * n % frame_length;
      coordinates i{o[0], o[1] * frame_step + n};
      real v = static_cast<real>(x(i)) * detail::unit_root<real>(turns, frame_length, real(-1), o[3]);
      if (c.rank(0) == 3 && c.in(0, 2) == 2) {
        i[2] = 1;
        const real imaginary =
            static_cast<real>(x(i)) * detail::unit_root<real>(turns, frame_length, real(-1), 1 - o[3]);
        v += o[3] == 0 ? -imaginary : imaginary;
      }
      if constexpr (is_present<W>) v *= static_cast<real>(window(coordinates{n}));
      sum += v;
    }
    return sum;
  }
  constexpr dim flops(const inference& c) const {
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * frame_length * 8;
  }
};

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n) for i < size, n being size if periodic, else one less.
template <class Terms> struct cosine_window {
  dim size = 0;
  bool periodic = true;
  dtype to = f32;

  static constexpr std::string_view name = Terms::name;
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 0;
  static constexpr traits properties{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("size", self.size);
    visit("periodic", self.periodic);
    visit("to", self.to);
  }

  constexpr void infer(inference& c) const {
    if (c.require_extent(size, "the size")) c.out(to, {size});
  }
  double at(const auto& c, const coordinates& o) const {
    const double n = static_cast<double>(periodic ? c.out(0) : c.out(0) - 1);
    const double angle = n > 0 ? 2 * std::numbers::pi * static_cast<double>(o[0]) / n : 0;
    return Terms::constant - Terms::once * std::cos(angle) + Terms::twice * std::cos(2 * angle);
  }
};

}  // namespace op

namespace detail {
struct hann_terms {
  static constexpr std::string_view name = "HannWindow";
  static constexpr double constant = 0.5, once = 0.5, twice = 0;
};
struct hamming_terms {
  static constexpr std::string_view name = "HammingWindow";
  static constexpr double constant = 25.0 / 46, once = 21.0 / 46, twice = 0;
};
struct blackman_terms {
  static constexpr std::string_view name = "BlackmanWindow";
  static constexpr double constant = 0.42, once = 0.5, twice = 0.08;
};
}  // namespace detail

namespace op {

using hann_window = cosine_window<detail::hann_terms>;
using hamming_window = cosine_window<detail::hamming_terms>;
using blackman_window = cosine_window<detail::blackman_terms>;

// [dft_length / 2 + 1, num_mel_bins]: triangles over the frequencies of a transform, evenly spaced on the mel scale.
struct mel_weight_matrix {
  std::int64_t num_mel_bins = 1, dft_length = 2, sample_rate = 1;
  float lower_edge_hertz = 0, upper_edge_hertz = 0;
  dtype to = f32;

  static constexpr std::string_view name = "MelWeightMatrix";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 0;
  static constexpr traits properties{.map = mapping::one_to_many, .dynamic = dynamism::isvdos};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("num_mel_bins", self.num_mel_bins);
    visit("dft_length", self.dft_length);
    visit("sample_rate", self.sample_rate);
    visit("lower_edge_hertz", self.lower_edge_hertz);
    visit("upper_edge_hertz", self.upper_edge_hertz);
    visit("to", self.to);
  }

  constexpr void infer(inference& c) const {
    constexpr std::int64_t most = std::int64_t{1} << 48;
    if (c.require(num_mel_bins > 0 && dft_length > 0 && sample_rate > 0, "counts and rates must be positive") &&
        c.require(num_mel_bins <= most && dft_length <= most, "counts must be 2^48 at most"))
      c.out(to, {dft_length / 2 + 1, num_mel_bins});
  }
  // Number of the transform's bin in which edge k of the triangles lies.
  double edge(std::int64_t k) const {
    const auto mel = [](float hertz) { return 2595 * std::log10(1 + static_cast<double>(hertz) / 700); };
    const double low = mel(lower_edge_hertz), high = mel(upper_edge_hertz);
    const double here = low + static_cast<double>(k) * (high - low) / static_cast<double>(num_mel_bins + 2);
    const double hertz = 700 * (std::pow(10.0, here / 2595) - 1);
    return std::floor(static_cast<double>(dft_length + 1) * hertz / static_cast<double>(sample_rate));
  }
  double at(const auto&, const coordinates& o) const {
    const double low = edge(o[1]), top = edge(o[1] + 1), high = edge(o[1] + 2), p = static_cast<double>(o[0]);
    if (low == top && p == top) return 1;
    if (p >= low && p <= top && top > low) return (p - low) / (top - low);
    return p >= top && p < high ? (high - p) / (high - top) : 0;
  }
};

}  // namespace op

inline constexpr function<op::dft> dft;
inline constexpr function<op::stft> stft;

}  // namespace dnnkit
