// SPDX-License-Identifier: MIT
// Recurrent layers: ONNX's RNN, GRU and LSTM, in one operator template; what a step computes is its cell.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

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

template <class T> struct activation_function {
  recurrent_activation kind{};
  T alpha{}, beta{};

  T operator()(T x) const {
    switch (kind) {
      case recurrent_activation::rectified:
        return x > 0 ? x : T(0);
      case recurrent_activation::tangent:
        return std::tanh(x);
      case recurrent_activation::affine:
        return alpha * x + beta;
      case recurrent_activation::leaky:
        return x < 0 ? alpha * x : x;
      case recurrent_activation::thresholded:
        return x > alpha ? x : T(0);
      case recurrent_activation::scaled_tangent:
        return alpha * std::tanh(beta * x);
      case recurrent_activation::hard_logistic:
        return std::fmin(std::fmax(alpha * x + beta, T(0)), T(1));
      case recurrent_activation::exponential:
        return x < 0 ? alpha * (std::exp(x) - 1) : x;
      case recurrent_activation::soft_sign:
        return x / (1 + std::abs(x));
      case recurrent_activation::soft_plus:
        return std::log(1 + std::exp(x));
      default:
        return 1 / (1 + std::exp(-x));
    }
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
};

// One step of one row of the batch, for unit j. `in(g)`: input, state and biases of gate g before its activation;
// `recurrent(g, j)`: what the state alone adds to gate g, with its bias.
struct rnn_cell {
  static constexpr std::string_view name = "RNN", operands = "x, weight, recurrence, bias, lengths, initial_h";
  static constexpr std::int64_t gates = 1, functions = 1, outputs = 2, inputs = 6;
  static constexpr std::array<recurrent_activation, 3> defaults{recurrent_activation::tangent};
};
struct gru_cell {
  static constexpr std::string_view name = "GRU", operands = rnn_cell::operands;
  static constexpr std::int64_t gates = 3, functions = 2, outputs = 2, inputs = 6;
  static constexpr std::array<recurrent_activation, 3> defaults{recurrent_activation::logistic,
                                                                recurrent_activation::tangent};
};
struct lstm_cell {
  static constexpr std::string_view name = "LSTM",
                                    operands = "x, weight, recurrence, bias, lengths, initial_h, initial_c, peepholes";
  static constexpr std::int64_t gates = 4, functions = 3, outputs = 3, inputs = 8;
  static constexpr std::array<recurrent_activation, 3> defaults{
      recurrent_activation::logistic, recurrent_activation::tangent, recurrent_activation::tangent};
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
// output: 0 all states [steps, D, batch, H], 1 the last ones [D, batch, H], 2 (LSTM) the last cells [D, batch, H].
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

  static constexpr std::string_view name = Cell::name, operands = Cell::operands;
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = Cell::inputs, optional_inputs = Cell::inputs - 3;
  static constexpr std::array<element, inputs> elements = detail::recurrent_inputs<inputs>();
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("hidden_size", self.hidden_size);
    visit("direction", self.direction);
    visit("activations", self.activations);
    visit("activation_alpha", self.activation_alpha);
    visit("activation_beta", self.activation_beta);
    visit("clip", self.clip);
    visit("input_forget", self.input_forget);
    visit("linear_before_reset", self.linear_before_reset);
    visit("layout", self.layout);
    visit("output", self.output);
  }

  constexpr std::int64_t directions() const { return direction == recurrent_direction::bidirectional ? 2 : 1; }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 3, 3) || !c.require_rank(1, 3, 3) || !c.require_rank(2, 3, 3)) return;
    const dim units = c.in(2)[2];
    if (!c.require(hidden_size == 0 || units == dim(hidden_size), "hidden_size is not that of the weights") ||
        !c.require(output >= 0 && output < Cell::outputs, "there is no such output") ||
        !c.require(
            activations.empty() || static_cast<std::int64_t>(activations.size()) == directions() * Cell::functions,
            "activations must name one function for each use in each direction"))
      return;
    const dim gates = c.number(units) * Cell::gates, steps = c.in(0)[layout == 0 ? 0 : 1];
    const dim batch = c.in(0)[layout == 0 ? 1 : 0];
    for (std::size_t i = 1; i <= 2; ++i)
      if (!c.require_equal(c.in(i)[0], "the first extent of a weight", directions(), "the number of directions") ||
          !c.require_equal(c.in(i)[1], "the second extent of a weight", gates, "gates times units"))
        return;
    if (!c.require_equal(c.in(1)[2], "the last extent of W", c.in(0)[2], "that of X")) return;
    if (c.has(3) && (!c.require_rank(3, 2, 2) ||
                     !c.require_equal(c.in(3)[1], "the length of B", c.number(gates) * 2, "twice gates times units")))
      return;
    if (c.has(4) &&
        (!c.require_rank(4, 1, 1) || !c.require_equal(c.in(4)[0], "the number of lengths", batch, "the batch")))
      return;
    for (std::size_t i = 5; i <= 6; ++i)
      if (c.has(i) && !c.require_rank(i, 3, 3)) return;
    if (layout == 0 && output == 0) c.out(c.type(0), {steps, directions(), batch, units});
    else if (layout == 0) c.out(c.type(0), {directions(), batch, units});
    else if (output == 0) c.out(c.type(0), {batch, steps, directions(), units});
    else c.out(c.type(0), {batch, directions(), units});
  }

  // A row of the batch needs the same row, a direction the same direction's weights and initial values.
  constexpr footprint reads(const inference& c, std::size_t input) const {
    const std::size_t steps = output == 0 ? 1 : 0;  // axes in front of the others of the output
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

 private:
  template <class T> detail::activation_function<T> activation(std::int64_t d, std::int64_t use) const {
    using function = detail::activation_function<T>;
    const std::int64_t wanted = d * Cell::functions + use;
    if (activations.empty()) return {Cell::defaults[static_cast<std::size_t>(use)], 0, 0};
    std::size_t alphas = 0, betas = 0;  // those of functions before
    for (std::int64_t k = 0; k < wanted; ++k) {
      alphas += function::has_alpha(activations[k]);
      betas += function::has_beta(activations[k]);
    }
    const recurrent_activation chosen = activations[wanted];
    const auto [alpha, beta] = function::defaults(chosen);
    return {chosen, static_cast<T>(alphas < activation_alpha.size() ? activation_alpha[alphas] : alpha),
            static_cast<T>(betas < activation_beta.size() ? activation_beta[betas] : beta)};
  }
  template <class T> T clipped(T v) const {
    const T limit = static_cast<T>(clip);
    return limit <= 0 || std::abs(v) <= limit ? v : v < 0 ? -limit : limit;
  }

  // Row n of the batch through all its steps.
  template <class C>
  void run(const C& c, std::int64_t d, std::int64_t n, std::int64_t length, auto y, auto x, auto w, auto r, auto b,
           auto h0, auto... more) const {
    using real = typename C::real;
    const std::int64_t units = c.in(2, 2), wide = c.in(0, 2), rows = Cell::gates * units;
    const std::int64_t steps = c.in(0, layout == 0 ? 0 : 1), batch = c.in(0, layout == 0 ? 1 : 0);
    const bool backwards = direction == recurrent_direction::reverse || d == 1;
    real *const gate = c.workspace(), *const state = gate + rows, *const cell = state + units,
                *const next = cell + units;
    const std::int64_t first = layout == 0 ? (d * batch + n) * units : (n * directions() + d) * units;
    const std::array<activation_of<real>, 3> f{activation<real>(d, 0), activation<real>(d, Cell::functions > 1 ? 1 : 0),
                                               activation<real>(d, Cell::functions > 2 ? 2 : 0)};
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
      const std::int64_t t = backwards ? length - 1 - s : s;
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
      if (output != 0) continue;
      const std::int64_t at = s < length ? t : s;  // behind the last step: 0
      const std::int64_t to = layout == 0 ? (at * directions() + d) * batch + n : (n * steps + at) * directions() + d;
      for (std::int64_t j = 0; j < units; ++j) y.store(to * units + j, s < length ? state[j] : real(0));
    }
    for (std::int64_t j = 0; j < units && output != 0; ++j) y.store(first + j, output == 1 ? state[j] : cell[j]);
  }
  template <class T> using activation_of = detail::activation_function<T>;

  template <class T> static T initial_cell(std::int64_t) { return 0; }
  template <class T> static T initial_cell(std::int64_t i, auto c0, auto) {
    return c0.present() ? static_cast<T>(c0[i]) : T(0);
  }

  // gate: what the input adds, on entry; state (and cell) become those behind the step.
  template <class T>
  void step(std::int64_t d, std::int64_t units, T* gate, T* state, T* cell, T* next, auto from_state, const auto& f,
            auto... more) const {
    if constexpr (Cell::gates == 1) {
      for (std::int64_t j = 0; j < units; ++j) next[j] = f[0](clipped(gate[j] + from_state(j, state)));
    } else if constexpr (Cell::gates == 3) {  // update, reset, hidden
      for (std::int64_t k = 0; k < 2 * units; ++k) gate[k] = f[0](clipped(gate[k] + from_state(k, state)));
      T *const update = gate, *const reset = gate + units, *const hidden = gate + 2 * units;
      for (std::int64_t j = 0; j < units; ++j) cell[j] = linear_before_reset ? state[j] : reset[j] * state[j];
      for (std::int64_t j = 0; j < units; ++j) {
        const T recurrent_part = from_state(2 * units + j, cell);
        const T h = f[1](clipped(hidden[j] + (linear_before_reset ? reset[j] * recurrent_part : recurrent_part)));
        next[j] = (1 - update[j]) * h + update[j] * state[j];
      }
    } else {  // input, output, forget, cell
      for (std::int64_t k = 0; k < 4 * units; ++k) gate[k] += from_state(k, state);
      const auto peephole = [&](std::int64_t k) { return peephole_at<T>(d * 3 * units + k, more...); };
      for (std::int64_t j = 0; j < units; ++j) {
        const T in = f[0](clipped(gate[j] + peephole(j) * cell[j]));
        const T forget = input_forget ? 1 - in : f[0](clipped(gate[2 * units + j] + peephole(2 * units + j) * cell[j]));
        cell[j] = forget * cell[j] + in * f[1](clipped(gate[3 * units + j]));
        next[j] = f[0](clipped(gate[units + j] + peephole(units + j) * cell[j])) * f[2](cell[j]);
      }
    }
    for (std::int64_t j = 0; j < units; ++j) state[j] = next[j];
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
