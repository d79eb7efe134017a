// SPDX-License-Identifier: MIT
// The facts of a target, whatever kind of processor it is: what passes hand on to families of kernels, each of which
// knows one kind.
#pragma once

#include <concepts>

#include "dnnkit/cost/estimate.hpp"
#include "dnnkit/cost/gpu_facts.hpp"
#include "dnnkit/cost/target.hpp"

namespace dnnkit {

// Refers to facts that must outlive it, as the static members of targets do.
class target_facts {
 public:
  constexpr target_facts(const cpu_facts& facts) : cpu_(&facts) {}
  constexpr target_facts(const gpu_facts& facts) : gpu_(&facts), is_gpu_(true) {}

  // Of the kind that they are of; a family of another kind is not to be asked.
  template <class Facts> constexpr const Facts& as() const {
    if constexpr (std::same_as<Facts, gpu_facts>) return *gpu_;
    else return *cpu_;
  }
  template <class Facts> constexpr bool are() const { return std::same_as<Facts, gpu_facts> == is_gpu_; }

  // Cycles of the clock for which printers turn costs into seconds.
  constexpr double gigahertz() const { return is_gpu_ ? gpu_->gigahertz : cpu_->costs.gigahertz; }

 private:
  const cpu_facts* cpu_ = nullptr;
  const gpu_facts* gpu_ = nullptr;
  bool is_gpu_ = false;  // asked in place of the addresses, as in known_facts
};

constexpr double microseconds(target_facts facts, const kernel_cost& cost) {
  return cost.cycles / (1e3 * facts.gigahertz());
}

}  // namespace dnnkit
