// SPDX-License-Identifier: MIT
// Values in images (SmartMem, section 3.3): how large the image of a value is, and which image each is in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::plan {

// In texels.
struct image_size {
  std::int64_t width = 0, height = 0;

  constexpr std::int64_t texels() const { return width * height; }
  constexpr image_size with(const image_size& other) const {
    return {std::max(width, other.width), std::max(height, other.height)};
  }
};

// Of a buffer of known extents that lies in one.
constexpr image_size image_size_of(const buffer& b) {
  return {b.layout.texel_row / 4, b.elements.value() / b.layout.texel_row};
}

constexpr std::int64_t bytes_of(image_size size, dtype type) {
  return 4 * size.texels() * static_cast<std::int64_t>(size_of(type));
}

// Calls visit(number of an image, type of its elements, size): as large as the largest value that is in it at a time.
constexpr void for_each_image(const auto& buffers, auto visit) {
  struct image {
    dtype type;
    image_size size;
  };
  vector<image> images;
  for (const buffer& b : buffers) {
    if (b.where != storage::image) continue;
    const auto i = static_cast<std::size_t>(b.offset);
    while (images.size() <= i) images.push_back({b.type.type, {}});
    images[i] = {b.type.type, images[i].size.with(image_size_of(b))};
  }
  for (std::size_t i = 0; i < images.size(); ++i) visit(i, images[i].type, images[i].size);
}

// Says which image each buffer of that storage is in, in the order in which they are first written: of those that
// nobody is alive in, the one that grows least, or fits most closely; a new one where that takes less.
constexpr void share_images(vector<buffer>& buffers) {
  struct image {
    dtype type;
    image_size size;
    std::int32_t last;  // step that it is needed in
  };
  vector<std::size_t> order;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].where == storage::image) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return buffers[a].first != buffers[b].first ? buffers[a].first < buffers[b].first : a < b;
  });
  vector<image> images;
  for (const std::size_t i : order) {
    buffer& b = buffers[i];
    const image_size size = image_size_of(b);
    std::size_t best = images.size();
    std::int64_t least_growth = size.texels(), least_unused = std::numeric_limits<std::int64_t>::max();
    for (std::size_t k = 0; k < images.size(); ++k) {
      const image& x = images[k];
      if (x.type != b.type.type || x.last >= b.first) continue;
      const std::int64_t grown = x.size.with(size).texels();
      const std::int64_t growth = grown - x.size.texels(), unused = grown - size.texels();
      if (growth != least_growth ? growth > least_growth : unused >= least_unused) continue;
      best = k, least_growth = growth, least_unused = unused;
    }
    if (best == images.size()) images.push_back({b.type.type, {}, none});
    images[best] = {b.type.type, images[best].size.with(size), b.last};
    b.offset = static_cast<std::int64_t>(best);
  }
}

}  // namespace dnnkit::plan
