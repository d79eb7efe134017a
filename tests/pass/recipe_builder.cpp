// SPDX-License-Identifier: MIT
// LABELS: alone
// Recipes of long chains: what the passes need of memory grows as the number of operators.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/recipe_builder.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <random>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

static std::size_t requested = 0;  // bytes, over the whole run

void* operator new(std::size_t size) {
  requested += size;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

TEST_CASE("a kernel that reads through thousands of movement operators") {
  dk::builder g;
  auto y = g.input("x", dk::f32, {4, 5});
  for (int i = 0; i < 4000; ++i) y = dk::transpose(y, {.perm = {1, 0}});
  g.output("y", dk::relu(y));
  requested = 0;
  // with that pass, no kernel looks through as many
  const dk::schedule s = dk::without<dk::default_pipeline, dk::passes::break_long_views>::run(g.value());
  REQUIRE(s.g.error.str() == "");
  CHECK(s.plan.steps.size() == 1);
  CHECK(requested < 50'000'000);  // a path for each operator that the kernel looks through would be 130 MB
}

// Movement operators of known extents, each alone.
dk::tensor moved(dk::builder& g, dk::tensor x, std::mt19937_64& random) {
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  const std::int64_t a = x.size(0).value(), b = x.size(1).value(), c = x.size(2).value(), axis = pick(0, 2);
  const std::int64_t n = x.size(axis).value();
  const dk::shape shapes[] = {{a * b, c}, {a, b * c}, {a * b * c}, {b, a, c}, {a, c, b}, {c, a * b}, {a, 1, b, c, 1}};
  switch (pick(0, 6)) {
    case 0:
    case 1:
      return g.apply(dk::op::reshape{shapes[pick(0, 6)]}, {x});
    case 2:
      return dk::transpose(x, {.perm = {axis, (axis + 1) % 3, (axis + 2) % 3}});
    case 3:
      return dk::slice(x, {.starts = {pick(0, n - 1)}, .ends = {n}, .axes = {axis}, .steps = {pick(1, 2)}});
    case 4:
      return dk::tile(x, {.repeats = {pick(1, 2), pick(1, 2), pick(1, 2)}});
    case 5:
      return g.apply(dk::op::repeated_border{{pick(0, 2), 0, 0, 0, pick(0, 2), 0}, dk::pad_mode::reflect}, {x});
    default:
      return dk::slice(x, {.starts = {-1}, .ends = {-100}, .axes = {axis}, .steps = {-1}});
  }
}

TEST_CASE("a step along an axis that is followed is a step along that of the input, and nothing else") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  std::size_t followed = 0;
  for (int round = 0; round < 500; ++round) {
    dk::builder b;
    const std::vector<std::int64_t> in{1 + round % 3, 1 + round % 5, 2 + round % 4};
    b.output("y", moved(b, b.input("x", dk::f32, {in[0], in[1], in[2]}), random));
    dk::graph g = b.value();
    REQUIRE(g.error.str() == "");
    dk::host_tensor x(dk::f32, in);
    for (std::size_t i = 0; i < x.reals.size(); ++i) x.reals[i] = static_cast<double>(i);
    const dk::host_tensor y = evaluate(g, std::vector{x})[0];
    const auto follows = dk::detail::axes_followed(g, g.nodes[g.nodes.size() - 1]);
    const std::int64_t stride_of[] = {in[1] * in[2], in[2], 1};
    for (std::size_t d = 0, inner = y.count(); d < y.dims.size(); ++d) {
      const auto extent = static_cast<std::size_t>(y.dims[d]);
      inner /= extent;
      if (follows[d] < 0) continue;
      ++followed;
      const auto axis = static_cast<std::size_t>(follows[d]);
      for (std::size_t i = 0; i < y.count(); ++i) {
        if (i / inner % extent + 1 == extent) continue;
        CHECK(y.reals[i + inner] == y.reals[i] + static_cast<double>(stride_of[axis]));
        const auto from = static_cast<std::int64_t>(y.reals[i]);
        CHECK(from / stride_of[axis] % in[axis] + 1 < in[axis]);  // along that axis, not beyond its end
      }
    }
  }
  CHECK(followed > 300);
}
