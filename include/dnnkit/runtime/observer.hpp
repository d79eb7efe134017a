// SPDX-License-Identifier: MIT
// Observers: what a run tells of its steps.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

// Can an observer stop a run?
template <class T> inline constexpr bool can_stop = requires(T& x, const plan_view& plan, std::size_t step) {
  { x.before(plan, step) } -> std::convertible_to<bool>;
};

// Something that run() tells of every kernel: before(plan, number of the step), and after it. before() returns nothing,
// or a bool, whose false stops the run. Both are called by the thread that calls run(). What they throw leaves run(),
// which can be called again; run() is noexcept only where they are.
template <class T>
concept observer = requires(T& x, const plan_view& plan, std::size_t step) {
  x.before(plan, step);
  requires can_stop<T> || std::is_void_v<decltype(x.before(plan, step))>;
  x.after(plan, step);
};
template <class T>
concept nothrow_observer = observer<T> && requires(T& x, const plan_view& plan, std::size_t step) {
  { x.before(plan, step) }
  noexcept;
  { x.after(plan, step) }
  noexcept;
};

// An observer with a member timed(plan, step, begin, end), two times of std::chrono::steady_clock, is told so of
// kernels on devices that time them, all of a run when it has ended, instead of by before() and after().
template <class T>
inline constexpr bool takes_times =
    !can_stop<T> && requires(T & x, const plan_view& plan, std::size_t step, std::chrono::steady_clock::time_point t) {
  x.timed(plan, step, t, t);
};

// The default tells nobody, and the calls are compiled out.
struct no_observer {
  static constexpr void before(const plan_view&, std::size_t) noexcept {}
  static constexpr void after(const plan_view&, std::size_t) noexcept {}
};

}  // namespace dnnkit
