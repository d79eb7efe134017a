// SPDX-License-Identifier: MIT
// The kernel of DynamicQuantizeLSTM (op/quantized_recurrent.hpp) in one direction or both: steps become bytes; what
// they add to the gates of all steps is one product (cpu/micro/byte_gemm.hpp); then step by step states become bytes,
// and gates, cells and next states are computed from the sums in registers (cpu/micro/byte_recurrent.hpp). Zero points
// are made up for as in byte_matrix_product.hpp. Weights are packed once where they are the same in every run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/cpu/families/byte_recurrent_spec.hpp"
#include "dnnkit/cpu/families/recurrent_kernel.hpp"
#include "dnnkit/cpu/micro/byte_recurrent.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct byte_recurrent_steps {
  static constexpr std::string_view name = "byte_recurrent_steps";
  static constexpr bool carries_out(const operator_tag& anchor) {
    return anchor.id == id_of<op::dynamic_quantize_lstm>;
  }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const byte_recurrent_spec spec(recipe);
    if (const std::string_view why = spec.unfit(); !why.empty()) return no_match{why};
    const bool once = spec.is_packed_once();
    const operand_reading weights = once ? operand_reading::packed_once : operand_reading::packed_each_run;
    kernel_choice c;
    c.operands = {operand_reading::staged, weights, weights};
    c.tile.along = static_cast<std::int8_t>(spec.rank() - 1);
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    c.tile.vectors = static_cast<std::uint8_t>(recurrent_vectors);
    c.parameters = {spec.widest(facts)};
    c.cost = spec.cost(facts);
    c.reason = once ? "what the input adds to all steps is one product of bytes; weights are packed once"
                    : "what the input adds to all steps is one product of bytes; weights, which the run computes, are "
                      "packed in each";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;
};

template <class Net, std::size_t R>
struct byte_recurrent_steps::kernel : recurrent_kernel<Net, R, byte_recurrent_spec> {
  using common = recurrent_kernel<Net, R, byte_recurrent_spec>;
  using access = typename common::access;
  using values = typename common::values;
  using cell = typename common::cell;
  using byte_scale = dnnkit::detail::byte_scale;
  using common::anchor, common::spec, common::packed_once, common::directions, common::gates, common::hidden,
      common::blocks, common::padded, common::columns, common::place_of, common::gate_of, common::unit_of,
      common::steps, common::batch, common::row_coordinates, common::output_coordinates, common::store;
  static constexpr index_t wide = common::wide;  // not wide of micro/wide.hpp
  using in = byte_recurrent_spec;
  static constexpr bool has_lengths = spec.has(in::of_lengths), has_peepholes = spec.has(in::of_peepholes);

  // --- weights of one direction: panels for the input, panels for the states, of each column the numbers below,
  // peepholes, and whether any zero point of W, and of R, is not 0
  template <class M>
  using input_product = byte_gemm<byte_sign::is_unsigned, M, constant<columns>, constant<wide>, constant<wide>,
                                  access::choice.parameters[0]>;
  using state_sums = byte_gate_sums<hidden, static_cast<int>(gates)>;

  // What the zero point of the other factor is taken times, sum W - n w, and w; the same of R; scales; the sum of both
  // biases.
  enum of_column : index_t {
    by_input_zero,
    input_weight_zero,
    by_state_zero,
    state_weight_zero,
    input_scale,
    state_scale,
    both_biases,
    column_numbers
  };
  static constexpr index_t whole_lines(index_t bytes) { return ceil_div(bytes, 64) * 64; }
  static constexpr index_t of_states = whole_lines(input_product<constant<1>>{}.packed_size() *
                                                   static_cast<index_t>(sizeof(packed_byte))),
                           of_columns = of_states + whole_lines(state_sums::packed_size() *
                                                                static_cast<index_t>(sizeof(packed_byte))),
                           of_peepholes = of_columns + column_numbers * columns * 4,
                           of_any = of_peepholes + (has_peepholes ? 3 * padded * 4 : 0),
                           weight_bytes = whole_lines(of_any + 2 * 4);
  struct direction_weights {
    std::byte* at;
    packed_byte* input() const { return reinterpret_cast<packed_byte*>(at); }
    packed_byte* states() const { return reinterpret_cast<packed_byte*>(at + of_states); }
    std::int32_t* integers(of_column what) const {
      return reinterpret_cast<std::int32_t*>(at + of_columns) + what * columns;
    }
    float* reals(of_column what) const { return reinterpret_cast<float*>(at + of_columns) + what * columns; }
    float* peepholes() const { return reinterpret_cast<float*>(at + of_peepholes); }
    std::int32_t* any() const { return reinterpret_cast<std::int32_t*>(at + of_any); }
  };

  // Kernels take weights (input I) for signed bytes; zero points move with them.
  template <std::size_t I> static constexpr std::int32_t moved = spec.type_of(spec.input(I)) == dtype::i8 ? 0 : 128;

  // A weight of k and column, as kernels take it; added to what the other factor's zero point is taken times.
  template <std::size_t I>
  static std::int32_t weight(const kernel_call& call, index_t d, index_t k, index_t column, std::int32_t* by_zero) {
    if (unit_of(column) >= hidden) return 0;
    const coordinates at{d, k, gate_of(column) * hidden + unit_of(column)};
    const std::int32_t x = static_cast<std::int32_t>(common::template element_of<I>(call, at)) - moved<I>;
    by_zero[column] += x;
    return x;
  }
  // The scale and the zero point (the inputs 2 I + 1 and 2 I + 2) of the weights of a column, of which there are
  // `count`. Whether that is not 0.
  template <std::size_t I>
  static bool pack_parameters(const kernel_call& call, index_t d, index_t column, index_t count, float* scale,
                              std::int32_t* zero, std::int32_t* by_zero) {
    constexpr std::size_t scales = 2 * I + 1, zeros = scales + 1;
    const index_t stored = gate_of(column) * hidden + unit_of(column);
    const auto at = [&](std::size_t rank) { return rank == 2 ? coordinates{d, stored} : coordinates{d}; };
    scale[column] = common::template element_of<scales>(call, at(spec.rank_of(scales)));
    zero[column] =
        static_cast<std::int32_t>(common::template element_of<zeros>(call, at(spec.rank_of(zeros)))) - moved<I>;
    by_zero[column] -= static_cast<std::int32_t>(count) * zero[column];
    return zero[column] != 0;
  }
  static void pack_direction(const kernel_call& call, index_t d, std::byte* out) {
    const direction_weights w{out};
    std::fill(w.integers(by_input_zero), w.integers(column_numbers), 0);  // of reals, too
    std::fill(w.any(), w.any() + 2, 0);
    input_product<constant<1>>{}.pack(
        [&](index_t k, index_t column) { return weight<in::of_weight>(call, d, k, column, w.integers(by_input_zero)); },
        w.input());
    state_sums::pack(
        [&](index_t gate, index_t unit, index_t k) {
          const index_t column = place_of(unit / float_lanes, gate) + unit % float_lanes;
          return weight<in::of_recurrence>(call, d, k, column, w.integers(by_state_zero));
        },
        w.states());
    for (index_t column = 0; column < columns; ++column) {
      const index_t gate = gate_of(column), unit = unit_of(column);
      if (unit >= hidden) continue;
      if (pack_parameters<in::of_weight>(call, d, column, wide, w.reals(input_scale), w.integers(input_weight_zero),
                                         w.integers(by_input_zero)))
        w.any()[0] = 1;
      if (pack_parameters<in::of_recurrence>(call, d, column, hidden, w.reals(state_scale),
                                             w.integers(state_weight_zero), w.integers(by_state_zero)))
        w.any()[1] = 1;
      if constexpr (spec.has(in::of_bias)) {
        const auto bias = [&](index_t half) {
          return common::template element_of<in::of_bias>(call, {d, (half * gates + gate) * hidden + unit});
        };
        w.reals(both_biases)[column] = bias(0) + bias(1);
      }
    }
    if constexpr (has_peepholes)
      for (index_t i = 0; i < 3 * padded; ++i)
        w.peepholes()[i] = i % padded < hidden ? common::template element_of<in::of_peepholes>(
                                                     call, {d, i / padded * hidden + i % padded})
                                               : 0.0f;
  }

  static void pack(const kernel_call& call) noexcept requires(packed_once) {
    for (index_t d = 0; d < directions; ++d) pack_direction(call, d, call.packed + d * weight_bytes);
  }
  static constexpr std::int64_t packed_bytes = packed_once ? directions * weight_bytes : 0;
  // Inputs 1 to 7; the bits of a kernel end there, so that peepholes are kept where they are, too.
  static constexpr std::uint32_t packed_inputs = packed_once ? 0b11111110 : 0;

  // --- scratch: weights that are packed in each run; what holds for all of it; lengths; of each row of steps the sum
  // of its bytes, the bytes, reals if they are computed, and in each direction what it adds to all sums; of each
  // direction's rows of the batch states, cells, sums of bytes, and bytes
  struct of_run {
    byte_scale input;
    index_t longest;
  };
  static constexpr bool keeps_reals = spec.input(in::of_steps).from != source::load;
  static constexpr index_t staged_row = ceil_div(wide, float_lanes) * float_lanes;
  struct places {
    index_t run, lengths, row_sums, bytes, reals, sums, states, each, all;
    explicit places(const kernel_call& call) {
      const index_t n = batch(call), rows = steps(call) * n;
      run = packed_once ? 0 : directions * weight_bytes;
      lengths = run + whole_lines(sizeof(of_run));
      row_sums = lengths + (has_lengths ? whole_lines(n * 8) : 0);
      bytes = row_sums + whole_lines(rows * 4);
      reals = bytes + whole_lines(rows * wide + most_behind);
      sums = reals + (keeps_reals ? whole_lines(rows * staged_row * 4) : 0);
      states = sums + whole_lines(directions * rows * columns * 4);
      each = whole_lines(n * (2 * padded * 4 + 4 + padded));
      all = states + directions * each;
    }
  };
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept { return places(call).all; }
  template <class T> static T* scratch(const kernel_call& call, index_t at) {
    return reinterpret_cast<T*>(call.scratch + at);
  }
  static index_t length_of(const kernel_call& call, const places& at, index_t n) {
    if constexpr (has_lengths) return scratch<index_t>(call, at.lengths)[n];
    else return steps(call);
  }

  // The first `lanes` lanes; the others become 0.
  [[gnu::always_inline]] static float_vec first_lanes(float_vec x, index_t lanes) {
    return select(int_vec::iota() < int_vec(static_cast<std::int32_t>(lanes)), x, float_vec(0.0f));
  }
  [[gnu::always_inline]] static float_vec without_padding(float_vec x, index_t block) {
    if constexpr (hidden % float_lanes == 0) return x;
    else return block + 1 < blocks ? x : first_lanes(x, hidden % float_lanes);
  }
  struct range {
    float_vec low = float_vec(0.0f), high = float_vec(0.0f);
    [[gnu::always_inline]] void include(float_vec x) {
      low = min(low, x);
      high = max(high, x);
    }
    byte_scale scale() const { return byte_scale::over(reduce_min(low), reduce_max(high)); }
  };
  // Lanes as bytes; what is no number becomes 0.
  [[gnu::always_inline]] static int_vec as_bytes(float_vec x, const byte_scale& of) {
    const float_vec y = nearbyint(x / float_vec(of.scale)) + float_vec(of.zero);
    return convert<std::int32_t>(min(max(float_vec(0.0f), y), float_vec(255.0f)));
  }

  // --- first phase: a unit packs the weights of a direction if they are computed; the last one rounds the steps
  static index_t prepare_units(const kernel_call&) noexcept { return (packed_once ? 0 : directions) + 1; }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept {
    for (index_t u = first; u < last; ++u)
      if (u + 1 < prepare_units(call)) pack_direction(call, u, call.scratch + u * weight_bytes);
      else round_steps(call);
  }
  static void round_steps(const kernel_call& call) {
    const places at(call);
    const index_t all = batch(call);
    index_t longest = steps(call);
    if constexpr (has_lengths) {
      longest = 0;
      for (index_t n = 0; n < all; ++n) {
        const index_t length = common::template length_of<in::of_lengths>(call, n);
        scratch<index_t>(call, at.lengths)[n] = length;
        longest = std::max(longest, length);
      }
    }
    const auto value = [&](const coordinates& c, auto lanes) __attribute__((always_inline)) {
      const float_vec x =
          values::template evaluate<access::anchor_input(in::of_steps), float_lanes, 2>(call, c, lanes, 0);
      if constexpr (is_constant<decltype(lanes)>) return x;
      else return first_lanes(x, lanes);
    };
    range seen;
    for (index_t row = 0; row < longest * all; ++row) {
      coordinates c = row_coordinates(call, row);
      for_lanes<float_lanes, 2>(c, wide, [&](auto lanes) {
        const float_vec x = value(c, lanes);
        seen.include(x);
        if constexpr (keeps_reals) x.store(scratch<float>(call, at.reals) + row * staged_row + c[2]);
      });
    }
    const byte_scale of = seen.scale();
    *scratch<of_run>(call, at.run) = {of, longest};
    for (index_t row = 0; row < longest * all; ++row) {
      coordinates c = row_coordinates(call, row);
      std::uint8_t* const to = scratch<std::uint8_t>(call, at.bytes) + row * wide;
      int_vec sum(0);
      for_lanes<float_lanes, 2>(c, wide, [&](auto lanes) {
        const float_vec x = [&] {
          if constexpr (keeps_reals) return float_vec::load(scratch<float>(call, at.reals) + row * staged_row + c[2]);
          else return value(c, lanes);
        }();
        const int_vec bytes = as_bytes(x, of);
        if constexpr (is_constant<decltype(lanes)>) {
          sum += bytes;
          store_as(bytes, to + c[2]);
        } else {
          sum += select(int_vec::iota() < int_vec(static_cast<std::int32_t>(lanes)), bytes, int_vec(0));
          store_as(bytes, to + c[2], lanes);
        }
      });
      scratch<std::int32_t>(call, at.row_sums)[row] = reduce_add(sum);
    }
  }

  // --- second phase: a unit is a direction, as all rows of the batch become bytes together
  static index_t units(const kernel_call&) noexcept { return directions; }
  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    for (index_t d = first; d < last; ++d) {
      const places at(call);
      const direction_weights w{(packed_once ? call.packed : call.scratch) + d * weight_bytes};
      const index_t longest = scratch<of_run>(call, at.run)->longest;
      add_input(call, d, at, w, known_rows(call, longest));
      common::with_functions(d, [&](auto of) { run_direction<of()>(call, d, at, w, longest, known_batch(call)); });
    }
  }

 private:
  // Rows of steps, and of the batch, as constants where they are few.
  static constexpr index_t most_known = 64;
  static auto known_batch(const kernel_call& call) {
    if constexpr (spec.batch().is_known() && spec.batch().value() <= most_known)
      return constant<spec.batch().value()>{};
    else return batch(call);
  }
  static auto known_rows(const kernel_call& call, index_t longest) {
    if constexpr (!has_lengths && spec.steps().is_known() && spec.batch().is_known() &&
                  spec.steps().value() * spec.batch().value() <= most_known)
      return constant<spec.steps().value() * spec.batch().value()>{};
    else return longest * batch(call);
  }

  static float* input_sums(const kernel_call& call, index_t d, const places& at) {
    return scratch<float>(call, at.sums) + d * steps(call) * batch(call) * columns;
  }
  // What the first `rows` rows of steps add to the sums of direction d, biases included.
  template <class Rows>
  static void add_input(const kernel_call& call, index_t d, const places& at, const direction_weights& w, Rows rows) {
    const byte_scale of = scratch<of_run>(call, at.run)->input;
    const std::int32_t* const row_sums = scratch<std::int32_t>(call, at.row_sums);
    const bool sums_rows = w.any()[0] != 0;
    const int_vec zero(static_cast<std::int32_t>(of.zero));
    const float_vec scale(of.scale);
    float* const sums = input_sums(call, d, at);
    const auto start = [&](index_t row, index_t column) __attribute__((always_inline)) {
      int_vec sum = -(zero * int_vec::load(w.integers(by_input_zero) + column));
      if (sums_rows) sum -= int_vec::load(w.integers(input_weight_zero) + column) * int_vec(row_sums[row]);
      return sum;
    };
    const auto finish = [&](int_vec sum, index_t row, index_t column, auto) __attribute__((always_inline)) {
      fma(convert<float>(sum), float_vec::load(w.reals(input_scale) + column) * scale,
          float_vec::load(w.reals(both_biases) + column))
          .store(sums + row * columns + column);
    };
    const input_product<Rows> product{rows, {}, {}, {}};
    product.run(scratch<std::uint8_t>(call, at.bytes), w.input(), 0, product.units(), start, finish);
  }

  // The states of rows that step `s` counts, as bytes, and their sums.
  template <class Rows>
  static byte_scale round_states(const kernel_call& call, const places& at, index_t s, Rows rows, const float* states,
                                 std::uint8_t* bytes, std::int32_t* sums) {
    range seen;
    const auto counts = [&](index_t row) { return !has_lengths || s <= length_of(call, at, row); };
    for (index_t row = 0; row < rows; ++row)
      if (counts(row))
        for (index_t j = 0; j < padded; j += float_lanes) seen.include(float_vec::load(states + row * padded + j));
    const byte_scale of = seen.scale();
    for (index_t row = 0; row < rows; ++row) {
      if (!counts(row)) continue;
      int_vec sum(0);
      for (index_t j = 0; j < padded; j += float_lanes) {
        const int_vec x = as_bytes(float_vec::load(states + row * padded + j), of);
        sum += x;
        store_as(x, bytes + row * padded + j);
      }
      // what is no unit is 0, which the zero point stands for
      sums[row] = reduce_add(sum) - static_cast<std::int32_t>(of.zero) * static_cast<std::int32_t>(padded - hidden);
    }
    return of;
  }

  // Direction d, whose functions are those of direction D, step by step.
  template <std::size_t D, class Rows>
  static void run_direction(const kernel_call& call, index_t d, const places& at, const direction_weights& w,
                            index_t longest, Rows rows) {
    using f = typename common::template functions<D>;
    const bool backwards = anchor.is_backwards(d), sums_rows = w.any()[1] != 0;
    const float* const inputs = input_sums(call, d, at);
    float *const states = scratch<float>(call, at.states + d * at.each), *const cells = states + rows * padded;
    auto* const sums = reinterpret_cast<std::int32_t*>(cells + rows * padded);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(sums + rows);
    common::template begin_with<in::of_state>(call, d, 0, rows, states);
    common::template begin_with<in::of_cell>(call, d, 0, rows, cells);
    for (index_t row = 0; row < rows; ++row) {
      float* const last = states + row * padded + (blocks - 1) * float_lanes;
      without_padding(float_vec::load(last), blocks - 1).store(last);
    }
    std::fill(bytes, bytes + rows * padded, std::uint8_t{0});  // rows without steps keep theirs

    for (index_t s = 0; s < longest; ++s) {
      const byte_scale of = round_states(call, at, s, rows, states, bytes, sums);
      const int_vec zero(static_cast<std::int32_t>(of.zero));
      const float_vec scale(of.scale);
      const auto start = [&](index_t row, index_t block, index_t gate) __attribute__((always_inline)) {
        const index_t column = place_of(block, gate);
        int_vec sum = -(zero * int_vec::load(w.integers(by_state_zero) + column));
        if (sums_rows) sum -= int_vec::load(w.integers(state_weight_zero) + column) * int_vec(sums[row]);
        return sum;
      };
      const auto finish = [&](index_t row, index_t block, const auto& sum) __attribute__((always_inline)) {
        const index_t length = length_of(call, at, row);
        if (s >= length) return;
        const index_t t = backwards ? length - 1 - s : s, place = row * padded + block * float_lanes;
        std::array<float_vec, 4> gate;
        for (index_t g = 0; g < 4; ++g)
          gate[static_cast<std::size_t>(g)] =
              fma(convert<float>(sum[static_cast<std::size_t>(g)]),
                  float_vec::load(w.reals(state_scale) + place_of(block, g)) * scale,
                  float_vec::load(inputs + (t * rows + row) * columns + place_of(block, g)));
        const auto peephole = [&](index_t g) {
          if constexpr (has_peepholes) return float_vec::load(w.peepholes() + g * padded + block * float_lanes);
          else return float_vec(0.0f);
        };
        float_vec c = float_vec::load(cells + place);
        const float_vec x = without_padding(cell::next(f{}, anchor.input_forget, gate, peephole, c), block);
        c.store(cells + place);
        x.store(states + place);
        if constexpr (anchor.has_steps()) store(call, output_coordinates(t, d, row, 0), block, x);
      };
      state_sums::run(bytes, padded, rows, w.states(), s % 2 == 1, start, finish);
    }

    for (index_t row = 0; row < rows; ++row) {
      const index_t length = length_of(call, at, row);
      if constexpr (has_lengths && anchor.has_steps())
        for (index_t t = length; t < steps(call); ++t)
          for (index_t block = 0; block < blocks; ++block)
            store(call, output_coordinates(t, d, row, 0), block, float_vec(0.0f));
      common::store_last(call, d, row, length, states + row * padded, cells + row * padded);
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
