// SPDX-License-Identifier: MIT
// What operators take on a vector.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/cost/operator_cycles.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <iterator>

namespace dk = dnnkit;

namespace {

constexpr dk::cpu_facts wide = dk::targets::avx512::facts, narrow = dk::targets::sse2::facts;

template <class Op> constexpr double cycles = dk::plan::vector_cycles(wide, dk::id_of<Op>);
static_assert(cycles<dk::op::add> == wide.costs.simple);
static_assert(cycles<dk::op::exp> > 10 * cycles<dk::op::add>);
static_assert(cycles<dk::op::erf> > cycles<dk::op::exp>);
static_assert(cycles<dk::op::sigmoid> > cycles<dk::op::exp>);
static_assert(dk::plan::vector_cycles(narrow, dk::id_of<dk::op::div>) < cycles<dk::op::div>, "it divides fewer lanes");

constexpr dk::plan::row_cycles softmax = dk::plan::row_cycles_of(wide, dk::id_of<dk::op::softmax>, 2),
                               mean = dk::plan::row_cycles_of(wide, dk::operator_id::none, 1);
static_assert(softmax.passes > 10 * mean.passes);
static_assert(mean.passes > 0);

}  // namespace

TEST_CASE("every operator of the table is there once, and dearer than those that are not") {
  const auto& table = dk::detail::dear_operators;
  for (std::size_t i = 0; i < std::size(table); ++i) {
    CHECK(dk::detail::cycles_of(wide, table[i]) > wide.costs.simple);
    for (std::size_t k = 0; k < i; ++k) CHECK(table[i].id != table[k].id);
  }
}
