// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Recurrent layers as kernels of the family recurrent_steps, compared with the operator's definition.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32, dk::i32;
using harness::check_model;
using enum dk::recurrent_activation;
using enum dk::recurrent_direction;

namespace {

// Extents that fill no vector, one that fills two and a half of AVX-512, symbols in place of steps and rows.
template <bool Symbolic> struct lstms {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument steps = Symbolic ? dk::dim_argument(dk::sym("L", {6, 15})) : dk::dim_argument(6),
                           batch = Symbolic ? dk::dim_argument(dk::sym("N", {1, 5})) : dk::dim_argument(3);
    const dk::tensor x = g.input("x", f32, {steps, batch, 5});
    const dk::tensor ends = dk::relu(dk::abs(g.input("ends", f32, {batch})) * 13.8 - 6.9);  // half of them 0
    const dk::tensor lengths = dk::cast(ends, {.to = i32});
    const dk::tensor w = g.weight("w", {2, 12, 5}), r = g.weight("r", {2, 12, 3}), b = g.weight("b", {2, 24});
    const dk::tensor h = g.input("h", f32, {2, batch, 3}), c = g.input("c", f32, {2, batch, 3});
    dk::op::lstm both{.direction = bidirectional};
    g.output("states", dk::relu(g.apply(both, {x, w, r, b, lengths, h, c, g.weight("p", {2, 9})})));
    both.output = 1;
    g.output("last", g.apply(both, {x, w, r, b, lengths, h, c, g.weight("p", {2, 9})}));
    both.output = 2;
    g.output("cells", g.apply(both, {x, w, r, b, lengths, h, c, g.weight("p", {2, 9})}));
    g.output("long", g.apply(dk::op::lstm{.clip = 0.3f, .input_forget = true},
                             {dk::tanh(x), g.weight("w2", {1, 160, 5}), g.weight("r2", {1, 160, 40})}));
    dk::op::lstm rare{.direction = reverse, .activations = {hard_logistic, scaled_tangent, soft_sign}};
    rare.activation_alpha = {0.3f, 0.8f};
    rare.activation_beta = {0.4f, 0.5f};
    g.output("rare", g.apply(rare, {x, g.weight("w3", {1, 8, 5}), g.weight("r3", {1, 8, 2})}));
  }
};

struct others {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, dk::sym("L", {1, 9}), 7}), h = g.input("h", f32, {2, 2, 20});
    const dk::tensor w = g.weight("w", {2, 60, 7}), r = g.weight("r", {2, 60, 20}), b = g.weight("b", {2, 120});
    dk::op::gru both{.direction = bidirectional, .layout = 1};
    g.output("before", g.apply(both, {x, w, r, b, {}, h}));
    both.linear_before_reset = true;
    g.output("behind", g.apply(both, {x, w, r, b, {}, h}));
    both.output = 1;
    g.output("last", g.apply(both, {x, w, r, b, {}, h}));
    const dk::op::rnn plain{
        .direction = bidirectional, .activations = {rectified, leaky}, .activation_alpha = {0.2f}, .layout = 1};
    g.output("plain", g.apply(plain, {x, g.weight("w2", {2, 36, 7}), g.weight("r2", {2, 36, 36})}));
  }
};

// Weights that the run computes, and a batch that takes several blocks of rows.
struct computed_weights {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {3, 61, 6});
    g.output("y", g.apply(dk::op::lstm{}, {x, g.input("w", f32, {1, 20, 6}), dk::relu(g.input("r", f32, {1, 20, 5})),
                                           g.weight("b", {1, 40})}));
    g.output("z", g.apply(dk::op::gru{.direction = reverse},
                          {x, g.weight("w2", {1, 15, 6}), g.weight("r2", {1, 15, 5}), g.input("b2", f32, {1, 30})}));
  }
};

// Does the family carry out every recurrent layer of the network?
template <class Model> constexpr bool all_in_vectors() {
  using net = dk::compile<Model>;
  for (std::size_t r = 0; r < net::plan.recipes.size(); ++r)
    if (dk::cpu::recurrent_steps::carries_out(net::plan.recipes[r].anchor) &&
        net::choices[r].family != dk::cpu::recurrent_steps::name)
      return false;
  return true;
}
static_assert(all_in_vectors<lstms<true>>() && all_in_vectors<others>() && all_in_vectors<computed_weights>());

TEST_CASE("compiled: recurrent layers") {
  check_model<lstms<true>>("lstms<true>");
  check_model<others>("others");
  harness::thoroughly([](auto) {
    check_model<computed_weights>("computed_weights");
    static_assert(all_in_vectors<lstms<false>>());
    check_model<lstms<false>>("lstms<false>");
  });
}

}  // namespace
