// SPDX-License-Identifier: MIT
// LABELS: sanitize
// Tests of images as planes of numbers, and back.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "examples/support/planes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tests/support/error_of.hpp"

using dnnkit::examples::image;
using bytes = std::vector<std::uint8_t>;

TEST_CASE("planes of red, green and blue; alpha is left out") {
  CHECK(to_planes(image{2, 1, 3, {0, 51, 255, 102, 153, 204}}) == std::vector<float>{0, 0.4f, 0.2f, 0.6f, 1, 0.8f});
  CHECK(to_planes(image{1, 1, 4, {0, 51, 255, 77}}) == std::vector<float>{0, 0.2f, 1});
}

TEST_CASE("doubled images are clamped and rounded to the nearest number") {
  const image low{1, 1, 3, {1, 2, 3}};
  const std::vector<float> planes{0, 1, -3, 7, 0.5f, 0.4f / 255, 0.6f / 255, 254.4f / 255, 0.2f, 0.4f, 0.6f, 0.8f};
  const image high = to_doubled_image(planes, low);
  CHECK(size_text(high) == "2x2");
  CHECK(high.channels == 3);
  CHECK(high.pixels == bytes{0, 128, 51, 255, 0, 102, 0, 1, 153, 255, 254, 204});
}

TEST_CASE("alpha is repeated") {
  const image low{2, 2, 4, {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4}};
  const image high = to_doubled_image(std::vector<float>(48, 0), low);
  bytes alpha;
  for (std::size_t p = 0; p < 16; ++p) alpha.push_back(high.pixels[4 * p + 3]);
  CHECK(alpha == bytes{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4});
}

TEST_CASE("another number of samples") {
  CHECK(error_of([] {
          return to_doubled_image(std::vector<float>(11), image{1, 1, 3, {1, 2, 3}});
        }) == "to_doubled_image: planes have another size, expected 12 samples, found 11");
}
