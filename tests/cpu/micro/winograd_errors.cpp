// SPDX-License-Identifier: MIT
// LABELS: no_sanitize slow
// Winograd's convolutions of many channels: the largest error is within what is said of tiles of 2, 4 and 6 outputs.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>

#include "winograd_problem.hpp"

using namespace reference;

namespace {

// Reductions of 64, 256, 512 and 1024 channels, along both axes and one, in steps of one and of two.
template <int Outputs> void check_long_reductions() {
  const auto worst = [](auto... errors) { return std::max({errors...}); };
  using a = winograd_attributes;
  const double along_both = worst(
      error_of_known<a{.in_channels = 64, .out_channels = 64, .outputs = Outputs, .block = 12}, 1, 28, 28>(7),
      error_of_known<a{.in_channels = 256, .out_channels = 64, .outputs = Outputs, .block = 12}, 1, 14, 14>(7),
      error_of_known<a{.in_channels = 512, .out_channels = 128, .outputs = Outputs, .block = 24, .parts = 2}, 1, 14,
                     14>(7),
      error_of_known<
          a{.in_channels = 512, .out_channels = 64, .stride_h = 2, .stride_w = 2, .outputs = Outputs, .block = 12}, 1,
          14, 14>(3),
      error_of_known<a{.in_channels = 256, .out_channels = 64, .taps_d = 3, .outputs = Outputs, .block = 12}, 1, 14, 14,
                     3>(3),
      error_of_known<a{.in_channels = 1024, .out_channels = 32, .outputs = Outputs, .block = 12}, 1, 10, 14>(3));
  const double along_one = worst(
      error_of_known<a{.in_channels = 512, .out_channels = 64, .taps_h = 1, .outputs = Outputs, .block = 24}, 1, 1,
                     120>(3),
      error_of_known<a{.in_channels = 64, .out_channels = 64, .taps_w = 1, .outputs = Outputs, .block = 24}, 1, 60, 4>(
          3),
      error_of_known<
          a{.in_channels = 512, .out_channels = 64, .taps_h = 1, .stride_w = 2, .outputs = Outputs, .block = 24}, 1, 1,
          240>(3));
  MESSAGE("largest errors with tiles of " << Outputs << ": " << along_both << ", along one axis " << along_one);
  CHECK(along_both <= largest_winograd_error(Outputs, true).largest_error());
  CHECK(along_one <= largest_winograd_error(Outputs, false).largest_error());
}

}  // namespace

TEST_CASE("the error of long reductions") {
  check_long_reductions<2>();
  check_long_reductions<4>();
  check_long_reductions<6>();
}
