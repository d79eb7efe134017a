// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Recurrent layers over one long sequence, compared with the operator's definition: what the input adds to later steps
// is computed beside the earlier ones.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;
using enum dk::recurrent_direction;

namespace {

// Symbolic steps, drawn from nine on from the least; short sums, so that the input's product is done early.
template <int Least> struct any_steps {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {dk::sym("L", {Least, 40}), 1, 24});
    const dk::tensor h = g.input("h", f32, {2, 1, 128}), c = g.input("c", f32, {2, 1, 128});
    dk::op::lstm both{.direction = bidirectional};
    g.output("y", g.apply(both, {x,
                                 g.weight("w", {2, 512, 24}),
                                 g.weight("r", {2, 512, 128}),
                                 g.weight("b", {2, 1024}),
                                 {},
                                 h,
                                 c,
                                 g.weight("p", {2, 384})}));
  }
};

// Units that end within a vector; resets of states: two products a step.
struct odd_units {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {21, 1, 150});
    g.output("y", g.apply(dk::op::gru{.direction = bidirectional},
                          {x, g.weight("w", {2, 450, 150}), g.weight("r", {2, 450, 150}), g.weight("b", {2, 900})}));
  }
};

// Sums too long to be done beside a few steps; batch first; resets of sums.
struct long_sums {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 24, 700});
    g.output("y", g.apply(dk::op::gru{.direction = reverse, .linear_before_reset = true, .layout = 1},
                          {x, g.weight("w", {1, 384, 700}), g.weight("r", {1, 384, 128}), g.weight("b", {1, 768})}));
    g.output("z", g.apply(dk::op::rnn{.layout = 1}, {x, g.weight("w2", {1, 160, 700}), g.weight("r2", {1, 160, 160})}));
  }
};

// Is every layer of the network computed so, where there are registers?
template <class Model> constexpr bool all_overlap() {
  using net = dk::compile<Model>;
  for (std::size_t r = 0; r < net::plan.recipes.size(); ++r)
    if (dk::cpu::recurrent_steps::carries_out(net::plan.recipes[r].anchor) &&
        (net::choices[r].family != dk::cpu::recurrent_steps::name || net::choices[r].parameters[1] == 0))
      return false;
  return true;
}
static_assert(dk::targets::native::facts.vector_registers != 32 ||
              (all_overlap<any_steps<1>>() && all_overlap<odd_units>() && all_overlap<long_sums>()));

TEST_CASE("compiled: recurrent layers over one long sequence") {
  check_model<any_steps<15>>("any_steps<15>", 6);
  harness::thoroughly([](auto) {
    check_model<any_steps<1>>("any_steps<1>", 6);
    check_model<odd_units>("odd_units");
    check_model<long_sums>("long_sums");
  });
}

}  // namespace
