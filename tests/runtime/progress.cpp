// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// The progress observer: what it is told, and that it can stop a run.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/progress.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/graph.hpp"

namespace dk = dnnkit;

namespace {

// Three kernels: two reductions and the element-wise rest.
struct three_kernels {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {2, 8});
    const auto s = dk::reduce_sum(x, {.axes = {1}, .keepdims = true});
    const auto t = dk::reduce_max(x - s, {.axes = {1}, .keepdims = true});
    g.output("y", x + t);
  }
};
using net = dk::compile<three_kernels>;
static_assert(net::kernels == 3);

dk::safetensors no_tensors() {
  static constexpr std::string_view file("\2\0\0\0\0\0\0\0{}", 10);
  return dk::safetensors::from_memory(std::as_bytes(std::span(file)), "no tensors");
}

using calls = std::vector<std::pair<std::size_t, std::size_t>>;

}  // namespace

TEST_CASE("before each kernel, and after the last") {
  calls seen;
  auto bar = dk::progress([&](std::size_t done, std::size_t total) { seen.emplace_back(done, total); });
  dk::session<net, decltype(bar)> session(no_tensors(), bar);
  std::array<float, 16> x{}, y{};
  x[3] = 2;
  session.run(x, y);
  CHECK(seen == calls{{0, 3}, {1, 3}, {2, 3}, {3, 3}});
  CHECK(y[3] == 2);  // max(x - 2) is 0 along the first row
  CHECK(y[0] == 0);
}

TEST_CASE("a report of false stops the run there, and the next run is whole again") {
  calls seen;
  std::size_t stop_at = 1;
  auto bar = dk::progress([&](std::size_t done, std::size_t total) {
    seen.emplace_back(done, total);
    return done != stop_at;
  });
  dk::session<net, decltype(bar)> session(no_tensors(), bar);
  std::array<float, 16> x{}, y{};
  x[3] = 2;
  y.fill(-1);
  CHECK_FALSE(session.run(x, y));
  CHECK(seen == calls{{0, 3}, {1, 3}});
  for (float v : y) CHECK(v == -1);  // the last kernel, which writes the output, has not run
  stop_at = 99;
  CHECK(session.run(x, y));
  CHECK(y[3] == 2);
  stop_at = 3;  // too late to stop anything
  CHECK(session.run(x, y));
}
