// SPDX-License-Identifier: MIT
// The kernel of a group around a convolution: direct convolution over channels-last input with a halo (cpu/conv.hpp).
// An input that is not stored so, or has a prologue, is first brought into that form in scratch memory, prologue
// included, each element once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "dnnkit/cpu/conv.hpp"
#include "dnnkit/cpu/point_kernel.hpp"

namespace dnnkit::cpu {

template <class Net, std::size_t R> struct convolution_kernel {
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
  static constexpr bool direct = [] {
    if (input.from != source::load || source_load.type != dtype::f32 || source_load.movement.count != 0) return false;
    for (std::size_t d = 0; d < access::rank; ++d)
      if (!stride_along<Net>(source_load.axes, d).single) return false;
    if (in_channels > 1 && !(stride_along<Net>(source_load.axes, 1).stride == dim(1))) return false;
    if (!padded) return true;
    for (std::size_t i = 0; i < axes; ++i)
      if (source_load.before[i + 2] < shape.pad_begin(i) || source_load.after[i + 2] < shape.pad_end(i)) return false;
    return source_load.whole;
  }();
  static constexpr bool has_border = [] {
    for (std::size_t d = 0; d < access::rank; ++d)
      if (source_load.before[d] + source_load.after[d] != 0) return true;
    return false;
  }();
  static constexpr bool dense = direct ? source_load.whole && !has_border : !padded;

  static constexpr conv_attributes attributes{.in_channels = in_channels,
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

  static auto convolution(const kernel_call& call) {
    const auto height = extent_value<out_extent(1)>(call), width = extent_value<out_extent(2)>(call);
    if constexpr (direct) {
      const auto pixel = [&] {
        if constexpr (in_extent(2) == dim(1)) return constant<in_channels>{};
        else return stride_of<access::rank - 1>(call);
      }();
      const auto row = [&] {
        if constexpr (axes < 2) return constant<0>{};
        else return stride_of<access::rank - 2>(call);
      }();
      conv<attributes, std::remove_cvref_t<decltype(height)>, std::remove_cvref_t<decltype(width)>,
           std::remove_cvref_t<decltype(row)>, std::remove_cvref_t<decltype(pixel)>>
          c{height, width, row, pixel};
      c.images = extent_value<in_dim(0)>(call);
      c.image_stride = stride_of<0>(call);
      c.out_d = extent_value<out_extent(0)>(call);
      if constexpr (axes == 3) c.depth_stride = stride_of<2>(call);
      return c;
    } else {
      const auto row = times(staged(call, nth<2>{}), constant<in_channels>{});
      const auto plane = times(staged(call, nth<1>{}), row);
      conv<attributes, std::remove_cvref_t<decltype(height)>, std::remove_cvref_t<decltype(width)>,
           std::remove_cvref_t<decltype(row)>>
          c{height, width, row, {}};
      c.images = extent_value<in_dim(0)>(call);
      c.image_stride = times(staged(call, nth<0>{}), plane);
      c.out_d = extent_value<out_extent(0)>(call);
      c.depth_stride = plane;
      return c;
    }
  }
  using convolution_type = decltype(convolution(std::declval<const kernel_call&>()));

  // --- weights
  static constexpr index_t weight_floats = convolution_type::packed_size(), bias_floats = convolution_type::bias_size();

  static void pack(const kernel_call& call) noexcept {
    auto* out = reinterpret_cast<float*>(call.packed);
    convolution_type::pack_values(
        [&](index_t oc, index_t ic, index_t tap) {
          coordinates c{oc, ic};
          for (std::size_t a = 3; a-- > 0;)
            if (has_axis(a)) {
              c[position(a) + 2] = tap % taps(a);
              tap /= taps(a);
            }
          return values::template evaluate<weight, 1, 0>(call, c, constant<1>{}, 0);
        },
        out);
    std::array<float, static_cast<std::size_t>(attributes.out_channels)> b{};
    if constexpr (bias.from != source::nothing)
      for (index_t oc = 0; oc < attributes.out_channels; ++oc)
        b[static_cast<std::size_t>(oc)] =
            values::template evaluate<bias, 1, 0>(call, coordinates{oc}, constant<1>{}, 0);
    convolution_type::pack_bias(b.data(), out + weight_floats);
  }

  // --- first phase: the input with its border, channels last, in scratch; a unit is one row
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept {
    const index_t images = extent_value<in_dim(0)>(call);
    return images * staged(call, nth<0>{}) * staged(call, nth<1>{}) * staged(call, nth<2>{}) * in_channels *
           static_cast<std::int64_t>(sizeof(float));
  }
  static index_t prepare_units(const kernel_call& call) noexcept {
    return extent_value<in_dim(0)>(call) * staged(call, nth<0>{}) * staged(call, nth<1>{});
  }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept {
    const index_t depth = staged(call, nth<0>{}), height = staged(call, nth<1>{}), width = staged(call, nth<2>{});
    const index_t in_d = extent_value<in_extent(0)>(call), in_h = extent_value<in_extent(1)>(call),
                  in_w = extent_value<in_extent(2)>(call);
    for (index_t u = first; u < last; ++u) {
      float* out = reinterpret_cast<float*>(call.scratch) + u * width * in_channels;
      const index_t y = u % height - before(1), z = u / height % depth - before(0), n = u / height / depth;
      if (y < 0 || y >= in_h || z < 0 || z >= in_d) {
        std::fill(out, out + width * in_channels, 0.0f);
        continue;
      }
      std::fill(out, out + before(2) * in_channels, 0.0f);
      std::fill(out + (before(2) + in_w) * in_channels, out + width * in_channels, 0.0f);
      coordinates c{n};
      if constexpr (has_axis(0)) c[position(0) + 2] = z;
      if constexpr (has_axis(1)) c[position(1) + 2] = y;
      stage_row(call, c, in_w, out + before(2) * in_channels);
    }
  }

  // --- second phase
  static index_t units(const kernel_call& call) noexcept { return convolution(call).units(); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto c = convolution(call);
    const auto* weights = reinterpret_cast<const float*>(call.packed);
    const float* in = reinterpret_cast<const float*>(call.scratch);
    if constexpr (direct) {
      constexpr dim offset = source_load.offset;
      in = values::template pointer<input.index>(call) + extent_value<offset>(call);
      if constexpr (padded) {
        if constexpr (has_axis(0)) in -= before(0) * stride_of<position(0) + 2>(call);
        if constexpr (has_axis(1)) in -= before(1) * stride_of<position(1) + 2>(call);
        in -= before(2) * stride_of<position(2) + 2>(call);
      }
    }
    const index_t out_d = c.out_d;
    c.run(in, weights, bias.from == source::nothing ? nullptr : weights + weight_floats, first, last,
          [&](auto acc, index_t n, index_t y, index_t x, index_t oc, auto valid) {
            coordinates at{};
            at[1] = oc;
            at[0] = has_axis(0) ? n / out_d : n;
            if constexpr (has_axis(0)) at[position(0) + 2] = n % out_d;
            if constexpr (has_axis(1)) at[position(1) + 2] = y;
            at[position(2) + 2] = x;
            values::template finish<float_lanes, 1>(call, at, valid, acc);
          });
  }

  static constexpr kernel_entry entry{units,
                                      run,
                                      direct ? nullptr : prepare_units,
                                      direct ? nullptr : prepare,
                                      direct ? nullptr : scratch_bytes,
                                      pack,
                                      (weight_floats + bias_floats) * static_cast<std::int64_t>(sizeof(float))};

 private:
  // Pixels of one input row, channels last: vectors along the channels, or along the row when channels are few.
  static void stage_row(const kernel_call& call, coordinates c, index_t pixels, float* out) {
    constexpr std::size_t last = access::rank - 1;
    if constexpr (in_channels >= float_lanes) {
      for (index_t x = 0; x < pixels; ++x) {
        c[last] = x;
        for_lanes<float_lanes, 1>(c, in_channels, [&](auto n) {
          const auto v = values::template evaluate<input, float_lanes, 1>(call, c, n, 0);
          if constexpr (is_constant<decltype(n)>) v.store(out + x * in_channels + c[1]);
          else v.store(out + x * in_channels + c[1], n);
        });
      }
    } else {
      for (index_t ch = 0; ch < in_channels; ++ch) {
        c[1] = ch;
        for_lanes<float_lanes, last>(c, pixels, [&](auto n) {
          const auto v = values::template evaluate<input, float_lanes, last>(call, c, n, 0);
          for (index_t i = 0; i < n; ++i) out[(c[last] + i) * in_channels + ch] = v.v[i];
        });
      }
    }
  }
};

}  // namespace dnnkit::cpu
