// SPDX-License-Identifier: MIT
// ONNX Runtime's DynamicQuantizeLSTM: an LSTM whose weights are bytes, and whose input and, in each step, states are
// rounded to bytes before they are multiplied.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/op/recurrent.hpp"

namespace dnnkit {

namespace detail {

// Reals as bytes over the range of all of them and 0, as ONNX's DynamicQuantizeLinear has it: x becomes the nearest
// integer of x / scale, halves going to the even one, plus zero, and stays within 0 to 255. In 32 bits throughout.
struct byte_scale {
  float scale = 1, zero = 0;

  // low <= 0 <= high
  static byte_scale over(float low, float high) {
    byte_scale s;
    if (low < high) s.scale = (high - low) / 255.0f;
    s.zero = clamped(std::nearbyint(0.0f - low / s.scale));
    return s;
  }
  float operator()(float x) const { return clamped(std::nearbyint(x / scale) + zero); }

 private:
  static float clamped(float x) { return x > 0 ? x < 255 ? x : 255.0f : 0.0f; }  // what is no number becomes 0
};
struct byte_range {
  float low = 0, high = 0;

  void include(float x) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  byte_scale scale() const { return byte_scale::over(low, high); }
};

}  // namespace detail

namespace op {

// X [steps, batch, n], W [D, n, 4 H] and R [D, H, 4 H] of i8 or u8, and of each of these a scale and a zero point, one
// a direction [D] or one a column [D, 4 H]: w stands for (w - zero point) * scale. Then as LSTM: B, lengths, initial
// state and cells, peepholes; its attributes and its outputs.
//
// X becomes bytes once, over the range of all its elements in steps that any row has. In each step the states of one
// direction become bytes over the range of those of all rows; a row that has ended counts as 0. So results of a row
// depend on the other rows. ONNX Runtime does the same on one thread; on several it divides the rows among them and
// takes the range of each part, and where it is not asked for the states of all steps a row that has ended counts with
// its last state.
struct dynamic_quantize_lstm {
  std::int64_t hidden_size = 0;
  recurrent_direction direction = recurrent_direction::forward;
  activation_list activations = {};
  float_list activation_alpha = {}, activation_beta = {};
  float clip = 0;
  bool input_forget = false;
  std::int64_t layout = 0, output = 0;

  using cell_type = lstm::cell_type;
  static constexpr std::string_view name = "DynamicQuantizeLSTM",
                                    operands =
                                        "x, weight, recurrence, weight_scale, weight_zero_point, recurrence_scale, "
                                        "recurrence_zero_point, bias, lengths, initial_h, initial_c, peepholes";
  static constexpr form kind = form::whole;
  static constexpr std::size_t inputs = 12, optional_inputs = 5;
  static constexpr std::array<element, inputs> elements = [] {
    std::array<element, inputs> kinds{};
    kinds[1] = kinds[2] = kinds[4] = kinds[6] = element::byte;
    kinds[8] = element::index;
    return kinds;
  }();
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) { detail::visit_recurrent_attributes(self, visit); }

  // The same of reals.
  constexpr lstm plain() const {
    return {.hidden_size = hidden_size,
            .direction = direction,
            .activations = activations,
            .activation_alpha = activation_alpha,
            .activation_beta = activation_beta,
            .clip = clip,
            .input_forget = input_forget,
            .layout = layout,
            .output = output};
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 3, 3) || !c.require_rank(1, 3, 3) || !c.require_rank(2, 3, 3)) return;
    const lstm layer = plain();
    const dim units = c.in(2)[1], columns = c.number(units) * 4;
    if (!c.require(hidden_size == 0 || units == dim(hidden_size), "hidden_size is not that of the weights") ||
        !c.require(output >= -1 && output < cell_type::outputs, "there is no such output") ||
        !c.require(activations.empty() ||
                       static_cast<std::int64_t>(activations.size()) == layer.directions() * cell_type::functions,
                   "activations must name one function for each use in each direction"))
      return;
    for (std::size_t i = 1; i <= 2; ++i)
      if (!c.require(c.type(2 * i + 2) == c.type(i), "zero points must be of the type of their weights") ||
          !c.require_equal(c.in(i)[0], "the first extent of a weight", layer.directions(),
                           "the number of directions") ||
          !c.require_equal(c.in(i)[2], "the last extent of a weight", columns, "four times the units"))
        return;
    if (!c.require_equal(c.in(1)[1], "the second extent of W", c.in(0)[2], "the last of X")) return;
    for (std::size_t i = 3; i <= 6; ++i)
      if (!c.require_rank(i, 1, 2) ||
          !c.require_equal(c.in(i)[0], "the number of scales or zero points", layer.directions(),
                           "the number of directions") ||
          (c.rank(i) == 2 &&
           !c.require_equal(c.in(i)[1], "the last extent of scales or zero points", columns, "four times the units")))
        return;
    layer.infer_behind_weights(c, units, 7);
  }

  // A direction needs the same direction's weights and initial values, and all rows of the batch.
  constexpr footprint reads(const inference& c, std::size_t input) const {
    footprint f = footprint::all(c.rank(input));
    const std::size_t steps = output <= 0 ? 1 : 0;  // axes in front of the others of the output
    const axis_reach way = needs::same(layout == 1 ? steps + 1 : steps);
    if (input == 9 || input == 10) f.axes[layout == 1 ? 1 : 0] = way;
    else if (input != 0 && input != 8) f.axes[0] = way;
    return f;
  }
  // A direction's states, cells and states as bytes; a row's gates, next states and input as bytes.
  static std::int64_t workspace(const auto& c) {
    const std::int64_t units = c.in(2, 1);
    return 3 * c.in(0, 0) * c.in(0, 1) * units + 5 * units + c.in(0, 2);
  }

  template <class C>
  void compute(const C& c, auto y, auto x, auto w, auto r, auto w_scale, auto w_zero, auto r_scale, auto r_zero, auto b,
               auto lengths, auto h0, auto c0, auto p) const {
    using real = typename C::real;
    const lstm layer = plain();
    const lstm::extents of{c.in(0, layout == 0 ? 0 : 1), c.in(0, layout == 0 ? 1 : 0), c.in(2, 1)};
    const std::int64_t units = of.units, columns = 4 * units, wide = c.in(0, 2), all = of.batch * units;
    const auto length_of = [&](std::int64_t n) {
      if (!lengths.present()) return of.steps;
      return within(c, static_cast<std::int64_t>(lengths[n]), 0, of.steps, "sequence length");
    };
    const auto row_of = [&](std::int64_t t, std::int64_t n) {
      return (layout == 0 ? t * of.batch + n : n * of.steps + t) * wide;
    };
    std::int64_t longest = 0;
    for (std::int64_t n = 0; n < of.batch; ++n) longest = length_of(n) > longest ? length_of(n) : longest;
    detail::byte_range range;
    for (std::int64_t t = 0; t < longest; ++t)
      for (std::int64_t n = 0; n < of.batch; ++n)
        for (std::int64_t i = 0; i < wide; ++i) range.include(static_cast<float>(x[row_of(t, n) + i]));
    const detail::byte_scale of_x = range.scale();

    real *const states = c.workspace(), *const cells = states + all, *const bytes = cells + all,
                *const gate = bytes + all, *const next = gate + columns, *const x_bytes = next + units;
    for (std::int64_t d = 0; d < layer.directions(); ++d) {
      const detail::recurrent_functions f = layer.functions(d);
      for (std::int64_t n = 0; n < of.batch; ++n)
        for (std::int64_t j = 0; j < units; ++j) {
          const std::int64_t i = layer.initial_place(of, d, n) + j;
          states[n * units + j] = h0.present() ? static_cast<real>(h0[i]) : real(0);
          cells[n * units + j] = c0.present() ? static_cast<real>(c0[i]) : real(0);
        }
      for (std::int64_t s = 0; s < longest; ++s) {
        detail::byte_range seen;
        for (std::int64_t i = 0; i < all; ++i)
          if (s <= length_of(i / units)) seen.include(static_cast<float>(states[i]));
        const detail::byte_scale of_states = seen.scale();
        for (std::int64_t i = 0; i < all; ++i) bytes[i] = of_states(static_cast<float>(states[i]));
        for (std::int64_t n = 0; n < of.batch; ++n) {
          const std::int64_t length = length_of(n);
          if (s >= length) continue;
          const std::int64_t t = layer.is_backwards(d) ? length - 1 - s : s;
          for (std::int64_t i = 0; i < wide; ++i) x_bytes[i] = of_x(static_cast<float>(x[row_of(t, n) + i]));
          for (std::int64_t k = 0; k < columns; ++k) {
            const auto bias = [&](std::int64_t half) {
              return b.present() ? static_cast<real>(b[(2 * d + half) * columns + k]) : real(0);
            };
            gate[k] = product<real>(c, d, k, x_bytes, of_x, wide, columns, w, w_scale, 3, w_zero) + bias(0) + bias(1);
          }
          const auto from_state = [&](std::int64_t k, const real*) {
            return product<real>(c, d, k, bytes + n * units, of_states, units, columns, r, r_scale, 5, r_zero);
          };
          layer.template step<real>(d, units, gate, states + n * units, cells + n * units, next, from_state, f, c0, p);
          if (layer.has_steps())
            for (std::int64_t j = 0; j < units; ++j) y.store(layer.place(of, t, d, n) + j, states[n * units + j]);
        }
      }
      for (std::int64_t n = 0; n < of.batch; ++n) {
        const std::int64_t length = length_of(n);
        if (layer.has_steps())  // behind the last step: 0
          for (std::int64_t t = length; t < of.steps; ++t)
            for (std::int64_t j = 0; j < units; ++j) y.store(layer.place(of, t, d, n) + j, real(0));
        layer.store_last(y, of, d, n, length, states + n * units, cells + n * units);
      }
    }
  }
  constexpr dim flops(const inference& c) const { return c.size(0, 0) * c.size(0, 1) * (c.count(1) + c.count(2)) * 2; }

 private:
  // `bytes`, `count` of them, times column k of the weights of direction d; their scale is input number `number`, the
  // zero point the one behind.
  template <class T, class C>
  static T product(const C& c, std::int64_t d, std::int64_t k, const T* bytes, const detail::byte_scale& of,
                   std::int64_t count, std::int64_t columns, auto weight, auto scale, std::size_t number, auto zero) {
    const auto at = [&](std::size_t input) { return c.rank(input) == 2 ? d * columns + k : d; };
    const auto zero_point = static_cast<std::int64_t>(zero[at(number + 1)]);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i)
      sum += static_cast<std::int64_t>(bytes[i] - static_cast<T>(of.zero)) *
             (static_cast<std::int64_t>(weight[(d * count + i) * columns + k]) - zero_point);
    return static_cast<T>(sum) * static_cast<T>(of.scale * static_cast<float>(scale[at(number)]));
  }
};

}  // namespace op

}  // namespace dnnkit
