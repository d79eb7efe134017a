// SPDX-License-Identifier: MIT
// A convolution whose output is rearranged, and a user's fusion rule that keeps such movement out of its kernel.
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
struct movement_stays_out {
  static constexpr std::string_view name = "movement stays out";
  static constexpr dnnkit::verdict decide(const dnnkit::passes::fusion_edge&, dnnkit::mapping first,
                                          dnnkit::mapping second, dnnkit::verdict so_far) {
    const bool moves = second == dnnkit::mapping::reorganize || second == dnnkit::mapping::shuffle;
    return first == dnnkit::mapping::many_to_many && moves ? dnnkit::verdict::never : so_far;
  }
};

}  // namespace harness
