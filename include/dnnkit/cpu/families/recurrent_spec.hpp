// SPDX-License-Identifier: MIT
// What the family of recurrent layers knows of a specification: its extents, whether its weights are the same in every
// run, whether steps can be read where they are, and what it is expected to take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/cpu/micro/extent.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/op/quantized_recurrent.hpp"
#include "dnnkit/op/recurrent.hpp"
#include "dnnkit/op/transcendental.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu {

// The inputs of a layer, by number.
enum recurrent_input : std::size_t {
  input_steps,
  input_weight,
  input_recurrence,
  input_bias,
  input_lengths,
  input_state,
  input_cell,
  input_peepholes
};

// A layer's attributes: its own, or those of the layer of reals that it is but for its products.
template <class Cell> constexpr op::recurrent<Cell> plain_layer(const op::recurrent<Cell>& layer) { return layer; }
constexpr op::lstm plain_layer(const op::dynamic_quantize_lstm& layer) { return layer.plain(); }

// f(the layer) for an anchor that is one; else f is not called.
constexpr void visit_recurrent(const kernel_spec& spec, auto&& f) {
  if (spec.is_anchor<op::lstm>()) f(spec.anchor<op::lstm>());
  else if (spec.is_anchor<op::gru>()) f(spec.anchor<op::gru>());
  else if (spec.is_anchor<op::rnn>()) f(spec.anchor<op::rnn>());
  else if (spec.is_anchor<op::dynamic_quantize_lstm>()) f(plain_layer(spec.anchor<op::dynamic_quantize_lstm>()));
}

// Multiply-adds of a layer; 0 for another operator.
constexpr double recurrent_products(const kernel_spec& spec) {
  double n = 0;
  visit_recurrent(spec, [&](const auto&) {
    const double steps = static_cast<double>(known_or_typical(spec.extent_of(0, 0))) *
                         static_cast<double>(known_or_typical(spec.extent_of(0, 1)));
    n = steps * (spec.elements_of(input_weight) + spec.elements_of(input_recurrence));
  });
  return n;
}

class recurrent_spec : public kernel_spec {
 public:
  constexpr explicit recurrent_spec(const kernel_spec& spec) : kernel_spec(spec) {
    visit_recurrent(spec, [this]<class Layer>(const Layer& layer) {
      layout_ = layer.layout;
      directions_ = layer.directions();
      gates_ = Layer::cell_type::gates;
    });
  }

  constexpr bool has(std::size_t i) const { return input(i).from != source::nothing; }
  constexpr std::int64_t directions() const { return directions_; }
  constexpr std::int64_t gates() const { return gates_; }
  constexpr std::size_t step_axis() const { return layout_ == 0 ? 0 : 1; }  // of the input
  constexpr std::size_t batch_axis() const { return 1 - step_axis(); }
  constexpr local_extent steps() const { return extent_of(input_steps, step_axis()); }
  constexpr local_extent batch() const { return extent_of(input_steps, batch_axis()); }
  constexpr std::int64_t wide() const { return extent_of(input_weight, 2).value(); }
  constexpr std::int64_t units() const { return extent_of(input_recurrence, 2).value(); }

  // Why it is no product of panels and vectors; empty when it can be.
  constexpr std::string_view unfit() const {
    if (const std::string_view why = unfit(input_weight, input_recurrence); !why.empty()) return why;
    for (std::size_t i : {input_weight, input_recurrence, input_bias, input_peepholes})
      if (has(i) && type_of(input(i)) != dtype::f32) return "the elements are not 32-bit floats";
    return {};
  }
  // Are all weights the same in every run?
  constexpr bool is_packed_once() const {
    for (std::size_t i : {input_weight, input_recurrence, input_bias, input_peepholes})
      if (has(i) && !is_setup(input(i))) return false;
    return true;
  }

  // Do the steps of all rows of the batch lie at one stride, each contiguous?
  constexpr bool in_place() const {
    if (input(input_steps).from != source::load) return false;
    const recipe_load& x = load(input(input_steps).index);
    const lane_stride lane = stride_along(x.axes, 2), step = of_axis(step_axis()), row = of_axis(batch_axis());
    if (x.movement.count != 0 || x.type != dtype::f32 || !lane.single || !step.single || !row.single) return false;
    if (lane.stride != 1 && wide() != 1) return false;
    if (batch() == 1 || steps() == 1) return true;
    return row.stride.is_known() && step.stride.is_known() && batch().is_known() &&
           step.stride.value() == row.stride.value() * batch().value();
  }
  // That stride.
  // @pre in_place()
  constexpr local_extent row_stride() const { return of_axis(batch() == 1 ? step_axis() : batch_axis()).stride; }

  // Can what the input adds to later steps be computed beside the earlier ones, which wait for the recurrent weights?
  // One sequence reads them all for each step, four bytes for a multiply-add: the second cache and what is behind it
  // deliver them more slowly than they can be multiplied. Needs registers for the sums of both products.
  constexpr bool overlaps(const cpu_facts& facts) const {
    constexpr std::int64_t least_units = 128;  // below, weights come from the first cache, and are soon read
    const auto vectors = (units() + facts.float_lanes - 1) / facts.float_lanes * gates_;
    const bool short_of_steps = steps().is_known() && steps().value() < 2 * rows_beside;
    return facts.vector_registers == 32 && batch() == 1 && !short_of_steps && in_place() && row_stride().is_known() &&
           is_packed_once() && !has(input_lengths) && units() >= least_units && vectors % vectors_beside == 0;
  }
  // The tile of that product: steps, vectors of sums.
  static constexpr int rows_beside = 8, vectors_beside = 2;

  constexpr kernel_cost cost(const cpu_facts& facts, int widest, int at_once) const {
    const cost_coefficients& of = facts.costs;
    const auto length = static_cast<double>(known_or_typical(steps())),
               rows = static_cast<double>(known_or_typical(batch())), ways = static_cast<double>(directions_),
               h = static_cast<double>(units()), n = static_cast<double>(wide()), g = static_cast<double>(gates_);
    const double blocks = vectors_of(facts, h);
    const tiled_cycles all_steps = cycles_of(
        facts,
        {.rows = length * rows, .vectors = g * blocks, .depth = n, .rows_collide = rows_collide(facts, wide() * 4)},
        widest);
    const tiled_cycles one_step = cycles_of(facts, {.rows = rows, .vectors = g * blocks, .depth = h}, at_once);
    const double not_hidden = overlaps(facts) ? 0.5 : 1.0;  // of the input's product (measured on a Zen 4)
    kernel_work work{.cycles = ways * (not_hidden * all_steps.arithmetic +
                                       length * (one_step.arithmetic + rows * blocks * cell_cycles(facts))),
                     .starts = of.phase + ways * (all_steps.starts + length * one_step.starts),
                     .traffic = traffic_of(*this, facts)};
    if (!in_place()) {
      const tree_cost tree(*this, facts, 2, facts.float_lanes);
      work.cycles += ways * length * rows * vectors_of(facts, n) * (tree.value(input(input_steps)) + of.store);
      work.starts += ways * length * rows * of.row;
      work.staged += ways * 4 * length * rows * n;
    }
    if (!is_packed_once()) work.gathered += elements_of(input_weight) + elements_of(input_recurrence);
    // Each step reads all recurrent weights; what the second cache keeps of them from the step before is read there.
    const double weights = 4 * g * blocks * facts.float_lanes * h, kept = static_cast<double>(facts.l2_bytes);
    work.staged += 4 * ways * length * rows * g * h;
    if (weights > kept) work.traffic.add_read(memory_level::l3, ways * (length - 1) * (weights - kept));
    return estimate(facts, work);
  }

 private:
  constexpr lane_stride of_axis(std::size_t d) const { return stride_along(load(input(input_steps).index).axes, d); }

 protected:
  // The same of weights that are these inputs, whatever their elements are.
  constexpr std::string_view unfit(std::size_t weight, std::size_t recurrence) const {
    if (anchor_type() != dtype::f32) return "the elements are not 32-bit floats";
    for (std::size_t i : {weight, recurrence})
      for (std::size_t d = 0; d < 3; ++d)
        if (!extent_of(i, d).is_known()) return "the extents of the weights are not known";
    return {};
  }
  // What becomes of a vector of units in one step, behind its sums.
  constexpr double cell_cycles(const cpu_facts& facts) const {
    const cost_coefficients& of = facts.costs;
    double cycles = static_cast<double>(gates_) * (of.load + 2 * of.simple) + 2 * of.store;
    visit_recurrent(*this, [&]<class Layer>(const Layer& layer) {
      const auto functions = layer.functions(0).of;
      // an LSTM's first function is that of three gates, a GRU's that of two
      cycles += (Layer::cell_type::gates == 1 ? 1 : static_cast<double>(Layer::cell_type::gates) - 1) *
                cycles_of_function(facts, functions[0].kind);
      for (std::size_t i = 1; i < static_cast<std::size_t>(Layer::cell_type::functions); ++i)
        cycles += cycles_of_function(facts, functions[i].kind);
    });
    return cycles;
  }

 private:
  static constexpr double cycles_of_function(const cpu_facts& facts, recurrent_activation kind) {
    using enum recurrent_activation;
    switch (kind) {
      case rectified:
      case affine:
      case thresholded:
        return facts.costs.simple;
      case tangent:
      case scaled_tangent:
        return vector_cycles(facts, id_of<op::tanh>);
      case leaky:
        return vector_cycles(facts, id_of<op::leaky_relu>);
      case hard_logistic:
        return vector_cycles(facts, id_of<op::hard_sigmoid>);
      case exponential:
        return vector_cycles(facts, id_of<op::elu>);
      case soft_sign:
        return vector_cycles(facts, id_of<op::softsign>);
      case soft_plus:
        return vector_cycles(facts, id_of<op::softplus>);
      default:
        return vector_cycles(facts, id_of<op::sigmoid>);
    }
  }

  std::int64_t layout_ = 0, directions_ = 1, gates_ = 1;
};

}  // namespace dnnkit::cpu
