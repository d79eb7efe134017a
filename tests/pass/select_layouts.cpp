// SPDX-License-Identifier: MIT
// Which order values have is what the families say is cheaper, or an estimate; where memory keeps one dimension
// contiguous and readers wish for two, a second layout; where it keeps two, one layout with both.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/select_layouts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "tests/support/layouts_by_rules.hpp"
#include "tests/support/plan_check.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

// Convolutions whose channels fill a vector and a half.
constexpr void build(dk::builder& g) {
  dk::tensor x = g.input("x", f32, {1, 24, 48, 64});
  for (const char* name : {"a", "b", "c"})
    x = dk::relu(dk::conv(x, g.weight(name, {24, 24, 3, 3}), {.pads = {1, 1, 1, 1}}));
  g.output("y", dk::reduce_mean(x, {.axes = {2, 3}}));
}

dk::schedule logged(const dk::family_table& families) {
  dk::builder b;
  build(b);
  return dk::default_pipeline::run_logged<dk::targets::avx512>(b.value(), families);
}
bool is_channels_last(const dk::schedule& s) {
  bool any = false;
  for (const dk::plan::buffer_layout& l : s.layouts) any = any || (l.order.size() == 4 && l.order[3] == 1);
  return any;
}
// What the pass compared of the value that it says most of.
std::vector<dk::plan::compared_cost> compared(const dk::schedule& s) {
  std::vector<dk::plan::compared_cost> costs;
  for (const dk::plan::decision& d : s.log.decisions)
    if (d.pass == "select layouts" && d.costs.count == 2)
      costs.assign(s.log.costs.begin() + d.costs.first, s.log.costs.begin() + d.costs.first + 2);
  return costs;
}

// conv_nchw at so many cycles.
template <int Cycles> struct own_conv : dk::cpu::conv_nchw {
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    const dk::kernel_match usual = dk::cpu::conv_nchw::match(spec, facts);
    if (!usual || usual->operands[0] == dk::operand_reading::staged) return usual;
    dk::kernel_choice c = *usual;
    c.cost.cycles = Cycles;
    return c;
  }
};
template <int Cycles>
constexpr dk::family_table with_planar_at = (dk::cpu::default_families + dk::family_list<own_conv<Cycles>>{}).table;

}  // namespace

TEST_CASE("the cheaper order is taken, and both costs are kept") {
  const dk::schedule s = logged(dk::cpu::default_families.table);
  const auto costs = compared(s);
  REQUIRE(costs.size() == 2);
  CHECK(costs[0].what == "channels last");
  CHECK(costs[0].unit == "cycles");
  CHECK(costs[1].what == "row-major");
  CHECK(costs[0].amount > 0);
  CHECK(costs[1].amount > 0);
  CHECK(is_channels_last(s) == (costs[0].amount <= costs[1].amount));
}
TEST_CASE("families are asked: one that is cheap channels first makes them so") {
  const dk::schedule cheap = logged(with_planar_at<1>);
  CHECK(!is_channels_last(cheap));
  CHECK(compared(cheap)[1].amount < compared(cheap)[0].amount);
}
TEST_CASE("without families, the order of fewer multiply-adds") {
  const dk::schedule s = logged(std::nullopt);
  const auto costs = compared(s);
  REQUIRE(costs.size() == 2);
  CHECK(costs[1].amount < costs[0].amount);
  CHECK(!is_channels_last(s));
}

namespace {

// Memory of each kind, and kernels that nothing else is known of.
template <dk::memory_kind Kind> struct bare {
  static constexpr std::string_view name = "bare", flags = "";
  static constexpr bool channels_last = true, multiplies_bytes = false;
  static constexpr dk::memory_kind activations = Kind;
  static constexpr std::int64_t float_lanes = 4;
};
static_assert(dk::contiguous_dimensions_of<bare<dk::memory_kind::buffer>>() == 1);
static_assert(dk::contiguous_dimensions_of<bare<dk::memory_kind::texture>>() == 2);
static_assert(dk::contiguous_dimensions_of<dk::targets::avx512>() == 1);

// A value that two kernels reduce over dimension 1, and two over dimension 3.
dk::graph reduced_both_ways() {
  dk::builder g;
  const dk::tensor v = dk::softmax(g.input("x", dk::f32, {2, 64, 6, 32}), {.axis = 2});
  g.output("a", dk::softmax(v, {.axis = 1}));
  g.output("b", dk::reduce_max(v, {.axes = {1}}));
  g.output("c", dk::softmax(v, {.axis = 3}));
  g.output("d", dk::reduce_max(dk::transpose(v, {.perm = {0, 3, 1, 2}}), {.axes = {1}}));
  return g.value();
}
template <dk::memory_kind Kind> dk::schedule planned(const dk::graph& g) {
  return dk::default_pipeline::run_logged<bare<Kind>>(g);
}
std::size_t copies(const dk::schedule& s) {
  std::size_t n = 0;
  for (const dk::plan::step& step : s.plan.steps) {
    const dk::plan::recipe& r = s.plan.recipes[step.kernel];
    n += r.anchor.id == dk::operator_id::none && r.nodes.count == 0 ? 1u : 0u;
  }
  return n;
}
// The orders of what is stored in the arena.
std::vector<std::vector<int>> orders(const dk::schedule& s) {
  std::vector<std::vector<int>> all;
  for (const dk::plan::buffer& b : s.plan.buffers)
    if (b.where == dk::plan::storage::arena) {
      all.emplace_back();
      for (std::uint8_t d : b.layout.order) all.back().push_back(d);
    }
  return all;
}
void check_results(const dk::graph& g, const dk::schedule& s) {
  REQUIRE_MESSAGE(s.is_right(), s.g.error.str());
  const dk::text wrong = dk::verify(s);
  CHECK_MESSAGE(wrong.empty(), wrong.str());
  const std::string difference = harness::error_of_plan(g, s.plan, 1);
  CHECK_MESSAGE(difference.empty(), difference);
}

}  // namespace

TEST_CASE("one dimension contiguous at a time: a copy in a second layout, which the readers along it read") {
  const dk::graph g = reduced_both_ways();
  const dk::schedule s = planned<dk::memory_kind::buffer>(g);
  check_results(g, s);
  CHECK(copies(s) == 1);
  const auto stored = orders(s);
  REQUIRE(stored.size() == 2);
  CHECK(stored[0] != stored[1]);
  CHECK(stored[0].back() + stored[1].back() == 1 + 3);
  CHECK(s.plan.steps.size() == 6);
}
TEST_CASE("two dimensions contiguous at a time: one layout that keeps both") {
  const dk::graph g = reduced_both_ways();
  const dk::schedule s = planned<dk::memory_kind::texture>(g);
  check_results(g, s);
  CHECK(copies(s) == 0);
  CHECK(orders(s) == std::vector<std::vector<int>>{{0, 2, 1, 3}});
}
TEST_CASE("what is written through a transposition lies as its reader wants it") {
  // an image's pixels become tokens, whose channels are their last dimension
  dk::builder b;
  const dk::tensor x = dk::conv(b.input("x", dk::f32, {1, 16, 64}), b.weight("w", {32, 16, 3}), {.pads = {1, 1}});
  const dk::tensor tokens = dk::transpose(x, {.perm = {0, 2, 1}});
  b.output("y", dk::layer_normalization(tokens, b.weight("s", {32}), b.weight("t", {32})) + tokens);
  const dk::schedule s =
      harness::layouts_by_rules<>::run_logged<dk::targets::avx512>(b.value(), dk::cpu::default_families.table);
  check_results(b.value(), s);
  for (const dk::plan::buffer& stored : s.plan.buffers)
    if (stored.where == dk::plan::storage::arena) {
      const dk::shape& dims = stored.type.dims;
      CHECK(dims[stored.layout.order.back()] == dk::dim(32));
    }
}
TEST_CASE("a copy is not made where a branch may be left out") {
  dk::builder b;
  const dk::tensor v = dk::softmax(b.input("x", dk::f32, {2, 64, 6, 32}), {.axis = 2});
  const dk::tensor c = b.input("c", dk::boolean, {});
  b.output("y", dk::combine(c, dk::softmax(dk::softmax(v, {.axis = 1}), {.axis = 2}), dk::softmax(v, {.axis = 3})));
  b.output("z", dk::softmax(v, {.axis = 1}));
  b.output("u", dk::softmax(v, {.axis = 3}));
  const dk::schedule s = planned<dk::memory_kind::buffer>(b.value());
  check_results(b.value(), s);
  CHECK(copies(s) == 0);
}

namespace {
struct read_both_ways {
  static constexpr void build(dk::builder& g) {
    const dk::tensor v = dk::softmax(g.input("x", dk::f32, {2, 64, 6, 32}), {.axis = 2});
    g.output("a", dk::softmax(v, {.axis = 1}));
    g.output("b", dk::softmax(v, {.axis = 3}));
  }
};
// The compiler makes copies, too.
using in_buffers = dk::pipeline<dk::passes::default_fusion<>, dk::passes::select_layouts, dk::passes::make_plan>;
constexpr std::size_t steps_in_the_compiler = [] {
  dk::builder g;
  read_both_ways::build(g);
  return in_buffers::run<bare<dk::memory_kind::buffer>>(g.value()).plan.steps.size();
}();
static_assert(steps_in_the_compiler == 4);
}  // namespace
TEST_CASE("what a convolution stores behind a Transpose, and what is computed of it, has the order of its own axes") {
  dk::builder b;
  const dk::tensor x = b.input("x", f32, {1, 32, 50}), residual = b.input("r", f32, {1, 50, 48});
  const dk::tensor y = dk::relu(dk::conv(x, b.weight("a", {64, 32, 3}), {.pads = {1, 1}}));
  const dk::tensor rows = dk::transpose(dk::conv(y, b.weight("b", {48, 64, 1})), {.perm = {0, 2, 1}}) + residual;
  b.output("y", dk::matmul(dk::softmax(rows), b.weight("c", {48, 16})) + dk::reduce_max(rows, {.axes = {-1}}));
  const dk::schedule s = dk::default_pipeline::run<dk::targets::avx512>(b.value(), dk::cpu::default_families.table);
  REQUIRE(s.plan.error.str() == "");
  int turned = 0, channels_last = 0;
  for (const dk::plan::buffer& of : s.plan.buffers) {
    if (of.where != dk::plan::storage::arena || of.type.dims.size() != 3) continue;
    if (of.type.dims[1] == dk::dim(50)) {
      ++turned;
      CHECK(of.layout.order[2] == 2);
    } else {
      ++channels_last;
      CHECK(of.layout.order[2] == 1);
    }
  }
  CHECK(turned > 0);
  CHECK(channels_last > 0);
}
TEST_CASE("what attention writes lies as the product behind it reads it, heads beside each other") {
  dk::builder b;
  const auto heads = [&](const char* name) { return b.input(name, f32, {1, 12, 128, 26}); };
  const dk::tensor scores = dk::matmul(heads("q"), dk::transpose(heads("k"), {.perm = {0, 1, 3, 2}}));
  const dk::tensor out = dk::matmul(dk::softmax(scores), heads("v"));
  const dk::tensor joined = dk::reshape(dk::transpose(out, {.perm = {0, 2, 1, 3}}), {1, 128, 312});
  b.output("y", dk::matmul(joined, b.weight("w", {312, 312})));
  const dk::schedule s =
      dk::default_pipeline::run_logged<dk::targets::avx512>(b.value(), dk::cpu::default_families.table);
  REQUIRE(s.plan.error.str() == "");
  int stored = 0;
  for (const dk::plan::buffer& of : s.plan.buffers) {
    if (of.where != dk::plan::storage::arena) continue;
    ++stored;
    CHECK(of.type.dims.size() == 4);
    CHECK(of.layout.order == dk::detail::storage_order{0, 2, 1, 3});
  }
  CHECK(stored == 1);
}
TEST_CASE("by rules, no costs are asked where what is reduced over as one dimension is innermost already") {
  dk::builder b;
  const dk::tensor rows = dk::softmax(b.input("x", f32, {1, 12, 128, 26}));
  b.output("y", dk::matmul(dk::reshape(rows, {1, 12, 3328}), b.weight("w", {3328, 16})));
  const dk::schedule s =
      harness::layouts_by_rules<>::run_logged<dk::targets::avx512>(b.value(), dk::cpu::default_families.table);
  REQUIRE(s.plan.error.str() == "");
  int content = 0;
  for (const dk::plan::decision& d : s.log.decisions) {
    if (d.pass != "select layouts") continue;
    CHECK(d.costs.count == 0);
    content += d.verdict == "row-major" && d.reason == "all kernels that read or write it are best at it so" ? 1 : 0;
  }
  CHECK(content == 1);
}

TEST_CASE("orders are called by what tells them from row-major") {
  using order = dk::detail::storage_order;
  static_assert(dk::detail::name_of(order{0, 1, 2, 3}) == "row-major");
  static_assert(dk::detail::name_of(order{0, 2, 3, 1}) == "channels last");
  static_assert(dk::detail::name_of(order{1, 0}) == "dimension 0 innermost");
  static_assert(dk::detail::name_of(order{0, 2, 1, 3}) == "dimensions 1, 3 innermost");
  static_assert(dk::detail::name_of(order{1, 0, 2, 3}) == "outer dimensions exchanged");
}
