// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Products of few rows that follow each other or a reduction in one kernel, against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "dnnkit/compile.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/eager_stages.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

constexpr dk::tensor pixel_conv(dk::builder& g, dk::tensor x, const char* name, int out, int in, bool bias = true) {
  const dk::tensor w = g.weight(name, ".w", {out, in, 1, 1});
  return bias ? dk::conv(x, w, g.weight(name, ".b", {out})) : dk::conv(x, w);
}
// x scaled, channel by channel, by what is computed of all its pixels.
constexpr dk::tensor excited(dk::builder& g, dk::tensor x, int channels, int squeezed, bool bias = true) {
  dk::tensor s = dk::global_average_pool(x);
  s = pixel_conv(g, s, "squeeze", squeezed, channels, bias);
  s = pixel_conv(g, s * dk::sigmoid(s), "excite", channels, squeezed, bias);
  return x * dk::sigmoid(s);
}

// Channels last, of which the last block is a part; between convolutions, one of which multiplies what it reads.
template <int Images, int Channels, int Squeezed> struct squeezed {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {Images, 3, 9, 11});
    const dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {Channels, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
    g.output("y", dk::conv(excited(g, y, Channels, Squeezed), g.weight("b", {8, Channels, 1, 1})));
  }
};
// Channels first, as the caller has it: vectors along what is summed.
struct squeezed_channels_first {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    g.output("y", excited(g, g.input("x", f32, {2, 131, 5, 23}), 131, 9, false));
  }
};
struct squeezed_sizes_at_run_time {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    const dk::sym h{"H", {.min = 1, .max = 20}}, w{"W", {.min = 1, .max = 20}};
    const dk::tensor x = g.input("x", f32, {1, 3, h, w});
    g.output("y", excited(g, dk::relu(dk::conv(x, g.weight("a", {200, 3, 1, 1}))), 200, 33));
  }
};
// Volumes; what is summed is computed where it is read, what it gives is changed before it is multiplied.
struct squeezed_volumes {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 21, 3, 4, 5}), shift = g.input("shift", f32, {2, 21, 1, 1, 1});
    dk::tensor s = dk::reduce_mean(x * dk::sigmoid(x), {.axes = {2, 3, 4}});
    s = dk::conv(dk::relu(s * 3 + shift), g.weight("a", ".w", {17, 21, 1, 1, 1}), g.weight("a", ".b", {17}));
    s = dk::conv(dk::relu(s) - 0.5, g.weight("b", ".w", {70, 17, 1, 1, 1}));
    g.output("y", dk::tanh(s));
  }
};
// Rows of tokens; two results.
struct tokens {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {3, 9, 80}), residual = g.input("residual", f32, {3, 50});
    const dk::tensor s = dk::reduce_mean(x, {.axes = {1}, .keepdims = false});
    dk::tensor y = dk::tanh(dk::matmul(s, g.weight("a", ".w", {80, 30})) + g.weight("a", ".b", {30}));
    y = dk::matmul(y, g.weight("b", ".w", {30, 50})) + g.weight("b", ".b", {50});
    g.output("y", y + residual);
    g.output("z", dk::relu(y));
  }
};
// Heads of classifiers: a mean, a greatest element, and a sum whose results are transposed.
struct head {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(dk::conv(g.input("x", f32, {1, 3, 6, 7}), g.weight("a", {90, 3, 1, 1})));
    const dk::tensor y = dk::flatten(dk::global_average_pool(x), {.axis = 1});
    g.output("y", dk::matmul(y, g.weight("b", ".w", {90, 100})) + g.weight("b", ".b", {100}));
  }
};
struct heads_of_images {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {5, 40, 6, 7}), z = g.input("z", f32, {30, 6, 9});
    const dk::tensor y = dk::reduce_max(x, {.axes = {2, 3}, .keepdims = false});
    g.output("y", dk::matmul(y, g.weight("a", {40, 19})));
    const dk::tensor turned = dk::transpose(dk::reduce_sum(z, {.axes = {2}, .keepdims = false}), {.perm = {1, 0}});
    g.output("w", dk::matmul(turned, g.weight("b", {30, 33})));
  }
};
// Two products, of rows with two leading axes; a long reduction.
struct products {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 3, 1700}), residual = g.input("residual", f32, {2, 3, 47});
    const dk::tensor y = dk::gelu(dk::matmul(x, g.weight("a", ".w", {1700, 20})) + g.weight("a", ".b", {20}));
    g.output("y", dk::matmul(y, g.weight("b", {20, 47})) * 2 + residual);
  }
};
struct one_of_each {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    dk::tensor x = pixel_conv(g, g.input("x", f32, {1, 1, 1, 1}), "a", 1, 1);
    g.output("y", dk::relu(pixel_conv(g, dk::relu(x), "b", 1, 1)));
    g.output("z", excited(g, g.input("w", f32, {1, 1, 1, 1}), 1, 1));
  }
};

// Not joined: how many rows there are is not known; groups; a border; more than the first cache holds.
struct images_at_run_time {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {dk::sym("N", {.min = 1, .max = 3}), 20, 6, 7});
    g.output("y", excited(g, x, 20, 5));
  }
};
struct other_convolutions {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    dk::tensor x = dk::global_average_pool(g.input("x", f32, {1, 20, 6, 7}));
    g.output("y", dk::conv(x, g.weight("a", {20, 10, 1, 1}), {.group = 2}));
    x = dk::global_average_pool(g.input("z", f32, {1, 20, 6, 7}));
    g.output("w", dk::conv(x, g.weight("b", {20, 20, 1, 1}), {.strides = {2, 2}, .pads = {1, 1, 0, 0}}));
    x = dk::global_average_pool(g.input("u", f32, {1, 20, 6, 7}));
    g.output("v", dk::conv(x, g.weight("c", {20, 20, 3, 3}), {.pads = {1, 1, 1, 1}}));
  }
};
struct many_rows {
  static constexpr auto families = harness::with_eager_thin_stages;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(dk::matmul(g.input("x", f32, {300, 20}), g.weight("a", {20, 40})));
    g.output("y", dk::matmul(x, g.weight("b", {40, 20})));
  }
};

// What networks have is joined by the library's own families.
struct of_a_network {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 3, 14, 14});
    const dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {480, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
    g.output("y", dk::conv(excited(g, y, 480, 20), g.weight("b", {80, 480, 1, 1})));
  }
};

template <class Model> constexpr std::size_t earlier_stages = dk::compile<Model>::plan.stages.size();
static_assert(earlier_stages<squeezed<3, 70, 50>> == 2);
static_assert(earlier_stages<squeezed_sizes_at_run_time> == 2);
static_assert(earlier_stages<tokens> == 2);
static_assert(earlier_stages<head> == 1);
static_assert(earlier_stages<heads_of_images> == 2);  // of the other, what is reduced is stored as it is read
static_assert(earlier_stages<one_of_each> == 2);
static_assert(earlier_stages<images_at_run_time> == 0);
static_assert(earlier_stages<other_convolutions> == 0);
static_assert(earlier_stages<of_a_network> == 2);

template <class Model> void check(const char* name) {
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    CHECK(harness::compiled_error(harness::compiled<Model>(name), seed) == "");
}

}  // namespace

TEST_CASE("channels that are squeezed and excited") {
  check<squeezed<3, 70, 50>>("squeezed, several images");
  check<squeezed_sizes_at_run_time>("squeezed, sizes at run time");
  harness::thoroughly([](auto) {
    check<of_a_network>("of a network");
    static_assert(earlier_stages<squeezed<1, 300, 13>> == 2);
    check<squeezed<1, 300, 13>>("squeezed");
    static_assert(earlier_stages<squeezed_channels_first> == 2);
    check<squeezed_channels_first>("squeezed, channels first");
    static_assert(earlier_stages<squeezed_volumes> == 2);
    check<squeezed_volumes>("squeezed volumes");
  });
}

TEST_CASE("products behind a reduction or a product") {
  check<tokens>("tokens");
  harness::thoroughly([](auto) {
    check<head>("head");
    check<one_of_each>("one of each");
    check<heads_of_images>("heads of images");
    static_assert(earlier_stages<products> == 1);
    check<products>("products");
  });
}

TEST_CASE("what is not joined is computed as well") {
  harness::thoroughly([](auto) {
    check<images_at_run_time>("images at run time");
    check<other_convolutions>("other convolutions");
    static_assert(earlier_stages<many_rows> == 0);
    check<many_rows>("many rows");
  });
}
