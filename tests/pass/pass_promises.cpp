// SPDX-License-Identifier: MIT
// What passes that are not the library's must not do is the graph's error behind them, and names them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/pass_promises.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "dnnkit/reference/plan_executor.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

namespace {

// A Softmax that has a kernel of its own, between an input and an output of rank 3, and a weight of rank 3.
dk::graph example() {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {"N", 3, 4});
  const dk::tensor s = b.named("middle", dk::softmax(x, {.axis = 1}));
  b.output("y", dk::softmax(s + b.weight("w", {1, 3, 4}), {.axis = 2}));
  b.output("z", dk::reduce_sum(s, {.axes = {0}}));
  return std::move(b.value());
}
dk::value_id middle(const dk::graph& g) {
  for (const dk::node& n : g.nodes)
    if (g.text_of(n.name) == "middle") return n.output;
  return dk::none;
}

// Passes as a test writes them, one at a time.
struct of_graphs {
  static constexpr std::string_view name = "mine";
  static inline void (*change)(dk::graph&) = nullptr;
  static dk::graph run(dk::graph g) {
    change(g);
    return g;
  }
};
struct of_schedules {
  static constexpr std::string_view name = "mine";
  static inline void (*change)(dk::schedule&) = nullptr;
  static void run(dk::schedule& s) { change(s); }
};

std::string error_behind(void (*change)(dk::graph&)) {
  of_graphs::change = change;
  return decltype(dk::pipeline<of_graphs>{} + dk::default_pipeline{})::run(example()).plan.error.str();
}
using policed =
    dk::replaced<dk::default_pipeline, dk::passes::select_layouts, dk::passes::select_layouts, of_schedules>;
std::string error_behind(void (*change)(dk::schedule&)) {
  of_schedules::change = change;
  return policed::run(example()).plan.error.str();
}

}  // namespace

TEST_CASE("outputs and inputs stay what they are") {
  CHECK(error_behind(+[](dk::graph&) {}) == "");
  CHECK(error_behind(+[](dk::graph& g) { std::swap(g.outputs[0], g.outputs[1]); }) ==
        "the pass 'mine' changes output 'y' from f32 [N, 3, 4] to f32 [1, 3, 4]");
  CHECK(error_behind(+[](dk::graph& g) { g.outputs.pop_back(), g.output_names.pop_back(); }) ==
        "the pass 'mine' leaves 1 output of a network that has 2");
  CHECK(error_behind(+[](dk::graph& g) { g.output_names[1] = g.output_names[0]; }) ==
        "the pass 'mine' gives output 'z' the name 'y'");
  CHECK(error_behind(+[](dk::graph& g) { g.at(g.outputs[1]).type.type = dk::f64; }) ==
        "the pass 'mine' changes output 'z' from f32 [1, 3, 4] to f64 [1, 3, 4]");
  CHECK(error_behind(+[](dk::graph& g) { g.inputs.clear(); }) ==
        "the pass 'mine' leaves 0 inputs of a network that has 1");
  CHECK(error_behind(+[](dk::graph& g) { g.at(g.inputs[0]).type.dims[2] = 5; }) ==
        "the pass 'mine' changes input 'x' from f32 [N, 3, 4] to f32 [N, 3, 5]");
}

TEST_CASE("a pass may assume what extents are") {
  CHECK(error_behind(+[](dk::graph& g) {
          g.symbols.assume(g.at(g.inputs[0]).type.dims[0], dk::relation::equal, dk::dim(2));
          g.name_assumptions(0, "mine");
        }) == "");
}

TEST_CASE("layouts are those that kernels can store values in") {
  CHECK(error_behind(+[](dk::schedule& s) { s.layouts[middle(s.g)].order = {2, 0, 1}; }) == "");
  CHECK(error_behind(+[](dk::schedule& s) { s.layouts.clear(); }) == "");
  const std::string begin = "the pass 'mine' stores values as no kernel can: ";
  CHECK(error_behind(+[](dk::schedule& s) { s.layouts.pop_back(); }).starts_with(begin + "there are "));
  CHECK(error_behind(+[](dk::schedule& s) {
          s.layouts[middle(s.g)].order = {0, 1};
        }).ends_with(" 'middle' has the order 0 1, which does not name each of 3 axes once"));
  CHECK(error_behind(+[](dk::schedule& s) {
          s.layouts[middle(s.g)].order = {0, 3, 1};
        }).ends_with(" 'middle' has the order 0 3 1, which does not name each of 3 axes once"));
  CHECK(error_behind(+[](dk::schedule& s) {
          s.layouts[middle(s.g)].order.clear();
        }).ends_with(" 'middle' has the order of no axis, which does not name each of 3 axes once"));
  CHECK(error_behind(+[](dk::schedule& s) {
          s.layouts[middle(s.g)].after.clear();
        }).ends_with(" 'middle' has a border of 3 and 0 axes, of 3"));
  CHECK(error_behind(+[](dk::schedule& s) {
          s.layouts[middle(s.g)].part.push_back(1);
        }).ends_with(" 'middle' has parts of 1 axes, of 3"));
  CHECK(error_behind(+[](dk::schedule& s) {
          s.layouts[s.g.inputs[0]].order = {1, 0, 2};
        }) == begin + "'x' has the order 1 0 2, but what kernels are given is row-major");
  CHECK(error_behind(+[](dk::schedule& s) {
          s.layouts[s.g.outputs[0]].order = {1, 0, 2};
        }).ends_with(" has the order 1 0 2, but the caller's memory is row-major"));
}

TEST_CASE("verify says the same of a schedule, and the plan executor refuses such a plan") {
  dk::schedule s = dk::default_pipeline::run(example());
  REQUIRE(dk::verify(s).str() == "");
  s.layouts[middle(s.g)].order = {0, 2, 2};
  CHECK(dk::verify(s).str().ends_with(" 'middle' has the order 0 2 2, which does not name each of 3 axes once"));
  for (dk::plan::buffer& b : s.plan.buffers)
    if (b.where == dk::plan::storage::arena) b.layout.order = {0, 2, 2};
  const std::string wrong = error_of([&] {
    return dk::execute(dk::plan::view_of(s.plan), {dk::host_tensor(dk::f32, {2, 3, 4})}, dk::weights_of({}));
  });
  CHECK(wrong.starts_with("plan executor: the buffer '"));
  CHECK(wrong.ends_with("' has the order 0 2 2, which does not name each of 3 axes once"));
}
