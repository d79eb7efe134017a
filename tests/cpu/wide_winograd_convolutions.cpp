// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Groups around convolutions with windows wider than three taps that are computed by Winograd's algorithm, against the
// reference evaluator: sizes and windows that tiles and segments do not divide, known and symbolic; input that is read
// where it lies, as a part of a Concat and mirrored at its borders; bias, activations, residuals and views behind it;
// and what is left to other kernels.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/compile.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/eager_winograd.hpp"
#include "tests/support/thoroughly.hpp"
#include "tests/support/winograd_models.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

using harness::check_outputs, harness::convolution, harness::sized, harness::symbolic_within;

constexpr dk::op::conv same(std::int64_t taps) {
  const std::int64_t pad = taps / 2;
  return {.pads = {pad, pad, pad, pad}};
}

using symbolic = symbolic_within<9, 70>;

// First of a network and last, with a residual; the input is brought to channels last first.
template <class Size> struct style {
  static constexpr auto families = harness::with_eager_wide_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor image = Size::image(g, 3);
    const dk::tensor x = dk::silu(convolution(g, image, "a", 20, 9, 9, same(9)));
    const dk::tensor y = dk::relu(convolution(g, x, "b", 20, 5, 5, same(5)) + x);
    g.output("y", dk::sigmoid(convolution(g, y, "c", 3, 9, 9, same(9)) + image));
  }
};
// What is read mirrored at its borders, in strips, as a part of a Concat, and what is stored in other coordinates.
template <class Size> struct behind_movement {
  static constexpr auto families = harness::with_eager_wide_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = dk::relu(convolution(g, Size::image(g, 8), "a", 16, 5, 5, same(5)));
    const dk::op::pad mirror{.pads = {0, 0, 4, 4, 0, 0, 4, 4}, .mode = dk::pad_mode::reflect};
    g.output("mirrored", convolution(g, dk::pad(a, mirror), "b", 2, 9, 9));
    g.output("shuffled", dk::depth_to_space(convolution(g, a, "c", 12, 7, 7, same(7)), {.blocksize = 2}));
    const dk::tensor half = convolution(g, a, "d", 16, 5, 5, same(5));
    g.output("joined", dk::concat({half, dk::relu(convolution(g, half, "e", 8, 5, 5, same(5)))}, {.axis = 1}));
  }
};
// Windows that are no squares, borders of several widths and none; without a bias.
template <class Size> struct oblong {
  static constexpr auto families = harness::with_eager_wide_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(convolution(g, Size::image(g, 5), "a", 17, 1, 7, {.pads = {0, 3, 0, 2}}));
    const dk::tensor y = convolution(g, x, "b", 33, 7, 1, {.pads = {1, 0, 3, 0}});
    const dk::tensor z = dk::gelu(dk::conv(y, g.weight("c", {9, 33, 4, 3}), {.pads = {2, 0, 0, 1}}));
    g.output("y", convolution(g, z, "d", 1, 2, 6, {.pads = {0, 1, 1, 2}}));
  }
};
// Signals, of which an axis of the window is none.
template <bool Symbolic> struct signals {
  static constexpr auto families = harness::with_eager_wide_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Symbolic ? g.input("x", f32, {2, 5, dk::sym("L", {11, 190})}) : g.input("x", f32, {1, 5, 177});
    const dk::tensor y = dk::gelu(dk::conv(x, g.weight("a", {24, 5, 9}), g.weight("b", {24}), {.pads = {1, 0}}));
    g.output("y", dk::conv(y, g.weight("c", {2, 24, 4}), {.pads = {1, 1}}) + 1.0);
  }
};

// Kernels of this name, or those of them alone whose vectors run along rows.
template <class Model> constexpr std::size_t kernels_called(std::string_view name, bool along_rows = false) {
  std::size_t n = 0;
  for (const dk::plan::step& s : harness::compile_by_rules<Model>::plan.steps) {
    const dk::kernel_choice& c = harness::compile_by_rules<Model>::choices[s.kernel];
    n += c.family == name && (!along_rows || dk::cpu::runs_along_rows(c)) ? 1 : 0;
  }
  return n;
}
template <class Model, bool AlongRows = false>
constexpr std::size_t eager_kernels = kernels_called<Model>(harness::eager_wide_winograd::name, AlongRows);
static_assert(eager_kernels<style<sized<1, 32, 61>>> == 3);
static_assert(eager_kernels<style<sized<1, 32, 61>>, true> == 1);
static_assert(eager_kernels<behind_movement<symbolic>> == 5);
static_assert(eager_kernels<oblong<sized<2, 23, 50>>> == 4);
static_assert(eager_kernels<signals<true>> == 2);

// --- what is left to other kernels, and why
struct refused {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 32, 45, 45});
    g.output("a", convolution(g, x, "a", 32, 5, 5, {.strides = {1, 2}}));
    g.output("b", convolution(g, x, "b", 32, 5, 5, {.group = 2}));
    g.output("c", convolution(g, x, "c", 32, 5, 5, {.dilations = {2, 1}}));
    g.output("d", convolution(g, x, "d", 32, 3, 3));
  }
};
struct large {
  static constexpr void build(dk::builder& g) {
    g.output("y", convolution(g, g.input("x", f32, {1, 32, 45, 45}), "a", 40, 5, 5, same(5)));
    g.output("z", convolution(g, g.input("many", f32, {1, 400, 45, 45}), "b", 16, 5, 5, same(5)));
  }
};
struct exact : large {
  static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;
};
struct strict : large {
  static constexpr dk::accuracy accuracy{2.9e-6};
};
template <class Model> constexpr bool is_said(std::string_view reason) {
  for (const dk::kernel_alternative& a : harness::compile_by_rules<Model>::record().alternatives)
    if (a.family == "conv_wide_winograd" && !a.matches && a.reason == reason) return true;
  return false;
}
static_assert(kernels_called<refused>("conv_wide_winograd") == 0);
static_assert(is_said<refused>("the window moves in steps: its segments read no common tiles"));
static_assert(is_said<refused>("the channels are in groups") && is_said<refused>("the window has holes"));
static_assert(is_said<refused>("the window has at most three taps along an axis"));
static_assert(kernels_called<large>("conv_wide_winograd") == 1);
static_assert(is_said<large>("there are so many input channels that sums round too often"));
constexpr std::string_view too_large = "its error may be larger than the accuracy that is asked for";
static_assert(kernels_called<exact>("conv_wide_winograd") == 0 && kernels_called<strict>("conv_wide_winograd") == 0);
static_assert(is_said<exact>(too_large) && is_said<strict>(too_large) && !is_said<large>(too_large));

}  // namespace

TEST_CASE("the first and the last layer, a residual") {
  check_outputs<style<sized<1, 32, 61>>>("known");
  harness::thoroughly([](auto) {
    static_assert(eager_kernels<style<symbolic>> == 3 && eager_kernels<style<symbolic>, true> == 1);
    check_outputs<style<symbolic>>("symbolic");
  });
}
TEST_CASE("mirrored input, shuffled output, parts of a Concat") {
  check_outputs<behind_movement<symbolic>>("symbolic");
  harness::thoroughly([](auto) {
    static_assert(eager_kernels<behind_movement<sized<1, 13, 401>>> == 5);
    check_outputs<behind_movement<sized<1, 13, 401>>>("known");
  });
}
TEST_CASE("windows that are no squares, borders of several widths") {
  harness::thoroughly([](auto) {
    check_outputs<oblong<sized<2, 23, 50>>>("known");
    static_assert(eager_kernels<oblong<symbolic>> == 4);
    check_outputs<oblong<symbolic>>("symbolic");
  });
}
TEST_CASE("signals") {
  harness::thoroughly([](auto) {
    check_outputs<signals<true>>("symbolic");
    static_assert(eager_kernels<signals<false>> == 2);
    check_outputs<signals<false>>("known");
  });
}
