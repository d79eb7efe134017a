// SPDX-License-Identifier: MIT
// A user's program around an ONNX model with a state: what a run adds up is what the next one goes on from.
#include <array>
#include <iostream>

#include "running_sum.hpp"
#include "running_sum_weights.hpp"

int main() {
  dnnkit::model_session<running_sum> session(running_sum_weights());
  std::array<float, 2> y{};
  for (float x : {1.0F, 2.0F, 3.0F}) session.run(std::array<float, 2>{x, 10 * x}, y);
  std::cout << y[0] << ' ' << y[1] << '\n';
  return y == std::array<float, 2>{-6, -60} && session.state<"before">()[1] == 60 ? 0 : 1;
}
