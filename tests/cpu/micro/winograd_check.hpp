// SPDX-License-Identifier: MIT
// The error of a kernel by Winograd's algorithm over random data, against plain loops in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "conv_check.hpp"

namespace reference {

// Outputs in double, of all or of some channels: those whose number is a multiple of `every`.
struct expected_outputs {
  std::vector<double> all;
  double largest = 0;
};
expected_outputs expected(const conv_problem& p, const std::vector<float>& x, const std::vector<float>& weight,
                          const std::vector<float>& bias, index_t every) {
  expected_outputs e;
  for (index_t n = 0; n < p.images; ++n)
    for (index_t z = 0; z < p.out(0); ++z)
      for (index_t y = 0; y < p.out(1); ++y)
        for (index_t column = 0; column < p.out(2); ++column)
          for (index_t oc = 0; oc < p.out_c; oc += every) {
            const double sum = p.at(x, weight, n, oc, z, y, column);
            e.all.push_back(bias.empty() ? sum : sum + static_cast<double>(bias[static_cast<std::size_t>(oc)]));
            e.largest = std::max(e.largest, std::abs(e.all.back()));
          }
  return e;
}

// Do lanes of what an epilogue is given run along x?
template <class Kernel> constexpr bool runs_along_rows() {
  if constexpr (requires { Kernel::along_rows; }) return Kernel::along_rows;
  else return false;
}

// Does it ask for its input row by row?
template <class Kernel> constexpr bool takes_rows() {
  if constexpr (requires { Kernel::takes_rows; }) return Kernel::takes_rows;
  else return false;
}

// The largest error, as a part of the largest output. Work is cut at random; what nobody may read is NaN.
template <class Kernel>
double error_of(const conv_problem& p, const Kernel& kernel, const haloed& input, const std::vector<float>& x,
                bool with_bias, index_t every = 1) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const index_t od = p.out(0), oh = p.out(1), ow = p.out(2);
  const auto weight = values(p.out_c * (p.in_c / p.groups) * p.kernel[0] * p.kernel[1] * p.kernel[2]);
  const auto bias = values(with_bias ? p.out_c : 0);
  std::vector<float> bounded = input.data;  // behind it nothing that may be computed with
  bounded.insert(bounded.end(), static_cast<std::size_t>(6 * input.row_stride), none);
  std::vector<float> packed(static_cast<std::size_t>(kernel.packed_size())),
      start(static_cast<std::size_t>(kernel.bias_size())), room(static_cast<std::size_t>(kernel.room()), none);
  kernel.pack(weight.data(), packed.data());
  if (with_bias) kernel.pack_bias(bias.data(), start.data());
  std::vector<float> out(static_cast<std::size_t>(p.images * od * oh * ow * p.out_c), none);
  // some pixels of a row, where the kernel asks for them
  const auto pixels_of = [&](index_t n, index_t y, index_t column, index_t pixels, float* to) {
    for (index_t i = 0; i < pixels; ++i)
      std::copy_n(
          input.data.begin() + n * input.image_stride + y * input.row_stride + (column + i) * input.pixel_stride,
          p.in_c, to + i * p.in_c);
  };
  const auto source = [&] {
    if constexpr (takes_rows<Kernel>()) return pixels_of;
    else return static_cast<const float*>(bounded.data());
  }();
  index_t twice = 0;
  const auto run = [&](index_t first, index_t last, std::vector<float>& to) {
    kernel.run(
        source, packed.data(), with_bias ? start.data() : nullptr, first, last,
        [&](float_vec acc, index_t n, index_t y, index_t column, index_t oc, auto lanes) {
          const index_t at = runs_along_rows<Kernel>() ? ((n * p.out_c + oc) * oh + y) * ow + column
                                                       : ((n * oh + y) * ow + column) * p.out_c + oc;
          store_once(acc, to.data() + at, lanes, twice);
        },
        room.data());
  };
  std::vector<index_t> cuts{0, kernel.units(), pick(0, kernel.units()), pick(0, kernel.units())};
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t i = cuts.size() - 1; i > 0; --i) run(cuts[i - 1], cuts[i], out);
  CHECK(twice == 0);
  std::vector<float> at_once(out.size(), none);
  run(0, kernel.units(), at_once);
  CHECK(std::equal(out.begin(), out.end(), at_once.begin()));  // whatever the cuts are, and where there is a NaN not

  const expected_outputs want = expected(p, x, weight, bias, every);
  double error = 0;
  std::size_t next = 0;
  const index_t pixels = oh * ow, images = p.images * od;
  for (index_t n = 0; n < images; ++n)
    for (index_t pixel = 0; pixel < pixels; ++pixel)
      for (index_t oc = 0; oc < p.out_c; oc += every) {
        const index_t at =
            runs_along_rows<Kernel>() ? (n * p.out_c + oc) * pixels + pixel : (n * pixels + pixel) * p.out_c + oc;
        error = std::max(error, std::abs(static_cast<double>(out[static_cast<std::size_t>(at)]) - want.all[next++]));
      }
  return error / want.largest;
}

}  // namespace reference
