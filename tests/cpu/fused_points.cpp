// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Anchors computed from their definitions, a vector of elements at a time: Pad, Resize and Gather, along axes that they
// leave alone and along one that is padded, with what is computed before and behind.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <array>

#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"

namespace dk = dnnkit;
using dk::f32, dk::i64;
using harness::check_model;

namespace {

constexpr dk::tensor stored(dk::builder& g, dk::tensor x, const char* name, std::int64_t channels) {
  return dk::conv(x, g.weight(name, {channels, x.size(1), 1, 1}));
}

struct images {  // channels last: vectors of 69 channels
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 3, dk::sym("H", {2, 9}), 6});
    const dk::tensor a = stored(g, x, "a", 69), scale = g.weight("scale", {69, 1, 1});
    const auto behind = [&](const char* name, dk::tensor y) {
      g.output(name, stored(g, dk::relu(y) * scale, name, 5));
    };
    behind("zeros", dk::pad(a, {.pads = {0, 0, 1, 2, 0, 0, 0, 1}}));
    behind("mirrored", dk::pad(a, {.pads = {0, 0, 1, 2, 0, 0, 0, 1}, .mode = dk::pad_mode::reflect}));
    behind("smaller",
           dk::resize(dk::tanh(a), {.sizes = {1, 69, 2, 3}, .mode = dk::resize_mode::linear, .antialias = true}));
    behind("cut", dk::resize(a, {.sizes = {1, 69, 5, 7},
                                 .mode = dk::resize_mode::linear,
                                 .coordinate_transformation_mode = dk::coordinate_mode::tf_crop_and_resize,
                                 .extrapolation_value = 3,
                                 .roi = {0, 0, -0.2f, 0.1f, 1, 1, 0.9f, 1.2f}}));
    behind("cut_near", dk::resize(a, {.sizes = {1, 69, 5, 7},
                                      .coordinate_transformation_mode = dk::coordinate_mode::tf_crop_and_resize,
                                      .roi = {0, 0, 0.2f, 0.1f, 1, 1, 0.9f, 0.8f}}));
    const dk::tensor pads = dk::pad(a, {.pads = {0, 0, 1, 0, 0, 0, 0, 1}, .mode = dk::pad_mode::edge});
    g.output("joined", stored(g, dk::concat({pads, dk::tanh(pads)}, {.axis = 1}), "joined", 5));
    behind("rows", dk::gather(a, g.constant({1, 0, -1}, {3}, i64), {.axis = 2}));
  }
};

struct rows {  // vectors along the axis that is padded, cut or looked up in
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {dk::sym("A", {1, 5}), 43}), i = g.input("i", i64, {7});
    const auto padded = [&](const char* name, dk::pad_mode mode) {
      g.output(name, dk::pad(dk::neg(x), {.pads = {0, 20, 0, -3}, .mode = mode, .value = 2}));
    };
    padded("constant", dk::pad_mode::constant);
    padded("edge", dk::pad_mode::edge);
    padded("reflect", dk::pad_mode::reflect);
    padded("wrap", dk::pad_mode::wrap);
    g.output("cut", dk::pad(x, {.pads = {1, -50, 0, 40}, .value = 2}));
    g.output("value", dk::pad(x, g.input("v", f32, {}), {.pads = {0, 3, 0, 33}}));
    g.output("table", dk::gather(g.weight("w", {5, 43}), dk::mod(i, g.scalar(5, i64))) + 1.0);
    g.output("halves", dk::cast(dk::gather(dk::cast(x, {.to = dk::f16}), g.constant({-1, 0}, {2}, i64)), {.to = f32}));
    g.output("row", dk::gather(x, g.scalar(0, i64)));
  }
};

struct bytes {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::u8, {3, dk::sym("A", {1, 5}), 40}), b = g.input("b", dk::boolean, {4, 33});
    g.output("padded", dk::pad(x, {.pads = {0, 1, 4, 0, 0, 20}, .value = 200}));
    g.output("picked", dk::gather(b, g.constant({3, 0}, {2}, i64)));
    g.output("truth", dk::pad(b, {.pads = {0, 1, 0, 1}, .value = 1}));
  }
};

// How many kernels of a model's plan are computed from definitions, in vectors and element by element.
template <class Model> constexpr std::array<int, 2> definitions() {
  std::array<int, 2> n{};
  for (const dk::kernel_choice& c : harness::compile_by_rules<Model>::choices)
    if (c.family == "by_point") ++n[c.tile.lanes > 1 ? 0 : 1];
  return n;
}

TEST_CASE("images") {
  check_model<images>("images");
  CHECK(definitions<images>() == std::array{5, 2});  // what cuts images may move along all axes
}
TEST_CASE("rows") {
  check_model<rows>("rows");
  CHECK(definitions<rows>() == std::array{8, 0});  // all but "row", whose one position is known: it is a view
}
TEST_CASE("bytes") {
  check_model<bytes>("bytes");
  CHECK(definitions<bytes>() == std::array{3, 0});
}

}  // namespace
