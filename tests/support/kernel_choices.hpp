// SPDX-License-Identifier: MIT
// What tests of the choice of kernels share: choices and readings of the recipes of a small network.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "dnnkit/compile.hpp"

namespace kernel_choices {

namespace dk = dnnkit;

inline dk::schedule schedule_of(auto build, const dk::family_table& families = dk::cpu::default_families.table) {
  dk::builder b;
  build(b);
  REQUIRE(b.value().error.str() == "");
  return dk::default_pipeline::run<dk::targets::avx512>(b.value(), families);
}
// The families of a model that wants products to be added up, and nothing else.
inline constexpr dk::family_table exact_families = dk::cpu::default_families.within<dk::accuracy::exact_order>().table;
// The choices of all recipes with this anchor, in order.
template <class Op>
std::vector<dk::kernel_choice> choices_of(auto build,
                                          const dk::family_table& families = dk::cpu::default_families.table) {
  const dk::schedule s = schedule_of(build, families);
  CHECK(s.g.error.str() == "");
  std::vector<dk::kernel_choice> found;
  for (std::size_t r = 0; r < s.plan.recipes.size(); ++r)
    if (s.plan.recipes[r].anchor.id == dk::id_of<Op>) found.push_back(s.plan.choices[r]);
  return found;
}

using readings = std::vector<dk::operand_reading>;
inline readings operands(const dk::kernel_choice& c) { return {c.operands.begin(), c.operands.end()}; }

inline constexpr auto in_place = dk::operand_reading::in_place, staged = dk::operand_reading::staged,
                      once = dk::operand_reading::packed_once, each_run = dk::operand_reading::packed_each_run,
                      evaluated = dk::operand_reading::evaluated, left_out = dk::operand_reading::absent;

// A convolution of `x` behind a pooling, so that its input lies channels last.
inline dk::tensor filtered(dk::builder& g, dk::tensor x, std::int64_t out, std::string_view name,
                           const dk::op::conv& c) {
  const std::int64_t in = x.dims()[1].value() / c.group;
  return dk::conv(x, g.weight(name, {out, in, 3, 3}), c);
}
inline dk::tensor pooled_input(dk::builder& g, std::int64_t channels) {
  return dk::max_pool(g.input("x", dk::f32, {1, channels, 24, 24}), {.kernel_shape = {2, 2}, .strides = {2, 2}});
}

}  // namespace kernel_choices
