// SPDX-License-Identifier: MIT
// Runs of movement operators: long ones are broken, short ones left as they are, and both mean the same.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/break_long_views.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/reference/evaluator.hpp"

using namespace dnnkit;
using namespace dnnkit::plan;

namespace {

graph transposes(std::size_t count) {
  builder b;
  auto t = b.input("x", f32, {2, 3});
  for (std::size_t i = 0; i < count; ++i) t = transpose(t, {.perm = {1, 0}});
  b.output("y", t);
  return b.value();
}
std::size_t longest_run(const graph& g) {
  std::size_t longest = 0;
  std::vector<std::size_t> length(g.values.size(), 0);
  for (const node& n : g.nodes)
    if (n.op->kind == form::movement) {
      const std::size_t steps = length[static_cast<std::size_t>(g.input_of(n, 0))] + 1;
      length[static_cast<std::size_t>(n.output)] = steps;
      longest = steps > longest ? steps : longest;
    }
  return longest;
}

}  // namespace

TEST_CASE("short runs stay") {
  const graph g = passes::break_long_views::run(transposes(passes::break_long_views::most - 1));
  CHECK(g.nodes.size() == passes::break_long_views::most - 1);
}

TEST_CASE("long runs are broken, and mean the same") {
  for (const std::size_t count : {64, 65, 500}) {
    const graph g = transposes(count), broken = passes::break_long_views::run(g);
    CHECK(broken.nodes.size() == count + count / passes::break_long_views::most);
    CHECK(longest_run(broken) <= passes::break_long_views::most);
    CHECK(verify(broken).view() == "");
    const std::vector<host_tensor> x{host_tensor({2, 3}, {1, 2, 3, 4, 5, 6})};
    CHECK(evaluate(broken, x)[0].reals == evaluate(g, x)[0].reals);
  }
}

TEST_CASE("20,000 movement operators are planned") {
  const graph g = transposes(20'000);
  const plan_draft p = default_pipeline::run(g).plan;
  CHECK(p.error.view() == "");
  CHECK(p.steps.size() >= 20'000 / passes::break_long_views::most);
}
