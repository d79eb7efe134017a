// SPDX-License-Identifier: MIT
// A user's program around several ONNX models: one whose weights are mapped when it runs, the same with weights that
// are part of the program, one with a state, and one for two sample rates, made for one of them.
#include <array>
#include <cmath>
#include <iostream>
#include <string_view>
#include <utility>

#include "embedded.hpp"
#include "embedded_weights.hpp"
#include "running_sum.hpp"
#include "running_sum_weights.hpp"
#include "small.hpp"
#include "small_weights.hpp"
#include "two_rates.hpp"
#include "two_rates_weights.hpp"

namespace dk = dnnkit;

namespace {

// Conv, Relu, GlobalAveragePool, Flatten and Gemm, with ONNX Runtime's result.
template <class Model> bool is_right(dk::weight_file weights) {
  dk::session<dk::compile<Model>> session(std::move(weights));
  std::array<float, 32> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 16 - 1;
  std::array<float, 2> y{};
  session.run(x, y);
  return std::abs(y[0] + 1.2568542957305908f) < 1e-5f && std::abs(y[1] + 0.6885895729064941f) < 1e-5f;
}

// What a run adds up is what the next one goes on from.
bool adds_up() {
  dk::model_session<running_sum> session(running_sum_weights());
  std::array<float, 2> y{};
  for (float x : {1.0F, 2.0F, 3.0F}) session.run(std::array<float, 2>{x, 10 * x}, y);
  return y == std::array<float, 2>{-6, -60} && session.state<"before">()[1] == 60;
}

// The input `rate` is no argument: the branch is that of other rates than 16000.
bool takes_the_branch() {
  using net = dk::compile<two_rates>;
  static_assert(net::plan.inputs.size() == 1);
  dk::session<net> session(two_rates_weights());
  const std::array<float, 4> x{1, -2, 3, 0};
  std::array<float, 4> y{};
  session.run(x, y);
  return y == std::array<float, 4>{-1, 2, -3, 0};
}

bool says(std::string_view model, bool is_as_expected) {
  std::cout << model << (is_as_expected ? ": as expected\n" : ": wrong\n");
  return is_as_expected;
}

}  // namespace

int main() {
  bool all = says("small", is_right<small>(small_weights()));
  all &= says("embedded", is_right<embedded>(embedded_weights()));
  all &= says("running_sum", adds_up());
  all &= says("two_rates", takes_the_branch());
  return all ? 0 : 1;
}
