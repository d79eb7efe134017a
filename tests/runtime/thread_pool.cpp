// SPDX-License-Identifier: MIT
// LABELS: thread
// Tests of the thread pool: each index once, in every situation in which a loop may be started.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/thread_pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

// How often each of `count` plain, unsynchronised integers was touched: a data race if two threads had one index.
static bool each_once(dk::thread_pool& pool, std::size_t count) {
  std::vector<int> touched(count, 0);
  pool(count, [&](std::size_t i) noexcept { ++touched[i]; });
  for (const int times : touched)
    if (times != 1) return false;
  return true;
}

TEST_CASE("each index runs once, for any number of threads and of indices") {
  for (const std::size_t threads : {1u, 2u, 3u, 4u, 7u}) {
    dk::thread_pool pool(threads);
    CHECK(pool.concurrency() == threads);
    CHECK(dk::parallel_for(pool).concurrency() == threads);
    for (const std::size_t count : {0u, 1u, 2u, 3u, 5u, 16u, 63u, 64u, 65u, 1000u, 100'003u})
      CHECK(each_once(pool, count));
  }
}

TEST_CASE("many short loops follow each other") {
  for (const std::size_t threads : {1u, 2u, 4u}) {
    dk::thread_pool pool(threads);
    std::vector<std::size_t> sums(8, 0);
    constexpr std::size_t rounds = 5000;
    for (std::size_t round = 0; round < rounds; ++round)
      pool(sums.size(), [&](std::size_t i) noexcept { sums[i] += i + round; });
    for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == rounds * i + rounds * (rounds - 1) / 2);
  }
}

TEST_CASE("threads that have gone to sleep wake up, those that have not do not miss a loop") {
  dk::thread_pool pool(4);
  for (const int pause : {0, 10, 50, 100, 200, 1000, 10'000})
    for (int round = 0; round < 20; ++round) {
      std::this_thread::sleep_for(std::chrono::microseconds(pause));
      CHECK(each_once(pool, 37));
    }
}

TEST_CASE("a loop is shared among all threads") {
  // Each of four bodies waits for the other three: only four threads can finish them.
  dk::thread_pool pool(4);
  std::atomic<int> arrived{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
  pool(4, [&](std::size_t) noexcept {
    {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    ++arrived;
    while (arrived < 4) std::this_thread::yield();
  });
  CHECK(threads.size() == 4);
  CHECK(threads.contains(std::this_thread::get_id()));
}

TEST_CASE("each thread begins with a share of its own") {
  dk::thread_pool pool(3);
  constexpr std::size_t each = 10;
  std::atomic<std::size_t> begun{0};
  std::atomic<bool> in_time{true};
  std::vector<std::thread::id> by(3 * each);
  pool(by.size(), [&](std::size_t i) noexcept {
    by[i] = std::this_thread::get_id();
    if (i % each == 0) ++begun;  // until all three have, none goes on
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (begun < 3 && in_time) {
      if (std::chrono::steady_clock::now() > deadline) in_time = false;
      std::this_thread::yield();
    }
  });
  CHECK(in_time);
  CHECK(std::set{by[0], by[each], by[2 * each]}.size() == 3);
  CHECK(by[0] == std::this_thread::get_id());
}

TEST_CASE("the caller waits for the slowest body") {
  dk::thread_pool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> other_started{false};
    int slow = 0;
    pool(2, [&](std::size_t) noexcept {
      if (std::this_thread::get_id() == caller) {
        while (!other_started) std::this_thread::yield();
      } else {
        other_started = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough for the caller to fall asleep
        slow = 1;
      }
    });
    CHECK(slow == 1);
  }
}

TEST_CASE("two threads may call one pool") {
  dk::thread_pool pool(3);
  std::atomic<int> failures{0};
  const auto call = [&] {
    for (int round = 0; round < 500; ++round)
      if (!each_once(pool, 20)) ++failures;
  };
  std::thread first(call), second(call);
  call();
  first.join();
  second.join();
  CHECK(failures == 0);
}

TEST_CASE("a body may start a loop of its own") {
  dk::thread_pool pool(3);
  std::vector<int> touched(12 * 12 * 12, 0);
  pool(12, [&](std::size_t i) noexcept {
    pool(12,
         [&](std::size_t j) noexcept { pool(12, [&](std::size_t k) noexcept { ++touched[(i * 12 + j) * 12 + k]; }); });
  });
  for (const int times : touched) CHECK(times == 1);
}

TEST_CASE("pools come and go, used or not") {
  for (int round = 0; round < 100; ++round) {
    dk::thread_pool pool(4);
    if (round % 2) CHECK(each_once(pool, 9));
  }
}

TEST_CASE("threads that spin find the next loop, and stop") {
  using namespace std::chrono_literals;
  dk::thread_pool pool(4, 2ms);
  for (int round = 0; round < 200; ++round) {
    CHECK(each_once(pool, 9));
    if (round % 50 == 0) std::this_thread::sleep_for(5ms);  // they have gone to sleep
  }
}

TEST_CASE("a senseless time to spin is refused") {
  using namespace std::chrono_literals;
  CHECK(error_of([] { return dk::thread_pool(2, -1us).concurrency(); }) ==
        "thread_pool: time to spin is out of range, expected 0 to 1000000 microseconds, found -1");
  CHECK(error_of([] { return dk::thread_pool(2, 2s).concurrency(); }) ==
        "thread_pool: time to spin is out of range, expected 0 to 1000000 microseconds, found 2000000");
}

TEST_CASE("a senseless number of threads is refused") {
  CHECK(error_of([] { return dk::thread_pool(0).concurrency(); }) ==
        "thread_pool: number of threads is out of range, expected 1 to 1024, found 0");
  CHECK(error_of([] { return dk::thread_pool(1025).concurrency(); }) ==
        "thread_pool: number of threads is out of range, expected 1 to 1024, found 1025");
  CHECK(dk::thread_pool().concurrency() == dk::thread_pool::default_threads());
}
