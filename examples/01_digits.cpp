// SPDX-License-Identifier: MIT
// Example 1: a network written in C++, compiled while this file compiles, run on 360 handwritten digits. With
// --target opencl it runs on an OpenCL device, for which the compiler has written other kernels.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "dnnkit/graph.hpp"
#ifdef DIGITS_WITH_OPENCL
#include "dnnkit/opencl.hpp"
#endif
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/operators_of.hpp"
#include "dnnkit/weights/host_weights.hpp"

namespace dk = dnnkit;

struct digits {  // a model is a type; build() runs at compile time
  static constexpr void build(dk::builder& g) {
    auto x = g.input("x", dk::f32, {1, 1, 8, 8});
    auto block = [&](dk::tensor t, const char* conv, const char* bn, int in, int out) {
      t = dk::conv(t, g.weight(conv, ".weight", {out, in, 3, 3}), g.weight(conv, ".bias", {out}),
                   {.pads = {1, 1, 1, 1}});
      return dk::relu(dk::batch_normalization(t, g.batch_norm(bn, out)));
    };
    auto pool = [](dk::tensor t) { return dk::max_pool(t, {.kernel_shape = {2, 2}, .strides = {2, 2}}); };
    auto y = pool(block(block(x, "conv1", "bn1", 1, 16), "conv2", "bn2", 16, 32));
    y = pool(block(y, "conv3", "bn3", 32, 32));
    g.output("y", dk::gemm(dk::flatten(y), g.weight("fc", ".weight", {10, 128}), g.weight("fc", ".bias", {10}),
                           {.trans_b = true}));
  }
};

using net = dk::compile<digits>;            // every pass has run here
static_assert(net::kernels == 6);           // 13 operators became 6 kernels
static_assert(net::arena_bytes == 14'592);  // the memory for everything between input and output

using scores = std::array<float, 10>;

int most_likely(const scores& s) { return static_cast<int>(std::max_element(s.begin(), s.end()) - s.begin()); }

// Images of 8x8 pixels from 0 (white) to 16 (black), and which digit each of them is.
struct test_set {
  std::vector<std::array<float, 64>> images;
  std::vector<int> labels;

  explicit test_set(const dk::safetensors& file) {
    const auto pixels = file.at("test_x").data, truth = file.at("test_y").data;
    for (std::size_t i = 0; i < truth.size(); ++i) {
      labels.push_back(static_cast<int>(truth[i]));
      std::transform(pixels.begin() + static_cast<std::ptrdiff_t>(64 * i),
                     pixels.begin() + static_cast<std::ptrdiff_t>(64 * i + 64), images.emplace_back().begin(),
                     [](std::byte p) { return static_cast<float>(p) / 16; });
    }
  }
};

// Some images side by side as text, what the network takes them for above.
void show(const test_set& set, const std::vector<std::size_t>& chosen, const std::vector<int>& found) {
  for (std::size_t i : chosen) std::cout << "is " << set.labels[i] << ", read as " << found[i] << "    ";
  std::cout << '\n';
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t i : chosen) {
      for (std::size_t column = 0; column < 8; ++column) {
        const char ink = " .:-=+*#%@"[static_cast<int>(set.images[i][8 * row + column] * 9)];
        std::cout << ink << ink;
      }
      std::cout << "    ";
    }
    std::cout << '\n';
  }
}

// What a network takes each image for, on the target that it was compiled for.
template <class Net> std::vector<int> read(const test_set& set, const std::filesystem::path& weights) {
  dk::session<Net> session{dk::safetensors(weights)};  // packs the weights, allocates: the last allocation there is
  std::vector<int> found;
  for (const auto& image : set.images) {
    scores s;
    session.run(image, s);  // arrays of the right size: checked by the compiler
    found.push_back(most_likely(s));
  }
  return found;
}

std::vector<int> read_on(const std::string& target, const test_set& set, const std::filesystem::path& weights) {
  if (target == "cpu") return read<net>(set, weights);
#ifdef DIGITS_WITH_OPENCL
  if (target == "opencl") return read<dk::compile<digits, dk::targets::opencl>>(set, weights);
#endif
  throw dk::error("the program was built for no such target", "--target", {}, target);
}

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && (arguments.size() != 2 || arguments[0] != "--target")) {
    std::cerr << "usage: digits [--target cpu|opencl]\n";
    return 2;
  }
  const std::string target = arguments.empty() ? "cpu" : arguments[1];

  const std::filesystem::path assets = DNNKIT_ASSETS;
  const test_set set(dk::safetensors(assets / "digits.safetensors"));
  const std::filesystem::path weights = assets / "digits_cnn.safetensors";

  const std::vector<int> found = read_on(target, set, weights);
  std::set<std::size_t> wrong;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] != set.labels[i]) wrong.insert(i);

  // The same graph, executed by the operators' definitions instead of compiled kernels: the reference.
  const dk::graph graph = dk::graph_of<digits>();
  const dk::safetensors file(weights);
  std::set<std::size_t> wrong_in_reference;
  for (std::size_t i = 0; i < set.images.size(); ++i) {
    dk::host_tensor image(dk::f32, {1, 1, 8, 8});
    std::copy(set.images[i].begin(), set.images[i].end(), image.reals.begin());
    scores s;
    std::ranges::copy(dk::evaluate<dk::operators_of<digits>>(graph, {image}, dk::weights_of(file))[0].reals, s.begin());
    if (most_likely(s) != set.labels[i]) wrong_in_reference.insert(i);
  }

  std::vector<std::size_t> chosen{0, 1, 2};
  chosen.insert(chosen.end(), wrong.begin(), wrong.end());
  show(set, chosen, found);
  std::cout << set.images.size() - wrong.size() << " of " << set.images.size() << " correct\n"
            << "13 operators in " << net::kernels << " kernels, " << net::arena_bytes << " bytes of memory\n";
  if (set.images.size() != 360 || wrong.size() != 2 || wrong != wrong_in_reference) {
    std::cerr << "expected 358 of 360 correct, and the reference evaluator to be wrong about the same two\n";
    return 1;
  }
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
