// SPDX-License-Identifier: MIT
// What CPU kernels assume: the target's vectors and registers, and sizes of caches.
#pragma once

#include <cstddef>

#include "dnnkit/cpu/micro/isa.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

inline constexpr int vector_bytes = targets::native::vector_bytes;
inline constexpr int vector_registers = targets::native::vector_registers;

// Lanes of one vector register holding floats.
inline constexpr int float_lanes = static_cast<int>(targets::native::float_lanes);
// And bytes.
inline constexpr int byte_lanes = 4 * float_lanes;

// The second level of cache, in bytes.
inline constexpr std::ptrdiff_t l2_bytes = targets::native::facts.l2_bytes;

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
