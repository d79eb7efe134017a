// SPDX-License-Identifier: MIT
// Blocks of pixels to channels and back: ONNX's DepthToSpace and SpaceToDepth, index maps like those of movement.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/op/movement.hpp"
#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace detail {

// Reshape to `blocks`, transpose, reshape to `out`: all of it, or nothing.
constexpr bool through_blocks(view_algebra& algebra, view& v, const shape& blocks, const int_list& perm,
                              const shape& out) {
  view changed = v;
  if (!algebra.reshape(changed, blocks) || !algebra.transpose(changed, perm) || !algebra.reshape(changed, out))
    return false;
  v = changed;
  return true;
}
constexpr shape permuted(const shape& s, const int_list& perm) {
  shape r;
  for (std::int64_t i : perm) r.push_back(s[static_cast<std::size_t>(i)]);
  return r;
}

}  // namespace detail

namespace op {

// Which is the outer part of the number of a channel of blocks: a block's position (dcr) or the channel (crd)?
enum class depth_to_space_mode : std::int64_t { dcr, crd };

// [N, C b b, H, W] -> [N, C, H b, W b]: blocks of channels become blocks of pixels.
struct depth_to_space {
  std::int64_t blocksize = 1;
  depth_to_space_mode mode = depth_to_space_mode::dcr;

  static constexpr std::string_view name = "DepthToSpace";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::shuffle;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("blocksize", self.blocksize);
    visit("mode", self.mode);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 4, 4)) return;
    if (!c.require(blocksize > 0 && blocksize < 65536, "blocksize must be positive and below 65536")) return;
    const dim depth = c.table().exact_div(c.in(0)[1], dim(blocksize * blocksize));
    if (!c.require(!depth.is_unknown(), "blocksize squared does not divide the channels")) return;
    c.out(c.type(0), {c.in(0)[0], depth, c.size(0, 2) * blocksize, c.size(0, 3) * blocksize});
  }
  // NCHW -> the six axes of the block reshape, and the order of n, c, y, by, x, bx among them
  constexpr shape blocks(const shape& in, const shape& out) const {
    if (mode == depth_to_space_mode::dcr) return {in[0], blocksize, blocksize, out[1], in[2], in[3]};
    return {in[0], out[1], blocksize, blocksize, in[2], in[3]};
  }
  constexpr int_list interleave() const {
    if (mode == depth_to_space_mode::dcr) return {0, 3, 4, 1, 5, 2};
    return {0, 1, 4, 2, 5, 3};
  }
  constexpr bool forward(const movement& m, view& v) const {
    return detail::through_blocks(m.algebra, v, blocks(m.in, m.out), interleave(), m.out);
  }
  constexpr bool backward(const movement& m, view& v) const {
    const shape interleaved = detail::permuted(blocks(m.in, m.out), interleave());
    return detail::through_blocks(m.algebra, v, interleaved, detail::inverse_of(interleave()), m.in);
  }
  constexpr auto at(const auto& c, const auto& o, auto x) const {
    using number = coordinate_of<decltype(o)>;
    const number size = blocksize, by = o[2] % size, bx = o[3] % size;
    const number channel =
        mode == depth_to_space_mode::dcr ? (by * size + bx) * c.out(1) + o[1] : (o[1] * size + by) * size + bx;
    return x(std::remove_cvref_t<decltype(o)>{o[0], channel, o[2] / size, o[3] / size});
  }
};

// [N, C, H b, W b] -> [N, C b b, H, W]: the inverse of DepthToSpace in the same mode
struct space_to_depth {
  std::int64_t blocksize = 1;
  depth_to_space_mode mode = depth_to_space_mode::dcr;

  static constexpr std::string_view name = "SpaceToDepth";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::shuffle;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("blocksize", self.blocksize);
    visit("mode", self.mode);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 4, 4)) return;
    if (!c.require(blocksize > 0 && blocksize < 65536, "blocksize must be positive and below 65536")) return;
    const dim height = c.table().exact_div(c.in(0)[2], dim(blocksize));
    const dim width = c.table().exact_div(c.in(0)[3], dim(blocksize));
    if (!c.require(!height.is_unknown() && !width.is_unknown(), "blocksize does not divide height and width")) return;
    c.out(c.type(0), {c.in(0)[0], c.size(0, 1) * (blocksize * blocksize), height, width});
  }
  constexpr bool forward(const movement& m, view& v) const {
    const depth_to_space inverse{blocksize, mode};
    const shape blocks = detail::permuted(inverse.blocks(m.out, m.in), inverse.interleave());
    return detail::through_blocks(m.algebra, v, blocks, detail::inverse_of(inverse.interleave()), m.out);
  }
  constexpr bool backward(const movement& m, view& v) const {
    const depth_to_space inverse{blocksize, mode};
    return detail::through_blocks(m.algebra, v, inverse.blocks(m.out, m.in), inverse.interleave(), m.in);
  }
  constexpr auto at(const auto& c, const auto& o, auto x) const {
    using number = coordinate_of<decltype(o)>;
    const number size = blocksize, depth = c.in(0, 1), places = size * size;
    const bool outer = mode == depth_to_space_mode::dcr;
    const number block = outer ? o[1] / depth : o[1] % places, channel = outer ? o[1] % depth : o[1] / places;
    return x(std::remove_cvref_t<decltype(o)>{o[0], channel, o[2] * size + block / size, o[3] * size + block % size});
  }
};

}  // namespace op

inline constexpr function<op::depth_to_space> depth_to_space;
inline constexpr function<op::space_to_depth> space_to_depth;

}  // namespace dnnkit
