// SPDX-License-Identifier: MIT
// Conditions of rules that their patterns do not say.
#pragma once

#include <bit>
#include <cstddef>

#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite {

// `x` is one number for each row that the operator reduces whose attributes are `axes`, and the operator keeps the axes
// that it reduces, so that x still fits what comes of it.
constexpr condition constant_along(const pattern& x, slot axes) {
  const auto holds = [](const binding& b, std::uint8_t variable, std::uint8_t slot) {
    const value* const at = b.value_of(variable);
    const node& n = b.g->node_at(b.slots[slot]);
    const shape &in = b.g->at(b.g->input_of(n, 0)).type.dims, &out = b.g->at(n.output).type.dims;
    if (at == nullptr || in.size() != out.size() || at->type.dims.size() > in.size()) return false;
    const axis_set reduced = n.op->rows(b.g->attributes_of(n), in.size()).axes;
    const std::size_t missing = in.size() - at->type.dims.size();
    for (std::size_t d = missing; d < in.size(); ++d)
      if (reduced.has(d) && !(at->type.dims[d - missing] == dim(1))) return false;
    return true;
  };
  return {holds, x.root().name, axes.name, condition::about::variable, condition::about::slot, " is constant along "};
}

// Two values have the same extents, so that neither is spread.
constexpr condition same_extents(const pattern& x, const pattern& y) {
  const auto holds = [](const binding& b, std::uint8_t first, std::uint8_t second) {
    const value *const one = b.value_of(first), *const other = b.value_of(second);
    return one != nullptr && other != nullptr && one->type.dims == other->type.dims;
  };
  return {holds,
          x.root().name,
          y.root().name,
          condition::about::variable,
          condition::about::variable,
          " has the extents of "};
}

// All variables are matrices, or stacks of them.
constexpr condition matrices() {
  const auto holds = [](const binding& b, std::uint8_t, std::uint8_t) {
    for (std::uint8_t i = 0; i < most_variables; ++i)
      if (const value* const at = b.value_of(i); b.values[i] != none && (at == nullptr || at->type.dims.size() < 2))
        return false;
    return true;
  };
  return {holds, 0, 0, condition::about::nothing, condition::about::nothing, "all are matrices"};
}

// A number that is written into the graph, and above 0.
constexpr condition positive(const pattern& x) {
  const auto holds = [](const binding& b, std::uint8_t variable, std::uint8_t) {
    const value* const at = b.value_of(variable);
    return at != nullptr && at->from == origin::constant && at->data.count == 1 && is_floating(at->type.type) &&
           std::bit_cast<double>(b.g->constants[at->data.first]) > 0;
  };
  return {holds, x.root().name, 0, condition::about::variable, condition::about::nothing, " is above 0"};
}

}  // namespace dnnkit::rewrite
