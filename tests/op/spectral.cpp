// SPDX-License-Identifier: MIT
// Fourier transforms and windows: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/spectral.hpp"

#include <doctest/doctest.h>

#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

static_assert(inferred([](builder& g) {
                return dft(g.input("x", f32, {2, L, 1}), {.onesided = true});
              }) == "f32 [2, floor_div(L, 2)+1, 2]");
static_assert(inferred([](builder& g) {
                return dft(g.input("x", f32, {2, L, 2}), {.inverse = true, .onesided = true});
              }) == "f32 [2, 2*L-2, 1]");
static_assert(inferred([](builder& g) {
                return dft(g.input("x", f32, {2, 5, 2}), {.inverse = true, .onesided = true, .dft_length = 9});
              }) == "f32 [2, 9, 1]");
static_assert(inferred([](builder& g) {
                return dft(g.input("x", f32, {2, 5, 2}), {.onesided = true});
              }) == "DFT: onesided needs real elements, or complex ones for the inverse transform");
static_assert(inferred([](builder& g) {
                return dft(g.input("x", f32, {2, 1, 2}), {.inverse = true, .onesided = true});
              }) == "DFT: half a transform has two elements at least");
static_assert(inferred([](builder& g) {
                return stft(g.input("x", f32, {2, L}), {.frame_step = 4, .frame_length = 8});
              }) == "f32 [2, floor_div(L, 4)-1, 5, 2]");

TEST_CASE("spectral: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("spectral");
  CHECK(outcome.cases >= 19);
  CHECK(outcome.symbolic_graphs >= 10);
}

}  // namespace
