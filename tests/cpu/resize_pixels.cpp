// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Resize along other axes than the one that the output is contiguous in: modes, coordinates, roundings and types,
// growing and shrinking, along one axis, two and three, known extents and symbols, with what is computed before and
// behind, and between convolutions.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <array>
#include <limits>
#include <string_view>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/runtime/session.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f16, dk::f32, dk::i64, dk::u8;
using harness::check_model;

namespace {

using mode = dk::resize_mode;
using coordinates = dk::coordinate_mode;
using rounding = dk::nearest_rounding;

template <class Model> constexpr std::size_t kernels_of(std::string_view family) {
  std::size_t n = 0;
  for (const dk::kernel_choice& c : dk::compile<Model>::choices) n += c.family == family ? 1u : 0u;
  return n;
}

struct floats {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 5, 7, 37}), y = g.input("y", f32, {2, 10, 14, 37}),
                     v = g.input("v", f32, {3, 4, 5, 16});
    g.output("near", dk::resize(dk::relu(x), {.scales = {1, 2, 2, 1}}) + y);
    g.output("floor", dk::resize(x, {.scales = {1, 1.5f, 2.5f, 1},
                                     .coordinate_transformation_mode = coordinates::asymmetric,
                                     .nearest_mode = rounding::lower}));
    g.output("linear", dk::neg(dk::resize(dk::relu(x), {.scales = {1, 2, 2, 1}, .mode = mode::linear})) + y);
    g.output("corners", dk::resize(x, {.sizes = {2, 20, 9, 37},
                                       .mode = mode::linear,
                                       .coordinate_transformation_mode = coordinates::align_corners}));
    g.output("smaller", dk::resize(x, {.scales = {1, 0.4f, 0.3f, 1}, .mode = mode::linear}));
    g.output("cubic", dk::resize(x, {.scales = {1, 1.5f, 2, 1}, .mode = mode::cubic}));
    g.output("excluded", dk::resize(x, {.scales = {1, 0.5f, 1.4f, 1}, .mode = mode::cubic, .exclude_outside = true}));
    g.output("rows", dk::resize(x, {.scales = {1, 3, 1, 1}, .mode = mode::linear}));
    g.output("columns", dk::resize(x, {.scales = {1, 1, 3, 1}, .mode = mode::cubic}));
    g.output("images", dk::resize(x, {.scales = {2, 1, 1, 1}, .mode = mode::linear}));
    g.output("volumes", dk::resize(v, {.scales = {2, 1.5f, 2, 1}, .mode = mode::linear}));
    g.output("too many lines",
             dk::resize(g.input("small", f32, {2, 3, 2, 3, 8}), {.scales = {2, 2, 2, 2, 1}, .mode = mode::cubic}));
    g.output("volumes_cubic", dk::resize(v, {.scales = {1.5f, 1.5f, 2, 1}, .mode = mode::cubic}));
  }
};

struct symbols {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {dk::sym("H", {1, 9}), dk::sym("W", {1, 12}), dk::sym("C", {0, 40})});
    g.output("near", dk::resize(x, {.scales = {2, 3, 1}}));
    g.output("linear", dk::resize(x, {.scales = {2, 3, 1}, .mode = mode::linear}));
    g.output("cubic", dk::resize(x, {.scales = {2, 1, 1}, .mode = mode::cubic}));
  }
};

struct other_types {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", u8, {3, 5, 37}), n = g.input("n", i64, {4, 21});
    const dk::tensor h = dk::cast(g.input("h", f32, {4, 35}), {.to = f16});
    g.output("bytes", dk::resize(x, {.scales = {2, 2, 1}}));
    g.output("means", dk::resize(x, {.scales = {2, 2, 1}, .mode = mode::linear}));
    g.output("numbers", dk::resize(n, {.scales = {1.5f, 1}}));
    g.output("halves", dk::cast(dk::resize(h, {.scales = {2, 1}, .mode = mode::linear}), {.to = f32}));
  }
};

// Images whose channels convolutions put last, and take so.
struct between_convolutions {
  static constexpr void build(dk::builder& g) {
    const auto convolved = [&](dk::tensor x, const char* name, std::int64_t in) {
      return dk::conv(x, g.weight(name, {32, in, 3, 3}), {.pads = {1, 1, 1, 1}});
    };
    const dk::tensor x = convolved(g.input("x", f32, {1, 32, 20, 20}), "first", 32);
    const dk::tensor y = convolved(dk::resize(x, {.scales = {1, 1, 2, 2}, .mode = mode::linear}), "second", 32);
    g.output("y", convolved(dk::resize(y, {.sizes = {1, 32, 51, 47}, .mode = mode::cubic}), "third", 32));
  }
};

TEST_CASE("floats") {
  check_model<floats>("floats");
  static_assert(kernels_of<floats>("resize_pixels") == 12);  // all but what is made of too many lines
}
// More pixels than are computed at once, of which the first and last of some have fewer neighbours than others.
struct lines_in_pieces {
  static constexpr void build(dk::builder& g) {
    const dk::tensor few = g.input("few", f32, {2, 70, 3}), many = g.input("many", f32, {3, 21, 130});
    const auto resized = [&](const char* name, dk::tensor x, float scale, mode m, coordinates c) {
      g.output(name, dk::resize(x, {.scales = {1, scale, 1}, .mode = m, .coordinate_transformation_mode = c}));
    };
    resized("half_pixel", few, 3, mode::cubic, coordinates::half_pixel);
    resized("asymmetric", few, 4, mode::cubic, coordinates::asymmetric);
    resized("corners", few, 3, mode::cubic, coordinates::align_corners);
    resized("linear", few, 4, mode::linear, coordinates::asymmetric);
    resized("wide", many, 2, mode::cubic, coordinates::asymmetric);
    resized("wide_corners", many, 3, mode::cubic, coordinates::align_corners);
    resized("wide_linear", many, 3, mode::linear, coordinates::half_pixel);
    resized("smaller", many, 0.5f, mode::cubic, coordinates::half_pixel);
  }
};
TEST_CASE("lines in pieces") {
  harness::thoroughly([](auto) {
    check_model<lines_in_pieces>("lines in pieces");
    static_assert(kernels_of<lines_in_pieces>("resize_pixels") == 8);
  });
}
TEST_CASE("symbols") {
  check_model<symbols>("symbols");
  static_assert(kernels_of<symbols>("resize_pixels") == 3);
}
TEST_CASE("other types") {
  harness::thoroughly([](auto) {
    check_model<other_types>("other types");
    static_assert(kernels_of<other_types>("resize_pixels") == 4);
  });
}
TEST_CASE("between convolutions") {
  check_model<between_convolutions>("between convolutions");
  static_assert(kernels_of<between_convolutions>("resize_pixels") == 2);
}

struct infinite {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {20, 16});
    const auto twice = [&](mode m) {
      return dk::resize(x, {.scales = {2, 1}, .mode = m, .coordinate_transformation_mode = coordinates::asymmetric});
    };
    g.output("whole", twice(mode::linear));
    g.output("cubic", twice(mode::cubic));
  }
};

// A neighbour whose weight is 0 does not make a NaN of what is infinite.
TEST_CASE("an infinite element stays where it is") {
  dk::session<dk::compile<infinite>> s;
  std::array<float, 320> x{};
  std::array<float, 640> whole{}, cubic{};
  x[7 * 16 + 3] = std::numeric_limits<float>::infinity();
  s.run(x, whole, cubic);
  for (std::size_t i = 0; i < 640; ++i) {
    const std::size_t row = i / 16;
    CHECK(whole[i] == (row > 12 && row < 16 && i % 16 == 3 ? x[7 * 16 + 3] : 0.0f));
    if (row % 2 == 0) CHECK(cubic[i] == x[row / 2 * 16 + i % 16]);
  }
}

}  // namespace
