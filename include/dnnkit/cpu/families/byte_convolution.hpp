// SPDX-License-Identifier: MIT
// The kernel of a group around a convolution of 8-bit integers (ConvInteger), channels last, exact in 32 bits
// (cpu/micro/byte_conv.hpp). Weights are packed once, less their zero points. An input that is padded, lies otherwise
// or has a prologue is first brought into scratch memory, its zero point around it: with that zero point x,
//   sum (X - x) W = sum X W - x sum W
// holds at the edges, too, and sum W is known when W is packed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "dnnkit/cpu/families/conv_nhwc.hpp"
#include "dnnkit/cpu/micro/byte_conv.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct byte_convolution {
  static constexpr std::string_view name = "byte_convolution";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::conv_integer>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const convolution_spec spec(recipe);
    if (const std::string_view why = unfit(spec); !why.empty()) return no_match{why};
    const bool in_place = spec.stored_channels_last() && !spec.padded() && may_read_behind(spec, facts);
    const int vectors = spec.is_depthwise() ? 1 : panel_vectors(spec, facts);
    kernel_choice c = spec.choice(facts, 1, tiles_of(spec, facts, vectors), !in_place,
                                  in_place ? "vectors of output channels; the input's bytes are read where they lie"
                                           : "vectors of output channels; the input's bytes are brought to channels "
                                             "last, its zero point around them");
    const auto present = [&](std::size_t i) { return spec.input(i).from != source::nothing; };
    c.operands = {in_place ? operand_reading::in_place : operand_reading::staged, operand_reading::packed_once,
                  present(2) ? operand_reading::evaluated : operand_reading::absent,
                  present(3) ? operand_reading::packed_once : operand_reading::absent};
    c.tile.vectors = static_cast<std::uint8_t>(vectors);
    c.parameters = {0};  // pixels are taken row by row
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  static constexpr std::string_view unfit(const convolution_spec& spec) {
    if (!is_byte(spec.type_of(spec.input(0))) || !is_byte(spec.type_of(spec.input(1))))
      return "the elements have 16 bits";
    if (!spec.is_setup(spec.input(1)) || !spec.is_setup(spec.input(3)))
      return "the run computes weights or their zero points, which are packed before it";
    return spec.unfit_for_staging();
  }
  // Pixels are read in place only where there is room behind them.
  static constexpr bool may_read_behind(const convolution_spec& spec, const cpu_facts& facts) {
    return (!spec.stored.external && !spec.stored.setup) || !reads_behind(facts, runs_of(spec).length);
  }
  // The stretches of the reduction, which kernel rows are where nothing lies between their pixels.
  struct byte_runs {
    index_t count, length;
  };
  static constexpr byte_runs runs_of(const convolution_spec& spec) {
    const conv_attributes a = spec.attributes(false);
    const index_t count = a.kernel_d * a.kernel_h * (a.dilation_w == 1 && a.groups == 1 ? 1 : a.kernel_w);
    return {count, a.reduction() / count};
  }
  static constexpr int panel_vectors(const convolution_spec& spec, const cpu_facts& facts) {
    if (facts.tile_registers) return 2;
    const auto channels = static_cast<double>(spec.attributes(false).group_out());
    const local_extent width = spec.out_extent(2);
    return row_width(facts, static_cast<index_t>(vectors_of(facts, channels)), width.is_known() ? width.value() : 0);
  }
  static constexpr tiled_cycles tiles_of(const convolution_spec& spec, const cpu_facts& facts, int vectors) {
    const conv_attributes a = spec.attributes(false);
    const auto width = static_cast<double>(known_or_typical(spec.out_extent(2)));
    const bool depthwise = spec.is_depthwise();
    const byte_runs runs = runs_of(spec);
    const auto channels = static_cast<double>(depthwise ? a.out_channels : a.group_out());
    const tiled_cycles one =
        depthwise
            ? cycles_of(
                  facts,
                  {.rows = width, .vectors = 1, .depth = 2 * spec.depth(), .runs = static_cast<double>(runs.count)}, 1)
            : cycles_of_bytes(facts, width, vectors_of(facts, channels), runs.count, runs.length, vectors);
    const double times =
        spec.pixels() / width * (depthwise ? vectors_of(facts, channels) : static_cast<double>(spec.convolution.group));
    return {times * one.arithmetic, times * one.starts};
  }
};

namespace detail {
template <byte_sign Sign, bool Depthwise> struct byte_engine {
  template <conv_attributes A, class, class... Extents>
  using of = std::conditional_t<Depthwise, byte_depthwise<Sign, A, Extents...>, byte_conv<Sign, A, Extents...>>;
};
template <class Net, std::size_t R> inline constexpr convolution_spec byte_spec{kernel_spec(Net::plan, R)};
template <class Net, std::size_t R>
inline constexpr byte_sign sign_of_input = byte_spec<Net, R>.type_of(byte_spec<Net, R>.input(0)) == dtype::i8
                                               ? byte_sign::is_signed
                                               : byte_sign::is_unsigned;
template <class Net, std::size_t R>
using byte_engine_of = byte_engine<sign_of_input<Net, R>, byte_spec<Net, R>.is_depthwise()>;
}  // namespace detail

template <class Net, std::size_t R>
struct byte_convolution::kernel : channels_last_kernel<Net, R, detail::byte_engine_of<Net, R>> {
  using base = channels_last_kernel<Net, R, detail::byte_engine_of<Net, R>>;
  using facts = typename base::facts;
  using access = typename base::access;
  using values = typename base::values;
  using base::attributes, base::convolution;
  using facts::before, facts::has_axis, facts::in_channels, facts::in_dim, facts::in_extent, facts::in_place,
      facts::input, facts::position, facts::staged;
  using typename base::convolution_type;
  template <std::size_t A> using nth = typename facts::template nth<A>;

  static constexpr bool depthwise = facts::spec.is_depthwise();
  static constexpr byte_sign sign = detail::sign_of_input<Net, R>;
  static constexpr operand_ref x_zero = facts::spec.input(2), weight_zero = facts::spec.input(3);
  using packed_weight = std::conditional_t<depthwise, std::int32_t, packed_byte>;

  // The zero point of the input.
  static std::int32_t zero_of_input(const kernel_call& call) {
    if constexpr (x_zero.from == source::nothing) return 0;
    else
      return static_cast<std::int32_t>(values::template evaluate<x_zero, 1, 0>(call, coordinates{}, constant<1>{}, 0));
  }

  // --- weights: packed; then the sums of the filters, and how many times they have been packed for (byte_conv::times)
  static constexpr bool may_be_wide =
      weight_zero.from != source::nothing || facts::spec.type_of(facts::weight) == dtype::u8;
  static constexpr index_t most_times = may_be_wide ? 3 : 1;  // 255 = 127 + 127 + 1
  // Part number `time` of a weight.
  static constexpr std::int32_t part_of(std::int32_t w, index_t time) {
    for (; time > 0; --time) w -= std::clamp(w, -128, 127);
    return std::clamp(w, -128, 127);
  }
  static constexpr index_t sums = convolution_type::columns() * (depthwise ? 1 : attributes.groups);
  static constexpr std::int64_t weight_bytes =
      ceil_div(convolution_type::packed_size(most_times) * static_cast<index_t>(sizeof(packed_weight)), 64) * 64;
  static constexpr std::int64_t packed_bytes =
      weight_bytes + (sums + 1) * static_cast<std::int64_t>(sizeof(std::int32_t));
  static constexpr std::uint32_t packed_inputs = weight_zero.from == source::nothing ? 0b0010 : 0b1010;
  static std::int32_t* filter_sums(const kernel_call& call) {
    return reinterpret_cast<std::int32_t*>(call.packed + weight_bytes);
  }
  static void pack(const kernel_call& call) noexcept {
    constexpr index_t in = attributes.group_in(), taps = attributes.taps(), out = attributes.out_channels;
    std::vector<std::int32_t> plain;  // ONNX's OIHW, less the zero points
    plain.reserve(static_cast<std::size_t>(out * in * taps));
    std::int32_t* const sum = filter_sums(call);
    std::fill(sum, sum + sums + 1, 0);
    index_t times = 1;
    for (index_t oc = 0; oc < out; ++oc) {
      const index_t group = oc / attributes.group_out();
      const index_t place = depthwise ? oc : group * convolution_type::columns() + oc % attributes.group_out();
      const std::int32_t zero = zero_of_filter(call, oc);
      for (index_t ic = 0; ic < in; ++ic)
        for (index_t tap = 0; tap < taps; ++tap) {
          const std::int32_t w = static_cast<std::int32_t>(facts::weight_at(call, oc, ic, tap)) - zero;
          plain.push_back(w);
          sum[place] += w;
          while (part_of(w, times) != 0) ++times;
        }
    }
    sum[sums] = static_cast<std::int32_t>(times);
    auto* const to = reinterpret_cast<packed_weight*>(call.packed);
    const auto at = [&](index_t oc, index_t ic, index_t tap) {
      return plain[static_cast<std::size_t>((oc * in + ic) * taps + tap)];
    };
    convolution_type::pack(
        times, [&](index_t oc, index_t ic, index_t tap, index_t time) { return part_of(at(oc, ic, tap), time); }, to);
  }
  static std::int32_t zero_of_filter(const kernel_call& call, index_t oc) {
    if constexpr (weight_zero.from == source::nothing) {
      return 0;
    } else {
      const bool one = facts::spec.rank_of(3) == 0 || facts::spec.extent_of(3, 0) == 1;
      return static_cast<std::int32_t>(
          values::template evaluate<weight_zero, 1, 0>(call, coordinates{one ? 0 : oc}, constant<1>{}, 0));
    }
  }

  // --- first phase: the input with its border, channels last, in scratch; a unit is one row
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept requires(!in_place) {
    return extent_value<in_dim(0)>(call) * staged(call, nth<0>{}) * staged(call, nth<1>{}) * staged(call, nth<2>{}) *
               in_channels +
           most_behind;
  }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept requires(!in_place) {
    const index_t depth = staged(call, nth<0>{}), height = staged(call, nth<1>{}), width = staged(call, nth<2>{});
    const index_t in_d = extent_value<in_extent(0)>(call), in_h = extent_value<in_extent(1)>(call),
                  in_w = extent_value<in_extent(2)>(call);
    const auto zero = static_cast<std::uint8_t>(zero_of_input(call));
    for (index_t u = first; u < last; ++u) {
      auto* const out = reinterpret_cast<std::uint8_t*>(call.scratch) + u * width * in_channels;
      const index_t y = u % height - before(1), z = u / height % depth - before(0), n = u / height / depth;
      if (y < 0 || y >= in_h || z < 0 || z >= in_d) {
        std::fill(out, out + width * in_channels, zero);
        continue;
      }
      std::fill(out, out + before(2) * in_channels, zero);
      std::fill(out + (before(2) + in_w) * in_channels, out + width * in_channels, zero);
      coordinates c{n};
      if constexpr (has_axis(0)) c[position(0) + 2] = z;
      if constexpr (has_axis(1)) c[position(1) + 2] = y;
      stage_row(call, c, in_w, out + before(2) * in_channels);
    }
  }

  // --- second phase
  static index_t units(const kernel_call& call) noexcept { return convolution(call).units(); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    auto c = convolution(call);
    const std::int32_t* const sum = filter_sums(call);
    c.times = sum[sums];
    // where the kernels take signed bytes for unsigned ones, the zero point moves with them
    const std::int32_t zero = zero_of_input(call) + (depthwise ? added_to_depthwise_bytes<sign> : added_to_bytes<sign>);
    const auto* in = reinterpret_cast<const std::uint8_t*>(call.scratch);
    if constexpr (in_place) in = reinterpret_cast<const std::uint8_t*>(facts::first_tap(call));
    const index_t out_d = c.out_d;
    c.run(
        in, reinterpret_cast<const packed_weight*>(call.packed), first, last,
        [&](index_t column) { return -(int_vec(zero) * int_vec::load(sum + column)); },
        [&](index_t n, index_t y, index_t x, index_t channel) {
          coordinates at{};
          at[0] = has_axis(0) ? n / out_d : n;
          at[1] = channel;
          if constexpr (has_axis(0)) at[position(0) + 2] = n % out_d;
          if constexpr (has_axis(1)) at[position(1) + 2] = y;
          at[position(2) + 2] = x;
          return typename values::template tile<float_lanes, facts::width_dim, 1>(call, at);
        });
  }

 private:
  // Do the pixels of a row of the input follow each other, channels last?
  static constexpr bool rows_are_stored = [] {
    const recipe_load& l = facts::spec.stored;
    if (input.from != source::load || l.movement.count != 0) return false;
    const auto along = [&](std::size_t d) { return facts::spec.stride_along(l.axes, d); };
    return along(1).single && along(1).stride == 1 && along(facts::width_dim).single &&
           along(facts::width_dim).stride == facts::in_channels;
  }();
  // Pixels of one input row, channels last: vectors along the channels, or along the row when channels are few.
  static void stage_row(const kernel_call& call, coordinates c, index_t pixels, std::uint8_t* out) {
    constexpr std::size_t last = facts::width_dim;
    constexpr index_t channels = facts::in_channels;
    if constexpr (rows_are_stored) {
      constexpr recipe_load l = facts::source_load;
      std::memcpy(out, values::template pointer<input.index>(call) + view_address<Net, l.axes, l.offset>(call, c),
                  static_cast<std::size_t>(pixels * channels));
    } else if constexpr (channels >= float_lanes) {
      for (index_t x = 0; x < pixels; ++x) {
        c[last] = x;
        for_lanes<float_lanes, 1>(c, channels, [&](auto n) {
          const auto v = values::template evaluate<input, float_lanes, 1>(call, c, n, 0);
          if constexpr (is_constant<decltype(n)>) store_as(v, out + x * channels + c[1]);
          else store_as(v, out + x * channels + c[1], n);
        });
      }
    } else if constexpr (channels <= 4) {  // the bytes of a pixel are a number, of which those behind are written over
      for_lanes<float_lanes, last>(c, pixels, [&](auto n) {
        int_vec pixel(0);
        coordinates at = c;
        for (index_t ch = 0; ch < channels; ++ch) {
          at[1] = ch;
          const auto v = values::template evaluate<input, float_lanes, last>(call, at, n, 0);
          pixel.v |= (v.v & 255) << static_cast<int>(8 * ch);
        }
        std::int32_t numbers[float_lanes];
        pixel.store(numbers);
        std::uint8_t* const to = out + c[last] * channels;
        // those that end within four bytes of the row's end are stored byte by byte: behind it lies the border
        const index_t whole = std::clamp<index_t>(pixels - c[last] - ceil_div(4, channels) + 1, 0, n);
        for (index_t i = 0; i < whole; ++i) std::memcpy(to + i * channels, numbers + i, sizeof *numbers);
        for (index_t i = whole; i < n; ++i)
          for (index_t ch = 0; ch < channels; ++ch)
            to[i * channels + ch] = static_cast<std::uint8_t>(numbers[i] >> (8 * ch));
      });
    } else {
      for (index_t ch = 0; ch < channels; ++ch) {
        c[1] = ch;
        for_lanes<float_lanes, last>(c, pixels, [&](auto n) {
          const auto v = values::template evaluate<input, float_lanes, last>(call, c, n, 0);
          for (index_t i = 0; i < n; ++i) out[(c[last] + i) * channels + ch] = static_cast<std::uint8_t>(v.v[i]);
        });
      }
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
