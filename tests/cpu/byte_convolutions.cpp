// SPDX-License-Identifier: MIT
// OPTIONS: -O1
// LABELS: no_sanitize
// Convolutions of 8-bit integers, compiled: windows, groups, signs and zero points, and quantised models around them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <array>
#include <cstddef>
#include <cstdint>

#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32, dk::i8, dk::u8;
using harness::check_model;

namespace {

constexpr dk::tensor conv(dk::tensor x, dk::tensor w, dk::tensor x_zero, dk::tensor w_zero, dk::op::conv_integer how) {
  return dk::apply(how, x, w, x_zero, w_zero);
}

template <bool Symbolic> struct windows {
  static constexpr void build(dk::builder& g) {
    const dk::dim h = Symbolic ? dk::dim(g.symbol({"H", {9, 12}})) : dk::dim(10);
    const dk::tensor x = g.input("x", u8, {2, 20, h, 9}), zero = g.input("z", u8, {});
    const dk::tensor a = conv(x, g.weight("a", {35, 20, 3, 3}, i8), zero, {}, {.pads = {1, 1, 1, 1}});
    g.output("a", a);
    g.output("point", conv(x, g.weight("b", {18, 20, 1, 1}, i8), zero, g.weight("bz", {}, i8), {}));
    g.output("strided", conv(x, g.weight("c", {16, 20, 2, 3}, i8), {}, {}, {.strides = {2, 2}, .pads = {0, 1, 1, 0}}));
    g.output("groups", conv(x, g.weight("d", {12, 5, 3, 3}, i8), zero, g.weight("dz", {12}, i8),
                            {.pads = {2, 2, 2, 2}, .dilations = {2, 2}, .group = 4}));
    g.output("depthwise", conv(x, g.weight("e", {20, 1, 3, 3}, i8), zero, {}, {.pads = {1, 1, 1, 1}, .group = 20}));
  }
};

struct signs {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", i8, {1, 3, 11, 12}), y = g.input("y", i8, {1, 17, 8});
    g.output("few", conv(x, g.weight("a", {16, 3, 5, 5}, u8), g.scalar(-7, i8), g.weight("z", {}, u8),
                         {.strides = {2, 2}, .pads = {2, 2, 2, 2}}));
    g.output("line", conv(y, g.weight("b", {4, 17, 3}, i8), g.scalar(127, i8), {}, {.pads = {1, 1}}));
    g.output("each",
             conv(y, g.weight("c", {17, 1, 3}, u8), g.scalar(-128, i8), g.weight("cz", {17}, u8), {.group = 17}));
    const dk::tensor volume = g.input("v", u8, {1, 4, 3, 4, 5});
    g.output("volume",
             conv(volume, g.weight("d", {6, 4, 2, 2, 2}, i8), g.scalar(9, u8), {}, {.pads = {1, 0, 1, 0, 1, 0}}));
  }
};

struct filters_of_their_own {  // each channel's: more rows than a lane holds, more taps than registers, holes, steps
  static constexpr void build(dk::builder& g) {
    const dk::tensor u = g.input("u", u8, {1, 35, 12, 23}), s = g.input("s", i8, {2, 16, 9, 31});
    const auto of = [&](const char* name, dk::tensor x, dk::tensor zero, std::int64_t height, std::int64_t width,
                        dk::dtype type, dk::op::conv_integer how) {
      const std::int64_t channels = how.group;
      const dk::tensor w = g.weight(name, ".weight", {channels, 1, height, width}, type);
      g.output(name, conv(x, w, zero, type == u8 ? g.weight(name, ".zeros", {channels}, u8) : dk::tensor{}, how));
    };
    const dk::tensor zero = g.input("zero", u8, {}), below = g.scalar(-100, i8);
    of("tall", u, zero, 5, 5, i8, {.strides = {2, 2}, .pads = {2, 2, 2, 2}, .group = 35});
    of("wide", u, zero, 2, 10, i8, {.pads = {0, 4, 1, 5}, .group = 35});
    of("holes", u, zero, 6, 3, u8, {.strides = {1, 3}, .pads = {3, 3, 3, 3}, .dilations = {1, 3}, .group = 35});
    of("apart", s, below, 1, 2, i8, {.strides = {1, 5}, .group = 16});
    of("low", s, below, 3, 3, u8, {.strides = {2, 1}, .pads = {1, 1, 1, 1}, .group = 16});
    of("eight", s, below, 9, 8, i8, {.pads = {4, 3, 4, 4}, .group = 16});
  }
};

struct residual {  // sums to which those of another convolution are added, pixel by pixel
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", u8, {1, 16, 7, 9});
    const dk::tensor a = conv(x, g.weight("a", {32, 16, 1, 1}, i8), {}, {}, {});
    g.output("y", conv(x, g.weight("b", {32, 16, 3, 3}, i8), {}, {}, {.pads = {1, 1, 1, 1}}) + a);
  }
};
static_assert(harness::compile_by_rules<residual>::kernels == 2);

struct picture {  // of few channels, quantised by the kernel that reads it
  static constexpr void build(dk::builder& g) {
    const auto of = [&](const char* name, std::int64_t channels, dk::dtype type) {
      const dk::tensor zero = g.scalar(type == u8 ? 120 : -9, type), x = g.input(name, f32, {2, channels, 9, 21});
      const dk::tensor q = dk::quantize_linear(x, g.scalar(1.0 / 32), zero);
      const dk::tensor w = g.weight(name, ".weight", {18, channels, 3, 3}, i8);
      g.output(name, conv(q, w, zero, {}, {.strides = {2, 2}, .pads = {1, 1, 1, 1}}));
    };
    of("colours", 3, u8);
    of("grey", 1, u8);
    of("signed", 4, i8);
  }
};
static_assert(harness::compile_by_rules<picture>::kernels == 3);

struct quantised {  // as tools write it; no rounding depends on how the sums are scaled
  static constexpr void build(dk::builder& g) {
    const auto number = [&](double x) { return g.scalar(x); };
    const dk::tensor zero = g.scalar(128, u8), none = g.scalar(0, i8);
    const auto real = [&](dk::tensor q, double scale) { return dk::dequantize_linear(q, number(scale), zero); };
    const auto real_weight = [&](dk::tensor w) { return dk::dequantize_linear(w, number(1.0 / 64), none); };
    const dk::tensor q = g.input("q", u8, {1, 16, 6, 6});
    const dk::tensor x = real(q, 0.5);
    const auto again = [&](dk::tensor t) { return dk::quantize_linear(t, number(64), zero); };
    const dk::tensor c = again(dk::conv(x, real_weight(g.weight("a", {32, 16, 3, 3}, i8)), {.pads = {1, 1, 1, 1}}));
    const dk::tensor d = again(
        dk::conv(real(c, 0.25), real_weight(g.weight("b", {32, 1, 3, 3}, i8)), {.pads = {1, 1, 1, 1}, .group = 32}));
    const dk::tensor both = dk::relu(real(c, 2) + real(d, 4));
    g.output("sum", dk::quantize_linear(both, number(8), zero));
    const dk::tensor pooled =
        dk::quantize_linear(dk::max_pool(real(d, 4), {.kernel_shape = {2, 2}, .strides = {2, 2}}), number(4), zero);
    const dk::tensor rows = dk::reshape(pooled, {1, 32 * 9});
    g.output("scores", dk::gemm(real(rows, 0.5), real_weight(g.weight("f", {10, 32 * 9}, i8)), {.trans_b = true}));
    g.output("largest", dk::max_pool(d, {.kernel_shape = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}}));
    g.output("largest of signed", dk::max_pool(g.input("s", i8, {2, 67, 5, 5}), {.kernel_shape = {2, 2}}));
    g.output("last", dk::quantize_linear(dk::matmul(real(rows, 0.5), real_weight(g.weight("h", {32 * 9, 7}, i8))),
                                         number(32), zero));
  }
};

// Are all integer products and convolutions of a model done in bytes, and are there so many?
template <class Model, std::size_t Products> constexpr bool in_bytes() {
  using net = harness::compile_by_rules<Model>;
  std::size_t products = 0;
  for (std::size_t r = 0; r < net::plan.recipes.size(); ++r) {
    const dk::operator_id id = net::plan.recipes[r].anchor.id;
    if (id == dk::id_of<dk::op::conv> || id == dk::id_of<dk::op::matmul>) return false;
    if (id != dk::id_of<dk::op::conv_integer> && id != dk::id_of<dk::op::matmul_integer>) continue;
    if (!net::choices[r].family.starts_with("byte_")) return false;
    ++products;
  }
  return products == Products;
}
static_assert(in_bytes<windows<false>, 5>() && in_bytes<signs, 4>());
static_assert(in_bytes<filters_of_their_own, 6>() && in_bytes<quantised, 4>());

// Does nothing of a model run by its operators' definitions?
template <class Model> constexpr bool in_vectors() {
  for (const auto& c : harness::compile_by_rules<Model>::choices)
    if (c.family == "by_point") return false;
  return true;
}
static_assert(in_vectors<quantised>());

// Two convolutions whose results are added, with scales and zero points from a file: two kernels, and what the first
// hands to the second is bytes.
struct joined {
  static constexpr void build(dk::builder& g) {
    std::size_t parameters = 0;
    const auto parameter = [&](dk::dtype type) {
      constexpr std::array names{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"};
      return g.weight(names[parameters++], {}, type);
    };
    const dk::tensor q = g.input("q", u8, {1, 16, 6, 6});
    const dk::tensor x = dk::dequantize_linear(q, parameter(f32), parameter(u8));
    const auto again = [&](dk::tensor t) { return dk::quantize_linear(t, parameter(f32), parameter(u8)); };
    const auto branch = [&](const char* name, const char* bias) {
      const dk::tensor w = dk::dequantize_linear(g.weight(name, {32, 16, 1, 1}, i8), parameter(f32));
      return dk::dequantize_linear(again(dk::conv(x, w, g.weight(bias, {32}))), parameter(f32), parameter(u8));
    };
    const dk::tensor one = branch("a", "b"), other = branch("c", "d");
    g.output("y", again(dk::relu(one + other)));
  }
};
template <class Model> constexpr bool hands_over_bytes() {
  for (const dk::plan::buffer& b : harness::compile_by_rules<Model>::plan.buffers)
    if (b.where == dk::plan::storage::arena && b.type.type != u8) return false;
  return true;
}
static_assert(harness::compile_by_rules<joined>::kernels == 2 && hands_over_bytes<joined>());

}  // namespace

TEST_CASE("compiled: convolutions of bytes, windows of all kinds") {
  check_model<windows<false>>("windows");
  harness::thoroughly([](auto) {
    static_assert(in_bytes<windows<true>, 5>());
    check_model<windows<true>>("windows, symbolic");
  });
}
TEST_CASE("compiled: signs, zero points, one and three dimensions") { check_model<signs>("signs"); }
TEST_CASE("compiled: sums of two convolutions") { check_model<residual>("residual"); }
TEST_CASE("compiled: a filter for each channel") { check_model<filters_of_their_own>("filters of their own"); }
TEST_CASE("compiled: pictures that are quantised where they are read") { check_model<picture>("picture"); }
TEST_CASE("compiled: a model that was quantised") { check_model<quantised>("quantised"); }
