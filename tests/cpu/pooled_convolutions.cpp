// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Convolutions by Winograd's algorithm whose tiles are pooled before they are stored, against the reference evaluator:
// sizes that tiles and windows do not divide, known and symbolic; what others read, too; windows of several sizes; and
// which pools have a kernel of their own.
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

constexpr dk::op::max_pool halves{.kernel_shape = {2, 2}, .strides = {2, 2}};
constexpr dk::op::max_pool ceiled_halves{.kernel_shape = {2, 2}, .strides = {2, 2}, .ceil_mode = true};

using symbolic = symbolic_within<4, 40>;
using tiny = symbolic_within<2, 4>;  // pooled twice, an element or two

// Nobody but the pool reads what is pooled; windows that reach beyond the image; something behind the pool.
template <class Size> struct chain {
  static constexpr auto families = harness::with_eager_winograd_pool;
  static constexpr void build(dk::builder& g) {
    dk::tensor x = dk::max_pool(dk::relu(convolution(g, Size::image(g, 8), "a", 20)), halves);
    x = dk::relu(dk::max_pool(dk::silu(convolution(g, x, "b", 24, {.pads = {1, 1, 1, 1}, .group = 4})), ceiled_halves));
    g.output("y", convolution(g, x, "c", 16) * 0.5);
  }
};
// What is pooled is joined with something else later, or read by another convolution.
template <class Size> struct skips {
  static constexpr auto families = harness::with_eager_winograd_pool;
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = dk::relu(convolution(g, Size::image(g, 8), "a", 16));
    const dk::tensor b = dk::relu(convolution(g, dk::max_pool(a, halves), "b", 20));
    const dk::tensor c = dk::max_pool(b, ceiled_halves), d = convolution(g, Size::image(g, 8, "z"), "d", 12);
    g.output("joined", convolution(g, dk::concat({d, a}, {.axis = 1}), "e", 8));
    g.output("read", convolution(g, b, "f", 24));
    g.output("pooled", convolution(g, dk::sigmoid(c), "h", 24));
  }
};
// Means; windows of other sizes, also such that leave out elements; a residual behind one. (Convolutions of one image
// would be one.)
template <class Size> struct windows {
  static constexpr auto families = harness::with_eager_winograd_pool;
  static constexpr void build(dk::builder& g) {
    const auto of = [&](const char* image, const char* name) {
      return convolution(g, Size::image(g, 9, image), name, 12);
    };
    const auto mean = [](dk::tensor t, dk::int_list kernel, dk::int_list strides) {
      return dk::average_pool(t, {.kernel_shape = kernel, .strides = strides, .ceil_mode = true});
    };
    const dk::tensor a = mean(of("u", "a"), {2, 2}, {2, 2}), b = of("v", "b");
    g.output("sum", a + mean(b, {2, 2}, {2, 2}));
    g.output("skip", convolution(g, b, "f", 24));
    g.output("fours", mean(dk::silu(of("w", "c")), {4, 4}, {4, 4}));
    g.output("columns", dk::max_pool(of("x", "d"), {.kernel_shape = {2, 1}, .strides = {2, 1}}));
    g.output("holes", dk::max_pool(of("y", "e"), {.kernel_shape = {1, 2}, .strides = {2, 4}}));
    const dk::tensor steps = convolution(g, Size::image(g, 9, "z"), "g", 12, {.strides = {2, 2}, .pads = {1, 1, 1, 1}});
    g.output("steps", dk::max_pool(steps, {.kernel_shape = {2, 2}, .strides = {2, 2}}));
  }
};
// Planes of volumes.
template <bool Symbolic> struct planes {
  static constexpr auto families = harness::with_eager_winograd_pool;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Symbolic ? g.input("x", f32, {2, 6, dk::sym("D", {2, 4}), dk::sym("H", {4, 17}), 9})
                                  : g.input("x", f32, {2, 6, 3, 10, 13});
    const dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {16, 6, 1, 3, 3}), {.pads = {0, 1, 1, 0, 1, 1}}));
    g.output("y", dk::max_pool(y, {.kernel_shape = {1, 2, 2}, .strides = {1, 2, 2}}));
    g.output("z", dk::max_pool(y, {.kernel_shape = {2, 2, 2}, .strides = {2, 2, 2}}));
  }
};
// Windows that lie in several tiles, or outside the image; rows where columns were; a part of the channels; the
// caller's own.
struct kernels_of_their_own {
  static constexpr auto families = harness::with_eager_winograd_pool;
  static constexpr void build(dk::builder& g) {
    const auto of = [&](const char* image, const char* name, dk::op::conv a = {.pads = {1, 1, 1, 1}}) {
      return convolution(g, g.input(image, f32, {1, 8, 12, 12}), name, 8, a);
    };
    g.output("overlap", dk::max_pool(of("p", "a"), {.kernel_shape = {3, 3}, .strides = {2, 2}}));
    g.output("padded", dk::max_pool(of("q", "b"), {.kernel_shape = {2, 2}, .strides = {2, 2}, .pads = {1, 1, 1, 1}}));
    g.output("thirds", dk::max_pool(of("r", "c"), {.kernel_shape = {3, 3}, .strides = {3, 3}}));
    g.output("far", dk::max_pool(of("s", "d"), {.kernel_shape = {2, 2}, .dilations = {2, 2}}));
    g.output("turned", dk::max_pool(dk::transpose(of("t", "e"), {.perm = {0, 1, 3, 2}}), halves));
    g.output("part", dk::max_pool(dk::slice(of("u", "f"), {.starts = {3}, .ends = {7}, .axes = {1}}), halves));
    const dk::tensor given = of("v", "g");
    g.output("given", given);
    g.output("pooled", dk::max_pool(given, halves));
    g.output("strided", dk::max_pool(of("w", "h", {.strides = {3, 3}, .pads = {1, 1, 1, 1}}), halves));
  }
};

template <class Model>
constexpr std::size_t joined = [] {
  std::size_t n = 0;
  for (const dk::plan::step& s : harness::compile_by_rules<Model>::plan.steps)
    n += harness::compile_by_rules<Model>::choices[s.kernel].family == harness::eager_winograd_pool::name ? 1 : 0;
  return n;
}();
static_assert(joined<chain<sized<1, 14, 15>>> == 2 && joined<chain<symbolic>> == 2);
static_assert(joined<skips<sized<2, 17, 22>>> == 2);
static_assert(joined<windows<symbolic>> == 6);
static_assert(joined<planes<false>> == 1);
static_assert(joined<kernels_of_their_own> == 0);

// What larger tiles have to save is less where their weights are a smaller part of the network's: of a stage, too.
template <std::int64_t Rows> struct beside_a_product {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(dk::conv(g.input("x", f32, {1, 64, 14, 14}), g.weight("first", {512, 64, 1, 1})));
    g.output("y", dk::max_pool(dk::relu(convolution(g, x, "a", 512)), halves));
    g.output("z", dk::matmul(g.input("row", f32, {1, Rows}), g.weight("matrix", {Rows, 4096})));
  }
};
template <class Model>
constexpr int outputs_of_joined_tile = [] {
  using network = harness::compile_by_rules<Model>;
  for (const dk::plan::step& s : network::plan.steps)
    if (network::choices[s.kernel].family == dk::cpu::conv_winograd_pool::name)
      return dk::cpu::outputs_of_tile(network::choices[network::plan.number_of_stage(s.kernel, 0)]);
  return 0;
}();
static_assert(outputs_of_joined_tile<beside_a_product<64>> == 2);
static_assert(outputs_of_joined_tile<beside_a_product<25088>> == 4);

}  // namespace

TEST_CASE("what the pool alone reads is not stored") {
  check_outputs<chain<symbolic>>("symbolic");
  harness::thoroughly([](auto) {
    check_outputs<chain<sized<1, 14, 15>>>("known");
    check_outputs<chain<sized<2, 16, 8>>>("of whole tiles");
    static_assert(joined<chain<tiny>> == 2);
    check_outputs<chain<tiny>>("tiny");
  });
}
TEST_CASE("what others read, too, is stored") {
  check_outputs<skips<sized<2, 17, 22>>>("known");
  harness::thoroughly([](auto) {
    static_assert(joined<skips<symbolic>> == 2);
    check_outputs<skips<symbolic>>("symbolic");
  });
}
TEST_CASE("means, windows of several sizes, residuals behind them") {
  harness::thoroughly([](auto) {
    check_outputs<windows<symbolic>>("symbolic");
    static_assert(joined<windows<sized<1, 38, 37>>> == 6);
    check_outputs<windows<sized<1, 38, 37>>>("known");
  });
}
TEST_CASE("planes of volumes") {
  harness::thoroughly([](auto) {
    check_outputs<planes<false>>("known");
    static_assert(joined<planes<true>> == 1);
    check_outputs<planes<true>>("symbolic");
  });
}
TEST_CASE("windows that tiles do not hold have kernels of their own") { check_outputs<kernels_of_their_own>("known"); }
