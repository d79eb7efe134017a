// SPDX-License-Identifier: MIT
// What kernels of several stages ask of each of them, and of what one hands to the next.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::opencl {

constexpr bool has_known_extents(const kernel_spec& s) {
  for (std::size_t d = 0; d < s.rank(); ++d)
    if (!s.space(d).is_known()) return false;
  for (std::size_t i = 0; i < s.inputs(); ++i)
    for (std::size_t d = 0; d < s.rank_of(i); ++d)
      if (!s.extent_of(i, d).is_known()) return false;
  const auto view_is_known = [&](slice_of axes, plan::local_extent offset) {
    for (const plan::view_axis& a : s.plan().axes_of(axes))
      if (!a.size.is_known() || !a.stride.is_known()) return false;
    return offset.is_known();
  };
  for (std::size_t l = 0; l < s.loads(); ++l)
    if (!view_is_known(s.load(l).axes, s.load(l).offset)) return false;
  for (std::size_t o = 0; o < s.outputs(); ++o)
    if (!view_is_known(s.output(o).axes, s.output(o).offset)) return false;
  return true;
}
// Why kernels of several stages, which compute with floats, cannot read or write what a stage does; or nothing.
constexpr std::string_view unreadable(const kernel_spec& s) {
  const auto is_float = [](dtype type) { return type == dtype::f32 || is_half(type); };
  constexpr std::string_view no_floats = "the elements are not floats of 32 or 16 bits";
  if (!is_float(s.anchor_type())) return no_floats;
  for (std::size_t l = 0; l < s.loads(); ++l) {
    if (!is_float(s.load(l).type) && s.load(l).type != dtype::boolean) return "an operand is neither a float nor bool";
    if (s.load(l).movement.count != 0) return "no strided view says where elements of an operand come from";
  }
  for (std::size_t o = 0; o < s.outputs(); ++o)
    if (!is_float(s.output(o).type)) return no_floats;
  return {};
}
// Is what one stage hands to the next read there at the coordinates that it has been computed for?
constexpr bool hands_as_it_is(const kernel_spec& from, const kernel_spec& to) {
  const plan::recipe_output& stored = from.output(0);
  for (std::size_t l = 0; l < to.loads(); ++l) {
    const plan::recipe_load& read = to.load(l);
    if (read.reach.count == 0) continue;
    if (read.operand != stored.operand || !(read.offset == stored.offset)) return false;
    for (std::size_t d = 0; d < from.rank(); ++d) {
      if (from.space(d) == 1) continue;
      const plan::lane_stride a = from.stride_along(stored.axes, d), b = to.stride_along(read, d);
      if (!a.single || !b.single || !(a.stride == b.stride)) return false;
    }
  }
  return true;
}

}  // namespace dnnkit::opencl
