// SPDX-License-Identifier: MIT
// A model that is wrong, where it is used: one message, which names the node, its weight and the line.
// EXPECT: wrong_model_in_a_session.cpp:20: Add (node 1, weight 'bias'):
// EXPECT: shapes [1, 8, 6, 6] and [7] do not broadcast
#include <dnnkit/graph.hpp>

#include <vector>

namespace dk = dnnkit;

struct model {
#ifdef PASSING_TWIN
  static constexpr int length = 6;
#else
  static constexpr int length = 7;
#endif
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 3, 8, 8});
    const dk::tensor features = dk::conv(x, g.weight("w", {8, 3, 3, 3}));
    const dk::tensor biased = features + g.weight("bias", {length});
    g.output("y", dk::softmax(1.0 - biased, {.axis = 1}));
  }
};

void run(dk::session<dk::compile<model>>& s, std::vector<float>& x, std::vector<float>& y) { return s.run(x, y); }
