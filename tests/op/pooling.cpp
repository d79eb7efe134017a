// SPDX-License-Identifier: MIT
// MaxPool, AveragePool and global pooling: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/pooling.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}}, W{"W", {1, 512}};

static_assert(inferred([](builder& g) {
                return max_pool(g.input("x", f32, {1, 3, H, W}), {.kernel_shape = {2, 2}, .strides = {2, 2}});
              }) == "f32 [1, 3, floor_div(H, 2), floor_div(W, 2)]");
static_assert(inferred([](builder& g) {
                return average_pool(g.input("x", f32, {1, 3, H, 7}),
                                    {.kernel_shape = {3, 3}, .strides = {2, 2}, .ceil_mode = true});
              }) == "f32 [1, 3, floor_div(H, 2), 3]");
static_assert(inferred([](builder& g) {
                return global_average_pool(g.input("x", f32, {1, 3, H, W}));
              }) == "f32 [1, 3, 1, 1]");
static_assert(inferred([](builder& g) { return global_max_pool(g.input("x", f32, {1, 3, H})); }) == "f32 [1, 3, 1]");
static_assert(inferred([](builder& g) {
                return max_pool(g.input("x", f32, {1, 3, H, W}));
              }) == "MaxPool: kernel_shape, strides, pads and dilations must fit the number of spatial axes");

static_assert(inferred([](builder& g) {
                return max_pool(g.input("x", f32, {1, 2, 5}), {.kernel_shape = {std::int64_t{1} << 40}});
              }) == "MaxPool: kernel_shape, strides, pads and dilations must be below 2^31");
static_assert(inferred([](builder& g) {
                return average_pool(g.input("x", f32, {1, 2, 5, 5}), {.kernel_shape = {1 << 30, 1 << 30}});
              }) == "AveragePool: a window of 2^48 elements or more is not supported");

TEST_CASE("pooling: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("pooling");
  CHECK(outcome.cases >= 39);
  CHECK(outcome.symbolic_graphs >= 90);
}

}  // namespace
