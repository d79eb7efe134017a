// SPDX-License-Identifier: MIT
// Recurrent layers: ONNX's RNN, GRU and LSTM, in one operator template; what a step computes is its cell.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/op/activation.hpp"
#include "dnnkit/op/threshold.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

enum class recurrent_direction : std::int64_t { forward, reverse, bidirectional };
// ONNX: Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus
enum class recurrent_activation : std::int64_t {
  rectified,
  tangent,
  logistic,
  affine,
  leaky,
  thresholded,
  scaled_tangent,
  hard_logistic,
  exponential,
  soft_sign,
  soft_plus
};
using activation_list = static_vector<recurrent_activation, 6>;

namespace detail {

// A function that a layer's gates or states pass through; T is a number or a vector of numbers.
struct recurrent_function {
  recurrent_activation kind{};
  float alpha = 0, beta = 0;

  template <class T> T operator()(T x) const {
    using enum recurrent_activation;
    switch (kind) {
      case rectified:
        return apply<rectified>(x);
      case tangent:
        return apply<tangent>(x);
      case affine:
        return apply<affine>(x);
      case leaky:
        return apply<leaky>(x);
      case thresholded:
        return apply<thresholded>(x);
      case scaled_tangent:
        return apply<scaled_tangent>(x);
      case hard_logistic:
        return apply<hard_logistic>(x);
      case exponential:
        return apply<exponential>(x);
      case soft_sign:
        return apply<soft_sign>(x);
      case soft_plus:
        return apply<soft_plus>(x);
      default:
        return apply<logistic>(x);
    }
  }
  // The same where the kind is known to the compiler.
  // @pre Kind == kind
  template <recurrent_activation Kind, class T> T apply(T x) const {
    using enum recurrent_activation;
    using std::tanh;
    if constexpr (Kind == rectified) return op::relu::apply(x);
    else if constexpr (Kind == tangent) return tanh(x);
    else if constexpr (Kind == affine) return T(alpha) * x + T(beta);
    else if constexpr (Kind == leaky) return op::leaky_relu{alpha}.apply(x);
    else if constexpr (Kind == thresholded) return op::thresholded_relu{alpha}.apply(x);
    else if constexpr (Kind == scaled_tangent) return T(alpha) * tanh(T(beta) * x);
    else if constexpr (Kind == hard_logistic) return op::hard_sigmoid{alpha, beta}.apply(x);
    else if constexpr (Kind == exponential) return op::elu{alpha}.apply(x);
    else if constexpr (Kind == soft_sign) return op::softsign::apply(x);
    else if constexpr (Kind == soft_plus) return op::softplus::apply(x);
    else return op::sigmoid::apply(x);
  }
  // ONNX's defaults; whether the function has the parameters at all.
  static constexpr std::array<float, 2> defaults(recurrent_activation kind) {
    switch (kind) {
      case recurrent_activation::affine:
        return {1, 0};
      case recurrent_activation::leaky:
        return {0.01f, 0};
      case recurrent_activation::scaled_tangent:
        return {1, 1};
      case recurrent_activation::hard_logistic:
        return {0.2f, 0.5f};
      default:
        return {1, 0};
    }
  }
  static constexpr bool has_alpha(recurrent_activation k) {
    return k != recurrent_activation::rectified && k != recurrent_activation::tangent &&
           k != recurrent_activation::logistic && k != recurrent_activation::soft_sign &&
           k != recurrent_activation::soft_plus;
  }
  static constexpr bool has_beta(recurrent_activation k) {
    return k == recurrent_activation::affine || k == recurrent_activation::scaled_tangent ||
           k == recurrent_activation::hard_logistic;
  }

  friend constexpr bool operator==(const recurrent_function&, const recurrent_function&) = default;
};

// The attributes of a recurrent layer, for its `attributes`.
constexpr void visit_recurrent_attributes(auto& layer, auto&& visit) {
  visit("hidden_size", layer.hidden_size);
  visit("direction", layer.direction);
  visit("activations", layer.activations);
  visit("activation_alpha", layer.activation_alpha);
  visit("activation_beta", layer.activation_beta);
  visit("clip", layer.clip);
  visit("input_forget", layer.input_forget);
  if constexpr (requires { layer.linear_before_reset; }) visit("linear_before_reset", layer.linear_before_reset);
  visit("layout", layer.layout);
  visit("output", layer.output);  // the last one (pass/join_recurrent_outputs.hpp)
}

// What one direction of a layer does to its sums: its functions, and the bounds that gates are kept in before them.
struct recurrent_functions {
  std::array<recurrent_function, 3> of{};
  float clip = 0;  // 0: no bounds

  // Function number Use of a sum, clipped.
  template <std::size_t Use, class T> T gate(T sum) const { return of[Use](clipped(sum)); }
  template <std::size_t Use, class T> T plain(T x) const { return of[Use](x); }

  template <class T> T clipped(T v) const {
    using std::abs;
    if (clip <= 0) return v;
    return select(abs(v) <= T(clip), v, select(v < T(0), T(-clip), T(clip)));
  }

  friend constexpr bool operator==(const recurrent_functions&, const recurrent_functions&) = default;
};

// Cells: what becomes of the sums of a unit's gates in one step. A sum is what the input, the state and the biases add
// to a gate; `f` is recurrent_functions, or has its members; T is a number or a vector of numbers.
struct rnn_cell {
  static constexpr std::string_view name = "RNN", operands = "x, weight, recurrence, bias, lengths, initial_h";
  static constexpr std::int64_t gates = 1, functions = 1, outputs = 2, inputs = 6;
  static constexpr std::array<recurrent_activation, 3> defaults{recurrent_activation::tangent};

  template <class T> static T next(const auto& f, T sum) { return f.template gate<0>(sum); }
};
struct gru_cell {  // gates: update, reset, hidden
  static constexpr std::string_view name = "GRU", operands = rnn_cell::operands;
  static constexpr std::int64_t gates = 3, functions = 2, outputs = 2, inputs = 6;
  static constexpr std::array<recurrent_activation, 3> defaults{recurrent_activation::logistic,
                                                                recurrent_activation::tangent};

  template <class T> static T next(const auto& f, T update, T hidden, T state) {
    return (T(1) - update) * f.template gate<1>(hidden) + update * state;
  }
};
struct lstm_cell {  // gates: input, output, forget, cell
  static constexpr std::string_view name = "LSTM",
                                    operands = "x, weight, recurrence, bias, lengths, initial_h, initial_c, peepholes";
  static constexpr std::int64_t gates = 4, functions = 3, outputs = 3, inputs = 8;
  static constexpr std::array<recurrent_activation, 3> defaults{
      recurrent_activation::logistic, recurrent_activation::tangent, recurrent_activation::tangent};

  // The next state; `cell` becomes the next cell. peephole(g): the weight with which gate g (0 to 2) sees the cell.
  template <class T>
  static T next(const auto& f, bool input_forget, const std::array<T, 4>& sum, const auto& peephole, T& cell) {
    const T in = f.template gate<0>(sum[0] + peephole(0) * cell);
    const T forget = input_forget ? T(1) - in : f.template gate<0>(sum[2] + peephole(2) * cell);
    cell = forget * cell + in * f.template gate<1>(sum[3]);
    return f.template gate<0>(sum[1] + peephole(1) * cell) * f.template plain<2>(cell);
  }
};

template <std::size_t N> constexpr std::array<element, N> recurrent_inputs() {
  std::array<element, N> kinds{};
  kinds[4] = element::index;
  return kinds;
}

}  // namespace detail

namespace op {

// X [steps, batch, n], W [D, G H, n], R [D, G H, H], and optionally B [D, 2 G H], lengths [batch], initial state
// [D, batch, H]; LSTM: also the initial cells [D, batch, H] and the peepholes [D, 3 H]. D directions, G gates, H units.
// output: 0 all states [steps, D, batch, H], 1 the last ones [D, batch, H], 2 (LSTM) the last cells [D, batch, H];
// -1 all of these, one behind the other, as further steps [steps + 1 or 2, D, batch, H].
// layout 1: X is [batch, steps, n], the output [batch, steps, D, H] or [batch, D, H], initial values [batch, D, H].
// activations: those of one direction after the other; clip: gates are kept in [-clip, clip] before them, 0 not at all.
template <class Cell> struct recurrent {
  std::int64_t hidden_size = 0;
  recurrent_direction direction = recurrent_direction::forward;
  activation_list activations = {};
  float_list activation_alpha = {}, activation_beta = {};
  float clip = 0;
  bool input_forget = false, linear_before_reset = false;
  std::int64_t layout = 0, output = 0;

  using cell_type = Cell;
  static constexpr std::string_view name = Cell::name, operands = Cell::operands;
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = Cell::inputs, optional_inputs = Cell::inputs - 3;
  static constexpr std::array<element, inputs> elements = detail::recurrent_inputs<inputs>();
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) { detail::visit_recurrent_attributes(self, visit); }

  constexpr std::int64_t directions() const { return direction == recurrent_direction::bidirectional ? 2 : 1; }
  constexpr bool is_backwards(std::int64_t d) const { return direction == recurrent_direction::reverse || d == 1; }
  // Has the output an axis of steps?
  constexpr bool has_steps() const { return output <= 0; }
  // What direction d does to its sums.
  constexpr detail::recurrent_functions functions(std::int64_t d) const {
    detail::recurrent_functions f{.clip = clip};
    for (std::int64_t use = 0; use < Cell::functions; ++use)
      f.of[static_cast<std::size_t>(use)] = function(d * Cell::functions + use);
    return f;
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 3, 3) || !c.require_rank(1, 3, 3) || !c.require_rank(2, 3, 3)) return;
    const dim units = c.in(2)[2];
    if (!c.require(hidden_size == 0 || units == dim(hidden_size), "hidden_size is not that of the weights") ||
        !c.require(output >= -1 && output < Cell::outputs, "there is no such output") ||
        !c.require(
            activations.empty() || static_cast<std::int64_t>(activations.size()) == directions() * Cell::functions,
            "activations must name one function for each use in each direction"))
      return;
    const dim gates = c.number(units) * Cell::gates;
    for (std::size_t i = 1; i <= 2; ++i)
      if (!c.require_equal(c.in(i)[0], "the first extent of a weight", directions(), "the number of directions") ||
          !c.require_equal(c.in(i)[1], "the second extent of a weight", gates, "gates times units"))
        return;
    if (c.require_equal(c.in(1)[2], "the last extent of W", c.in(0)[2], "that of X")) infer_behind_weights(c, units, 3);
  }

  // The output, and the inputs from B (number `bias`) on, of which each may be left out.
  constexpr void infer_behind_weights(inference& c, dim units, std::size_t bias) const {
    const dim steps = c.in(0)[layout == 0 ? 0 : 1], batch = c.in(0)[layout == 0 ? 1 : 0];
    const std::size_t lengths = bias + 1, state = bias + 2, cell = bias + 3, peepholes = bias + 4;
    if (c.has(bias) &&
        (!c.require_rank(bias, 2, 2) ||
         !c.require_equal(c.in(bias)[0], "the first extent of B", directions(), "the number of directions") ||
         !c.require_equal(c.in(bias)[1], "the length of B", c.number(units) * (2 * Cell::gates),
                          "twice gates times units")))
      return;
    if (c.has(lengths) && (!c.require_rank(lengths, 1, 1) ||
                           !c.require_equal(c.in(lengths)[0], "the number of lengths", batch, "the batch")))
      return;
    for (std::size_t i = state; i <= cell; ++i)
      if (c.has(i) &&
          (!c.require_rank(i, 3, 3) ||
           !c.require_equal(c.in(i)[layout == 0 ? 0 : 1], "an extent of an initial value", directions(),
                            "the number of directions") ||
           !c.require_equal(c.in(i)[layout == 0 ? 1 : 0], "an extent of an initial value", batch, "the batch") ||
           !c.require_equal(c.in(i)[2], "the last extent of an initial value", units, "the number of units")))
        return;
    if (c.has(peepholes) && (!c.require_rank(peepholes, 2, 2) ||
                             !c.require_equal(c.in(peepholes)[0], "the first extent of the peepholes", directions(),
                                              "the number of directions") ||
                             !c.require_equal(c.in(peepholes)[1], "the last extent of the peepholes",
                                              c.number(units) * 3, "three times the units")))
      return;
    if (!has_steps()) {
      if (layout == 0) c.out(c.type(0), {directions(), batch, units});
      else c.out(c.type(0), {batch, directions(), units});
      return;
    }
    const dim stored = output == 0 ? steps : c.number(steps) + (Cell::outputs - 1);
    if (layout == 0) c.out(c.type(0), {stored, directions(), batch, units});
    else c.out(c.type(0), {batch, stored, directions(), units});
  }

  // A row of the batch needs the same row, a direction the same direction's weights and initial values.
  constexpr footprint reads(const inference& c, std::size_t input) const {
    const std::size_t steps = has_steps() ? 1 : 0;  // axes in front of the others of the output
    const axis_reach row = needs::same(layout == 1 ? 0 : steps + 1), way = needs::same(layout == 1 ? steps + 1 : steps);
    if (input == 0)
      return layout == 1 ? footprint{row, needs::whole, needs::whole} : footprint{needs::whole, row, needs::whole};
    if (input == 4) return {row};
    if (input == 5 || input == 6)
      return layout == 1 ? footprint{row, way, needs::whole} : footprint{way, row, needs::whole};
    footprint f = footprint::all(c.rank(input));
    f.axes[0] = way;
    return f;
  }
  static std::int64_t workspace(const auto& c) { return (Cell::gates + 3) * c.in(2, 2); }

  template <class C>
  void compute(const C& c, auto y, auto x, auto w, auto r, auto b, auto lengths, auto h0, auto... more) const {
    const std::int64_t steps = c.in(0, layout == 0 ? 0 : 1), batch = c.in(0, layout == 0 ? 1 : 0);
    for (std::int64_t d = 0; d < directions(); ++d)
      for (std::int64_t n = 0; n < batch; ++n) {
        std::int64_t length = steps;
        if (lengths.present()) length = within(c, static_cast<std::int64_t>(lengths[n]), 0, steps, "sequence length");
        run(c, d, n, length, y, x, w, r, b, h0, more...);
      }
  }
  constexpr dim flops(const inference& c) const { return c.size(0, 0) * c.size(0, 1) * (c.count(1) + c.count(2)) * 2; }

  // --- parts of its evaluation, also for operators that multiply otherwise
  struct extents {
    std::int64_t steps, batch, units;
  };
  // The first element of row n and direction d: of an initial value, and as it is stored as step t.
  constexpr std::int64_t initial_place(const extents& e, std::int64_t d, std::int64_t n) const {
    return (layout == 0 ? d * e.batch + n : n * directions() + d) * e.units;
  }
  constexpr std::int64_t place(const extents& e, std::int64_t t, std::int64_t d, std::int64_t n) const {
    const std::int64_t stored = output == 0 ? e.steps : e.steps + Cell::outputs - 1;
    return (layout == 0 ? (t * directions() + d) * e.batch + n : (n * stored + t) * directions() + d) * e.units;
  }
  // Stores the last state and cell as far as they are put out; of a row without steps 0, as in ONNX Runtime.
  template <class T>
  void store_last(auto y, const extents& e, std::int64_t d, std::int64_t n, std::int64_t length, const T* state,
                  const T* cell) const {
    for (std::int64_t k = 1; k < Cell::outputs; ++k)
      if (output == k || output == -1) {
        const std::int64_t first = output == -1 ? place(e, e.steps + k - 1, d, n) : initial_place(e, d, n);
        for (std::int64_t j = 0; j < e.units; ++j) y.store(first + j, length == 0 ? T(0) : k == 1 ? state[j] : cell[j]);
      }
  }
  // gate: what the input adds, on entry; state (and cell) become those behind the step.
  template <class T>
  void step(std::int64_t d, std::int64_t units, T* gate, T* state, T* cell, T* next, auto from_state, const auto& f,
            auto... more) const {
    if constexpr (Cell::gates == 1) {
      for (std::int64_t j = 0; j < units; ++j) next[j] = Cell::next(f, gate[j] + from_state(j, state));
    } else if constexpr (Cell::gates == 3) {
      for (std::int64_t k = 0; k < 2 * units; ++k) gate[k] = f.template gate<0>(gate[k] + from_state(k, state));
      T *const update = gate, *const reset = gate + units, *const hidden = gate + 2 * units;
      for (std::int64_t j = 0; j < units; ++j) cell[j] = linear_before_reset ? state[j] : reset[j] * state[j];
      for (std::int64_t j = 0; j < units; ++j) {
        const T added = from_state(2 * units + j, cell);
        next[j] = Cell::next(f, update[j], hidden[j] + (linear_before_reset ? reset[j] * added : added), state[j]);
      }
    } else {
      for (std::int64_t k = 0; k < 4 * units; ++k) gate[k] += from_state(k, state);
      for (std::int64_t j = 0; j < units; ++j) {
        const auto peephole = [&](std::int64_t g) { return peephole_at<T>((d * 3 + g) * units + j, more...); };
        const std::array<T, 4> sum{gate[j], gate[units + j], gate[2 * units + j], gate[3 * units + j]};
        next[j] = Cell::next(f, input_forget, sum, peephole, cell[j]);
      }
    }
    for (std::int64_t j = 0; j < units; ++j) state[j] = next[j];
  }

 private:
  // Number `wanted` of all directions' functions.
  constexpr detail::recurrent_function function(std::int64_t wanted) const {
    using of = detail::recurrent_function;
    if (activations.empty()) return {Cell::defaults[static_cast<std::size_t>(wanted % Cell::functions)]};
    std::size_t alphas = 0, betas = 0;  // those of functions before
    for (std::int64_t k = 0; k < wanted; ++k) {
      alphas += of::has_alpha(activations[k]);
      betas += of::has_beta(activations[k]);
    }
    const recurrent_activation chosen = activations[wanted];
    const auto [alpha, beta] = of::defaults(chosen);
    return {chosen, alphas < activation_alpha.size() ? activation_alpha[alphas] : alpha,
            betas < activation_beta.size() ? activation_beta[betas] : beta};
  }

  // Row n of the batch through all its steps.
  template <class C>
  void run(const C& c, std::int64_t d, std::int64_t n, std::int64_t length, auto y, auto x, auto w, auto r, auto b,
           auto h0, auto... more) const {
    using real = typename C::real;
    const std::int64_t units = c.in(2, 2), wide = c.in(0, 2), rows = Cell::gates * units;
    const std::int64_t steps = c.in(0, layout == 0 ? 0 : 1), batch = c.in(0, layout == 0 ? 1 : 0);
    real *const gate = c.workspace(), *const state = gate + rows, *const cell = state + units,
                *const next = cell + units;
    const extents of{steps, batch, units};
    const std::int64_t first = initial_place(of, d, n);
    const detail::recurrent_functions f = functions(d);
    for (std::int64_t j = 0; j < units; ++j) {
      state[j] = h0.present() ? static_cast<real>(h0[first + j]) : real(0);
      cell[j] = initial_cell<real>(first + j, more...);
    }
    const auto bias = [&](std::int64_t k) { return b.present() ? static_cast<real>(b[d * 2 * rows + k]) : real(0); };
    // what the input, or the state `h`, adds to row k of the gates
    const auto from_state = [&](std::int64_t k, const real* h) {
      real sum = bias(rows + k);
      for (std::int64_t j = 0; j < units; ++j) sum += static_cast<real>(r[(d * rows + k) * units + j]) * h[j];
      return sum;
    };
    for (std::int64_t s = 0; s < steps; ++s) {
      const std::int64_t t = s < length && is_backwards(d) ? length - 1 - s : s;
      if (s < length) {
        const std::int64_t row = (layout == 0 ? t * batch + n : n * steps + t) * wide;
        for (std::int64_t k = 0; k < rows; ++k) {
          real sum = bias(k);
          for (std::int64_t i = 0; i < wide; ++i)
            sum += static_cast<real>(w[(d * rows + k) * wide + i]) * static_cast<real>(x[row + i]);
          gate[k] = sum;
        }
        step<real>(d, units, gate, state, cell, next, from_state, f, more...);
      }
      for (std::int64_t j = 0; has_steps() && j < units; ++j)  // behind the last step: 0
        y.store(place(of, t, d, n) + j, s < length ? state[j] : real(0));
    }
    store_last(y, of, d, n, length, state, cell);
  }

  template <class T> static T initial_cell(std::int64_t) { return 0; }
  template <class T> static T initial_cell(std::int64_t i, auto c0, auto) {
    return c0.present() ? static_cast<T>(c0[i]) : T(0);
  }

  template <class T> static T peephole_at(std::int64_t i, auto, auto p) {
    return p.present() ? static_cast<T>(p[i]) : T(0);
  }
};

using rnn = recurrent<detail::rnn_cell>;
using gru = recurrent<detail::gru_cell>;
using lstm = recurrent<detail::lstm_cell>;

}  // namespace op

}  // namespace dnnkit
