// SPDX-License-Identifier: MIT
// Which family of kernels a product or a convolution belongs to, and why.
#pragma once

#include <cstdint>
#include <string_view>

#include "dnnkit/cost/accuracy.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/opencl/depthwise.hpp"
#include "dnnkit/opencl/depthwise_windows.hpp"
#include "dnnkit/opencl/lines_of_product.hpp"
#include "dnnkit/opencl/tiled_convolution.hpp"
#include "dnnkit/opencl/tiled_product.hpp"
#include "dnnkit/opencl/tiled_windows.hpp"
#include "dnnkit/opencl/winograd.hpp"

namespace dnnkit::opencl {

enum class family : std::uint8_t { elements, tiles, lines, depthwise, depthwise_windows, windows, winograd };

constexpr std::string_view name(family f) {
  constexpr std::string_view names[] = {"elements",          "tiles",   "lines",   "depthwise",
                                        "depthwise windows", "windows", "Winograd"};
  return names[static_cast<std::size_t>(f)];
}

struct family_choice {
  family chosen = family::elements;
  std::string_view reason;
  product_tile tile{};  // of tiles
  window_tile windows{};
  depthwise_tile depthwise{};
  winograd_tile winograd{};
};

// Of a product or convolution of f32 whose extents are known.
constexpr family_choice choose_product_family(const product_extents& x) {
  constexpr std::int64_t shortest = 8;
  if (x.m == 0 || x.n == 0 || x.batch == 0 || x.k < shortest) return {family::elements, "K is too short to be staged"};
  if (x.m <= few_lines || x.n <= few_lines)
    return {family::lines, "few rows or columns: the other operand is read once"};
  return {family::tiles, "both operands are read from local memory", choose_product_tile(x)};
}
// Whose sums are within the accuracy that is allowed.
template <class Set>
constexpr family_choice choose_convolution_family(const convolution_shape<Set>& c, accuracy allowed = {}) {
  constexpr std::int64_t shortest = 8, fewest_channels = 8, longest_strip = 64;
  const std::size_t last = c.axes - 1;
  if (c.extents.m == 0 || c.extents.n == 0 || c.extents.batch == 0) return {family::elements, "nothing to compute"};
  if (c.axes == 2 && c.in == 1 && c.out == 1 && c.op.group > 1 && c.over.taps() > 1)
    if (const depthwise_tile t = choose_depthwise_tile(depthwise_extents_of(c)); t.px != 0)
      return {family::depthwise_windows,
              "a channel of the input a channel of the output, read from local memory",
              {},
              {},
              t};
  if (c.in == 1 && c.op.group > 1 && 3 * c.over.stride(last) + c.over.reach(last) <= longest_strip)
    return {family::depthwise, "a channel of the input a channel of the output: strips are read once"};
  if (c.extents.k < shortest) return {family::elements, "K is too short to be staged"};
  if (c.out < fewest_channels) return {family::elements, "too few output channels of a group for a tile's rows"};
  const auto tile = [&] {
    const staged_depth d = c.depth();
    return choose_product_tile(c.extents, d.channels == 0 ? 0 : c.depth_of(d.channels * d.period));
  };
  if (c.axes == 2 && c.has_overlap()) {
    const window_extents x = window_extents_of(c);
    const window_tile t = choose_window_tile(x);
    const double direct = t.px != 0 ? detail::clocks_of_windows(x, t, {})
                                    : detail::clocks_of_tile(c.extents, tile(), {}) - detail::clocks_of_launch;
    if (is_for_winograd(x) && allowed.billionths >= error_of_winograd.billionths && !c.w.writes_texels())
      if (const winograd_tile w = choose_winograd_tile(x); detail::clocks_of_winograd(x, w, {}) < direct)
        return {family::winograd, "4 of 9 multiplications are expected to be worth the transformations", {}, {}, {}, w};
    if (t.px != 0)
      return {family::windows, "what windows see is read from local memory, and staged once for all of them", {}, t};
  }
  return {family::tiles, "weights and gathered pixels are read from local memory", tile()};
}

// Of the recipe that w writes.
template <class Set> constexpr family_choice choose_family(recipe_writer<Set>& w, accuracy allowed = {}) {
  if (!detail::has_known_extents(w)) return {family::elements, "extents are not known before the network runs"};
  if (w.self.anchor.id == id_of<op::matmul>) return choose_product_family(product_shape<Set>(w).extents);
  if (w.self.anchor.id == id_of<op::conv>) return choose_convolution_family(convolution_shape<Set>(w), allowed);
  return {family::elements, "no product"};
}

// Writes the kernel of a product or a convolution that is chosen another family than elements; false for those.
template <class Set> constexpr bool write_chosen_family(recipe_writer<Set>& w, const family_choice& choice) {
  const bool is_product = w.self.anchor.id == id_of<op::matmul>;
  switch (choice.chosen) {
    case family::elements:
      return false;
    case family::lines: {
      const product_shape<Set> shape(w);
      lines_of_product<Set>(w, shape).write();
      return true;
    }
    case family::depthwise:
      write_depthwise(convolution_shape<Set>(w));
      return true;
    case family::depthwise_windows:
      depthwise_windows<Set>(convolution_shape<Set>(w), choice.depthwise).write();
      return true;
    case family::windows:
      tiled_windows<Set>(convolution_shape<Set>(w), choice.windows).write();
      return true;
    case family::winograd:
      winograd_windows<Set>(convolution_shape<Set>(w), choice.winograd).write();
      return true;
    case family::tiles:
      if (is_product) write_tiled_product(w, product_shape<Set>(w), choice.tile);
      else write_tiled_convolution(convolution_shape<Set>(w), choice.tile);
      return true;
  }
  return false;
}

}  // namespace dnnkit::opencl
