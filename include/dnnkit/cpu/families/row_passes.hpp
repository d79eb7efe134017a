// SPDX-License-Identifier: MIT
// The kernel of reductions and row operators (Softmax, normalisations) from their passes (operator/statistics.hpp).
// Vectors lie along the axis where most of what the kernel reads is contiguous. Where that axis belongs to the row, a
// row is folded into several accumulators, which are merged at its end; elsewhere as many rows as there are lanes are
// folded in lockstep. Groups of channels, of which each pixel holds a few next to each other, are folded in lockstep,
// too, a channel a lane, and the lanes of a group are merged. Softmax of many short rows goes over three of them in one
// loop, each in another pass.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/families/row_spec.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/cpu/micro/merged.hpp"
#include "dnnkit/operator/statistics.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct row_passes {
  static constexpr std::string_view name = "row_passes";
  static constexpr bool carries_out(const operator_tag& anchor) {
    return anchor.kind == form::row || anchor.kind == form::reduction;
  }

  // Parameters of the choices, in this order.
  enum parameter : std::uint8_t { along, first_along, group, at_once, in_turns };

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const row_spec spec(recipe, facts.float_lanes);
    kernel_choice c;
    c.operands = {operand_reading::evaluated};
    c.tile.lanes = static_cast<std::uint8_t>(spec.width);
    c.cost = estimate(facts, work_of(spec, facts));
    c.reason = reason(spec);
    c.tile.along = static_cast<std::int8_t>(spec.in_rank == 0 ? -1 : static_cast<int>(spec.output_axis(spec.along)));
    if (spec.reduces && spec.row.has(spec.along)) c.tile.along = -1;
    c.left_to_compiler = spec.is_left_to_compilers();
    c.tile.vectors = static_cast<std::uint8_t>(spec.at_once);
    c.parameters = {static_cast<std::int32_t>(spec.along), static_cast<std::int32_t>(spec.first_along),
                    static_cast<std::int32_t>(spec.group), static_cast<std::int32_t>(spec.at_once), spec.in_turns};
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  // Passes read the input, each time through the tree above it; the last step of an operator that keeps the shape reads
  // it once more. Sums are merged once a row and pass; in lockstep, once for as many rows as a vector has lanes.
  static constexpr kernel_work work_of(const row_spec& spec, const cpu_facts& facts) {
    const cost_coefficients& of = facts.costs;
    const double elements = spec.elements_of(0), passes = static_cast<double>(spec.passes);
    double length = 1, lanes = 1;  // of a row, and the elements that vectors run along
    for (std::size_t d = 0; d < spec.in_rank; ++d) {
      const auto n = static_cast<double>(known_or_typical(spec.in_dim(d)));
      if (spec.row.has(d)) length *= n;
      if (d >= spec.first_along && d <= spec.along) lanes *= n;
    }
    const bool in_vectors = spec.width > 1;
    const vector_rows pieces = rows_along(facts, elements, lanes, in_vectors);
    const tree_cost above(spec, facts, spec.along, static_cast<int>(spec.width));
    const tree_cost behind(spec, facts, spec.in_rank == 0 ? 0 : spec.output_axis(spec.along),
                           static_cast<int>(spec.reduces && spec.lanes_in_row ? 1 : spec.width));
    const row_cycles each = row_cycles_of(facts, spec.self().anchor.id, passes);
    const double input = above.value(spec.input(0));
    kernel_work work{.traffic = traffic_of(spec, facts)};
    work.cycles = pieces.vectors * (passes * input + each.passes);
    const double rows = elements / length;
    const double stored = spec.lanes_in_row || !in_vectors ? rows : rows / facts.float_lanes;
    work.cycles += spec.reduces ? stored * behind.outputs() : pieces.vectors * (input + each.last + behind.outputs());
    // Lanes of a group are merged one by one, wherever in their vectors they lie.
    const double merges = spec.group > 1 ? rows * static_cast<double>(spec.group) * of.scattered : stored * of.merge;
    work.starts = pieces.rows * of.row + passes * merges;
    return work;
  }

  static constexpr std::string_view reason(const row_spec& spec) {
    if (spec.is_left_to_compilers()) return "element by element, of which compilers make vectors";
    if (spec.width == 1) return "element by element: it runs once, or there are no vectors of the type";
    if (spec.group > 1) return "groups of lanes are rows, in lockstep";
    if (spec.in_turns) return "vectors along the row, of three rows at a time, each in another pass";
    return spec.lanes_in_row ? "vectors along the row, in several accumulators" : "as many rows as lanes, in lockstep";
  }
};

template <class Net, std::size_t R> struct row_passes::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  using anchor = anchor_of<Net, R>;
  using Op = typename anchor::type;
  static constexpr operand_ref input = access::anchor_input(0);
  static constexpr std::size_t in_rank = access::anchor_shape(0).count;
  static constexpr axis_set row = access::self.rows.axes;
  static constexpr bool reduces = Op::kind == form::reduction;
  static constexpr local_extent in_dim(std::size_t d) { return access::input_extent(0, d); }

  // Input axis `d` as an axis of the output; in_rank when a reduction drops it.
  static constexpr auto output_axis = output_axes(row, in_rank, access::rank);

  // As in row_spec.
  static constexpr std::int32_t decided(parameter p) { return access::choice.parameters[std::size_t{p}]; }
  static constexpr std::size_t along = decided(row_passes::along), first_along = decided(row_passes::first_along);
  static constexpr index_t group = decided(row_passes::group), at_once = decided(row_passes::at_once);
  static constexpr bool in_turns = decided(row_passes::in_turns) != 0;
  static constexpr bool is_along(std::size_t d) { return d >= first_along && d <= along; }
  static constexpr bool lanes_in_row = in_rank == 0 || (row.has(along) && group == 1);

  static constexpr int width = access::choice.tile.lanes;
  using scalar = computed<access::spec.type_of(input)>;
  using number = lanes<access::spec.type_of(input), width>;
  using stats = std::array<number, Op::passes>;

  static index_t extent(const kernel_call& call, std::size_t d) { return access::bound(in_dim(d), call); }
  static index_t lane_extent(const kernel_call& call) {
    index_t n = 1;
    for (std::size_t d = first_along; d <= along && d < in_rank; ++d) n *= extent(call, d);
    return n;
  }
  static index_t blocks(const kernel_call& call) {
    return lanes_in_row ? 1 : ceil_div(lane_extent(call), at_once * width);
  }

  // Units: the coordinates outside the row and outside the lanes; in lockstep, blocks of lanes.
  static constexpr bool is_outer(std::size_t d) { return !row.has(d) && !is_along(d); }
  static index_t units(const kernel_call& call) noexcept {
    index_t n = blocks(call);
    for (std::size_t d = 0; d < in_rank; ++d)
      if (is_outer(d)) n *= extent(call, d);
    return n;
  }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    if constexpr (in_turns) rows_in_turns(call, first, last);
    else blocks_one_by_one(call, first, last);
  }
  static void blocks_one_by_one(const kernel_call& call, index_t first, index_t last) {
    span s{0, lane_extent(call), row_length(call)};
    const index_t of_row = blocks(call), lane_count = s.lanes;
    std::array<coordinates, static_cast<std::size_t>(together)> c;
    for (index_t unit = first; unit < last;) {
      if constexpr (lanes_in_row) {
        const index_t count = std::min(together, last - unit);
        for (index_t i = 0; i < count; ++i) at(c, i) = outer_coordinates(call, unit++);
        some_blocks(call, c, count, s);
      } else {
        s.first = unit % of_row * (at_once * width);
        s.lanes = std::min(lane_count - s.first, at_once * width);
        c[0] = outer_coordinates(call, unit++ / of_row);
        some_blocks(call, c, 1, s);
      }
    }
  }

  // Of image `image`, what belongs to positions [first, last) of the axis that tiles cut.
  static constexpr std::size_t cut = access::spec.cut_axis();
  static void run_rows(const kernel_call& call, index_t image, index_t first, index_t last) noexcept
      requires(!reduces && cut > 0 && cut < in_rank) {
    index_t before = 1, inner = 1;  // positions of outer axes between images and rows, and of what is inside a row
    for (std::size_t d = 1; d < cut; ++d)
      if (is_outer(d)) before *= extent(call, d);
    for (std::size_t d = cut + 1; d < in_rank; ++d)
      if (is_along(cut) ? d <= along : is_outer(d)) inner *= extent(call, d);
    if constexpr (is_along(cut)) {  // lanes begin with it
      index_t behind = 1;
      for (std::size_t d = along + 1; d < in_rank; ++d)
        if (is_outer(d)) behind *= extent(call, d);
      span s{0, 0, row_length(call)};
      for (index_t outer = image * before * behind; outer < (image + 1) * before * behind; ++outer)
        for (s.first = first * inner; s.first < last * inner; s.first += at_once * width) {
          s.lanes = std::min(last * inner - s.first, at_once * width);
          std::array<coordinates, static_cast<std::size_t>(together)> c{outer_coordinates(call, outer)};
          some_blocks(call, c, 1, s);
        }
    } else {
      const index_t rows = extent(call, cut), each = inner * blocks(call);
      for (index_t b = image * before; b < (image + 1) * before; ++b)
        run(call, (b * rows + first) * each, (b * rows + last) * each);
    }
  }

 private:
  struct span {
    index_t first, lanes;  // positions along the lanes
    index_t length;        // elements of a row
  };
  static index_t row_length(const kernel_call& call) {
    index_t n = 1;
    for (std::size_t d = 0; d < in_rank; ++d)
      if (row.has(d)) n *= extent(call, d);
    return n;
  }
  static coordinates outer_coordinates(const kernel_call& call, index_t position) {
    coordinates c{};
    for (std::size_t d = in_rank; d-- > 0;)
      if (is_outer(d)) {
        c[d] = position % extent(call, d);
        position /= extent(call, d);
      }
    return c;
  }

  // f(v, n, sum) for each vector v of the span, with c[along] at its start: n is constant<width>, or the lanes that are
  // left, and sum which accumulator the vector is folded into. Along a row as many vectors as there are accumulators
  // are written out, so that these stay in registers; the vectors that are left share the first.
  [[gnu::always_inline]] static void for_vectors(coordinates& c, const span& s, auto&& f) {
    const auto visit = [&](index_t v, auto n, auto sum) __attribute__((always_inline)) {
      c[along] = s.first + v * width;
      f(v, n, sum);
    };
    index_t v = 0;
    if constexpr (lanes_in_row && at_once > 1)
#pragma GCC unroll 1
      for (; (v + at_once) * width <= s.lanes; v += at_once)
        [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
          (visit(v + static_cast<index_t>(I), constant<width>{}, constant<I>{}), ...);
        }
    (std::make_index_sequence<static_cast<std::size_t>(at_once)>{});
    const auto accumulator = [](index_t i) {
      if constexpr (lanes_in_row) return constant<0>{};
      else return i;
    };
    for (; (v + 1) * width <= s.lanes; ++v) visit(v, constant<width>{}, accumulator(v));
    if constexpr (width > 1)
      if (v * width < s.lanes) visit(v, s.lanes - v * width, accumulator(v));
  }

  // The innermost axis of the row, lanes aside; in_rank: there is none.
  static constexpr std::size_t line_axis = [] {
    for (std::size_t d = in_rank; d-- > 0;)
      if (row.has(d) && !is_along(d)) return d;
    return in_rank;
  }();
  // visit() for all positions of the rows through c, lanes aside, and end_line() after each run along line_axis.
  [[gnu::always_inline]] static void for_positions(const kernel_call& call, coordinates& c, const span& s, auto&& visit,
                                                   auto&& end_line) {
    if (s.length == 0) return;
    for (std::size_t d = 0; d < in_rank; ++d)
      if (row.has(d)) c[d] = 0;
    for (bool more = true; more;) {
      if constexpr (line_axis == in_rank) {
        visit();
      } else {
        const index_t n = extent(call, line_axis);
        for (index_t i = 0; i < n; ++i) {
          c[line_axis] = i;
          visit();
        }
      }
      end_line();
      more = false;
      for (std::size_t d = line_axis; d-- > 0 && !more;)
        if (row.has(d) && !is_along(d)) {
          more = ++c[d] < extent(call, d);
          if (!more) c[d] = 0;
        }
    }
  }

  // The vectors of a row of which something is computed once and kept: a prologue by the first pass, what the last pass
  // and finish() share by the last; 0: the input is read in every pass.
  static constexpr bool shares = shares_elements<Op>, has_prologue = width > 1 && input.from == source::node;
  static constexpr index_t kept_vectors = []() -> index_t {
    if (!lanes_in_row || line_axis != in_rank) return 0;
    if (!shares && !has_prologue) return 0;
    if (reduces && Op::passes == 1) return 0;
    index_t n = 1;
    for (std::size_t d = first_along; d <= along; ++d) n *= in_dim(d).is_known() ? in_dim(d).value() : 1'000'000;
    const index_t vectors = ceil_div(n, index_t(width));
    return vectors <= (shares ? 512 : 128) ? vectors : 0;  // a part of the first cache
  }();
  static constexpr bool keeps = kept_vectors > 0;
  using kept_row = std::array<number, static_cast<std::size_t>(kept_vectors)>;

  // Rows along the lanes that each pass takes one after the other: what merges the lanes of one waits for itself, and
  // the processor goes on with the next meanwhile. What is kept of them stays a part of the first cache.
  static constexpr index_t together = !lanes_in_row || line_axis != in_rank           ? 1
                                      : kept_vectors * index_t{sizeof(number)} > 2048 ? 1
                                                                                      : 4;

  // Vector v of the input, for pass P; P == Op::passes: for finish().
  template <std::size_t P>
  [[gnu::always_inline]] static number element(const kernel_call& call, const coordinates& c, index_t v, auto n,
                                               kept_row& kept) {
    if constexpr (P > 0 && keeps && has_prologue) {
      return at(kept, v);
    } else {
      const auto x = static_cast<number>(values::template evaluate<input, width, along>(call, c, n, 0));
      if constexpr (keeps && has_prologue) at(kept, v) = x;
      return x;
    }
  }

  // In lockstep, long rows have sums of their own for each line: sums of sums lose less of what is added.
  static constexpr bool by_line = [] {
    index_t n = 1;
    for (std::size_t d = 0; d < in_rank; ++d)
      if (row.has(d)) n *= in_dim(d).is_known() ? in_dim(d).value() : 1'000;
    return !lanes_in_row && std::is_floating_point_v<scalar> && n > 256;
  }();

  // A row of those that are gone over in turns, and a pass over it; P == Op::passes: finish().
  struct turn {
    coordinates c;
    kept_row kept;
    std::array<stats, 1> of_row;
  };
  template <std::size_t P> [[gnu::noinline]] static void pass_over(const kernel_call& call, turn& t, const span& s) {
    pass_over<P>(call, t.c, s, t.kept, t.of_row);
  }
  // It has coordinates of its own, which compilers keep in registers: GCC 13 (-O3: -ftree-loop-distribution) else moves
  // what is written to them to before where it is read.
  template <std::size_t P>
  [[gnu::always_inline]] static void pass_over(const kernel_call& call, coordinates c, const span& s, kept_row& kept,
                                               auto& all) {
    if constexpr (P < Op::passes) fold<P>(call, c, s, kept, all);
    else finish_block(call, c, s, kept, all);
  }
  // Each row is in one of three passes: the first is bound by loads, the second by arithmetic, the last by stores. Rows
  // between them give what merges the lanes of a row its time.
  static constexpr index_t apart = kept_vectors <= 64 ? 2 : 1, turns = 2 * apart + 1;
  static void rows_in_turns(const kernel_call& of, index_t first, index_t last) {
    const local_operands<Net, R> operands(of);
    const kernel_call call = operands.call();
    const span s{0, lane_extent(call), row_length(call)};
    std::array<turn, std::size_t{turns}> rows;
    const auto taken = [&](index_t unit) -> turn& { return at(rows, unit % turns); };
    for (index_t unit = first; unit < last; ++unit) {
      taken(unit).c = outer_coordinates(call, unit);
      if (unit - first >= 2 * apart) {
        three_passes(call, taken(unit), taken(unit - apart), taken(unit - 2 * apart), s);
      } else {
        pass_over<0>(call, taken(unit), s);
        if (unit - first >= apart) pass_over<1>(call, taken(unit - apart), s);
      }
    }
    for (index_t unit = std::max(first, last - 2 * apart); unit < last; ++unit) {
      if (unit >= last - apart) pass_over<1>(call, taken(unit), s);
      pass_over<2>(call, taken(unit), s);
    }
  }
  [[gnu::always_inline]] static void three_passes(const kernel_call& call, turn& first, turn& second, turn& last,
                                                  const span& s) {
    number of_first(anchor::value.template start<scalar>(pass<0>{}));
    number of_second(anchor::value.template start<scalar>(pass<1>{}));
    // Copies, of which compilers see that no store changes them.
    std::array<coordinates, 3> c{first.c, second.c, last.c};
    const stats before_second = second.of_row[0], before_last = last.of_row[0];
    for_vectors(
        c[0], s, [&](index_t v, auto n, auto) __attribute__((always_inline)) {
          c[1][along] = c[2][along] = c[0][along];
          fold_vector<0>(call, c[0], v, n, of_first, first.kept, first.of_row[0]);
          fold_vector<1>(call, c[1], v, n, of_second, second.kept, before_second);
          finish_vector(call, c[2], v, n, last.kept, before_last);
        });
    close_row<0>(of_first, s, first.of_row[0]);
    close_row<1>(of_second, s, second.of_row[0]);
  }

  // Some rows, `count` of them, or the rows of one block of lanes.
  static void some_blocks(const kernel_call& of, std::array<coordinates, static_cast<std::size_t>(together)>& blocks,
                          index_t count, span s) {
    const local_operands<Net, R> operands(of);
    const kernel_call call = operands.call();
    if constexpr (lanes_in_row) s = {0, lane_extent(call), row_length(call)};  // constants, where extents are known
    std::array<kept_row, static_cast<std::size_t>(together)> kept_rows;
    if constexpr (kept_vectors == 1)  // compilers do not see that the loops below come to it
      for (kept_row& kept : kept_rows) kept[0] = number(0);
    std::array<std::array<stats, static_cast<std::size_t>(lanes_in_row ? 1 : at_once)>,
               static_cast<std::size_t>(together)>
        statistics{};
    for_constants<Op::passes + 1>([&](auto pass) __attribute__((always_inline)) {
#pragma GCC unroll 1
      for (index_t i = 0; i < (together == 1 ? 1 : count); ++i)
        pass_over<pass()>(call, at(blocks, i), s, at(kept_rows, i), at(statistics, i));
    });
  }
  [[gnu::always_inline]] static void finish_block(const kernel_call& call, coordinates& c, const span& s,
                                                  kept_row& kept, const auto& all) {
    if constexpr (!reduces) {
      for_positions(
          call, c, s,
          [&]() __attribute__((always_inline)) {
            for_vectors(
                c, s, [&](index_t v, auto n, auto) __attribute__((always_inline)) {
                  finish_vector(call, c, v, n, kept, at(all, lanes_in_row ? 0 : v));
                });
          },
          [] {});
    } else {
      coordinates out{};
      for (std::size_t d = 0; d < in_rank; ++d)
        if (output_axis[d] < in_rank) out[output_axis[d]] = row.has(d) ? 0 : c[d];
      if constexpr (lanes_in_row) {
        values::template finish<1, 0>(call, out, constant<1>{}, lane(all[0].back(), 0));
      } else if constexpr (group > 1) {
        for (index_t i = 0; i < s.lanes; i += group) {
          out[output_axis[along - 1]] = (s.first + i) / group;
          values::template finish<1, 0>(call, out, constant<1>{}, lane(at(all, i / width).back(), i % width));
        }
      } else {
        for_vectors(c, s, [&](index_t v, auto n, auto) {
          out[output_axis[along]] = c[along];
          values::template finish<width, output_axis[along]>(call, out, n, at(all, v).back());
        });
      }
    }
  }

  // Inlined early: GCC makes one function of those for arrays of different lengths, and warns that one is too short.
  [[gnu::always_inline]] static auto& at(auto& array, index_t i) { return array[static_cast<std::size_t>(i)]; }
  static scalar lane(const number& x, index_t i) {
    if constexpr (width == 1) return x;
    else return static_cast<scalar>(x[static_cast<int>(i)]);
  }

  // Vector v folded into `sum` by pass P.
  template <std::size_t P>
  [[gnu::always_inline]] static void fold_vector(const kernel_call& call, const coordinates& c, index_t v, auto n,
                                                 number& sum, kept_row& kept, const stats& of_row) {
    const Op& op = anchor::value;
    const number x = element<P>(call, c, v, n, kept);
    const number next = [&] {
      if constexpr (keeps && shares && P + 1 == Op::passes)
        return op.accumulate_shared(sum, at(kept, v) = op.shared(x, of_row));
      else return op.accumulate(pass<P>{}, sum, x, of_row);
    }();
    if constexpr (!lanes_in_row || is_constant<decltype(n)>) sum = next;
    else sum = select(first_lanes<width>(n), next, sum);
  }
  [[gnu::always_inline]] static void finish_vector(const kernel_call& call, const coordinates& c, index_t v, auto n,
                                                   kept_row& kept, const stats& of_row) {
    const number y = [&] {
      if constexpr (keeps && shares) return anchor::value.finish_shared(at(kept, v), of_row);
      else return anchor::value.finish(element<Op::passes>(call, c, v, n, kept), of_row);
    }();
    values::template finish<width, along>(call, c, n, y);
  }

  // Pass P over all positions; its statistic in all lanes. The order in which a row is summed is the same for every
  // division of the work.
  template <std::size_t P>
  [[gnu::always_inline]] static void fold(const kernel_call& call, coordinates& c, const span& s, kept_row& kept,
                                          auto& all) {
    constexpr pass<P> step{};
    const Op& op = anchor::value;
    // Of elements as they are stored: bytes, whose lanes are wider, have neutral elements of their own.
    const number neutral(op.template start<scalar>(step));
    // Written out, not in loops: compilers keep arrays in registers whose indices they know early.
    constexpr auto accumulators = std::make_index_sequence<static_cast<std::size_t>(at_once)>{};
    auto sums = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::array<number, sizeof...(I)>{(static_cast<void>(I), neutral)...};
    }
    (accumulators);
    auto lines = sums;
    auto& at_hand = by_line ? lines : sums;
    for_positions(
        call, c, s,
        [&]() __attribute__((always_inline)) {
          for_vectors(
              c, s, [&](index_t v, auto n, auto accumulator) __attribute__((always_inline)) {
                fold_vector<P>(call, c, v, n, at(at_hand, accumulator), kept, at(all, lanes_in_row ? 0 : v));
              });
        },
        [&] {
          if constexpr (by_line)
            for (std::size_t v = 0; v < at_once; ++v) {
              sums[v] = op.merge(step, sums[v], lines[v]);
              lines[v] = neutral;
            }
        });
    if constexpr (lanes_in_row) {
      close_row<P>(merged<0, at_once>(sums, [&](auto a, auto b) { return op.merge(step, a, b); }), s, all[0]);
    } else {
      const number length(static_cast<scalar>(s.length));
      if constexpr (group > 1)
        for (index_t i = 0; i < s.lanes; i += group) {
          scalar sum = lane(at(sums, i / width), i % width);
          for (index_t k = i + 1; k < i + group; ++k) sum = op.merge(step, sum, lane(at(sums, k / width), k % width));
          for (index_t k = i; k < i + group; ++k) at(sums, k / width).set(static_cast<int>(k % width), sum);
        }
      for (std::size_t v = 0; v < at_once; ++v) all[v][P] = op.close(step, sums[v], length, all[v]);
    }
  }
  template <std::size_t P>
  [[gnu::always_inline]] static void close_row(const number& lane_sums, const span& s, stats& of_row) {
    constexpr pass<P> step{};
    const auto merge = [](auto a, auto b) { return anchor::value.merge(step, a, b); };
    const number length(static_cast<scalar>(s.length));
    of_row[P] = anchor::value.close(step, merged_lanes<width / 2>(lane_sums, merge), length, of_row);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
