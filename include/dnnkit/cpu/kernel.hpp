// SPDX-License-Identifier: MIT
// What a compiled kernel is to the runtime: a few functions on a call's pointers and extents.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/cpu/extent.hpp"

namespace dnnkit::cpu {

// Everything a kernel reads and writes in one call.
struct kernel_call {
  std::byte* const* operands = nullptr;   // one buffer for each of the recipe's operands
  const std::int64_t* extents = nullptr;  // the step's run-time extents
  std::byte* packed = nullptr;            // what pack() wrote, 64-byte aligned
  std::byte* scratch = nullptr;           // scratch_bytes(), 64-byte aligned, shared by all units of the call
};

// The work of one call comes in two phases: all units of `prepare`, then all units of `run`. Units of one phase may run
// in any order and at once, and the result does not depend on how they are divided.
struct kernel_entry {
  index_t (*units)(const kernel_call&) noexcept;
  void (*run)(const kernel_call&, index_t first, index_t last) noexcept;
  index_t (*prepare_units)(const kernel_call&) noexcept;  // null: no first phase
  void (*prepare)(const kernel_call&, index_t first, index_t last) noexcept;
  std::int64_t (*scratch_bytes)(const kernel_call&) noexcept;  // reads the extents only; null: none
  void (*pack)(const kernel_call&) noexcept;  // writes `packed` from the setup operands, once; null: nothing to pack
  std::int64_t packed_bytes;
  std::uint32_t packed_inputs = 0;  // bit i: input i of the anchor is read by pack() alone
  // Recipes with a windowed operand: the output rows [first, last) (dimension 2), instead of prepare and run. Null for
  // the others.
  void (*run_rows)(const kernel_call&, index_t first, index_t last) noexcept = nullptr;
};

}  // namespace dnnkit::cpu
