// SPDX-License-Identifier: MIT
// A user's program around an ONNX model: Conv, Relu, GlobalAveragePool, Flatten and Gemm, with ONNX Runtime's result.
#include <array>
#include <cmath>
#include <iostream>

#include "small.hpp"
#include "small_weights.hpp"

namespace dk = dnnkit;

using net = dk::compile<small>;

int main() {
  dk::session<net> session(small_weights());
  std::array<float, 32> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 16 - 1;
  std::array<float, 2> y{};
  session.run(x, y);
  std::cout << y[0] << ' ' << y[1] << '\n';
  const std::array<float, 2> expected{-1.2568542957305908f, -0.6885895729064941f};
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(std::abs(y[i] - expected[i]) < 1e-5f)) return 1;
}
