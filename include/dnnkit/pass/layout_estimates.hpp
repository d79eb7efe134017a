// SPDX-License-Identifier: MIT
// What layouts cost where there are no families of kernels to ask: for targets of which only the lanes of a vector and
// the kind of memory are known, and graphs that only the plan executor runs. A kernel takes the multiply-adds of its
// convolution, empty lanes included; elements that it reads or writes along dimensions that memory keeps contiguous
// come in vectors, others one by one (SmartMem, section 3.2.2; where it has a choice, writing is the cheaper side).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/cost/coefficients.hpp"
#include "dnnkit/pass/layout_space.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::detail {

class layout_estimates {
 public:
  constexpr layout_estimates(graph& g, const fusion_plan& fusion, const layout_space& space,
                             const vector<buffer_layout>& layouts, std::int64_t lanes, int contiguous)
      : g_(g),
        groups_(fusion.groups),
        space_(space),
        layouts_(layouts),
        lanes_(static_cast<double>(lanes)),
        contiguous_(contiguous) {}

  // Of group number k, as layouts are now.
  constexpr double cycles(std::size_t k) const {
    const fusion_group& group = groups_.items[k];
    if (group.anchor == none) return along_best_dimension(k);
    const node& anchor = g_.node_at(group.anchor);
    return layout_space::wants_channels(g_, anchor) ? of_channels(k, anchor) : of_reduction(k, anchor);
  }

 private:
  constexpr axis_set inner(value_id v) const {
    return contiguous_dimensions(g_.at(v).type.dims, layouts_.items[v].order, contiguous_);
  }
  constexpr double read(value_id v, bool in_vectors) const {
    return typical_elements(g_, g_.at(v).type.dims) * (in_vectors ? 1 / lanes_ : of_.gathered);
  }
  constexpr double written(value_id v, bool in_vectors) const {
    return typical_elements(g_, g_.at(v).type.dims) * (in_vectors ? 1 / lanes_ : of_.simple);
  }
  constexpr bool is_fulfilled(std::size_t k, value_id v) const {
    const layout_wish* const wish = space_.wish_of(k, v);
    return wish == nullptr || (wish->dims.bits & inner(v).bits) != 0;
  }

  // Vectors run along one dimension of what the kernel goes over.
  constexpr double along_best_dimension(std::size_t k) const {
    const value_id y = groups_.items[k].outputs.items[0];
    const shape& s = g_.at(y).type.dims;
    double least = 0;
    for (std::size_t d = 0; d < s.size() || d == 0; ++d) {
      double sum = 0;
      for (value_id v : space_.loads.items[k]) sum += read(v, !(g_.at(v).type.dims == s) || inner(v).has(d));
      for (value_id v : groups_.items[k].outputs) sum += written(v, !(g_.at(v).type.dims == s) || inner(v).has(d));
      if (d == 0 || sum < least) least = sum;
    }
    return least;
  }
  constexpr double of_reduction(std::size_t k, const node& anchor) const {
    double sum = 0;
    for (value_id v : space_.loads.items[k]) sum += read(v, is_fulfilled(k, v));
    for (value_id v : groups_.items[k].outputs) {
      const shape& s = g_.at(v).type.dims;
      const axis_set natural = contiguous_dimensions(s, with_innermost(s.size(), {}), 1);
      sum += written(v, v != anchor.output || natural.bits == 0 || (inner(v).bits & natural.bits) != 0);
    }
    return sum;
  }
  constexpr double of_channels(std::size_t k, const node& anchor) const {
    const value_id y = groups_.items[k].outputs.items[0];
    const bool last = is_fulfilled(k, y);
    double sum = 0;
    for (value_id v : space_.loads.items[k]) {
      const layout_wish* const wish = space_.wish_of(k, v);
      const bool along = wish == nullptr || (wish->dims.bits & inner(v).bits) != 0;
      sum += read(v, wish == nullptr || along == last);
    }
    sum += written(y, true);
    if (!g_.is<op::conv>(anchor)) return sum + (last ? 0 : written(y, false));
    const shape &weight = g_.at(g_.input_of(anchor, 1)).type.dims, &out = g_.at(anchor.output).type.dims;
    const layout_space::lane_work work = space_.work_of(anchor);
    const double slow = space_.is_disputed(anchor) || last ? 1 : lanes_;
    double each = slow * typical_elements(g_, out) / static_cast<double>(weight[0].value());
    for (std::size_t d = 1; d < weight.size(); ++d) each *= static_cast<double>(weight[d].value());
    return sum + each * (last ? work.channels : work.rows) / lanes_;
  }

  graph& g_;
  const vector<fusion_group>& groups_;
  const layout_space& space_;
  const vector<buffer_layout>& layouts_;
  const double lanes_;
  const int contiguous_;
  static constexpr cost_coefficients of_{};
};

}  // namespace dnnkit::detail
