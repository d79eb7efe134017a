// SPDX-License-Identifier: MIT
// LABELS: no_sanitize slow
// Winograd's convolutions of windows wider than three taps and many channels: the largest error is within what is said.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "wide_winograd_problem.hpp"

using namespace reference;

TEST_CASE("the errors of many channels") {
  const auto check = [](double error, double allowed) {
    CHECK(error <= allowed);
    CHECK(error > 1e-9);
    MESSAGE("error " << error << " of " << allowed);
  };
  constexpr wide_winograd_attributes many{.in_channels = 256, .out_channels = 64, .taps_h = 5, .taps_w = 5};
  check(error_of_known<many, 18, 18>(1, 4), allowed_of(many));
  constexpr wide_winograd_attributes wide{.in_channels = 128, .out_channels = 40, .taps_h = 9, .taps_w = 9};
  check(error_of_known<wide, 20, 20>(1, 3), allowed_of(wide));
  constexpr wide_winograd_attributes pose{.in_channels = 185, .out_channels = 33, .taps_h = 7, .taps_w = 7};
  check(error_of_known<pose, 20, 20>(1, 3), allowed_of(pose));
  constexpr wide_winograd_attributes most{.in_channels = 256, .out_channels = 32, .taps_h = 8, .taps_w = 9};
  check(error_of_known<most, 20, 20>(1, 3), allowed_of(most));
  constexpr wide_winograd_attributes along{
      .in_channels = 160, .out_channels = 2, .taps_h = 7, .taps_w = 7, .along_rows = true, .strip = 1};
  check(error_of_known<along, 20, 70>(1), allowed_of(along));
  constexpr wide_winograd_attributes across{.in_channels = 256, .out_channels = 64, .taps_h = 1, .taps_w = 7};
  check(error_of_known<across, 17, 23>(1, 2), allowed_of(across));
  constexpr wide_winograd_attributes down{.in_channels = 192, .out_channels = 64, .taps_h = 9, .taps_w = 1};
  check(error_of_known<down, 25, 17>(1, 2), allowed_of(down));
}
