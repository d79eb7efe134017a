// SPDX-License-Identifier: MIT
// Recipes of long chains: what the passes need of memory grows as the number of operators.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/recipe_builder.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"

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
