// SPDX-License-Identifier: MIT
// LABELS: no_sanitize slow
// OPTIONS: -O1
// A recurrent layer of doubles, random numbers, transforms, samplings and what is said in terms of other operators,
// compiled.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

template <bool Symbolic> struct layers {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument steps = Symbolic ? dk::dim_argument(dk::sym("L", {1, 9})) : dk::dim_argument(6);
    const dk::tensor x = g.input("x", f32, {steps, 2, 5});
    // of elements that the kernels of tests/cpu/recurrent_steps.cpp do not have
    const dk::tensor wide = dk::cast(x, {.to = dk::f64});
    const dk::tensor w = dk::cast(g.weight("w", {2, 12, 5}), {.to = dk::f64}),
                     r = dk::cast(g.weight("r", {2, 12, 3}), {.to = dk::f64});
    g.output("states",
             dk::cast(g.apply(dk::op::lstm{.direction = dk::recurrent_direction::bidirectional}, {wide, w, r}),
                      {.to = f32}));
    g.output("product", dk::einsum("sbi,bij->bsj", dk::vector<dk::tensor>{x, g.weight("m", {2, 5, 7})}));
    g.output("outer", dk::einsum("sbi,j->bsij", dk::vector<dk::tensor>{x, g.weight("v", {3})}));
    const dk::vector<dk::tensor> nothing;
    g.output("noise", x + g.apply(dk::op::random_normal{.dims = x.dims(), .mean = 1, .scale = 3, .seed = 7}, nothing));
    g.output("chosen", dk::less(g.apply(dk::op::random_uniform{.dims = x.dims(), .seed = 7}, nothing), x));
    g.output("doubles",
             dk::cast(g.apply(dk::op::random_uniform{.dims = {2, 3}, .seed = 5, .to = dk::f64}, nothing), {.to = f32}));
    g.output("spectrum", dk::dft(dk::unsqueeze(x, {.axes = {3}}), {.axis = 0}));
    g.output("frames",
             dk::stft(dk::transpose(dk::slice(x, {.starts = {0}, .ends = {1}, .axes = {2}}), {.perm = {1, 2, 0}}),
                      {.frame_step = 2, .frame_length = 1}));
  }
};

struct images {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 2, 6, 7}), y = dk::relu(x),
                     places = g.input("places", f32, {1, 3, 4, 2});
    g.output("sampled", dk::grid_sample(y, places, {.mode = dk::grid_sample_mode::bicubic}));
    g.output("resized", dk::resize(y, {.scales = {1, 1, 1.5f, 0.7f}, .mode = dk::resize_mode::cubic}) + 1.0);
    g.output("regions", dk::roi_align(x, g.constant({0, 1, 4.5, 5}, {1, 4}), g.constant({0}, {1}, dk::i64),
                                      {.output_height = 2, .output_width = 3}));
    const dk::op::max_pool pool{.kernel_shape = {2, 2}, .strides = {2, 2}};
    const dk::tensor even = dk::slice(x, {.starts = {1}, .ends = {7}, .axes = {3}});
    const dk::tensor pooled = dk::max_pool(even, pool);
    const dk::tensor from = dk::max_pool_indices(even, {.kernel_shape = {2, 2}, .strides = {2, 2}});
    g.output("from", from);
    g.output("unpooled", dk::max_unpool(pooled, from, {.kernel_shape = {2, 2}, .strides = {2, 2}}));
    g.output("norm", dk::lp_pool(x, {.kernel_shape = {3, 2}}));
    g.output("neighbours", dk::lrn(y, {.size = 3}));
    g.output("determinant", dk::det(dk::slice(x, {.starts = {0}, .ends = {6}, .axes = {3}})));
    g.output("inverse", dk::inverse(dk::slice(x, {.starts = {0}, .ends = {6}, .axes = {3}}) +
                                    dk::eye_like(g.weight("square", {6, 6})) * 20.0));
    g.output("padded", dk::pad(x, g.scalar(2.5), {.pads = {0, 0, 1, 0, 0, 0, 0, 2}}));
    g.output("window", g.apply(dk::op::hann_window{.size = 9}, dk::vector<dk::tensor>{}) * 2.0);
    const dk::tensor targets = g.constant({1, 0, 1, 1, 0, 0, 1}, {1, 7}, dk::i64);
    g.output("loss", dk::softmax_cross_entropy_loss(dk::reduce_sum(x, {.axes = {2}, .keepdims = false}), targets));
  }
};

TEST_CASE("compiled: a recurrent layer, products over named axes, transforms") {
  check_model<layers<false>>("layers<false>");
  check_model<layers<true>>("layers<true>");
}
TEST_CASE("compiled: sampled, resized and pooled images") { check_model<images>("images"); }

}  // namespace
