// SPDX-License-Identifier: MIT
// The kernel of a group without an anchor: a work-item computes an element of each output.
#pragma once

#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

template <class Set> constexpr void write_map(recipe_writer<Set>& w) {
  w.comment_operators();
  w.begin_elements();
  tree_writer<Set>(w, 'c').store_outputs();
  w.end();
}

}  // namespace dnnkit::opencl
