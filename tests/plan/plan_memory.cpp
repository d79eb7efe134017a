// SPDX-License-Identifier: MIT
#include "dnnkit/plan/plan_memory.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/random_source.hpp"

namespace {

using dnnkit::plan::memory_block;

std::vector<memory_block> random_blocks(random_source& r, std::int64_t count, std::int64_t steps) {
  std::vector<memory_block> blocks;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = r.between(0, steps - 1), length = r.chance(70) ? r.between(0, 2) : r.between(0, steps);
    blocks.push_back({r.between(r.chance(5) ? 0 : 1, r.chance(50) ? 8 : 40) * 64, static_cast<std::int32_t>(first),
                      static_cast<std::int32_t>(std::min(first + length, steps - 1))});
  }
  return blocks;
}

// What must hold of any result: live blocks do not overlap, and the arena ends where the last block does.
void check(const std::vector<memory_block>& blocks, std::int64_t arena) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const memory_block& a = blocks[i];
    REQUIRE(a.offset >= 0);
    end = std::max(end, a.offset + a.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const memory_block& b = blocks[j];
      const bool together = a.first <= b.last && b.first <= a.last;
      const bool overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      REQUIRE_FALSE((together && overlap));
    }
  }
  CHECK(arena == end);
}

std::int64_t most_live_bytes(const std::vector<memory_block>& blocks) {
  std::int64_t most = 0;
  for (const memory_block& at : blocks) {
    std::int64_t sum = 0;
    for (const memory_block& b : blocks)
      if (b.first <= at.first && at.first <= b.last) sum += b.bytes;
    most = std::max(most, sum);
  }
  return most;
}

// The smallest arena: the blocks in every order, each at the lowest place the earlier ones leave it. (Sorted by offset,
// the blocks of a best arena are such an order.)
class exhaustive {
 public:
  explicit exhaustive(std::vector<memory_block> blocks) : blocks_(std::move(blocks)), bound_(most_live_bytes(blocks_)) {
    for (const memory_block& b : blocks_) best_ += b.bytes;
  }
  std::int64_t run() {
    search(0, 0);
    return best_;
  }

 private:
  void search(std::size_t placed, std::int64_t height) {
    if (height >= best_ || best_ == bound_) return;
    if (placed == blocks_.size()) {
      best_ = height;
      return;
    }
    for (std::size_t k = placed; k < blocks_.size(); ++k) {
      std::swap(blocks_[placed], blocks_[k]);
      memory_block& b = blocks_[placed];
      b.offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t i = 0; i < placed; ++i) {
          const memory_block& other = blocks_[i];
          if (!b.meets(other) || b.offset >= other.offset + other.bytes || other.offset >= b.offset + b.bytes) continue;
          b.offset = other.offset + other.bytes;
          moved = true;
        }
      }
      // orders that put blocks at descending offsets give nothing that ascending ones do not
      if (placed == 0 || b.offset >= blocks_[placed - 1].offset)
        search(placed + 1, std::max(height, b.offset + b.bytes));
      std::swap(blocks_[placed], blocks_[k]);
    }
  }

  std::vector<memory_block> blocks_;
  std::int64_t bound_, best_ = 0;
};

}  // namespace

TEST_CASE("live blocks never overlap") {
  random_source r(1);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    r = random_source(seed);
    std::vector<memory_block> blocks = random_blocks(r, r.between(0, 40), r.between(1, 30));
    check(blocks, dnnkit::plan::plan_memory(blocks));
  }
}

TEST_CASE("at most a twentieth above the smallest arena") {
  double worst = 1, sum = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    random_source r(seed);
    std::vector<memory_block> blocks = random_blocks(r, r.between(5, 9), r.between(3, 9));
    const std::int64_t best = exhaustive(blocks).run();
    const std::int64_t found = dnnkit::plan::plan_memory(blocks);
    check(blocks, found);
    CHECK(best >= most_live_bytes(blocks));
    CHECK(found >= best);
    const double ratio = static_cast<double>(found) / static_cast<double>(best);
    CHECK(ratio <= 1.05);
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  MESSAGE("worst ratio " << worst << ", mean " << sum / 200);
}

TEST_CASE("a chain needs its two largest neighbours") {
  std::vector<memory_block> blocks;
  for (std::int32_t i = 0; i < 2000; ++i) blocks.push_back({64 * (1 + i % 7), i, i + 1});
  CHECK(dnnkit::plan::plan_memory(blocks) == 64 * (6 + 7));
  check(blocks, 64 * (6 + 7));
}

TEST_CASE("blocks without bytes and plans without blocks") {
  std::vector<memory_block> none;
  CHECK(dnnkit::plan::plan_memory(none) == 0);
  std::vector<memory_block> blocks{{0, 0, 3}, {64, 1, 2}, {0, 1, 1}};
  CHECK(dnnkit::plan::plan_memory(blocks) == 64);
  check(blocks, 64);
}

// A residual block, on offsets: x lives across a and b.   x -> a -> b -> (+ x) -> y
constexpr std::int64_t residual_arena = [] {
  std::array<memory_block, 4> blocks{{{256, 0, 3}, {512, 1, 2}, {256, 2, 3}, {256, 3, 4}}};
  return dnnkit::plan::plan_memory(blocks);
}();
static_assert(residual_arena == 1024);
