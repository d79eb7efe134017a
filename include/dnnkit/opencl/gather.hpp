// SPDX-License-Identifier: MIT
// The kernel of Gather: a work-item computes an element of the output, from the slice that its index says. As on the
// processor, an index outside the axis is taken for the one next to it.
#pragma once

#include <cstddef>

#include "dnnkit/op/gather.hpp"
#include "dnnkit/opencl/recipe_writer.hpp"
#include "dnnkit/operator/attributes.hpp"

namespace dnnkit::opencl {

template <class Set> constexpr void write_gather(recipe_writer<Set>& w) {
  const std::size_t rank = w.input_shape(0).size(), width = w.input_shape(1).size(),
                    chosen = decode<op::gather>(w.anchor_codes()).along(rank);
  const local_extent length = w.input_shape(0)[chosen];
  w.comment_nodes();
  w.begin_elements();
  for (std::size_t d = 0; d < width; ++d) w.out << "const int j" << d << "=c" << chosen + d << ";\n";
  const expression index = tree_writer<Set>(w, 'j')(w.input(1), w.self.anchor.name);
  for (std::size_t d = 0; d < rank; ++d)
    if (d != chosen) w.out << "const int x" << d << "=c" << (d < chosen ? d : d + width - 1) << ";\n";
  w.out << "const int x" << chosen << "=clamp(" << index << ",-(long)" << length << ",(long)" << length << "-1)+("
        << index << "<0?" << length << ":0);\n";
  const expression element = tree_writer<Set>(w, 'x')(w.input(0), w.self.anchor.name);
  tree_writer<Set>(w, 'c', element).store_outputs();
  w.end();
}

}  // namespace dnnkit::opencl
