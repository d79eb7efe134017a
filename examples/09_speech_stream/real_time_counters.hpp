// SPDX-License-Identifier: MIT
// What a thread that must never wait must not do either: allocate memory, and lock. Linked into a program, these count
// all of its calls of operator new and pthread_mutex_lock, by which std::mutex locks.
#pragma once

#include <cstddef>

namespace dnnkit::examples {

struct real_time_counts {
  std::size_t allocations = 0, locks = 0;
};
real_time_counts counted_so_far() noexcept;

}  // namespace dnnkit::examples
