// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// DynamicQuantizeLSTM as a kernel of the family byte_recurrent_steps, compared with the operator's definition.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <string>

#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32, dk::i32, dk::i8, dk::u8;
using enum dk::recurrent_activation;
using enum dk::recurrent_direction;
using layer = dk::op::dynamic_quantize_lstm;

namespace {

// X; W and R with zero points near `zero` and small scales, of the shape of a direction's or a column's.
constexpr dk::vector<dk::tensor> operands(dk::builder& g, const char* name, dk::tensor x, dk::dtype type,
                                          std::int64_t directions, std::int64_t units, bool by_column) {
  const auto parameter = [&](const char* what) {
    return by_column ? g.weight(name, what, {directions, 4 * units}) : g.weight(name, what, {directions});
  };
  const auto scale = [&](const char* what) { return dk::abs(parameter(what)) * 0.004 + 0.001; };
  const auto zero = [&](const char* what) {
    return dk::cast(parameter(what) * 9.0 + (type == u8 ? 128.0 : 0.0), {.to = type});
  };
  return {x,
          g.weight(name, " w", {directions, x.size(2), 4 * units}, type),
          g.weight(name, " r", {directions, units, 4 * units}, type),
          scale(" w scale"),
          zero(" w zero"),
          scale(" r scale"),
          zero(" r zero")};
}
constexpr dk::vector<dk::tensor> plus(dk::vector<dk::tensor> list, std::initializer_list<dk::tensor> more) {
  for (const dk::tensor& t : more) list.push_back(t);
  return list;
}

// Extents that fill no vector, one that fills two and a half of AVX-512, symbols in place of steps and rows.
template <bool Symbolic> struct lstms {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument steps = Symbolic ? dk::dim_argument(dk::sym("L", {6, 15})) : dk::dim_argument(6),
                           batch = Symbolic ? dk::dim_argument(dk::sym("N", {1, 5})) : dk::dim_argument(3);
    const dk::tensor x = g.input("x", f32, {steps, batch, 5});
    const dk::tensor ends = dk::relu(dk::abs(g.input("ends", f32, {batch})) * 13.8 - 6.9);  // half of them 0
    const dk::tensor lengths = dk::cast(ends, {.to = i32});
    const dk::tensor h = g.input("h", f32, {2, batch, 3}), c = g.input("c", f32, {2, batch, 3});
    const auto all =
        plus(operands(g, "both", x, i8, 2, 3, false), {g.weight("b", {2, 24}), lengths, h, c, g.weight("p", {2, 9})});
    layer both{.direction = bidirectional};
    g.output("states", dk::relu(g.apply(both, all)));
    both.output = 1;
    g.output("last", g.apply(both, all));
    both.output = 2;
    g.output("cells", g.apply(both, all));
    g.output("long",
             g.apply(layer{.clip = 0.3f, .input_forget = true}, operands(g, "long", dk::tanh(x), u8, 1, 40, true)));
    layer rare{.direction = reverse, .activations = {hard_logistic, scaled_tangent, soft_sign}};
    rare.activation_alpha = {0.3f, 0.8f};
    rare.activation_beta = {0.4f, 0.5f};
    g.output("rare", g.apply(rare, plus(operands(g, "rare", x, u8, 1, 2, false), {g.weight("b3", {1, 16}), lengths})));
  }
};

// Batches in front of steps, functions that differ between directions, more rows than a tile has.
struct others {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {20, dk::sym("L", {1, 9}), 7});
    const layer both{.direction = bidirectional,
                     .activations = {logistic, tangent, affine, hard_logistic, tangent, soft_sign},
                     .activation_alpha = {0.5f, 0.2f},
                     .activation_beta = {0.25f, 0.5f},
                     .layout = 1};
    g.output("all", g.apply(both, operands(g, "both", x, i8, 2, 20, true)));
  }
};

// Weights that the run computes, and one row.
struct computed_weights {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {9, 1, 6});
    dk::vector<dk::tensor> list = operands(g, "y", x, i8, 1, 33, false);
    list[1] = g.input("w", i8, {1, 6, 132});
    g.output("y", g.apply(layer{}, list));
  }
};

// Does the family carry out every layer of the network?
template <class Model> constexpr bool all_in_vectors() {
  using net = dk::compile<Model>;
  std::size_t found = 0;
  for (std::size_t r = 0; r < net::plan.recipes.size(); ++r)
    if (dk::cpu::byte_recurrent_steps::carries_out(net::plan.recipes[r].anchor)) {
      if (net::choices[r].family != dk::cpu::byte_recurrent_steps::name) return false;
      ++found;
    }
  return found > 0;
}
static_assert(all_in_vectors<lstms<true>>() && all_in_vectors<others>() && all_in_vectors<computed_weights>());

// A state whose rounding to a byte is decided by the last bits of what it is computed from may become another byte than
// the definition's, and all further steps of its row then differ by what a byte counts for, a 255th of the states'
// range times a weight. So a few data sets may differ by that, the others by rounding only.
template <class Model> void check(const char* name) {
  const harness::compiled_network network = harness::compiled<Model>(name);
  constexpr double of_a_byte = 2e-2;  // of the largest magnitude
  std::size_t close = 0, sets = 0;
  for (const std::uint64_t seed : harness::seeds(1, 8)) {
    const std::string wrong = harness::compiled_error(network, seed, of_a_byte);
    CHECK_MESSAGE(wrong.empty(), wrong << ", data of seed " << seed);
    close += harness::compiled_error(network, seed).empty() ? 1 : 0;
    ++sets;
  }
  MESSAGE(std::string(name) << ": " << close << " of " << sets << " data sets differ by rounding only");
  CHECK(4 * close >= 3 * sets);
}

TEST_CASE("compiled: recurrent layers of bytes") {
  check<lstms<true>>("lstms<true>");
  harness::thoroughly([](auto) {
    check<others>("others");
    check<computed_weights>("computed_weights");
    static_assert(all_in_vectors<lstms<false>>());
    check<lstms<false>>("lstms<false>");
  });
}

}  // namespace
