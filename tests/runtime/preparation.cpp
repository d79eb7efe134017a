// SPDX-License-Identifier: MIT
// What is done with weights before the first run: the order, and the last use of every buffer.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/preparation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/cpu/kernels.hpp"
#include "dnnkit/graph.hpp"

namespace dk = dnnkit;

namespace {

struct model {
  static constexpr void build(dk::builder& g) {
    auto x = g.input("x", dk::f32, {4, 16});
    x = dk::matmul(x, g.weight("packed", {16, 16}));                       // step 0, first stage
    x = dk::matmul(dk::relu(x), dk::exp(g.weight("computed", {16, 16})));  // a setup step; second stage
    const auto both = g.weight("both", {16, 16});
    x = dk::matmul(dk::relu(x), both) + g.weight("bias", {16});  // step 1
    const auto shared = g.weight("shared", {16, 16});
    x = dk::matmul(dk::relu(x), shared);  // step 2
    x = dk::matmul(dk::relu(x), shared);  // step 4
    const auto deep = g.weight("deep", {4, 16, 3, 3}), deep_bias = g.weight("deep_bias", {4});
    const auto image = dk::conv(g.input("image", dk::f32, {1, 16, 5, 5}), deep, deep_bias, {});  // step 3
    g.output("image", image);
    g.output("y", dk::reduce_sum(dk::relu(x) * dk::slice(both, {.starts = {0}, .ends = {4}}), {.axes = {1}}));
  }
};
using net = dk::compile<model>;

const dk::preparation order(net::plan, dk::cpu::kernel_table<net>);

std::size_t buffer_named(std::string_view name) {
  for (std::size_t b = 0; b < net::plan.buffers.size(); ++b)
    if (net::plan.text_of(net::plan.buffers[b].name) == name) return b;
  FAIL("no buffer " << name);
  return 0;
}
std::size_t setup_buffer() {
  for (std::size_t b = 0; b < net::plan.buffers.size(); ++b)
    if (net::plan.buffers[b].where == dk::plan::storage::setup) return b;
  FAIL("nothing is computed once");
  return 0;
}

// The number of the action after which a buffer goes; -1 when it stays.
int end_of(std::size_t b) {
  if (order.is_kept(b)) return -1;
  for (std::size_t i = 0; i < order.actions().size(); ++i)
    if (order.ends_with(b, i)) return static_cast<int>(i);
  FAIL("buffer " << b << " neither stays nor goes");
  return 0;
}
int end_of(std::string_view name) { return end_of(buffer_named(name)); }

int number_of(bool packs, std::size_t step) {
  const auto& all = order.actions();
  const auto found = std::ranges::find_if(all, [&](const auto& a) { return a.packs == packs && a.step == step; });
  REQUIRE(found != all.end());
  return static_cast<int>(found - all.begin());
}

std::size_t step_reading(std::string_view name, std::size_t which = 0) {
  for (std::size_t s = 0; s < net::plan.steps.size(); ++s)
    for (std::int32_t b : net::plan.numbers_of(net::plan.steps[s].operands))
      if (static_cast<std::size_t>(b) == buffer_named(name) && which-- == 0) return s;
  FAIL("no step reads " << name);
  return 0;
}

}  // namespace

TEST_CASE("every setup step is run once, in order, and every kernel's weights are packed once") {
  std::vector<std::size_t> run, packed, expected;
  for (const auto& a : order.actions()) (a.packs ? packed : run).push_back(a.step);
  for (std::size_t s = 0; s < net::plan.setup_steps.size(); ++s) expected.push_back(s);
  CHECK(run == expected);
  std::ranges::sort(packed);
  expected.clear();
  for (std::size_t s = 0; s < net::plan.steps.size(); ++s)
    if (dk::cpu::kernel_table<net>[net::plan.steps[s].kernel].pack != nullptr) expected.push_back(s);
  CHECK(expected.size() == 5);
  CHECK(packed == expected);
}

TEST_CASE("a weight that is packed goes, one that a kernel reads when it runs stays") {
  CHECK(end_of("packed") == number_of(true, step_reading("packed")));
  CHECK(end_of("deep") == number_of(true, step_reading("deep")));
  CHECK(end_of("deep_bias") == number_of(true, step_reading("deep_bias")));
  CHECK(end_of("bias") == -1);
  CHECK(end_of("both") == -1);
}

TEST_CASE("what is packed from the file alone goes largest first") {
  std::vector<std::int64_t> bytes;
  for (const auto& a : order.actions()) {
    if (!a.packs) break;  // the setup step, and what waits for it
    bytes.push_back(dk::cpu::kernel_table<net>[net::plan.steps[a.step].kernel].packed_bytes);
  }
  REQUIRE(bytes.size() >= 3);
  CHECK(bytes.front() > bytes.back());
  CHECK(std::ranges::is_sorted(bytes, std::ranges::greater{}));
}

TEST_CASE("what is packed twice goes after the second time") {
  const int first = number_of(true, step_reading("shared", 0)), second = number_of(true, step_reading("shared", 1));
  CHECK(first != second);
  CHECK(end_of("shared") == std::max(first, second));
}

TEST_CASE("what is computed once is packed next, and goes") {
  REQUIRE(net::plan.setup_steps.size() == 1);
  CHECK(end_of("computed") == number_of(false, 0));
  CHECK(end_of(setup_buffer()) == number_of(false, 0) + 1);
}
