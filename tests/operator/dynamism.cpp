// SPDX-License-Identifier: MIT
// SoD2's classes of operators: the paper's own examples, and what ONNX's shape inference finds of the others. (That the
// extents of others than edo are known where those of the inputs are, and that operators of isdo, and they only, read
// no element, is shown on the cases of tests/op by tests/operator/footprint.)
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "dnnkit/op/builtin.hpp"
#include "tests/operator/onnx_dynamism.hpp"

namespace dk = dnnkit;
namespace op = dnnkit::op;
using enum dk::dynamism;

namespace {

template <dk::dynamism Class, class... Ops> constexpr bool all_are = ((Ops::properties.dynamic == Class) && ...);

// Table 2. (ConstantOfShape is Expand of a constant here; the output of GroupNormalization has its input's shape, and
// it is therefore isdos; If is what `combine` is called, Loop does not exist in graphs.)
static_assert(all_are<isdo, op::shape_of, op::eye_like>);
static_assert(all_are<isdos, op::add, op::average_pool, op::cast, op::concat, op::conv, op::gather, op::matmul,
                      op::max_pool, op::reduce_sum, op::reduce_mean, op::relu, op::round, op::sigmoid, op::softmax>);
static_assert(
    all_are<isvdos, op::expand, op::max_unpool, op::one_hot, op::range, op::reshape, op::resize, op::slice, op::top_k>);
static_assert(all_are<edo, op::combine, op::non_max_suppression, op::non_zero>);

// The class that ONNX finds an operator in; none where it has no such operator.
constexpr std::optional<dk::dynamism> found_by_onnx(std::string_view name) {
  for (const onnx_dynamism& x : onnx_dynamisms)
    if (x.name == name) return x.found;
  return std::nullopt;
}

// ONNX's inference says nothing of operators that it defines by others, nor of MaxUnpool; that of reductions takes
// their axes from an input only since opset 13 or 18, and Table 2 has them as they were before; If and EyeLike are the
// paper's.
constexpr std::string_view others[] = {
    "GroupNormalization", "MeanVarianceNormalization", "MaxUnpool", "ReduceSum", "If", "EyeLike", "Shape"};

template <class Op> void compare(std::string& different, std::size_t& compared) {
  const std::optional<dk::dynamism> onnx = found_by_onnx(Op::name);
  for (const std::string_view other : others)
    if (other == Op::name) return;
  if (!onnx) return;
  ++compared;
  if (*onnx != Op::properties.dynamic) different += std::string(Op::name) + " ";
}
template <class... Ops> std::string different_from_onnx(dk::op_set<Ops...>, std::size_t& compared) {
  std::string different;
  (compare<Ops>(different, compared), ...);
  return different;
}

}  // namespace

TEST_CASE("other operators are of the class that ONNX's shape inference finds") {
  std::size_t compared = 0;
  CHECK(different_from_onnx(dk::builtin_ops, compared) == "");
  CHECK(compared > 120);
}
