// SPDX-License-Identifier: MIT
// Where a plan's buffers lie in the arena when the symbols have values: as planned by the compiler when all sizes are
// known, else planned now.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/plan/plan_memory.hpp"

namespace dnnkit::plan {

struct placement {
  vector<std::int64_t> offsets;  // of each buffer, in bytes; 0 for those outside the arena
  std::int64_t bytes = 0;        // of the arena
};

// bytes_of(b): the bytes that buffer b takes under the symbols' values, border included.
constexpr placement placement_of(const plan_view& p, auto bytes_of) {
  const auto has_place = [](const buffer& b) { return b.where == storage::arena && b.layout.within == none; };
  placement r;
  vector<memory_block> blocks;
  for (const buffer& b : p.buffers)
    if (has_place(b)) blocks.push_back({aligned(bytes_of(b)), b.first, b.last, b.offset});
  r.bytes = p.is_static ? p.arena_bytes : plan_memory({blocks.items, blocks.count});
  std::size_t next = 0;
  for (const buffer& b : p.buffers) r.offsets.push_back(has_place(b) ? blocks[next++].offset : 0);
  for (std::size_t i = 0; i < p.buffers.size(); ++i)
    if (const buffer& b = p.buffers[i]; b.layout.within != none)
      r.offsets[i] = r.offsets[static_cast<std::size_t>(b.layout.within)] + bytes_before(b);
  return r;
}

}  // namespace dnnkit::plan
