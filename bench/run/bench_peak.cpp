// SPDX-License-Identifier: MIT
// The multiply-add peak of one core, and the clock that it says: the median of a few hundred samples.
#include "peak.hpp"

int main() {
  constexpr double flops_a_cycle = 2.0 * 2 * dnnkit::cpu::float_lanes;  // two multiply-adds of vectors
  std::vector<double> samples;
  for (int i = 0; i < 300; ++i) samples.push_back(bench::peak_sample());
  const double peak = bench::median(samples);
  std::printf(R"({"gflops": %.1f, "gigahertz": %.3f})"
              "\n",
              peak, peak / flops_a_cycle);
}
