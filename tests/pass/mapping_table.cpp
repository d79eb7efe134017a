// SPDX-License-Identifier: MIT
// DNNFusion's Table 3.3, cell by cell.
#include "dnnkit/pass/mapping_table.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "dnnkit/op/builtin.hpp"

namespace dk = dnnkit;

namespace {

using enum dk::mapping;
using enum dk::verdict;

constexpr bool cell(dk::mapping first, dk::mapping second, dk::mapping type, dk::verdict decision) {
  const dk::plan::fused f = dk::plan::fuse(first, second);
  return f.type == type && f.decision == decision;
}

}  // namespace

static_assert(cell(one_to_one, one_to_one, one_to_one, fuse));
static_assert(cell(one_to_one, reorganize, reorganize, fuse));
static_assert(cell(one_to_one, shuffle, shuffle, fuse));
static_assert(cell(one_to_one, one_to_many, one_to_many, fuse));
static_assert(cell(one_to_one, many_to_many, many_to_many, fuse));

static_assert(cell(reorganize, one_to_one, reorganize, fuse));
static_assert(cell(reorganize, reorganize, reorganize, fuse));
static_assert(cell(reorganize, shuffle, reorganize, fuse));
static_assert(cell(reorganize, one_to_many, one_to_many, profile));
static_assert(cell(reorganize, many_to_many, many_to_many, profile));

static_assert(cell(shuffle, one_to_one, shuffle, fuse));
static_assert(cell(shuffle, reorganize, reorganize, fuse));
static_assert(cell(shuffle, shuffle, shuffle, fuse));
static_assert(cell(shuffle, one_to_many, one_to_many, profile));
static_assert(cell(shuffle, many_to_many, many_to_many, profile));

static_assert(cell(one_to_many, one_to_one, one_to_many, fuse));
static_assert(cell(one_to_many, reorganize, one_to_many, profile));
static_assert(cell(one_to_many, shuffle, one_to_many, profile));
static_assert(cell(one_to_many, one_to_many, one_to_many, profile));
static_assert(cell(one_to_many, many_to_many, many_to_many, never));

static_assert(cell(many_to_many, one_to_one, many_to_many, fuse));
static_assert(cell(many_to_many, reorganize, many_to_many, profile));
static_assert(cell(many_to_many, shuffle, many_to_many, profile));
static_assert(cell(many_to_many, one_to_many, many_to_many, profile));
static_assert(cell(many_to_many, many_to_many, many_to_many, never));

// Table 3.2: what kind of operator is what.
static_assert(dk::op::relu::properties.map == one_to_one && dk::op::slice::properties.map == one_to_one);
static_assert(dk::op::reshape::properties.map == reorganize && dk::op::flatten::properties.map == reorganize);
static_assert(dk::op::transpose::properties.map == shuffle && dk::op::depth_to_space::properties.map == shuffle);
static_assert(dk::op::expand::properties.map == one_to_many && dk::op::gather::properties.map == one_to_many);
static_assert(dk::op::conv::properties.map == many_to_many && dk::op::softmax::properties.map == many_to_many);

TEST_CASE("fusing with a one-to-one operator keeps the other's type and is always right") {
  for (const dk::mapping m : {one_to_one, reorganize, shuffle, one_to_many, many_to_many}) {
    CHECK(cell(one_to_one, m, m, fuse));
    CHECK(cell(m, one_to_one, m, fuse));
  }
}

TEST_CASE("two cells are red, ten are yellow") {
  int counts[3] = {};
  for (const auto& row : dk::plan::mapping_table)
    for (const dk::plan::fused& f : row) ++counts[static_cast<int>(f.decision)];
  CHECK(counts[static_cast<int>(fuse)] == 13);
  CHECK(counts[static_cast<int>(profile)] == 10);
  CHECK(counts[static_cast<int>(never)] == 2);
}
