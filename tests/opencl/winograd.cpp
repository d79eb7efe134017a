// SPDX-License-Identifier: MIT
// Convolutions by Winograd's algorithm on a device: in tiles of every shape against the reference evaluator, the
// largest error against sums in double precision, and which convolutions are computed so, within the accuracy that a
// model asks for.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/opencl/target.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/opencl.hpp"
#include "tests/support/opencl_check.hpp"
#include "tests/support/random_source.hpp"

namespace dk = dnnkit;
namespace cl = dnnkit::opencl;
using dk::f32;
using dk::tensor;

namespace {

constexpr cl::window_extents square(std::int64_t out, std::int64_t in, std::int64_t size) {
  return {.m = out, .k = in, .height = size, .width = size, .kernel = {3, 3}};
}

}  // namespace

static_assert(cl::is_for_winograd(square(64, 64, 56)) && cl::squares(square(64, 64, 7)) == 16);
static_assert(!cl::is_for_winograd({.kernel = {3, 1}}) && !cl::is_for_winograd({.kernel = {3, 3}, .stride = {1, 2}}));
static_assert(!cl::is_for_winograd({.kernel = {3, 3}, .dilation = {2, 1}}));
static_assert(cl::winograd_tile{64, 32, 8, 8, 2}.items() == 512 && cl::winograd_tile{16, 16, 8, 4, 8}.items() == 128);

TEST_CASE("tiles have room in a group, and several groups make one where there are few") {
  random_source r(1);
  for (int i = 0; i < 100; ++i) {
    cl::window_extents x = square(r.between(8, 600), r.between(1, 600), r.between(1, 200));
    x.batch = r.between(1, 9);
    CAPTURE(i);
    const cl::product_gpu gpu;
    const cl::winograd_tile t = cl::choose_winograd_tile(x, gpu);
    CHECK(t.local() <= gpu.group_local);
    CHECK(t.items() <= gpu.group_items);
    const std::int64_t stages = cl::detail::divided_up(x.k, t.depth * t.parts);
    CHECK((t.parts - 1) * stages * t.depth < x.k);  // each group has channels
  }
  CHECK(cl::choose_winograd_tile(square(512, 512, 7)).parts > 1);
  CHECK(cl::choose_winograd_tile(square(512, 512, 200)).parts == 1);
  CHECK(cl::choose_winograd_tile(square(512, 512, 7), {.parts = 1}).parts == 1);
}

namespace {

// Convolutions whose channels and squares no tile divides, with what may stand around them.
dk::graph graph_of(std::uint64_t seed) {
  dk::builder g;
  random_source r(seed);
  const std::int64_t c = r.between(3, 14), o = r.between(8, 40), h = r.between(1, 19), w = r.between(3, 19);
  const tensor x = g.input("x", f32, {2, c, h, w});
  if (seed % 2 == 0) {
    const tensor y = dk::conv(dk::tanh(x), g.weight("w", {o, c, 3, 3}), g.weight("b", {o}), {.pads = {1, 1, 1, 1}});
    g.output("residual", dk::relu(y) + g.input("r", f32, {2, o, h, w}));
  } else {
    g.output("groups", dk::conv(dk::concat({x, x}, {.axis = 1}), g.weight("g", {2 * o, c, 3, 3}),
                                {.pads = {2, 0, 1, 3}, .group = 2}));
  }
  if (seed % 4 < 2) return g.value();
  const tensor last = dk::transpose(g.input("last", f32, {1, h + 2, w, c}), {.perm = {0, 3, 1, 2}});
  g.output("channels last",
           dk::transpose(dk::conv(last, dk::exp(g.weight("u", {o, c, 3, 3}))), {.perm = {0, 2, 3, 1}}));
  return g.value();
}

}  // namespace

TEST_CASE("tiles of every shape: edges, batches, groups, borders, prologues, epilogues, channels last") {
  std::vector<cl::winograd_tile> tiles;
  cl::for_winograd_tiles(square(600, 600, 40), {}, [&](cl::winograd_tile t) {
    const bool is_another =
        !tiles.empty() && t.bm == tiles.back().bm && t.bt == tiles.back().bt && t.tn == tiles.back().tn;
    if (t.parts != 1 || is_another) return;  // the deepest stages of a shape
    t.parts = tiles.size() % 3 == 0 ? 3 : 1;
    tiles.push_back(t);
  });
  CHECK(tiles.size() >= 9);
  std::uint64_t seed = harness::seeds(1, 1).front();
  for (const cl::winograd_tile& t : tiles) {
    CAPTURE(seed);
    CAPTURE(t.bm);
    CAPTURE(t.bt);
    CAPTURE(t.tn);
    CAPTURE(t.depth);
    CAPTURE(t.parts);
    const dk::graph g = graph_of(seed);
    CHECK(harness::opencl_error(g, seed++, t) == "");
  }
}

TEST_CASE("16-bit floats: of both operands, and of one") {
  for (const std::uint64_t seed : harness::seeds(1, harness::is_thorough ? 3 : 1)) {
    CAPTURE(seed);
    dk::builder g;
    random_source r(seed);
    const std::int64_t c = r.between(4, 20), o = r.between(8, 40), size = r.between(5, 15);
    const tensor x = g.input("x", dk::f16, {1, c, size, size});
    g.output("both", dk::conv(x, g.input("w", dk::f16, {o, c, 3, 3}), {.pads = {1, 1, 1, 1}}));
    g.output("one", dk::conv(dk::tanh(x), g.input("v", dk::f16, {o, c, 3, 3}), {.pads = {1, 1, 1, 1}}));
    CHECK(harness::opencl_error(g.value(), seed, cl::winograd_tile{}) == "");
  }
}

TEST_CASE("the largest error is a millionth of the largest output, of numbers alike in size") {
  for (const std::int64_t channels : harness::numbers({16, 512}, {64, 256})) {
    dk::builder b;
    constexpr std::int64_t size = 13, out = 24;
    b.output("y", dk::conv(b.input("x", f32, {1, channels, size, size}), b.weight("w", {out, channels, 3, 3}),
                           {.pads = {1, 1, 1, 1}}));
    random_source r(static_cast<std::uint64_t>(channels));
    const auto random = [&](std::vector<std::int64_t> dims) {
      dk::host_tensor t(f32, std::move(dims));
      for (std::size_t i = 0; i < t.count(); ++i) t.set(i, static_cast<float>(r.real(-1, 1)));
      return t;
    };
    const dk::host_tensor x = random({1, channels, size, size}), w = random({out, channels, 3, 3});
    const auto weights = [&](std::string_view) { return w; };
    CHECK(harness::opencl_says(b.value(), "Winograd"));
    const dk::host_tensor y = harness::opencl_outputs(b.value(), {x}, weights).front();
    double largest = 0, error = 0;
    for (std::int64_t m = 0; m < out; ++m)
      for (std::int64_t i = 0; i < size * size; ++i) {
        double sum = 0;
        for (std::int64_t c = 0; c < channels; ++c)
          for (std::int64_t tap = 0; tap < 9; ++tap) {
            const std::int64_t row = i / size + tap / 3 - 1, column = i % size + tap % 3 - 1;
            if (row < 0 || row >= size || column < 0 || column >= size) continue;
            sum += x.reals[static_cast<std::size_t>((c * size + row) * size + column)] *
                   w.reals[static_cast<std::size_t>((m * channels + c) * 9 + tap)];
          }
        largest = std::max(largest, std::abs(sum));
        error = std::max(error, std::abs(sum - y.reals[static_cast<std::size_t>(m * size * size + i)]));
      }
    CAPTURE(channels);
    CHECK(error <= cl::error_of_winograd.largest_error() * largest);
    CHECK(error > 0);
  }
}

namespace {

struct usual {
  static constexpr void build(dk::builder& g) {
    const tensor w = g.weight("w", {64, 64, 3, 3});
    const tensor y = dk::conv(g.input("x", f32, {1, 64, 56, 56}), w, {.pads = {1, 1, 1, 1}});
    g.output("y", dk::conv(dk::relu(y), w, {.pads = {1, 1, 1, 1}}));
  }
};
struct exact : usual {
  static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;
};
struct bounded : usual {
  static constexpr dk::accuracy accuracy{1e-7};
};
template <class Model, class Target = dk::targets::opencl> constexpr bool has_winograd() {
  return cl::kernel_texts<dk::compile<Model, Target>>[0].source.find("Winograd") != std::string_view::npos;
}
static_assert(has_winograd<usual>() && !has_winograd<exact>() && !has_winograd<bounded>());
// An item writes two neighbours of a row, which are no texel.
static_assert(!has_winograd<usual, dk::targets::opencl_in<dk::images>>());

}  // namespace
