// SPDX-License-Identifier: MIT
// Convolution, channels first, against plain loops in double: narrow channel counts, every width up to several vectors,
// groups, batch.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/planar.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../reference.hpp"

using namespace dnnkit::cpu;

namespace {

// The input has exactly the slack that the kernel asks for.
template <conv_attributes A, class Height, class Width>
void check(Height out_h, Width out_w, index_t images, index_t pad) {
  const index_t h = (out_h - 1) * A.stride_h + A.dilation_h * (A.kernel_h - 1) + 1 - 2 * pad;
  const index_t w = out_w + A.dilation_w * (A.kernel_w - 1) - 2 * pad;
  if (h < 1 || w < 1) return;
  CAPTURE(h);
  CAPTURE(w);
  const reference::conv_problem p{.images = images,
                                  .in_c = A.in_channels,
                                  .in_d = 1,
                                  .in_h = h,
                                  .in_w = w,
                                  .out_c = A.out_channels,
                                  .groups = A.groups,
                                  .kernel = {1, A.kernel_h, A.kernel_w},
                                  .stride = {1, A.stride_h, 1},
                                  .dilation = {1, A.dilation_h, A.dilation_w},
                                  .pad = {0, pad, pad}};
  const auto x = reference::values(images * A.in_channels * h * w);
  const auto weight = reference::values(A.out_channels * A.reduction()), bias = reference::values(A.out_channels);
  const index_t row = w + 2 * pad, plane = (h + 2 * pad) * row, image = A.in_channels * plane;
  std::vector<float> input(static_cast<std::size_t>(images * image + float_lanes - 1));
  std::size_t from = 0;
  for (index_t c = 0; c < images * A.in_channels; ++c)
    for (index_t y = 0; y < h; ++y)
      for (index_t column = 0; column < w; ++column)
        input[static_cast<std::size_t>(c * plane + (y + pad) * row + column + pad)] = x[from++];

  const planar_conv<A, Height, Width> conv{.out_h = out_h,
                                           .out_w = out_w,
                                           .row_stride = row,
                                           .plane_stride = plane,
                                           .images = images,
                                           .image_stride = image};
  std::vector<float> packed(static_cast<std::size_t>(conv.packed_size())),
      start(static_cast<std::size_t>(conv.bias_size()));
  conv.pack(weight.data(), packed.data());
  conv.pack_bias(bias.data(), start.data());
  std::vector<float> out(static_cast<std::size_t>(images * A.out_channels * out_h * out_w),
                         std::numeric_limits<float>::quiet_NaN());
  std::vector<index_t> cuts{0, conv.units(), reference::pick(0, conv.units()), reference::pick(0, conv.units())};
  std::sort(cuts.begin(), cuts.end());
  index_t twice = 0;
  for (std::size_t i = cuts.size() - 1; i > 0; --i)
    conv.run(input.data(), packed.data(), start.data(), cuts[i - 1], cuts[i],
             [&](float_vec acc, index_t n, index_t oc, index_t y, index_t column, auto lanes) {
               float* to = out.data() + ((n * A.out_channels + oc) * out_h + y) * out_w + column;
               reference::store_once(acc, to, lanes, twice);
             });
  index_t wrong = 0;
  std::size_t at = 0;
  for (index_t n = 0; n < images; ++n)
    for (index_t oc = 0; oc < A.out_channels; ++oc)
      for (index_t y = 0; y < out_h; ++y)
        for (index_t column = 0; column < out_w; ++column) {
          const double want =
              p.at(x, weight, n, oc, 0, y, column) + static_cast<double>(bias[static_cast<std::size_t>(oc)]);
          if (!(std::abs(static_cast<double>(out[at++]) - want) <= 1e-6 * (2 + static_cast<double>(A.reduction()))))
            ++wrong;
        }
  CHECK(wrong == 0);
  CHECK(twice == 0);
}

constexpr conv_attributes square(index_t in, index_t out, index_t kernel, index_t groups = 1, index_t dilation = 1) {
  return {.in_channels = in,
          .out_channels = out,
          .groups = groups,
          .kernel_h = kernel,
          .kernel_w = kernel,
          .dilation_h = dilation,
          .dilation_w = dilation};
}

}  // namespace

TEST_CASE("every width at run time") {
  for (index_t w = 1; w <= 5 * float_lanes + 1; ++w) check<square(3, 7, 3)>(index_t(2), w, 1, 1);
}

TEST_CASE("random sizes at run time") {
  for (int round = 0; round < 6; ++round) {
    check<square(20, 24, 3)>(reference::pick(1, 6), reference::pick(1, 70), reference::pick(1, 2), 1);
    check<square(24, 29, 1)>(reference::pick(1, 6), reference::pick(1, 70), reference::pick(1, 2), 0);
    check<square(3, 12, 5)>(reference::pick(1, 6), reference::pick(1, 70), 1, 2);
    check<square(6, 10, 3, 2, 2)>(reference::pick(1, 6), reference::pick(1, 70), 2, reference::pick(0, 2));
    check<conv_attributes{.in_channels = 4, .out_channels = 5, .kernel_h = 3, .kernel_w = 2, .stride_h = 2}>(
        reference::pick(1, 6), reference::pick(1, 70), 1, 0);
  }
}

TEST_CASE("known sizes") {
  check<square(5, 12, 3)>(constant<4>{}, constant<32>{}, 1, 1);
  check<square(5, 20, 1)>(constant<3>{}, constant<45>{}, 2, 0);
}
