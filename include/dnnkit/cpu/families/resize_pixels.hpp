// SPDX-License-Identifier: MIT
// The kernel of Resize where another axis than the resampled ones is contiguous, as channels are in images of which
// they are the last axis: vectors of a pixel are means of vectors of pixels, some pixels at a time, from what the lines
// of the input around them make of theirs. Where one element is chosen, it is read where it lies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/families/resize_kernel.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct resize_pixels {
  static constexpr std::string_view name = "resize_pixels";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::resize>; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    const auto resize = spec.anchor<op::resize>();
    const std::size_t along = lane_axis(spec), within = last_resampled(spec), most = resize.most_neighbours();
    if (const std::string_view why = unfit_for_lines(spec, within); !why.empty()) return no_match{why};
    if (is_resampled(spec, resize, along)) return no_match{"the axis that the output is contiguous in is resampled"};

    const vector_rows pieces = rows_along(spec, facts, along, true);
    const double input = tree_cost(spec, facts, along, facts.float_lanes).value(spec.input(0));
    double cycles = pieces.vectors * input;
    if (most > 1) {
      const auto pixels = static_cast<double>(known_or_typical(spec.space(within))),
                 pixels_read = static_cast<double>(known_or_typical(spec.extent_of(0, within)));
      const double read = pieces.vectors / pixels * pixels_read;
      cycles = read * (lines_around(spec, resize, within) * (input + facts.costs.simple) + facts.costs.store) +
               pieces.vectors * static_cast<double>(most) * (facts.costs.load + facts.costs.simple);
    }
    return element_choice(spec, facts, along, true, {.evaluated = 0, .cycles = cycles},
                          most > 1 ? "vectors of pixels, of which those of the output are means"
                                   : "vectors of pixels, read where they lie");
  }

  // The axis that lines of the output run along; as many as there are axes where none is resampled.
  static constexpr std::size_t last_resampled(const kernel_spec& spec) {
    const auto resize = spec.anchor<op::resize>();
    for (std::size_t d = spec.rank(); d-- > 0;)
      if (is_resampled(spec, resize, d)) return d;
    return spec.rank();
  }

  template <class Net, std::size_t R> struct kernel;
};

template <class Net, std::size_t R>
struct resize_pixels::kernel : resize_kernel<Net, R, resize_pixels::last_resampled(recipe_access<Net, R>::spec)> {
  static constexpr std::size_t within = last_resampled(recipe_access<Net, R>::spec);
  using common = resize_kernel<Net, R, within>;
  using common::along, common::most, common::takes_means, common::width;
  using typename common::lines, typename common::neighbours, typename common::number, typename common::pixel_range,
      typename common::values, typename common::weights;

  // --- the neighbours of every pixel of a line, behind the tables
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept {
    return common::table_bytes(call) + pixels(call) * static_cast<std::int64_t>(sizeof(neighbours));
  }
  static index_t prepare_units(const kernel_call& call) noexcept { return common::table_entries(call) + pixels(call); }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept {
    auto* const of_pixels = reinterpret_cast<neighbours*>(call.scratch + common::table_bytes(call));
    const index_t entries = common::table_entries(call);
    for (index_t u = first; u < last; ++u) {
      if (u < entries) common::fill_entry(call, u);
      else
        of_pixels[u - entries] =
            common::without_zeros(common::anchor.neighbours_of(anchor_context<Net, R>{call}, within, u - entries));
    }
  }

  // What pixels of the input some of the output need, and those of the lines around them.
  static std::int64_t worker_bytes(const kernel_call& call) noexcept {
    if constexpr (!takes_means) return 0;
    return range_bytes(call) +
           common::input_extent(call, within) * common::pixel_stride(call) * static_cast<std::int64_t>(sizeof(number));
  }
  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto* const of_pixels = reinterpret_cast<const neighbours*>(call.scratch + common::table_bytes(call));
    if constexpr (takes_means) find_ranges(call, of_pixels);
    lines around;
    common::for_units(call, first, last, [&](const coordinates& c) {
      common::find_lines(call, c, around);
      if constexpr (takes_means) mix(call, c, around, of_pixels);
      else choose(call, c, of_pixels, around.at[0]);
    });
  }

 private:
  static index_t pixels(const kernel_call& call) { return common::output_extent(call, within); }

  // Some pixels of the output at a time: what they are means of stays in the first cache.
  static index_t pixels_at_once(const kernel_call& call) {
    constexpr index_t bytes = 4096, least = 8;
    return std::max(least, bytes / (common::pixel_stride(call) * static_cast<index_t>(sizeof(number))));
  }
  static std::int64_t range_bytes(const kernel_call& call) {
    const index_t blocks = ceil_div(pixels(call), pixels_at_once(call));
    return ceil_div(blocks * static_cast<index_t>(sizeof(pixel_range)), index_t{64}) * 64;
  }
  // Of neighbours those of no weight are left out, so that the lowest may be any pixel's, and the highest.
  static void find_ranges(const kernel_call& call, const neighbours* of_pixels) {
    auto* range = reinterpret_cast<pixel_range*>(call.worker);
    const index_t end = pixels(call), at_once = pixels_at_once(call);
    for (index_t begin = 0; begin < end; begin += at_once, ++range) {
      *range = {of_pixels[begin].positions[0], of_pixels[begin].positions[0] + 1};
      for (index_t pixel = begin; pixel < std::min(begin + at_once, end); ++pixel)
        for (std::size_t k = 0; k < most; ++k) {
          range->first = std::min(range->first, of_pixels[pixel].positions[k]);
          range->last = std::max(range->last, of_pixels[pixel].positions[k] + 1);
        }
    }
  }
  static void mix(const kernel_call& of, coordinates c, const lines& around, const neighbours* of_pixels) {
    const local_operands<Net, R> operands(of);
    const kernel_call call = operands.call();
    const auto* range = reinterpret_cast<const pixel_range*>(of.worker);
    auto* const line = reinterpret_cast<number*>(of.worker + range_bytes(call));
    const index_t stride = common::pixel_stride(call), end = pixels(call), at_once = pixels_at_once(call);
    for (index_t begin = 0; begin < end; begin += at_once, ++range) {
      const index_t last = std::min(begin + at_once, end);
      common::put_together(call, around, *range, line);
      for (index_t pixel = begin; pixel < last; ++pixel) {
        c[within] = pixel;
        const number* from[most];
        weights weight[most];
#pragma GCC unroll 4
        for (std::size_t k = 0; k < most; ++k) {
          from[k] = line + (of_pixels[pixel].positions[k] - range->first) * stride;
          weight[k] = weights(of_pixels[pixel].weights[k]);
        }
        for_lanes<width, along>(c, common::output_extent(call, along), [&](auto n) {
          weights sum = weights::load(from[0] + c[along]) * weight[0];
#pragma GCC unroll 4
          for (std::size_t k = 1; k < most; ++k) sum = fma(weights::load(from[k] + c[along]), weight[k], sum);
          values::template finish<width, along>(call, c, n, common::as_result(sum));
        });
      }
    }
  }
  static void choose(const kernel_call& of, coordinates c, const neighbours* of_pixels, coordinates from) {
    const local_operands<Net, R> operands(of);
    const kernel_call call = operands.call();
    for (index_t pixel = 0, end = pixels(call); pixel < end; ++pixel) {
      c[within] = pixel;
      from[within] = of_pixels[pixel].positions[0];
      for_lanes<width, along>(c, common::output_extent(call, along), [&](auto n) {
        from[along] = c[along];
        const auto x = values::template evaluate<common::access::anchor_input(0), width, along>(call, from, n, 0);
        values::template finish<width, along>(call, c, n, common::as_result(x));
      });
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
