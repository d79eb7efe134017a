// SPDX-License-Identifier: MIT
// Random data with a printed seed and the plain loops, in double, that the kernels of tests/cpu are compared with.
#pragma once

#include <dnnkit/cpu/micro/vec.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace reference {

// The seed of the run: DNNKIT_SEED, else random. Printed once.
inline std::mt19937& random() {
  static std::mt19937 engine = [] {
    const char* given = std::getenv("DNNKIT_SEED");
    const auto seed = given ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
    std::printf("seed %u (set DNNKIT_SEED to repeat)\n", seed);
    return std::mt19937(seed);
  }();
  return engine;
}

inline std::vector<float> values(std::ptrdiff_t count) {
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> v(static_cast<std::size_t>(count));
  for (float& x : v) x = uniform(random());
  return v;
}

inline std::ptrdiff_t pick(std::ptrdiff_t low, std::ptrdiff_t high) {
  return std::uniform_int_distribution<std::ptrdiff_t>(low, high)(random());
}

// Stores the first lanes and counts a place that was written before; memory to write to starts as NaN. A call, not
// inlined, so that kernels instantiated with it compile fast.
[[gnu::noinline]] inline void store_once(const dnnkit::cpu::float_vec& acc, float* to, std::ptrdiff_t lanes,
                                         std::ptrdiff_t& twice) {
  if (!std::isnan(to[0])) ++twice;
  acc.store(to, lanes);
}

// One output of a convolution, ONNX's meaning: x is (n, c, d, h, w), weight (oc, c / groups, kd, kh, kw), both
// contiguous.
struct conv_problem {
  std::ptrdiff_t images, in_c, in_d, in_h, in_w, out_c, groups;
  std::ptrdiff_t kernel[3], stride[3], dilation[3], pad[3];

  std::ptrdiff_t out(int axis) const {
    const std::ptrdiff_t in[3] = {in_d, in_h, in_w};
    return (in[axis] + 2 * pad[axis] - dilation[axis] * (kernel[axis] - 1) - 1) / stride[axis] + 1;
  }

  double at(const std::vector<float>& x, const std::vector<float>& weight, std::ptrdiff_t n, std::ptrdiff_t oc,
            std::ptrdiff_t z, std::ptrdiff_t y, std::ptrdiff_t column) const {
    const std::ptrdiff_t ic = in_c / groups, group = oc / (out_c / groups);
    double sum = 0;
    for (std::ptrdiff_t c = 0; c < ic; ++c)
      for (std::ptrdiff_t kd = 0; kd < kernel[0]; ++kd)
        for (std::ptrdiff_t ky = 0; ky < kernel[1]; ++ky)
          for (std::ptrdiff_t kx = 0; kx < kernel[2]; ++kx) {
            const std::ptrdiff_t iz = z * stride[0] + kd * dilation[0] - pad[0];
            const std::ptrdiff_t iy = y * stride[1] + ky * dilation[1] - pad[1];
            const std::ptrdiff_t ix = column * stride[2] + kx * dilation[2] - pad[2];
            if (iz < 0 || iz >= in_d || iy < 0 || iy >= in_h || ix < 0 || ix >= in_w) continue;
            const auto at_x = (((n * in_c + group * ic + c) * in_d + iz) * in_h + iy) * in_w + ix;
            const auto at_w = (((oc * ic + c) * kernel[0] + kd) * kernel[1] + ky) * kernel[2] + kx;
            sum += static_cast<double>(x[static_cast<std::size_t>(at_x)]) *
                   static_cast<double>(weight[static_cast<std::size_t>(at_w)]);
          }
    return sum;
  }
};

}  // namespace reference
