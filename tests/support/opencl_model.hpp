// SPDX-License-Identifier: MIT
// A small network for OpenCL with known results, for tests of what runs it.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/runtime/cl_session.hpp"
#include "dnnkit/weights/memory_weights.hpp"

namespace opencl_model {

// y = relu(2 x w), [N, 3] by [3, 4]; s = sums of its rows. A setup, two kernels, a value in the arena, a symbol.
struct model {
  static constexpr void build(dnnkit::builder& g) {
    const auto x = g.input("x", dnnkit::f32, {dnnkit::sym("N", {0, 1 << 30}), 3});
    const auto y = dnnkit::relu(dnnkit::matmul(x, g.weight("w", {3, 4}) * 2.0));
    g.output("y", y + 0.0);
    g.output("s", dnnkit::reduce_sum(y, {.axes = {1}, .keepdims = false}));
  }
};
using net = dnnkit::compile<model, dnnkit::targets::opencl>;
using session = dnnkit::session<net>;

inline constexpr std::array<float, 12> w{1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, -1};
inline dnnkit::memory_weights weights() { return {{"w", w}}; }

struct data {
  std::vector<float> x, y, s;
  explicit data(std::size_t n, float first = 0) : x(3 * n), y(4 * n, -77), s(n, -77) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = first + static_cast<float>(i * 5 % 7) - 3;
  }
  // As the network says? All numbers are small integers.
  bool is_right() const {
    for (std::size_t i = 0; i < s.size(); ++i) {
      float sum = 0;
      for (std::size_t j = 0; j < 4; ++j) {
        float product = 0;
        for (std::size_t k = 0; k < 3; ++k) product += x[3 * i + k] * 2 * w[4 * k + j];
        if (y[4 * i + j] != (product < 0 ? 0 : product)) return false;
        sum += y[4 * i + j];
      }
      if (s[i] != sum) return false;
    }
    return true;
  }
};

}  // namespace opencl_model
