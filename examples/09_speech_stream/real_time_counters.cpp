// SPDX-License-Identifier: MIT
// The counters: operator new replaced as the standard provides for, pthread_mutex_lock by a function of the program in
// front of the system's.
#include "examples/09_speech_stream/real_time_counters.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations = 0, locks = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* const p =
      std::aligned_alloc(alignment, std::max((bytes + alignment - 1) / alignment, std::size_t{1}) * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

namespace dnnkit::examples {
real_time_counts counted_so_far() noexcept { return {allocations, locks}; }
}  // namespace dnnkit::examples

// The other forms of new and delete call these.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t a) {
  return counted(bytes, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  using function = int (*)(pthread_mutex_t*);
  static std::atomic<function> system = nullptr;
  ++locks;
  if (system == nullptr) system = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  return system.load()(mutex);
}
