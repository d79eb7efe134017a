// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O0
// Groups around convolutions and pools whose prologue, epilogue, layout or border is out of the ordinary.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

constexpr dk::tensor convolution(dk::builder& g, dk::tensor x, const char* name, std::int64_t out, std::int64_t kernel,
                                 dk::op::conv a = {}) {
  const std::int64_t in = x.size(1).value() / a.group;
  const dk::tensor w = g.weight(name, ".weight", {out, in, kernel, kernel});
  return dk::conv(x, w, g.weight(name, ".bias", {out}), a);
}

template <std::int64_t Height, std::int64_t Width> struct sized {
  static constexpr dk::tensor image(dk::builder& g, std::int64_t channels) {
    return g.input("x", f32, {1, channels, Height, Width});
  }
};
struct symbolic {
  static constexpr dk::tensor image(dk::builder& g, std::int64_t channels) {
    return g.input("x", f32, {dk::sym("N", {1, 2}), channels, dk::sym("H", {3, 17}), dk::sym("W", {3, 17})});
  }
};

template <class Size> struct prologue_of_two_readers {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Size::image(g, 8), y = dk::relu(x * g.weight("s", {8, 1, 1}) + 0.5);
    g.output("a", convolution(g, y, "a", 16, 3, {.pads = {1, 1, 1, 1}}));
    g.output("b", convolution(g, y, "b", 5, 1));
  }
};

template <class Size> struct shuffle_and_residual {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Size::image(g, 3);
    const dk::tensor big = dk::resize(x, {.scales = {1, 1, 2, 2}, .mode = dk::resize_mode::linear});
    dk::tensor y = convolution(g, x, "a", 12, 3, {.pads = {1, 1, 1, 1}});
    y = dk::depth_to_space(y, {.blocksize = 2}) + big * 0.5;
    g.output("y", dk::sigmoid(y));
  }
};

template <class Size> struct bottleneck {  // batch normalisation, residual, squeeze and excitation
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Size::image(g, 16);
    auto normalised = [&](dk::tensor t, const char* bn) { return dk::batch_normalization(t, g.batch_norm(bn, 16)); };
    dk::tensor y = dk::relu(normalised(convolution(g, x, "a", 16, 3, {.pads = {1, 1, 1, 1}}), "bn1"));
    y = normalised(convolution(g, y, "b", 16, 3, {.pads = {2, 2, 2, 2}, .dilations = {2, 2}}), "bn2");
    dk::tensor s = dk::global_average_pool(y);
    s = dk::relu(convolution(g, s, "c", 4, 1));
    s = dk::sigmoid(convolution(g, s, "d", 16, 1));
    g.output("y", dk::relu(y * s + x));
  }
};

template <class Size> struct groups_and_depthwise {
  static constexpr void build(dk::builder& g) {
    dk::tensor y = Size::image(g, 24);
    y = dk::hard_swish(convolution(g, y, "a", 24, 3, {.strides = {2, 2}, .pads = {1, 1, 1, 1}, .group = 24}));
    y = dk::relu(convolution(g, y, "b", 24, 1, {.group = 2}));
    y = convolution(g, y, "c", 48, 3, {.pads = {1, 1, 1, 1}, .group = 24});
    g.output("y", dk::clip(convolution(g, y, "d", 9, 1), {.min = 0, .max = 6}));
  }
};

template <class Size> struct groups_of_few_channels {  // several of which share a vector
  static constexpr void build(dk::builder& g) {
    dk::tensor x = Size::image(g, 24);
    x = dk::relu(convolution(g, x, "a", 24, 3, {.strides = {2, 2}, .pads = {1, 1, 1, 1}, .group = 6}));
    dk::tensor y = dk::silu(convolution(g, x, "b", 24, 3, {.pads = {1, 1, 1, 1}, .group = 12}) + x);
    y = convolution(g, y, "c", 24, 2, {.strides = {1, 2}, .pads = {1, 0, 0, 1}, .dilations = {1, 2}, .group = 3});
    g.output("y", dk::relu(y * dk::reduce_mean(y, {.axes = {2, 3}})));
  }
};

template <class Size> struct behind_movement {  // Pad, Concat, Gather, Resize, Slice and Transpose in front
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Size::image(g, 4);
    auto c = [&](dk::tensor t, const char* name) {
      return dk::relu(convolution(g, t, name, 8, 3, {.pads = {1, 1, 1, 1}}));
    };
    const dk::tensor a = c(x, "a");
    const dk::op::pad mirror{.pads = {0, 0, 1, 2, 0, 0, 2, 1}, .mode = dk::pad_mode::reflect};
    g.output("padded", c(dk::pad(a, mirror), "b"));
    g.output("joined", c(dk::concat({a, x, a}, {.axis = 1}), "c"));
    g.output("gathered", c(dk::gather(a, g.constant({3, 0, -1}, dk::shape{3}, dk::i64), {.axis = 1}), "d"));
    g.output("resized", c(dk::resize(a, {.scales = {1, 1, 2, 1}}), "e"));
    g.output("sliced", c(dk::slice(a, {.starts = {1, 0}, .ends = {-1, 5}, .axes = {2, 1}}), "f"));
    g.output("turned", c(dk::transpose(a, {.perm = {0, 1, 3, 2}}), "g"));
    g.output("backwards", c(dk::slice(a, {.starts = {-1}, .ends = {-100}, .axes = {3}, .steps = {-1}}), "h"));
  }
};

// Mirrored, repeated and larger pictures that convolutions read where they lie; channels fill vectors, or do not.
template <std::int64_t Channels> struct read_where_it_lies {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 3, 7, 9});
    const dk::tensor a = dk::relu(convolution(g, x, "a", Channels, 3, {.pads = {1, 1, 1, 1}}));
    const auto bordered = [](dk::tensor t, dk::pad_mode mode) {
      return dk::pad(t, {.pads = {0, 0, 3, 2, 0, 0, 1, 9}, .mode = mode});
    };
    const auto larger = [](dk::tensor t) { return dk::resize(t, {.scales = {1, 1, 2, 3}}); };
    g.output("mirrored", convolution(g, bordered(a, dk::pad_mode::reflect), "b", 20, 3));
    g.output("edge", convolution(g, bordered(a, dk::pad_mode::edge), "c", 3, 3, {.pads = {1, 0, 0, 1}}));
    g.output("wrapped", convolution(g, bordered(x, dk::pad_mode::wrap), "d", 6, 3, {.strides = {2, 2}}));
    g.output("larger", convolution(g, larger(a), "e", 17, 3, {.pads = {1, 1, 1, 1}}));
    g.output("both", convolution(g, bordered(larger(a), dk::pad_mode::reflect), "f", 2, 5));
    g.output("in pairs", convolution(g, bordered(a, dk::pad_mode::edge), "h", Channels, 3, {.group = Channels}));
    g.output("joined", convolution(g, dk::concat({larger(a), dk::exp(larger(a) * 0.5)}, {.axis = 1}), "i", 8, 1));
  }
};

template <class Size> struct pools {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(convolution(g, Size::image(g, 3), "a", 20, 3, {.pads = {1, 1, 1, 1}}));
    const dk::tensor m = dk::max_pool(x, {.kernel_shape = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}});
    g.output("max", convolution(g, m, "b", 8, 3, {.pads = {1, 1, 1, 1}}));
    g.output("mean", dk::average_pool(x, {.kernel_shape = {2, 3}, .pads = {0, 1, 1, 1}, .count_include_pad = true}));
    g.output("ceil", dk::max_pool(dk::neg(x), {.kernel_shape = {2, 2}, .strides = {2, 2}, .ceil_mode = true}));
    g.output("global", dk::global_max_pool(x));
  }
};

template <class Size> struct transposed {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(convolution(g, Size::image(g, 3), "a", 8, 3, {.pads = {1, 1, 1, 1}}));
    dk::tensor y = dk::conv_transpose(x, g.weight("t", {8, 6, 3, 3}), g.weight("u", {6}),
                                      {.strides = {2, 2}, .pads = {1, 1, 1, 1}, .output_padding = {1, 1}});
    g.output("y", convolution(g, dk::relu(y), "b", 4, 3, {.pads = {1, 1, 1, 1}}));
    g.output("z", dk::conv_transpose(x, g.weight("v", {8, 2, 2, 2}), {.strides = {2, 2}, .group = 4}));
  }
};

template <bool Symbolic> struct signals {  // one dimension
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Symbolic ? g.input("x", f32, {2, 7, dk::sym("L", {6, 40})}) : g.input("x", f32, {2, 7, 19});
    dk::tensor y = dk::conv(x, g.weight("a", {17, 7, 5}), g.weight("b", {17}), {.pads = {2, 2}});
    y = dk::gelu(y);
    y = dk::conv(y, g.weight("c", {16, 17, 3}), {.strides = {2}, .pads = {1, 1}});
    g.output("y", dk::conv(dk::relu(y), g.weight("d", {16, 1, 3}), {.pads = {2, 0}, .group = 16}));
  }
};

template <bool Symbolic> struct narrow {  // one dimension, written as pictures of width 1
  static constexpr void build(dk::builder& g) {
    const dk::dim height = Symbolic ? g.symbol({"H", {.min = 9, .max = 40}}) : dk::dim(21);
    const dk::tensor x = g.input("x", f32, {2, 16, height, 1});
    const dk::tensor a = dk::relu(dk::conv(x, g.weight("a", {16, 16, 5, 1})));
    const dk::tensor b = dk::conv(a, g.weight("b", {16, 16, 3, 1}), {.strides = {2, 1}, .pads = {1, 0, 1, 0}});
    g.output("deep", dk::conv(b, g.weight("c", {16, 1, 3, 1}), {.pads = {1, 0, 1, 0}, .group = 16}) + b);
    const dk::tensor few = g.input("z", f32, {1, 3, height, 1});
    g.output("few", dk::conv(dk::exp(few), g.weight("d", {5, 3, 3, 1}), {.pads = {2, 0, 0, 0}}));
    g.output("padded", dk::conv(few, g.weight("e", {5, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
    const dk::op::conv before{.strides = {1, 2}, .pads = {1, 1, 1, 0}}, behind{.strides = {1, 2}, .pads = {1, 0, 1, 1}};
    g.output("padding alone", dk::conv(few, g.weight("f", {5, 3, 3, 1}), before));
    g.output("with padding behind", dk::conv(few, g.weight("h", {5, 3, 3, 1}), behind));
  }
};
// Convolutions whose tiles of pixels lie along dimension d.
template <class Model> constexpr int convolutions_along(std::size_t d) {
  using net = harness::compile_by_rules<Model>;
  int n = 0;
  for (const dk::plan::recipe& r : net::plan.recipes)
    if (r.anchor.id == dk::id_of<dk::op::conv>)
      n += dk::cpu::convolution_spec(dk::kernel_spec(net::plan, r)).width_dim() == d ? 1 : 0;
  return n;
}

template <bool Symbolic> struct volumes {  // three dimensions
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Symbolic ? g.input("x", f32, {1, 3, dk::sym("D", {3, 6}), 5, dk::sym("W", {3, 9})})
                                  : g.input("x", f32, {1, 3, 4, 5, 6});
    dk::tensor y = dk::conv(x, g.weight("a", {16, 3, 3, 3, 3}), g.weight("b", {16}), {.pads = {1, 1, 1, 1, 1, 1}});
    y = dk::max_pool(dk::relu(y), {.kernel_shape = {1, 2, 2}});
    y = dk::conv(y, g.weight("c", {8, 16, 1, 2, 2}), {.strides = {1, 2, 1}});
    g.output("y", y);
  }
};

template <class Size> struct flattened {  // channels last into a fully connected layer
  static constexpr void build(dk::builder& g) {
    dk::tensor y = dk::relu(convolution(g, Size::image(g, 3), "a", 16, 3));
    y = dk::max_pool(y, {.kernel_shape = {2, 2}, .strides = {2, 2}});
    const std::int64_t n = (y.size(1).value() * y.size(2).value()) * y.size(3).value();
    y = dk::gemm(dk::flatten(y), g.weight("fc.weight", {10, n}), g.weight("fc.bias", {10}), {.trans_b = true});
    g.output("y", dk::softmax(y));
  }
};

template <class Size> struct several_outputs {  // a value that is given out and read again; branches of one convolution
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = convolution(g, Size::image(g, 3), "a", 8, 3, {.pads = {1, 1, 1, 1}});
    const dk::tensor b = dk::relu(a), c = dk::tanh(a) * b;
    g.output("a", a);
    g.output("b", b);
    g.output("c", c);
    g.output("d", convolution(g, b, "d", 8, 3, {.pads = {1, 1, 1, 1}}) + c);
  }
};

template <class Size> struct normalised {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = convolution(g, Size::image(g, 3), "a", 12, 3, {.pads = {1, 1, 1, 1}});
    auto w = [&](const char* name) { return g.weight(name, {12}); };
    const dk::tensor scale = w("s"), shift = w("b");
    g.output("instance", convolution(g, dk::relu(dk::instance_normalization(x, scale, shift)), "b", 4, 1));
    g.output("group", convolution(g, dk::silu(dk::group_normalization(x, scale, shift, {.num_groups = 3})), "c", 4, 1));
    g.output("channels", dk::softmax(x, {.axis = 1}));
  }
};

// A weight computed from weights, and one computed from an input.
template <class Size> struct given_weights {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Size::image(g, 12), w = g.input("w", f32, {20, 12, 3, 3}), s = g.input("s", f32, {20});
    const dk::tensor factor = dk::reshape(dk::sigmoid(s), {20, 1, 1, 1});
    g.output("plain", dk::relu(dk::conv(x, w, {.pads = {1, 1, 1, 1}})));
    g.output("bias", dk::conv(dk::relu(x), g.weight("fixed", {20, 12, 1, 1}), s));
    const dk::tensor y = dk::conv(x, w * factor, s, {.strides = {2, 2}, .pads = {1, 1, 1, 1}});
    g.output("modulated", dk::conv(y, g.weight("next", {9, 20, 1, 1})));
    const dk::tensor thin = dk::slice(w, {.starts = {0, 0}, .ends = {12, 4}, .axes = {0, 1}});
    g.output("groups", dk::conv(x, thin + 0.5, {.pads = {1, 1, 1, 1}, .group = 3}));
    const dk::tensor own = dk::slice(w, {.starts = {0, 0}, .ends = {12, 1}, .axes = {0, 1}});
    g.output("depthwise", dk::conv(x, dk::relu(own), {.pads = {1, 1, 1, 1}, .group = 12}));
  }
};

template <class Size> struct computed_weights {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Size::image(g, 4);
    const dk::tensor w = g.weight("w", {8, 4, 3, 3}), norm = dk::reduce_l2(w, {.axes = {1, 2, 3}});
    g.output("setup", dk::conv(x, w / (norm + 0.01), {.pads = {1, 1, 1, 1}}));
    const dk::tensor turned = dk::transpose(g.weight("turned", {4, 8, 3, 3}), {.perm = {1, 0, 2, 3}});
    g.output("turned", dk::conv(x, turned, {.pads = {1, 1, 1, 1}}));
    const dk::tensor part = dk::slice(g.weight("whole", {10, 4, 3, 3}), {.starts = {2}, .ends = {10}, .axes = {0}});
    g.output("part", dk::conv(x, part, {.pads = {1, 1, 1, 1}}));
    const dk::tensor v = g.input("v", f32, {8, 4, 3, 3}), u = g.input("u", f32, {3, 3, 4, 8});
    g.output("turned by the run", dk::conv(x, dk::transpose(u, {.perm = {3, 2, 0, 1}}), {.pads = {1, 1, 1, 1}}));
    g.output("run", dk::relu(dk::conv(x, v * 0.5, {.pads = {1, 1, 1, 1}})));
  }
};

}  // namespace

TEST_CASE("a prologue that two convolutions compute again") {
  check_model<prologue_of_two_readers<sized<7, 9>>>("static");
  harness::thoroughly([](auto) { check_model<prologue_of_two_readers<symbolic>>("symbolic"); });
}
TEST_CASE("a pixel shuffle and a residual behind a convolution") {
  check_model<shuffle_and_residual<symbolic>>("symbolic");
  harness::thoroughly([](auto) { check_model<shuffle_and_residual<sized<5, 6>>>("static"); });
}
TEST_CASE("batch normalisation, residuals, squeeze and excitation") {
  check_model<bottleneck<symbolic>>("symbolic");
  harness::thoroughly([](auto) { check_model<bottleneck<sized<7, 5>>>("static"); });
}
TEST_CASE("grouped and depthwise convolutions") {
  check_model<groups_and_depthwise<sized<9, 8>>>("static");
  check_model<groups_of_few_channels<symbolic>>("few channels, symbolic");
  harness::thoroughly([](auto) {
    check_model<groups_and_depthwise<symbolic>>("symbolic");
    check_model<groups_of_few_channels<sized<9, 11>>>("few channels, static");
  });
}
TEST_CASE("movement and sampling in front of convolutions") {
  check_model<behind_movement<sized<6, 7>>>("static");
  harness::thoroughly([](auto) { check_model<behind_movement<symbolic>>("symbolic"); });
}
TEST_CASE("what only chooses elements, in front of convolutions") {
  check_model<read_where_it_lies<35>>("vectors of channels");
  harness::thoroughly([](auto) { check_model<read_where_it_lies<5>>("few channels"); });
}
TEST_CASE("pools") {
  check_model<pools<sized<8, 7>>>("static");
  harness::thoroughly([](auto) { check_model<pools<symbolic>>("symbolic"); });
}
TEST_CASE("transposed convolutions") {
  check_model<transposed<symbolic>>("symbolic");
  harness::thoroughly([](auto) { check_model<transposed<sized<4, 5>>>("static"); });
}
TEST_CASE("one and three dimensions") {
  check_model<narrow<true>>("width of 1, any height");
  check_model<volumes<true>>("volume of any size");
  harness::thoroughly([](auto) {
    check_model<signals<false>>("signal");
    check_model<signals<true>>("signal of any length");
    static_assert(convolutions_along<narrow<false>>(2) == 4 && convolutions_along<narrow<false>>(3) == 3);
    check_model<narrow<false>>("width of 1");
    check_model<volumes<false>>("volume");
  });
}
TEST_CASE("extents of one") {
  check_model<prologue_of_two_readers<sized<1, 1>>>("1x1");
  harness::thoroughly([](auto) {
    check_model<bottleneck<sized<1, 6>>>("1x6");
    check_model<groups_and_depthwise<sized<5, 1>>>("5x1");
  });
}
TEST_CASE("from channels last into a fully connected layer") { check_model<flattened<sized<10, 8>>>("static"); }
TEST_CASE("several outputs, read and given out") {
  check_model<several_outputs<sized<4, 9>>>("static");
  harness::thoroughly([](auto) { check_model<several_outputs<symbolic>>("symbolic"); });
}
TEST_CASE("normalisation over channels last") {
  check_model<normalised<symbolic>>("symbolic");
  harness::thoroughly([](auto) { check_model<normalised<sized<5, 7>>>("static"); });
}
TEST_CASE("weights that the run is given or computes") {
  check_model<given_weights<symbolic>>("symbolic");
  CHECK(harness::scalar_kernels<given_weights<sized<6, 7>>>() == 0);
  CHECK(harness::scalar_kernels<given_weights<symbolic>>() == 0);
  harness::thoroughly([](auto) { check_model<given_weights<sized<6, 7>>>("static"); });
}
TEST_CASE("weights that are computed") {
  check_model<computed_weights<sized<5, 5>>>("static");
  harness::thoroughly([](auto) { check_model<computed_weights<symbolic>>("symbolic"); });
}
