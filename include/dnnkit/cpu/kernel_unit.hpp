// SPDX-License-Identifier: MIT
// What a unit includes that compiles one part of a network's kernels (cpu/kernel_parts.hpp), and only such a unit.
#pragma once

#include "dnnkit/compile.hpp"
#include "dnnkit/cpu/kernels.hpp"

namespace dnnkit::cpu {

template <class Net, std::size_t Part> std::span<const kernel_entry> kernel_part<Net, Part>::entries() noexcept {
  return kernel_table_of_part<Net, Part>;
}

}  // namespace dnnkit::cpu
