// SPDX-License-Identifier: MIT
// The kernel of a recurrent layer, RNN, GRU or LSTM, in one direction or both: what the input adds to the gates of all
// steps is one product (cpu/micro/gemm.hpp), or, of one long sequence, is computed beside the steps before
// (cpu/micro/product_beside.hpp); then step by step what the states add (cpu/micro/recurrent.hpp), the
// gates and the next states being computed from the sums in registers. Weights are packed once where they are the same
// in every run. As in Appleyard, Kocisky and Blunsom, "Optimizing Performance of Recurrent Neural Networks on GPUs",
// sections 3.1 and 3.2; that steps read the weights forwards and backwards in turn is for the second cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/families/recurrent_kernel.hpp"
#include "dnnkit/cpu/micro/gemm.hpp"
#include "dnnkit/cpu/micro/recurrent.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct recurrent_steps {
  static constexpr std::string_view name = "recurrent_steps";
  static constexpr bool carries_out(const operator_tag& anchor) {
    return anchor.id == id_of<op::lstm> || anchor.id == id_of<op::gru> || anchor.id == id_of<op::rnn>;
  }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const recurrent_spec spec(recipe);
    if (const std::string_view why = spec.unfit(); !why.empty()) return no_match{why};
    const bool in_place = spec.in_place(), once = spec.is_packed_once();
    const operand_reading weights = once ? operand_reading::packed_once : operand_reading::packed_each_run;
    kernel_choice c;
    c.operands = {in_place ? operand_reading::in_place : operand_reading::staged, weights, weights};
    c.tile.along = static_cast<std::int8_t>(spec.rank() - 1);
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    const bool overlaps = spec.overlaps(facts);
    c.tile.vectors = static_cast<std::uint8_t>(overlaps ? recurrent_vectors_of_row : recurrent_vectors);
    c.parameters = {overlaps ? recurrent_spec::vectors_beside : gemm_panel_vectors(facts, spec.wide()), overlaps};
    c.cost = spec.cost(facts, c.parameters[0], c.tile.vectors);
    c.reason = overlaps
                   ? "what the input adds to later steps is computed beside the earlier ones; weights are packed once"
               : once ? "what the input adds to all steps is one product; weights are packed once"
                      : "what the input adds to all steps is one product; weights, which the run computes, are "
                        "packed in each";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;
};

template <class Net, std::size_t R> struct recurrent_steps::kernel : recurrent_kernel<Net, R, recurrent_spec> {
  using common = recurrent_kernel<Net, R, recurrent_spec>;
  using access = typename common::access;
  using values = typename common::values;
  using cell = typename common::cell;
  using common::anchor, common::spec, common::packed_once, common::directions, common::gates, common::hidden,
      common::blocks, common::padded, common::columns, common::place_of, common::gate_of, common::unit_of,
      common::steps, common::batch, common::row_coordinates, common::output_coordinates, common::store;
  static constexpr index_t wide = common::wide;  // not wide of micro/wide.hpp
  static constexpr bool in_place = access::choice.operands[0] == operand_reading::in_place;
  static constexpr bool overlaps = access::choice.parameters[1] != 0;

  // --- weights of one direction: panels for the input, panels for the states, biases of all sums, biases that are
  // added before a reset, peepholes
  template <class M>
  using input_product = gemm<M, constant<columns>, constant<wide>, index_t, access::choice.parameters[0]>;

  // A GRU's hidden gate needs the states that its reset gate has let pass, unless that acts on the sum.
  static constexpr bool resets_states = gates == 3 && []() -> bool {
    if constexpr (requires { anchor.linear_before_reset; }) return !anchor.linear_before_reset;
    else return false;
  }();
  static constexpr bool resets_sums = gates == 3 && !resets_states;
  static constexpr int first_gates = resets_states ? 2 : static_cast<int>(gates);
  static constexpr int sums_at_once = access::choice.tile.vectors;
  using first_sums = gate_sums<hidden, first_gates, sums_at_once>;
  using last_sums = gate_sums<hidden, 1, sums_at_once>;  // of the hidden gate, where states are reset
  static constexpr index_t of_input = wide * columns, of_first = of_input + first_sums::packed_size(),
                           of_last = of_first + (resets_states ? last_sums::packed_size() : 0),
                           of_bias = of_last + columns, of_reset_bias = of_bias + (resets_sums ? padded : 0),
                           weight_floats = of_reset_bias + (spec.has(input_peepholes) ? 3 * padded : 0);

  static void pack_direction(const kernel_call& call, index_t d, float* out) {
    const auto bias = [&](index_t half, index_t gate, index_t unit) {
      if constexpr (spec.has(input_bias))
        return common::template element_of<input_bias>(call, {d, (half * gates + gate) * hidden + unit});
      else return 0.0f;
    };
    const input_product<constant<1>> product{{}, {}, {}, wide};
    product.pack(
        [&](index_t k, index_t column) {
          const index_t unit = unit_of(column);
          return unit < hidden
                     ? common::template element_of<input_weight>(call, {d, gate_of(column) * hidden + unit, k})
                     : 0.0f;
        },
        out);
    const auto recurrence = [&](index_t gate, index_t unit, index_t k) {
      return common::template element_of<input_recurrence>(call, {d, gate * hidden + unit, k});
    };
    first_sums::pack(recurrence, out + of_input);
    if constexpr (resets_states)
      last_sums::pack([&](index_t, index_t unit, index_t k) { return recurrence(2, unit, k); }, out + of_first);
    for (index_t unit = 0; unit < padded; ++unit) {
      const index_t block = unit / float_lanes, lane = unit % float_lanes;
      const bool is_unit = unit < hidden;
      for (index_t gate = 0; gate < gates; ++gate)
        out[of_last + place_of(block, gate) + lane] = !is_unit ? 0
                                                      : resets_sums && gate == 2
                                                          ? bias(0, gate, unit)
                                                          : bias(0, gate, unit) + bias(1, gate, unit);
      if constexpr (resets_sums) out[of_bias + unit] = is_unit ? bias(1, 2, unit) : 0;
      if constexpr (spec.has(input_peepholes))
        for (index_t gate = 0; gate < 3; ++gate)
          out[of_reset_bias + gate * padded + unit] =
              is_unit ? common::template element_of<input_peepholes>(call, {d, gate * hidden + unit}) : 0;
    }
  }

  static void pack(const kernel_call& call) noexcept requires(packed_once) {
    for (index_t d = 0; d < directions; ++d)
      pack_direction(call, d, reinterpret_cast<float*>(call.packed) + d * weight_floats);
  }
  static constexpr std::int64_t packed_bytes =
      packed_once ? directions * weight_floats * static_cast<std::int64_t>(sizeof(float)) : 0;
  static constexpr std::uint32_t packed_inputs =
      packed_once ? 1u << input_weight | 1u << input_recurrence | 1u << input_bias | 1u << input_peepholes : 0;

  // --- scratch: weights that are packed in each run, what the input adds to all sums (direction, step, row of the
  // batch, sum; of one long sequence some steps at a time), staged steps, and for each row of each direction two states
  // and two more vectors of units
  static constexpr index_t row_floats = 4 * padded;
  static constexpr index_t rows_beside = recurrent_spec::rows_beside;
  // Rows of sums lie so far apart that what a product_beside stores of several is not in one set of the first cache.
  static constexpr index_t sum_stride = columns + (overlaps ? float_lanes : 0);
  // Rows of sums that are kept for a direction: those that steps read and those that are computed meanwhile, in turns.
  static index_t kept_rows(const kernel_call& call) {
    if constexpr (overlaps) return 2 * rows_beside;
    else return steps(call) * batch(call);
  }
  static index_t sums_at() { return packed_once ? 0 : directions * weight_floats; }
  static index_t staged_at(const kernel_call& call) { return sums_at() + directions * kept_rows(call) * sum_stride; }
  static index_t states_at(const kernel_call& call) {
    constexpr index_t vector = ceil_div(wide, float_lanes) * float_lanes;
    return staged_at(call) + (in_place ? 0 : directions * steps(call) * batch(call) * vector);
  }
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept {
    return (states_at(call) + directions * batch(call) * row_floats) * static_cast<std::int64_t>(sizeof(float));
  }
  static const float* weights(const kernel_call& call, index_t d) {
    return reinterpret_cast<const float*>(packed_once ? call.packed : call.scratch) + d * weight_floats;
  }

  // --- first phase: a unit is a direction and some rows of its product; all rows where it packs the weights; where the
  // input of later steps is multiplied beside the earlier ones, those rows that the first steps need
  static constexpr index_t most_input_rows = std::clamp<index_t>(l2_bytes / 2 / (4 * wide), 64, 512);
  // So many that whole tiles are left for the steps.
  static constexpr index_t first_inputs(index_t length) {
    return length == 0 ? 0 : length - (length - 1) / rows_beside * rows_beside;
  }
  // Where step s of direction d finds its sums: the first product's at the end of what is kept, then tiles in turns;
  // rows of a product lie in the order of the input's steps.
  static index_t kept_row(const kernel_call& call, index_t d, index_t s) {
    const index_t first = first_inputs(steps(call)), tile = (s - first) / rows_beside, row = (s - first) % rows_beside;
    if (s < first) return 2 * rows_beside - first + (anchor.is_backwards(d) ? first - 1 - s : s);
    return tile % 2 * rows_beside + (anchor.is_backwards(d) ? rows_beside - 1 - row : row);
  }
  static auto input_rows(const kernel_call& call) {
    if constexpr (overlaps && spec.steps().is_known()) return constant<first_inputs(spec.steps().value())>{};
    else if constexpr (overlaps) return first_inputs(steps(call));
    else if constexpr (spec.steps().is_known() && spec.batch().is_known() &&
                       spec.steps().value() * spec.batch().value() <= most_input_rows)
      return constant<spec.steps().value() * spec.batch().value()>{};
    else return steps(call) * batch(call);
  }
  static index_t input_blocks(const kernel_call& call) { return ceil_div(input_rows(call), most_input_rows); }
  static index_t prepare_units(const kernel_call& call) noexcept {
    return directions * (packed_once ? input_blocks(call) : 1);
  }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept {
    const index_t parts = input_blocks(call), each = packed_once ? parts : 1;
    for (index_t u = first; u < last; ++u) {
      const index_t d = u / each;
      if constexpr (!packed_once) {
        pack_direction(call, d, reinterpret_cast<float*>(call.scratch) + d * weight_floats);
        for (index_t part = 0; part < parts; ++part) add_input(call, d, part);
      } else {
        add_input(call, d, u % each);
      }
    }
  }
  // Sums of rows number `part` of direction d.
  static void add_input(const kernel_call& call, index_t d, index_t part) {
    auto* const scratch = reinterpret_cast<float*>(call.scratch);
    const auto rows = input_rows(call);
    const index_t all_rows = steps(call) * batch(call);
    const index_t begin = overlaps && anchor.is_backwards(d) ? all_rows - rows : part * most_input_rows;
    float* const sums = scratch + sums_at() + (d * kept_rows(call) + first_kept_row(call, begin)) * sum_stride;
    const auto store = [&](auto acc, index_t row, index_t column, auto) {
      acc.store(sums + row * sum_stride + column);
    };
    const auto multiply = [&](auto m, const float* a, index_t stride) {
      const input_product<decltype(m)> product{m, {}, {}, stride};
      product.run(a, weights(call, d), weights(call, d) + of_last, 0, product.units(), store);
    };
    const auto of_part = [&](auto m) {
      if constexpr (in_place) {
        multiply(m, input_row(call, begin), access::bound(spec.row_stride(), call));
      } else {
        float* const staged = scratch + staged_at(call) + (d * all_rows + begin) * wide;
        for (index_t row = 0; row < m; ++row) {
          coordinates c = row_coordinates(call, begin + row);
          for_lanes<float_lanes, 2>(c, wide, [&](auto n) {
            const auto v = values::template evaluate<access::anchor_input(input_steps), float_lanes, 2>(call, c, n, 0);
            v.store(staged + row * wide + c[2], n);
          });
        }
        multiply(m, staged, wide);
      }
    };
    if constexpr (is_constant<std::remove_cvref_t<decltype(rows)>>) of_part(rows);
    else of_part(std::min<index_t>(most_input_rows, rows - part * most_input_rows));
  }
  static index_t first_kept_row(const kernel_call& call, index_t row) {
    if constexpr (overlaps) return 2 * rows_beside - first_inputs(steps(call));
    else return row;
  }
  static const float* input_row(const kernel_call& call, index_t row) requires(in_place) {
    constexpr recipe_load x = access::template load<spec.input(input_steps).index>;
    return values::template pointer<spec.input(input_steps).index>(call) +
           view_address<Net, x.axes, x.offset>(call, row_coordinates(call, row));
  }

  // --- second phase: a unit is a direction and some rows of the batch, through all steps
  static constexpr index_t most_rows = 4 * recurrent_rows(targets::native::facts, recurrent_vectors);
  static index_t row_blocks(const kernel_call& call) { return ceil_div(batch(call), most_rows); }
  static index_t units(const kernel_call& call) noexcept { return directions * row_blocks(call); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    for (index_t u = first; u < last; ++u) {
      const index_t d = u / row_blocks(call), n = u % row_blocks(call) * most_rows;
      const auto of_direction = [&](auto rows) {
        common::with_functions(d, [&](auto of) { run_rows<of()>(call, d, n, rows); });
      };
      if constexpr (spec.batch().is_known() && spec.batch().value() <= most_rows)
        of_direction(constant<spec.batch().value()>{});
      else of_direction(std::min(most_rows, batch(call) - n));
    }
  }

 private:
  // What the input adds to the sums of rows_beside later steps, an iteration every beside_period of the recurrent
  // product's, so that it is done when the first of these steps comes. On a Zen 4 weights come at 25 bytes a cycle
  // from the second and the third cache, 0.4 of what the multiply-adds of one row could take: about half of the input's
  // product costs no time.
  static constexpr index_t input_stride = []() -> index_t {
    if constexpr (overlaps) return spec.row_stride().value();
    else return 0;
  }();
  using later_inputs = product_beside<rows_beside, overlaps ? access::choice.parameters[0] : 1, wide, input_stride>;
  static constexpr index_t beside_panels = columns / (recurrent_spec::vectors_beside * float_lanes);
  static constexpr int beside_period = [] {
    if (!overlaps) return 0;
    const index_t panels = first_sums::panels::count() + (resets_states ? last_sums::panels::count() : 0);
    int period = 8;
    while (period > 1 && period * beside_panels * wide > rows_beside * panels * hidden) period /= 2;
    return period;
  }();
  // Those of the steps from `step` on, if there are any.
  static void begin_inputs(const kernel_call& call, index_t d, index_t step, float* sums, later_inputs& later) {
    if (step >= steps(call)) return;
    const index_t row = anchor.is_backwards(d) ? steps(call) - step - rows_beside : step;
    const index_t kept = (step - first_inputs(steps(call))) % (2 * rows_beside);
    later.begin(input_row(call, row), weights(call, d), weights(call, d) + of_last, sums + kept * sum_stride,
                sum_stride, beside_panels);
  }

  // Rows n to n + rows of direction d.
  template <std::size_t D, class Rows> static void run_rows(const kernel_call& call, index_t d, index_t n, Rows rows) {
    using f = typename common::template functions<D>;
    const index_t all_rows = batch(call), length = steps(call);
    const bool backwards = anchor.is_backwards(d);
    const float* const packed = weights(call, d);
    float* const inputs = reinterpret_cast<float*>(call.scratch) + sums_at() + d * kept_rows(call) * sum_stride;
    float* state = reinterpret_cast<float*>(call.scratch) + states_at(call) + (d * all_rows + n) * row_floats;
    float* next = state + rows * padded;
    float *const kept = next + rows * padded, *const reset = kept + rows * padded;  // an LSTM's cells, a GRU's gates
    common::template begin_with<input_state>(call, d, n, rows, state);
    if constexpr (gates == 4) common::template begin_with<input_cell>(call, d, n, rows, kept);
    std::array<index_t, spec.has(input_lengths) ? most_rows : 1> lengths{length};
    if constexpr (spec.has(input_lengths))
      for (index_t row = 0; row < rows; ++row)
        lengths[static_cast<std::size_t>(row)] = common::template length_of<input_lengths>(call, n + row);
    const auto length_of = [&](index_t row) {
      return lengths[static_cast<std::size_t>(spec.has(input_lengths) ? row : 0)];
    };

    [[maybe_unused]] later_inputs later;
    [[maybe_unused]] index_t ready = overlaps ? first_inputs(length) : length;  // steps that have their inputs
    if constexpr (overlaps) begin_inputs(call, d, ready, inputs, later);
    for (index_t s = 0; s < length; ++s) {
      const bool from_last = s % 2 == 1;
      const auto step_of = [&](index_t row) { return backwards && s < length_of(row) ? length_of(row) - 1 - s : s; };
      const float* const kept_inputs = inputs + (overlaps ? kept_row(call, d, s) * sum_stride : 0);
      const auto input = [&](index_t row, index_t block, index_t gate) {
        const float* of_row = kept_inputs;
        if constexpr (!overlaps) of_row += (step_of(row) * all_rows + n + row) * sum_stride;
        return float_vec::load(of_row + place_of(block, gate));
      };
      const auto at = [&](index_t row, index_t block) { return row * padded + block * float_lanes; };
      // The next state of a block; rows that have ended keep theirs.
      const auto finish = [&](index_t row, index_t block, float_vec x) __attribute__((always_inline)) {
        const bool goes_on = !spec.has(input_lengths) || s < length_of(row);
        (goes_on ? x : float_vec::load(state + at(row, block))).store(next + at(row, block));
        if constexpr (anchor.has_steps())
          store(call, output_coordinates(step_of(row), d, n + row, 0), block, goes_on ? x : float_vec(0.0f));
      };
      const auto first_start = [&](index_t row, index_t block, index_t gate) __attribute__((always_inline)) {
        if (resets_sums && gate == 2) return float_vec::load(packed + of_bias + block * float_lanes);
        return input(row, block, gate);
      };
      const auto first_finish = [&](index_t row, index_t block, const auto& sum) __attribute__((always_inline)) {
        if constexpr (gates == 1) {
          finish(row, block, cell::next(f{}, sum[0]));
        } else if constexpr (gates == 4) {
          float_vec c = float_vec::load(kept + at(row, block));
          const auto peephole = [&](index_t gate) {
            if constexpr (spec.has(input_peepholes))
              return float_vec::load(packed + of_reset_bias + gate * padded + block * float_lanes);
            else return float_vec(0.0f);
          };
          const float_vec x = cell::next(f{}, anchor.input_forget, sum, peephole, c);
          if (!spec.has(input_lengths) || s < length_of(row)) c.store(kept + at(row, block));
          finish(row, block, x);
        } else if constexpr (resets_sums) {
          const float_vec update = f::template gate<0>(sum[0]), resets = f::template gate<0>(sum[1]);
          finish(
              row, block,
              cell::next(f{}, update, input(row, block, 2) + resets * sum[2], float_vec::load(state + at(row, block))));
        } else {
          f::template gate<0>(sum[0]).store(kept + at(row, block));
          (f::template gate<0>(sum[1]) * float_vec::load(state + at(row, block))).store(reset + at(row, block));
        }
      };
      first_sums::template run<beside_period>(state, padded, rows, packed + of_input, from_last, first_start,
                                              first_finish, later);
      if constexpr (resets_states) {
        const auto start = [&](index_t row, index_t block, index_t) { return input(row, block, 2); };
        const auto last_finish = [&](index_t row, index_t block, const auto& sum) __attribute__((always_inline)) {
          finish(
              row, block,
              cell::next(f{}, float_vec::load(kept + at(row, block)), sum[0], float_vec::load(state + at(row, block))));
        };
        last_sums::template run<beside_period>(reset, padded, rows, packed + of_first, from_last, start, last_finish,
                                               later);
      }
      std::swap(state, next);
      if constexpr (overlaps)
        if (s + 1 == ready) {
          later.complete();
          ready += rows_beside;
          begin_inputs(call, d, ready, inputs, later);
        }
    }

    for (index_t row = 0; row < rows; ++row)
      common::store_last(call, d, n + row, length_of(row), state + row * padded, kept + row * padded);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
