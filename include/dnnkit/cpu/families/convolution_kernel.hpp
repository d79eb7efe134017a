// SPDX-License-Identifier: MIT
// What the convolution kernels have in common: their specification as constants, the way to the input, and packing.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/convolution_spec.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/cpu/micro/conv.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

template <class Net, std::size_t R> struct convolution_kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr convolution_spec spec{kernel_spec(Net::plan, R)};
  static constexpr bool in_place = access::choice.operands[0] == operand_reading::in_place;
  static constexpr operand_ref input = spec.input(0), weight = spec.input(1), bias = spec.input(2);
  static constexpr std::size_t axes = spec.axes, width_dim = spec.width_dim();
  static constexpr recipe_load source_load = spec.stored;
  static constexpr index_t in_channels = spec.in_channels();

  // The window over a: 0 depth, 1 height, 2 width. Numbers of their own: a program that asked `spec` would hold it.
  struct along_axis {
    bool present;
    std::size_t position;
    index_t taps, before, after;
    local_extent in, out;
  };
  static constexpr along_axis window_along(std::size_t a) {
    return {spec.has_axis(a), spec.position(a),  spec.taps(a),      spec.before(a),
            spec.after(a),    spec.in_extent(a), spec.out_extent(a)};
  }
  static constexpr std::array<along_axis, 3> over{window_along(0), window_along(1), window_along(2)};
  static constexpr bool has_axis(std::size_t a) { return over[a].present; }
  static constexpr std::size_t position(std::size_t a) { return over[a].position; }
  static constexpr index_t taps(std::size_t a) { return over[a].taps; }
  static constexpr index_t before(std::size_t a) { return over[a].before; }
  static constexpr index_t after(std::size_t a) { return over[a].after; }
  static constexpr local_extent in_extent(std::size_t a) { return over[a].in; }
  static constexpr local_extent out_extent(std::size_t a) { return over[a].out; }
  static constexpr local_extent in_dim(std::size_t d) { return access::input_extent(0, d); }
  static constexpr bool padded = spec.padded();

  // Where the first tap of the first output reads an input stored so.
  static auto first_tap(const kernel_call& call) {
    constexpr local_extent offset = source_load.offset;
    auto in = values::template pointer<input.index>(call) + extent_value<offset>(call);
    if constexpr (padded) {
      if constexpr (has_axis(0)) in -= before(0) * stride_of<position(0) + 2>(call);
      if constexpr (has_axis(1)) in -= before(1) * stride_of<position(1) + 2>(call);
      in -= before(2) * stride_of<position(2) + 2>(call);
    }
    return in;
  }

  // Extents of the staged input.
  static auto staged(const kernel_call& call, auto a) {
    constexpr std::size_t axis = decltype(a)::value;
    constexpr index_t border = before(axis) + after(axis);
    if constexpr (in_extent(axis).is_known()) return constant<in_extent(axis).value() + border>{};
    else return extent_value<in_extent(axis)>(call) + border;
  }
  template <std::size_t A> using nth = std::integral_constant<std::size_t, A>;
  template <class X, class Y> static constexpr auto times(X x, Y y) {
    if constexpr (is_constant<X> && is_constant<Y>) return constant<X::value * Y::value>{};
    else return index_t(x) * index_t(y);
  }
  // Stride of the input along dimension d, when it is read in place.
  template <std::size_t D> static auto stride_of(const kernel_call& call) {
    return extent_value<stride_along(Net::plan, source_load.axes, D).stride>(call);
  }

  using number = element<multiplied_as(access::self.anchor_type)>;
  static number weight_at(const kernel_call& call, index_t oc, index_t ic, index_t tap) {
    coordinates c{oc, ic};
    for (std::size_t a = 3; a-- > 0;)
      if (has_axis(a)) {
        c[position(a) + 2] = tap % taps(a);
        tap /= taps(a);
      }
    return values::template evaluate<weight, 1, 0>(call, c, constant<1>{}, 0);
  }
  static number bias_at(const kernel_call& call, index_t oc) {
    if constexpr (bias.from == source::nothing) return 0;
    else return values::template evaluate<bias, 1, 0>(call, coordinates{oc}, constant<1>{}, 0);
  }

  // --- packed weights and, behind them, the bias (zeros when there is none)
  static constexpr std::uint32_t packed_inputs = 0b110;  // weights and bias
  static constexpr index_t plain_weights =
      spec.attributes(false).out_channels * spec.attributes(false).group_in() * spec.attributes(false).taps();
  static constexpr index_t plain_numbers = plain_weights + spec.attributes(false).out_channels;
  // Are weights stored as ONNX has them, OIHW, with nothing to compute?
  static constexpr bool stores_plain_weights = [] {
    if (weight.from != source::load) return false;
    const recipe_load l = spec.load(weight.index);
    if (l.type != multiplied_as(access::self.anchor_type) || l.movement.count != 0 || !(l.offset == 0)) return false;
    index_t next = 1;  // the stride of a row-major tensor
    for (std::size_t d = spec.rank_of(1); d-- > 0;) {
      const index_t extent = spec.extent_of(1, d).value();
      const lane_stride along = spec.stride_along(l.axes, d);
      if (extent > 1 && !(along.single && along.stride == next)) return false;
      next *= extent;
    }
    return true;
  }();

  // For convolution type C, before a run.
  template <class C> static void pack_for(const kernel_call& call) {
    std::vector<number> plain(static_cast<std::size_t>(stores_plain_weights ? spec.out_channels() : plain_numbers));
    pack_by_way_of<C>(call, plain.data(), reinterpret_cast<number*>(call.packed));
  }
  // The same; `plain` has room for plain_numbers.
  template <class C> static void pack_by_way_of(const kernel_call& call, number* plain, number* out) {
    constexpr conv_attributes a = spec.attributes(false);
    const number* weights = plain;
    if constexpr (stores_plain_weights) {
      weights = values::template pointer<weight.index>(call);
    } else {
      for (index_t oc = 0; oc < a.out_channels; ++oc)
        for (index_t ic = 0; ic < a.group_in(); ++ic)
          for (index_t tap = 0; tap < a.taps(); ++tap) *plain++ = weight_at(call, oc, ic, tap);
    }
    for (index_t oc = 0; oc < a.out_channels; ++oc) plain[oc] = bias_at(call, oc);
    C::pack(weights, out);
    C::pack_bias(plain, out + C::packed_size());
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
