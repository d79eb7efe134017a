// SPDX-License-Identifier: MIT
// What a recipe's trees take (cpu/tree.hpp): loads, element-wise operators and stores, on a vector of elements or on
// one at a time; and where the operands of a kernel lie.
#pragma once

#include <cstddef>

#include "dnnkit/cost/estimate.hpp"
#include "dnnkit/cost/operator_cycles.hpp"
#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/op/gather.hpp"
#include "dnnkit/op/gather_elements.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::cpu {

class tree_cost {
 public:
  // Vectors of `lanes` elements along `along`; single elements where that is 1.
  constexpr tree_cost(const kernel_spec& spec, const cpu_facts& facts, std::size_t along, int lanes)
      : spec_(spec), facts_(facts), of_(facts.costs), along_(along), lanes_(lanes) {}

  // Cycles of the value r at one place, all that it is computed from included.
  constexpr double value(operand_ref r) const {
    double n = 0;
    spec_.all_in_tree(r, [&](operand_ref x) {
      if (x.from == source::load) n += load(spec_.load(x.index));
      else if (x.from == source::node) n += node(x);
      return true;
    });
    return n;
  }
  // Of all outputs, stores included.
  constexpr double outputs() const {
    double n = 0;
    for (std::size_t o = 0; o < spec_.outputs(); ++o) n += value(spec_.output(o).value) + store(spec_.output(o));
    return n;
  }

 private:
  constexpr double node(operand_ref r) const {
    const double of_vector = vector_cycles(facts_, spec_.node(r.index).op.id);
    if (lanes_ > 1 && computes_in_vectors(spec_, r)) return of_vector;
    // Of a single element, what is dear comes from the C library.
    return lanes_ * (of_vector > 4 * of_.simple ? of_.library / facts_.float_lanes : of_.evaluated / 4);
  }
  constexpr double load(const recipe_load& l) const {
    const lane_stride s = spec_.stride_along(l, along_);
    const double place =
        (of_.moved * static_cast<double>(l.movement.count) + divisions(l.axes) * of_.divided) / steps(s);
    if (lanes_ == 1) return of_.load + place;
    const bool plain = s.single;
    if (plain && s.stride == 0) return of_.load + place;
    if (plain && s.stride == 1) return of_.load * registers_of(l.type) + place;
    if (plain && s.stride == 2 && l.type == dtype::f32) return 2 * of_.load + of_.simple + place;  // vec::every_other
    if (plain) return place + lanes_ * of_.gathered;
    return lanes_ * (of_.gathered + place);
  }
  constexpr double store(const recipe_output& o) const {
    const lane_stride s = spec_.stride_along(o.axes, along_);
    const double place = divisions(o.axes) * of_.divided / steps(s);
    if (lanes_ == 1) return of_.store + place;
    const bool in_runs = !s.single && spec_.run_along(o.axes, along_) % lanes_ == 0;
    if (in_runs || (s.single && s.stride == 1)) return of_.store * registers_of(o.type) + place;
    return lanes_ * (of_.scattered + (s.single ? 0 : place));
  }
  // So many vectors, or elements, one place is found for: of those of a row, in which a single coordinate steps, compilers
  // find it once.
  constexpr double steps(const lane_stride& s) const {
    if (!s.single || along_ >= spec_.rank()) return 1;
    const auto row = static_cast<double>(known_or_typical(spec_.space(along_)));
    return row > lanes_ ? row / lanes_ : 1;
  }
  // That lanes of elements take in memory, at least one.
  static constexpr double registers_of(dtype t) { return size_of(t) > 4 ? static_cast<double>(size_of(t)) / 4 : 1; }
  // Coordinates that a view takes apart, axis by axis.
  constexpr double divisions(slice_of axes) const {
    double n = 0;
    const auto all = spec_.plan().axes_of(axes);
    for (std::size_t i = 1; i < all.size(); ++i) n += all[i].of == all[i - 1].of ? 1 : 0;
    return n;
  }

  const kernel_spec& spec_;
  const cpu_facts& facts_;
  const cost_coefficients& of_;
  std::size_t along_;
  int lanes_;
};

// Elements that a view leads to, each once.
constexpr double elements_in(const kernel_spec& spec, slice_of axes) {
  double n = 1;
  for (const view_axis& a : spec.plan().axes_of(axes))
    if (a.stride != 0) n *= static_cast<double>(known_or_typical(a.size));
  return n;
}

// What a kernel moves, each element once; of what indices pick from, as much as is picked. What is the same in every
// run has gone from the caches since the run before; what a run computes lies in the smallest memory that holds it
// together with what is written now.
constexpr memory_traffic traffic_of(const kernel_spec& spec, const cpu_facts& facts) {
  double written = 0;
  for (std::size_t o = 0; o < spec.outputs(); ++o)
    written += spec.elements() * static_cast<double>(size_of(spec.output(o).type));
  const bool picks = spec.is_anchor<op::gather>() || spec.is_anchor<op::gather_elements>();
  memory_traffic t;  // what stages hand to each other is not on its way
  for (std::size_t l = 0; l < spec.loads(); ++l) {
    const recipe_load& from = spec.load(l);
    if (from.reach.count != 0) continue;
    double bytes = elements_in(spec, from.axes) * static_cast<double>(size_of(from.type));
    if (picks && bytes > written && spec.reads(spec.input(0), l)) bytes = written;
    t.add_read(from.setup ? memory_level::memory : level_of(facts, bytes + written), bytes);
  }
  if (!spec.is_earlier_stage()) t.add_written(level_of(facts, written), written);
  return t;
}

}  // namespace dnnkit::cpu
