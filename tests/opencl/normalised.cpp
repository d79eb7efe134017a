// SPDX-License-Identifier: MIT
// Rows that are normalised and the product behind them as one OpenCL kernel: in which cases there is one, and what it
// computes, against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/normalised_operand.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/opencl/target.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/opencl.hpp"
#include "tests/support/opencl_check.hpp"

namespace dk = dnnkit;
namespace cl = dnnkit::opencl;
using dk::f32;
using dk::tensor;

namespace {

std::size_t kernels_of(const dk::graph& g) {
  return dk::default_pipeline::run<dk::targets::opencl>(g).plan.steps.size();
}
std::size_t kernels(auto build) {
  dk::builder g;
  build(g);
  return kernels_of(g.value());
}

// Checks that build(builder, source of random numbers) is one kernel, and what it computes.
void check_one(auto build, std::uint64_t times = 1) {
  harness::check_on_device(
      [&](dk::builder& g, random_source& r) {
        build(g, r);
        CHECK(kernels_of(g.value()) == 1);
      },
      times);
}

tensor normalised(dk::builder& g, tensor x, std::int64_t k) {
  return dk::layer_normalization(x, g.weight("scale", {k}), g.weight("shift", {k}));
}

}  // namespace

static_assert(cl::items_of_row({.bm = 32, .bn = 32, .tm = 4, .tn = 4}) == 2);  // of 64
static_assert(cl::items_of_row({.bm = 40, .bn = 64, .tm = 8, .tn = 4, .slices = 4}) == 8);
static_assert(cl::items_of_row({.bm = 40, .bn = 64, .tm = 8, .tn = 4, .slices = 2}) == 4);

TEST_CASE("rows and their product are one kernel: extents of all kinds, bias and activation behind") {
  check_one(
      [](dk::builder& g, random_source& r) {
        const std::int64_t m = r.between(20, 150), k = r.between(30, 90), n = r.between(20, 150);
        g.output("y", dk::gelu(dk::matmul(normalised(g, g.input("x", f32, {m, k}), k), g.weight("w", {k, n})) +
                               g.weight("b", {n})));
      },
      4);
  check_one(  // read four at once, edges of tiles cut
      [](dk::builder& g, random_source& r) {
        const std::int64_t m = 4 * r.between(5, 30), k = 4 * r.between(8, 24), n = 4 * r.between(5, 30);
        g.output("y", dk::matmul(normalised(g, g.input("x", f32, {1, m, k}), k), g.weight("w", {k, n})));
      },
      4);
  check_one([](dk::builder& g, random_source&) {  // slices, and items that have no row
    g.output("y", dk::matmul(normalised(g, g.input("x", f32, {197, 384}), 384), g.weight("w", {384, 1536})));
  });
}

TEST_CASE("rows and their product are one kernel: rows that lie apart, one element, and four, at a time") {
  for (const std::int64_t times : {1, 4})
    check_one(
        [&](dk::builder& g, random_source& r) {
          const std::int64_t c = r.between(30, 90), h = times * r.between(2, 9), w = times * r.between(2, 9);
          const tensor x = dk::transpose(g.input("x", f32, {1, c, h, w}), {.perm = {0, 2, 3, 1}});
          g.output("y", dk::relu(dk::matmul(normalised(g, x, c), g.weight("w", {c, 2 * c}))));
        },
        3);
}

TEST_CASE("rows and their product are one kernel: what is computed before, between and behind") {
  check_one([](dk::builder& g, random_source& r) {
    const std::int64_t m = r.between(20, 90), k = 4 * r.between(8, 20);
    const tensor x = dk::exp(g.input("x", f32, {m, k}) * 0.5), w = g.weight("w", {k, 33});
    g.output("y", dk::matmul(normalised(g, x, k), w) + g.input("residual", f32, {m, 33}));
  });
  check_one([](dk::builder& g, random_source& r) {  // no tree of fours
    const std::int64_t m = r.between(20, 90), k = 4 * r.between(8, 20);
    g.output("y", dk::matmul(dk::tanh(normalised(g, g.input("x", f32, {m, k}), k)), g.weight("w", {k, 40})));
  });
  check_one([](dk::builder& g, random_source& r) {
    const std::int64_t m = r.between(20, 90), k = 4 * r.between(8, 20);
    g.output("y", dk::matmul(dk::rms_normalization(g.input("x", f32, {m, k}), g.weight("scale", {k})),
                             g.weight("w", {k, 40})));
  });
  check_one([](dk::builder& g, random_source&) {  // far from 0
    const tensor x = g.input("x", f32, {64, 96}) + 1000.0;
    g.output("y", dk::matmul(normalised(g, x, 96), g.weight("w", {96, 96})) * 1e-3);
  });
}

TEST_CASE("rows and their product are one kernel: something for each batch of rows that lie apart is no four") {
  check_one([](dk::builder& g, random_source& r) {
    const std::int64_t batches = 4 * r.between(1, 3), n = 8 * r.between(5, 9);
    const tensor x = dk::transpose(g.input("x", f32, {batches, 32, 16}), {.perm = {0, 2, 1}});
    const tensor rows = dk::rms_normalization(x, g.weight("s", {32})) * g.input("b", f32, {batches, 1, 1});
    g.output("y", dk::matmul(rows, g.weight("w", {32, n})));
  });
}

TEST_CASE("work-items that have no row read none") {
  dk::builder g;  // tiles of 32 x 96 of 192 items: six for a row, of which four have a part of it
  const tensor x = dk::transpose(g.input("x", f32, {96, 291}), {.perm = {1, 0}});
  g.output("y", dk::matmul(normalised(g, x, 96), g.weight("w", {96, 2220})));
  const dk::plan::plan_draft draft = dk::default_pipeline::run<dk::targets::opencl>(g.value()).plan;
  const dk::plan_view plan = dk::plan::view_of(draft);
  REQUIRE(plan.steps.size() == 1);
  std::string text(1 << 16, '\0');
  cl::source_writer out(text.data(), text.size());
  CHECK(cl::write_kernel<dk::builtin_set>(plan, plan.steps[0].kernel, out).error.empty());
  REQUIRE(text.find("is_of_row=item<4;") != std::string::npos);
  CHECK(text.find("const int k=(item+q*4)*1;\nif(k<96){") != std::string::npos);
}

TEST_CASE("rows and their product are two kernels where there is no such one") {
  const auto apart = [](std::int64_t m, std::int64_t k, std::int64_t n) {
    return kernels([&](dk::builder& g) {
      g.output("y", dk::matmul(normalised(g, g.input("x", f32, {m, k}), k), g.weight("w", {k, n})));
    });
  };
  CHECK(apart(128, 96, 384) == 1);
  CHECK(apart(128, 4096, 384) == 2);  // rows are too long for registers
  CHECK(apart(4, 96, 384) == 2);
  CHECK(apart(128, 96, 4) == 2);
  CHECK(kernels([](dk::builder& g) {  // a batch of products
          g.output("y", dk::matmul(normalised(g, g.input("x", f32, {3, 64, 96}), 96), g.weight("w", {3, 96, 96})));
        }) == 2);
  CHECK(kernels([](dk::builder& g) {  // others read the rows, too
          const tensor rows = normalised(g, g.input("x", f32, {64, 96}), 96);
          g.output("y", dk::matmul(rows, g.weight("w", {96, 96})) + rows);
        }) == 2);
  CHECK(kernels([](dk::builder& g) {  // not along the last axis
          const tensor x = dk::transpose(g.input("x", f32, {96, 64}), {.perm = {1, 0}});
          const tensor rows = dk::transpose(normalised(g, x, 96), {.perm = {1, 0}});
          g.output("y", dk::matmul(rows, g.weight("w", {64, 96})));
        }) == 2);
  CHECK(kernels([](dk::builder& g) {
          const tensor x = g.input("x", f32, {dk::sym("M", {1, 200}), 96});
          g.output("y", dk::matmul(normalised(g, x, 96), g.weight("w", {96, 96})));
        }) == 2);
}

TEST_CASE("rows and their product are one kernel of 16-bit floats, too") {
  check_one([](dk::builder& g, random_source& r) {
    const std::int64_t m = r.between(20, 90), k = 4 * r.between(8, 20);
    const tensor rows = dk::rms_normalization(g.input("x", dk::f16, {m, k}), g.input("scale", dk::f16, {k}));
    g.output("y", dk::matmul(rows, g.input("w", dk::f16, {k, 40})));
  });
}
