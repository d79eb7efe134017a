// SPDX-License-Identifier: MIT
// The library's families of kernels, of which one joins all stages that it can carry out, whatever that gains: its
// kernels then occur in small graphs, too. That of rows (cpu/families/row_stages.hpp) has tiles of so many of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/cpu/families.hpp"
#include "tests/support/eager_match.hpp"

namespace harness {

namespace dk = dnnkit;

template <std::int32_t Rows> struct eager_row_stages {
  static constexpr std::string_view name = "eager row stages";
  static constexpr dk::tile_wish joins(std::span<const dk::plan::operator_tag> anchors, const dk::cpu_facts& facts) {
    dk::tile_wish wish = dk::cpu::row_stages::joins(anchors, facts);
    if (wish.positions != 0) wish.positions = Rows;
    wish.least_bytes = 0;
    return wish;
  }
  static constexpr dk::kernel_match stage(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    return dk::cpu::row_stages::stage(spec, facts);
  }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    return eager(dk::cpu::row_stages::match(spec, facts));
  }
  template <class Net, std::size_t R> struct kernel : dk::cpu::row_stages::template kernel<Net, R> {};
};

struct eager_thin_stages {
  static constexpr std::string_view name = "eager thin stages";
  static constexpr dk::tile_wish joins(std::span<const dk::plan::operator_tag> anchors, const dk::cpu_facts& facts) {
    return dk::cpu::thin_stages::joins(anchors, facts);
  }
  static constexpr dk::kernel_match stage(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    return dk::cpu::thin_stages::stage(spec, facts);
  }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    return eager(dk::cpu::thin_stages::match(spec, facts));
  }
  template <class Net, std::size_t R> struct kernel : dk::cpu::thin_stages::template kernel<Net, R> {};
};
inline constexpr auto with_eager_thin_stages = dk::family_list<eager_thin_stages>{} + dk::cpu::default_families;

template <std::int32_t Rows>
inline constexpr auto with_eager_stages = dk::family_list<eager_row_stages<Rows>>{} + dk::cpu::default_families;

}  // namespace harness
