// SPDX-License-Identifier: MIT
// Tensors that grow in place: a Concat whose first part is a tensor that lies just as the result has it. Given one
// memory for both, it writes what the other parts add, and the first is there already:
//
//   position of coordinates c in the first part = position of c in the result, for all c of the first part
//
// So is it for keys and values whose tokens are the outermost axis: [P, heads, width] becomes [P + 1, heads, width].
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/op/concat.hpp"
#include "dnnkit/plan/kernel_spec.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::plan {

// Is a kernel such a Concat, which has one output and reads its first part from memory as it is?
constexpr bool keeps_first_part(const kernel_spec& spec) {
  if (!spec.is_anchor<op::concat>() || spec.stages() != 1 || spec.outputs() != 1) return false;
  const operand_ref first = spec.input(0);
  const recipe_output& to = spec.output(0);
  if (first.from != source::load || to.value.from != source::anchor) return false;
  const recipe_load& from = spec.load(first.index);
  if (from.movement.count != 0 || from.type != to.type || spec.type_of(first) != to.type || !(from.offset == to.offset))
    return false;
  for (std::size_t d = 0; d < spec.rank(); ++d) {
    const lane_stride a = spec.stride_along(from.axes, d), b = spec.stride_along(to.axes, d);
    if (!a.single || !b.single || !(a.stride == b.stride || spec.space(d) == local_extent(1))) return false;
  }
  return true;
}

// Do input and output, numbers of buffers, hold the right elements after a run that had one memory for both? Whoever
// reads the input finds what it held before, which is never written.
constexpr bool grows_in_place(const plan_view& plan, std::int32_t input, std::int32_t output) {
  std::size_t writers = 0;
  bool keeps = false;
  for (const step& s : plan.steps)
    for_each_written(plan, s, [&](std::int32_t written) {
      if (written != output) return;
      ++writers;
      const kernel_spec spec(plan, s.kernel);
      keeps = s.guards.count == 0 && keeps_first_part(spec) &&
              plan.numbers_of(s.operands)[spec.load(spec.input(0).index).operand] == input;
    });
  return writers == 1 && keeps;
}

}  // namespace dnnkit::plan
