// SPDX-License-Identifier: MIT
// What a compiled kernel is to the runtime: a few functions on a call's pointers and extents.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/cpu/micro/extent.hpp"

namespace dnnkit::cpu {

// Everything a kernel reads and writes in one call.
struct kernel_call {
  std::byte* const* operands = nullptr;   // one buffer for each of the recipe's operands
  const std::int64_t* extents = nullptr;  // the step's run-time extents
  std::byte* packed = nullptr;            // what pack() wrote, 64-byte aligned
  std::byte* scratch = nullptr;           // scratch_bytes(), 64-byte aligned, shared by all units of the call
  std::byte* worker = nullptr;            // worker_bytes(), 64-byte aligned, of those units alone that run in one piece
};

// The work of one call comes in two phases: all units of `prepare`, then all units of `run`. Units of one phase may run
// in any order and at once, and the result does not depend on how they are divided.
struct kernel_entry {
  index_t (*units)(const kernel_call&) noexcept = nullptr;
  void (*run)(const kernel_call&, index_t first, index_t last) noexcept = nullptr;
  index_t (*prepare_units)(const kernel_call&) noexcept = nullptr;  // null: no first phase
  void (*prepare)(const kernel_call&, index_t first, index_t last) noexcept = nullptr;
  std::int64_t (*scratch_bytes)(const kernel_call&) noexcept = nullptr;  // reads the extents only; null: none
  std::int64_t (*worker_bytes)(const kernel_call&) noexcept = nullptr;   // the same; null: none
  void (*pack)(const kernel_call&) noexcept =
      nullptr;  // writes `packed` from the setup operands, once; null: nothing to pack
  std::int64_t packed_bytes = 0;
  // bit i: input i of the anchor is read by pack() alone; eight bits further for each stage before it, those of that
  std::uint32_t packed_inputs = 0;
  float cycles_an_element = 0;  // of the iteration space, expected of one thread; 0: not known
};

// The functions that Kernel has: static members named as the entry's, of which only units() and run() must be there.
template <class Kernel> constexpr kernel_entry entry_of() {
  kernel_entry e{.units = Kernel::units, .run = Kernel::run};
  if constexpr (requires(const kernel_call& call) { Kernel::prepare(call, 0, 0); }) {
    e.prepare_units = Kernel::prepare_units;
    e.prepare = Kernel::prepare;
  }
  if constexpr (requires(const kernel_call& call) { Kernel::scratch_bytes(call); })
    e.scratch_bytes = Kernel::scratch_bytes;
  if constexpr (requires(const kernel_call& call) { Kernel::worker_bytes(call); })
    e.worker_bytes = Kernel::worker_bytes;
  if constexpr (requires(const kernel_call& call) { Kernel::pack(call); }) {
    e.pack = Kernel::pack;
    e.packed_bytes = Kernel::packed_bytes;
    e.packed_inputs = Kernel::packed_inputs;
  }
  return e;
}

}  // namespace dnnkit::cpu
