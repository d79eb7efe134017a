// SPDX-License-Identifier: MIT
// LABELS: sanitize
// Tests of the peak signal-to-noise ratio, against numbers worked out by hand.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "examples/support/image.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/error_of.hpp"

using dnnkit::examples::image;
using dnnkit::examples::psnr;

static image filled(std::size_t width, std::size_t height, std::size_t channels, std::uint8_t value) {
  return {width, height, channels, std::vector<std::uint8_t>(width * height * channels, value)};
}

TEST_CASE("the ratio of constant differences") {
  // Off by 1 everywhere: 20 log10(255); by 255: 0 dB; one sample of 3 * 4 off by 6: mean squared error 3.
  CHECK(psnr(filled(5, 3, 3, 7), filled(5, 3, 3, 8)) == doctest::Approx(48.130803608679));
  CHECK(psnr(filled(5, 3, 3, 255), filled(5, 3, 3, 0)) == doctest::Approx(0).epsilon(1e-12));
  image one_off = filled(2, 2, 3, 100);
  one_off.pixels[7] = 94;
  CHECK(psnr(filled(2, 2, 3, 100), one_off) == doctest::Approx(10 * std::log10(65025.0 / 3)));
  CHECK(std::isinf(psnr(one_off, one_off)));
}

TEST_CASE("alpha does not count") {
  image with_alpha = filled(4, 4, 4, 9);
  for (std::size_t i = 3; i < with_alpha.pixels.size(); i += 4) with_alpha.pixels[i] = 200;
  CHECK(std::isinf(psnr(filled(4, 4, 3, 9), with_alpha)));
  CHECK(psnr(with_alpha, filled(4, 4, 3, 10)) == doctest::Approx(48.130803608679));
}

TEST_CASE("planes that are not rounded") {
  // Off by 0.25 of 255 everywhere is 20 log10(4) dB better than off by 1.
  const image reference{2, 1, 4, {10, 20, 30, 0, 40, 50, 60, 0}};
  std::vector<float> planes;
  for (const double sample : {10.25, 40.25, 20.25, 50.25, 30.25, 60.25})
    planes.push_back(static_cast<float>(sample / 255));
  CHECK(psnr(reference, planes) == doctest::Approx(48.130803608679 + 12.041199826559).epsilon(1e-6));
}

TEST_CASE("images that cannot be compared") {
  CHECK(error_of([] { return psnr(filled(4, 5, 3, 0), std::vector<float>(59)); }) ==
        "psnr: images differ in size, expected 60 samples, found 59");
  CHECK(error_of([] { return psnr(filled(4, 5, 3, 0), filled(5, 4, 3, 0)); }) ==
        "psnr: images differ in size, expected 4x5, found 5x4");
  CHECK(error_of([] { return psnr(filled(0, 5, 3, 0), filled(0, 5, 3, 0)); }) == "psnr: images are empty");
}
