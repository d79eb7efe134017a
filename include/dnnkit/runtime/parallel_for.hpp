// SPDX-License-Identifier: MIT
// How a caller supplies parallelism: non-owning references to a loop and to its body, small, noexcept, allocation-free.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace dnnkit {

// A reference to a function object void(std::size_t index) noexcept, which must outlive it.
class loop_body {
 public:
  template <class Body>
  requires(!std::same_as<std::remove_cvref_t<Body>, loop_body> &&
           std::is_nothrow_invocable_v<std::remove_reference_t<Body>&,
                                       std::size_t>) constexpr loop_body(Body&& body) noexcept
      : object_(const_cast<void*>(static_cast<const volatile void*>(std::addressof(body)))),
        call_([](void* object, std::size_t index) noexcept {
          static_cast<void>((*static_cast<std::remove_reference_t<Body>*>(object))(index));
        }) {}

  void operator()(std::size_t index) const noexcept { call_(object_, index); }

 private:
  void* object_;
  void (*call_)(void*, std::size_t) noexcept;
};

// A reference to a loop: a function object void(std::size_t count, loop_body body) that calls each of
// body(0) ... body(count - 1) exactly once, in any order, on any threads, and returns when all calls have returned.
// Without a loop the calls happen one after the other on the calling thread. The loop must outlive the reference; an
// exception that leaves it ends the program.
//
//   dnnkit::thread_pool pool(4);
//   session.run(pool, image, scores);
//   session.run([](std::size_t count, dnnkit::loop_body body) { tbb::parallel_for(std::size_t{0}, count, body); },
//               image, scores);
class parallel_for {
 public:
  constexpr parallel_for() noexcept = default;

  template <class Loop>
  requires(!std::same_as<std::remove_cvref_t<Loop>, parallel_for> &&
           std::invocable<std::remove_reference_t<Loop>&, std::size_t,
                          loop_body>) constexpr parallel_for(Loop&& loop) noexcept
      : object_(const_cast<void*>(static_cast<const volatile void*>(std::addressof(loop)))),
        call_([](void* object, std::size_t count, loop_body body) noexcept {
          (*static_cast<std::remove_reference_t<Loop>*>(object))(count, body);
        }) {
    if constexpr (requires {
                    { loop.concurrency() } -> std::convertible_to<std::size_t>;
                  })
      concurrency_ = loop.concurrency();
    else concurrency_ = 0;
  }

  // A loop of at most one index runs on the calling thread.
  void operator()(std::size_t count, loop_body body) const noexcept {
    if (call_ && count > 1) return call_(object_, count, body);
    for (std::size_t i = 0; i < count; ++i) body(i);
  }

  // How many threads the loop runs on at most: 1 without a loop, loop.concurrency() where the loop has that member,
  // 0 when it is not known. Only a hint for choosing how many pieces are worth making.
  constexpr std::size_t concurrency() const noexcept { return concurrency_; }

 private:
  void* object_ = nullptr;
  void (*call_)(void*, std::size_t, loop_body) noexcept = nullptr;
  std::size_t concurrency_ = 1;
};

// Everything on the calling thread, in order.
inline constexpr parallel_for serial{};

struct index_range {
  std::size_t begin, end;
  constexpr std::size_t size() const noexcept { return end - begin; }
  friend constexpr bool operator==(const index_range&, const index_range&) = default;
};

// Piece `part` of [0, count) cut into `parts` consecutive pieces whose sizes differ by at most one, longer ones spread
// evenly among the others, so that as many pieces hold as many indices anywhere; 1 <= parts < 2^32.
// @post the pieces 0 ... parts - 1 follow each other without gaps from 0 to count
constexpr index_range split(std::size_t count, std::size_t parts, std::size_t part) noexcept {
  const auto begin_of = [&](std::size_t p) { return p * (count / parts) + p * (count % parts) / parts; };
  return {begin_of(part), begin_of(part + 1)};
}

// [0, count) in pieces for so many threads. Each has a share, in four pieces: half of it, a quarter and two eighths, of
// which some may be empty. A kernel reads with each piece again what all of its indices share, and threads that are
// slowed down leave the smaller pieces to others. Up to an index a thread, and for one thread, pieces are not cut.
class pieces_of_threads {
 public:
  // @pre threads >= 1
  constexpr pieces_of_threads(std::size_t count, std::size_t threads) noexcept
      : count_(count), threads_(threads), cut_(threads > 1 && count > threads) {}

  constexpr std::size_t size() const noexcept { return cut_ ? 4 * threads_ : count_ < threads_ ? count_ : threads_; }

  // @pre i < size()
  constexpr index_range operator[](std::size_t i) const noexcept {
    if (!cut_) return split(count_, size(), i);
    constexpr std::size_t eighths[] = {0, 4, 6, 7, 8};
    const index_range share = split(count_, threads_, i / 4);
    return {share.begin + share.size() * eighths[i % 4] / 8, share.begin + share.size() * eighths[i % 4 + 1] / 8};
  }

 private:
  std::size_t count_, threads_;
  bool cut_;
};

static_assert(split(10, 3, 0) == index_range{0, 3} && split(10, 3, 1) == index_range{3, 6} &&
              split(10, 3, 2) == index_range{6, 10});
static_assert(split(6, 4, 0).size() == 1 && split(6, 4, 1).end == 3);
static_assert(pieces_of_threads(32, 2)[0] == index_range{0, 8} && pieces_of_threads(32, 2)[1] == index_range{8, 12} &&
              pieces_of_threads(32, 2)[7] == index_range{30, 32});
static_assert(pieces_of_threads(3, 4).size() == 3 && pieces_of_threads(5, 1)[0].size() == 5 &&
              pieces_of_threads(0, 4).size() == 0);
static_assert(serial.concurrency() == 1);

}  // namespace dnnkit
