// SPDX-License-Identifier: MIT
// Extents inside a kernel. Kernels are compiled for recipes, which steps of different shapes share, so what is no
// constant there is a number of the step's own list, where buffers have dims: polynomials over the plan's symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/tensor/dim.hpp"

namespace dnnkit::plan {

// An extent, stride or offset in a recipe: a number of 0 or more that the compiler knows, or entry i of the step's
// extents. No dim, and no dim becomes one unasked: each means nothing where the other is looked up.
struct local_extent {
  local_extent() = default;  // 0 when value-initialised; trivial, as dim is
  // Throws std::invalid_argument, a compile error in a constant expression, for a negative number.
  constexpr local_extent(std::int64_t known) : code(known), typical(known) {
    if (known < 0) throw std::invalid_argument("dnnkit: an extent inside a kernel is negative");
  }
  static constexpr local_extent of_step(std::size_t i, std::int64_t typical = symbol::usual) {
    local_extent e{};
    e.code = ~static_cast<std::int64_t>(i);
    e.typical = typical;
    return e;
  }

  // Attributes of operators have dims. In a recipe's attributes those that are not known stand for the step's extents,
  // too; these two functions are the only way between the types.
  constexpr dim as_attribute() const { return is_known() ? dim(value()) : dim::of_expression(of_step()); }
  static constexpr local_extent from_attribute(dim d) {
    return d.is_known() ? local_extent(d.value()) : of_step(d.expression());
  }

  constexpr bool is_known() const { return code >= 0; }
  constexpr std::int64_t value() const { return code; }
  constexpr std::size_t of_step() const { return static_cast<std::size_t>(~code); }
  // In a step with these extents.
  constexpr std::int64_t value_in(const std::int64_t* extents) const {
    return is_known() ? value() : extents[of_step()];
  }
  // Steps whose extents are typically others share kernels.
  friend constexpr bool operator==(local_extent a, local_extent b) { return a.code == b.code; }

  std::int64_t code;     // 0 and above: known; below: the complement of a number of the step's extents
  std::int64_t typical;  // what costs take it for that is not known, in the first step with the recipe
};

// A list of them among the plan's local extents.
struct local_shape {
  std::uint32_t first = 0, count = 0;
};

}  // namespace dnnkit::plan
