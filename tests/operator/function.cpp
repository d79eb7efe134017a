// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/operator/function.hpp"

#include <doctest/doctest.h>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/inferred.hpp"

namespace {
namespace dk = dnnkit;
using dk::builder, dk::f32, dk::tensor;

// `{}` behind the last tensor means the defaults of the attributes, however many tensors there are.
static_assert(inferred([](builder& g) { return dk::softmax(g.input("x", f32, {2, 3}), {}); }) == "f32 [2, 3]");
static_assert(inferred([](builder& g) {
                return dk::matmul(g.input("x", f32, {2, 3}), g.input("y", f32, {3, 4}), {});
              }) == "f32 [2, 4]");
static_assert(inferred([](builder& g) {
                return dk::conv(g.input("x", f32, {1, 2, 5}), g.input("w", f32, {4, 2, 3}), g.input("b", f32, {4}), {});
              }) == "f32 [1, 4, 3]");
static_assert(inferred([](builder& g) {
                const tensor c = g.input("c", f32, {2});
                return dk::batch_normalization(g.input("x", f32, {1, 2, 5}), c, c, c, c, {});
              }) == "f32 [1, 2, 5]");
// Before another tensor it is an optional input left out.
static_assert(inferred([](builder& g) {
                return dk::conv(g.input("x", f32, {1, 2, 5}), {}, g.input("b", f32, {4}));
              }) == "Conv: weight is left out");

// Operators of any number of tensors take them in braces, and in a vector.
static_assert(inferred([](builder& g) {
                const tensor x = g.input("x", f32, {2, 3});
                return dk::concat({dk::sum({x, x}), dk::mean({x, x, x}), dk::sum({x})}, {.axis = -1});
              }) == "f32 [2, 9]");
static_assert(inferred([](builder& g) {
                const tensor x = g.input("x", f32, {2, 3});
                return dk::einsum("ij,kj->ik", {x, x});
              }) == "f32 [2, 2]");
static_assert(inferred([](builder& g) {
                const dk::vector<tensor> all{g.input("x", f32, {2}), g.input("y", f32, {2})};
                return dk::concat({dk::concat(all), dk::sum(all)});
              }) == "f32 [6]");

TEST_CASE("a list without tensors belongs to no graph") {
  CHECK_THROWS_WITH_AS(dk::sum({}), "tensor{}: there is no tensor (tensor{} stands for an optional input left out)",
                       dk::error);
  CHECK_THROWS_AS(dk::concat({}), dk::error);
  CHECK_THROWS_AS(dk::einsum("->", {}), dk::error);
}

}  // namespace
