// SPDX-License-Identifier: MIT
// Symbols, which stand for extents, the values they may have, and arithmetic on the ends of such intervals.
#pragma once

#include <cstdint>
#include <limits>

#include "dnnkit/core/text.hpp"

namespace dnnkit {

namespace detail {
// a + b and a * b, held at the ends of the 64-bit range.
constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}
constexpr std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  if (!__builtin_mul_overflow(a, b, &r)) return r;
  return (a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}
// rounded down; b > 0
constexpr std::int64_t floor_quotient(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
}  // namespace detail

struct bounds {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int32_t>::max();

  friend constexpr bool operator==(const bounds&, const bounds&) = default;
};

namespace detail {
// The values of x * y.
constexpr bounds interval_product(bounds x, bounds y) {
  const std::int64_t p[] = {saturating_mul(x.min, y.min), saturating_mul(x.min, y.max), saturating_mul(x.max, y.min),
                            saturating_mul(x.max, y.max)};
  bounds r{p[0], p[0]};
  for (std::int64_t v : p) r = {v < r.min ? v : r.min, v > r.max ? v : r.max};
  return r;
}
}  // namespace detail

struct symbol {
  static constexpr std::int64_t usual = 64;

  text name;
  bounds limits;
  std::int64_t typical = usual;  // what costs take it for
};

}  // namespace dnnkit
