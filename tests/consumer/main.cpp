// SPDX-License-Identifier: MIT
// A user's program: it finds the headers, compiles and runs with nothing but the link to dnnkit::dnnkit.
#include <dnnkit/core/error.hpp>
#include <iostream>
#include <string>

int main() {
  const dnnkit::error error("tensor is missing", "model.safetensors");
  std::cout << error.what() << '\n';
  return error.where() == "model.safetensors" ? 0 : 1;
}
