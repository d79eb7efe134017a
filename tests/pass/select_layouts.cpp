// SPDX-License-Identifier: MIT
// The order of activations where channels last leaves lanes of vectors empty is what the families say is cheaper.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/select_layouts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "dnnkit/compile.hpp"

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
  CHECK(costs[1].what == "channels first");
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
  CHECK(costs[0].unit == "multiply-adds, empty lanes included");
  CHECK(!is_channels_last(s));
}
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
