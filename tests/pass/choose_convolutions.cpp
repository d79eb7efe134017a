// SPDX-License-Identifier: MIT
// Which family of kernels is chosen for convolutions, and how it reads their operands.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "dnnkit/compile.hpp"
#include "tests/support/kernel_choices.hpp"

namespace dk = dnnkit;
using dk::f32;
using namespace kernel_choices;

TEST_CASE(
    "convolutions channels last: read in place behind another kernel, staged where the caller's memory is not so") {
  const auto found = choices_of<dk::op::conv>(
      [](dk::builder& g) {
        const dk::tensor x = filtered(g, g.input("x", f32, {1, 3, 48, 48}), 32, "a", {.strides = {2, 2}});
        g.output("y", dk::reduce_mean(filtered(g, x, 64, "b", {.pads = {1, 1, 1, 1}}), {.axes = {2, 3}}));
      },
      exact_families);
  REQUIRE(found.size() == 2);
  CHECK(found[0].family == "conv_nhwc");
  CHECK(operands(found[0]) == readings{staged, once, left_out});
  CHECK(found[1].family == "conv_nhwc");
  CHECK(operands(found[1]) == readings{in_place, once, left_out});
  CHECK(found[1].tile.along == 1);
  CHECK(found[1].tile.lanes == 16);
  CHECK(found[1].cost.cycles > found[1].cost.arithmetic);
  CHECK(found[1].cost.arithmetic >= 22 * 22 * 9 * 32 * 4 / 2);
}
TEST_CASE("Winograd's algorithm where it saves more than its weights, up to four times as many, cost on their way") {
  const auto family = [](std::int64_t channels, std::int64_t side, std::int64_t step, bool exact) {
    const auto build = [&](dk::builder& g) {
      const dk::tensor x = dk::max_pool(g.input("x", f32, {1, channels, side * 2, side * 2}),
                                        {.kernel_shape = {2, 2}, .strides = {2, 2}});
      g.output("y", filtered(g, x, channels, "a", {.strides = {step, step}, .pads = {1, 1, 1, 1}}));
    };
    const auto found = exact ? choices_of<dk::op::conv>(build, exact_families) : choices_of<dk::op::conv>(build);
    REQUIRE(found.size() == 1);
    return std::string(found[0].family);
  };
  for (const std::int64_t channels : {64, 128, 256, 512})
    for (const std::int64_t side : {14, 28, 56}) {
      CHECK(family(channels, side, 1, false) == "conv_winograd");
      CHECK(family(channels, side, 1, true) == "conv_nhwc");
    }
  CHECK(family(64, 56, 2, false) == "conv_winograd");
  CHECK(family(64, 56, 3, false) == "conv_nhwc");
  CHECK(family(512, 7, 1, false) == "conv_winograd");
  CHECK(family(512, 4, 1, false) == "conv_winograd");  // measured: 0.79 of the time
  CHECK(family(512, 2, 1, false) == "conv_nhwc");      // a single tile
}
TEST_CASE("larger tiles, which have more weights, where there are so many that they save much") {
  const auto outputs = [](std::int64_t side) {
    const auto found = choices_of<dk::op::conv>([&](dk::builder& g) {
      const dk::tensor x =
          dk::max_pool(g.input("x", f32, {1, 256, side * 2, side * 2}), {.kernel_shape = {2, 2}, .strides = {2, 2}});
      g.output("y", filtered(g, x, 256, "a", {.pads = {1, 1, 1, 1}}));
    });
    REQUIRE(found.size() == 1);
    return dk::cpu::outputs_of_tile(found[0]);
  };
  CHECK(outputs(16) == 2);  // 2.3 times the products, 9 MB of weights instead of 4
  CHECK(outputs(32) == 4);
}
TEST_CASE("Winograd's algorithm over segments of wide windows: vectors along rows where output channels are few") {
  const auto choice = [](std::int64_t in, std::int64_t out, std::int64_t taps, std::int64_t side) {
    const auto found = choices_of<dk::op::conv>([&](dk::builder& g) {
      const std::int64_t around = taps / 2;
      const dk::op::pad mirror{.pads = {0, 0, around, around, 0, 0, around, around}, .mode = dk::pad_mode::reflect};
      g.output("y", dk::conv(dk::pad(g.input("x", f32, {1, in, side, side}), mirror),
                             g.weight("a", {out, in, taps, taps}), g.weight("b", {out})));
    });
    REQUIRE(found.size() == 1);
    return found[0];
  };
  // the first layer and the last of a network that paints pictures in the style of others
  const dk::kernel_choice first = choice(3, 32, 9, 512), last = choice(32, 3, 9, 512);
  CHECK(first.family == "conv_wide_winograd");
  CHECK(last.family == "conv_wide_winograd");
  CHECK(!dk::cpu::runs_along_rows(first));
  CHECK(dk::cpu::runs_along_rows(last));
  CHECK(operands(first) == readings{staged, once, once});
  CHECK(choice(64, 192, 5, 27).family == "conv_wide_winograd");
  CHECK(choice(16, 32, 5, 28).family == "conv_wide_winograd");
  CHECK(choice(64, 64, 5, 2).family == "conv_nhwc");            // a tile, and weights in memory
  CHECK(choice(1, 64, 5, 224).family != "conv_wide_winograd");  // transforms take more than four products at a point
}
TEST_CASE("a prologue is staged") {
  const auto found = choices_of<dk::op::conv>([](dk::builder& g) {
    const dk::tensor p = pooled_input(g, 32);  // the mean needs all of it, before the product is computed
    g.output("y", filtered(g, p * dk::reduce_mean(p, {.axes = {2, 3}}), 32, "a", {}));
  });
  REQUIRE(found.size() == 1);
  CHECK(operands(found[0]) == readings{staged, once, left_out});
}
TEST_CASE("channels first for few channels, unless rows are left in steps") {
  for (const std::int64_t stride : {1, 2}) {
    const auto found = choices_of<dk::op::conv>([&](dk::builder& g) {
      g.output("y", filtered(g, g.input("x", f32, {1, 3, 64, 64}), 4, "a", {.strides = {stride, stride}}));
    });
    REQUIRE(found.size() == 1);
    CHECK(found[0].family == (stride == 1 ? "conv_nchw" : "conv_nhwc"));
  }
}
TEST_CASE("a stage reads what is handed to it where it lies, however little other kernels would take") {
  const dk::schedule s = schedule_of(
      [](dk::builder& g) {
        const dk::tensor y =
            dk::relu(filtered(g, g.input("x", f32, {1, 16, 256, 256}), 16, "a", {.pads = {1, 1, 1, 1}}));
        g.output("y", dk::conv(y, g.weight("b", {21, 16, 1, 1})));  // row-major, as callers want it
      },
      exact_families);
  REQUIRE(s.g.error.str() == "");
  REQUIRE(s.plan.recipes.size() == 1);
  REQUIRE(s.plan.choices.size() == 2);
  CHECK(s.plan.choices[0].family == "row_stages");
  CHECK(s.plan.choices[0].operands[0] == in_place);
  CHECK(s.plan.choices[1].family == "row_stages");
  CHECK(s.plan.choices[1].operands[0] == staged);  // the caller's input
}
TEST_CASE("what normalises pixels is a stage of the convolution's kernel, unless there is little of it") {
  const auto kernels = [](std::int64_t side, std::int64_t channels) {
    const dk::schedule s = schedule_of([&](dk::builder& g) {
      const dk::tensor x = dk::matmul(g.input("x", f32, {side * side, channels}), g.weight("m", {channels, channels}));
      const dk::tensor y = dk::conv(dk::transpose(dk::reshape(x, {1, side, side, channels}), {.perm = {0, 3, 1, 2}}),
                                    g.weight("a", {channels, 1, 7, 7}), {.pads = {3, 3, 3, 3}, .group = channels});
      g.output("y", dk::layer_normalization(dk::transpose(y, {.perm = {0, 2, 3, 1}}), g.weight("s", {channels}),
                                            g.weight("t", {channels})));
    });
    REQUIRE(s.g.error.str() == "");
    return s.plan.recipes.size();
  };
  CHECK(kernels(56, 96) == 2);
  CHECK(kernels(28, 192) == 2);
  CHECK(kernels(14, 384) == 2);
  CHECK(kernels(7, 768) == 2);
  CHECK(kernels(7, 96) == 3);
}
TEST_CASE("a filter for each channel, also over one and three axes") {
  const auto found = choices_of<dk::op::conv>([](dk::builder& g) {
    g.output("a", filtered(g, pooled_input(g, 32), 32, "a", {.group = 32}));
    g.output("b",
             dk::conv(g.input("line", f32, {1, 32, 50}), g.weight("b", {32, 1, 5}), {.strides = {2}, .group = 32}));
    g.output("c", dk::conv(g.input("room", f32, {1, 32, 5, 6, 7}), g.weight("c", {32, 1, 3, 3, 3}), {.group = 32}));
  });
  REQUIRE(found.size() == 3);
  for (const dk::kernel_choice& c : found) CHECK(c.family == "conv_depthwise");
}
TEST_CASE("groups that lie side by side in vectors, and such that do not") {
  const auto family = [](std::int64_t in, std::int64_t out, std::int64_t group) {
    const auto found = choices_of<dk::op::conv>(
        [&](dk::builder& g) {
          const dk::tensor image = g.input("x", f32, {1, 3, 57, 57});
          const dk::tensor x = dk::relu(filtered(g, image, in, "a", {.strides = {2, 2}}));
          g.output("y",
                   dk::reduce_mean(filtered(g, x, out, "b", {.pads = {1, 1, 1, 1}, .group = group}), {.axes = {2, 3}}));
        },
        exact_families);
    REQUIRE(found.size() == 2);
    return std::string(found[1].family);
  };
  // Groups of 8, 4 and 2 channels; of 3, which divide no vector, of 16, which are one, and of 2 inputs and 4 outputs.
  for (const std::int64_t group : {6, 12, 24}) CHECK(family(48, 48, group) == "conv_depthwise");
  for (const std::int64_t group : {16, 3}) CHECK(family(48, 48, group) != "conv_depthwise");
  CHECK(family(24, 48, 12) != "conv_depthwise");
}
TEST_CASE("convolutions of doubles, of which there are vectors") {
  const auto found = choices_of<dk::op::conv>([](dk::builder& g) {
    const dk::tensor x = dk::conv(g.input("x", dk::f64, {1, 3, 8, 8}), g.weight("w", {40, 3, 3, 3}, dk::f64));
    g.output("y", dk::conv(dk::relu(x), g.weight("v", {4, 40, 3, 3}, dk::f64)));
  });
  REQUIRE(found.size() == 2);
  for (const dk::kernel_choice& c : found) CHECK(c.family == "conv_nhwc");
  CHECK(operands(found[0]) == readings{staged, once, left_out});
  CHECK(operands(found[1]) == readings{in_place, once, left_out});
  CHECK(found[0].tile.vectors <= 2);
}
TEST_CASE("convolutions of integers are left to the definition") {
  const auto found = choices_of<dk::op::conv>([](dk::builder& g) {
    g.output("a", dk::conv(g.input("x", dk::i32, {1, 3, 8, 8}), g.weight("w", {4, 3, 3, 3}, dk::i32)));
  });
  REQUIRE(found.size() == 1);
  CHECK(found[0].family == "by_point");
  CHECK(operands(found[0]) == readings{evaluated});
  CHECK(found[0].tile.lanes == 1);
}
TEST_CASE("convolutions by weights that the run computes pack them in each run") {
  const auto found = choices_of<dk::op::conv>([](dk::builder& g) {
    const dk::tensor y = g.input("y", f32, {1, 32, 8, 8});
    g.output("dense", dk::conv(y, g.input("v", f32, {40, 32, 3, 3})));
    g.output("depthwise", dk::conv(y, g.input("u", f32, {32, 1, 3, 3}), {.group = 32}));
  });
  REQUIRE(found.size() == 2);
  CHECK(found[0].family == "conv_nhwc");
  CHECK(found[1].family == "conv_depthwise");
  for (const dk::kernel_choice& c : found) CHECK(operands(c) == readings{staged, each_run, left_out});
}

TEST_CASE("panels of a convolution's weights are as wide as rows of its tiles are best") {
  const auto found = choices_of<dk::op::conv>(
      [](dk::builder& g) {
        for (const std::int64_t pixels : {14, 28}) {
          const std::string name = std::to_string(pixels);
          const dk::tensor x = g.input("x" + name, f32, {1, 64, pixels, pixels});
          g.output("y" + name, dk::conv(x, g.weight("w" + name, {512, 64, 3, 3}), {.pads = {1, 1, 1, 1}}));
        }
      },
      exact_families);
  REQUIRE(found.size() == 2);
  CHECK(found[0].tile.vectors == 3);
  CHECK(found[1].tile.vectors == 4);
}

// The kernel takes the width from its choice.
struct convolution_of_14_pixels {
  static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::conv(g.input("x", f32, {1, 64, 16, 16}), g.weight("w", {128, 64, 3, 3})));
  }
};
using of_14_pixels = dk::compile<convolution_of_14_pixels>;
static_assert(of_14_pixels::choices[0].family == "conv_nhwc");
static_assert(dk::cpu::conv_nhwc::kernel<of_14_pixels, 0>::convolution_type::panel_vectors ==
              of_14_pixels::choices[0].tile.vectors);
