// SPDX-License-Identifier: MIT
// LABELS: no_sanitize alone
// Test that a loop of the thread pool allocates nothing; the sanitizers replace operator new themselves.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "dnnkit/runtime/thread_pool.hpp"

// Allocations by any thread are counted.
static std::atomic<int> allocations{0};
void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

TEST_CASE("a loop does not allocate") {
  const int at_first = allocations;
  dnnkit::thread_pool pool(3);
  CHECK(allocations > at_first);  // starting threads does, so the count works
  std::vector<int> touched(100, 0);
  const auto body = [&](std::size_t i) noexcept { ++touched[i]; };
  const dnnkit::parallel_for loop = pool;
  const int before = allocations;
  for (int round = 0; round < 100; ++round) loop(touched.size(), body);
  CHECK(allocations == before);
  for (const int times : touched) CHECK(times == 100);
}
