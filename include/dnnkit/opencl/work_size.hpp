// SPDX-License-Identifier: MIT
// How much work a kernel is: work-groups of so many work-items, for extents that the step may give when it runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/plan/local_extent.hpp"
#include "dnnkit/tensor/symbol.hpp"

namespace dnnkit::opencl {

// There are as many elements as the product of extents says, and a work-group for every `per_group` of them, or part
// thereof.
struct work_size {
  std::int64_t known = 0;                        // the product of the extents that the compiler knows
  std::array<std::uint16_t, max_rank> others{};  // which of the step's extents are factors, too
  std::size_t other_count = 0;
  std::int64_t per_group = 1, group_size = 1;
  // Work-groups that sum over parts of the same elements hand their sums over in so many numbers, and each set of such
  // groups has a counter, which is zero before and after. 0: none do.
  std::int64_t handed_numbers = 0, counters = 0;

  // The elements of these extents that are `chosen`.
  static constexpr work_size of(std::span<const plan::local_extent> extents, auto chosen) {
    work_size w;
    w.known = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) {
      if (!chosen(d)) continue;
      if (extents[d].is_known()) w.known = dnnkit::detail::saturating_mul(w.known, extents[d].value());
      else w.others[w.other_count++] = static_cast<std::uint16_t>(extents[d].of_step());
    }
    return w;
  }
  // In a step with these extents; the largest number where there are more than that.
  constexpr std::int64_t elements(std::span<const std::int64_t> extents) const {
    std::int64_t n = known;
    for (std::size_t i = 0; i < other_count; ++i) n = dnnkit::detail::saturating_mul(n, extents[others[i]]);
    return n;
  }
  constexpr std::int64_t groups(std::span<const std::int64_t> extents) const {
    const std::int64_t n = elements(extents);
    return n / per_group + (n % per_group != 0 ? 1 : 0);
  }
};

}  // namespace dnnkit::opencl
