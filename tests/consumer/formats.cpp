// SPDX-License-Identifier: MIT
// Writes with fmt what dnnkit's functions give, and prints what became of a model from PyTorch, whose file is called
// My-net.v2.onnx.
#include <dnnkit/fmt.hpp>
#include <dnnkit/inspect/explain.hpp>

#include "my_net_v2.hpp"

int main() {
  fmt::print("{}", dnnkit::explain<dnnkit::compile<my_net_v2>>());
  return fmt::format("{} {}", dnnkit::f32, dnnkit::shape{1, 3}) == "f32 [1, 3]" ? 0 : 1;
}
