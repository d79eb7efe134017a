// SPDX-License-Identifier: MIT
// How large a plan's buffers are under values of its symbols.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

class buffer_sizes {
 public:
  buffer_sizes(const plan_view& plan, const symbol_table& table, std::span<const std::int64_t> values)
      : plan_(plan), table_(table), values_(values) {}

  std::int64_t evaluate(dim d) const { return table_.evaluate(d, values_.data()); }
  bool is_empty(const buffer& b) const {
    return std::ranges::any_of(b.type.dims, [&](dim d) { return evaluate(d) == 0; });
  }
  // Is all that a step writes without elements?
  bool is_idle(const step& s) const {
    bool idle = true;
    for_each_written(plan_, s,
                     [&](std::int32_t b) { idle = idle && is_empty(plan_.buffers[static_cast<std::size_t>(b)]); });
    return idle;
  }
  // Elements of the largest of the buffers that a step writes.
  double elements_written(const step& s) const {
    double most = 0;
    for_each_written(plan_, s, [&](std::int32_t b) {
      double n = 1;
      for (const dim d : plan_.buffers[static_cast<std::size_t>(b)].type.dims) n *= static_cast<double>(evaluate(d));
      most = std::max(most, n);
    });
    return most;
  }
  // Bytes with border; what does not fit 63 bits is their largest number.
  std::int64_t room_of(const buffer& b) const {
    auto bytes = static_cast<std::int64_t>(size_of(b.type.type));
    bool empty = false;
    for (std::size_t i = 0; i < b.type.dims.size(); ++i) {
      const std::int64_t n = i < b.layout.before.size()
                                 ? saturating_add(evaluate(b.type.dims[i]), b.layout.before[i] + b.layout.after[i])
                                 : evaluate(b.type.dims[i]);
      empty = empty || n == 0;
      bytes = saturating_mul(bytes, n);
    }
    return empty ? 0 : bytes;
  }
  // The extents that kernels see, of all steps, then those of the borders that steps clear, into a list of that length.
  void write_extents(std::span<std::int64_t> to) const {
    std::size_t n = 0;
    for (const step& s : plan_.steps)
      for (dim d : plan_.dims_of(s.extents)) to[n++] = evaluate(d);
    for (const step& s : plan_.steps)
      for (std::int32_t b : plan_.numbers_of(s.borders))
        for (dim d : plan_.buffers[static_cast<std::size_t>(b)].type.dims) to[n++] = evaluate(d);
  }

 private:
  const plan_view& plan_;
  const symbol_table& table_;
  std::span<const std::int64_t> values_;
};

}  // namespace dnnkit::detail
