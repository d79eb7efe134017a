// SPDX-License-Identifier: MIT
// Images as networks take them: planes of red, green and blue, numbers from 0 to 1.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "examples/support/image.hpp"

namespace dnnkit::examples {

// 3 x height x width; alpha is left out.
inline std::vector<float> to_planes(const image& from) {
  const std::size_t pixels = from.width * from.height;
  std::vector<float> planes(3 * pixels);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t p = 0; p < pixels; ++p)
      planes[c * pixels + p] = static_cast<float>(from.pixels[p * from.channels + c]) / 255;
  return planes;
}

// The image of planes 3 x 2 height x 2 width made from `low`, clamped to 0 ... 1 and rounded to 8 bits. The alpha
// channel of `low`, if it has one, is enlarged by repeating it: edges of cut-out shapes stay hard where they were.
// Throws dnnkit::error when the number of samples is another.
inline image to_doubled_image(std::span<const float> planes, const image& low) {
  image to{2 * low.width, 2 * low.height, low.channels, {}};
  const std::size_t pixels = to.width * to.height;
  if (planes.size() != 3 * pixels)
    throw error("planes have another size", "to_doubled_image", fmt::format("{} samples", 3 * pixels),
                std::to_string(planes.size()));
  to.pixels.resize(pixels * to.channels);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t p = 0; p < pixels; ++p) {
      const float sample = std::clamp(planes[c * pixels + p], 0.0f, 1.0f) * 255;
      to.pixels[p * to.channels + c] = static_cast<std::uint8_t>(std::lrint(sample));
    }
  if (to.channels == 4)
    for (std::size_t y = 0; y < to.height; ++y)
      for (std::size_t x = 0; x < to.width; ++x)
        to.pixels[4 * (y * to.width + x) + 3] = low.pixels[4 * (y / 2 * low.width + x / 2) + 3];
  return to;
}

}  // namespace dnnkit::examples
