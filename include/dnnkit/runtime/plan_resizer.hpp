// SPDX-License-Identifier: MIT
// Other values of a plan's symbols in memory that was planned for larger ones: as a state that grows from run to run
// needs it. Extents and units of work are written anew, where they are; nothing is planned, and nothing allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/plan/possible_steps.hpp"
#include "dnnkit/runtime/binding.hpp"
#include "dnnkit/runtime/bound_plan.hpp"
#include "dnnkit/runtime/buffer_sizes.hpp"
#include "dnnkit/runtime/kernel_commands.hpp"
#include "dnnkit/tensor/check_assumptions.hpp"

namespace dnnkit::detail {

class plan_resizer {
 public:
  plan_resizer(const plan_view& plan, const symbol_table& table, std::span<const cpu::kernel_entry> kernels,
               bound_plan& bound)
      : plan_(plan), table_(table), kernels_(kernels), b_(bound) {}

  // One value for each symbol, in order. False, and all as it was, where they need more memory than was planned. Throws
  // dnnkit::error for values with which the plan cannot be run.
  bool resize(std::span<const std::int64_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i) check_bounds(plan_.symbols[i], values[i]);
    check_assumptions(table_, values);
    const possible_steps possible(plan_, table_, values);
    require_same_branches(possible);
    const buffer_sizes sizes(plan_, table_, values);
    sizes.write_extents(b_.extents);
    if (!buffers_fit(sizes, possible) || !scratch_fits(sizes, possible)) {
      buffer_sizes(plan_, table_, b_.values).write_extents(b_.extents);
      return false;
    }
    write_units(sizes);
    std::ranges::copy(values, b_.values.begin());
    return true;
  }

 private:
  // The list of commands stays as it is, with the branches in it that can be taken with what was planned.
  void require_same_branches(const possible_steps& possible) const {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const std::int32_t reason = possible.reason_against(i);
      if (reason != none && !b_.steps[i].refused) throw possible.reasons()[static_cast<std::size_t>(reason)];
      if (reason == none && b_.steps[i].refused)
        throw error("a branch that could not be taken with the sizes that memory was planned for can be taken now",
                    "step '" + std::string(plan_.text_of(plan_.steps[i].name)) + "'");
    }
  }
  bool buffers_fit(const buffer_sizes& sizes, const possible_steps& possible) const {
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i)
      if (plan_.buffers[i].where == storage::arena && possible.uses(i) && sizes.room_of(plan_.buffers[i]) > b_.bytes[i])
        return false;
    return true;
  }
  // A step that was left out has no commands.
  bool scratch_fits(const buffer_sizes& sizes, const possible_steps& possible) const {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const bound_plan::step_place& place = b_.steps[i];
      if (possible.reason_against(i) != none || sizes.is_idle(plan_.steps[i])) continue;
      const cpu::kernel_entry& k = kernels_[plan_.steps[i].kernel];
      const cpu::kernel_call extents{nullptr, b_.extents.data() + place.extents, nullptr, nullptr, nullptr};
      if (place.idle || (k.scratch_bytes != nullptr && k.scratch_bytes(extents) > place.scratch_bytes) ||
          (k.worker_bytes != nullptr && k.worker_bytes(extents) > place.worker_bytes))
        return false;
    }
    return true;
  }

  void write_units(const buffer_sizes& sizes) const {
    const cpu::kernel_entry* kernel = nullptr;
    bool idle = false, is_prepared = true;
    std::size_t threads = 0;
    const auto write = [&](call_kernel& phase, bool is_first) {
      phase.most_threads = threads;
      phase.units = idle ? 0 : static_cast<std::size_t>((is_first ? kernel->prepare_units : kernel->units)(phase.call));
    };
    for (kernel_command& c : b_.commands) {
      if (const auto* begin = std::get_if<begin_step>(&c)) {
        kernel = &kernels_[plan_.steps[begin->step].kernel];
        idle = sizes.is_idle(plan_.steps[begin->step]);
        is_prepared = kernel->prepare == nullptr;
        threads = most_threads_for(kernel->cycles_an_element * sizes.elements_written(plan_.steps[begin->step]));
      } else if (auto* call = std::get_if<call_kernel>(&c)) {
        write(*call, !is_prepared);
        is_prepared = true;
      } else if (auto* by_worker = std::get_if<call_by_worker>(&c)) {
        write(by_worker->phase, false);
      }
    }
  }

  const plan_view& plan_;
  const symbol_table& table_;
  std::span<const cpu::kernel_entry> kernels_;
  bound_plan& b_;
};

}  // namespace dnnkit::detail
