// SPDX-License-Identifier: MIT
// The kernel of Concat: every part is copied, prologue and epilogue included, in vectors along the axis the output is
// contiguous in, or, where that is the joined one and parts are thin, along the axis that takes least time, turned in
// registers before they are stored where that takes less. Only along the joined axis do vectors end between parts. A
// first part that is there already, because its memory is that of the output, is passed over.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/cpu/micro/transpose.hpp"
#include "dnnkit/plan/kept_part.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct concat_parts {
  static constexpr std::string_view name = "concat_parts";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::concat>; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    const std::size_t along = lane_axis(spec);
    kernel_choice best = in_rows(spec, facts, along);
    if (spec.is_setup() || along != joined_axis(spec)) return best;
    // of few positions each, parts take a vector each for them: those of another axis may be fuller
    for (std::size_t d = 0; d < spec.rank(); ++d) {
      if (const kernel_choice c = in_rows(spec, facts, d); c.cost.cycles < best.cost.cycles) best = c;
      if (d == along || !has_turned_blocks(spec, facts)) continue;
      if (const kernel_choice c = turned(spec, facts, d); c.cost.cycles < best.cost.cycles) best = c;
    }
    return best;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  enum parameter : std::size_t { blocks_are_turned };  // 1, or no parameters

  static constexpr std::size_t joined_axis(const kernel_spec& spec) {
    return spec.anchor<op::concat>().along(spec.rank());
  }
  // Rows along axis `along`.
  static constexpr kernel_choice in_rows(const kernel_spec& spec, const cpu_facts& target, std::size_t along) {
    const bool vectors = !spec.is_setup();
    bool bytes = vectors && maps_bytes(spec, along);
    for (std::size_t i = 0; i < spec.inputs(); ++i)
      bytes = bytes && is_of_bytes(spec, spec.input(i)) && lies_in_rows(spec, spec.input(i), along);
    const cpu_facts facts = bytes ? facts_of_bytes(target) : target;
    const tree_cost tree(spec, facts, along, vectors ? facts.float_lanes : 1);
    double pieces = 0;  // vectors of all parts
    kernel_work work;
    for (std::size_t i = 0; i < spec.inputs(); ++i) {
      const auto extent = static_cast<double>(known_or_typical(spec.extent_of(i, along)));
      const double of_part = rows_along(facts, spec.elements_of(i), extent, vectors).vectors;
      work.cycles += of_part * tree.value(spec.input(i));
      pieces += of_part;
    }
    work.cycles += (pieces - rows_along(spec, facts, along, vectors).vectors) * tree.outputs();
    return element_choice(spec, facts, along, vectors, work,
                          vectors ? "part by part, in vectors" : "part by part, element by element: it runs once");
  }

  // The elements joined at one place fit into a few vectors.
  static constexpr bool has_turned_blocks(const kernel_spec& spec, const cpu_facts& facts) {
    if (spec.self().anchor_type != dtype::f32 || plan::keeps_first_part(spec)) return false;
    for (std::size_t i = 0; i < spec.inputs(); ++i)
      if (!spec.extent_of(i, joined_axis(spec)).is_known()) return false;
    const local_extent all = spec.space(joined_axis(spec));
    return all.is_known() && all.value() > 0 && all.value() <= 4 * facts.float_lanes;
  }
  // Blocks of float_lanes places along axis `along` with all that is joined there: read in vectors along it, turned,
  // and stored in vectors along the joined axis.
  static constexpr kernel_choice turned(const kernel_spec& spec, const cpu_facts& facts, std::size_t along) {
    const double lanes = facts.float_lanes, columns = static_cast<double>(spec.space(joined_axis(spec)).value()),
                 squares = vectors_of(facts, columns);
    const vector_rows pieces = rows_along(spec, facts, along, true);  // a piece: one column of a block
    const tree_cost tree(spec, facts, along, facts.float_lanes);
    const tree_cost joined(spec, facts, joined_axis(spec), facts.float_lanes);
    const cost_coefficients& of = facts.costs;
    double interleaved = 0;  // times that each vector is
    for (int n = facts.float_lanes; n > 1; n /= 2) ++interleaved;
    kernel_work work;
    for (std::size_t i = 0; i < spec.inputs(); ++i) {
      const auto extent = static_cast<double>(known_or_typical(spec.extent_of(i, along)));
      work.cycles += rows_along(facts, spec.elements_of(i), extent, true).vectors * tree.value(spec.input(i));
    }
    work.cycles += pieces.vectors *
                   (of.store + squares / columns * lanes * (of.load + interleaved * of.simple / 2 + joined.outputs()));
    work.starts = pieces.rows / columns * of.row;
    work.traffic = traffic_of(spec, facts);
    kernel_choice c;
    c.operands = {operand_reading::evaluated};
    c.tile = {static_cast<std::int8_t>(along), static_cast<std::uint8_t>(facts.float_lanes)};
    c.parameters = {1};
    c.cost = estimate(facts, work);
    c.reason = "blocks of all parts, in vectors, turned in registers";
    return c;
  }
};

template <class Net, std::size_t R> struct concat_parts::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr std::size_t joined = anchor_of<Net, R>::value.along(access::rank), along = access::choice.tile.along;
  static constexpr int width = access::choice.tile.lanes;
  static constexpr bool turns = access::choice.parameters.size() > blocks_are_turned;

  static index_t units(const kernel_call& call) noexcept {
    return turns ? rows_of_blocks(call) : rows_without<Net, R>(call, along);
  }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    if constexpr (turns) run_turned(call, first, last);
    else run_in_rows(call, first, last);
  }

 private:
  static void run_in_rows(const kernel_call& call, index_t first, index_t last) {
    const index_t kept = kept_positions(call), inside = along == joined ? 1 : rows_inside(call);
    for (index_t row = first; row < last; ++row) {
      const coordinates c = row_coordinates<Net, R>(call, along, row);
      if (along != joined && c[joined] < kept) {  // on to the first row behind them
        row += (kept - c[joined]) * inside - row % inside - 1;
        continue;
      }
      index_t begin = 0;
      [&]<std::size_t... I>(std::index_sequence<I...>) { (copy<I>(call, c, kept, begin), ...); }
      (std::make_index_sequence<access::anchor_inputs>{});
    }
  }

  // --- blocks
  static constexpr index_t columns = turns ? access::space(joined).value() : 1;
  static constexpr index_t squares = (columns + width - 1) / width;
  using block = float[squares * width][width];  // place i of column j at [j][i]

  // Of all axes but the two of a block.
  static index_t rows_of_blocks(const kernel_call& call) {
    index_t n = 1;
    for (std::size_t d = 0; d < access::rank; ++d)
      if (d != along && d != joined) n *= access::bound(access::space(d), call);
    return n;
  }
  static coordinates row_of_blocks(const kernel_call& call, index_t row) {
    coordinates c{};
    for (std::size_t d = access::rank; d-- > 0;) {
      if (d == along || d == joined) continue;
      const index_t n = access::bound(access::space(d), call);
      c[d] = row % n;
      row /= n;
    }
    return c;
  }
  static void run_turned(const kernel_call& call, index_t first, index_t last) {
    const index_t length = access::bound(access::space(along), call);
    block b{};
    for (index_t row = first; row < last; ++row) {
      coordinates c = row_of_blocks(call, row);
      for_lanes<width, along>(c, length, [&](auto n) {
        c[joined] = 0;
        index_t begin = 0;
        [&]<std::size_t... I>(std::index_sequence<I...>) { (read<I>(call, c, n, b, begin), ...); }
        (std::make_index_sequence<access::anchor_inputs>{});
        turn(b);
        coordinates to = c;
        for (index_t i = 0; i < n; ++i, ++to[along]) write(call, to, b, i);
      });
    }
  }
  // Columns of part I, from column `begin` on, which moves on to its end.
  template <std::size_t I>
  [[gnu::always_inline]] static void read(const kernel_call& call, coordinates c, auto n, block& b, index_t& begin) {
    for (index_t j = 0; j < access::input_extent(I, joined).value(); ++j, ++c[joined])
      values::template evaluate<access::anchor_input(I), width, along>(call, c, n, 0).store(b[begin++]);
  }
  // Afterwards column j of place i is at [j / width * width + i][j % width].
  [[gnu::always_inline]] static void turn(block& b) {
    for (index_t s = 0; s < squares; ++s) {
      square_block lines;
      for (int i = 0; i < width; ++i) lines[i] = float_vec::load(b[s * width + i]);
      transpose(lines);
      for (int i = 0; i < width; ++i) lines[i].store(b[s * width + i]);
    }
  }
  [[gnu::always_inline]] static void write(const kernel_call& call, coordinates to, const block& b, index_t i) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      const auto square = [&](auto s) {
        constexpr index_t first = s() * width;
        constexpr auto n = [] {
          if constexpr (first + width <= columns) return constant<width>{};
          else return columns - first;
        }();
        to[joined] = first;
        values::template finish<width, joined>(call, to, n, float_vec::load(b[first + i]));
      };
      (square(constant<static_cast<int>(S)>{}), ...);
    }
    (std::make_index_sequence<static_cast<std::size_t>(squares)>{});
  }

  // --- rows
  // Positions of the joined axis that need no copy.
  static index_t kept_positions(const kernel_call& call) noexcept {
    if constexpr (plan::keeps_first_part(access::spec)) {
      constexpr std::size_t from = access::spec.load(access::spec.input(0).index).operand,
                            to = access::spec.output(0).operand;
      if (call.operands[from] == call.operands[to]) return access::bound(access::input_extent(0, joined), call);
    }
    return 0;
  }
  // Rows of one position of the joined axis.
  static index_t rows_inside(const kernel_call& call) noexcept {
    index_t n = 1;
    for (std::size_t d = joined + 1; d < access::rank; ++d)
      if (d != along) n *= access::bound(access::space(d), call);
    return n;
  }

  // What lies in part I of the row at c; the part begins at `begin` of the joined axis, which moves on to its end.
  template <std::size_t I>
  [[gnu::always_inline]] static void copy(const kernel_call& call, const coordinates& c, index_t kept, index_t& begin) {
    using element_lanes = lanes<access::self.anchor_type, width>;
    const index_t extent = access::bound(access::input_extent(I, joined), call);
    const index_t offset = begin;
    begin += extent;
    if (I == 0 && kept != 0) return;
    if (along != joined && (c[joined] < offset || c[joined] >= begin)) return;
    coordinates from = c, to = c;
    if (along != joined) from[joined] -= offset;
    const index_t length = along == joined ? extent : access::bound(access::space(along), call);
    for_lanes<width, along>(from, length, [&](auto n) {
      to[along] = from[along] + (along == joined ? offset : 0);
      const auto x = values::template evaluate<access::anchor_input(I), width, along>(call, from, n, 0);
      values::template finish<width, along>(call, to, n, converted<element_lanes>(x));
    });
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
