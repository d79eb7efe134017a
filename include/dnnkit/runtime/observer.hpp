// SPDX-License-Identifier: MIT
// Observers: what a run tells of its steps.
#pragma once

#include <concepts>
#include <cstddef>

#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

// Something that run() tells of every kernel: before(plan, number of the step), whose false stops the run, and after
// it. Both are called by the thread that calls run(). What they throw leaves run(), which can be called again; run() is
// noexcept only where they are.
template <class T>
concept observer = requires(T& x, const plan_view& plan, std::size_t step) {
  { x.before(plan, step) } -> std::convertible_to<bool>;
  x.after(plan, step);
};
template <class T>
concept nothrow_observer = observer<T> && requires(T& x, const plan_view& plan, std::size_t step) {
  { x.before(plan, step) }
  noexcept;
  { x.after(plan, step) }
  noexcept;
};

// The default tells nobody, and the calls are compiled out.
struct no_observer {
  static constexpr bool before(const plan_view&, std::size_t) noexcept { return true; }
  static constexpr void after(const plan_view&, std::size_t) noexcept {}
};

}  // namespace dnnkit
