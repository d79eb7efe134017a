// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Pools behind convolutions, where channels are next to each other, and in front of everything, where rows are.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

// A convolution of one tap, whose result pools then read channels last.
constexpr dk::tensor stored(dk::builder& g, dk::tensor x, const char* name, std::int64_t channels) {
  const dk::dim in = x.size(1);
  if (x.rank() == 3) return dk::conv(x, g.weight(name, {channels, in, 1}));
  if (x.rank() == 4) return dk::conv(x, g.weight(name, {channels, in, 1, 1}));
  return dk::conv(x, g.weight(name, {channels, in, 1, 1, 1}));
}

// 19 channels are a vector and a part of one, 83 are several at once, one more, and a part.
template <std::int64_t Channels> struct planes {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = stored(g, g.input("x", f32, {2, 3, 9, 7}), "w", Channels);
    g.output("plain", dk::max_pool(x, {.kernel_shape = {2, 2}, .strides = {2, 2}}));
    g.output("padded", dk::relu(dk::max_pool(x, {.kernel_shape = {3, 5}, .strides = {2, 1}, .pads = {1, 2, 1, 2}})));
    g.output("dilated", dk::max_pool(x, {.kernel_shape = {3, 2}, .pads = {2, 1, 0, 1}, .dilations = {3, 2}}));
    g.output("ceil", dk::max_pool(x, {.kernel_shape = {2, 3}, .strides = {2, 2}, .ceil_mode = true}));
    g.output("mean", dk::average_pool(x, {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}}));
    g.output("mean of zeros", dk::average_pool(x, {.kernel_shape = {3, 3},
                                                   .strides = {2, 2},
                                                   .pads = {1, 1, 1, 1},
                                                   .ceil_mode = true,
                                                   .count_include_pad = true}));
    g.output("before", dk::max_pool(dk::neg(x) * x, {.kernel_shape = {3, 3}}));
  }
};
struct volumes {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = stored(g, g.input("x", f32, {1, 2, 4, dk::sym("H", {3, 9}), dk::sym("W", {3, 9})}), "w", 70);
    g.output("max", dk::max_pool(x, {.kernel_shape = {3, 3, 3}, .pads = {1, 1, 1, 1, 1, 1}}));
    g.output("mean", dk::average_pool(x, {.kernel_shape = {2, 3, 1}, .strides = {2, 1, 1}}));
  }
};
struct lines {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = stored(g, g.input("x", f32, {2, 3, dk::sym("L", {2, 30})}), "w", 20);
    g.output("max", dk::max_pool(x, {.kernel_shape = {2}, .strides = {2}}));
    g.output("mean", dk::average_pool(x, {.kernel_shape = {5}, .pads = {4, 2}, .count_include_pad = true}));
  }
};
struct of_the_input {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 21, 6, 5});
    g.output("max", dk::max_pool(x, {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}}));
    g.output("mean", dk::sigmoid(dk::average_pool(x, {.kernel_shape = {2, 2}, .strides = {2, 2}, .ceil_mode = true})));
  }
};

// Rows of several vectors at once, of one and a part, and of less than one.
template <dk::dtype Type, std::int64_t Width> struct rows {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", Type, {2, 3, 9, Width});
    g.output("plain", dk::max_pool(x, {.kernel_shape = {2, 2}, .strides = {2, 2}}));
    g.output("padded", dk::neg(dk::max_pool(x, {.kernel_shape = {3, 5}, .pads = {1, 2, 1, 2}})));
    g.output("apart", dk::max_pool(x, {.kernel_shape = {2, 2}, .strides = {1, 3}, .pads = {0, 1, 0, 0}}));
    g.output("dilated", dk::max_pool(x, {.kernel_shape = {3, 2}, .pads = {2, 1, 0, 1}, .dilations = {3, 2}}));
    g.output("ceil", dk::max_pool(x, {.kernel_shape = {2, 3}, .strides = {2, 2}, .ceil_mode = true}));
    g.output("before", dk::max_pool(x * x, {.kernel_shape = {3, 3}, .strides = {1, 2}}));
    if constexpr (dk::is_floating(Type)) {
      g.output("mean", dk::average_pool(x, {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}}) * 2.0);
      g.output("mean of zeros", dk::average_pool(x, {.kernel_shape = {3, 3},
                                                     .strides = {2, 2},
                                                     .pads = {1, 1, 1, 1},
                                                     .ceil_mode = true,
                                                     .count_include_pad = true}));
    }
  }
};
template <dk::dtype Type> struct rows_of_symbols {
  static constexpr void build(dk::builder& g) {
    const dk::dim w = g.symbol({"W", {.min = 3, .max = 90}});
    const dk::tensor x = g.input("x", Type, {1, 2, 4, dk::sym("H", {3, 9}), w}), y = g.input("y", Type, {2, 20, w});
    g.output("max", dk::max_pool(x, {.kernel_shape = {3, 3, 3}, .pads = {1, 1, 1, 1, 1, 1}}));
    g.output("mean", dk::average_pool(x, {.kernel_shape = {2, 3, 1}, .strides = {2, 1, 1}}));
    g.output("line", dk::max_pool(y, {.kernel_shape = {2}, .strides = {2}}));
    g.output("mean of a line", dk::average_pool(y, {.kernel_shape = {5}, .pads = {4, 2}, .count_include_pad = true}));
    g.output("turned", dk::max_pool(dk::transpose(y, {.perm = {0, 2, 1}}), {.kernel_shape = {2}}));
  }
};

static_assert(harness::scalar_kernels<rows<dk::f16, 70>>() == 0);
static_assert(harness::scalar_kernels<rows<dk::i64, 70>>() == 0);
static_assert(harness::scalar_kernels<rows<dk::u8, 70>>() == 0);
static_assert(harness::scalar_kernels<rows_of_symbols<dk::f64>>() == 0);

TEST_CASE("pools of rows") {
  check_model<rows<f32, 150>>("f32");
  check_model<rows<dk::u8, 300>>("u8");
  harness::thoroughly([](auto) {
    check_model<rows<dk::f64, 37>>("f64");
    check_model<rows<dk::i32, 37>>("i32");
    check_model<rows<dk::i64, 70>>("i64");
    check_model<rows<f32, 5>>("f32, narrow");
    check_model<rows<dk::f16, 70>>("f16");
    check_model<rows<dk::i8, 70>>("i8");
  });
}
TEST_CASE("pools of rows whose extents are symbols") {
  check_model<rows_of_symbols<f32>>("f32");
  harness::thoroughly([](auto) { check_model<rows_of_symbols<dk::f64>>("f64"); });
}
TEST_CASE("pools of planes") {
  check_model<planes<19>>("19 channels");
  harness::thoroughly([](auto) {
    check_model<planes<83>>("83 channels");
    check_model<planes<3>>("3 channels");
  });
}
TEST_CASE("pools of volumes and lines") {
  check_model<volumes>("volumes");
  check_model<lines>("lines");
}
TEST_CASE("pools of the network's input") { check_model<of_the_input>("input"); }

}  // namespace
