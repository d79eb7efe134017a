// SPDX-License-Identifier: MIT
// Reductions and row operators on a device against the reference evaluator: rows shorter and longer than a group, more
// rows than a group's at the end, rows along memory and across it, elements that are kept and that are not.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/grouped_rows.hpp"

#include <doctest/doctest.h>

#include <cstdint>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/opencl_check.hpp"

namespace dk = dnnkit;
namespace cl = dnnkit::opencl;
using dk::f32;
using dk::tensor;
using harness::check_on_device;

static_assert(cl::divide_rows(9408, 49).rows == 16 && cl::divide_rows(9408, 49).items == 8);
static_assert(cl::divide_rows(197, 768).rows == 1 && cl::divide_rows(197, 768).items == 256);
static_assert(cl::divide_rows(2, 1 << 20).rows == 1 && cl::divide_rows(2, 1 << 20).items == 1024);
static_assert(cl::divide_rows(1 << 20, 1).rows == 128 && cl::divide_rows(1 << 20, 1).items == 1);

TEST_CASE("several short rows a group, the last group with fewer") {
  check_on_device([](dk::builder& g, random_source& r) {
    const tensor x = g.input("x", f32, {r.between(600, 700), r.between(1, 40)});
    g.output("softmax", dk::softmax(dk::tanh(x)) * 2.0);
    g.output("mean", dk::reduce_mean(x, {.axes = {1}}));
    const tensor y = g.input("y", f32, {3, r.between(2, 30), r.between(200, 230)});  // along the last axis lie rows
    g.output("columns", dk::softmax(y * 0.5, {.axis = 1}) + y);
    g.output("max", dk::reduce_max(y, {.axes = {1}, .keepdims = false}));
  });
}

TEST_CASE("long rows: kept in registers, and too long to be") {
  check_on_device([](dk::builder& g, random_source& r) {
    const std::int64_t n = r.between(700, 3000);
    const tensor x = g.input("x", f32, {r.between(1, 3), n});
    g.output("layer", dk::layer_normalization(dk::gelu(x), g.weight("s", {n}), g.weight("b", {n})));
    g.output("norm", dk::reduce_l2(x, {.axes = {1}}));
    const std::int64_t c = r.between(1, 3), h = r.between(100, 150), w = r.between(180, 250);
    const tensor image = g.input("image", f32, {1, c, h, w});
    g.output("instances", dk::relu(dk::instance_normalization(image, g.weight("t", {c}), g.weight("u", {c}))));
    g.output("pool", dk::global_average_pool(image));
  });
}
