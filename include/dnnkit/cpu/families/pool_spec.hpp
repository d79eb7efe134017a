// SPDX-License-Identifier: MIT
// What the families of pools ask of a recipe around MaxPool or AveragePool.
#pragma once

#include <cstddef>

#include "dnnkit/op/pooling.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::cpu {

constexpr window window_of_pool(const kernel_spec& spec) {
  return spec.is_anchor<op::max_pool>() ? spec.anchor<op::max_pool>().over() : spec.anchor<op::average_pool>().over();
}

// Can the input be read by pointer: one stride a dimension, elements next to each other along axis `along`?
constexpr bool reads_pool_in_place(const kernel_spec& spec, std::size_t along) {
  if (spec.input(0).from != source::load) return false;
  const recipe_load& l = spec.load(spec.input(0).index);
  for (std::size_t d = 0; d < spec.rank(); ++d)
    if (!spec.stride_along(l.axes, d).single) return false;
  return l.movement.count == 0 && spec.stride_along(l.axes, along).stride == 1;
}

}  // namespace dnnkit::cpu
