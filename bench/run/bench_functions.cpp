// SPDX-License-Identifier: MIT
// Elementary functions on vectors in the first cache: bench_functions [part of a name], one JSON object a line.
// multiply_adds: vectors of them that the core could have begun in the time that an element takes.
#include <dnnkit/cpu/micro/trigonometry.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "peak.hpp"

namespace {

using namespace dnnkit::cpu;

template <class F> void measure(const bench::options& o, const std::string& name, float low, float high, F f) {
  if (!o.wants(name)) return;
  constexpr std::ptrdiff_t n = 2048;
  const bench::buffer in(n), out(n, false);
  for (std::ptrdiff_t i = 0; i < n; ++i) in[i] = low + (high - low) * (in[i] * 0.5f + 0.5f);
  const auto once = [&] {
    for (std::ptrdiff_t i = 0; i < n; i += float_lanes) f(float_vec::load(in.data() + i)).store(out.data() + i);
    asm volatile("" ::: "memory");
  };
  constexpr int repetitions = 100;
  std::vector<double> times, peaks;
  once();
  for (int sample = 0; sample < 61; ++sample) {
    peaks.push_back(bench::peak_sample());
    const double begin = bench::thread_seconds();
    for (int r = 0; r < repetitions; ++r) once();
    times.push_back((bench::thread_seconds() - begin) / (repetitions * static_cast<double>(n)));
  }
  // Vectors of multiply-adds in the time of an element.
  const double multiply_adds = bench::median(times) * bench::median(peaks) * 1e9 / 2 / float_lanes;
  std::printf(R"({"name": "%s", "ns": %.3f, "multiply_adds": %.3f, "peak_gflops": %.1f})"
              "\n",
              name.c_str(), bench::median(times) * 1e9, multiply_adds, bench::median(peaks));
}

}  // namespace

int main(int argc, char** argv) {
  using V = float_vec;
  const bench::options o(argc, argv);
  measure(o, "copy", -8, 8, [](V x) { return x; });
  measure(o, "exp", -20, 8, [](V x) { return exp(x); });
  measure(o, "exp_of_nonpositive", -20, 0, [](V x) { return exp_of_nonpositive(x); });
  measure(o, "sigmoid", -8, 8, [](V x) { return sigmoid(x); });
  measure(o, "times_sigmoid", -8, 8, [](V x) { return times_sigmoid(x, 1); });
  measure(o, "tanh", -8, 8, [](V x) { return tanh(x); });
  measure(o, "erf", -8, 8, [](V x) { return erf(x); });
  measure(o, "times_normal_cdf", -8, 8, [](V x) { return times_normal_cdf(x); });
  measure(o, "times_normal_cdf_by_tanh", -8, 8, [](V x) { return times_normal_cdf_by_tanh(x); });
  // As graphs spell them.
  measure(o, "spelt_sigmoid_product", -8, 8, [](V x) { return x * sigmoid(x); });
  measure(o, "spelt_gelu", -8, 8, [](V x) { return V(0.5f) * x * (V(1.0f) + erf(x * V(0.70710678f))); });
  measure(o, "spelt_gelu_by_tanh", -8, 8,
          [](V x) { return V(0.5f) * x * (V(1.0f) + tanh(V(0.79788456f) * (x + V(0.044715f) * x * x * x))); });
}
