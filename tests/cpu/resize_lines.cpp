// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Resize along the axis that the output is contiguous in: modes, coordinates, roundings and types, growing and
// shrinking, along one axis and along all, known extents and symbols, with what is computed before and behind.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <array>
#include <limits>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/runtime/session.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f16, dk::f32, dk::i32, dk::i64, dk::u8;
using harness::check_model;

namespace {

using mode = dk::resize_mode;
using coordinates = dk::coordinate_mode;
using rounding = dk::nearest_rounding;

struct floats {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 2, 7, 37}),
                     s = g.input("s", f32, {2, dk::sym("H", {1, 9}), dk::sym("W", {1, 40})});
    g.output("near", dk::resize(x, {.scales = {1, 1, 2, 2}}));
    g.output("floor", dk::resize(x, {.scales = {1, 1, 1.5f, 2.5f},
                                     .coordinate_transformation_mode = coordinates::asymmetric,
                                     .nearest_mode = rounding::lower}));
    g.output("ceil", dk::resize(x, {.scales = {1, 1, 1, 0.3f},
                                    .coordinate_transformation_mode = coordinates::tf_half_pixel_for_nn,
                                    .nearest_mode = rounding::upper}));
    g.output("linear", dk::neg(dk::resize(dk::relu(x), {.scales = {1, 1, 2, 2}, .mode = mode::linear})) + 1.0);
    g.output("corners", dk::resize(x, {.sizes = {1, 2, 20, 90},
                                       .mode = mode::linear,
                                       .coordinate_transformation_mode = coordinates::align_corners}));
    g.output("smaller", dk::resize(x, {.scales = {1, 1, 0.4f, 0.1f}, .mode = mode::linear}));
    g.output("channels", dk::resize(x, {.scales = {1, 3, 1, 1.7f}, .mode = mode::linear}));
    g.output("cubic", dk::resize(x, {.scales = {1, 1, 1.5f, 2}, .mode = mode::cubic}));
    g.output("excluded", dk::resize(x, {.scales = {1, 1, 0.5f, 1.4f}, .mode = mode::cubic, .exclude_outside = true}));
    g.output("pytorch", dk::resize(x, {.sizes = {1, 2, 7, 3},
                                       .mode = mode::linear,
                                       .coordinate_transformation_mode = coordinates::pytorch_half_pixel}));
    g.output("symmetric", dk::resize(x, {.scales = {1, 1, 1, 1.3f},
                                         .mode = mode::linear,
                                         .coordinate_transformation_mode = coordinates::half_pixel_symmetric}));
    g.output("open", dk::resize(s, {.scales = {1, 2, 3}, .mode = mode::linear}));
    g.output("sized", dk::resize(s, {.sizes = {2, 5, 33}, .mode = mode::linear}));
  }
};

struct other_types {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", u8, {3, 5, 37}), n = g.input("n", i64, {2, 41}), m = g.input("m", i32, {2, 41});
    const dk::tensor h = dk::cast(g.input("h", f32, {4, 35}), {.to = f16});
    g.output("bytes", dk::resize(x, {.scales = {1, 2, 2}}));
    g.output("means", dk::resize(x, {.scales = {1, 2, 2}, .mode = mode::linear}));
    g.output("signed", dk::resize(dk::cast(x, {.to = dk::i8}), {.scales = {1, 1, 4}, .mode = mode::linear}));
    g.output("numbers", dk::resize(n, {.scales = {1, 1.5f}}));
    g.output("smaller", dk::resize(m, {.scales = {1, 0.5f}}));
    g.output("halves", dk::cast(dk::resize(h, {.scales = {1, 2}, .mode = mode::linear}), {.to = f32}));
    g.output("near", dk::cast(dk::resize(h, {.scales = {2, 3}}), {.to = f32}));
  }
};

template <class Model> constexpr bool none_by_point() {
  for (const dk::kernel_choice& c : dk::compile<Model>::choices)
    if (c.family == "by_point") return false;
  return true;
}

TEST_CASE("floats") {
  check_model<floats>("floats");
  static_assert(none_by_point<floats>());
}
TEST_CASE("other types") {
  harness::thoroughly([](auto) {
    check_model<other_types>("other types");
    static_assert(none_by_point<other_types>());
  });
}

struct infinite {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 20});
    g.output("whole", dk::resize(x, {.scales = {1, 2},
                                     .mode = mode::linear,
                                     .coordinate_transformation_mode = coordinates::asymmetric}));
    g.output("cubic", dk::resize(x, {.scales = {1, 2},
                                     .mode = mode::cubic,
                                     .coordinate_transformation_mode = coordinates::asymmetric}));
  }
};

// A neighbour whose weight is 0 does not make a NaN of what is infinite.
TEST_CASE("an infinite element stays where it is") {
  dk::session<dk::compile<infinite>> s;
  std::array<float, 20> x{};
  std::array<float, 40> whole{}, cubic{};
  x[7] = std::numeric_limits<float>::infinity();
  s.run(x, whole, cubic);
  for (std::size_t i = 0; i < 40; ++i) {
    CHECK(whole[i] == (i > 12 && i < 16 ? x[7] : 0.0f));
    if (i % 2 == 0) CHECK(cubic[i] == x[i / 2]);
  }
}

}  // namespace
