// SPDX-License-Identifier: MIT
// What a run does on the processor: kernels are called, phase by phase, and borders cleared before they are read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "dnnkit/core/error.hpp"
#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/runtime/border.hpp"
#include "dnnkit/runtime/command.hpp"
#include "dnnkit/runtime/parallel_for.hpp"

namespace dnnkit::detail {

// A phase of a kernel, all of its units; there may be none.
struct call_kernel {
  void (*run)(const cpu::kernel_call&, cpu::index_t first, cpu::index_t last) noexcept;
  cpu::kernel_call call;
  std::size_t units;
  std::size_t most_threads;  // at least 1: with more, none would have enough to do
};

// As many threads as have some microseconds of work each, which it takes to hand work over, and what a core has in its
// caches; 0 cycles: it is not known what it takes.
inline std::size_t most_threads_for(double cycles) noexcept {
  constexpr double least_a_thread = 10'000, all = 1024;
  return static_cast<std::size_t>(cycles == 0 ? all : std::clamp(cycles / least_a_thread, 1.0, all));
}

// The same in one piece for each worker, which has scratch memory of its own: the first from call.worker on.
struct call_by_worker {
  static constexpr std::size_t most_workers = 16;

  call_kernel phase;
  std::ptrdiff_t worker_bytes;
};

struct clear_halo {
  const buffer* of;
  const std::int64_t* extents;  // of its logical dimensions
  std::byte* data;
};

// In the place of a branch that cannot be taken with the extents as they are.
struct refuse_branch {
  const error* why;
};

using kernel_command = command<call_kernel, call_by_worker, clear_halo, refuse_branch>;

// Carries them out, with the caller's threads. Borders are cleared beside what comes next, which fills what they
// enclose.
class kernel_caller {
 public:
  explicit kernel_caller(const parallel_for& loop) : loop_(loop) {}

  void operator()(const call_kernel& c) noexcept {
    const std::size_t threads = std::min(loop_.concurrency() == 0 ? 16 : loop_.concurrency(), c.most_threads);
    const pieces_of_threads pieces(c.units, threads);
    if (threads == 1) clear_borders();
    const std::size_t borders = std::exchange(borders_, 0);
    const auto run_piece = [&](std::size_t i) noexcept {
      if (i < borders) clear(*uncleared_[i]);
      else if (const index_range r = pieces[i - borders]; r.size() != 0) run(c, c.call, r);
    };
    if (borders + pieces.size() > 1) return loop_(borders + pieces.size(), run_piece);
    if (borders + pieces.size() == 1) run_piece(0);
  }

  void operator()(const call_by_worker& c) noexcept {
    clear_borders();
    if (c.phase.units == 0) return;
    const std::size_t threads = loop_.concurrency() == 0 ? c.most_workers : loop_.concurrency();
    const std::size_t pieces = std::min({c.phase.units, threads, c.phase.most_threads, c.most_workers});
    loop_(pieces, [&](std::size_t piece) noexcept {
      cpu::kernel_call own = c.phase.call;
      own.worker += static_cast<std::ptrdiff_t>(piece) * c.worker_bytes;
      run(c.phase, own, split(c.phase.units, pieces, piece));
    });
  }

  void operator()(const clear_halo& c) noexcept {
    if (borders_ == uncleared_.size()) clear_borders();
    uncleared_[borders_++] = &c;
  }

  [[noreturn]] void operator()(const refuse_branch& c) const { throw *c.why; }

 private:
  static void run(const call_kernel& c, const cpu::kernel_call& call, index_range r) noexcept {
    c.run(call, static_cast<cpu::index_t>(r.begin), static_cast<cpu::index_t>(r.end));
  }

  static void clear(const clear_halo& c) noexcept { clear_border(*c.of, c.extents, c.data); }
  void clear_borders() noexcept {
    for (; borders_ > 0; --borders_) clear(*uncleared_[borders_ - 1]);
  }

  const parallel_for& loop_;
  std::array<const clear_halo*, 4> uncleared_{};
  std::size_t borders_ = 0;  // that are not cleared yet
};

}  // namespace dnnkit::detail
