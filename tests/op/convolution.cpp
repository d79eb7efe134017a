// SPDX-License-Identifier: MIT
// Conv: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/convolution.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}}, W{"W", {1, 512}};

static_assert(inferred([](builder& g) {
                return conv(g.input("x", f32, {1, 3, H, W}), g.weight("w", {8, 3, 3, 3}), {.pads = {1, 1, 1, 1}});
              }) == "f32 [1, 8, H, W]");
static_assert(inferred([](builder& g) {
                return conv(g.input("x", f32, {1, 3, H, W}), g.weight("w", {8, 3, 3, 3}),
                            {.strides = {2, 2}, .pads = {1, 1, 1, 1}});
              }) == "f32 [1, 8, floor_div(H+1, 2), floor_div(W+1, 2)]");
static_assert(inferred([](builder& g) {
                return conv(g.input("x", f32, {1, 8, 224}), g.weight("w", {8, 1, 7}), {.group = 8});
              }) == "f32 [1, 8, 218]");
static_assert(inferred([](builder& g) {
                return conv(g.input("x", f32, {1, 3, H, W}), g.weight("w", {8, 4, 3, 3}));
              }) == "Conv: the input's channel count is 3, but the weight's input channels times group is 4");
static_assert(inferred([](builder& g) {
                return conv(g.input("x", f32, {1, 3, 2, 2}), g.weight("w", {8, 3, 3, 3}));
              }) == "Conv: a window of 3 does not fit a padded extent of 2");
static_assert(inferred([](builder& g) {
                return conv(g.input("x", f32, {1, 3, H, W}), g.weight("w", {8, 3, 3, 3}), {.strides = {2}});
              }) == "Conv: kernel_shape, strides, pads and dilations must fit the number of spatial axes");
static_assert(inferred([](builder& g) {
                return conv(g.input("x", f32, {1, 3, H, W}), g.weight("w", {8, 3, 3, 3}), g.weight("b", {7}));
              }) == "Conv: the bias's length is 7, but the weight's output channels is 8");
static_assert(inferred([](builder& g) {
                return conv(g.input("x", f32, {1, 4, H, W}), g.weight("w", {6, 1, 3, 3}), {.group = 4});
              }) == "Conv: group does not divide the output channels");

constexpr bool counts_operations() {
  builder g;
  const auto x = g.input("x", f32, {1, 3, H, W}), w = g.weight("w", {8, 3, 3, 3});
  conv(x, w, {.pads = {1, 1, 1, 1}});
  conv(x, w, g.weight("b", {8}), {.pads = {1, 1, 1, 1}});
  const auto flops = [&](std::size_t n) { return g.value().symbols.print(g.value().flops_of(g.value().nodes[n])); };
  return flops(0).view() == "432*H*W" && flops(1).view() == "440*H*W";
}
static_assert(counts_operations());

TEST_CASE("convolution: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("convolution");
  CHECK(outcome.cases >= 24);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
