// SPDX-License-Identifier: MIT
// Fusion on small graphs whose kernels are counted by hand.
#include "dnnkit/pass/plan_fusion.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

constexpr dk::tensor image(dk::builder& g) { return g.input("x", f32, {1, 8, 6, 6}); }
constexpr dk::tensor conv3(dk::builder& g, dk::tensor x, const char* name) {
  return dk::conv(x, g.weight(name, {8, 8, 3, 3}), {.pads = {1, 1, 1, 1}});
}

struct residual {  // Conv, BatchNormalization, Relu, Add: one kernel
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = image(g);
    g.output("y", dk::relu(dk::batch_normalization(conv3(g, x, "w"), g.batch_norm("bn", 8)) + x));
  }
};
static_assert(dk::compile<residual>::kernels == 1);

struct prologue {  // what stands before a convolution alone is computed by it
  static constexpr void build(dk::builder& g) { g.output("y", conv3(g, dk::relu(image(g)) * 2.0, "w")); }
};
static_assert(dk::compile<prologue>::kernels == 1);

struct producer_first {  // the epilogue of the first rather than the prologue of the second
  static constexpr void build(dk::builder& g) {
    g.output("y", conv3(g, dk::sigmoid(conv3(g, image(g), "a")) * 2.0, "b"));
  }
};
static_assert(dk::compile<producer_first>::kernels == 2);

struct computed_again {  // a cheap prologue of two convolutions is no kernel of its own
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = dk::relu(image(g) + 1.0);
    g.output("a", conv3(g, y, "a"));
    g.output("b", conv3(g, y, "b"));
  }
};
static_assert(dk::compile<computed_again>::kernels == 2);

struct stored_once {  // a prologue of two large operands is not computed twice
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = image(g) * g.input("z", f32, {1, 8, 6, 6});
    g.output("a", conv3(g, y, "a"));
    g.output("b", conv3(g, y, "b"));
  }
};
static_assert(dk::compile<stored_once>::kernels == 3);

struct given_out {  // a prologue that the graph gives out must be stored
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = dk::relu(image(g));
    g.output("y", y);
    g.output("a", conv3(g, y, "a"));
  }
};
static_assert(dk::compile<given_out>::kernels == 2);

struct excitation {  // pool and two 1x1 convolutions, which are stages; the multiplication goes in front of the last
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = conv3(g, image(g), "a");
    dk::tensor s = dk::global_average_pool(x);
    s = dk::relu(dk::conv(s, g.weight("d", {2, 8, 1, 1})));
    s = dk::sigmoid(dk::conv(s, g.weight("e", {8, 2, 1, 1})));
    g.output("y", conv3(g, x * s, "b"));
  }
};
static_assert(dk::compile<excitation>::kernels == 3);
static_assert(dk::compile<excitation>::plan.stages.size() == 2);

struct diamond {  // Relu and Add cannot be one kernel: the path through the product leaves it and comes back
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = dk::relu(g.input("x", f32, {4, 4}));
    g.output("y", y + dk::softmax(dk::softmax(y), {.axis = 0}));
  }
};
static_assert(dk::compile<diamond>::kernels >= 2 && dk::compile<diamond>::kernels <= 3);

struct movement {  // reshapes and transposes are views
  static constexpr void build(dk::builder& g) {
    dk::tensor t = g.input("x", f32, {2, 6, 8});
    t = dk::transpose(dk::reshape(t, {2, 6, 2, 4}), {.perm = {0, 2, 1, 3}});
    t = dk::matmul(t, dk::transpose(t, {.perm = {0, 1, 3, 2}}));
    g.output("y", dk::reshape(dk::transpose(dk::relu(t), {.perm = {0, 2, 1, 3}}), {2, 6, 12}));
  }
};
static_assert(dk::compile<movement>::kernels == 1);

struct shuffled {  // convolution, pixel shuffle, residual: one kernel
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = image(g);
    g.output("y", dk::relu(dk::depth_to_space(conv3(g, x, "w"), {.blocksize = 2}) + g.input("z", f32, {1, 2, 12, 12})));
  }
};
static_assert(dk::compile<shuffled>::kernels == 1);

struct masked {  // what is added to the product is computed from a small operand, from which the kernel grows
  static constexpr void build(dk::builder& g) {
    const dk::tensor bias = (1.0 - g.input("mask", f32, {2, 1, 1, 5})) * -1e4;
    const dk::tensor scores = dk::matmul(g.input("q", f32, {2, 3, 5, 4}), g.input("k", f32, {2, 3, 4, 5})) * 0.5;
    g.output("y", dk::relu(bias + scores));
  }
};
static_assert(dk::compile<masked>::kernels == 1);

struct other_coordinates {  // two different movements behind one anchor are not in the same coordinates
  static constexpr void build(dk::builder& g) {
    const dk::tensor y = dk::matmul(g.input("x", f32, {4, 4}), g.weight("w", {4, 4}));
    g.output("y", dk::transpose(y) + dk::reshape(dk::reshape(y, {2, 8}), {4, 4}));
  }
};
static_assert(dk::compile<other_coordinates>::kernels == 2);

struct setup_only {  // what depends on weights alone is computed when the session is made
  static constexpr void build(dk::builder& g) {
    const dk::tensor w = dk::softmax(dk::exp(g.weight("w", {4, 4})));
    g.output("y", dk::matmul(g.input("x", f32, {3, 4}), w));
  }
};
static_assert(dk::compile<setup_only>::kernels == 1);
static_assert(dk::compile<setup_only>::plan.setup_steps.size() == 2);

struct same_kernels {  // equal groups are instantiated once; the first is another, its input being the caller's
  static constexpr void build(dk::builder& g) {
    dk::tensor x = g.input("x", f32, {600, 16});
    for (const char* name : {"a", "b", "c", "d"}) x = dk::relu(dk::matmul(x, g.weight(name, {16, 16})));
    g.output("y", x);
  }
};
static_assert(dk::compile<same_kernels>::kernels == 4);
static_assert(dk::compile<same_kernels>::distinct_kernels == 2);

// A rule of the user's own: nothing follows a matrix product.
struct bare_products {
  [[maybe_unused]] static constexpr std::string_view name = "bare products";
  static constexpr dk::verdict decide(const dk::passes::fusion_edge& edge, dk::mapping, dk::mapping, dk::verdict v) {
    return edge.g.is<dk::op::matmul>(edge.first) ? dk::verdict::never : v;
  }
};
static_assert(dk::compile<same_kernels, dk::targets::native, dk::pipeline_with_rules<bare_products>>::kernels ==
              5);  // Relu goes in front

struct no_prologues {
  [[maybe_unused]] static constexpr std::string_view name = "no prologues";
  static constexpr dk::verdict decide(const dk::passes::fusion_edge& edge, dk::mapping, dk::mapping, dk::verdict v) {
    return dk::plan::fusion_blocks::is_anchor(edge.second) ? dk::verdict::never : v;
  }
};
static_assert(
    dk::compile<same_kernels, dk::targets::native, dk::pipeline_with_rules<bare_products, no_prologues>>::kernels == 8);
static_assert(dk::compile<prologue, dk::targets::native, dk::pipeline_with_rules<no_prologues>>::kernels == 2);

// A rule about one edge is asked whichever edge its operators would come together by.
struct detour {
  static constexpr void build(dk::builder& g) {
    const auto x = dk::exp(g.input("x", dk::f32, {64}));
    g.output("y", x + dk::relu(x));
  }
};
struct no_sum_behind_exp {
  [[maybe_unused]] static constexpr std::string_view name = "no sum behind exp";
  static constexpr dk::verdict decide(const dk::passes::fusion_edge& edge, dk::mapping, dk::mapping, dk::verdict v) {
    return edge.g.is<dk::op::exp>(edge.first) && edge.g.is<dk::op::add>(edge.second) ? dk::verdict::never : v;
  }
};
static_assert(dk::compile<detour>::kernels == 1);
static_assert(dk::compile<detour, dk::targets::native, dk::pipeline_with_rules<no_sum_behind_exp>>::kernels == 2);

// And so is one about movement that the kernel before would store.
struct moved_at_last {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::transpose(dk::exp(g.input("x", dk::f32, {8, 9})), {.perm = {1, 0}}));
  }
};
struct transposes_alone {
  [[maybe_unused]] static constexpr std::string_view name = "transposes alone";
  static constexpr dk::verdict decide(const dk::passes::fusion_edge& edge, dk::mapping, dk::mapping, dk::verdict v) {
    return edge.g.is<dk::op::transpose>(edge.second) ? dk::verdict::never : v;
  }
};
static_assert(dk::compile<moved_at_last>::kernels == 1);
static_assert(dk::compile<moved_at_last, dk::targets::native, dk::pipeline_with_rules<transposes_alone>>::kernels == 2);

}  // namespace

TEST_CASE("every edge that was asked about has a reason") {
  const dk::schedule s = dk::default_pipeline::run_logged(dk::graph_of<diamond>());
  CHECK(dk::verify(s).str() == "");
  bool circle = false;
  std::size_t edges = 0;
  for (const dk::plan::decision& d : s.log.decisions) {
    if (d.pass != "plan fusion") continue;
    ++edges;
    CHECK_FALSE(d.reason.empty());
    CHECK_FALSE(d.meaning.empty());
    CHECK(d.first != d.second);
    for (const dk::plan::fusion_reason r : {dk::plan::fusion_reason::path_returns, dk::plan::fusion_reason::one_anchor,
                                            dk::plan::fusion_reason::mapping_types})
      circle = circle || d.reason == dk::plan::words_of(r).name;
  }
  CHECK(edges > 0);
  CHECK(circle);
}

TEST_CASE("a graph of many branches is planned in a runnable order") {
  dk::builder b;
  dk::tensor x = b.input("x", f32, {4, 4});
  for (int i = 0; i < 12; ++i) {
    const dk::tensor y = dk::relu(x), z = dk::softmax(y);
    x = y + dk::transpose(z) * x;
    if (i % 3 == 0) x = dk::matmul(x, z);
  }
  b.output("y", x);
  CHECK(dk::verify(dk::default_pipeline::run(b.value())).str() == "");
}

// x -> transpose(x) + x, many times: computed in one kernel, each would be computed twice by the next.
static dk::tensor doubled(dk::tensor x, int times) {
  for (int i = 0; i < times; ++i) x = dk::transpose(x) + x;
  return x;
}
static bool has_reason(const dk::schedule& s, dk::plan::fusion_reason reason) {
  for (const dk::plan::decision& d : s.log.decisions)
    if (d.reason == dk::plan::words_of(reason).name) return true;
  return false;
}

TEST_CASE("what is read through several views is stored where it would be computed again and again") {
  dk::builder alone, behind, in_front;
  alone.output("y", doubled(alone.input("x", f32, {3, 3}), 12));
  const dk::tensor w = behind.weight("w", {3, 3}), x = behind.input("x", f32, {3, 3});
  behind.output("y", dk::matmul(x, w) + doubled(x, 12));
  in_front.output("y", dk::matmul(doubled(in_front.input("x", f32, {3, 3}), 12), in_front.weight("w", {3, 3})));
  for (dk::builder* b : {&alone, &behind, &in_front}) {
    const dk::schedule s = dk::default_pipeline::run_logged(b->value());
    CHECK(dk::verify(s).str() == "");
    CHECK(s.plan.nodes.size() <= 12 * dk::plan::operand_walk<dk::plan::operand_check>::most_evaluations + 1);
    CHECK(s.plan.steps.size() <= 8);
    CHECK(has_reason(s, dk::plan::fusion_reason::too_many_evaluations));
  }
}

TEST_CASE("a value that is read twice at each of many levels is seen to once at each") {
  dk::builder b;
  const dk::tensor x = b.input("x", f32, {4, 6});
  const auto twice = [](dk::tensor y, int times) {
    for (int i = 0; i < times; ++i) y = y + y;
    return y;
  };
  b.output("y", twice(dk::transpose(dk::matmul(x, b.weight("w", {6, 6}))), 14) + twice(b.input("z", f32, {6, 4}), 14));
  const dk::schedule s = dk::default_pipeline::run(b.value());
  CHECK(dk::verify(s).str() == "");
  CHECK(s.plan.nodes.size() == 29);
}

TEST_CASE("a kernel that grows to what is read twice at each of many levels asks once at each") {
  dk::builder b;
  dk::tensor y = b.input("x", f32, {64, 64});
  for (int i = 0; i < 27; ++i) y = y + y;
  b.output("y", dk::relu(dk::narrow(y, 0, 0, 2)));  // the smallest result, from which the kernel grows
  const dk::schedule s = dk::default_pipeline::run_logged(b.value());
  CHECK(s.plan.steps.size() == 1);
  CHECK(s.log.decisions.size() < 100);
}

// product -> relu -> broadcast to the results of a kernel that has grown from a smaller value: what is asked of the
// first edge is how the product's elements are mapped to those, not only what relu does.
TEST_CASE("an edge upwards is judged by what lies behind it") {
  dk::builder b;
  const dk::tensor small = dk::exp(b.input("s", f32, {8}));  // the kernel grows from here
  const dk::tensor row = dk::relu(dk::matmul(b.input("a", f32, {1, 64}), b.weight("w", {64, 8})));
  b.output("y", (b.input("x", f32, {64, 8}) + small) * row);
  const dk::schedule s = dk::default_pipeline::run_logged(b.value());
  bool found = false;
  for (const dk::plan::decision& d : s.log.decisions)
    if (d.first != dk::none && s.g.node_at(d.first).op->name == "MatMul" && d.asked) {
      found = true;
      CHECK(d.reason == dk::plan::words_of(dk::plan::fusion_reason::profile).name);
    }
  CHECK(found);
  CHECK(s.plan.steps.size() == 2);
}

TEST_CASE("what a successor reads besides joins where neither is moved") {
  const auto steps_of = [](auto sum) {
    dk::builder b;
    const dk::tensor product = dk::relu(dk::matmul(b.input("a", f32, {6, 6}), b.weight("w", {6, 6})));
    b.output("y", sum(product, dk::exp(b.input("x", f32, {6, 6}))));
    const dk::schedule s = dk::default_pipeline::run_logged(b.value());
    CHECK(has_reason(s, dk::plan::fusion_reason::moved_operand_of_successor) == (s.plan.steps.size() == 2));
    return s.plan.steps.size();
  };
  CHECK(steps_of([](dk::tensor p, dk::tensor x) { return p + x; }) == 1);
  CHECK(steps_of([](dk::tensor p, dk::tensor x) { return p + dk::transpose(x); }) == 2);
  CHECK(steps_of([](dk::tensor p, dk::tensor x) { return dk::transpose(p) + x; }) == 2);
}

// A bias that the run computes, in the shape of a channel: the kernel that grows from its few elements must leave the
// sum to the product, which would else store its result for that kernel to read.
TEST_CASE("a small value that is moved and spread leaves its reader to the larger operand's kernel") {
  dk::builder b;
  const dk::tensor product = dk::matmul(b.input("a", f32, {6, 8}), b.weight("w", {8, 10}));
  const dk::tensor bias = dk::reshape(dk::exp(b.input("b", f32, {6})), {6, 1});
  b.output("y", dk::relu(product + bias));
  const dk::schedule s = dk::default_pipeline::run_logged(b.value());
  CHECK(has_reason(s, dk::plan::fusion_reason::spread_over_successor));
  REQUIRE(s.plan.steps.size() == 2);
  for (const dk::plan::fusion_group& group : s.fusion.groups)
    CHECK(group.nodes.size() == (group.anchor == dk::none ? 1 : 3));
}

TEST_CASE("nodes that wait for each other are the graph's error") {
  dk::builder b;
  const dk::tensor y = dk::softmax(b.input("x", f32, {4, 6}));
  b.output("y", dk::softmax(y, {.axis = 0}));
  dk::schedule s;
  s.g = b.value();
  s.g.operands[s.g.node_at(0).inputs.first] = s.g.node_at(1).output;
  dk::passes::plan_fusion<dk::passes::profile_rule>::run(s);
  CHECK(s.g.error.str() == "Softmax waits for itself: the graph's nodes are in no order in which they can run");
}

namespace {

// Does no kernel need, over any way, what it stores itself? Nothing of the pass's own order is used: only who is in
// which kernel, what kernels store, and what each reads.
bool has_no_cycle(const dk::schedule& s) {
  const auto& groups = s.fusion.groups;
  std::vector<std::vector<std::size_t>> needs(groups.size());
  std::vector<std::vector<std::size_t>> stored_by(s.g.values.size());
  for (std::size_t k = 0; k < groups.size(); ++k)
    for (const dk::value_id v : groups[k].outputs) stored_by[static_cast<std::size_t>(v)].push_back(k);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const std::set<dk::node_id> members(groups[k].nodes.begin(), groups[k].nodes.end());
    for (const dk::node_id n : groups[k].nodes)
      for (std::size_t i = 0; i < s.g.node_at(n).inputs.count; ++i)
        for (dk::value_id v = s.g.input_of(s.g.node_at(n), i); v != dk::none;) {
          const dk::node_id p = s.g.at(v).producer;
          if (p == dk::none || members.contains(p)) break;
          for (const std::size_t other : stored_by[static_cast<std::size_t>(v)]) needs[k].push_back(other);
          if (!stored_by[static_cast<std::size_t>(v)].empty() || s.g.node_at(p).op->kind != dk::form::movement) break;
          v = s.g.input_of(s.g.node_at(p), 0);  // movement, which is seen through
        }
  }
  std::vector<int> seen(groups.size(), 0);  // 1: on the way, 2: done
  const auto is_free = [&](auto&& self, std::size_t k) -> bool {
    if (seen[k] != 0) return seen[k] == 2;
    seen[k] = 1;
    for (const std::size_t other : needs[k])
      if (!self(self, other)) return false;
    seen[k] = 2;
    return true;
  };
  for (std::size_t k = 0; k < groups.size(); ++k)
    if (!is_free(is_free, k)) return false;
  return true;
}

}  // namespace

TEST_CASE("kernels never form a cycle") {
  std::size_t kernels = 0, fused = 0;
  for (const std::uint64_t seed : harness::seeds(1, 400)) {
    dk::builder b;
    random_graph(b, seed, {.least_operators = 8, .most_operators = 60, .branches = true}).build();
    using passes = decltype(dk::rewriting_of<dk::default_pipeline>{} + dk::pipeline<dk::passes::default_fusion<>>{});
    for (const bool is_measured : {true, false}) {
      const dk::schedule s =
          is_measured ? passes::run<dk::targets::avx2>(b.value()) : passes::run<dk::targets::sse2>(b.value());
      REQUIRE_MESSAGE(s.g.error.str() == "", "seed " << seed);
      CHECK_MESSAGE(has_no_cycle(s), "seed " << seed);
      kernels += s.fusion.groups.size();
      for (const dk::plan::fusion_group& group : s.fusion.groups) fused += group.nodes.size() > 2;
    }
  }
  CHECK(kernels > 2000);
  CHECK(fused > 300);
}
