// SPDX-License-Identifier: MIT
// The kernel of ArgMax and ArgMin in vectors, which lie along the axis where what the kernel reads is contiguous. Where
// that is the reduced one, the best element of a row is found first and then where it is; elsewhere the lanes of a
// vector are rows of their own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/cpu/micro/merged.hpp"
#include "dnnkit/op/arg_reduction.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct arg_rows {
  static constexpr std::string_view name = "arg_rows";
  static constexpr bool carries_out(const operator_tag& anchor) {
    return anchor.id == id_of<op::arg_max> || anchor.id == id_of<op::arg_min>;
  }

  // The choices' only parameter is the axis of the input along which vectors lie.
  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    if (spec.is_setup()) return no_match{"it runs once"};
    if (!has_lanes(spec.type_of(spec.input(0)))) return no_match{"there are no vectors of the elements"};
    const arg_position of = position_of(spec);
    const std::size_t along = best_axis(spec);
    const bool in_row = along == of.axis;
    const auto extent = static_cast<double>(known_or_typical(spec.extent_of(0, along)));
    const vector_rows pieces = rows_along(facts, spec.elements_of(0), extent, true);
    const double input = tree_cost(spec, facts, along, facts.float_lanes).value(spec.input(0));
    const double passes = in_row ? 1.5 : 1;  // half of a row, on average, to find the best again
    kernel_work work;
    work.cycles = passes * pieces.vectors * (input + 2 * facts.costs.simple);
    work.starts = in_row ? pieces.rows * facts.costs.merge : 0;
    kernel_choice c =
        in_row ? element_choice(spec, facts, lane_axis(spec), false, work, "vectors along the row, twice")
               : element_choice(spec, facts, of.output_axis(along), true, work, "as many rows as lanes, in lockstep");
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    c.parameters = {static_cast<std::int32_t>(along)};
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  // The reduced axis, and other axes of the input as those of the output.
  struct arg_position {
    std::size_t axis;
    bool keepdims;
    constexpr std::size_t output_axis(std::size_t d) const { return keepdims || d < axis ? d : d - 1; }
  };
  static constexpr arg_position position_of(const kernel_spec& spec) {
    const auto of = [&](auto anchor) { return arg_position{anchor.position(spec.rank_of(0)), anchor.keepdims}; };
    return spec.is_anchor<op::arg_max>() ? of(spec.anchor<op::arg_max>()) : of(spec.anchor<op::arg_min>());
  }
  // The input's axis along which most elements lie next to each other; the last one if there is none.
  static constexpr std::size_t best_axis(const kernel_spec& spec) {
    std::size_t best = spec.rank_of(0) - 1;
    double most = 0;
    for (std::size_t d = spec.rank_of(0); d-- > 0;) {
      double n = 0;
      for (std::size_t l = 0; l < spec.loads(); ++l)
        if (spec.reads(spec.input(0), l)) n += elements_along(spec, spec.load(l), d);
      if (n <= most || spec.extent_of(0, d) == 1) continue;
      best = d;
      most = n;
    }
    return best;
  }
};

template <class Net, std::size_t R> struct arg_rows::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  using anchor = anchor_of<Net, R>;
  static constexpr operand_ref input = access::anchor_input(0);
  static constexpr int width = access::choice.tile.lanes;
  static constexpr std::size_t along = access::choice.parameters[0];
  static constexpr arg_position reduced = position_of(access::spec);
  static constexpr bool in_row = along == reduced.axis;
  static constexpr std::size_t out_along = in_row ? max_rank : reduced.output_axis(along);

  using scalar = computed<access::spec.type_of(input)>;
  using number = lanes<access::spec.type_of(input), width>;
  using mask = vec<std::int32_t, width>;

  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, out_along); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    for (index_t unit = first; unit < last; ++unit) {
      coordinates out = row_coordinates<Net, R>(call, out_along, unit), in{};
      for (std::size_t d = 0; d < access::anchor_shape(0).count; ++d)
        if (d != reduced.axis) in[d] = out[reduced.output_axis(d)];
      if constexpr (in_row) {
        values::template finish<1, 0>(call, out, constant<1>{}, position_in_row(call, in));
      } else {
        for_lanes<width, out_along>(out, access::bound(access::space(out_along), call), [&](auto n) {
          in[along] = out[out_along];
          values::template finish<width, out_along>(call, out, n, positions(call, in, n));
        });
      }
    }
  }

 private:
  static index_t length(const kernel_call& call) { return access::bound(access::input_extent(0, reduced.axis), call); }
  static constexpr auto better(auto x, auto best) { return anchor::value.order.better(x, best); }
  [[gnu::always_inline]] static number element(const kernel_call& call, coordinates& in, index_t at, auto n) {
    in[reduced.axis] = at;
    return values::template evaluate<input, width, along>(call, in, n, 0);
  }

  // Where the best element of a row is. None is better than a number that is none in front.
  static std::int64_t position_in_row(const kernel_call& call, coordinates in) {
    const index_t extent = length(call);
    if (extent == 0) return 0;
    in[reduced.axis] = 0;
    const scalar front = values::template evaluate<input, 1, along>(call, in, constant<1>{}, 0);
    if (front != front) return 0;
    constexpr index_t at_once = 4;  // so that comparisons do not wait for each other
    number best[at_once] = {number(front), number(front), number(front), number(front)};
    const auto fold = [&](index_t i, number& b, auto n) {
      const number x = element(call, in, i, n);
      if constexpr (is_constant<decltype(n)>) b = select(better(x, b), x, b);
      else b = select(better(x, b) & first_lanes<width>(n), x, b);
    };
    index_t i = 0;
    for (; i + at_once * width <= extent; i += at_once * width) {
      fold(i, best[0], constant<width>{});
      fold(i + width, best[1], constant<width>{});
      fold(i + 2 * width, best[2], constant<width>{});
      fold(i + 3 * width, best[3], constant<width>{});
    }
    for (; i + width <= extent; i += width) fold(i, best[0], constant<width>{});
    if (i < extent) fold(i, best[1], extent - i);
    for (int k = 1; k < at_once; ++k) best[0] = select(better(best[k], best[0]), best[k], best[0]);
    auto the_best = best[0][0];
    for (int k = 1; k < width; ++k) the_best = better(best[0][k], the_best) ? best[0][k] : the_best;
    return position_of_value(call, in, extent, number(the_best));
  }
  // The first of a row's elements that is x, or the last.
  static std::int64_t position_of_value(const kernel_call& call, coordinates& in, index_t extent, number x) {
    constexpr bool last = anchor::value.select_last_index;
    const index_t vectors = ceil_div(extent, index_t(width));
    for (index_t v = 0; v < vectors; ++v) {
      const index_t i = (last ? vectors - 1 - v : v) * width, n = std::min<index_t>(extent - i, width);
      const mask found = n == width ? element(call, in, i, constant<width>{}) == x
                                    : (element(call, in, i, n) == x) & first_lanes<width>(n);
      if (!any(found)) continue;
      for (index_t k = 0; k < n; ++k)
        if (const index_t lane = last ? n - 1 - k : k; found[static_cast<int>(lane)] != 0) return i + lane;
    }
    return 0;
  }

  // Where the best elements of the rows are that the lanes are. Positions are counted in 32 bits as far as these reach.
  [[gnu::always_inline]] static wide<std::int64_t, width> positions(const kernel_call& call, coordinates& in, auto n) {
    constexpr index_t longest = index_t(1) << 30;
    const index_t extent = length(call);
    wide<std::int64_t, width> where(0);
    if (extent == 0) return where;
    number best = element(call, in, 0, n);
    for (index_t begin = 0; begin < extent; begin += longest) {
      mask here(-1);
      for (index_t i = std::max<index_t>(begin, 1), end = std::min(begin + longest, extent); i < end; ++i) {
        const number x = element(call, in, i, n);
        mask is_better = better(x, best);
        if constexpr (anchor::value.select_last_index) is_better = is_better | (x == best);
        best = select(is_better, x, best);
        here = select(is_better, mask(static_cast<std::int32_t>(i - begin)), here);
      }
      where = select(here < mask(0), where, widened<std::int64_t>(here) + wide<std::int64_t, width>(begin));
    }
    return where;
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
