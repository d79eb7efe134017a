// SPDX-License-Identifier: MIT
// What a step of a run costs beside its kernel: networks of many kernels that have next to nothing to do,
// bench_steps [part of a name], one JSON object a line.
#include "network.hpp"

namespace {

namespace dk = dnnkit;
using dk::f32;

// Operators on 16 elements, each a kernel of its own.
struct element_wise {
  static constexpr void build(dk::builder& g) {
    dk::tensor x = g.input("x", f32, {16});
    for (int i = 0; i < 50; ++i) x = dk::relu(-x);
    g.output("y", x);
  }
};
// Convolutions of one channel, whose inputs have borders.
struct bordered {
  static constexpr void build(dk::builder& g) {
    dk::tensor x = g.input("x", f32, {1, 8, 2, 2});
    for (int i = 0; i < 50; ++i)
      x = dk::relu(dk::conv(x, g.weight("w", {8, 1, 3, 3}), {.pads = {1, 1, 1, 1}, .group = 8}));
    g.output("y", x);
  }
};

using unfused = dk::without<dk::default_pipeline, dk::passes::default_fusion<>>;

template <class Net> void measure(const bench::options& o, const std::string& name) {
  if (!o.wants(name)) return;
  bench::network<Net> n;
  const auto timed = [&](int runs) {
    const double begin = bench::thread_seconds();
    for (int r = 0; r < runs; ++r) n.run();
    return (bench::thread_seconds() - begin) / runs;
  };
  timed(100);
  std::vector<double> times;
  for (int sample = 0; sample < 101; ++sample) times.push_back(timed(200));
  std::printf(R"({"name": "%s", "steps": %zu, "ns_per_step": %.1f})"
              "\n",
              name.c_str(), Net::plan.steps.size(),
              1e9 * bench::median(times) / static_cast<double>(Net::plan.steps.size()));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::options o(argc, argv);
  measure<dk::compile<element_wise, dk::targets::native, unfused>>(o, "element_wise");
  measure<dk::compile<bordered>>(o, "bordered");
}
