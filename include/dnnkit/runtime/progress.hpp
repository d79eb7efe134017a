// SPDX-License-Identifier: MIT
// An observer that tells how far a run is, and can stop it.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

// Calls report(done, total) before each kernel with the number of kernels that have run, and once after the last with
// done == total. A report that returns false stops the run there (session::run then returns false, and the outputs are
// incomplete); what the last call returns means nothing. What it throws leaves session::run(), which is noexcept only
// where the report is.
//
//   auto bar = dk::progress([](std::size_t done, std::size_t total) { std::cerr << done << "/" << total << "\r"; });
//   dk::session<net, decltype(bar)> s(weights, bar);
template <class Report>
requires std::invocable<Report&, std::size_t, std::size_t>
class progress_observer {
 public:
  explicit progress_observer(Report report) : report_(std::move(report)) {}

  auto before(const plan_view& plan, std::size_t step) noexcept(is_nothrow) { return go_on(step, plan.steps.size()); }
  void after(const plan_view& plan, std::size_t step) noexcept(is_nothrow) {
    if (step + 1 == plan.steps.size()) static_cast<void>(go_on(step + 1, plan.steps.size()));
  }

 private:
  static constexpr bool is_nothrow = std::is_nothrow_invocable_v<Report&, std::size_t, std::size_t>;

  auto go_on(std::size_t done, std::size_t total) noexcept(is_nothrow) {
    if constexpr (std::is_void_v<std::invoke_result_t<Report&, std::size_t, std::size_t>>) report_(done, total);
    else return static_cast<bool>(report_(done, total));
  }

  Report report_;
};

template <class Report> [[nodiscard]] progress_observer<Report> progress(Report report) {
  return progress_observer<Report>(std::move(report));
}

}  // namespace dnnkit
