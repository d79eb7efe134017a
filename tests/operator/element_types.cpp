// SPDX-License-Identifier: MIT
// How many inputs operators take and of what types, said by them or read off their functions.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/operator/element_types.hpp"

#include <doctest/doctest.h>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/operator/operands.hpp"
#include "tests/support/inferred.hpp"

using namespace dnnkit;

namespace {

static_assert(most_inputs<op::relu>() == 1 && least_inputs<op::relu>() == 1);
static_assert(most_inputs<op::add>() == 2 && most_inputs<op::where>() == 3 && most_inputs<op::logical_and>() == 2);
static_assert(most_inputs<op::conv>() == 3 && least_inputs<op::conv>() == 2);
static_assert(most_inputs<op::matmul>() == 2 && most_inputs<op::max_pool>() == 1 && most_inputs<op::transpose>() == 1);
static_assert(is_variadic<op::concat> && least_inputs<op::concat>() == 1);
static_assert(accepts<op::exp> == element_kinds::floating && accepts<op::transpose> == element_kinds::any);
static_assert(element_of<op::where>(0) == element::logical && element_of<op::where>(1) == element::common &&
              element_of<op::gather>(1) == element::index);

static_assert(operands_of<op::conv> == "x, weight, bias" && operands_of<op::relu> == "x" &&
              operands_of<op::add> == "a, b" && operands_of<op::concat> == "x, ..." &&
              operands_of<op::hann_window> == "" && operands_of<op::gru> == operands_of<op::rnn>);

static_assert(inferred([](builder& g) {
                const tensor x = g.input("x", f32, {3, 8});
                return g.apply(op::gemm{}, {x});
              }) == "Gemm: has 1 input, takes 2 to 3");
static_assert(inferred([](builder& g) {
                const tensor x = g.input("x", f32, {1, 3, 8, 8});
                return g.apply(op::conv{}, {x});
              }) == "Conv: has 1 input, takes 2 to 3");
static_assert(inferred([](builder& g) {
                const tensor x = g.input("x", f32, {1, 3, 8, 8});
                return g.apply(op::conv{}, {x, tensor{}});
              }) == "Conv: weight is left out");
static_assert(inferred([](builder& g) {
                const tensor x = g.input("x", f32, {1, 3, 8, 8});
                return g.apply(op::conv{}, {x, g.weight("w", {4, 3, 1, 1}), tensor{}});
              }) == "f32 [1, 4, 8, 8]");
static_assert(inferred([](builder& g) {
                const tensor x = g.input("x", i32, {1, 3, 8, 8});
                return g.apply(op::softmax{}, {x});
              }) == "Softmax: input 0 is i32, expected a floating-point type");

TEST_CASE("the assertions above are the test") {}

}  // namespace
