// SPDX-License-Identifier: MIT
// Convolution, channels last, against plain loops in double: strides, dilation, groups, batch, depth, known and
// run-time sizes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/conv.hpp>

#include "conv_check.hpp"
#include "tests/support/thoroughly.hpp"

using namespace dnnkit::cpu;
using namespace reference;

TEST_CASE("random sizes at run time") {
  check_random<conv, square(3, 16, 3)>(4);
  check_random<conv, square(6, 70, 3, 1, 2)>(3);
  check_random<conv, square(8, 12, 3, 2, 2, 4)>(3);
  harness::thoroughly([](auto) {
    check_random<conv, square(5, 20, 3, 2)>(4);
    check_random<conv, square(3, 7, 5, 3)>(3);
  });
}

TEST_CASE("a kernel that is not square, one dimension, three dimensions") {
  check_run_time<conv,
                 conv_attributes{.in_channels = 3, .out_channels = 18, .kernel_h = 3, .kernel_w = 1, .stride_h = 2}>(
      2, 1, 9, 6, 0, 1, 0);
  check_run_time<conv, conv_attributes{.in_channels = 4,
                                       .out_channels = 17,
                                       .kernel_d = 3,
                                       .kernel_h = 3,
                                       .kernel_w = 2,
                                       .stride_d = 2,
                                       .stride_w = 2,
                                       .dilation_d = 2,
                                       .dilation_h = 2}>(2, 7, 6, 9, 2, 2, 1);
  harness::thoroughly([](auto) {
    check_run_time<conv, conv_attributes{.in_channels = 5, .out_channels = 9, .kernel_w = 7, .dilation_w = 2}>(
        1, 1, 1, 33, 0, 0, 6);
  });
}

TEST_CASE("panels of a width that is asked for") {
  constexpr auto in_panels_of = [](int vectors) {
    conv_attributes a = square(5, 70, 3);
    a.panel_vectors = vectors;
    return a;
  };
  static_assert(conv<in_panels_of(1)>::panel_vectors == 1 && conv<in_panels_of(2)>::panel_vectors == 2);
  check_known<conv, in_panels_of(2), 9, 14, 1>(1);
  harness::thoroughly([&](auto) { check_known<conv, in_panels_of(1), 9, 14, 1>(1); });
}

TEST_CASE("known sizes") {
  check_known<conv, square(3, 64, 7, 2), 30, 30, 3>(1);
  check_known<conv, square(16, 64, 3), 7, 7, 1>(2);
  check_known<conv, square(6, 80, 3, 1, 1, 2), 7, 14, 1>(1);
  harness::thoroughly([](auto) {
    check_known<conv, square(16, 40, 3, 2), 15, 29, 1>(1);
    check_known<conv, square(9, 24, 3), 1, 1, 1>(2);
  });
}

TEST_CASE("1x1 without halo is a GEMM over all pixels") {
  constexpr conv_attributes dense{.in_channels = 24, .out_channels = 50, .dense = true};
  static_assert(dense.is_gemm());
  check_known<conv, dense, 14, 14, 0>(1);
  check_run_time<conv, dense>(2, 1, 5, 3, 0, 0, 0);
  check_run_time<conv, dense>(1, 1, 1, 1, 0, 0, 0);
  check_run_time<conv, dense>(1, 1, 13, 31, 0, 0, 0);
  check_run_time<conv, dense>(1, 1, 31, 1, 0, 0, 0);
  harness::thoroughly([](auto) { check_known<conv, dense, 3, 5, 0>(2); });
}
