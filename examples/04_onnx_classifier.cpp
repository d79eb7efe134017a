// SPDX-License-Identifier: MIT
// Example 4: an ONNX image classifier, from file to prediction. CMake turns examples/assets/digits_cnn.onnx into
// digits_cnn.hpp (dnnkit_add_onnx in CMakeLists.txt); the number of images in a batch is left open.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "digits_cnn.hpp"          // generated: the struct digits_cnn
#include "digits_cnn_weights.hpp"  // generated: digits_cnn_weights() maps the .onnx file
#include "examples/support/arguments.hpp"
#include "examples/support/png.hpp"

namespace dk = dnnkit;

namespace {

using net = dk::compile<digits_cnn>;
static_assert(net::kernels == 4);  // of 14 operators in the file

constexpr std::size_t side = 8, pixels = side * side, classes = 10;

// For each image of 8x8 pixels, from 0 (white) to 1 (black), the probability of each digit.
std::vector<float> classify(dk::session<net>& session, std::span<const float> images) {
  const std::size_t count = images.size() / pixels;
  session.bind({{"N", static_cast<std::int64_t>(count)}});
  std::vector<float> probabilities(count * classes);
  session.run(images, probabilities);
  return probabilities;
}

// Any image as 8x8 pixels, each the mean of what it covers.
std::array<float, pixels> reduced(const dk::examples::image& i, const std::string& name) {
  if (i.width < side || i.height < side) throw dk::error("image is too small", name, "8x8 pixels", size_text(i));
  std::array<float, pixels> ink{};
  for (std::size_t p = 0; p < pixels; ++p) {
    const std::size_t row = p / side, column = p % side;
    const std::size_t top = row * i.height / side, bottom = (row + 1) * i.height / side;
    const std::size_t left = column * i.width / side, right = (column + 1) * i.width / side;
    double sum = 0;
    for (std::size_t y = top; y < bottom; ++y)
      for (std::size_t x = left; x < right; ++x)
        for (std::size_t c = 0; c < 3; ++c) sum += i.pixels[(y * i.width + x) * i.channels + c];
    ink[p] = static_cast<float>(1 - sum / (255.0 * 3 * static_cast<double>((bottom - top) * (right - left))));
  }
  return ink;
}

std::size_t most_likely(std::span<const float> p) {
  return static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
}

int predict(dk::session<net>& session, const std::string& path, const cxxopts::ParseResult& arguments) {
  const std::vector<float> p = classify(session, reduced(dk::examples::load_png(path), path));
  std::array<std::size_t, classes> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
  std::cout << std::fixed << std::setprecision(1);
  for (std::size_t k = 0; k < 3; ++k) std::cout << order[k] << ": " << 100 * p[order[k]] << " %\n";
  return arguments.count("expect") && arguments["expect"].as<std::size_t>() != order[0] ? 1 : 0;
}

// All test images in one batch; PyTorch, where the network was trained, is right about 358 of them.
int check(dk::session<net>& session) {
  const dk::safetensors data(std::filesystem::path(DNNKIT_ASSETS) / "digits.safetensors");
  const auto stored = data.at("test_x").data, labels = data.at("test_y").data;
  std::vector<float> images;
  for (const std::byte b : stored) images.push_back(static_cast<float>(b) / 16);
  const std::vector<float> p = classify(session, images);
  std::size_t correct = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    correct += most_likely(std::span(p).subspan(i * classes, classes)) == static_cast<std::size_t>(labels[i]);
  std::cout << correct << " of " << labels.size() << " correct\n";
  return labels.size() == 360 && correct == 358 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  cxxopts::Options options("onnx_classifier",
                           "Tells the handwritten digit in an image; without one, reads 360 images.");
  options.add_options()("image", "PNG file, dark on light", cxxopts::value<std::string>())(
      "expect", "fail unless this digit is the most likely", cxxopts::value<std::size_t>());
  options.parse_positional({"image"});
  options.positional_help("[IMAGE.png]");
  const auto arguments = dk::examples::parse_arguments(options, argc, argv);
  dk::session<net> session(digits_cnn_weights());
  return arguments.count("image") ? predict(session, arguments["image"].as<std::string>(), arguments) : check(session);
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
