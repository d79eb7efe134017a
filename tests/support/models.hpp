// SPDX-License-Identifier: MIT
// The networks of the examples, for tests that look at what is made of them.
#pragma once

#include <string_view>

#include "dnnkit/graph.hpp"

namespace models {

namespace dk = dnnkit;

// 13 operators: convolutions with BatchNormalization, pooling, one fully connected layer.
struct digits {
  static constexpr void build(dk::builder& g) {
    auto x = g.input("x", dk::f32, {1, 1, 8, 8});
    auto block = [&](dk::tensor t, const char* conv, const char* bn, int in, int out) {
      const auto w = g.weight(conv, ".weight", {out, in, 3, 3}), b = g.weight(conv, ".bias", {out});
      t = dk::conv(t, w, b, {.pads = {1, 1, 1, 1}});
      return dk::relu(dk::batch_normalization(t, g.batch_norm(bn, out)));
    };
    auto pool = [](dk::tensor t) { return dk::max_pool(t, {.kernel_shape = {2, 2}, .strides = {2, 2}}); };
    auto y = pool(block(block(x, "conv1", "bn1", 1, 16), "conv2", "bn2", 16, 32));
    y = dk::flatten(pool(block(y, "conv3", "bn3", 32, 32)));
    g.output("y", dk::gemm(y, g.weight("fc", ".weight", {10, 128}), g.weight("fc", ".bias", {10}), {.trans_b = true}));
  }
};

// 48 operators: 27 convolutions for images of any height and width.
struct wdsr {
  static constexpr void build(dk::builder& g) {
    auto conv = [&](dk::tensor t, std::string_view name, int in, int out, int k) {
      const auto w = g.weight(name, ".weight", {out, in, k, k}), b = g.weight(name, ".bias", {out});
      return dk::conv(t, w, b, {.pads = dk::int_list::filled(4, k / 2)});
    };
    const auto x = g.input("x", dk::f32, {1, 3, dk::sym{"H", {1, 16384}}, dk::sym{"W", {1, 16384}}}) - 0.45;
    auto y = conv(x, "head", 3, 24, 3);
    for (int i = 0; i < 8; ++i) {
      auto part = [&](int j) { return dk::text("body.") << i << "." << j; };
      auto z = dk::relu(conv(y, part(0).view(), 24, 144, 1));
      z = conv(z, part(2).view(), 144, 20, 1);
      y = conv(z, part(3).view(), 20, 24, 3) + y;
    }
    y = conv(y, "tail", 24, 12, 3) + conv(x, "skip", 3, 12, 5);
    y = dk::depth_to_space(y, {.blocksize = 2, .mode = dk::op::depth_to_space_mode::crd}) + 0.45;
    g.output("y", dk::clip(y, {.min = 0, .max = 1}));
  }
};

}  // namespace models
