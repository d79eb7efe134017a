// SPDX-License-Identifier: MIT
// The kernel of a group around a convolution whose activations are stored channels first: vectors run along rows
// (cpu/micro/planar.hpp). For channel counts that would leave vector lanes empty. An input that is not stored so, or
// has a prologue, is brought into that form in scratch memory, each element once: first, or row by row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "dnnkit/cpu/families/convolution_kernel.hpp"
#include "dnnkit/cpu/micro/planar.hpp"
#include "dnnkit/cpu/micro/transpose.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct conv_nchw {
  static constexpr std::string_view name = "conv_nchw";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::conv>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const convolution_spec spec(recipe);
    if (const std::string_view why = spec.unfit({}); !why.empty()) return no_match{why};
    if (spec.axes > 2) return no_match{"a window over depth, too"};
    if (spec.stride(2) != 1) return no_match{"the window moves along rows in steps, and vectors would not be full"};
    const std::size_t last = spec.width_dim();
    const bool stored = spec.stored_channels_first();
    if (const std::string_view why = spec.unfit_for_staging(); !stored && !why.empty()) return no_match{why};
    return spec.choice(facts, last, tiles_of(spec, facts), !stored,
                       stored ? "vectors along rows; the input is read where it lies"
                              : "vectors along rows; the input is brought to channels first");
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  // Tiles of output channels by two vectors of pixels, at most.
  static constexpr tiled_cycles tiles_of(const convolution_spec& spec, const cpu_facts& facts) {
    constexpr int widest = 2;
    const double width = static_cast<double>(known_or_typical(spec.out_extent(2)));
    const double groups = static_cast<double>(spec.convolution.group);
    const double taps = static_cast<double>(spec.taps(1) * spec.taps(2));
    const tiled_product of_row{.rows = static_cast<double>(spec.out_channels()) / groups,
                               .vectors = vectors_of(facts, width),
                               .depth = spec.depth(),
                               .runs = taps == 1 ? 1 : spec.depth() / static_cast<double>(spec.taps(2))};
    const tiled_cycles one = cycles_of(facts, of_row, widest);
    const double times = spec.pixels() / width * groups;
    return {times * one.arithmetic, times * one.starts};
  }
};

template <class Net, std::size_t R> struct conv_nchw::kernel : convolution_kernel<Net, R> {
  using facts = convolution_kernel<Net, R>;
  using access = typename facts::access;
  using values = typename facts::values;
  static constexpr std::size_t last = facts::width_dim;  // the axis vectors run along
  template <std::size_t A> using nth = typename facts::template nth<A>;

  static constexpr bool in_place = facts::in_place;
  // Channels of the input lie next to each other; and an output row needs one of its rows, which is then brought to
  // planes when its turn comes and stays in the first cache, in a worker's memory.
  static constexpr bool by_pixels = facts::spec.lies_along_channels(float_lanes),
                        turns_rows = !in_place && by_pixels && facts::taps(1) == 1 && facts::before(1) == 0 &&
                                     facts::after(1) == 0,
                        prepares = !in_place && !turns_rows;
  static constexpr conv_attributes attributes = facts::spec.attributes(false);

  static auto convolution(const kernel_call& call) {
    const auto height = extent_value<facts::out_extent(1)>(call);
    const auto width = extent_value<facts::out_extent(2)>(call);
    const auto row = [&] {
      if constexpr (turns_rows) return constant<0>{};
      else if constexpr (!in_place) return facts::staged(call, nth<2>{});
      else if constexpr (facts::axes == 2) return facts::template stride_of<last - 1>(call);
      else return constant<0>{};
    }();
    const auto plane = [&] {
      if constexpr (in_place) return facts::template stride_of<1>(call);
      else if constexpr (turns_rows) return turned_row(call);
      else return facts::times(facts::staged(call, nth<1>{}), row);
    }();
    planar_conv<attributes, std::remove_cvref_t<decltype(height)>, std::remove_cvref_t<decltype(width)>,
                std::remove_cvref_t<decltype(row)>, std::remove_cvref_t<decltype(plane)>>
        c{height, width, row, plane};
    c.images = extent_value<facts::in_dim(0)>(call);
    if constexpr (in_place) c.image_stride = facts::template stride_of<0>(call);
    else if constexpr (!turns_rows) c.image_stride = plane * facts::in_channels;
    return c;
  }
  // Floats from plane to plane of a row: whole vectors, of which rows of a power of two do not begin in one set of the
  // first cache.
  static auto turned_row(const kernel_call& call) {
    const auto width = facts::staged(call, nth<2>{});
    const auto apart = [](index_t n) { return (ceil_div(n, float_lanes) + 1) * float_lanes; };
    if constexpr (is_constant<decltype(width)>) return constant<apart(decltype(width)::value)>{};
    else return apart(width);
  }
  using convolution_type = decltype(convolution(std::declval<const kernel_call&>()));

  static constexpr index_t weight_floats = convolution_type::packed_size(), bias_floats = convolution_type::bias_size();
  static constexpr std::int64_t packed_bytes = (weight_floats + bias_floats) * static_cast<std::int64_t>(sizeof(float));
  static void pack(const kernel_call& call) noexcept { facts::template pack_for<convolution_type>(call); }

  // --- first phase: planes with their border in scratch; a unit is one row, or, of an input whose channels lie next to
  // each other, that row of all planes
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept requires(prepares) {
    const index_t rows = prepare_units(call) * (by_pixels ? facts::in_channels : 1);
    return (rows * facts::staged(call, nth<2>{}) + float_lanes) * static_cast<std::int64_t>(sizeof(float));
  }
  static index_t prepare_units(const kernel_call& call) noexcept requires(prepares) {
    return extent_value<facts::in_dim(0)>(call) * (by_pixels ? 1 : facts::in_channels) * facts::staged(call, nth<1>{});
  }
  static void prepare(const kernel_call& call, index_t first, index_t end) noexcept requires(prepares) {
    if constexpr (by_pixels) prepare_pixels(call, first, end);
    else prepare_planes(call, first, end);
  }
  static void prepare_pixels(const kernel_call& call, index_t first, index_t end) {
    const index_t height = facts::staged(call, nth<1>{}), width = facts::staged(call, nth<2>{}), plane = height * width;
    const index_t in_h = extent_value<facts::in_extent(1)>(call);
    constexpr index_t channels = facts::in_channels;
    for (index_t u = first; u < end; ++u) {
      float* out = reinterpret_cast<float*>(call.scratch) + u / height * channels * plane + u % height * width;
      const index_t y = u % height - facts::before(1);
      if (y >= 0 && y < in_h) turn_row(call, u / height, y, out, plane);
      else
        for (index_t ch = 0; ch < channels; ++ch) std::fill_n(out + ch * plane, width, 0.0f);
    }
  }
  // Row y of an image with its border, as rows of all planes.
  static void turn_row(const kernel_call& call, index_t image, index_t y, float* out, index_t plane) {
    const index_t in_w = extent_value<facts::in_extent(2)>(call);
    constexpr index_t left = facts::before(2), right = facts::after(2);
    for (index_t ch = 0; ch < facts::in_channels; ++ch) {
      float* const row = out + ch * plane;
      std::fill_n(row, left, 0.0f);
      std::fill_n(row + left + in_w, right, 0.0f);
    }
    coordinates c{image};
    if constexpr (facts::has_axis(1)) c[last - 1] = y;
    for (index_t x = 0; x < in_w; x += float_lanes) {
      const index_t pixels = std::min<index_t>(in_w - x, float_lanes);
      for_lanes<float_lanes, 1>(c, facts::in_channels,
                                [&](auto n) { turn_pixels(call, c, x, pixels, n, out + left + x, plane); });
    }
  }
  // So many pixels from x on, n channels of each from those of c on, as rows of as many planes.
  static void turn_pixels(const kernel_call& call, coordinates c, index_t x, index_t pixels, auto n, float* row,
                          index_t plane) {
    square_block block;
    for (int i = 0; i < float_lanes; ++i) {
      c[last] = std::min<index_t>(x + i, x + pixels - 1);
      block[i] = values::template evaluate<facts::input, float_lanes, 1>(call, c, n, 0);
    }
    transpose(block);
    for (int i = 0; i < n; ++i)
      if (pixels == float_lanes) block[i].store(row + (c[1] + i) * plane);
      else block[i].store(row + (c[1] + i) * plane, pixels);
  }
  static void prepare_planes(const kernel_call& call, index_t first, index_t end) {
    const index_t height = facts::staged(call, nth<1>{}), width = facts::staged(call, nth<2>{});
    const index_t in_h = extent_value<facts::in_extent(1)>(call), in_w = extent_value<facts::in_extent(2)>(call);
    constexpr index_t left = facts::before(2);
    for (index_t u = first; u < end; ++u) {
      float* out = reinterpret_cast<float*>(call.scratch) + u * width;
      const index_t y = u % height - facts::before(1), plane = u / height;
      std::fill(out, out + (y < 0 || y >= in_h ? width : left), 0.0f);
      if (y < 0 || y >= in_h) continue;
      std::fill(out + left + in_w, out + width, 0.0f);
      coordinates c{plane / facts::in_channels, plane % facts::in_channels};
      if constexpr (facts::has_axis(1)) c[last - 1] = y;
      for_lanes<float_lanes, last>(c, in_w, [&](auto n) {
        const auto v = values::template evaluate<facts::input, float_lanes, last>(call, c, n, 0);
        v.store(out + left + c[last], n);
      });
    }
  }

  // --- second phase; a unit is one output row
  static index_t units(const kernel_call& call) noexcept { return convolution(call).units(); }

  struct epilogue {
    const kernel_call& call;
    [[gnu::always_inline]] auto tile(index_t n, index_t oc, index_t y, index_t x) const {
      coordinates at{n, oc};
      if constexpr (facts::has_axis(1)) at[last - 1] = y;
      at[last] = x;
      return typename values::template tile<float_lanes, 1, last>(call, at);
    }
  };

  static std::int64_t worker_bytes(const kernel_call& call) noexcept requires(turns_rows) {
    return (facts::in_channels * turned_row(call) + float_lanes) * static_cast<std::int64_t>(sizeof(float));
  }
  static void run(const kernel_call& call, index_t first, index_t end) noexcept {
    const auto* weights = reinterpret_cast<const float*>(call.packed);
    if constexpr (turns_rows) {
      auto* const row = reinterpret_cast<float*>(call.worker);
      const index_t rows = extent_value<facts::out_extent(1)>(call);
      for (index_t u = first; u < end; ++u) {
        turn_row(call, u / rows, u % rows * attributes.stride_h, row, turned_row(call));
        convolution(call).run(row, weights, weights + weight_floats, u, u + 1, epilogue{call});
      }
    } else {
      const float* in = reinterpret_cast<const float*>(call.scratch);
      if constexpr (in_place) in = facts::first_tap(call);
      convolution(call).run(in, weights, weights + weight_floats, first, end, epilogue{call});
    }
  }

  // Rows of an image.
  static void run_rows(const kernel_call& call, index_t image, index_t first, index_t end) noexcept
      requires(facts::spec.runs_on_rows()) {
    const index_t rows = extent_value<facts::out_extent(1)>(call);
    run(call, image * rows + first, image * rows + end);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
