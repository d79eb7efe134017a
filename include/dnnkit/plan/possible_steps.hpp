// SPDX-License-Identifier: MIT
// Which steps of a plan can run when its symbols have values. Every tensor that is stored, and every kernel's iteration
// space, must have extents of 0 or more, and extents that are assumed to be equal must be. Of a branch of an If that
// holds where the branch is taken, and nowhere else: elsewhere its steps have neither memory nor commands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/tensor/check_assumptions.hpp"

namespace dnnkit::detail {

class possible_steps {
 public:
  // Of what runs whichever branches are taken.
  enum class negative_extents : std::uint8_t { refused, accepted };

  // `values` of the plan's symbols, whose table is `table`, in order. Throws dnnkit::error naming the operator or
  // tensor that has a negative extent, of what runs whichever branches are taken.
  possible_steps(const plan_view& plan, const symbol_table& table, std::span<const std::int64_t> values,
                 negative_extents negative = negative_extents::refused)
      : plan_(plan), table_(table), values_(values) {
    for (const guarded_assumption& a : plan.branch_assumptions)
      if (std::optional<error> wrong = assumption_error(table, a.assumed, values)) refuse(a.guards, std::move(*wrong));
    for (const step& s : plan.steps)
      if (s.guards.count != 0 && reason_against(s) == none)
        if (std::optional<error> wrong = problem_of(s)) refuse(s.guards, std::move(*wrong));
    if (!refused_.empty()) find_used();
    if (negative == negative_extents::accepted) return;
    for (std::size_t b = 0; b < plan.buffers.size(); ++b)
      if (uses(b))
        if (std::optional<error> wrong = problem_of(plan.buffers[b])) throw std::move(*wrong);
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      if (reason_against(i) == none)
        if (std::optional<error> wrong = problem_of(plan.steps[i])) throw std::move(*wrong);
  }

  // Why a step of a branch must not run, as a number of reasons(); none for one that can.
  std::int32_t reason_against(std::size_t step) const { return refused_.empty() ? none : reason_of_[step]; }
  const std::vector<error>& reasons() const { return reasons_; }
  // Does a step that can run use the buffer, or the caller?
  bool uses(std::size_t buffer) const { return refused_.empty() || used_[buffer]; }

 private:
  std::int64_t evaluate(dim d) const { return table_.evaluate(d, values_.data()); }

  void refuse(slice_of guards, error why) {
    refused_.push_back(guards);
    reasons_.push_back(std::move(why));
  }
  // Of the branches that the step is in, the first that cannot be taken.
  std::int32_t reason_against(const step& s) const {
    for (std::size_t k = 0; k < refused_.size(); ++k)
      if (includes(s.guards, refused_[k])) return static_cast<std::int32_t>(k);
    return none;
  }
  bool includes(slice_of guards, slice_of wanted) const {
    const auto all = plan_.numbers_of(guards), some = plan_.numbers_of(wanted);
    for (std::size_t k = 0; k < some.size(); k += 2) {
      bool found = false;
      for (std::size_t i = 0; i < all.size(); i += 2) found = found || (all[i] == some[k] && all[i + 1] == some[k + 1]);
      if (!found) return false;
    }
    return true;
  }

  void find_used() {
    reason_of_.resize(plan_.steps.size());
    used_.resize(plan_.buffers.size());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) reason_of_[i] = reason_against(plan_.steps[i]);
    const auto use = [&](std::int32_t b) {
      for (std::int32_t one : {b, plan_.buffers[static_cast<std::size_t>(b)].layout.within})
        if (one != none) used_[static_cast<std::size_t>(one)] = true;
    };
    for (std::size_t b = 0; b < used_.size(); ++b)
      used_[b] = !is_between_kernels(plan_.buffers[b].where) && plan_.buffers[b].where != storage::tiles;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      for (std::size_t k = 0; k < plan_.steps[i].guards.count; k += 2) use(plan_.numbers_of(plan_.steps[i].guards)[k]);
      if (reason_of_[i] == none)
        for (std::int32_t b : plan_.numbers_of(plan_.steps[i].operands)) use(b);
    }
  }

  std::optional<error> problem_of(const step& s) const {
    std::optional<error> wrong;
    for_each_written(plan_, s, [&](std::int32_t b) {
      if (!wrong) wrong = problem_of(plan_.buffers[static_cast<std::size_t>(b)]);
    });
    for (local_extent e : plan_.extents_of(plan_.recipes[s.kernel].space))
      if (!e.is_known() && !wrong)
        if (const dim extent = plan_.dims_of(s.extents)[e.of_step()]; evaluate(extent) < 0)
          wrong = negative_extent(extent, operator_of(s), "");
    return wrong;
  }
  std::optional<error> problem_of(const buffer& b) const {
    for (dim d : b.type.dims)
      if (evaluate(d) < 0)
        return negative_extent(d, writer_of(b), ", tensor '" + std::string(plan_.text_of(b.name)) + "'");
    return std::nullopt;
  }
  error negative_extent(dim d, std::string where, const std::string& tensor) const {
    where += tensor;
    if (where.starts_with(", ")) where.erase(0, 2);
    return error("an extent would be negative: what is computed does not fit its input", where,
                 table_.print(d).str() + " of 0 or more", std::to_string(evaluate(d)) + values_in(table_, d, values_));
  }
  // "Conv 'conv1'": the operator a kernel is built around; "kernel 'add'" when there is none.
  std::string operator_of(const step& s) const {
    const recipe& r = plan_.recipes[s.kernel];
    const std::string_view type = r.anchor.id == operator_id::none ? "kernel" : r.anchor.name;
    const std::string_view name = plan_.text_of(s.name);
    return std::string(type) + (name == type ? "" : " '" + std::string(name) + "'");
  }
  // The operator that computes b; empty for inputs and the like.
  std::string writer_of(const buffer& b) const {
    const step* writer = nullptr;
    for (const step& s : plan_.steps)
      for_each_written(plan_, s, [&](std::int32_t written) {
        if (writer == nullptr && &b == &plan_.buffers[static_cast<std::size_t>(written)]) writer = &s;
      });
    return writer == nullptr ? std::string() : operator_of(*writer);
  }

  const plan_view& plan_;
  const symbol_table& table_;
  std::span<const std::int64_t> values_;
  std::vector<slice_of> refused_;  // branches that cannot be taken, and why
  std::vector<error> reasons_;
  std::vector<std::int32_t> reason_of_;  // by step
  std::vector<bool> used_;               // by buffer; of no size without such branches
};

}  // namespace dnnkit::detail
