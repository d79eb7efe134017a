// SPDX-License-Identifier: MIT
// ConvTranspose: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/transposed_convolution.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}}, W{"W", {1, 512}};

static_assert(
    inferred([](builder& g) {
      return conv_transpose(g.input("x", f32, {1, 8, H, W}), g.weight("w", {8, 4, 2, 2}), {.strides = {2, 2}});
    }) == "f32 [1, 4, 2*H, 2*W]");
static_assert(inferred([](builder& g) {
                return conv_transpose(g.input("x", f32, {1, 8, H, W}), g.weight("w", {8, 4, 3, 3}),
                                      {.strides = {2, 2}, .pads = {1, 1, 1, 1}, .output_padding = {1, 1}, .group = 2});
              }) == "f32 [1, 8, 2*H, 2*W]");
static_assert(inferred([](builder& g) {
                return conv_transpose(g.input("x", f32, {1, 8, 4}), g.weight("w", {4, 4, 2}));
              }) == "ConvTranspose: the input's channel count is 8, but the weight's input channels is 4");
static_assert(inferred([](builder& g) {
                return conv_transpose(g.input("x", f32, {1, 8, 4}), g.weight("w", {8, 4, 2}), {.output_padding = {1}});
              }) == "ConvTranspose: output_padding must be less than the stride or the dilation");

TEST_CASE("transposed_convolution: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("transposed_convolution");
  CHECK(outcome.cases >= 20);
  CHECK(outcome.symbolic_graphs >= 10);
}

}  // namespace
