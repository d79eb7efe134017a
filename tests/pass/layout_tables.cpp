// SPDX-License-Identifier: MIT
// SmartMem's Tables 5 and 6, cell by cell, and what the passes make of them.
#include "dnnkit/pass/layout_tables.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"

namespace dk = dnnkit;
namespace op = dnnkit::op;

namespace {

using enum dk::layout_class;
using enum dk::layout_action;
using search = dk::layout_search;

// Table 5
constexpr bool action(dk::layout_class first, dk::layout_class second, dk::layout_action expected) {
  return dk::plan::about_layouts(first, second).action == expected;
}
// Table 6
constexpr bool output(dk::layout_class first, dk::layout_class second, dk::layout_class type, search layouts) {
  const dk::plan::layout_pair& p = dk::plan::about_layouts(first, second);
  return p.result == type && p.search == layouts;
}
constexpr bool no_output(dk::layout_class first, dk::layout_class second, search layouts) {
  const dk::plan::layout_pair& p = dk::plan::about_layouts(first, second);
  return !p.result && p.search == layouts;
}

}  // namespace

// Table 5, row by row: columns ILD & Variable, ILI & Variable, ILD & Fixed, ILI & Fixed
static_assert(action(ild_variable, ild_variable, keep_both));
static_assert(action(ild_variable, ili_variable, try_fuse));
static_assert(action(ild_variable, ild_fixed, eliminate_second));
static_assert(action(ild_variable, ili_fixed, eliminate_second));

static_assert(action(ili_variable, ild_variable, try_fuse));
static_assert(action(ili_variable, ili_variable, try_fuse));
static_assert(action(ili_variable, ild_fixed, eliminate_second));
static_assert(action(ili_variable, ili_fixed, eliminate_second));

static_assert(action(ild_fixed, ild_variable, eliminate_first));
static_assert(action(ild_fixed, ili_variable, eliminate_first));
static_assert(action(ild_fixed, ild_fixed, eliminate_both));
static_assert(action(ild_fixed, ili_fixed, eliminate_both));

static_assert(action(ili_fixed, ild_variable, eliminate_first));
static_assert(action(ili_fixed, ili_variable, eliminate_first));
static_assert(action(ili_fixed, ild_fixed, eliminate_both));
static_assert(action(ili_fixed, ili_fixed, eliminate_both));

// Table 6, in the same order
static_assert(output(ild_variable, ild_variable, ild_variable, search::both));
static_assert(output(ild_variable, ili_variable, ild_variable, search::fused));
static_assert(output(ild_variable, ild_fixed, ild_variable, search::first));
static_assert(output(ild_variable, ili_fixed, ild_variable, search::first));

static_assert(output(ili_variable, ild_variable, ild_variable, search::fused));
static_assert(output(ili_variable, ili_variable, ili_variable, search::none));
static_assert(output(ili_variable, ild_fixed, ili_variable, search::none));
static_assert(output(ili_variable, ili_fixed, ili_variable, search::none));

static_assert(output(ild_fixed, ild_variable, ild_variable, search::second));
static_assert(output(ild_fixed, ili_variable, ili_variable, search::none));
static_assert(no_output(ild_fixed, ild_fixed, search::none));
static_assert(no_output(ild_fixed, ili_fixed, search::none));

static_assert(output(ili_fixed, ild_variable, ild_variable, search::second));
static_assert(output(ili_fixed, ili_variable, ili_variable, search::none));
static_assert(no_output(ili_fixed, ild_fixed, search::none));
static_assert(no_output(ili_fixed, ili_fixed, search::none));

// What is eliminated whatever it stands beside: operators whose output layout is fixed.
static_assert(dk::plan::is_eliminated(ild_fixed) && dk::plan::is_eliminated(ili_fixed));
static_assert(!dk::plan::is_eliminated(ild_variable) && !dk::plan::is_eliminated(ili_variable));

// Section 3.2: "the layout search only happens for the operator pairs involving ILD & Variable".
static_assert([] {
  for (const auto first : {ild_variable, ili_variable, ild_fixed, ili_fixed})
    for (const auto second : {ild_variable, ili_variable, ild_fixed, ili_fixed})
      if ((dk::plan::about_layouts(first, second).search != search::none) !=
          (first == ild_variable || second == ild_variable))
        return false;
  return true;
}());

namespace {

struct mover {
  std::string_view op, reason;
};
// The kernels of a run that only move elements, as the log has them.
std::vector<mover> movers(const dk::builder& b) {
  dk::schedule s = dk::default_pipeline::run_logged<dk::targets::avx2>(b.value());
  REQUIRE(s.is_right());
  std::vector<mover> found;
  for (const dk::plan::decision& d : s.plan.decisions)
    if (d.verdict == "only moves elements") found.push_back({s.g.node_at(d.second).op->name, d.reason});
  return found;
}

}  // namespace

TEST_CASE("Conv + Reshape: the Reshape is eliminated, and nothing only moves elements") {
  dk::builder g;
  const dk::tensor x = g.input("x", dk::f32, {1, 8, 6, 6});
  const dk::tensor c = dk::relu(dk::conv(x, g.weight("w", {8, 8, 1, 1})));
  const dk::tensor t = dk::transpose(dk::reshape(c, {8, 36}), {.perm = {1, 0}});
  g.output("y", dk::softmax(t, {.axis = 1}));
  CHECK(movers(g).empty());
}
TEST_CASE("a kernel that only moves elements says why it is there") {
  dk::builder g;
  const dk::tensor x = g.input("x", dk::f32, {4, 6}), i = g.input("i", dk::i64, {3});
  g.output("picked", dk::softmax(dk::gather(x, i), {.axis = 1}));
  g.output("moved", dk::transpose(x, {.perm = {1, 0}}));
  g.output("copied", dk::softmax(dk::pad(x, {.pads = {1, 0, 1, 0}}), {.axis = 0}));
  const std::vector<mover> found = movers(g);
  const auto reason_of = [&](std::string_view name) {
    const auto at = std::find_if(found.begin(), found.end(), [&](const mover& m) { return m.op == name; });
    return at == found.end() ? std::string_view() : at->reason;
  };
  CHECK(reason_of("Gather") == "indices pick its elements");
  CHECK(reason_of("Transpose") == "no kernel computes what it moves");
  CHECK(reason_of("Pad") == "no view has its elements");
}
