// SPDX-License-Identifier: MIT
// A user's program: one fully connected layer, compiled, loaded from a file and run, with nothing but the link to
// dnnkit::dnnkit.
#include <array>
#include <dnnkit/graph.hpp>
#include <dnnkit/weights/safetensors_writer.hpp>
#include <iostream>
#include <span>

namespace dk = dnnkit;

struct layer {
  static constexpr void build(dk::builder& g) {
    auto x = g.input("x", dk::f32, {1, 2});
    g.output("y", dk::relu(dk::gemm(x, g.weight("fc.weight", {3, 2}), g.weight("fc.bias", {3}), {.trans_b = true})));
  }
};

using net = dk::compile<layer>;
static_assert(net::kernels == 1);

int main() {
  const std::array<float, 6> weight{1, 2, -3, 4, 5, -6};
  const std::array<float, 3> bias{0.5f, -1, 7};
  const std::array tensors{dk::stored_tensor{"fc.bias", dk::f32, {3}, std::as_bytes(std::span(bias))},
                           dk::stored_tensor{"fc.weight", dk::f32, {3, 2}, std::as_bytes(std::span(weight))}};
  dk::save_safetensors("layer.safetensors", tensors);

  dk::session<net> session(dk::safetensors("layer.safetensors"));
  const std::array<float, 2> x{1, 2};
  std::array<float, 3> y{};
  session.run(x, y);
  std::cout << y[0] << ' ' << y[1] << ' ' << y[2] << '\n';
  return y == std::array<float, 3>{5.5f, 4, 0} ? 0 : 1;
}
