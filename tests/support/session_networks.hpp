// SPDX-License-Identifier: MIT
// Small networks to make sessions of: one of fixed sizes, one whose sizes are symbols, one that no memory holds; their
// weights, inputs and results.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/weights/safetensors.hpp"
#include "tests/support/harness.hpp"

namespace harness::session_networks {

using dnnkit::f32;

struct fixed {
  static constexpr void build(dnnkit::builder& g) {
    const dnnkit::tensor x = g.input("x", f32, {1, 3, 6, 5});
    dnnkit::tensor y =
        dnnkit::relu(dnnkit::conv(x, g.weight("a", {8, 3, 3, 3}), g.weight("b", {8}), {.pads = {1, 1, 1, 1}}));
    y = dnnkit::conv(y, g.weight("c", {2, 8, 3, 3}), {.pads = {1, 1, 1, 1}});
    g.output("y", y);
    g.output("sum", dnnkit::reduce_sum(y, {.keepdims = false}));
  }
};
struct sized {  // no smaller than the second window: 5 rows without padding
  static constexpr void build(dnnkit::builder& g) {
    const dnnkit::tensor x = g.input("picture", f32, {1, 3, dnnkit::sym("H", {1, 40}), dnnkit::sym("W", {2, 30})});
    const dnnkit::tensor y = dnnkit::relu(dnnkit::conv(x, g.weight("a", {8, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
    g.output("y", g.named("valid", dnnkit::conv(y, g.weight("c", {2, 8, 5, 1}))));
  }
};
struct huge {
  static constexpr void build(dnnkit::builder& g) {
    constexpr std::int64_t most = 2'000'000'000;
    const dnnkit::tensor x = g.input("x", f32, {dnnkit::sym("A", {1, most}), dnnkit::sym("B", {1, most})});
    g.output("y", dnnkit::softmax(dnnkit::softmax(x), {.axis = 0}));
  }
};
using fixed_net = dnnkit::compile<fixed>;
using sized_net = dnnkit::compile<sized>;

template <class Net> struct prepared {
  dnnkit::graph graph = dnnkit::graph_of<typename Net::model>();
  test_data data = random_data(graph, 1);
  std::vector<std::byte> file = safetensors_bytes(data.weights);

  dnnkit::safetensors weights() const { return dnnkit::safetensors::from_memory(file, "weights"); }
  // Result k for an input of these extents.
  std::vector<float> expected(const dnnkit::host_tensor& x, std::size_t k) const {
    const dnnkit::host_tensor y = dnnkit::evaluate(graph, {x}, dnnkit::weights_of(data.weights))[k];
    return {y.reals.begin(), y.reals.end()};
  }
};

inline dnnkit::host_tensor picture(std::int64_t height, std::int64_t width) {
  dnnkit::host_tensor x(f32, {1, 3, height, width});
  for (std::size_t i = 0; i < x.reals.size(); ++i)
    x.reals[i] = dnnkit::round_to(f32, static_cast<double>(i * 37 % 19) / 7 - 1);
  return x;
}
inline std::vector<float> floats(const dnnkit::host_tensor& x) { return {x.reals.begin(), x.reals.end()}; }

inline void check_near(std::span<const float> found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-4));
}

}  // namespace harness::session_networks
