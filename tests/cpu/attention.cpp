// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Attention as a kernel of three stages, in all arrangements of heads, masks and lengths that views see through,
// against the reference evaluator.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/runtime/session.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

constexpr dk::tensor scaled_scores(dk::tensor q, dk::tensor k, double scale) {
  return dk::matmul(q, dk::transpose(k, {.perm = {0, 1, 3, 2}})) * scale;
}

// Heads split off one tensor of tokens, and put together again.
template <std::int64_t Tokens, std::int64_t Heads, std::int64_t Width> struct self_attention {
  static constexpr void build(dk::builder& g) {
    const auto heads = [&](const char* name) {
      const dk::tensor x = g.input(name, f32, {1, Tokens, Heads * Width});
      return dk::transpose(dk::reshape(x, {1, Tokens, Heads, Width}), {.perm = {0, 2, 1, 3}});
    };
    const dk::tensor q = heads("q"), k = heads("k"), v = heads("v");
    const dk::tensor p = dk::softmax(scaled_scores(q, k, 0.125));
    const dk::tensor o = dk::transpose(dk::matmul(p, v), {.perm = {0, 2, 1, 3}});
    g.output("y", dk::reshape(o, {1, Tokens, Heads * Width}));
  }
};
static_assert(dk::compile<self_attention<50, 3, 16>>::kernels == 1);
static_assert(dk::compile<self_attention<50, 3, 16>>::arena_bytes == 0);
// Keys and values that each tile would read again from beyond the second cache: two megabytes, against scores that
// would be stored in 512; and 16 against scores of 64.
static_assert(dk::compile<self_attention<4096, 8, 64>>::kernels == 1);
static_assert(dk::compile<self_attention<4096, 1, 512>>::kernels == 3);

struct masked {  // by an input, for each sample and key, and added for each pair
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", f32, {2, 3, 21, 8}), k = g.input("k", f32, {2, 3, 37, 8}),
                     v = g.input("v", f32, {2, 3, 37, 20});
    const dk::tensor x = scaled_scores(q, k, 0.3) + g.input("mask", f32, {2, 1, 1, 37}) + g.weight("bias", {3, 21, 37});
    g.output("y", dk::relu(dk::matmul(dk::softmax(x), v) + g.weight("after", {20})));
  }
};
static_assert(dk::compile<masked>::kernels == 1);

struct causal {  // by a condition, with what is computed from the probabilities
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", f32, {1, 2, 33, 16}), v = g.input("v", f32, {1, 2, 33, 16});
    const dk::tensor seen = g.weight("seen", "", {33, 33}, dk::boolean);
    const dk::tensor x = dk::where(seen, scaled_scores(q, v, 1), g.constant({-1e9}, {}));
    g.output("y", dk::matmul(dk::softmax(x) * 0.5 + 0.25, v));
  }
};
static_assert(dk::compile<causal>::kernels == 1);

struct shared_keys {  // one head of keys and values for all heads of queries, keys stored transposed
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", f32, {4, 45, 8}), k = g.input("k", f32, {8, 64}), v = g.input("v", f32, {64, 16});
    g.output("y", dk::matmul(dk::softmax(dk::matmul(q, k)), v));
  }
};

struct lengths_at_run_time {
  static constexpr void build(dk::builder& g) {
    const dk::sym queries{"Q", {.min = 1, .max = 80}}, keys{"K", {.min = 1, .max = 80}};
    const dk::tensor q = g.input("q", f32, {2, queries, 16}), k = g.input("k", f32, {2, keys, 16});
    const dk::tensor x = dk::matmul(q, dk::transpose(k, {.perm = {0, 2, 1}})) + g.input("mask", f32, {queries, keys});
    g.output("y", dk::matmul(dk::softmax(x), k));
  }
};
static_assert(dk::compile<lengths_at_run_time>::kernels == 1);

struct stored_by_queries {  // the output has queries next to each other
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", f32, {2, 40, 8}), k = g.input("k", f32, {2, 8, 24}),
                     v = g.input("v", f32, {2, 24, 12});
    g.output("y", dk::transpose(dk::matmul(dk::softmax(dk::matmul(q, k)), v), {.perm = {0, 2, 1}}));
  }
};

struct along_queries {  // a softmax that is not attention's
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", f32, {2, 10, 8}), k = g.input("k", f32, {2, 8, 11}),
                     v = g.input("v", f32, {2, 11, 8});
    g.output("y", dk::matmul(dk::softmax(dk::matmul(q, k), {.axis = 1}), v));
  }
};
static_assert(dk::compile<along_queries>::kernels == 3);

// Which keys a query sees, of as many as there are queries.
enum class sight { before, near, padded, none };
template <sight Kind> constexpr bool sees(int query, int key) {
  if (Kind == sight::before) return key <= query;
  if (Kind == sight::near) return key <= query && key + 9 > query;
  if (Kind == sight::padded) return key <= query && key >= 11;  // the first queries see none
  return query % 5 != 2 && key < 3;
}
template <sight Kind, int Tokens> constexpr dk::vector<double> mask_of(double seen, double hidden) {
  dk::vector<double> mask;
  for (int query = 0; query < Tokens; ++query)
    for (int key = 0; key < Tokens; ++key) mask.push_back(sees<Kind>(query, key) ? seen : hidden);
  return mask;
}

// A constant that is added to the scores, before or behind another one.
template <sight Kind, bool WithBias> struct hidden_by_sums {
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", f32, {1, 2, 50, 16}), k = g.input("k", f32, {1, 2, 50, 16});
    dk::tensor x = scaled_scores(q, k, 0.25);
    if (WithBias) x = x + g.weight("bias", {2, 50, 50});
    x = x + g.constant(mask_of<Kind, 50>(0, static_cast<double>(std::numeric_limits<float>::lowest())), {50, 50});
    g.output("y", dk::matmul(dk::softmax(x), g.input("v", f32, {1, 2, 50, 16})));
  }
};
static_assert(dk::compile<hidden_by_sums<sight::near, true>>::kernels == 1);

// Conditions that are computed of a constant, in either sense; another mask behind the second.
template <sight Kind, bool IfTrue> struct hidden_by_conditions {
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", f32, {3, 37, 8}), k = g.input("k", f32, {3, 37, 8});
    const dk::tensor seen = dk::cast(g.constant(mask_of<Kind, 37>(!IfTrue, IfTrue), {37, 37}), {.to = dk::boolean});
    dk::tensor x = dk::matmul(q, dk::transpose(k, {.perm = {0, 2, 1}}));
    if (IfTrue) x = dk::where(seen, g.scalar(-1e35), x) + g.input("later", f32, {3, 1, 37}) * g.scalar(2);
    else x = dk::where(seen, x, g.scalar(-1e4));
    g.output("y", dk::matmul(dk::softmax(x), k));
  }
};

// Something is made of the zeros that hidden keys have behind the softmax, so that they count; or not.
enum class behind { sum, difference, largest, choice, factor, quotient, choice_of_zero };
template <behind Kind> struct made_of_zeros {
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", f32, {1, 2, 40, 16}), k = g.input("k", f32, {1, 2, 40, 16});
    dk::tensor x = scaled_scores(q, k, 0.25);
    x = x + g.constant(mask_of<sight::near, 40>(0, -std::numeric_limits<double>::infinity()), {40, 40});
    const dk::tensor p = dk::softmax(x), w = g.input("w", f32, {40, 40});
    const dk::tensor made = [&] {
      switch (Kind) {
        case behind::sum:
          return p + 0.125;
        case behind::difference:
          return dk::neg(p) + 1.0;
        case behind::largest:
          return dk::max(p, g.scalar(0.01));
        case behind::choice:
          return dk::where(dk::greater(w, g.scalar(0)), p, g.scalar(0.5));
        case behind::factor:
          return p * w;
        case behind::quotient:
          return p / (w * w + 1.0);
        default:
          return dk::where(dk::greater(w, g.scalar(0)), p * 2.0, g.scalar(0));
      }
    }();
    g.output("y", dk::matmul(made, g.input("v", f32, {1, 2, 40, 16})));
  }
};

template <behind Kind>
constexpr std::size_t masks_of_zeros = [] {
  using net = dk::compile<made_of_zeros<Kind>>;
  const dk::plan::recipe& last = net::plan.recipes[net::plan.steps[0].kernel];
  return dk::cpu::attention_spec(dk::kernel_spec(net::plan, last)).masks().count;
}();
static_assert(masks_of_zeros<behind::sum> == 0 && masks_of_zeros<behind::choice> == 0);
static_assert(masks_of_zeros<behind::factor> == 1 && masks_of_zeros<behind::quotient> == 1);
static_assert(masks_of_zeros<behind::choice_of_zero> == 1);

// What each run computes, for two kernels: queries and keys of some number.
struct hidden_in_the_run {
  static constexpr void build(dk::builder& g) {
    const dk::sym queries{"Q", {.min = 1, .max = 60}}, keys{"K", {.min = 1, .max = 60}};
    const dk::tensor q = g.input("q", f32, {2, queries, 16}), k = g.input("k", f32, {2, keys, 16});
    const dk::tensor m = g.input("mask", f32, {queries, keys});
    const dk::tensor mask = dk::where(dk::greater(m, g.scalar(0.5)), g.scalar(0), g.scalar(-3e38));
    g.output("m", mask);
    for (const double scale : {0.25, 4.0}) {
      const dk::tensor x = dk::matmul(q, dk::transpose(k, {.perm = {0, 2, 1}})) * scale + mask;
      g.output(scale < 1 ? "y" : "z", dk::matmul(dk::softmax(x), k));
    }
  }
};
static_assert(dk::compile<hidden_in_the_run>::kernels == 3);

template <class Model> void check(const char* name) {
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    CHECK(harness::compiled_error(harness::compiled<Model>(name), seed) == "");
}

}  // namespace

TEST_CASE("attention in one kernel computes what its operators do, however the work is divided") {
  check<self_attention<50, 3, 16>>("self attention");
  check<masked>("masked");
  check<causal>("causal");
  check<lengths_at_run_time>("lengths at run time");
  harness::thoroughly([](auto) {
    check<along_queries>("along queries");
    check<self_attention<7, 1, 64>>("fewer queries than lanes");
    static_assert(dk::compile<shared_keys>::kernels == 1);
    check<shared_keys>("shared keys");
    static_assert(dk::compile<stored_by_queries>::kernels == 1);
    check<stored_by_queries>("stored by queries");
  });
}

TEST_CASE("masks that hide keys from whole tiles of queries") {
  check<hidden_by_sums<sight::before, false>>("keys behind the query");
  check<hidden_in_the_run>("masks of the run");
  harness::thoroughly([](auto) {
    check<hidden_by_sums<sight::near, true>>("keys near the query, with a bias");
    check<hidden_by_conditions<sight::none, false>>("queries that see no keys, by a condition");
    check<hidden_by_sums<sight::padded, true>>("padded at the front");
    check<hidden_by_sums<sight::none, false>>("queries that see no keys");
    static_assert(dk::compile<hidden_by_conditions<sight::before, false>>::kernels == 1);
    check<hidden_by_conditions<sight::before, false>>("by a condition");
    check<hidden_by_conditions<sight::padded, true>>("by a condition, and a mask behind it");
  });
}

TEST_CASE("hidden keys count where something is made of their zeros") {
  check<made_of_zeros<behind::sum>>("sum");
  harness::thoroughly([](auto) {
    check<made_of_zeros<behind::choice>>("choice");
    check<made_of_zeros<behind::factor>>("factor");
    check<made_of_zeros<behind::difference>>("difference");
    check<made_of_zeros<behind::largest>>("largest");
    check<made_of_zeros<behind::quotient>>("quotient");
    check<made_of_zeros<behind::choice_of_zero>>("choice of zero");
  });
}

// Without a number in keys and values that are hidden, a tile has numbers: they are not read.
TEST_CASE("keys that are hidden from a tile are not read") {
  constexpr std::size_t width = 16, head = 50 * width, hidden = 40;
  dk::session<dk::compile<hidden_by_sums<sight::before, false>>> net;
  std::vector<float> q(2 * head, 0.5f), k(2 * head, 0.25f), v(2 * head, 1.0f), y(2 * head);
  for (std::size_t i = 0; i < 2 * head; ++i)
    if (i % head >= hidden * width) k[i] = v[i] = std::numeric_limits<float>::quiet_NaN();
  net.run(std::span(q), std::span(k), std::span(v), std::span(y));
  constexpr std::size_t tile = 2 * dk::cpu::float_lanes, numbers = hidden / tile * tile;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 2 * head; ++i)
    if (i % head < numbers * width ? y[i] != 1.0f : (i % head >= hidden * width && y[i] == y[i])) ++wrong;
  CHECK(wrong == 0);
}
