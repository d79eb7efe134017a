// SPDX-License-Identifier: MIT
// What the kernels of recurrent layers have in common: sizes, coordinates, functions known to the compiler, initial
// values and outputs. Sums of gates lie block by block of units, a vector each, and gate by gate within a block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/recurrent_spec.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/cpu/micro/pack.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

template <class Net, std::size_t R, class Spec> struct recurrent_kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr auto anchor = plain_layer(anchor_of<Net, R>::value);
  using cell = typename std::remove_cv_t<decltype(anchor)>::cell_type;
  static constexpr Spec spec{kernel_spec(Net::plan, R)};
  static constexpr bool packed_once = access::choice.operands[1] == operand_reading::packed_once;

  // --- sizes
  static constexpr index_t directions = spec.directions(), gates = spec.gates(), wide = spec.wide(),
                           hidden = spec.units(), blocks = ceil_div(hidden, float_lanes), padded = blocks * float_lanes,
                           columns = gates * padded;
  static constexpr index_t place_of(index_t block, index_t gate) { return (block * gates + gate) * float_lanes; }
  // The gate and the unit of a column of sums, which may lie behind the last unit.
  static constexpr index_t gate_of(index_t column) { return column / float_lanes % gates; }
  static constexpr index_t unit_of(index_t column) {
    return column / (gates * float_lanes) * float_lanes + column % float_lanes;
  }

  static index_t steps(const kernel_call& call) { return access::bound(spec.steps(), call); }
  static index_t batch(const kernel_call& call) { return access::bound(spec.batch(), call); }
  static coordinates step_coordinates(index_t t, index_t n) {
    coordinates c{};
    c[spec.step_axis()] = t;
    c[spec.batch_axis()] = n;
    return c;
  }
  static coordinates row_coordinates(const kernel_call& call, index_t row) {
    return step_coordinates(row / batch(call), row % batch(call));
  }
  // Of a unit of direction d and row n: in an initial value, and in an output without steps.
  static coordinates state_coordinates(index_t d, index_t n, index_t unit) {
    if constexpr (anchor.layout == 0) return {d, n, unit};
    else return {n, d, unit};
  }
  static coordinates output_coordinates(index_t t, index_t d, index_t n, index_t unit) {
    if constexpr (anchor.layout == 0) return {t, d, n, unit};
    else return {n, t, d, unit};
  }

  template <std::size_t I> static auto element_of(const kernel_call& call, const coordinates& c) {
    return values::template evaluate<access::anchor_input(I), 1, 0>(call, c, constant<1>{}, 0);
  }
  // What input I says of the length of row n.
  template <std::size_t I> static index_t length_of(const kernel_call& call, index_t n) {
    return within(anchor_context<Net, R>{call}, static_cast<index_t>(element_of<I>(call, coordinates{n})), 0,
                  steps(call), "sequence length");
  }

 protected:
  // The functions of direction D, their kinds known to the compiler.
  template <std::size_t D> struct functions {
    static constexpr dnnkit::detail::recurrent_functions all = anchor.functions(D);
    template <std::size_t Use, class T> [[gnu::always_inline]] static T plain(T x) {
      return all.of[Use].template apply<all.of[Use].kind>(x);
    }
    template <std::size_t Use, class T> [[gnu::always_inline]] static T gate(T sum) {
      return plain<Use>(all.clipped(sum));
    }
  };
  // f(constant<D>), D being the first direction with the functions of direction d.
  static void with_functions(index_t d, auto&& f) {
    constexpr std::size_t other = anchor.functions(0) == anchor.functions(directions - 1) ? 0 : 1;
    if (other == 0 || d == 0) f(constant<0>{});
    else f(constant<other>{});
  }

  // The initial value of input I, in vectors; 0 without it.
  template <std::size_t I>
  static void begin_with(const kernel_call& call, index_t d, index_t n, index_t rows, float* to) {
    for (index_t row = 0; row < rows; ++row, to += padded) {
      if constexpr (!spec.has(I)) {
        std::fill(to, to + padded, 0.0f);
      } else {
        coordinates c = state_coordinates(d, n + row, 0);
        for_lanes<float_lanes, 2>(c, hidden, [&](auto valid) {
          values::template evaluate<access::anchor_input(I), float_lanes, 2>(call, c, valid, 0).store(to + c[2]);
        });
      }
    }
  }
  static void store(const kernel_call& call, coordinates c, index_t block, float_vec x) {
    c[access::rank - 1] = block * float_lanes;
    with_lanes<hidden % float_lanes == 0>(hidden - block * float_lanes, [&](auto valid) {
      values::template finish<float_lanes, access::rank - 1>(call, c, valid, x);
    });
  }
  // Row n's last state, and of an LSTM the last cell, as far as they are put out; 0 of a row without steps.
  static void store_last(const kernel_call& call, index_t d, index_t n, index_t length, const float* state,
                         const float* kept) {
    for (index_t output = 1; output < cell::outputs; ++output) {
      if (anchor.output != output && anchor.output != -1) continue;
      const float* const last = output == 1 ? state : kept;
      for (index_t block = 0; block < blocks; ++block)
        store(call,
              anchor.has_steps() ? output_coordinates(steps(call) + output - 1, d, n, 0) : state_coordinates(d, n, 0),
              block, length == 0 ? float_vec(0.0f) : float_vec::load(last + block * float_lanes));
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
