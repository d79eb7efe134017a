// SPDX-License-Identifier: MIT
// Example 3: an operator and a fusion rule that are not the library's, and what the rule changes.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "dnnkit/graph.hpp"
#include "dnnkit/inspect/explain.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/operators_of.hpp"
#include "dnnkit/weights/host_weights.hpp"

namespace dk = dnnkit;

// An operator: scale * max(x, 0)^2. Shapes, broadcasting, fusion into other kernels and vectors of any width
// follow from its form; apply() is all there is to say.
struct squared_relu {
  float scale = 1;

  static constexpr std::string_view name = "SquaredRelu";
  static constexpr dk::form kind = dk::form::elementwise;
  static constexpr dk::traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) { visit("scale", self.scale); }

  template <class T> constexpr T apply(T x) const {
    using dk::maximum;
    const T positive = maximum(x, T(0));
    return T(scale) * positive * positive;
  }
};

// A small model that uses it, behind sixteen filters.
struct model {
  static constexpr auto ops = dk::builtin_ops + dk::op_set<squared_relu>{};

  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {1, 1, 8, 8});
    const auto filtered =
        dk::conv(x, g.weight("conv1.weight", {16, 1, 3, 3}), g.weight("conv1.bias", {16}), {.pads = {1, 1, 1, 1}});
    g.output("y", dk::apply(squared_relu{.scale = 0.5f}, filtered) + 1.0);
  }
};

// A fusion rule: a convolution's kernel computes nothing else. It is asked about every edge after the library's rules,
// with the mapping types of what there is and what would be added (DNNFusion, Table 3.3) and the verdict so far.
struct convolutions_stay_alone {
  static constexpr std::string_view name = "convolutions stay alone";
  static constexpr dk::verdict decide(const dk::passes::fusion_edge&, dk::mapping first, dk::mapping,
                                      dk::verdict so_far) {
    return first == dk::mapping::many_to_many ? dk::verdict::never : so_far;
  }
};

using usual = dk::compile<model>;
using apart = dk::compile<model, dk::targets::native, dk::pipeline_with_rules<convolutions_stay_alone>>;

// What the rule changed, seen by the compiler: the result of the convolution now goes through memory.
static_assert(usual::kernels == 1 && usual::arena_bytes == 0);
static_assert(apart::kernels == 2 && apart::arena_bytes == 16 * 8 * 8 * sizeof(float));

using pixels = std::array<float, 64>;
using images = std::array<float, 16 * 8 * 8>;

template <class Net> images run(const std::filesystem::path& weights, const pixels& x) {
  dk::session<Net> session{dk::safetensors(weights)};
  images y;
  session.run(x, y);
  return y;
}

int main() try {
  const std::filesystem::path weights = DNNKIT_ASSETS "/digits_cnn.safetensors";
  const dk::safetensors digits(DNNKIT_ASSETS "/digits.safetensors"), file(weights);
  pixels x;
  std::transform(x.begin(), x.end(), digits.at("test_x").data.begin(), x.begin(),
                 [](float, std::byte pixel) { return static_cast<float>(pixel) / 16; });

  // The truth: the graph, executed by the operators' definitions in double precision.
  dk::host_tensor input(dk::f32, {1, 1, 8, 8});
  std::copy(x.begin(), x.end(), input.reals.begin());
  const dk::host_tensor expected =
      dk::evaluate<dk::operators_of<model>>(dk::graph_of<model>(), {input}, dk::weights_of(file))[0];

  std::cout << dk::explain<apart>() << '\n';
  double worst = 0;
  for (const images& found : {run<usual>(weights, x), run<apart>(weights, x)})
    for (std::size_t i = 0; i < found.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(found[i]) - expected.reals[i]));
  std::cout << "without the rule: " << usual::kernels << " kernel, " << usual::arena_bytes << " bytes of memory\n"
            << "with the rule: " << apart::kernels << " kernels, " << apart::arena_bytes << " bytes of memory\n"
            << "largest difference from the reference: " << worst << '\n';
  if (!(worst < 1e-4)) {
    std::cerr << "the kernels do not compute what the reference evaluator does\n";
    return 1;
  }
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
