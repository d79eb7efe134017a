// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Groups around convolutions that are computed by Winograd's algorithm, against the reference evaluator: sizes that
// tiles do not divide, known and symbolic; input that is read where it lies, as a part of a Concat and mirrored at its
// borders; bias, activations, residuals and views behind it; and the accuracy that a model asks for.
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

using symbolic = symbolic_within<3, 40>;
using tiny = symbolic_within<1, 2>;

// The input is brought to channels last first; a residual; channels that fill no vector.
template <class Size> struct residual_block {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::silu(convolution(g, Size::image(g, 3), "a", 20));
    g.output("y", dk::relu(convolution(g, x, "b", 20) + x));
  }
};
// Borders that are wider behind the image: of one element there are several outputs.
template <class Size> struct wider_behind {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(convolution(g, Size::image(g, 9), "a", 16, {.pads = {1, 1, 2, 2}}));
    g.output("y", convolution(g, x, "b", 17, {.strides = {2, 2}, .pads = {1, 1, 3, 1}}));
    g.output("z", convolution(g, dk::reduce_mean(x, {.axes = {2, 3}}), "c", 12, {.pads = {1, 1, 2, 1}}));
  }
};
// Groups, some of whose channels fill no vector; without a bias; without padding, and more of it on one side.
template <class Size> struct in_groups {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(convolution(g, Size::image(g, 36), "a", 24, {.pads = {1, 1, 1, 1}, .group = 3}));
    g.output("y", dk::conv(x, g.weight("b", {40, 6, 3, 3}), {.pads = {2, 0, 0, 1}, .group = 4}));
  }
};
// What is read mirrored at its borders, as a part of a Concat, and what is stored in other coordinates.
template <class Size> struct behind_movement {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Size::image(g, 8);
    const dk::tensor a = dk::relu(convolution(g, x, "a", 16));
    const dk::op::pad mirror{.pads = {0, 0, 1, 1, 0, 0, 1, 1}, .mode = dk::pad_mode::reflect};
    g.output("mirrored", convolution(g, dk::pad(a, mirror), "b", 9, {}));
    g.output("shuffled", dk::depth_to_space(convolution(g, a, "c", 12), {.blocksize = 2}));
    const dk::tensor half = convolution(g, a, "d", 16);
    g.output("joined", dk::concat({half, dk::relu(convolution(g, half, "e", 8))}, {.axis = 1}));
  }
};
// Windows of one plane, over volumes.
template <bool Symbolic> struct planes {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Symbolic ? g.input("x", f32, {2, 6, dk::sym("D", {2, 4}), dk::sym("H", {3, 17}), 9})
                                  : g.input("x", f32, {2, 6, 3, 10, 13});
    dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {16, 6, 1, 3, 3}), {.pads = {0, 1, 1, 0, 1, 1}}));
    y = dk::conv(y, g.weight("b", {18, 16, 1, 3, 3}), g.weight("c", {18}), {.pads = {0, 1, 0, 0, 1, 0}});
    g.output("y", dk::sigmoid(y));
  }
};

// Steps of two along both axes and along one, taps along one axis.
template <class Size> struct in_steps {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x =
        dk::relu(convolution(g, Size::image(g, 3), "a", 20, {.strides = {2, 2}, .pads = {2, 1, 1, 2}}));
    const dk::tensor down =
        dk::conv(x, g.weight("down", {20, 5, 3, 1}), {.strides = {2, 1}, .pads = {1, 0, 1, 0}, .group = 4});
    const dk::tensor across =
        dk::conv(down, g.weight("across", {17, 20, 1, 3}), g.weight("bias", {17}), {.pads = {0, 2, 0, 1}});
    g.output("y", dk::silu(convolution(g, across, "b", 18, {.strides = {1, 2}, .pads = {1, 1, 1, 1}})));
  }
};
// Signals.
template <bool Symbolic> struct signals {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Symbolic ? g.input("x", f32, {2, 5, dk::sym("L", {6, 90})}) : g.input("x", f32, {1, 5, 77});
    const dk::tensor y =
        dk::gelu(dk::conv(x, g.weight("a", {24, 5, 3}), g.weight("b", {24}), {.strides = {2}, .pads = {1, 0}}));
    g.output("y", dk::conv(y, g.weight("c", {19, 24, 3}), {.pads = {1, 1}}) + 1.0);
  }
};

// Taps along the depth alone, and along depth and width; input that is staged, and that is read where it lies.
template <bool Symbolic> struct deep {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Symbolic ? g.input("x", f32, {2, 6, dk::sym("D", {3, 11}), dk::sym("H", {1, 9}), 7})
                                  : g.input("x", f32, {2, 6, 9, 5, 8});
    dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {20, 6, 3, 1, 1}), {.pads = {1, 0, 0, 1, 0, 0}}));
    y = dk::relu(dk::conv(y, g.weight("b", {18, 20, 3, 1, 1}), g.weight("c", {18}),
                          {.strides = {2, 1, 1}, .pads = {1, 1, 0, 0, 1, 0}}));
    g.output("y", dk::conv(y, g.weight("d", {16, 18, 3, 1, 3}), {.pads = {1, 0, 1, 1, 0, 1}}));
  }
};

// Windows over several planes.
template <bool Symbolic> struct volumes {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Symbolic ? g.input("x", f32, {2, 6, dk::sym("D", {3, 6}), dk::sym("H", {3, 17}), 9})
                                  : g.input("x", f32, {2, 6, 5, 10, 13});
    const dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {24, 6, 3, 3, 3}), {.pads = {1, 1, 1, 1, 1, 1}}));
    g.output("y", dk::conv(y, g.weight("b", {18, 12, 2, 3, 3}), g.weight("c", {18}),
                           {.strides = {2, 1, 2}, .pads = {0, 1, 1, 1, 1, 0}, .group = 2}));
  }
};

// Kernels of this name.
template <class Model> constexpr std::size_t kernels_called(std::string_view name) {
  std::size_t n = 0;
  for (const dk::plan::step& s : harness::compile_by_rules<Model>::plan.steps)
    n += harness::compile_by_rules<Model>::choices[s.kernel].family == name ? 1 : 0;
  return n;
}
template <class Model> constexpr std::size_t eager_kernels = kernels_called<Model>(harness::eager_winograd::name);
static_assert(eager_kernels<residual_block<sized<1, 14, 15>>> == 2 && eager_kernels<residual_block<symbolic>> == 2);
static_assert(eager_kernels<in_groups<symbolic>> == 2);
static_assert(eager_kernels<behind_movement<sized<1, 11, 8>>> == 5);
static_assert(eager_kernels<in_steps<symbolic>> == 4);
static_assert(eager_kernels<residual_block<tiny>> == 2);
static_assert(eager_kernels<signals<false>> == 2);
static_assert(eager_kernels<deep<true>> == 3);
static_assert(eager_kernels<volumes<false>> == 2);
static_assert(eager_kernels<planes<false>> == 2);

// --- which kernels a network has, and what its accuracy says
struct usual {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::max_pool(g.input("x", f32, {1, 64, 57, 57}), {.kernel_shape = {2, 2}});
    const dk::tensor y = dk::relu(convolution(g, x, "a", 64));
    g.output("y", convolution(g, y, "b", 64, {.strides = {3, 3}, .pads = {1, 1, 1, 1}}));
  }
};
struct exact : usual {
  static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;
};
struct strict : usual {
  static constexpr dk::accuracy accuracy{9e-7};
};
struct careful : usual {
  static constexpr dk::accuracy accuracy{1e-6};
};
static_assert(kernels_called<exact>("conv_winograd") == 0 && kernels_called<strict>("conv_winograd") == 0);
// Winograd's kernels whose tiles have so many outputs along an axis.
template <class Model> constexpr std::size_t kernels_in_tiles_of(int outputs) {
  std::size_t n = 0;
  for (const dk::plan::step& s : harness::compile_by_rules<Model>::plan.steps) {
    const dk::kernel_choice& c = harness::compile_by_rules<Model>::choices[s.kernel];
    const bool is_winograd = c.family == "conv_winograd" || c.family == harness::eager_winograd::name;
    n += is_winograd && dk::cpu::outputs_of_tile(c) == outputs ? 1 : 0;
  }
  return n;
}
static_assert(kernels_in_tiles_of<usual>(4) == 1 && kernels_in_tiles_of<careful>(2) == 1);

// The same layers in tiles of 2 and of 6.
template <class Model> struct in_small_tiles : Model { static constexpr dk::accuracy accuracy{1e-6}; };
template <class Model> struct in_large_tiles : Model { static constexpr dk::accuracy accuracy{2e-5}; };
using small_residual_block = in_small_tiles<residual_block<symbolic>>;
using large_residual_block = in_large_tiles<residual_block<sized<1, 42, 41>>>;
using small_steps = in_small_tiles<in_steps<sized<1, 31, 23>>>;
// Many channels, that products outweigh transforms, and many tiles, that these outweigh weights.
struct large_signals {
  static constexpr auto families = harness::with_eager_winograd;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 256, 2301});
    const dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {128, 256, 3}), {.strides = {2}}));
    g.output("y", dk::conv(y, g.weight("b", {100, 128, 3}), g.weight("c", {100}), {.pads = {1, 1}}));
  }
};
static_assert(kernels_in_tiles_of<small_residual_block>(2) == 2 && kernels_in_tiles_of<large_residual_block>(6) == 2);

// What larger tiles have to save is less where their weights are a smaller part of the network's.
template <std::int64_t Rows> struct beside_a_product {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(dk::conv(g.input("x", f32, {1, 64, 14, 14}), g.weight("first", {512, 64, 1, 1})));
    g.output("y", convolution(g, dk::relu(convolution(g, x, "a", 512)), "b", 512));
    g.output("z", dk::matmul(g.input("row", f32, {1, Rows}), g.weight("matrix", {Rows, 4096})));
  }
};
static_assert(kernels_in_tiles_of<beside_a_product<64>>(2) == 2);
static_assert(kernels_in_tiles_of<beside_a_product<25088>>(4) == 2);

// Is it said of some kernel why it is none of Winograd's?
template <class Model> constexpr bool is_said(std::string_view reason) {
  for (const dk::kernel_alternative& a : harness::compile_by_rules<Model>::record().alternatives)
    if (a.family == "conv_winograd" && !a.matches && a.reason == reason) return true;
  return false;
}
constexpr std::string_view too_large = "its error may be larger than the accuracy that is asked for";
static_assert(is_said<exact>(too_large) && is_said<strict>(too_large) && !is_said<usual>(too_large));
static_assert(is_said<usual>("the window has not three taps along one axis or two, or moves in larger steps than two"));

}  // namespace

TEST_CASE("activations, residuals and channels that fill no vector") {
  check_outputs<residual_block<symbolic>>("symbolic");
  harness::thoroughly([](auto) { check_outputs<residual_block<sized<1, 14, 15>>>("known"); });
}
TEST_CASE("groups, no bias, borders of several widths") {
  check_outputs<in_groups<symbolic>>("symbolic");
  harness::thoroughly([](auto) {
    static_assert(eager_kernels<in_groups<sized<2, 9, 22>>> == 2);
    check_outputs<in_groups<sized<2, 9, 22>>>("known");
  });
}
TEST_CASE("mirrored input, shuffled output, parts of a Concat") {
  check_outputs<behind_movement<sized<1, 11, 8>>>("known");
  harness::thoroughly([](auto) {
    static_assert(eager_kernels<behind_movement<symbolic>> == 5);
    check_outputs<behind_movement<symbolic>>("symbolic");
  });
}
TEST_CASE("tiles of two and of six outputs along an axis") {
  check_outputs<large_residual_block>("large", 4e-5);
  harness::thoroughly([](auto) {
    check_outputs<small_residual_block>("small", 2e-6);
    static_assert(kernels_in_tiles_of<small_steps>(2) == 4 && kernels_in_tiles_of<large_signals>(6) == 1);
    check_outputs<small_steps>("small, in steps", 3e-6);
    check_outputs<large_signals>("large, of signals");
  });
}
TEST_CASE("images of one element, and of two along an axis") {
  check_outputs<residual_block<tiny>>("tiny");
  harness::thoroughly([](auto) {
    static_assert(eager_kernels<in_steps<tiny>> == 4);
    check_outputs<in_steps<tiny>>("tiny, in steps");
    check_outputs<wider_behind<tiny>>("tiny, with wider borders behind");
  });
}
TEST_CASE("planes of volumes") {
  check_outputs<planes<false>>("known");
  harness::thoroughly([](auto) {
    static_assert(eager_kernels<planes<true>> == 2);
    check_outputs<planes<true>>("symbolic");
  });
}
TEST_CASE("steps of two, and taps along one axis") {
  check_outputs<in_steps<symbolic>>("symbolic");
  harness::thoroughly([](auto) {
    static_assert(eager_kernels<in_steps<sized<1, 31, 23>>> == 4);
    check_outputs<in_steps<sized<1, 31, 23>>>("known");
  });
}
TEST_CASE("signals") {
  harness::thoroughly([](auto) {
    check_outputs<signals<false>>("known");
    static_assert(eager_kernels<signals<true>> == 2);
    check_outputs<signals<true>>("symbolic");
  });
}
TEST_CASE("taps along the depth of volumes") {
  check_outputs<deep<true>>("symbolic");
  harness::thoroughly([](auto) {
    static_assert(eager_kernels<deep<false>> == 3);
    check_outputs<deep<false>>("known");
  });
}
TEST_CASE("windows over several planes") {
  harness::thoroughly([](auto) {
    check_outputs<volumes<false>>("known");
    static_assert(eager_kernels<volumes<true>> == 2);
    check_outputs<volumes<true>>("symbolic");
  });
}
