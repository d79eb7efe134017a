// SPDX-License-Identifier: MIT
// Example 10: the classifier of example 4 on a GPU, or any other OpenCL device. CMake makes the header of the same ONNX
// file for OpenCL (dnnkit_add_onnx(... TARGET opencl) in CMakeLists.txt); which device it is, the program is told.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

#include "digits_cnn.hpp"          // generated: the struct digits_cnn, whose target is opencl
#include "digits_cnn_weights.hpp"  // generated: digits_cnn_weights() maps the .onnx file
#include "examples/support/arguments.hpp"

namespace dk = dnnkit;

using net = dk::compile<digits_cnn>;  // the texts of its kernels are constants of this program
static_assert(std::is_same_v<net::target, dk::targets::opencl>);

int main(int argc, char** argv) try {
  cxxopts::Options options("gpu_classifier", "Reads 360 handwritten digits on an OpenCL device.");
  options.add_options()("device", "its number, or a part of its name; by default the first GPU, if there is one",
                        cxxopts::value<std::string>())("devices", "list the devices");
  const auto arguments = dk::examples::parse_arguments(options, argc, argv);
  if (arguments.count("devices")) {
    for (const std::string& name : dk::cl_devices()) std::cout << name << '\n';
    return 0;
  }
  const dk::cl_device device =
      arguments.count("device") ? dk::cl_device(arguments["device"].as<std::string>()) : dk::cl_device();
  const dk::packed_weights<net> weights(digits_cnn_weights(),
                                        device);  // the driver compiles the kernels, the first time
  dk::session<net> session(weights);

  const dk::safetensors data(std::filesystem::path(DNNKIT_ASSETS) / "digits.safetensors");
  const auto stored = data.at("test_x").data, labels = data.at("test_y").data;
  std::vector<float> images, scores(labels.size() * 10);
  for (const std::byte b : stored) images.push_back(static_cast<float>(b) / 16);
  session.bind({{"N", static_cast<std::int64_t>(labels.size())}});  // all in one batch
  session.run(images, scores);

  std::size_t correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto first = scores.begin() + static_cast<std::ptrdiff_t>(10 * i);
    correct += std::max_element(first, first + 10) - first == static_cast<std::ptrdiff_t>(labels[i]);
  }
  std::cout << device.name() << ": " << correct << " of " << labels.size() << " correct\n";
  return correct == 358 ? 0 : 1;  // as on the processor
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
