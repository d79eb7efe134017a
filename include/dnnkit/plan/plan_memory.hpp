// SPDX-License-Identifier: MIT
// Memory planning: offsets in one arena for blocks that live between two steps (SoD2, section 4.4: from the peak
// outwards). A pure function on arrays, run by the compiler when all sizes are known and when symbols are bound
// otherwise. It allocates nothing, and takes time in proportion to the blocks times those alive at once; for few blocks
// it also tries to do better by changing the order in which they are placed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dnnkit/core/namespaces.hpp"

namespace dnnkit::plan {

inline constexpr std::int64_t arena_alignment = 64;  // bytes

constexpr std::int64_t aligned(std::int64_t bytes) {
  return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

struct memory_block {
  std::int64_t bytes = 0;
  std::int32_t first = 0, last = 0;  // steps between which it is alive, both included
  std::int64_t offset = -1;          // the result
  std::int64_t kept = -1;            // the best offset so far, while planning
  std::int32_t next = -1;            // links blocks into lists while planning

  constexpr bool meets(const memory_block& other) const { return first <= other.last && other.first <= last; }
};

}  // namespace dnnkit::plan

namespace dnnkit::detail {

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

  // Gives block k an offset at which it overlaps no block of `live`, a list by offsets, and links it in. Returns its
  // end. The offset is the lowest there is; or, with walls, one in the tightest gap below `height`, against the bottom
  // or the top of the arena if the gap reaches there: growing blocks of a chain then take turns.
  constexpr std::int64_t place(list& live, std::int32_t k, bool walls, std::int64_t height) {
    memory_block& b = blocks_[k];
    b.offset = 0;
    if (b.bytes == 0) return 0;
    std::int32_t* chosen = &live;
    std::int64_t end = 0, tightest = -1;  // of the blocks passed; bytes of the chosen gap
    for (std::int32_t* link = &live;; link = &blocks_[*link].next) {
      const bool last = *link == empty;
      const std::int64_t ceiling = last ? height : blocks_[*link].offset, gap = ceiling - end;
      if (gap >= b.bytes && (tightest < 0 || (walls && gap < tightest))) {
        tightest = gap;
        chosen = link;
        b.offset = walls && last && end > 0 ? ceiling - b.bytes : end;
      }
      if (last) {
        if (tightest < 0) {
          chosen = link;
          b.offset = end;
        }
        break;
      }
      if (const std::int64_t next_end = blocks_[*link].offset + blocks_[*link].bytes; next_end > end) end = next_end;
    }
    b.next = *chosen;
    *chosen = k;
    return b.offset + b.bytes;
  }

 public:
  constexpr explicit memory_planner(std::span<memory_block> blocks)
      : blocks_(blocks.data()), count_(static_cast<std::int32_t>(blocks.size())) {}

  // Returns the arena's bytes.
  constexpr std::int64_t run() {
    const std::int32_t peak = busiest_step();
    const std::int64_t least = place_at(peak);  // no arena is smaller
    std::int64_t best = -1;
    for (const bool walls : {false, true})
      if (best != least) keep_better(best, from_peak(peak, walls));
    const auto square = static_cast<std::int64_t>(count_) * count_;
    const std::int64_t rounds = count_ == 0 ? 0 : (most_work / square < most_rounds ? most_work / square : most_rounds);
    if (best != least && rounds > 0) change_order(best, least, rounds);
    for (std::int32_t k = 0; k < count_; ++k) blocks_[k].offset = blocks_[k].kept;
    return best;
  }

 private:
  static constexpr std::int64_t most_rounds = 256, most_work = 40'000;

  constexpr void keep_better(std::int64_t& best, std::int64_t arena) {
    if (best >= 0 && arena >= best) return;
    best = arena;
    for (std::int32_t k = 0; k < count_; ++k) blocks_[k].kept = blocks_[k].offset;
  }

  // Places the blocks alive at the step with the most live bytes first, then those of the steps behind it, then those
  // of the steps before it, each outwards; blocks that come at the same step the larger first.
  constexpr std::int64_t from_peak(std::int32_t peak, bool walls) {
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
      if (const std::int64_t end = place(live, k, walls, arena); end > arena) arena = end;
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
      if (const std::int64_t end = place(live, k, walls, arena); end > arena) arena = end;
    }
    return arena;
  }

  // Some order in which each block takes the lowest offset that the earlier ones leave it gives the smallest arena.
  // Begins with the largest blocks first, and lets the block that ends highest go earlier, round by round.
  constexpr void change_order(std::int64_t& best, std::int64_t least, std::int64_t rounds) {
    list order = empty;
    for (std::int32_t k = count_; k-- > 0;)
      insert(order, k, [](const memory_block& a, const memory_block& b) { return a.bytes >= b.bytes; });
    std::uint32_t random = 1;
    while (rounds-- > 0 && best != least) {
      std::int32_t* highest = nullptr;
      std::int64_t arena = 0;
      std::uint32_t before = 0, number = 0;  // blocks in front of the highest
      for (std::int32_t* link = &order; *link != empty; link = &blocks_[*link].next, ++number)
        if (const std::int64_t end = lowest_fit(order, *link); highest == nullptr || end > arena) {
          arena = end;
          highest = link;
          before = number;
        }
      keep_better(best, arena);
      const std::int32_t k = take(*highest);
      random = random * 1664525 + 1013904223;
      std::int32_t* to = &order;
      for (std::uint32_t skip = before == 0 ? 0 : (random >> 8) % before; skip > 0; --skip) to = &blocks_[*to].next;
      blocks_[k].next = *to;
      *to = k;
    }
  }
  // Places block k among those in front of it in the list; returns its end.
  constexpr std::int64_t lowest_fit(list order, std::int32_t k) {
    memory_block& b = blocks_[k];
    b.offset = 0;
    for (bool moved = b.bytes > 0; moved;) {
      moved = false;
      for (std::int32_t i = order; i != k; i = blocks_[i].next) {
        const memory_block& other = blocks_[i];
        if (!b.meets(other) || b.offset >= other.offset + other.bytes || other.offset >= b.offset + b.bytes) continue;
        b.offset = other.offset + other.bytes;
        moved = true;
      }
    }
    return b.offset + b.bytes;
  }

  memory_block* blocks_;
  std::int32_t count_;
};

}  // namespace dnnkit::detail

namespace dnnkit::plan {

// Sets the offset of every block and returns the bytes of the arena.
constexpr std::int64_t plan_memory(std::span<memory_block> blocks) { return detail::memory_planner(blocks).run(); }

}  // namespace dnnkit::plan
