// SPDX-License-Identifier: MIT
// Tests of the references to loops and bodies, and of the even split.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/parallel_for.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace dk = dnnkit;

static_assert(sizeof(dk::loop_body) == 2 * sizeof(void*) && sizeof(dk::parallel_for) == 3 * sizeof(void*));
static_assert(std::is_trivially_copyable_v<dk::loop_body> && std::is_trivially_copyable_v<dk::parallel_for>);
static_assert(std::is_nothrow_invocable_v<dk::parallel_for, std::size_t, dk::loop_body>);

// A body that may throw, or takes something else, is refused by the compiler.
using may_throw = decltype([](std::size_t) {});
using no_index = decltype([]() noexcept {});
using good_body = decltype([](std::size_t) noexcept {});
static_assert(!std::is_constructible_v<dk::loop_body, may_throw&> &&
              !std::is_constructible_v<dk::loop_body, no_index&>);
static_assert(std::is_constructible_v<dk::loop_body, good_body&> &&
              !std::is_constructible_v<dk::parallel_for, good_body&>);

constexpr bool split_covers(std::size_t count, std::size_t parts) {
  std::size_t next = 0, shortest = count, longest = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const dk::index_range range = dk::split(count, parts, part);
    if (range.begin != next || range.end < range.begin) return false;
    next = range.end;
    if (range.size() < shortest) shortest = range.size();
    if (range.size() > longest) longest = range.size();
  }
  return next == count && longest - shortest <= 1;
}
static_assert([] {
  for (std::size_t count = 0; count < 40; ++count)
    for (std::size_t parts = 1; parts < 12; ++parts)
      if (!split_covers(count, parts)) return false;
  return true;
}());

static_assert([] {
  for (std::size_t count = 0; count < 70; ++count)
    for (std::size_t threads = 1; threads < 9; ++threads) {
      const dk::pieces_of_threads pieces(count, threads);
      std::size_t end = 0;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (pieces[i].begin != end || pieces[i].end < end) return false;
        if (pieces[i].size() > (count + threads - 1) / threads) return false;
        end = pieces[i].end;
      }
      if (end != count) return false;
    }
  return true;
}());

TEST_CASE("serial calls the body with each index in order, on this thread") {
  std::vector<std::size_t> seen;
  dk::serial(5, [&](std::size_t i) noexcept { seen.push_back(i); });
  CHECK(seen == std::vector<std::size_t>{0, 1, 2, 3, 4});
  dk::serial(0, [&](std::size_t i) noexcept { seen.push_back(i); });
  CHECK(seen.size() == 5);
}

TEST_CASE("a loop of the caller's is used, from the second index on") {
  int loops = 0;
  const auto backwards = [&](std::size_t count, dk::loop_body body) {
    ++loops;
    while (count > 0) body(--count);
  };
  const dk::parallel_for loop = backwards;
  CHECK(loop.concurrency() == 0);
  std::vector<std::size_t> seen;
  const auto body = [&](std::size_t i) noexcept { seen.push_back(i); };
  loop(3, body);
  CHECK(seen == std::vector<std::size_t>{2, 1, 0});
  CHECK(loops == 1);
  loop(1, body);
  loop(0, body);
  CHECK(seen.size() == 4);
  CHECK(loops == 1);
}

TEST_CASE("the concurrency is the loop's") {
  struct eight_wide {
    std::size_t concurrency() const { return 8; }
    void operator()(std::size_t count, dk::loop_body body) { dk::serial(count, body); }
  } loop;
  CHECK(dk::parallel_for(loop).concurrency() == 8);
  CHECK(dk::serial.concurrency() == 1);
}
