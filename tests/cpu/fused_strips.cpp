// SPDX-License-Identifier: MIT
// OPTIONS: -O1
// Pairs of convolutions that run in turns on strips of rows, in both layouts, with and without borders behind them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"

#include <algorithm>

#include "tests/support/fused_groups.hpp"

namespace {

using namespace harness;
namespace dk = dnnkit;
using dnnkit::f32;

// What is between the first pair is larger than the cache keeps anyway; Border: what reads the result wants one.
template <int Height, int Width, int Between, int Out, bool Border> struct two_convolutions {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 4, Height, Width});
    const dk::tensor head = dk::relu(dk::conv(x, g.weight("head", {8, 4, 1, 1}), g.weight("head_bias", {8})));
    const dk::tensor between = dk::conv(head, g.weight("a", {Between, 8, 1, 1}), g.weight("a_bias", {Between}));
    dk::tensor y = dk::conv(between, g.weight("b", {Out, Between, 1, 1}), g.weight("b_bias", {Out}));
    y = dk::clip(y, {.min = 0, .max = 6});
    if (Border)
      y = dk::conv(y, g.weight("d", {Out, 1, 3, 3}), g.weight("d_bias", {Out}),
                   {.strides = {2, 2}, .pads = {1, 1, 1, 1}, .group = Out});
    g.output("y", dk::conv(y, g.weight("e", {5, Out, 1, 1}), g.weight("e_bias", {5})));
  }
};

template <class Model> void check_turns(const char* name) {
  CHECK(std::ranges::any_of(compiled<Model>(name).plan.buffers,
                            [](const dk::buffer& b) { return b.layout.window != 0; }));
  check_model<Model>(name, 1);
}

}  // namespace

TEST_CASE("wide images") {
  check_turns<two_convolutions<112, 112, 16, 40, true>>("with a border");
  check_turns<two_convolutions<112, 112, 16, 40, false>>("without");
}
TEST_CASE("narrow images") {
  check_turns<two_convolutions<90, 40, 48, 32, true>>("with a border");
  check_turns<two_convolutions<90, 40, 48, 32, false>>("without");
}
