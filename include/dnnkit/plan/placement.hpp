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
  placement r;
  vector<memory_block> blocks;
  for (const buffer& b : p.buffers)
    if (b.where == storage::arena) blocks.push_back({aligned(bytes_of(b)), b.first, b.last, b.offset});
  r.bytes = p.is_static ? p.arena_bytes : plan_memory({blocks.items, blocks.count});
  std::size_t next = 0;
  for (const buffer& b : p.buffers) r.offsets.push_back(b.where == storage::arena ? blocks[next++].offset : 0);
  return r;
}

}  // namespace dnnkit::plan
