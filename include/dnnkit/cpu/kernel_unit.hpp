// SPDX-License-Identifier: MIT
// What a unit includes that compiles a part of a network's kernels (cpu/kernel_parts.hpp) or a version of a network
// (cpu/kernel_version.hpp), and only such a unit.
#pragma once

#include "dnnkit/compile.hpp"
#include "dnnkit/cpu/kernel_version.hpp"
#include "dnnkit/cpu/kernels.hpp"

namespace dnnkit::cpu {

template <class Net, std::size_t Part> std::span<const kernel_entry> kernel_part<Net, Part>::entries() noexcept {
  return kernel_table_of_part<Net, Part>;
}

template <class Net> kernel_version version_of<Net>::get() noexcept {
  return {Net::target::name, Net::plan, kernels_of<Net>()};
}

}  // namespace dnnkit::cpu
