// SPDX-License-Identifier: MIT
// What one stage of an OpenCL kernel does on a GPU, by its anchor: a product or convolution in register tiles, windows
// on channels, passes over rows, or elements each on its own; with the element-wise operators before and behind it, and
// the way of its operands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dnnkit/cost/gpu_estimate.hpp"
#include "dnnkit/cost/operator_cycles.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/pooling.hpp"
#include "dnnkit/op/quantization.hpp"
#include "dnnkit/op/resize.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::opencl {

// Operations that an element-wise operator takes on an element; dividers and tables are a quarter as wide as the rest.
constexpr double operations_of(operator_id id) {
  for (const dnnkit::detail::operator_parts& p : dnnkit::detail::dear_operators)
    if (p.id == id)
      return p.simple + 8 * p.divisions + 4 * (p.roots + p.exponentials + p.logarithms) + 16 * p.powers +
             40 * p.library;
  return 1;
}

class gpu_stage : public kernel_spec {
 public:
  static constexpr bool is_product(const plan::operator_tag& op) {
    return op.id == id_of<op::matmul> || op.id == id_of<op::matmul_integer>;
  }
  static constexpr bool is_convolution(const plan::operator_tag& op) {
    return op.id == id_of<op::conv> || op.id == id_of<op::conv_integer>;
  }
  static constexpr bool is_pool(const plan::operator_tag& op) {
    return op.id == id_of<op::max_pool> || op.id == id_of<op::average_pool>;
  }
  static constexpr bool is_resize(const plan::operator_tag& op) { return op.id == id_of<op::resize>; }
  // Rows that are normalised, or reduced to an element each.
  static constexpr bool is_of_rows(const plan::operator_tag& op) {
    return op.kind == form::row || op.kind == form::reduction;
  }

  constexpr explicit gpu_stage(const kernel_spec& spec) : kernel_spec(spec) {}

  constexpr const plan::operator_tag& tag() const { return self().anchor; }
  constexpr std::int64_t groups() const {
    if (is_anchor<op::conv>()) return anchor<op::conv>().group;
    return is_anchor<op::conv_integer>() ? anchor<op::conv_integer>().group : 1;
  }
  // A window on each channel, or on a few.
  constexpr bool is_depthwise() const {
    return is_convolution(tag()) && groups() > 1 && plan::known_or_typical(extent_of(1, 1)) <= 4;
  }
  constexpr bool multiplies() const { return is_product(tag()) || (is_convolution(tag()) && !is_depthwise()); }
  // Taps of a window; 1 of what has none.
  constexpr double taps() const {
    double n = 1;
    if (is_convolution(tag()))
      for (std::size_t d = 2; d < rank_of(1); ++d) n *= extent(extent_of(1, d));
    if (is_anchor<op::max_pool>()) n = static_cast<double>(anchor<op::max_pool>().over().taps());
    if (is_anchor<op::average_pool>()) n = static_cast<double>(anchor<op::average_pool>().over().taps());
    if (is_resize(tag())) n = 4;
    return n;
  }
  // Of a stage that multiplies. A factor that is the same for all rows makes one product of all of them.
  constexpr gpu_product product(const gpu_facts& facts) const {
    gpu_product p;
    if (is_convolution(tag())) {
      p.batch = static_cast<double>(groups());
      p.columns = extent(extent_of(1, 0)) / p.batch;
      p.depth = extent(extent_of(1, 1)) * taps();
      p.rows = elements() / extent(space(1));
      p.part = taps() > 1 ? facts.shares.convolution : 1;
      return p;
    }
    const std::size_t a = rank_of(0), b = rank_of(1);
    p.depth = a == 0 ? 1 : extent(extent_of(0, a - 1));
    p.columns = b > 1 ? extent(extent_of(1, b - 1)) : 1;
    for (std::size_t d = 0; d + 2 < b; ++d) p.batch *= extent(extent_of(1, d));
    p.rows = std::max(elements() / (p.columns * p.batch), 1.0);
    return p;
  }

  // --- element-wise operators: operations on one element
  constexpr double operations(operand_ref r) const {
    double n = 0;
    all_in_tree(r, [&](operand_ref x) {
      if (x.from == plan::source::node) n += operations_of(node(x.index).op.id);
      return true;
    });
    return n;
  }
  constexpr double operations_behind() const {
    double n = 0;
    for (std::size_t o = 0; o < outputs(); ++o) n += operations(output(o).value);
    return n;
  }

  // --- bytes
  // Of what is read that no earlier stage hands over, and of what is stored; weights come from memory.
  constexpr void add_operands(const gpu_facts& facts, gpu_work& w) const {
    const auto l2 = static_cast<double>(facts.l2_bytes);
    for (std::size_t l = 0; l < loads(); ++l) {
      const plan::recipe_load& from = load(l);
      if (from.reach.count != 0) continue;
      double bytes = static_cast<double>(size_of(from.type));
      for (const plan::view_axis& a : plan().axes_of(from.axes))
        if (a.stride != 0) bytes *= extent(a.size);
      if (tag().kind == form::point && !is_convolution(tag()) && !is_product(tag()))  // a Gather's table
        bytes = std::min(bytes, elements() * taps() * static_cast<double>(size_of(from.type)));
      (from.setup || bytes > l2 / 2 ? w.far : w.near) += bytes;
    }
    if (is_earlier_stage()) return;
    for (std::size_t o = 0; o < outputs(); ++o) {
      const double bytes = elements() * static_cast<double>(size_of(output(o).type));
      (bytes > l2 / 2 ? w.far : w.near) += bytes;
    }
  }
  // Of all the anchor's first input, as a stage that is computed again reads it.
  constexpr double input_bytes() const { return inputs() == 0 ? 0 : 4 * elements_of(0); }
  // Of what it hands over or stores.
  constexpr double result_bytes() const { return 4 * elements(); }

  // The stage by itself.
  constexpr gpu_work work(const gpu_facts& facts) const {
    gpu_work w;
    if (multiplies()) {
      const gpu_product p = product(facts);
      const gpu_product_plan tiles = planned(facts, p);
      w = tiles.work;
      const double prologue = operations(input(0)) * elements_of(0) * tiles.column_blocks +
                              operations(input(1)) * elements_of(1) * tiles.row_blocks;
      w.compute += element_time(facts, prologue + elements() * operations_behind());
      add_operands(facts, w);
      return w;
    }
    w.compute = element_time(facts, elements() * operations_behind());
    add_operands(facts, w);
    if (is_depthwise()) {
      const double sums = 2 * elements() * taps() * extent(extent_of(1, 1));
      w.compute += sums / (facts.peak() * facts.shares.depthwise);
    } else if (is_of_rows(tag())) {
      add_passes(facts, w, 1);
    } else if (has_anchor()) {
      const bool is_whole = tag().kind == form::whole;
      double read = 0;
      for (std::size_t i = 0; i < inputs(); ++i) read += elements_of(i) * (1 + operations(input(i)));
      const double operations = is_whole ? 16 * (read + elements()) : elements() * taps() * (8 + operations_in_front());
      // what computes all elements at once does it in one work-group
      w.compute += is_whole ? element_time(facts, operations) * facts.compute_units : element_time(facts, operations);
    }
    return w;
  }

  // Passes over all rows, which so many work-groups make, each for itself.
  constexpr void add_passes(const gpu_facts& facts, gpu_work& w, double times) const {
    const double passes = self().rows.passes == 0 ? 1 : self().rows.passes;
    const double all = inputs() == 0 ? elements() : elements_of(0);
    double of_one = 4 * passes + 2 + operations_in_front();
    for (const dnnkit::detail::row_parts& p : dnnkit::detail::row_operators)
      if (p.id == tag().id)
        of_one =
            p.passes.simple + p.last.simple + 4 * (p.passes.exponentials + p.last.exponentials) + operations_in_front();
    w.compute += element_time(facts, times * all * of_one);
    w.fixed += passes * facts.pass;
    if (passes > 1) w.near += (passes - 1) * times * 4 * all;
  }
  // Does it normalise or reduce what a work-group has, the axis of channels or the last?
  constexpr double row_length() const {
    double n = 1;
    for (std::size_t d = 0; d < rank_of(0); ++d)
      if (self().rows.axes.has(d)) n *= extent(extent_of(0, d));
    return n;
  }

 private:
  static constexpr double extent(plan::local_extent e) { return static_cast<double>(plan::known_or_typical(e)); }
  constexpr double operations_in_front() const { return inputs() == 0 ? 0 : operations(input(0)); }
};

}  // namespace dnnkit::opencl
