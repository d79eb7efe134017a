// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// Depthwise convolution, and such in groups of few channels, against plain loops in double: channel counts off the
// vector width, strides, dilation, batch, depth.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/depthwise.hpp>

#include "conv_check.hpp"
#include "tests/support/thoroughly.hpp"

using namespace dnnkit::cpu;
using namespace reference;

namespace {

constexpr conv_attributes channelwise(index_t channels, index_t kernel, index_t stride = 1, index_t dilation = 1) {
  return reference::square(channels, channels, kernel, stride, dilation, channels);
}

}  // namespace

TEST_CASE("random sizes at run time") {
  check_random<depthwise, channelwise(19, 3, 2)>(4);
  check_random<depthwise, channelwise(33, 3, 1, 2)>(3);
  harness::thoroughly([](auto) { check_random<depthwise, channelwise(7, 7, 3)>(3); });
}

// Channels, groups of so many of them.
constexpr conv_attributes grouped(index_t channels, index_t group, index_t kernel, index_t stride = 1,
                                  index_t dilation = 1) {
  return reference::square(channels, channels, kernel, stride, dilation, channels / group);
}
TEST_CASE("groups of several channels") {
  check_random<depthwise, grouped(2 * float_lanes, 2, 3)>(3);
  check_random<depthwise, grouped(float_lanes + 2, 2, 3, 2)>(3);
  check_random<depthwise, grouped(float_lanes + float_lanes / 2, float_lanes / 2, 3, 1, 2)>(3);
  check_known<depthwise, grouped(3 * float_lanes, float_lanes / 2, 3, 2), 17, 28, 1>(2);
  harness::thoroughly([](auto) {
    check_random<depthwise, grouped(float_lanes + 2, 2, 2, 3)>(3);
    check_known<depthwise, grouped(2 * float_lanes, float_lanes / 2, 3), 14, 14, 1>(1);
    check_known<depthwise, grouped(float_lanes + 2, 2, 5, 2), 15, 29, 2>(2);
  });
}
TEST_CASE("three dimensions") {
  check_run_time<depthwise, conv_attributes{.in_channels = 10,
                                            .out_channels = 10,
                                            .groups = 10,
                                            .kernel_d = 3,
                                            .kernel_h = 2,
                                            .kernel_w = 3,
                                            .stride_d = 2}>(2, 5, 6, 9, 1, 1, 1);
}

TEST_CASE("known sizes") {
  check_known<depthwise, channelwise(32, 3), 14, 14, 1>(1);
  check_known<depthwise, channelwise(24, 7), 7, 7, 3>(1);
  harness::thoroughly([](auto) { check_known<depthwise, channelwise(20, 5, 2), 15, 29, 2>(2); });
}
