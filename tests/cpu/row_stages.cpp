// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Chains of convolutions and pools in one kernel, and what normalises pixels behind them, a few rows at a time, against
// the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "dnnkit/compile.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/eager_stages.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

// Two convolutions, the first of which brings the input to channels last, and a pool.
template <class Pool> constexpr void pooled(dk::builder& g, Pool pool) {
  const dk::tensor x = g.input("x", f32, {1, 3, 37, 41});
  const auto conv = [&](dk::tensor t, const char* name, int in) {
    return dk::relu(
        dk::conv(t, g.weight(name, ".w", {16, in, 3, 3}), g.weight(name, ".b", {16}), {.pads = {1, 1, 1, 1}}));
  };
  const dk::tensor y = pool(conv(conv(x, "a", 3), "b", 16));
  g.output("y", dk::conv(y, g.weight("c", {8, 16, 1, 1})));
}
struct halves {
  static constexpr auto families = harness::with_eager_stages<3>;
  static constexpr void build(dk::builder& g) {
    pooled(g, [](dk::tensor t) { return dk::max_pool(t, {.kernel_shape = {2, 2}, .strides = {2, 2}}); });
  }
};
struct padded {
  static constexpr auto families = harness::with_eager_stages<2>;
  static constexpr void build(dk::builder& g) {
    pooled(g, [](dk::tensor t) {
      return dk::relu(dk::average_pool(t, {.kernel_shape = {2, 3}, .strides = {2, 2}, .pads = {0, 1, 1, 1}})) * 2;
    });
  }
};
struct overlapping {  // most rows of a tile are those of the one before, moved
  static constexpr auto families = harness::with_eager_stages<2>;
  static constexpr void build(dk::builder& g) {
    pooled(g, [](dk::tensor t) { return dk::max_pool(t, {.kernel_shape = {5, 5}, .pads = {2, 2, 2, 2}}); });
  }
};
struct heights_at_run_time {
  static constexpr auto families = harness::with_eager_stages<1>;
  static constexpr void build(dk::builder& g) {
    const dk::sym h{"H", {.min = 2, .max = 40}};
    const dk::tensor x = g.input("x", f32, {1, 16, h, 64});
    const auto conv = [&](dk::tensor t, const char* name) {
      return dk::relu(dk::conv(t, g.weight(name, {16, 16, 3, 3}), {.pads = {1, 1, 1, 1}}));
    };
    g.output("y", dk::max_pool(conv(conv(x, "a"), "b"), {.kernel_shape = {2, 2}, .strides = {2, 2}}));
  }
};
// Several images; a filter a channel, in steps; a filter over two groups; what is added comes from elsewhere.
struct bottleneck {
  static constexpr auto families = harness::with_eager_stages<4>;
  static constexpr void build(dk::builder& g) {
    const dk::sym n{"N", {.min = 1, .max = 3}};
    const dk::tensor x = dk::relu(dk::conv(g.input("x", f32, {n, 3, 51, 50}), g.weight("h", {16, 3, 1, 1})));
    dk::tensor y = dk::conv(x, g.weight("a", ".w", {64, 16, 1, 1}), g.weight("a", ".b", {64}));
    y = dk::clip(y, {.min = 0, .max = 6});
    y = dk::conv(y, g.weight("b", {64, 1, 3, 3}), {.strides = {1, 2}, .pads = {1, 1, 1, 1}, .group = 64});
    y = dk::conv(dk::relu(y), g.weight("c", {16, 32, 3, 3}), {.pads = {2, 1, 0, 1}, .group = 2});
    const dk::tensor other = dk::conv(x, g.weight("d", {16, 16, 1, 2}), {.strides = {1, 2}, .pads = {0, 0, 0, 0}});
    g.output("y", dk::conv(y + other, g.weight("e", {5, 16, 1, 1})));
  }
};
// Few channels and wide rows: vectors along rows, channels first.
struct channels_first {
  static constexpr auto families = harness::with_eager_stages<5>;
  static constexpr void build(dk::builder& g) {
    const auto conv = [&](dk::tensor t, const char* name, int out, int in) {
      return dk::conv(t, g.weight(name, {out, in, 3, 3}), {.pads = {1, 1, 1, 1}});
    };
    const dk::tensor x = g.input("x", f32, {1, 3, 45, 1024});
    g.output("y", dk::relu(conv(dk::relu(conv(dk::relu(conv(x, "a", 5, 3)), "b", 5, 5)), "c", 3, 5)));
  }
};
// Planes of volumes.
struct volumes {
  static constexpr auto families = harness::with_eager_stages<1>;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 3, 7, 20, 22});
    dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {16, 3, 3, 3, 3}), {.pads = {1, 1, 1, 1, 1, 1}}));
    y = dk::relu(dk::conv(y, g.weight("b", {16, 16, 3, 1, 3}), {.pads = {1, 0, 1, 1, 0, 1}}));
    g.output("y", dk::max_pool(y, {.kernel_shape = {3, 2, 2}, .strides = {2, 2, 2}, .pads = {1, 0, 0, 1, 0, 0}}));
  }
};
// A filter a channel and a normalisation over channels, as ConvNeXt has it: several images, steps, a filter with holes,
// tiles that do not divide the rows; what is scaled, shifted, masked and added behind it, and two results.
constexpr dk::tensor normalised(dk::builder& g, dk::tensor x, const char* name, int channels) {
  return dk::layer_normalization(x, g.weight(name, ".weight", {channels}), g.weight(name, ".bias", {channels}));
}
struct normalised_pixels {
  static constexpr auto families = harness::with_eager_stages<4>;
  static constexpr void build(dk::builder& g) {
    const dk::sym n{"N", {.min = 1, .max = 3}};
    const dk::tensor x = g.input("x", f32, {n, 20, 23, 21}), mask = g.input("mask", f32, {n, 12, 21, 1}),
                     residual = g.input("residual", f32, {n, 12, 21, 20});
    const dk::tensor y = dk::conv(x, g.weight("a", ".w", {20, 1, 7, 5}), g.weight("a", ".b", {20}),
                                  {.strides = {2, 1}, .pads = {3, 4, 3, 4}, .dilations = {1, 2}, .group = 20});
    dk::tensor z = normalised(g, dk::transpose(y, {.perm = {0, 2, 3, 1}}), "n", 20);
    z = z * mask + residual;
    g.output("z", z);
    g.output("y", dk::matmul(dk::relu(z), g.weight("b", {20, 8})));
  }
};
// Rows at run time, a pool between, and what is normalised lies channels last without being transposed.
struct normalised_heights {
  static constexpr auto families = harness::with_eager_stages<3>;
  static constexpr void build(dk::builder& g) {
    const dk::sym h{"H", {.min = 4, .max = 40}};
    const dk::tensor x = g.input("x", f32, {1, 3, h, 37});
    dk::tensor y = dk::conv(x, g.weight("a", {32, 3, 3, 3}), {.pads = {1, 1, 1, 1}});
    y = dk::max_pool(dk::relu(y), {.kernel_shape = {3, 3}, .strides = {2, 2}});
    g.output("y", g.apply(dk::op::standardize{{1}, 1e-3F}, {y}) * g.weight("s", {32, 1, 1}));
  }
};
// Channels first, as many pixels as lanes at a time, of which tiles have a part.
struct normalised_channels_first {
  static constexpr auto families = harness::with_eager_stages<2>;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 3, 9, 523});
    const dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {5, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
    g.output("y", dk::softmax(y, {.axis = 1}) * 2);
  }
};
// One channel and no more rows than a tile has, so that images and their rows lie in one piece.
struct normalised_one_channel {
  static constexpr auto families = harness::with_eager_stages<4>;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {3, 2, 4, 37}), residual = g.input("residual", f32, {3, 4, 37, 1});
    const dk::tensor y = dk::conv(x, g.weight("a", {1, 2, 3, 3}), {.pads = {1, 1, 1, 1}});
    g.output("y", dk::softmax(dk::transpose(y, {.perm = {0, 2, 3, 1}})) + residual);
  }
};
// Planes of volumes; few channels, of several pixels in a vector.
struct normalised_planes {
  static constexpr auto families = harness::with_eager_stages<2>;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 3, 7, 8, 9});
    const dk::tensor y = dk::conv(x, g.weight("a", {8, 3, 3, 3, 3}), {.pads = {1, 1, 1, 1, 1, 1}});
    g.output("y", g.apply(dk::op::standardize{{4}}, {dk::transpose(y, {.perm = {0, 2, 3, 4, 1}})}));
  }
};
// So large that it pays; too large for the evaluator of a test.
struct large {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 3, 128, 128});
    dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {128, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
    g.output("y", dk::conv(y, g.weight("b", {16, 128, 1, 1})));
  }
};

// In each of them, how many stages come before the last of their kernel.
template <class Model> constexpr std::size_t earlier_stages = harness::compile_by_rules<Model>::plan.stages.size();
static_assert(earlier_stages<halves> == 3);
static_assert(earlier_stages<padded> == 3);
static_assert(earlier_stages<heights_at_run_time> == 2);
static_assert(earlier_stages<bottleneck> == 3);
static_assert(earlier_stages<volumes> == 2);
static_assert(earlier_stages<normalised_pixels> == 1);
static_assert(earlier_stages<normalised_planes> == 1);
static_assert(earlier_stages<large> == 1);
static_assert(harness::compile_by_rules<large>::arena_bytes == 0);

template <std::uint64_t Seed, std::int32_t Rows> struct chain : random_chain<Seed> {
  static constexpr auto families = harness::with_eager_stages<Rows>;
};

template <class Model> void check(const char* name) {
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    CHECK(harness::compiled_error(harness::compiled_by_rules<Model>(name), seed) == "");
}
template <class Model> void check_random(const std::string& name, std::size_t& stages) {
  INFO(name);
  check<Model>(name.c_str());
  stages += earlier_stages<Model>;
}

}  // namespace

TEST_CASE("chains of convolutions and pools in one kernel compute what they do one by one") {
  check<padded>("padded");
  check<heights_at_run_time>("heights at run time");
  check<bottleneck>("bottleneck");
  harness::thoroughly([](auto) {
    check<halves>("halves");
    check<volumes>("volumes");
    static_assert(earlier_stages<overlapping> == 3);
    check<overlapping>("overlapping");
    static_assert(earlier_stages<channels_first> == 2);
    check<channels_first>("channels first");
  });
}

TEST_CASE("pixels that are normalised row by row behind a convolution") {
  check<normalised_pixels>("normalised pixels");
  harness::thoroughly([](auto) {
    check<normalised_planes>("normalised planes");
    static_assert(earlier_stages<normalised_heights> == 2);
    check<normalised_heights>("normalised heights");
    static_assert(earlier_stages<normalised_channels_first> == 1);
    check<normalised_channels_first>("normalised, channels first");
    static_assert(earlier_stages<normalised_one_channel> == 1);
    check<normalised_one_channel>("normalised, one channel");
  });
}

TEST_CASE("random chains compute what they do one by one") {
  std::size_t stages = 0;
  [&]<std::uint64_t... Seed>(std::integer_sequence<std::uint64_t, Seed...>) {
    (check_random<chain<Seed, 1 + Seed % 3>>("chain " + std::to_string(Seed), stages), ...);
  }
  (std::make_integer_sequence < std::uint64_t, harness::is_thorough ? 10 : 2 > {});
  CHECK(stages >= (harness::is_thorough ? 10 : 2));
}
