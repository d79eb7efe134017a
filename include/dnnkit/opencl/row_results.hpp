// SPDX-License-Identifier: MIT
// What kernels of rows write at the end, once x0, x1 ... are coordinates of the input: all outputs of the recipe, at
// the coordinates c0, c1 ... that belong to them.
#pragma once

#include <cstddef>
#include <span>

#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

// Row operators: an element of the output for each of the input, at the same coordinates.
template <class Set>
constexpr void store_element(recipe_writer<Set>& w, std::span<const local_extent> extents, const expression& y) {
  for (std::size_t d = 0; d < extents.size(); ++d) w.out << "const int c" << d << "=x" << d << ";\n";
  tree_writer<Set>(w, 'c', y).store_outputs();
}
// Reductions: one element a row, whose axes are 0 in the output or not there.
template <class Set>
constexpr void store_row(recipe_writer<Set>& w, std::span<const local_extent> extents, axis_set row,
                         const expression& y) {
  const bool keeps_axes = w.space().size() == extents.size();
  for (std::size_t d = 0, to = 0; d < extents.size(); ++d)
    if (!row.has(d)) w.out << "const int c" << to++ << "=x" << d << ";\n";
    else if (keeps_axes) w.out << "const int c" << to++ << "=0;\n";
  tree_writer<Set>(w, 'c', y).store_outputs();
}

}  // namespace dnnkit::opencl
