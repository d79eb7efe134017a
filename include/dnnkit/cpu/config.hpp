// SPDX-License-Identifier: MIT
// What CPU kernels assume: the target's vectors and registers, and sizes of caches.
#pragma once

#include <cstddef>

#include "dnnkit/cost/target.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

inline constexpr int vector_bytes = targets::native::vector_bytes;
inline constexpr int vector_registers = targets::native::vector_registers;

// Lanes of one vector register holding floats.
inline constexpr int float_lanes = static_cast<int>(targets::native::float_lanes);

// Cache sizes that blocking assumes, in bytes. Smaller than what most cores have: too small costs a per cent, too large
// ten.
inline constexpr std::ptrdiff_t l1_bytes = 32 * 1024;
inline constexpr std::ptrdiff_t l2_bytes = 1024 * 1024;

inline constexpr std::size_t cache_line_bytes = 64;

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
