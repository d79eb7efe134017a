// SPDX-License-Identifier: MIT
// Normalisations and their cores: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/normalization.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym H{"H", {1, 512}}, L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return layer_normalization(g.input("x", f32, {1, L, 64}), g.weight("s", {64}), g.weight("b", {64}));
              }) == "f32 [1, L, 64]");
static_assert(inferred([](builder& g) {
                return rms_normalization(g.input("x", f32, {1, L, 64}), g.weight("s", {64}));
              }) == "f32 [1, L, 64]");
static_assert(inferred([](builder& g) {
                return batch_normalization(g.input("x", f32, {1, 8, H, H}), g.batch_norm("bn", 8));
              }) == "f32 [1, 8, H, H]");
static_assert(inferred([](builder& g) {
                return instance_normalization(g.input("x", f32, {1, 8, H}), g.weight("s", {8}), g.weight("b", {8}));
              }) == "f32 [1, 8, H]");
static_assert(inferred([](builder& g) {
                return group_normalization(g.input("x", f32, {1, 8, H}), g.weight("s", {8}), g.weight("b", {8}),
                                           {.num_groups = 4});
              }) == "f32 [1, 8, H]");
static_assert(inferred([](builder& g) {
                return group_normalization(g.input("x", f32, {1, 8, H}), g.weight("s", {8}), g.weight("b", {8}),
                                           {.num_groups = 3});
              }) == "GroupNormalization: num_groups does not divide the channels");
static_assert(inferred([](builder& g) {
                return layer_normalization(g.input("x", f32, {1, L, 64}), g.weight("s", {32}));
              }) == "LayerNormalization: shapes [1, L, 64] and [32] do not broadcast");
static_assert(inferred([](builder& g) {
                return batch_normalization(g.input("x", f32, {1, 8, H, H}), g.batch_norm("bn", 4));
              }) == "BatchNormalization 'bn': the input's channel count is 8, but a parameter's length is 4");

TEST_CASE("normalization: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("normalization");
  CHECK(outcome.cases >= 26);
  CHECK(outcome.symbolic_graphs >= 60);
}

}  // namespace
