// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Normalisations and products or convolutions, before or behind them, in one kernel, against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "dnnkit/compile.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

constexpr dk::tensor normalised(dk::builder& g, dk::tensor x, const char* name, int channels, std::int64_t axis = -1) {
  return dk::layer_normalization(x, g.weight(name, ".scale", {channels}), g.weight(name, ".shift", {channels}),
                                 {.axis = axis});
}

// Rows of tokens, with a residual behind the product.
template <int Rows, int Channels, int Columns> struct tokens {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, Rows, Channels}), residual = g.input("r", f32, {2, Rows, Columns});
    const dk::tensor y = dk::matmul(normalised(g, x, "n", Channels), g.weight("w", {Channels, Columns}));
    g.output("y", dk::gelu(y + g.weight("b", {Columns})) + residual);
  }
};
struct tokens_at_run_time {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {dk::sym("N", {1, 3}), dk::sym("L", {.min = 1, .max = 70}), 48});
    g.output("y", dk::relu(dk::matmul(normalised(g, x, "n", 48), g.weight("w", {48, 40}))));
  }
};
// A prologue, a Softmax, and a long reduction, whose partial sums need scratch memory of their own.
struct softmax_of_products {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {5, 1700}), z = g.input("z", f32, {5, 1});
    g.output("y", dk::matmul(dk::softmax(x * z), g.weight("w", {1700, 33})));
  }
};
// Some of the rows.
struct some_rows {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 26, 40});
    dk::tensor y = dk::slice(normalised(g, x, "n", 40), {.starts = {1}, .ends = {26}, .axes = {1}});
    y = dk::reshape(dk::transpose(y, {.perm = {0, 2, 1}}), {1, 40, 5, 5});
    g.output("y", dk::conv(y, g.weight("w", {24, 40, 1, 1}), g.weight("b", {24})));
  }
};
// Images and signals, channels last; a filter of several pixels without a border; a filter for each channel.
struct pixels {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(dk::conv(g.input("x", f32, {2, 3, 8, 8}), g.weight("a", {32, 3, 1, 1})));
    dk::tensor y = normalised(g, dk::transpose(x, {.perm = {0, 2, 3, 1}}), "n", 32);
    y = dk::conv(dk::transpose(y, {.perm = {0, 3, 1, 2}}), g.weight("w", {48, 32, 2, 2}), {.strides = {2, 2}});
    g.output("y", dk::relu(y));
  }
};
struct signals {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = normalised(g, g.input("x", f32, {1, 19, 64}), "n", 64);
    dk::tensor y = dk::conv(dk::transpose(x, {.perm = {0, 2, 1}}), g.weight("w", {48, 64, 1}), g.weight("b", {48}));
    g.output("y", dk::transpose(dk::tanh(y), {.perm = {0, 2, 1}}));
  }
};

// Groups of channels, and a border, which a filter reads; also of volumes, signals, and images of a size at run time.
constexpr dk::tensor in_groups(dk::builder& g, dk::tensor x, int channels) {
  return dk::group_normalization(x, g.weight("n", ".scale", {channels}), g.weight("n", ".shift", {channels}),
                                 {.num_groups = 4});
}
template <int Width> struct images_with_border {
  static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;  // no Winograd, which has kernels of its own
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::conv(g.input("x", f32, {2, 3, 9, Width}), g.weight("a", {32, 3, 1, 1}));
    dk::tensor y = in_groups(g, x, 32);
    y = dk::conv(y * dk::sigmoid(y), g.weight("w", {40, 32, 3, 3}), g.weight("b", {40}), {.pads = {1, 2, 1, 0}});
    g.output("y", y);
  }
};
struct images_at_run_time {
  static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;  // no Winograd, which has kernels of its own
  static constexpr void build(dk::builder& g) {
    const dk::sym h{"H", {.min = 1, .max = 12}}, w{"W", {.min = 1, .max = 12}};
    const dk::tensor x = dk::conv(g.input("x", f32, {1, 3, h, w}), g.weight("a", {32, 3, 1, 1}));
    const dk::tensor y = dk::instance_normalization(x, g.weight("n", ".scale", {32}), g.weight("n", ".shift", {32}));
    g.output("y", dk::conv(dk::relu(y), g.weight("w", {16, 32, 3, 3}), {.pads = {1, 1, 1, 1}}));
  }
};
struct filters_of_channels {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::conv(g.input("x", f32, {1, 3, 7, 8}), g.weight("a", {32, 3, 1, 1}));
    const dk::tensor y = dk::instance_normalization(x, g.weight("n", ".scale", {32}), g.weight("n", ".shift", {32}));
    g.output("y", dk::conv(y, g.weight("w", {32, 1, 3, 3}), {.pads = {1, 1, 1, 1}, .group = 32}));
  }
};
struct volumes_with_border {
  static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;  // no Winograd, which has kernels of its own
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::conv(g.input("x", f32, {1, 2, 4, 5, 6}), g.weight("a", {32, 2, 1, 1, 1}));
    const dk::tensor y = dk::instance_normalization(x, g.weight("n", ".scale", {32}), g.weight("n", ".shift", {32}));
    g.output("y", dk::conv(y, g.weight("w", {16, 32, 3, 3, 3}), {.pads = {1, 1, 1, 1, 1, 1}}));
  }
};

// A product in front: with a residual, and with a long reduction, whose partial sums need scratch memory of their own.
template <int Columns> struct normalised_behind {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 21, 64}), residual = g.input("r", f32, {2, 21, Columns});
    const dk::tensor y = dk::matmul(x, g.weight("w", {64, Columns})) + g.weight("b", {Columns});
    g.output("y", normalised(g, y + residual, "n", Columns));
  }
};
struct softmax_behind {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {7, 1700});
    g.output("y", dk::softmax(dk::matmul(x, g.weight("w", {1700, 45})) * 0.1));
  }
};
struct normalised_image {
  static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;  // no Winograd, which has kernels of its own
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(dk::conv(g.input("x", f32, {2, 3, 9, 8}), g.weight("a", {32, 3, 1, 1})));
    const dk::tensor y = dk::conv(x, g.weight("w", {48, 32, 3, 3}), g.weight("b", {48}), {.pads = {1, 1, 1, 1}});
    g.output("y",
             dk::relu(dk::instance_normalization(y, g.weight("n", ".scale", {48}), g.weight("n", ".shift", {48}))));
  }
};

// Not joined: rows at no one stride; two read it; the run computes what it is multiplied by.
struct windows {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 6, 6, 32});
    dk::tensor y = dk::reshape(normalised(g, x, "n", 32), {1, 2, 3, 2, 3, 32});
    y = dk::reshape(dk::transpose(y, {.perm = {0, 1, 3, 2, 4, 5}}), {4, 9, 32});
    g.output("y", dk::matmul(y, g.weight("w", {32, 48})) + g.weight("b", {48}));
  }
};
struct read_twice {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = normalised(g, g.input("x", f32, {9, 32}), "n", 32);
    g.output("y", dk::matmul(x, g.weight("w", {32, 16})));
    g.output("z", dk::tanh(x));
  }
};
struct two_activations {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = normalised(g, g.input("x", f32, {9, 32}), "n", 32);
    g.output("y", dk::matmul(x, g.input("z", f32, {32, 16})));
  }
};

template <class Model> constexpr std::size_t earlier_stages = harness::compile_by_rules<Model>::plan.stages.size();
static_assert(earlier_stages<tokens<49, 64, 96>> == 1);
static_assert(earlier_stages<tokens_at_run_time> == 1);
static_assert(earlier_stages<softmax_of_products> == 1);
static_assert(earlier_stages<some_rows> == 1);
static_assert(earlier_stages<pixels> == 1);
static_assert(earlier_stages<images_with_border<1>> == 1);
static_assert(earlier_stages<images_at_run_time> == 1);
static_assert(earlier_stages<filters_of_channels> == 1);
static_assert(earlier_stages<normalised_behind<37>> == 1);
static_assert(earlier_stages<softmax_behind> == 1);
static_assert(earlier_stages<normalised_image> == 1);
static_assert(earlier_stages<read_twice> == 0);

template <class Model> void check(const char* name) {
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    CHECK(harness::compiled_error(harness::compiled_by_rules<Model>(name), seed) == "");
}

}  // namespace

TEST_CASE("rows of tokens") {
  check<tokens<49, 64, 96>>("tokens");
  check<tokens_at_run_time>("tokens at run time");
  harness::thoroughly([](auto) {
    check<softmax_of_products>("softmax of products");
    static_assert(earlier_stages<tokens<3, 33, 7>> == 1);
    check<tokens<3, 33, 7>>("few tokens");
  });
}
TEST_CASE("rows in other places") { check<some_rows>("some rows"); }
TEST_CASE("convolutions") {
  check<pixels>("pixels");
  harness::thoroughly([](auto) {
    static_assert(earlier_stages<signals> == 1);
    check<signals>("signals");
  });
}
TEST_CASE("products that are normalised") {
  check<normalised_behind<37>>("normalised behind, a part of a vector");
  check<normalised_image>("normalised image");
  harness::thoroughly([](auto) {
    check<softmax_behind>("softmax behind");
    static_assert(earlier_stages<normalised_behind<96>> == 1);
    check<normalised_behind<96>>("normalised behind");
  });
}
TEST_CASE("borders") {
  check<images_with_border<1>>("images one pixel wide");
  harness::thoroughly([](auto) {
    check<images_at_run_time>("images at run time");
    check<filters_of_channels>("filters of channels");
    static_assert(earlier_stages<images_with_border<7>> == 1);
    check<images_with_border<7>>("images with border");
    static_assert(earlier_stages<volumes_with_border> == 1);
    check<volumes_with_border>("volumes with border");
  });
}
TEST_CASE("what is not joined is computed as well") {
  check<read_twice>("read twice");
  harness::thoroughly([](auto) {
    static_assert(earlier_stages<windows> == 0);
    check<windows>("windows");
    static_assert(earlier_stages<two_activations> == 0);
    check<two_activations>("two activations");
  });
}
