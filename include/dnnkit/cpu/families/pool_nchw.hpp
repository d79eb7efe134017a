// SPDX-License-Identifier: MIT
// The kernel of MaxPool and AveragePool of rows: vectors along the last axis. The window is taken apart: for a row of
// the output, what the input's rows under it give becomes one line, with a border that adds nothing; then each place of
// the output takes its neighbours in the line.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/families/pool_nhwc.hpp"
#include "dnnkit/cpu/families/pool_spec.hpp"
#include "dnnkit/cpu/loop.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct pool_nchw {
  static constexpr std::string_view name = "pool_nchw";
  static constexpr bool carries_out(const operator_tag& anchor) { return pool_nhwc::carries_out(anchor); }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& target) {
    const std::size_t along = spec.rank() - 1;
    if (!has_lanes(spec.anchor_type())) return no_match{"there are no vectors of the elements"};
    if (lane_axis(spec) != along) return no_match{"the outputs do not lie next to each other along rows"};
    const bool of_bytes = spec.is_anchor<op::max_pool>() && is_byte(spec.anchor_type()) && maps_bytes(spec, along) &&
                          is_of_bytes(spec, spec.input(0)) && lies_in_rows(spec, spec.input(0), along);
    const cpu_facts facts = of_bytes ? facts_of_bytes(target) : target;
    const bool direct = reads_pool_in_place(spec, along);
    kernel_choice c = element_choice(spec, facts, along, true, {.cycles = cycles(spec, facts, window_of_pool(spec))},
                                     direct ? "vectors along rows, which lie next to each other"
                                            : "vectors along rows, of what is computed on the way");
    if (direct) c.operands = {operand_reading::in_place};
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  static constexpr double cycles(const kernel_spec& spec, const cpu_facts& facts, const window& over) {
    const cost_coefficients& of = facts.costs;
    const std::size_t along = spec.rank() - 1, axis = along - 2;
    const auto in = static_cast<double>(known_or_typical(spec.extent_of(0, along))),
               out = static_cast<double>(known_or_typical(spec.space(along)));
    const auto across = static_cast<double>(over.kernel(axis)), rows = static_cast<double>(over.taps()) / across;
    const double tap = over.stride(axis) == 1   ? of.load
                       : over.stride(axis) == 2 ? 2 * of.load + of.simple
                                                : facts.float_lanes * of.gathered;
    const double input = tree_cost(spec, facts, along, facts.float_lanes).value(spec.input(0));
    return spec.elements() / out *
           (of.line + vectors_of(facts, in) * (rows * (of.simple + input) + of.store) +
            vectors_of(facts, out) * across * (of.simple + tap));
  }
};

template <class Net, std::size_t R> struct pool_nchw::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  using pool_type = typename anchor_of<Net, R>::type;
  static constexpr pool_type pool = anchor_of<Net, R>::value;
  static constexpr bool takes_largest = std::is_same_v<pool_type, op::max_pool>;
  static constexpr window over = pool.over();
  static constexpr operand_ref input = access::anchor_input(0);
  static constexpr dtype type = access::self.anchor_type;
  static constexpr std::size_t rank = access::rank, along = rank - 1, axis = along - 2;
  static constexpr bool direct = access::choice.operands[0] == operand_reading::in_place;
  static constexpr int width = access::choice.tile.lanes;
  static constexpr index_t stride = over.stride(axis), before = over.pad_begin(axis);
  using vector = lanes<type, width>;
  using number = typename vector::value_type;

  // The line, and for means how many places of it each of the output takes.
  static std::int64_t worker_bytes(const kernel_call& call) noexcept {
    return (line_extent(call) + counted(call)) * static_cast<std::int64_t>(sizeof(number));
  }
  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, along); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    auto* const line = reinterpret_cast<number*>(call.worker);
    number* const counts = line + line_extent(call);
    const index_t extent = access::bound(access::space(along), call), used = used_of_row(call);
    std::fill(line, line + before, nothing());
    std::fill(line + before + used, counts, nothing());
    for (index_t o = 0; o < counted(call); ++o) counts[o] = static_cast<number>(taken(along_row(call, o)));
    for (index_t row = first; row < last; ++row) {
      const coordinates c = row_coordinates<Net, R>(call, along, row);
      const index_t rows = put_together(call, c, used, line + before);
      const typename values::template tile<width, along - 1, along> place(call, c);
      for (index_t o = 0; o < extent; o += width) {
        vector x = neighbours(line + o * stride);
        if constexpr (!takes_largest) x = x / (vector::load(counts + o) * vector(static_cast<number>(rows)));
        if (o + width <= extent) place.finish(0, o / width, constant<width>{}, x);
        else place.finish(0, o / width, extent - o, x);
      }
    }
  }

 private:
  static constexpr number nothing() {
    return takes_largest ? static_cast<number>(lowest<computed<type>>()) : number(0);
  }
  [[gnu::always_inline]] static vector joined_with(vector a, vector b) {
    if constexpr (takes_largest) return maximum(a, b);
    else return a + b;
  }
  // Of a window's taps along an axis, the ones that a mean is of.
  static index_t taken(const window::taps_along& t) {
    if constexpr (takes_largest) return 0;
    else return pool.count_include_pad ? t.padded : t.inside();
  }
  static window::taps_along along_row(const kernel_call& call, index_t o) {
    return over.taps_at(axis, o, access::bound(access::input_extent(0, along), call));
  }

  // Places of the output, up to whole vectors; of the line that these read; of the input's row that lie in it.
  static index_t places(const kernel_call& call) {
    return ceil_div(access::bound(access::space(along), call), width) * width;
  }
  static index_t counted(const kernel_call& call) { return takes_largest ? 0 : places(call); }
  static index_t line_extent(const kernel_call& call) {
    return before + std::max<index_t>(places(call) * stride + over.reach(axis), width);
  }
  static index_t used_of_row(const kernel_call& call) {
    const index_t in = access::bound(access::input_extent(0, along), call);
    return std::clamp<index_t>(line_extent(call) - before, 0, in);
  }

  // Writes what the rows of the input around row c of the output give, place by place; returns how many rows a mean is
  // of.
  static index_t put_together(const kernel_call& call, const coordinates& c, index_t used, number* line) noexcept {
    std::array<window::taps_along, 2> t;  // along the other axes, the last one last
    coordinates from = c;
    index_t rows = 1, inside = 1;
    for (std::size_t i = 0; i < axis; ++i) {
      window::taps_along& a = t[i + 2 - axis];
      a = over.taps_at(i, c[i + 2], access::bound(access::input_extent(0, i + 2), call));
      from[i + 2] = over.position(i, c[i + 2], a.first);
      rows *= taken(a);
      inside *= a.inside();
    }
    if (inside == 0) {
      std::fill(line, line + used, nothing());
      return rows;
    }
    index_t x = 0;
    for (; x + at_once * width <= used; x += at_once * width)
      columns<at_once>(call, from, t, x, constant<width>{}, line);
    for (; x + width <= used; x += width) columns<1>(call, from, t, x, constant<width>{}, line);
    // The last vector of a row overlaps the one before.
    if (x < used && used >= width) columns<1>(call, from, t, used - width, constant<width>{}, line);
    else if (x < used) columns<1>(call, from, t, x, used - x, line);
    return rows;
  }
  static constexpr int at_once = direct ? 4 : 1;

  // N vectors of the line from place x on; the last has n.
  template <int N>
  [[gnu::always_inline]] static void columns(const kernel_call& call, const coordinates& from,
                                             const std::array<window::taps_along, 2>& t, index_t x, auto n,
                                             number* line) {
    std::array<vector, N> v;
    v.fill(vector(nothing()));
    coordinates at = from;
    for (index_t z = 0; z < t[0].inside(); ++z)
      for (index_t y = 0; y < t[1].inside(); ++y) {
        if constexpr (direct) {
          constexpr recipe_load l = access::template load<input.index>;
          const auto* const p = values::template pointer<input.index>(call) +
                                view_address<Net, l.axes, l.offset>(call, from) + z * step<0>(call) +
                                y * step<1>(call) + x;
          for (std::size_t k = 0; k < N; ++k)
            v[k] = joined_with(v[k], values::template load_next<vector>(p + k * width, n));
        } else {
          static_assert(N == 1);
          if constexpr (axis > 1) at[along - 2] = from[along - 2] + z * over.dilation(axis - 2);
          if constexpr (axis > 0) at[along - 1] = from[along - 1] + y * over.dilation(axis - 1);
          at[along] = x;
          v[0] = joined_with(v[0], values::template evaluate<input, width, along>(call, at, n, 0));
        }
      }
    for (std::size_t k = 0; k < N; ++k) {
      if constexpr (is_constant<decltype(n)>) v[k].store(line + x + static_cast<index_t>(k) * width);
      else v[k].store(line + x, n);
    }
  }
  // How far apart the taps along the last axis but two, or but one, are stored.
  template <std::size_t A> static index_t step(const kernel_call& call) {
    if constexpr (A + axis < 2) return 0;
    else {
      constexpr recipe_load l = access::template load<input.index>;
      constexpr std::size_t i = A + axis - 2;
      return extent_value<stride_along(Net::plan, l.axes, i + 2).stride>(call) * over.dilation(i);
    }
  }

  // What the places of the line give that one vector of the output takes.
  [[gnu::always_inline]] static vector neighbours(const number* line) {
    constexpr index_t taps = over.kernel(axis), apart = over.dilation(axis);
    vector x = at_steps(line);
    for (index_t k = 1; k < taps; ++k) x = joined_with(x, at_steps(line + k * apart));
    return x;
  }
  [[gnu::always_inline]] static vector at_steps(const number* p) {
    if constexpr (stride == 1) {
      return vector::load(p);
    } else if constexpr (stride == 2) {
      return even_lanes(vector::load(p), vector::load(p + width));
    } else {
      number all[width];
      for (int i = 0; i < width; ++i) all[i] = p[i * stride];
      return vector::load(all);
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
