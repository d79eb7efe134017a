// SPDX-License-Identifier: MIT
// The families that products and convolutions are chosen (tiles, windows, lines, depthwise), on a device against the
// reference evaluator: with edges, slices, batches, operands through views, prologues and epilogues.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/choose_family.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/opencl/target.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/plan/plan.hpp"
#include "tests/support/opencl_check.hpp"

namespace dk = dnnkit;
namespace cl = dnnkit::opencl;
using dk::f32;
using dk::tensor;
using harness::check_on_device;

static_assert(cl::choose_product_family({197, 768, 768}).chosen == cl::family::tiles);
static_assert(cl::choose_product_family({5, 5, 8}).chosen == cl::family::tiles);
static_assert(cl::choose_product_family({1, 1000, 2048}).chosen == cl::family::lines);
static_assert(cl::choose_product_family({1000, 1, 2048}).chosen == cl::family::lines);
static_assert(cl::choose_product_family({1000, 1000, 7}).chosen == cl::family::elements);
static_assert(cl::choose_product_family({0, 1000, 64}).chosen == cl::family::elements);

TEST_CASE("products in tiles: odd extents, bias, activation and residual behind, a prologue before") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t m = r.between(5, 80), k = r.between(8, 150), n = r.between(5, 90);
    const tensor x = g.input("x", f32, {m, k});
    g.output("gelu", dk::gelu(dk::matmul(x, g.weight("w", {k, n})) + g.weight("b", {n})));
    g.output("residual", dk::relu(dk::matmul(dk::tanh(x), g.weight("v", {k, n}))) + g.input("r", f32, {m, n}));
  });
  check_on_device([](dk::builder& g, random_source& r) {  // read four at once, the edges of tiles cut
    const std::int64_t m = 4 * r.between(2, 20), k = 4 * r.between(2, 40), n = 4 * r.between(2, 20);
    const tensor x = g.input("x", f32, {m, k}), w = g.weight("w", {k, n});
    g.output("plain", dk::matmul(x, w));
    g.output("columns", dk::matmul(dk::transpose(g.input("z", f32, {k, m}), {.perm = {1, 0}}), w));
    g.output("rows", dk::matmul(x, dk::transpose(g.input("u", f32, {n, k}), {.perm = {1, 0}})));
  });
}

TEST_CASE("products in tiles: batches, heads, rows of several axes, broadcast operands") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t t = r.between(5, 40), h = r.between(1, 3), d = 4 * r.between(2, 9);
    const tensor qkv = g.input("qkv", f32, {2, t, 3, h, d});
    const auto head = [&](std::int64_t i, bool transposed) {
      const tensor one =
          dk::reshape(dk::slice(qkv, {.starts = {i}, .ends = {i + 1}, .axes = {2}, .steps = {1}}), {2, t, h, d});
      return transposed ? dk::transpose(one, {.perm = {0, 2, 3, 1}}) : dk::transpose(one, {.perm = {0, 2, 1, 3}});
    };
    const tensor scores = dk::softmax(dk::matmul(head(0, false), head(1, true)) * 0.25);
    g.output("values",
             dk::reshape(dk::transpose(dk::matmul(scores, head(2, false)), {.perm = {0, 2, 1, 3}}), {2, t, h * d}));
    const tensor x = g.input("x", f32, {3, 2, 7, d});
    g.output("folded", dk::matmul(x, g.weight("w", {1, d, 13})) + g.weight("b", {13}));
    g.output("broadcast", dk::matmul(g.weight("v", {9, 7}), dk::matmul(x, g.weight("y", {2, d, 11}))));
  });
}

TEST_CASE("products and convolutions of 16-bit floats: read one by one, and four at once along rows and columns") {
  using dk::f16;
  for (const std::int64_t times : {1, 4})
    check_on_device([&](dk::builder& g, random_source& r) {
      const std::int64_t m = times * r.between(5, 20), k = times * r.between(8, 30), n = times * r.between(5, 20);
      const tensor x = g.input("x", f16, {m, k}), w = g.input("w", f16, {k, n});
      g.output("plain", dk::relu(dk::matmul(x, w)));
      g.output("columns", dk::matmul(dk::transpose(g.input("z", f16, {k, m}), {.perm = {1, 0}}), w));
      g.output("of a tree", dk::matmul(dk::tanh(x), dk::transpose(g.input("u", f16, {n, k}), {.perm = {1, 0}})));
      const std::int64_t c = times * r.between(3, 6), o = r.between(8, 20), h = r.between(7, 15);
      const tensor image = g.input("image", f16, {1, c, h, 4 * h});
      g.output("windows", dk::conv(image, g.input("v", f16, {o, c, 3, 3}), {.pads = {1, 1, 1, 1}}));
      g.output("fours", dk::conv(image, g.input("t", f16, {o, c, 2, 4}), {.strides = {2, 4}}));
      g.output("depthwise", dk::conv(image, g.input("d", f16, {c, 1, 3, 3}), {.group = c}));
    });
}

TEST_CASE("products in tiles: of rows and pixels that are one element, neighbours are no four") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = 4 * r.between(2, 9), h = 4 * r.between(2, 5), w = 4 * r.between(1, 4);
    const tensor image = dk::expand(g.input("image", f32, {1, 32, h, 1}), {1, 32, h, w});
    g.output("pointwise", dk::conv(image, g.weight("u", {n, 32, 1, 1})));
    const tensor rows = dk::reshape(dk::transpose(g.input("x", f32, {32, h}), {.perm = {1, 0}}), {h, 1, 32});
    g.output("rows", dk::matmul(dk::expand(rows, {h, w, 32}), g.weight("w", {32, n})));
    const tensor outer = dk::transpose(g.input("y", f32, {32, h, 2}), {.perm = {1, 2, 0}});  // a gap within a four
    g.output("between",
             dk::matmul(dk::expand(dk::reshape(outer, {h, 1, 2, 32}), {h, w, 2, 32}), g.weight("v", {32, n})));
  });
}

TEST_CASE("lines of products: few rows and few columns, weights by rows and by columns, batches") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t k = r.between(8, 300), n = r.between(5, 200);
    const tensor x = g.input("x", f32, {r.between(1, 4), k}), row = dk::reshape(g.input("row", f32, {k}), {1, k});
    g.output("fours", dk::matmul(g.input("y", f32, {1, 4 * k}), g.weight("f", {4 * k, 4 * n})));
    g.output("odd", dk::relu(dk::matmul(dk::exp(x), g.weight("w", {k, n})) + g.weight("b", {n})));
    g.output("transposed", dk::gemm(row, g.weight("u", {n, k}), g.weight("c", {n}), {.trans_b = true}));
    g.output("fours transposed",
             dk::matmul(g.input("z", f32, {2, 4 * k}), dk::transpose(g.weight("t", {n, 4 * k}), {.perm = {1, 0}})));
    g.output("vector", dk::matmul(g.input("m", f32, {2, n, k}), g.weight("v", {k})));
    g.output("columns", dk::matmul(g.input("p", f32, {2, n, k}), g.input("q", f32, {2, k, 3})) * 0.5);
    g.output("heads", dk::matmul(g.input("s", f32, {3, 1, n}), g.input("o", f32, {3, n, 8})));
  });
}

namespace {

// That of the product or convolution which build(builder) returns.
cl::family_choice choice_of(auto build) {
  dk::builder g;
  g.output("y", build(g));
  const dk::plan::plan_draft plan = dk::default_pipeline::run<dk::targets::opencl>(g.value()).plan;
  const dk::plan_view view = dk::plan::view_of(plan);
  REQUIRE(view.steps.size() == 1);
  cl::source_writer nowhere(nullptr, 0);
  cl::recipe_writer<dk::builtin_set> w(view, view.steps[0].kernel, nowhere);
  return cl::choose_family(w);
}
cl::family family_of(auto build) { return choice_of(build).chosen; }

}  // namespace

TEST_CASE("tiles of products by how columns are read: in fours where K is what neighbours are along") {
  const auto columns_of_tile = [](std::int64_t n, bool is_transposed) {
    return choice_of([&](dk::builder& g) {
             const tensor w = is_transposed ? dk::transpose(g.input("w", f32, {n, 768}), {.perm = {1, 0}})
                                            : g.input("w", f32, {768, n});
             return dk::matmul(g.input("x", f32, {128, 768}), w);
           })
        .tile.bn;
  };
  CHECK(columns_of_tile(50256, false) == 128);
  CHECK(columns_of_tile(50257, true) == 128);
  CHECK(columns_of_tile(50257, false) < 128);
}

TEST_CASE("convolutions by their shape: windows of images with several taps, tiles where there is one or no room") {
  const auto conv = [](dk::shape_argument x, dk::shape_argument w, dk::op::conv c = {}) {
    return family_of([&](dk::builder& g) { return dk::conv(g.input("x", f32, x), g.weight("w", w), c); });
  };
  CHECK(conv({1, 64, 56, 56}, {64, 64, 3, 3}, {.pads = {1, 1, 1, 1}}) == cl::family::winograd);
  CHECK(conv({1, 16, 14, 14}, {16, 16, 3, 3}, {.strides = {1, 2}}) == cl::family::windows);
  CHECK(conv({1, 16, 14, 14}, {16, 16, 3, 3}, {.dilations = {2, 1}}) == cl::family::windows);
  CHECK(conv({1, 16, 14, 14}, {16, 16, 3, 5}) == cl::family::windows);
  CHECK(conv({1, 256, 56, 56}, {256, 8, 3, 3}, {.pads = {1, 1, 1, 1}, .group = 32}) == cl::family::windows);
  CHECK(conv({1, 3, 224, 224}, {64, 3, 7, 7}, {.strides = {2, 2}}) == cl::family::windows);
  CHECK(conv({1, 16, 14, 14}, {16, 16, 1, 1}) == cl::family::tiles);
  CHECK(conv({1, 16, 200}, {16, 16, 9}) == cl::family::tiles);
  CHECK(conv({1, 16, 6, 9, 9}, {16, 16, 3, 3, 3}) == cl::family::tiles);
  // Rows are too long for windows, and channels too few for Winograd's transformations.
  CHECK(conv({1, 3, 720, 1280}, {64, 3, 3, 3}, {.pads = {1, 1, 1, 1}}) == cl::family::tiles);
  CHECK(conv({1, 64, 720, 1280}, {64, 64, 3, 3}, {.pads = {1, 1, 1, 1}}) == cl::family::winograd);
  // The input of a few windows is more than local memory.
  CHECK(conv({1, 16, 150, 150}, {16, 16, 3, 3}, {.dilations = {60, 60}}) == cl::family::tiles);
  CHECK(conv({1, 16, 14, 14}, {16, 1, 3, 3}, {.group = 16}) == cl::family::depthwise_windows);
  CHECK(conv({1, 16, 14, 14}, {32, 1, 3, 3}, {.group = 16}) == cl::family::depthwise);
  CHECK(conv({1, 16, 14}, {16, 1, 3}, {.group = 16}) == cl::family::depthwise);
  CHECK(conv({1, 16, 300, 300}, {16, 1, 3, 3}, {.dilations = {90, 20}, .group = 16}) == cl::family::depthwise);
  // No element of the input is seen by two windows.
  CHECK(conv({1, 3, 224, 224}, {96, 3, 4, 4}, {.strides = {4, 4}}) == cl::family::tiles);
  CHECK(conv({1, 16, 14, 14}, {16, 16, 2, 2}, {.strides = {3, 2}}) == cl::family::tiles);
  CHECK(conv({1, 16, 14, 14}, {4, 16, 3, 3}) == cl::family::elements);
  CHECK(conv({1, 16, dk::sym("H", {1, 50}), 14}, {16, 16, 3, 3}) == cl::family::elements);
}

TEST_CASE("convolutions in windows and tiles: taps by channels and across them, borders, strides, dilation, groups") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t c = r.between(3, 14), o = r.between(8, 40), h = r.between(7, 19), w = r.between(7, 19);
    const tensor x = g.input("x", f32, {2, c, h, w});
    const tensor y = dk::relu(dk::conv(x, g.weight("w", {o, c, 3, 3}), g.weight("b", {o}), {.pads = {1, 1, 1, 1}}));
    g.output("residual", dk::conv(y, g.weight("v", {o, o, 3, 3}), {.pads = {1, 1, 1, 1}}) + y);
    g.output("strided", dk::conv(dk::exp(x), g.weight("s", {o, c, 2, 5}), {.strides = {2, 3}, .pads = {1, 0, 0, 2}}));
    g.output("dilated", dk::tanh(dk::conv(x, g.weight("d", {o, c, 2, 1}), {.dilations = {2, 1}})));
    g.output("stem", dk::conv(x, g.weight("t", {o, c, 7, 7}), {.strides = {2, 2}, .pads = {3, 3, 3, 3}}));
    g.output("far taps",
             dk::conv(g.input("far", f32, {1, 8, 125, 123}), g.weight("f", {9, 8, 3, 3}), {.dilations = {60, 60}}));
  });
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t c = 4 * r.between(2, 6), o = 8 * r.between(2, 4), h = 4 * r.between(1, 5), w = r.between(4, 9);
    const tensor x = g.input("x", f32, {2, c, h, w});
    g.output("pointwise", dk::silu(dk::conv(x, g.weight("w", {o, c, 1, 1}), g.weight("b", {o}))));
    g.output("sampled", dk::conv(x, g.weight("s", {o, c, 1, 1}), {.strides = {2, 2}}));
    g.output("groups",
             dk::conv(x, g.weight("g", {o, c / 2, 3, 3}), g.weight("e", {o}), {.pads = {1, 0, 1, 2}, .group = 2}));
    g.output("pointwise groups", dk::conv(x, g.weight("p", {o, c / 2, 1, 1}), {.group = 2}));
    g.output("line out", dk::conv(g.input("line", f32, {3, c, 40}), g.weight("l", {o, c, 9}), {.pads = {2, 0}}));
    g.output("cube out", dk::conv(g.input("cube", f32, {1, 2, 3, h, 4}), g.weight("k", {9, 2, 2, 3, 1}),
                                  {.strides = {1, 2, 3}, .pads = {1, 0, 0, 0, 1, 0}}));
  });
}

TEST_CASE("convolutions in tiles: windows apart, by rows of fours, and of channels that lie side by side") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t c = r.between(2, 9), o = r.between(8, 40), h = r.between(2, 6), w = r.between(2, 6);
    const tensor x = g.input("x", f32, {2, c, 4 * h, 8 * w}), even = g.input("even", f32, {2, c, 4 * h + 3, 8 * w + 4});
    g.output("fours", dk::relu(dk::conv(x, g.weight("w", {o, c, 4, 4}), g.weight("b", {o}), {.strides = {4, 4}})));
    g.output("eights", dk::conv(x, g.weight("v", {o, c, 2, 8}), {.strides = {3, 8}}));
    g.output("padded", dk::conv(x, g.weight("u", {o, c, 4, 4}), {.strides = {4, 4}, .pads = {2, 4, 2, 4}}));
    g.output("cut", dk::conv(even, g.weight("t", {o, c, 4, 4}), {.strides = {4, 4}}));
    g.output("of a tree", dk::conv(dk::exp(x), g.weight("s", {o, c, 4, 4}), {.strides = {4, 4}}));
  });
  for (const std::int64_t channels : harness::numbers({12, 13}, {8}))
    check_on_device([&](dk::builder& g, random_source& r) {
      const std::int64_t o = r.between(8, 40), h = r.between(4, 12), w = r.between(4, 12);
      const tensor x = dk::transpose(g.input("x", f32, {2, h, w, channels}), {.perm = {0, 3, 1, 2}});
      g.output("apart", dk::conv(x, g.weight("w", {o, channels, 2, 2}), g.weight("b", {o}), {.strides = {2, 2}}));
      g.output("border", dk::conv(x, g.weight("v", {o, channels, 2, 3}), {.strides = {2, 3}, .pads = {1, 2, 0, 1}}));
      g.output("sampled", dk::relu(dk::conv(x, g.weight("s", {o, channels, 1, 1}), {.strides = {2, 3}})));
      g.output("far taps", dk::conv(dk::transpose(g.input("far", f32, {1, 125, 123, channels}), {.perm = {0, 3, 1, 2}}),
                                    g.weight("f", {9, channels, 3, 3}), {.dilations = {60, 60}}));
    });
}

TEST_CASE("convolutions in windows and tiles: an infinite weight of the last channel makes no more than infinities") {
  for (const std::int64_t channels : harness::numbers({7, 33}, {9, 13}))
    check_on_device([&](dk::builder& g, random_source&) {
      const tensor infinite = dk::exp(dk::abs(g.weight("l", {16, 1, 3, 4})) + 1000.0);
      const tensor w = dk::concat({g.weight("w", {16, channels - 1, 3, 4}), infinite}, {.axis = 1});
      g.output("y", dk::conv(dk::abs(g.input("x", f32, {1, channels, 9, 11})) + 0.5, w));
    });
}

TEST_CASE("depthwise convolutions from local memory: channels first and last, edges, strides, dilation, prologues") {
  for (const bool reads_channels : {false, true})
    for (const bool writes_channels : {false, true}) {
      if (reads_channels != writes_channels && !harness::is_thorough) continue;
      check_on_device([&](dk::builder& g, random_source& r) {
        const std::int64_t c = r.between(3, 40), h = r.between(4, 40), w = r.between(4, 40);
        const tensor x = reads_channels ? dk::transpose(g.input("x", f32, {2, h, w, c}), {.perm = {0, 3, 1, 2}})
                                        : g.input("x", f32, {2, c, h, w});
        const auto output = [&](std::string_view name, tensor y) {
          g.output(name, writes_channels ? dk::transpose(y, {.perm = {0, 2, 3, 1}}) : y);
        };
        output("plain", dk::silu(dk::conv(x, g.weight("w", {c, 1, 3, 3}), g.weight("b", {c}),
                                          {.pads = {1, 1, 1, 1}, .group = c})));
        output("large", dk::conv(x, g.weight("l", {c, 1, 7, 7}), {.pads = {3, 3, 3, 3}, .group = c}) + 0.5);
        output("strided", dk::conv(dk::tanh(x), dk::exp(g.weight("s", {c, 1, 4, 3})),
                                   {.strides = {2, 3}, .pads = {2, 0, 2, 1}, .group = c}));
        output("dilated", dk::conv(x, g.weight("d", {c, 1, 2, 2}), {.dilations = {3, 2}, .group = c}));
      });
    }
}

TEST_CASE("depthwise convolutions: strips that end beyond rows, several outputs a channel, prologues") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t c = r.between(2, 9), h = r.between(5, 12), w = r.between(5, 15);
    const tensor x = g.input("x", f32, {2, c, h, w});
    g.output("plain", dk::silu(dk::conv(x, g.weight("w", {c, 1, 3, 3}), g.weight("b", {c}),
                                        {.pads = {1, 1, 1, 1}, .group = c})));
    g.output("strided",
             dk::conv(dk::exp(x), g.weight("s", {c, 1, 5, 3}), {.strides = {2, 2}, .pads = {2, 0, 2, 1}, .group = c}));
    g.output("dilated", dk::conv(x, g.weight("d", {2 * c, 1, 2, 2}), {.dilations = {1, 3}, .group = c}));
    g.output("line out",
             dk::conv(g.input("line", f32, {1, c, 9}), g.weight("l", {c, 1, 4}), {.pads = {3, 1}, .group = c}));
    g.output("cube out", dk::conv(g.input("cube", f32, {1, c, 3, h, 6}), g.weight("k", {c, 1, 2, 3, 3}),
                                  {.pads = {1, 0, 1, 0, 1, 1}, .group = c}));
  });
}
