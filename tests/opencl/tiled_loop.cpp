// SPDX-License-Identifier: MIT
// Products and convolutions in tiles of all shapes, with one group and with several groups a tile, on a device against
// the reference evaluator: extents that tiles, stages and parts do not divide, batches, operands through views,
// prologues and epilogues.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/tiled_loop.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/opencl/kernels.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/opencl.hpp"
#include "tests/support/random_source.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
namespace cl = dnnkit::opencl;
using dk::f32;
using dk::tensor;

namespace {

// Checks what build(builder, source of random numbers) builds, all its products in this tile.
void check(const cl::product_tile& t, std::uint64_t seed, auto build) {
  CAPTURE(t.bm);
  CAPTURE(t.bn);
  CAPTURE(t.tm);
  CAPTURE(t.tn);
  CAPTURE(t.slices);
  CAPTURE(t.depth);
  CAPTURE(t.parts);
  dk::builder b;
  random_source r(seed);
  build(b, r);
  const dk::graph g = b.value();
  CHECK_MESSAGE(harness::opencl_error(g, seed, t) == "", harness::describe(g));
}

void products(dk::builder& g, random_source& r) {
  const std::int64_t m = r.between(5, 150), k = r.between(8, 300), n = r.between(5, 150);
  const tensor x = g.input("x", f32, {m, k});
  g.output("gelu", dk::gelu(dk::matmul(x, g.weight("w", {k, n})) + g.weight("b", {n})));
  g.output("residual", dk::relu(dk::matmul(dk::tanh(x), g.weight("v", {k, n}))) + g.input("r", f32, {m, n}));
}
void products_in_fours(dk::builder& g, random_source& r) {
  const std::int64_t m = 4 * r.between(2, 40), k = 4 * r.between(2, 60), n = 4 * r.between(2, 40);
  const tensor x = g.input("x", f32, {m, k}), w = g.weight("w", {k, n});
  g.output("plain", dk::matmul(x, w));
  g.output("columns", dk::matmul(dk::transpose(g.input("z", f32, {k, m}), {.perm = {1, 0}}), w) * 0.5);
  g.output("rows", dk::matmul(x, dk::transpose(g.input("u", f32, {n, k}), {.perm = {1, 0}})));
}
void batches(dk::builder& g, random_source& r) {
  const std::int64_t m = r.between(5, 40), k = r.between(8, 200), n = r.between(5, 40);
  const tensor x = g.input("x", f32, {3, 2, m, k});
  g.output("of both", dk::matmul(x, g.input("y", f32, {2, k, n})) + g.input("r", f32, {3, 1, 1, n}));
  g.output("folded", dk::relu(dk::matmul(x, g.weight("w", {1, k, n}))));
}
void convolutions(dk::builder& g, random_source& r) {
  const std::int64_t c = r.between(8, 70), o = r.between(8, 80), h = r.between(3, 9), w = r.between(3, 9);
  const tensor x = g.input("x", f32, {2, c, h, w});
  g.output("pointwise",
           dk::silu(dk::conv(x, g.weight("w", {o, c, 1, 1}), g.weight("b", {o}))) + g.input("r", f32, {o, 1, 1}));
  g.output("line", dk::conv(g.input("line", f32, {1, c, 50}), g.weight("l", {o, c, 9}), {.pads = {2, 0}}));
  g.output("groups", dk::conv(g.input("z", f32, {1, 32, h, w}), g.weight("g", {24, 16, 1, 1}), {.group = 2}));
}

constexpr bool makes_one_text_a_tile() {
  // Of which the last group stores: nothing is handed over where there is one.
  constexpr cl::product_tile alone{32, 32, 8, 4, 4, 16, 1}, shared{32, 32, 8, 4, 4, 16, 5};
  const auto text_of = [](const cl::product_tile& tile, char* characters, std::size_t room) {
    dk::builder b;
    b.output("y", dk::matmul(b.input("x", f32, {40, 640}), b.weight("w", {640, 48})));
    const dk::plan::plan_draft plan = dk::default_pipeline::run<dk::targets::opencl>(b.value()).plan;
    const dk::plan_view view = dk::plan::view_of(plan);
    cl::source_writer out(characters, room);
    cl::recipe_writer<dk::builtin_set> w(view, view.steps[0].kernel, out);
    cl::write_tiled_product(w, cl::product_shape<dk::builtin_set>(w), tile);
    return w.draft.work;
  };
  std::vector<char> characters(1 << 14);
  const cl::work_size one = text_of(alone, characters.data(), characters.size());
  const cl::work_size five = text_of(shared, characters.data(), characters.size());
  return one.known == 4 && one.counters == 0 && one.handed_numbers == 0 && five.known == 20 && five.counters == 4 &&
         five.handed_numbers == 20 * 32 * 32 && five.group_size == one.group_size;
}
static_assert(makes_one_text_a_tile());

}  // namespace

TEST_CASE("tiles that costs choose among, of some shapes with long K, in turn with all graphs") {
  std::vector<cl::product_tile> tiles;
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    cl::for_product_tiles({m, n, k}, 0, {}, [&](const cl::product_tile& t) { tiles.push_back(t); });
  };
  add(128, 768, 3072);
  add(49, 49, 1000);
  REQUIRE(tiles.size() > 300);
  int number = 0;
  for (const std::uint64_t seed : harness::seeds(1, harness::is_thorough ? 24 : 4)) {  // tiles far apart in the list
    const cl::product_tile t = tiles[seed * 7919 % tiles.size()];
    switch (number++ % 4) {
      case 0:
        check(t, seed, products);
        break;
      case 1:
        check(t, seed, products_in_fours);
        break;
      case 2:
        check(t, seed, batches);
        break;
      case 3:
        check(t, seed, convolutions);
        break;
    }
  }
}

TEST_CASE("several groups a tile: more parts than stages, than tiles, with and without slices") {
  constexpr cl::product_tile tiles[] = {{16, 16, 4, 4, 4, 16, 2}, {32, 96, 8, 4, 4, 8, 4},  {64, 64, 8, 4, 2, 16, 11},
                                        {64, 64, 8, 8, 1, 8, 3},  {16, 28, 4, 4, 4, 8, 16}, {40, 64, 8, 4, 1, 32, 5}};
  std::uint64_t seed = 1;
  bool is_even = true;  // in turn with two graphs of four in quick tests
  for (const cl::product_tile& t : tiles) {
    if (harness::is_thorough || is_even) {
      check(t, ++seed, products);
      check(t, ++seed, convolutions);
    }
    if (harness::is_thorough || !is_even) {
      check(t, ++seed, products_in_fours);
      check(t, ++seed, batches);
    }
    is_even = !is_even;
  }
}

TEST_CASE("kernels one behind the other share what groups hand over, before a run and in it") {
  constexpr cl::product_tile tile{16, 32, 4, 4, 2, 8, 6};
  check(tile, 1, [](dk::builder& g, random_source&) {
    const tensor w = dk::matmul(g.weight("u", {70, 300}), g.weight("v", {300, 45}));  // computed once
    const tensor x = dk::tanh(dk::matmul(g.input("x", f32, {50, 70}), w));
    const tensor y = dk::matmul(x, g.weight("p", {45, 130}));
    g.output("y", dk::matmul(y, dk::transpose(y, {.perm = {1, 0}})) * 0.01);
  });
}
