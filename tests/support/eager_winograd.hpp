// SPDX-License-Identifier: MIT
// The library's families of kernels, of which Winograd's convolutions carry out all that they can, whatever that takes:
// they then occur in small graphs, too.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "dnnkit/cpu/families.hpp"
#include "tests/support/eager_match.hpp"

namespace harness {

namespace dk = dnnkit;

template <dk::accuracy Allowed> struct eager_winograd_within {
  static constexpr std::string_view name = "eager winograd";
  static constexpr bool carries_out(const dk::plan::operator_tag& anchor) {
    return dk::cpu::conv_winograd::carries_out(anchor);
  }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    return eager(dk::cpu::conv_winograd_within<Allowed>::match(spec, facts));
  }
  template <class Net, std::size_t R> struct kernel : dk::cpu::winograd_kernel<Net, R> {};
  template <dk::accuracy Other> using within = eager_winograd_within<Other>;
};
using eager_winograd = eager_winograd_within<dk::accuracy{}>;
inline constexpr auto with_eager_winograd = dk::family_list<eager_winograd>{} + dk::cpu::default_families;

// The same of a convolution with three taps and a pool behind it.
template <dk::accuracy Allowed> struct eager_winograd_pool_within {
  using family = dk::cpu::conv_winograd_pool_within<Allowed>;
  static constexpr std::string_view name = "eager winograd pool";
  static constexpr dk::tile_wish joins(std::span<const dk::plan::operator_tag> anchors, const dk::cpu_facts& facts) {
    dk::tile_wish wish = family::joins(anchors, facts);
    wish.least_bytes = 0;
    return wish;
  }
  static constexpr dk::kernel_match stage(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    return family::stage(spec, facts);
  }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    return eager(family::match(spec, facts));
  }
  template <class Net, std::size_t R> struct kernel : dk::cpu::winograd_pool_kernel<Net, R> {};
  template <dk::accuracy Other> using within = eager_winograd_pool_within<Other>;
};
using eager_winograd_pool = eager_winograd_pool_within<dk::accuracy{}>;
inline constexpr auto with_eager_winograd_pool = dk::family_list<eager_winograd_pool>{} + dk::cpu::default_families;

// The same of windows wider than three taps.
template <dk::accuracy Allowed> struct eager_wide_winograd_within {
  static constexpr std::string_view name = "eager wide winograd";
  static constexpr bool carries_out(const dk::plan::operator_tag& anchor) {
    return dk::cpu::conv_wide_winograd::carries_out(anchor);
  }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    return eager(dk::cpu::conv_wide_winograd_within<Allowed>::match(spec, facts));
  }
  template <class Net, std::size_t R> struct kernel : dk::cpu::wide_winograd_kernel<Net, R> {};
  template <dk::accuracy Other> using within = eager_wide_winograd_within<Other>;
};
using eager_wide_winograd = eager_wide_winograd_within<dk::accuracy{}>;
inline constexpr auto with_eager_wide_winograd = dk::family_list<eager_wide_winograd>{} + dk::cpu::default_families;

}  // namespace harness
