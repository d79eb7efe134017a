// SPDX-License-Identifier: MIT
// Sorting in constant expressions: a merge sort, whose few steps compilers evaluate several times faster than
// std::sort.
#pragma once

#include <cstddef>

#include "dnnkit/core/vector.hpp"

namespace dnnkit {

// Stable; before(a, b): a comes in front of b. Takes time in proportion to the elements when they are in order already.
template <class T, class Before> constexpr void merge_sort(vector<T>& list, Before before) {
  const std::size_t n = list.count;
  T* const from = list.items;
  vector<T> merged;
  for (std::size_t width = 1; width < n; width *= 2)
    for (std::size_t first = 0; first + width < n; first += 2 * width) {
      const std::size_t middle = first + width, last = n - middle < width ? n : middle + width;
      if (!before(from[middle], from[middle - 1])) continue;
      merged.clear();
      std::size_t i = first, j = middle;
      while (i < middle && j < last) merged.push_back(before(from[j], from[i]) ? from[j++] : from[i++]);
      while (i < middle) merged.push_back(from[i++]);
      for (std::size_t k = 0; k < merged.count; ++k) from[first + k] = merged.items[k];
    }
}

}  // namespace dnnkit
