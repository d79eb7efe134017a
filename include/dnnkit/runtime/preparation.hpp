// SPDX-License-Identifier: MIT
// What is done with weights before the first run, in which order, and how long each buffer is needed for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

namespace detail {

// Which operands of a kernel, or of one of its stages, it reads when it runs: those of its outputs and of the anchor's
// inputs that are not packed.
class run_time_reads {
 public:
  run_time_reads(const plan_view& plan, const recipe& r, std::uint32_t packed_inputs)
      : plan_(plan), self_(r), seen_(r.nodes.count) {
    for (const recipe_output& o : plan_view::part<recipe_output>(plan.outputs, r.outputs)) read(o.value);
    const auto inputs = plan.refs_of(r.anchor_inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if ((packed_inputs >> i & 1u) == 0) read(inputs[i]);
  }

  bool operator()(std::size_t operand) const { return operand < read_.size() && read_[operand]; }

 private:
  void read(operand_ref x) {
    if (x.from == source::load) {
      const std::size_t operand = plan_.loads[self_.loads.first + x.index].operand;
      read_.resize(std::max(read_.size(), operand + 1));
      read_[operand] = true;
    }
    if (x.from != source::node || seen_[x.index]) return;
    seen_[x.index] = true;
    for (operand_ref in : plan_.refs_of(plan_.nodes[self_.nodes.first + x.index].inputs)) read(in);
  }

  const plan_view& plan_;
  const recipe& self_;
  std::vector<bool> seen_, read_;  // nodes, operands
};

}  // namespace detail

class preparation {
 public:
  // Setup step number `step` is run, or the weights of step number `step` are packed.
  struct action {
    bool packs;
    std::size_t step;
  };

  // Weights are packed as soon as what they are computed from is there, so that it can go; of such as are there at once
  // the largest first: less of the others is packed then while they are in memory twice.
  preparation(const plan_view& plan, std::span<const cpu::kernel_entry> kernels) : last_(plan.buffers.size(), never) {
    find_actions(plan, kernels);
    for (std::size_t i = 0; i < actions_.size(); ++i)
      for (std::int32_t b : plan.numbers_of(step_of(plan, actions_[i]).operands)) last_[index(b)] = i;
    for (const plan::step& s : plan.steps) {
      const plan::recipe& r = plan.recipes[s.kernel];
      const auto operands = plan.numbers_of(s.operands);
      for (std::size_t k = 0; k < plan.stages_of(r); ++k) {
        const std::uint32_t packed = kernels[s.kernel].packed_inputs >> 8 * (plan.stages_of(r) - 1 - k) & 0xffu;
        const detail::run_time_reads reads(plan, plan.stage_of(r, k), packed);
        for (std::size_t i = 0; i < operands.size(); ++i)
          if (reads(i)) last_[index(operands[i])] = always;
      }
      const auto guards = plan.numbers_of(s.guards);
      for (std::size_t i = 0; i < guards.size(); i += 2) last_[index(guards[i])] = always;
    }
  }

  const std::vector<action>& actions() const noexcept { return actions_; }
  static const plan::step& step_of(const plan_view& plan, const action& a) {
    return (a.packs ? plan.steps : plan.setup_steps)[a.step];
  }

  // Do kernels read buffer b when they run?
  bool is_kept(std::size_t b) const { return last_[b] == always; }
  // Is buffer b not needed any more after action number i?
  bool ends_with(std::size_t b, std::size_t i) const { return last_[b] == i; }

 private:
  static constexpr std::size_t always = std::numeric_limits<std::size_t>::max(), never = always - 1;
  static std::size_t index(std::int32_t b) { return static_cast<std::size_t>(b); }

  void find_actions(const plan_view& plan, std::span<const cpu::kernel_entry> kernels) {
    std::vector<std::size_t> made_by(plan.buffers.size(), 0);  // 1 + the number of its setup step
    for (std::size_t i = 0; i < plan.setup_steps.size(); ++i)
      for (std::int32_t b : plan.numbers_of(plan.setup_steps[i].operands))
        if (plan.buffers[index(b)].where == plan::storage::setup && made_by[index(b)] == 0) made_by[index(b)] = i + 1;
    std::vector<std::vector<std::size_t>> packed_after(plan.setup_steps.size() + 1);
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      if (kernels[plan.steps[i].kernel].pack == nullptr) continue;
      std::size_t latest = 0;
      for (std::int32_t b : plan.numbers_of(plan.steps[i].operands)) latest = std::max(latest, made_by[index(b)]);
      packed_after[latest].push_back(i);
    }
    const auto size = [&](std::size_t step) { return kernels[plan.steps[step].kernel].packed_bytes; };
    for (std::vector<std::size_t>& at_once : packed_after)
      std::ranges::stable_sort(at_once, std::ranges::greater{}, size);
    for (std::size_t i = 0; i < packed_after.size(); ++i) {
      if (i > 0) actions_.push_back({false, i - 1});
      for (std::size_t s : packed_after[i]) actions_.push_back({true, s});
    }
  }

  std::vector<action> actions_;
  std::vector<std::size_t> last_;  // the action that is the last to use a buffer
};

}  // namespace dnnkit
