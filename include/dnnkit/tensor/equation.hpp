// SPDX-License-Identifier: MIT
// What is said of dimensions besides their values: that one is linear in a symbol, that two must be equal, that two are
// taken for equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dnnkit/core/text.hpp"
#include "dnnkit/tensor/polynomial.hpp"

namespace dnnkit {

// factor * symbol + offset, factor > 0: what an input's extent may be for the symbol's value to follow from it.
struct linear_dim {
  std::size_t symbol = 0;
  std::int64_t factor = 1, offset = 0;

  // The symbol's value where the dimension is `extent`; nothing when there is none.
  constexpr std::optional<std::int64_t> solve(std::int64_t extent) const {
    std::int64_t rest = 0;
    if (__builtin_sub_overflow(extent, offset, &rest) || rest % factor != 0) return std::nullopt;
    return rest / factor;
  }
};

// Two dimensions that must be equal for a graph to be legal; `follows`: they are, wherever the rest of it is legal.
struct equation {
  dim left, right;
  bool follows = false;
};

// How two numbers are related.
enum class relation : std::uint8_t { equal, different, less, at_least };
constexpr std::string_view sign_of(relation r) {
  constexpr std::string_view signs[] = {"=", "!=", "<", ">="};
  return signs[static_cast<std::size_t>(r)];
}
constexpr relation opposite(relation r) {
  constexpr relation opposites[] = {relation::different, relation::equal, relation::at_least, relation::less};
  return opposites[static_cast<std::size_t>(r)];
}
constexpr bool holds(std::int64_t a, relation is, std::int64_t b) {
  if (is == relation::equal || is == relation::different) return (a == b) == (is == relation::equal);
  return (a < b) == (is == relation::less);
}

// Whether it holds of two numbers whose difference has these bounds; nothing where they do not tell.
constexpr std::optional<bool> certain(bounds difference, relation is) {
  const bool zero = difference.min == 0 && difference.max == 0, below = difference.max<0, above = difference.min> 0;
  if (is == relation::equal || is == relation::different) {
    if (zero || below || above) return zero == (is == relation::equal);
  } else if (below || difference.min >= 0) {
    return below == (is == relation::less);
  }
  return std::nullopt;
}

// Two dimensions that are taken for equal, or otherwise related, because an operator, which `needed_by` names, is legal
// only then. Whoever gives symbols their values checks it. Where one of the atoms stands alone in the difference of two
// that are equal, it is replaced by what it must be.
struct assumption {
  static constexpr std::int32_t nothing = -1;

  dim left, right;
  relation is = relation::equal;
  text needed_by;
  std::int32_t replaced = nothing;  // number of an atom
  dim by = dim::unknown();          // which mentions no atom that is replaced

  constexpr bool replaces() const { return replaced != nothing; }
};

}  // namespace dnnkit
