// SPDX-License-Identifier: MIT
// What passes know of the machine the compiler compiles for; the one place below the kernels that asks.
#pragma once

#include <cstdint>

namespace dnnkit {

struct target_facts {
  std::int64_t float_lanes;  // 32-bit elements in a vector register
};

inline constexpr target_facts target {
#if defined(__AVX512F__)
  .float_lanes = 16
#elif defined(__AVX__)
  .float_lanes = 8
#else
  .float_lanes = 4
#endif
};

}  // namespace dnnkit
