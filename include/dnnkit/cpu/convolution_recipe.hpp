// SPDX-License-Identifier: MIT
// What the convolution kernels know of their recipe: the window over depth, height and width, and whether the input can
// be read where it is.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "dnnkit/cpu/conv.hpp"
#include "dnnkit/cpu/point_kernel.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

template <class Net, std::size_t R> struct convolution_recipe {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr operand_ref input = access::anchor_input(0), weight = access::anchor_input(1);
  static constexpr operand_ref bias = access::anchor_inputs > 2 ? access::anchor_input(2) : operand_ref{};
  static constexpr std::size_t axes = access::rank - 2;

  static constexpr dim in_dim(std::size_t d) { return Net::plan.dims[access::anchor_shape(0).first + d]; }
  static constexpr index_t weight_dim(std::size_t d) {
    return Net::plan.dims[access::anchor_shape(1).first + d].value();
  }

  static constexpr bool supported = access::self.anchor_type == dtype::f32 && values::is_setup(weight) &&
                                    values::is_setup(bias) && values::outputs_vectorize() && values::vectorizes(input);

  // The window, over depth, height and width; missing axes have one tap.
  static constexpr window shape = anchor_of<Net, R>::value.over(weight_dim, axes);
  static constexpr bool has_axis(std::size_t a) { return a + axes >= 3; }  // a: 0 depth, 1 height, 2 width
  static constexpr std::size_t position(std::size_t a) { return a + axes - 3; }
  static constexpr index_t taps(std::size_t a) { return has_axis(a) ? shape.kernel(position(a)) : 1; }
  static constexpr index_t stride(std::size_t a) { return has_axis(a) ? shape.stride(position(a)) : 1; }
  static constexpr index_t dilation(std::size_t a) { return has_axis(a) ? shape.dilation(position(a)) : 1; }
  static constexpr index_t before(std::size_t a) { return has_axis(a) ? shape.pad_begin(position(a)) : 0; }
  static constexpr index_t after(std::size_t a) { return has_axis(a) ? shape.pad_end(position(a)) : 0; }
  static constexpr dim in_extent(std::size_t a) { return has_axis(a) ? in_dim(position(a) + 2) : dim(1); }
  static constexpr dim out_extent(std::size_t a) { return has_axis(a) ? access::space(position(a) + 2) : dim(1); }
  static constexpr bool padded = before(0) + after(0) + before(1) + after(1) + before(2) + after(2) > 0;
  static constexpr index_t in_channels = in_dim(1).value();

  // --- is the input stored as the convolution wants it?
  static constexpr recipe_load source_load = [] {
    if constexpr (input.from == source::load) return access::template load<input.index>;
    else return recipe_load{};
  }();
  static constexpr bool has_border = [] {
    for (std::size_t d = 0; d < access::rank; ++d)
      if (source_load.before[d] + source_load.after[d] != 0) return true;
    return false;
  }();

  // The input is stored with a halo wide enough and the elements along `axis` next to each other; other axes have one
  // stride each.
  static constexpr bool stored_along(std::size_t axis) {
    if (input.from != source::load || source_load.type != dtype::f32 || source_load.movement.count != 0) return false;
    for (std::size_t d = 0; d < access::rank; ++d)
      if (!stride_along<Net>(source_load.axes, d).single) return false;
    // an extent of one has a stride where a border lies beside it
    const dim step = stride_along<Net>(source_load.axes, axis).stride;
    if (!(step == dim(1)) && !(in_dim(axis) == dim(1) && step == dim(0))) return false;
    if (!padded) return true;
    for (std::size_t i = 0; i < axes; ++i)
      if (source_load.before[i + 2] < shape.pad_begin(i) || source_load.after[i + 2] < shape.pad_end(i)) return false;
    return source_load.whole;
  }
  static constexpr bool stored_channels_last = stored_along(1);
  // Vectors along rows read up to one vector past the end of a row, which the arena and scratch memory have room
  // for; a file or what was computed from one has not.
  static constexpr bool may_be_planar = axes <= 2 && stride(2) == 1;
  static constexpr bool stored_planar = stored_along(access::rank - 1) && !source_load.external && !source_load.setup;
  // Where the first tap of the first output reads an input stored so.
  static const float* first_tap(const kernel_call& call) {
    constexpr dim offset = source_load.offset;
    const float* in = values::template pointer<input.index>(call) + extent_value<offset>(call);
    if constexpr (padded) {
      if constexpr (has_axis(0)) in -= before(0) * stride_of<position(0) + 2>(call);
      if constexpr (has_axis(1)) in -= before(1) * stride_of<position(1) + 2>(call);
      in -= before(2) * stride_of<position(2) + 2>(call);
    }
    return in;
  }

  // `dense`: the pixels of an image follow each other without a border.
  static constexpr conv_attributes attributes_of(bool dense) {
    return {.in_channels = in_channels,
            .out_channels = weight_dim(0),
            .groups = anchor_of<Net, R>::value.group,
            .kernel_d = taps(0),
            .kernel_h = taps(1),
            .kernel_w = taps(2),
            .stride_d = stride(0),
            .stride_h = stride(1),
            .stride_w = stride(2),
            .dilation_d = dilation(0),
            .dilation_h = dilation(1),
            .dilation_w = dilation(2),
            .dense = dense};
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
    return extent_value<stride_along<Net>(source_load.axes, D).stride>(call);
  }

  static float weight_at(const kernel_call& call, index_t oc, index_t ic, index_t tap) {
    coordinates c{oc, ic};
    for (std::size_t a = 3; a-- > 0;)
      if (has_axis(a)) {
        c[position(a) + 2] = tap % taps(a);
        tap /= taps(a);
      }
    return values::template evaluate<weight, 1, 0>(call, c, constant<1>{}, 0);
  }
  static float bias_at(const kernel_call& call, index_t oc) {
    if constexpr (bias.from == source::nothing) return 0;
    else return values::template evaluate<bias, 1, 0>(call, coordinates{oc}, constant<1>{}, 0);
  }

  // Packs weights and, behind them, the bias (zeros when there is none) for convolution type C into `call.packed`.
  static constexpr std::uint32_t packed_inputs = 0b110;  // weights and bias
  template <class C> static void pack(const kernel_call& call) {
    const conv_attributes a = attributes_of(false);
    std::vector<float> plain, b;  // ONNX's OIHW
    plain.reserve(static_cast<std::size_t>(a.out_channels * a.group_in() * a.taps()));
    for (index_t oc = 0; oc < a.out_channels; ++oc) {
      for (index_t ic = 0; ic < a.group_in(); ++ic)
        for (index_t tap = 0; tap < a.taps(); ++tap) plain.push_back(weight_at(call, oc, ic, tap));
      b.push_back(bias_at(call, oc));
    }
    auto* out = reinterpret_cast<float*>(call.packed);
    C::pack(plain.data(), out);
    C::pack_bias(b.data(), out + C::packed_size());
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
