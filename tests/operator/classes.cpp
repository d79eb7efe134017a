// SPDX-License-Identifier: MIT
// The classes of SmartMem and FlashMem: the papers' own examples.
#include "dnnkit/operator/classes.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "dnnkit/op/builtin.hpp"

namespace dk = dnnkit;
namespace op = dnnkit::op;

namespace {

template <class Op> constexpr bool is(dk::layout_class c) {
  return dk::layout_class_of(Op::kind, Op::properties.map) == c;
}
template <class Op> constexpr bool is(dk::load_class c) { return dk::load_class_of(Op::kind, Op::properties.map) == c; }

}  // namespace

// SmartMem, Table 3
using enum dk::layout_class;
static_assert(is<op::conv>(ild_variable) && is<op::matmul>(ild_variable) && is<op::softmax>(ild_variable));
static_assert(is<op::reshape>(ild_fixed) && is<op::transpose>(ild_fixed));
static_assert(is<op::depth_to_space>(ild_fixed) && is<op::space_to_depth>(ild_fixed));
static_assert(is<op::relu>(ili_variable) && is<op::exp>(ili_variable));
static_assert(is<op::gather>(ili_fixed) && is<op::slice>(ili_fixed));

// FlashMem, Table 5
using enum dk::load_class;
static_assert(is<op::relu>(elemental) && is<op::add>(elemental));
static_assert(is<op::conv>(reusable) && is<op::matmul>(reusable));
static_assert(is<op::softmax>(hierarchical));

// A normalisation has the classes of its parts.
static_assert(!dk::layout_class_of(op::layer_normalization::kind, op::layer_normalization::properties.map));
static_assert(!dk::load_class_of(op::layer_normalization::kind, op::layer_normalization::properties.map));

TEST_CASE("classes have names") {
  CHECK(dk::text_of(ild_fixed) == "ILD, fixed");
  CHECK(dk::text_of(hierarchical) == "hierarchical");
}
