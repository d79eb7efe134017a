// SPDX-License-Identifier: MIT
// Memory planning: offsets in one arena for blocks that live between two steps (SoD2, section 4.4: from the peak
// outwards). A pure function on arrays, run by the compiler when all sizes are known and when symbols are bound
// otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dnnkit {

struct memory_block {
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;  // steps between which it is alive, both included
  std::int64_t offset = -1;          // the result; -1 while not placed

  constexpr bool meets(const memory_block& other) const { return first <= other.last && other.first <= last; }
};

namespace detail {

// Smallest offset >= 0 at which `block` overlaps no placed block that is alive at the same time.
constexpr std::int64_t lowest_fit(std::span<const memory_block> blocks, const memory_block& block) {
  std::int64_t offset = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (const memory_block& b : blocks)
      if (b.offset >= 0 && b.bytes > 0 && b.meets(block) && offset < b.offset + b.bytes &&
          b.offset < offset + block.bytes) {
        offset = b.offset + b.bytes;
        moved = true;
      }
  }
  return offset;
}

constexpr std::int64_t live_bytes(std::span<const memory_block> blocks, std::int32_t step) {
  std::int64_t sum = 0;
  for (const memory_block& b : blocks)
    if (b.first <= step && step <= b.last) sum += b.bytes;
  return sum;
}

}  // namespace detail

// Sets the offset of every block and returns the bytes of the arena. Blocks alive at the step with the most live bytes
// are placed first, then those of the steps around it, the larger first. Allocates nothing.
constexpr std::int64_t plan_memory(std::span<memory_block> blocks, std::int32_t steps) {
  std::int32_t peak = 0;
  std::int64_t most = -1;
  for (std::int32_t s = 0; s < steps; ++s)
    if (const std::int64_t bytes = detail::live_bytes(blocks, s); bytes > most) {
      most = bytes;
      peak = s;
    }
  for (memory_block& b : blocks) b.offset = -1;
  const auto distance = [&](const memory_block& b) {
    return b.first > peak ? b.first - peak : b.last < peak ? peak - b.last : 0;
  };
  std::int64_t arena = 0;
  for (std::size_t placed = 0; placed < blocks.size(); ++placed) {
    memory_block* next = nullptr;
    for (memory_block& b : blocks)
      if (b.offset < 0 && (next == nullptr || distance(b) < distance(*next) ||
                           (distance(b) == distance(*next) && b.bytes > next->bytes)))
        next = &b;
    next->offset = detail::lowest_fit(blocks, *next);
    if (next->offset + next->bytes > arena) arena = next->offset + next->bytes;
  }
  return arena;
}

}  // namespace dnnkit
