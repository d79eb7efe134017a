// SPDX-License-Identifier: MIT
// What weights and constants become when an element-wise operator that reads them is computed in another shape.
#pragma once

#include <cstddef>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/expand.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/tensor/atoms.hpp"

namespace dnnkit::detail {

// The shape of operand_along: of what has extents `dims` and broadcasts to `common`, and has other extents than 1 along
// some axes of s only.
constexpr shape shape_along(const atoms& parts, const shape& dims, const shape& common, const shape& s) {
  const std::size_t missing = common.size() - dims.size();
  shape along = shape::filled(s.size(), 1);
  for (std::size_t i = 0; i < parts.sizes.size(); ++i)
    if (parts.from[i] >= missing && dims[parts.from[i] - missing] != dim(1)) along[parts.to[i]] = s[parts.to[i]];
  return along;
}

// w, which broadcasts to `common`, so that it broadcasts in the same way to s, of as many elements and with atoms
// (tensor/atoms.hpp). Where an axis of s is made of an axis that w has and of one that it has not, it is repeated.
constexpr tensor operand_along(builder& b, tensor w, const shape& common, const shape& s) {
  const atoms parts = atoms_of(b.value().symbols, common, s);
  const shape dims = w.dims(), merged = shape_along(parts, dims, common, s);
  const std::size_t missing = common.size() - dims.size();
  shape split, repeated;
  bool repeats = false;
  for (std::size_t i = 0; i < parts.sizes.size(); ++i) {
    const bool has = parts.from[i] >= missing && dims[parts.from[i] - missing] != dim(1);
    split.push_back(has ? parts.sizes[i] : dim(1));
    repeated.push_back(merged[parts.to[i]] == dim(1) ? dim(1) : parts.sizes[i]);
    repeats = repeats || split[i] != repeated[i];
  }
  if (!repeats) return b.apply(op::reshape{merged}, {w});
  w = b.apply(op::reshape{split}, {w});
  w = b.apply(op::reshape{merged}, {b.apply(op::expand{repeated}, {w})});
  return b.apply(op::cast{w.type()}, {w});  // stored before the network runs, so that kernels find it in one stride
}

}  // namespace dnnkit::detail
