// SPDX-License-Identifier: MIT
// Memory planning: offsets in one arena for blocks that live between two steps (SoD2, section 4.4: from the peak
// outwards). A pure function on arrays, run by the compiler when all sizes are known and when symbols are bound
// otherwise. It allocates nothing, and takes time in proportion to the blocks times those alive at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dnnkit {

struct memory_block {
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;  // steps between which it is alive, both included
  std::int64_t offset = -1;          // the result
  std::int32_t next = -1;            // links blocks into lists while planning

  constexpr bool meets(const memory_block& other) const { return first <= other.last && other.first <= last; }
};

namespace detail {

class memory_planner {
  using list = std::int32_t;  // number of its first block
  static constexpr list empty = -1;

  // In front of the first block that `before` puts block k in front of. Lists are made in an order in which that block
  // is near.
  constexpr void insert(list& to, std::int32_t k, auto before) {
    std::int32_t* link = &to;
    while (*link != empty && !before(blocks_[k], blocks_[*link])) link = &blocks_[*link].next;
    blocks_[k].next = *link;
    *link = k;
  }
  constexpr std::int32_t take(list& from) {
    const std::int32_t k = from;
    from = blocks_[k].next;
    return k;
  }
  constexpr void remove(list& from, auto condition) {
    for (std::int32_t* link = &from; *link != empty;)
      if (condition(blocks_[*link])) *link = blocks_[*link].next;
      else link = &blocks_[*link].next;
  }

  // The step with the most live bytes, the earliest of them.
  constexpr std::int32_t busiest_step() {
    list waiting = empty, live = empty;
    for (std::int32_t k = count_; k-- > 0;)
      insert(waiting, k, [](const memory_block& a, const memory_block& b) { return a.first <= b.first; });
    std::int64_t sum = 0, most = -1;
    std::int32_t peak = 0;
    while (waiting != empty) {
      const std::int32_t k = take(waiting), now = blocks_[k].first;
      while (live != empty && blocks_[live].last < now) sum -= blocks_[take(live)].bytes;
      insert(live, k, [](const memory_block& a, const memory_block& b) { return a.last <= b.last; });
      sum += blocks_[k].bytes;
      if (sum > most) most = sum, peak = now;
    }
    return peak;
  }

  // Stacks the blocks alive at this step, the larger below; returns the height.
  constexpr std::int64_t place_at(std::int32_t step) {
    list by_size = empty;
    for (std::int32_t k = count_; k-- > 0;)
      if (blocks_[k].first <= step && step <= blocks_[k].last)
        insert(by_size, k, [](const memory_block& a, const memory_block& b) { return a.bytes >= b.bytes; });
    std::int64_t height = 0;
    while (by_size != empty) {
      memory_block& b = blocks_[take(by_size)];
      b.offset = height;
      height += b.bytes;
    }
    return height;
  }
  // The blocks alive at this step, all of which are placed, by their offsets.
  constexpr list alive_at(std::int32_t step) {
    list live = empty;
    for (std::int32_t k = count_; k-- > 0;)
      if (blocks_[k].first <= step && step <= blocks_[k].last && blocks_[k].bytes > 0)
        insert(live, k, [](const memory_block& a, const memory_block& b) { return a.offset < b.offset; });
    return live;
  }

  // Gives block k the lowest offset at which it overlaps no block of `live`, a list by offsets, and links it in.
  // Returns its end.
  constexpr std::int64_t place(list& live, std::int32_t k) {
    memory_block& b = blocks_[k];
    b.offset = 0;
    if (b.bytes == 0) return 0;
    std::int32_t* link = &live;
    for (; *link != empty && blocks_[*link].offset < b.offset + b.bytes; link = &blocks_[*link].next)
      if (const std::int64_t end = blocks_[*link].offset + blocks_[*link].bytes; end > b.offset) b.offset = end;
    b.next = *link;
    *link = k;
    return b.offset + b.bytes;
  }

  memory_block* blocks_;
  std::int32_t count_;

 public:
  constexpr explicit memory_planner(std::span<memory_block> blocks)
      : blocks_(blocks.data()), count_(static_cast<std::int32_t>(blocks.size())) {}

  // Places the blocks alive at the step with the most live bytes first, then those of the steps behind it, then those
  // of the steps before it, each outwards; blocks that come at the same step the larger first. Returns the arena's
  // bytes.
  constexpr std::int64_t run() {
    const std::int32_t peak = busiest_step();
    std::int64_t arena = place_at(peak);
    list live = alive_at(peak);
    list waiting = empty;  // those behind the peak by their first step
    for (std::int32_t k = count_; k-- > 0;)
      if (blocks_[k].first > peak)
        insert(waiting, k, [](const memory_block& a, const memory_block& b) {
          return a.first < b.first || (a.first == b.first && a.bytes >= b.bytes);
        });
    while (waiting != empty) {
      const std::int32_t k = take(waiting), now = blocks_[k].first;
      remove(live, [&](const memory_block& b) { return b.last < now; });
      const std::int64_t end = place(live, k);
      if (end > arena) arena = end;
    }
    live = alive_at(peak);
    for (std::int32_t k = 0; k < count_; ++k)  // those before it by their last step, the latest first
      if (blocks_[k].last < peak)
        insert(waiting, k, [](const memory_block& a, const memory_block& b) {
          return a.last > b.last || (a.last == b.last && a.bytes > b.bytes);
        });
    while (waiting != empty) {
      const std::int32_t k = take(waiting), now = blocks_[k].last;
      remove(live, [&](const memory_block& b) { return b.first > now; });
      const std::int64_t end = place(live, k);
      if (end > arena) arena = end;
    }
    return arena;
  }
};

}  // namespace detail

// Sets the offset of every block and returns the bytes of the arena.
constexpr std::int64_t plan_memory(std::span<memory_block> blocks) { return detail::memory_planner(blocks).run(); }

}  // namespace dnnkit
