// SPDX-License-Identifier: MIT
// A pool of threads to pass as the parallel_for: the caller takes part, and a call neither allocates nor spins for
// longer than it is told to.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/parallel_for.hpp"

namespace dnnkit {

// One loop at a time is shared among the threads. A loop that is started while another one runs, by a second thread or
// from inside a body, runs on the thread that started it, serially: always correct, never a deadlock. Bodies do not
// throw. Between loops the threads sleep, after having looked out for the next loop: to wake one up takes longer than
// many a loop, most of all on virtual machines.
//
// The life of a loop is one number, state_: bit 0 says that indices are handed out, the bits above count the workers
// inside. Whoever finds no index left clears bit 0. A worker enters only while bit 0 is set, so one that wakes up late
// finds the loop closed and touches nothing; the caller returns when the count is zero.
//
// Each thread has a share of consecutive indices, which it goes through in order, as neighbours often read the same
// memory; when it is through, it takes from the shares of others.
class thread_pool {
 public:
  static constexpr std::size_t largest = 1024;
  static constexpr std::chrono::microseconds longest_spin{1'000'000};

  // `threads` counts the calling thread: threads - 1 are started. A thread that has nothing to do looks out for `spin`
  // before it sleeps, and at least for some microseconds, giving way to others that want its processor: with 100 us or
  // more, runs of many short kernels need not wake it. Throws dnnkit::error unless 1 <= threads <= 1024 and 0 <= spin
  // <= longest_spin, and when the system does not grant the threads.
  explicit thread_pool(std::size_t threads = default_threads(),
                       std::chrono::microseconds spin = std::chrono::microseconds{0})
      : spin_(spin) {
    if (threads < 1 || threads > largest)
      throw error("number of threads is out of range", "thread_pool", "1 to " + std::to_string(largest),
                  std::to_string(threads));
    if (spin.count() < 0 || spin > longest_spin)
      throw error("time to spin is out of range", "thread_pool",
                  "0 to " + std::to_string(longest_spin.count()) + " microseconds", std::to_string(spin.count()));
    workers_.reserve(threads - 1);
    shares_ = std::vector<share>(threads);
    try {
      while (workers_.size() + 1 < threads) workers_.emplace_back([this, own = workers_.size() + 1] { work(own); });
    } catch (const std::system_error& failure) {
      const std::size_t started = workers_.size() + 1;
      stop();
      throw error(std::string("cannot start thread (") + failure.what() + ")", "thread_pool",
                  std::to_string(threads) + " threads", std::to_string(started));
    }
  }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  // No loop may be running.
  ~thread_pool() { stop(); }

  // The calling thread included.
  std::size_t concurrency() const noexcept { return workers_.size() + 1; }

  static std::size_t default_threads() noexcept {
    return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, largest);
  }

  // Calls body(0) ... body(count - 1) once each on the threads of the pool and returns when all have returned; what the
  // bodies have written is then visible to the caller.
  void operator()(std::size_t count, loop_body body) noexcept { run(count, body); }

  void run(std::size_t count, loop_body body) noexcept {
    if (count < 2 || workers_.empty() || busy_.exchange(true, std::memory_order_acquire)) {
      for (std::size_t i = 0; i < count; ++i) body(i);
      return;
    }
    body_ = &body;
    // Several pieces a thread even out their speeds; more than one index a piece keeps counters from being contended.
    piece_ = std::max<std::size_t>(1, count / (concurrency() * 16));
    for (std::size_t s = 0; s < shares_.size(); ++s) {
      const index_range range = split(count, shares_.size(), s);
      shares_[s].next.store(range.begin, std::memory_order_relaxed);
      shares_[s].end = range.end;
    }
    state_.store(open);
    wake(std::min(count, concurrency()) - 1);
    take_pieces(0);
    if (!looks_out([this] { return state_.load() == 0; })) {
      std::unique_lock lock(mutex_);
      caller_sleeps_.store(true);
      all_left_.wait(lock, [this] { return state_.load() == 0; });
      caller_sleeps_.store(false);
    }
    busy_.store(false, std::memory_order_release);
  }

 private:
  static constexpr std::uint32_t open = 1, one_worker = 2;

  // Indices [next, end) are left.
  struct alignas(64) share {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };

  // Runs pieces of the loop, those of share `own` first, until none is left, then closes it.
  void take_pieces(std::size_t own) noexcept {
    for (std::size_t k = 0; k < shares_.size(); ++k) {
      share& from = shares_[(own + k) % shares_.size()];
      for (;;) {
        const std::size_t begin = from.next.fetch_add(piece_, std::memory_order_relaxed);
        if (begin >= from.end) break;
        const std::size_t end = begin + std::min(piece_, from.end - begin);
        for (std::size_t i = begin; i < end; ++i) (*body_)(i);
      }
    }
    state_.fetch_and(~open);
  }

  void work(std::size_t own) noexcept {
    const auto something_to_do = [this] { return (state_.load() & open) != 0 || stopping_.load(); };
    for (;;) {
      if (!looks_out(something_to_do)) {
        std::unique_lock lock(mutex_);
        sleepers_.fetch_add(1);
        work_or_stop_.wait(lock, something_to_do);
        sleepers_.fetch_sub(1);
      }
      if (stopping_.load()) return;
      if (!enter()) continue;
      take_pieces(own);
      if (leave() && caller_sleeps_.load()) {
        // Taking the mutex makes sure that the caller either waits already or has yet to look at state_.
        { const std::lock_guard lock(mutex_); }
        all_left_.notify_all();
      }
    }
  }

  // Counts this worker in while the loop is open.
  bool enter() noexcept {
    std::uint32_t state = state_.load();
    while (state & open)
      if (state_.compare_exchange_weak(state, state + one_worker)) return true;
    return false;
  }

  // True for the last worker that leaves; the loop is closed by then.
  bool leave() noexcept { return state_.fetch_sub(one_worker) == one_worker; }

  // A sleeper counts itself before its last look at state_, and state_ is written before sleepers_ is read here; as all
  // four are sequentially consistent, either it is seen here or it sees the loop.
  void wake(std::size_t wanted) noexcept {
    const std::size_t asleep = sleepers_.load();
    if (asleep == 0) return;
    { const std::lock_guard lock(mutex_); }
    if (wanted >= asleep) return work_or_stop_.notify_all();
    for (std::size_t i = 0; i < wanted; ++i) work_or_stop_.notify_one();
  }

  void stop() noexcept {
    stopping_.store(true);
    wake(largest);
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  // Waits a moment for `condition`, some microseconds on an idle processor and then for spin_, giving way to other
  // threads.
  template <class Condition> bool looks_out(Condition condition) const noexcept {
    for (int i = 0; i < 64; ++i) {
      if (condition()) return true;
      std::this_thread::yield();
    }
    if (spin_.count() > 0)
      for (const auto end = clock::now() + spin_; clock::now() < end; std::this_thread::yield())
        if (condition()) return true;
    return condition();
  }

  using clock = std::chrono::steady_clock;

  const std::chrono::microseconds spin_;
  std::vector<std::thread> workers_;
  std::atomic<bool> busy_{false}, stopping_{false}, caller_sleeps_{false};
  std::atomic<std::uint32_t> state_{0};
  std::atomic<std::size_t> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable work_or_stop_, all_left_;

  // The loop; written by the caller while state_ is 0.
  const loop_body* body_ = nullptr;
  std::size_t piece_ = 1;
  std::vector<share> shares_;  // of each thread, the caller's first
};

}  // namespace dnnkit
