// SPDX-License-Identifier: MIT
// OPTIONS: -O1
// A convolution and the pool behind it in one kernel, against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdint>

#include "dnnkit/compile.hpp"
#include "tests/support/compiled.hpp"

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
  static constexpr void build(dk::builder& g) {
    pooled(g, [](dk::tensor t) { return dk::max_pool(t, {.kernel_shape = {2, 2}, .strides = {2, 2}}); });
  }
};
struct padded {
  static constexpr void build(dk::builder& g) {
    pooled(g, [](dk::tensor t) {
      return dk::relu(dk::average_pool(t, {.kernel_shape = {2, 3}, .strides = {2, 2}, .pads = {0, 1, 1, 1}})) * 2;
    });
  }
};
struct overlapping {  // rows are computed twice, and take longer than what they spare
  static constexpr void build(dk::builder& g) {
    pooled(g, [](dk::tensor t) { return dk::max_pool(t, {.kernel_shape = {5, 5}, .pads = {2, 2, 2, 2}}); });
  }
};
struct heights_at_run_time {
  static constexpr void build(dk::builder& g) {
    const dk::sym h{"H", {.min = 2, .max = 40}};
    const dk::tensor x = g.input("x", f32, {1, 8, h, 64});
    const auto conv = [&](dk::tensor t, const char* name) {
      return dk::relu(dk::conv(t, g.weight(name, {8, 8, 3, 3}), {.pads = {1, 1, 1, 1}}));
    };
    g.output("y", dk::max_pool(conv(conv(x, "a"), "b"), {.kernel_shape = {2, 2}, .strides = {2, 2}}));
  }
};
// tests of other instruction sets have other costs
constexpr bool wide = dk::targets::native::float_lanes >= 8;
static_assert(!wide || dk::compile<halves>::kernels == 3);
static_assert(!wide || dk::compile<padded>::kernels == 3);
static_assert(dk::compile<overlapping>::kernels == 4);

template <class Model> void check(const char* name) {
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    CHECK(harness::compiled_error(harness::compiled<Model>(name), seed) == "");
}

}  // namespace

TEST_CASE("a convolution and its pool in one kernel compute what they do one by one") {
  check<halves>("halves");
  check<padded>("padded");
  check<overlapping>("overlapping");
  check<heights_at_run_time>("heights at run time");
}
