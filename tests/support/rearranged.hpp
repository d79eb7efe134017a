// SPDX-License-Identifier: MIT
// A convolution whose output is rearranged, and user's fusion rules: that such movement is part of its kernel, whatever
// was measured of it, and that it is not.
#pragma once

#include <string_view>

#include "dnnkit/graph.hpp"

namespace harness {

struct rearranged {
  static constexpr void build(dnnkit::builder& g) {
    const dnnkit::tensor y = dnnkit::conv(g.input("x", dnnkit::f32, {1, 1, 8, 8}), g.weight("w", {16, 1, 3, 3}));
    g.output("y", 1.0 - dnnkit::depth_to_space(y, {.blocksize = 2}));
  }
};
template <dnnkit::verdict Verdict> struct about_movement {
  static constexpr std::string_view name =
      Verdict == dnnkit::verdict::fuse ? "movement goes along" : "movement stays out";
  static constexpr dnnkit::verdict decide(const dnnkit::passes::fusion_edge&, dnnkit::mapping first,
                                          dnnkit::mapping second, dnnkit::verdict so_far) {
    const bool moves = second == dnnkit::mapping::reorganize || second == dnnkit::mapping::shuffle;
    return first == dnnkit::mapping::many_to_many && moves ? Verdict : so_far;
  }
};
using movement_goes_along = about_movement<dnnkit::verdict::fuse>;
using movement_stays_out = about_movement<dnnkit::verdict::never>;

}  // namespace harness
