// SPDX-License-Identifier: MIT
// What a run does on the processor: kernels are called, phase by phase, and borders cleared before they are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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
};

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

// Carries them out, with the caller's threads.
class kernel_caller {
 public:
  explicit kernel_caller(const parallel_for& loop) : loop_(loop) {}

  // A few pieces for each thread, so that threads that are slowed down do not hold up the others.
  void operator()(const call_kernel& c) const noexcept {
    if (c.units == 0) return;
    const std::size_t threads = loop_.concurrency() == 0 ? 16 : loop_.concurrency();
    const std::size_t pieces = threads == 1 ? 1 : std::min(c.units, threads * 4);
    if (pieces <= 1) return c.run(c.call, 0, static_cast<cpu::index_t>(c.units));
    loop_(pieces, [&](std::size_t piece) noexcept { run(c, c.call, split(c.units, pieces, piece)); });
  }

  void operator()(const call_by_worker& c) const noexcept {
    if (c.phase.units == 0) return;
    const std::size_t threads = loop_.concurrency() == 0 ? c.most_workers : loop_.concurrency();
    const std::size_t pieces = std::min({c.phase.units, threads, c.most_workers});
    loop_(pieces, [&](std::size_t piece) noexcept {
      cpu::kernel_call own = c.phase.call;
      own.worker += static_cast<std::ptrdiff_t>(piece) * c.worker_bytes;
      run(c.phase, own, split(c.phase.units, pieces, piece));
    });
  }

  void operator()(const clear_halo& c) const noexcept { clear_border(*c.of, c.extents, c.data); }

  [[noreturn]] void operator()(const refuse_branch& c) const { throw *c.why; }

 private:
  static void run(const call_kernel& c, const cpu::kernel_call& call, index_range r) noexcept {
    c.run(call, static_cast<cpu::index_t>(r.begin), static_cast<cpu::index_t>(r.end));
  }

  const parallel_for& loop_;
};

}  // namespace dnnkit::detail
