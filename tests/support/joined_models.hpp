// SPDX-License-Identifier: MIT
// Networks whose convolutions and pools compute parts of joined images, and the kernels that are left of the Concats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "dnnkit/op/builtin.hpp"

namespace harness::joined {

namespace dk = dnnkit;

// `kernel` x `kernel` taps, as large as its input.
constexpr dk::tensor conv(dk::builder& g, dk::tensor x, const char* name, std::int64_t channels, std::int64_t kernel) {
  const std::int64_t pad = kernel / 2;
  return dk::relu(dk::conv(x, g.weight(name, {channels, x.size(1), kernel, kernel}), {.pads = {pad, pad, pad, pad}}));
}
constexpr dk::tensor pool(dk::tensor x) { return dk::max_pool(x, {.kernel_shape = {5, 5}, .pads = {2, 2, 2, 2}}); }
constexpr dk::tensor join(std::initializer_list<dk::tensor> parts) { return dk::concat(parts, {.axis = 1}); }
constexpr void finish(dk::builder& g, dk::tensor y) {
  g.output("y", dk::reduce_mean(conv(g, y, "y", 16, 3), {.axes = {2, 3}}));
}

// Branches of several filters and a pool, with channels that do not fill vectors, read with a border.
struct branches {
  static constexpr std::size_t concats = 0;
  static constexpr void build(dk::builder& g) {
    const dk::tensor stem = conv(g, g.input("x", dk::f32, {2, 16, 9, 11}), "stem", 16, 3);
    finish(g, join({conv(g, stem, "a", 16, 1), conv(g, stem, "b", 35, 3), conv(g, pool(stem), "c", 8, 1)}));
  }
};
// The same where a dimension is a symbol.
struct symbolic_branches {
  static constexpr std::size_t concats = 0;
  static constexpr void build(dk::builder& g) {
    const dk::tensor stem = conv(g, g.input("x", dk::f32, {1, 16, dk::sym("H", {1, 12}), 11}), "stem", 16, 3);
    finish(g, join({conv(g, stem, "a", 16, 1), conv(g, stem, "b", 32, 3), conv(g, pool(stem), "c", 16, 1)}));
  }
};
// The parts lie in another order than they are computed in, so that a kernel which wrote beyond its own would be seen.
struct backwards {
  static constexpr std::size_t concats = 0;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = conv(g, g.input("x", dk::f32, {2, 16, 5, 7}), "stem", 3, 3);
    const dk::tensor a = conv(g, x, "a", 35, 3), b = conv(g, a, "b", 17, 1), c = conv(g, pool(b), "c", 5, 3);
    finish(g, join({c, b, a, x}));
  }
};
// Products and their Softmax, joined along the rows in which they lie.
struct rows {
  static constexpr std::size_t concats = 0;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {6, 20});
    const dk::tensor a = dk::relu(dk::matmul(x, g.weight("a", {20, 37})));
    const dk::tensor b = dk::tanh(dk::matmul(a, g.weight("b", {37, 5})));
    const dk::tensor c = dk::softmax(dk::matmul(b, g.weight("c", {5, 19})));
    g.output("y", dk::matmul(dk::concat({c, b, a}, {.axis = -1}), g.weight("d", {61, 9})));
  }
};
// Halves of one value and what is computed of one of them, as detectors have it.
struct halves {
  static constexpr std::size_t concats = 0;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = conv(g, g.input("x", dk::f32, {1, 16, 12, 10}), "stem", 32, 1);
    const dk::tensor left = dk::narrow(x, 1, 0, 16), right = dk::narrow(x, 1, 16, 16);
    const dk::tensor more = conv(g, conv(g, right, "a", 16, 3), "b", 16, 3);
    finish(g, join({left, right, more}));
  }
};
// Pools of pools, each of which is a part, too.
struct pyramid {
  static constexpr std::size_t concats = 0;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = conv(g, g.input("x", dk::f32, {1, 16, 12, 10}), "stem", 16, 1);
    const dk::tensor a = pool(x), b = pool(a);
    finish(g, join({x, a, b, pool(b)}));
  }
};
// A Concat that is part of another, and one of parts that a larger one has side by side.
struct nested {
  static constexpr std::size_t concats = 0;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = conv(g, g.input("x", dk::f32, {1, 16, 12, 10}), "stem", 16, 1);
    const dk::tensor a = conv(g, x, "a", 16, 3), b = conv(g, x, "b", 32, 1), inner = join({a, b});
    const dk::tensor c = conv(g, inner, "c", 16, 3), d = conv(g, join({b, c}), "d", 16, 1);
    finish(g, join({x, inner, c, d}));
  }
};
// Twice as large, by one product for each remainder, whose kernel writes them where they lie in the end.
constexpr dk::tensor enlarged(dk::builder& g, dk::tensor x, const char* name, std::int64_t channels) {
  return dk::conv_transpose(x, g.weight(name, ".w", {x.size(1), channels, 2, 2}), g.weight(name, ".b", {channels}),
                            {.strides = {2, 2}});
}
// What was pooled and is enlarged again, beside what it was pooled from, as in a U-Net. Where channels fill no vectors,
// they would be written one by one, which takes longer than the Concat does.
template <bool Symbolic> struct u_shaped {
  static constexpr std::size_t concats = 1;
  static constexpr void build(dk::builder& g) {
    const dk::tensor in =
        Symbolic ? g.input("x", dk::f32, {2, 16, dk::sym("H", {1, 6}), 4}) : g.input("x", dk::f32, {2, 16, 6, 4});
    const dk::tensor x = conv(g, enlarged(g, in, "u", 16), "stem", 16, 3);
    const dk::tensor half = dk::max_pool(x, {.kernel_shape = {2, 2}, .strides = {2, 2}});
    const dk::tensor a = join({x, enlarged(g, conv(g, half, "a", 24, 3), "b", 32)});
    finish(g, join({enlarged(g, conv(g, half, "c", 16, 1), "d", 12), conv(g, a, "e", 16, 3)}));
  }
};
// Of what is enlarged more is read, or nothing but some of it.
struct enlarged_elsewhere {
  static constexpr std::size_t concats = 2;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = conv(g, g.input("x", dk::f32, {1, 16, 12, 8}), "stem", 16, 3);
    const dk::tensor half = dk::max_pool(x, {.kernel_shape = {2, 2}, .strides = {2, 2}});
    const dk::tensor a = enlarged(g, half, "a", 16), b = conv(g, join({x, a, a}), "b", 16, 1);
    const dk::tensor large =
        dk::conv_transpose(half, g.weight("c", {16, 16, 4, 4}), {.strides = {2, 2}, .pads = {1, 1, 1, 1}});
    finish(g, join({b, large}));
  }
};
// The one first part is an input of the network, of the other a value stands in two places.
struct refused {
  static constexpr std::size_t concats = 2;
  static constexpr void build(dk::builder& g) {
    const dk::tensor in = g.input("x", dk::f32, {1, 16, 12, 10}), x = conv(g, in, "stem", 16, 1);
    const dk::tensor a = conv(g, join({in, x}), "a", 16, 3);
    finish(g, join({a, x, a}));
  }
};

}  // namespace harness::joined
