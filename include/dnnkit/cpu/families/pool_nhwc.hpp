// SPDX-License-Identifier: MIT
// The kernel of MaxPool and AveragePool: vectors along the channels, which a window leaves alone. What lies outside the
// input is cut off each window beforehand, so that taps are visited without a question; several vectors of channels are
// computed at once, so that the walk over the taps costs little.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string_view>
#include <type_traits>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/families/pool_spec.hpp"
#include "dnnkit/cpu/loop.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct pool_nhwc {
  static constexpr std::string_view name = "pool_nhwc";
  static constexpr bool carries_out(const operator_tag& anchor) {
    return anchor.id == id_of<op::max_pool> || anchor.id == id_of<op::average_pool>;
  }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    const bool of_bytes = spec.is_anchor<op::max_pool>() && is_byte(spec.anchor_type());
    if (!is_computed_in_f32(spec.anchor_type()) && !of_bytes)
      return no_match{
          "the elements are neither computed with as 32-bit floats nor bytes of which the largest is taken"};
    const auto taps = static_cast<double>(window_of_pool(spec).taps());
    const bool direct = reads_pool_in_place(spec, 1) && (spec.type_of(spec.input(0)) == dtype::f32 || of_bytes);
    const tree_cost tree(spec, facts, 1, facts.float_lanes);
    const double read = rows_along(spec, facts, 1, true).vectors * taps;
    kernel_choice c =
        element_choice(spec, facts, 1, true, {.cycles = read * (facts.costs.simple + tree.value(spec.input(0)))},
                       direct ? "vectors of channels, which lie next to each other"
                              : "vectors of channels, put together where they do not lie next to each other");
    if (direct) c.operands = {operand_reading::in_place};
    return c;
  }

  template <class Net, std::size_t R> struct kernel;
};

template <class Net, std::size_t R> struct pool_nhwc::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  using pool_type = typename anchor_of<Net, R>::type;
  static constexpr pool_type pool = anchor_of<Net, R>::value;
  static constexpr bool takes_largest = std::is_same_v<pool_type, op::max_pool>;
  static constexpr window over = pool.over();
  static constexpr operand_ref input = access::anchor_input(0);
  static constexpr dtype type = access::self.anchor_type;
  static constexpr bool of_bytes = is_byte(type);
  using channels_vec = std::conditional_t<of_bytes, lanes<type, float_lanes>, float_vec>;
  static constexpr std::size_t axes = access::rank - 2, most_axes = 3;
  static constexpr int at_once = 4;  // vectors of channels
  static constexpr bool direct = access::choice.operands[0] == operand_reading::in_place;

  // Of one window, along the last spatial axes; missing ones have one tap.
  using window_taps = std::array<window::taps_along, most_axes>;

  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, 1); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const index_t channels = access::bound(access::space(1), call);
    for (index_t row = first; row < last; ++row) {
      coordinates c = row_coordinates<Net, R>(call, 1, row);
      const window_taps t = taps_at(call, c);
      index_t ch = 0;
      if constexpr (direct)
        for (; ch + at_once * float_lanes <= channels; ch += at_once * float_lanes) {
          c[1] = ch;
          finish(call, c, t, channels_from<at_once>(call, c, t, constant<float_lanes>{}));
        }
      for (; ch + float_lanes <= channels; ch += float_lanes) {
        c[1] = ch;
        finish(call, c, t, channels_from<1>(call, c, t, constant<float_lanes>{}));
      }
      if (ch < channels) {
        c[1] = ch;
        const auto [x] = channels_from<1>(call, c, t, channels - ch);
        values::template finish<float_lanes, 1>(call, c, channels - ch, result(x, t));
      }
    }
  }
  // Rows of an image; of a volume, planes.
  static void run_rows(const kernel_call& call, index_t image, index_t first, index_t last) noexcept {
    const index_t images = access::bound(access::space(0), call), rows = access::bound(access::space(2), call),
                  each = units(call) / (images * rows);
    run(call, (image * rows + first) * each, (image * rows + last) * each);
  }

 private:
  static window_taps taps_at(const kernel_call& call, const coordinates& c) {
    window_taps t;
    for (std::size_t i = 0; i < axes; ++i) {
      const index_t extent = access::bound(access::input_extent(0, i + 2), call);
      t[i + most_axes - axes] = over.taps_at(i, c[i + 2], extent);
    }
    return t;
  }

  // What the taps give for N vectors of channels from c on, of which the last has n channels.
  template <int N>
  [[gnu::always_inline]] static std::array<channels_vec, N> channels_from(const kernel_call& call, const coordinates& c,
                                                                          const window_taps& t, auto n) {
    std::array<channels_vec, N> acc;
    for (channels_vec& a : acc) {
      if constexpr (of_bytes) a = channels_vec(std::numeric_limits<element<type>>::lowest());
      else a = takes_largest ? lowest<float_vec>() : float_vec(0.0F);
    }
    const auto add = [](channels_vec& a, channels_vec x) {
      if constexpr (of_bytes) a = max(a, x);
      else if constexpr (takes_largest) a = maximum(a, x);
      else a += x;
    };
    coordinates from = c;
    for (std::size_t i = 0; i < axes; ++i) from[i + 2] = over.position(i, c[i + 2], t[i + most_axes - axes].first);
    if constexpr (direct) {
      constexpr recipe_load l = access::template load<input.index>;
      const element<l.type>* const plane =
          values::template pointer<input.index>(call) + view_address<Net, l.axes, l.offset>(call, from);
      const index_t depth = step<0>(call), height = step<1>(call), width = step<2>(call);
      for (index_t z = 0; z < t[0].inside(); ++z)
        for (index_t y = 0; y < t[1].inside(); ++y) {
          const element<l.type>* p = plane + z * depth + y * height;
          for (index_t x = 0; x < t[2].inside(); ++x, p += width)
            for (std::size_t k = 0; k < N; ++k)
              add(acc[k], values::template load_next<channels_vec>(p + k * float_lanes, n));
        }
    } else {
      static_assert(N == 1);
      coordinates at = from;
      const auto along = [&](std::size_t axis) -> std::int64_t& { return at[axis + access::rank - most_axes]; };
      for (index_t z = 0; z < t[0].inside(); ++z)
        for (index_t y = 0; y < t[1].inside(); ++y)
          for (index_t x = 0; x < t[2].inside(); ++x) {
            const std::array<index_t, most_axes> tap{z, y, x};
            for (std::size_t a = most_axes - axes; a < most_axes; ++a)
              along(a) = from[a + access::rank - most_axes] + tap[a] * over.dilation(a + axes - most_axes);
            add(acc[0], values::template evaluate<input, float_lanes, 1>(call, at, n, 0));
          }
    }
    return acc;
  }
  // How far apart the taps along an axis (0 depth, 1 height, 2 width) are stored.
  template <std::size_t A> static index_t step(const kernel_call& call) {
    if constexpr (A + axes < most_axes) return 0;
    else {
      constexpr recipe_load l = access::template load<input.index>;
      constexpr std::size_t i = A + axes - most_axes;
      return extent_value<stride_along(Net::plan, l.axes, i + 2).stride>(call) * over.dilation(i);
    }
  }

  static channels_vec result(channels_vec x, const window_taps& t) {
    if constexpr (takes_largest) {
      return x;
    } else {
      index_t n = 1;
      for (const window::taps_along& a : t) n *= pool.count_include_pad ? a.padded : a.inside();
      return x / float_vec(static_cast<float>(n));
    }
  }
  template <std::size_t N>
  [[gnu::always_inline]] static void finish(const kernel_call& call, coordinates c, const window_taps& t,
                                            const std::array<channels_vec, N>& acc) {
    for (const channels_vec& x : acc) {
      values::template finish<float_lanes, 1>(call, c, constant<float_lanes>{}, result(x, t));
      c[1] += float_lanes;
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
