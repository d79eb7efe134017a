// SPDX-License-Identifier: MIT
// Which family of kernels carries out the anchor of a recipe.
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/plan/recipe.hpp"

namespace dnnkit::cpu {

// Those of convolutions, products and pools fall back on `point` where the element type or the layout is not theirs.
enum class kernel_family : std::uint8_t { map, convolution, product, row, pool, concat, point, whole };

constexpr kernel_family family_of(const operator_tag& anchor) {
  if (anchor.id == operator_id::none) return kernel_family::map;
  if (anchor.kind == form::row || anchor.kind == form::reduction) return kernel_family::row;
  if (anchor.kind == form::whole) return kernel_family::whole;
  if (anchor.id == id_of<op::conv>) return kernel_family::convolution;
  if (anchor.id == id_of<op::matmul>) return kernel_family::product;
  if (anchor.id == id_of<op::concat>) return kernel_family::concat;
  if (anchor.id == id_of<op::max_pool> || anchor.id == id_of<op::average_pool>) return kernel_family::pool;
  return kernel_family::point;
}

}  // namespace dnnkit::cpu
