// SPDX-License-Identifier: MIT
// The kernel of a matrix product in tiles (tiled_loop.hpp): batched, with operands through any strided view.
#pragma once

#include "dnnkit/opencl/product_shape.hpp"
#include "dnnkit/opencl/tiled_loop.hpp"
#include "dnnkit/opencl/tree_writer.hpp"

namespace dnnkit::opencl {

// a: what is staged of the first factor.
template <class Set>
constexpr void write_tiled_product(recipe_writer<Set>& w, const product_shape<Set>& shape, const product_tile& tile,
                                   const auto& a) {
  const product_operand<Set> b{shape, w.input(1), 'y', shape.walk_of_b()};
  tiled_loop<Set>(w, shape.extents, {.count = shape.extents.k}, tile).write(a, b, [&](const expression& sum) {
    shape.write_result();
    tree_writer<Set>(w, 'c', sum).store_outputs();
  });
}
template <class Set>
constexpr void write_tiled_product(recipe_writer<Set>& w, const product_shape<Set>& shape, const product_tile& tile) {
  const std::size_t rank = shape.rank_of_a();
  const staged_walk walk = walk_of(w, 0, rank - 1, rank, shape.first_row(), shape.last_row());
  write_tiled_product(w, shape, tile, product_operand<Set>{shape, w.input(0), 'x', walk});
}

}  // namespace dnnkit::opencl
