// SPDX-License-Identifier: MIT
// The join of two branches of which one is taken: SoD2's Combine, what an imported If becomes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "dnnkit/operator/function.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

namespace op {

// condition (one element), a and b of the same rank -> a if the condition holds, else b. What only one of them depends
// on is the branch that executors may leave out (graph/branches.hpp). The shape is what both have in common (the meet
// of SoD2's lattice): an extent that differs is not known before the condition is.
struct combine {
  static constexpr std::string_view name = "If";
  static constexpr std::string_view operands = "condition, a, b";
  static constexpr form kind = form::elementwise;
  static constexpr element_kinds accepts = element_kinds::any;
  static constexpr bool symbolic = true;
  static constexpr std::array<element, 3> elements{element::logical, element::common, element::common};
  static constexpr traits properties{.dynamic = dynamism::edo};

  static constexpr void infer(inference& c) {
    if (!c.require_equal(c.count(0), "the number of elements of the condition", 1, "expected")) return;
    if (!c.require(c.rank(0) <= c.rank(1), "the condition has more axes than the branches' results")) return;
    if (!c.require_same_rank(1, 2)) return;
    shape s = c.in(1);
    for (std::size_t d = 0; d < s.size(); ++d)
      if (!(s[d] == c.in(2)[d])) s[d] = dim::unknown();
    c.out(c.type(1), s);
  }
  template <class M, class T> static constexpr T apply(M condition, T a, T b) { return select(condition, a, b); }
};

}  // namespace op

inline constexpr function<op::combine> combine;

}  // namespace dnnkit
