// SPDX-License-Identifier: MIT
// LABELS: twice
#include "dnnkit/reference/plan_executor.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "tests/support/eager_stages.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/plan_check.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

using harness::error_of_plan;
constexpr auto families = harness::with_eager_stages<2>.table;
dk::plan::plan_draft plan_of(const dk::graph& g) { return dk::default_pipeline::run(g).plan; }

// Calls visit(std::type_identity<Pass>) for all passes of a pipeline.
template <class... Passes> void for_each_pass(dk::pipeline<Passes...>, auto visit) {
  (visit(std::type_identity<Passes>{}), ...);
}

// Three convolutions, with borders between them.
dk::graph convolutions() {
  dk::builder b;
  dk::tensor x = b.input("x", dk::f32, {1, 3, 8, 8});
  for (const char* name : {"a", "b", "c"})
    x = dk::relu(dk::conv(x, b.weight(name, {3, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
  b.output("y", x);
  return b.value();
}

}  // namespace

TEST_CASE("plans of random graphs compute what the graphs do, by all passes and with each pass left out") {
  const std::vector<std::uint64_t> seeds = harness::seeds(1, harness::is_sanitized ? 15 : 150);
  std::size_t stages = 0;  // that come before the last of their kernel
  for (std::uint64_t seed : seeds) {
    dk::builder b;
    random_graph(
        b, seed,
        {.least_operators = 2, .most_operators = 20, .symbols = seed % 2 == 1, .branches = true, .chains = true})
        .build();
    const dk::graph& g = b.value();
    INFO("DNNKIT_SEED=" << seed << "\n" << harness::describe(g));
    const dk::plan::plan_draft made = dk::default_pipeline::run(g, families).plan;
    CHECK(error_of_plan(g, made, seed) == "");
    stages += made.stages.size();
    for_each_pass(dk::default_pipeline{}, [&]<class Pass>(std::type_identity<Pass>) {
      CAPTURE(Pass::name);
      const dk::plan::plan_draft plan = dk::without<dk::default_pipeline, Pass>::run(g, families).plan;
      if (plan.error.view().find("the pipeline lacks the pass") != std::string_view::npos || plan.steps.empty()) return;
      CHECK(error_of_plan(g, plan, seed) == "");
    });
  }
  if (seeds.size() > 1) CHECK(4 * stages >= seeds.size());
  MESSAGE(stages << " stages before the last of a kernel, " << seeds.size() << " graphs");
}

TEST_CASE("plans of random graphs compute what the graphs do, whichever passes a run leaves out that can be") {
  std::vector<std::string_view> all;
  for (const dk::pass_facts& pass : dk::passes_of<dk::default_pipeline>)
    if (pass.needed.empty()) all.push_back(pass.name);
  for (const std::uint64_t seed : harness::seeds(2, harness::is_sanitized ? 15 : 300)) {
    dk::builder b;
    random_graph(
        b, seed,
        {.least_operators = 2, .most_operators = 20, .symbols = seed % 2 == 1, .branches = true, .chains = true})
        .build();
    const dk::graph& g = b.value();
    INFO("DNNKIT_SEED=" << seed << "\n" << harness::describe(g));
    std::mt19937_64 random(seed);
    std::vector<std::string_view> left_out = all;  // every fourth time all of them
    if (seed % 4 != 0) std::erase_if(left_out, [&](std::string_view) { return random() % 2 == 0; });
    CHECK(error_of_plan(g, dk::default_pipeline::run_logged(g, families, left_out).plan, seed) == "");
  }
}

TEST_CASE("a graph that needs a pass which is left out is refused, and the pass named") {
  using all = dk::default_pipeline;
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 3});
  b.output("y", dk::gemm(x, b.weight("w", {3, 4})));
  b.output("same", x);
  CHECK(dk::without<all, dk::passes::expand_composites>::run(b.value()).plan.error.str() ==
        "Gemm is said in terms of other operators, and no kernel is made of it: the pipeline lacks the pass "
        "expand_composites");
  CHECK(dk::without<all, dk::passes::separate_outputs>::run(b.value()).plan.error.str() ==
        "output 'same' is stored by no kernel of its own: the pipeline lacks the pass separate_outputs");
  CHECK(error_of_plan(b.value(), plan_of(b.value()), 1) == "");
}

TEST_CASE("a plan that is broken on purpose is caught, and the buffer named") {
  const dk::graph g = convolutions();
  const dk::plan::plan_draft good = plan_of(g);
  REQUIRE(error_of_plan(g, good, 1) == "");
  const auto broken_by = [&](const std::function<void(dk::plan::plan_draft&)>& change) {
    dk::plan::plan_draft plan = good;
    change(plan);
    return error_of_plan(g, plan, 1);
  };
  const auto arena = [](dk::plan::plan_draft& p, std::size_t which) -> dk::plan::buffer& {
    for (dk::plan::buffer& each : p.buffers)
      if (each.where == dk::plan::storage::arena && which-- == 0) return each;
    throw "no such buffer";
  };
  const auto says = [](const std::string& found, const char* expected) {
    return found.find(expected) == std::string::npos ? found : "";
  };
  // the second of two buffers that live at once, on top of the first
  CHECK(says(broken_by([&](auto& p) { arena(p, 1).offset = arena(p, 0).offset; }),
             "is read after it was overwritten") == "");
  CHECK(says(broken_by([&](auto& p) { arena(p, 0).offset += 1 << 20; }), "an element outside it is written") == "");
  CHECK(says(broken_by([&](auto& p) { std::swap(p.steps[1], p.steps[2]); }), "is read before it is written") == "");
  CHECK(says(broken_by([&](auto& p) { p.steps[0].borders = {}; }), "is read before it is written") == "");
  CHECK(broken_by([&](auto& p) { p.loads[1].offset = 1; }) != "");
  CHECK(broken_by([&](auto& p) {
          p.numbers[p.steps[2].operands.first + 1] = p.numbers[p.steps[1].operands.first + 1];
        }) != "");
}

namespace {

// Calls visit(number) for each number in a row of a plan's tables that says where something is, or how much: not where
// the attributes of an operator begin.
void for_each_number(dk::slice_of& s, auto visit) {
  visit(s.first);
  visit(s.count);
}
void for_each_number(dk::plan::local_shape& s, auto visit) {
  visit(s.first);
  visit(s.count);
}
void for_each_number(std::int32_t& n, auto visit) { visit(n); }
void for_each_number(dk::plan::local_extent& e, auto visit) { visit(e.code); }
void for_each_number(dk::dim& d, auto visit) { visit(d.code); }
void for_each_number(dk::plan::operand_ref& r, auto visit) { visit(r.index); }
void for_each_number(dk::plan::view_axis& a, auto visit) {
  visit(a.of);
  visit(a.size.code);
  visit(a.stride.code);
}
void for_each_number(dk::plan::tile_reach& r, auto visit) {
  visit(r.of);
  visit(r.stride);
  visit(r.extent);
  visit(r.before);
}
void for_each_number(dk::plan::step& s, auto visit) {
  visit(s.kernel);
  for (dk::slice_of* part : {&s.name, &s.operands, &s.extents, &s.borders, &s.guards}) for_each_number(*part, visit);
}
void for_each_number(dk::plan::buffer& b, auto visit) {
  for_each_number(b.name, visit);
  for_each_number(b.data, visit);
  for (dk::dim& d : b.type.dims) visit(d.code);
  for (std::uint8_t& d : b.layout.order) visit(d);
  for (std::uint8_t& n : b.layout.before) visit(n);
  visit(b.elements.code);
  visit(b.offset);
  visit(b.first);
  visit(b.last);
}
void for_each_number(dk::plan::recipe& r, auto visit) {
  for (dk::slice_of* part : {&r.anchor_inputs, &r.anchor_shapes, &r.loads, &r.nodes, &r.outputs, &r.constants,
                             &r.earlier, &r.tile, &r.reach})
    for_each_number(*part, visit);
  for_each_number(r.space, visit);
}
void for_each_number(dk::plan::recipe_load& l, auto visit) {
  visit(l.operand);
  visit(l.offset.code);
  for (dk::slice_of* part : {&l.axes, &l.movement, &l.reach}) for_each_number(*part, visit);
}
void for_each_number(dk::plan::recipe_node& n, auto visit) { for_each_number(n.inputs, visit); }
void for_each_number(dk::plan::recipe_output& o, auto visit) {
  visit(o.operand);
  visit(o.offset.code);
  visit(o.value.index);
  for_each_number(o.axes, visit);
}
void for_each_number(dk::plan::movement_step& m, auto visit) {
  for_each_number(m.in_shape, visit);
  for_each_number(m.out_shape, visit);
}
void for_each_number(dk::atom& a, auto visit) {
  visit(a.a.code);
  visit(a.b.code);
}
void for_each_number(dk::polynomial& p, auto visit) {
  for (auto& m : p)
    for (std::uint16_t& f : m.factors) visit(f);
}

// Calls with_change() for plans in which one such number is another one.
void for_each_change(dk::plan::plan_draft& plan, auto with_change) {
  dk::plan::for_each_table([&](auto table_of) {
    auto& table = table_of(plan);
    using row = std::remove_cvref_t<decltype(table[0])>;
    if constexpr (requires(row r) { for_each_number(r, [](auto&) {}); })
      for (row& r : table)
        for_each_number(r, [&]<class N>(N& n) {
          const N right = n;
          for (const std::int64_t other : {-1, 0, 1, 5, 1000}) {
            n = static_cast<N>(other < 0 ? other : right + other);
            if (other == 0) n = 0;
            if (n != right) with_change();
            n = right;
          }
        });
  });
}

}  // namespace

TEST_CASE("whatever number of a plan is another one, the plan is refused or runs in its own buffers") {
  std::size_t changes = 0, refused = 0;
  constexpr std::size_t each = 13;  // a part of all changes, another one for each graph
  for (std::uint64_t seed : harness::seeds(1, 6)) {
    dk::builder b;
    random_graph(b, seed,
                 {.least_operators = 2, .most_operators = 6, .symbols = true, .branches = true, .chains = true})
        .build();
    INFO("DNNKIT_SEED=" << seed << "\n" << harness::describe(b.value()));
    dk::plan::plan_draft plan = dk::default_pipeline::run(b.value(), families).plan;
    const harness::test_data data = harness::random_data(b.value(), seed);
    for_each_change(plan, [&] {
      if ((++changes + seed) % each != 0) return;
      (void)dk::verify(dk::plan::view_of(plan));
      try {
        (void)dk::execute(dk::plan::view_of(plan), data.inputs, dk::weights_of(data.weights));
      } catch (const dk::error&) {
        ++refused;
      } catch (const std::logic_error&) {  // an operator that reads outside its input
        ++refused;
      }
    });
  }
  MESSAGE((changes / each) << " changes, " << refused << " refused");
  CHECK(refused > changes / each / 2);
}

TEST_CASE("extents that are assumed to be equal are checked, whatever symbols were replaced") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {"H", 3}), z = b.input("z", dk::f32, {"W", 3});
  b.output("y", dk::add(dk::relu(x), z));
  const dk::plan::plan_draft plan = plan_of(b.value());
  CHECK(plan.steps.size() == 1);
  const auto run = [&](std::int64_t h, std::int64_t w) {
    return dk::execute(dk::plan::view_of(plan), {dk::host_tensor(dk::f32, {h, 3}), dk::host_tensor(dk::f32, {w, 3})});
  };
  CHECK(run(2, 2)[0].dims == std::vector<std::int64_t>{2, 3});
  CHECK(error_of([&] { return run(2, 4); }) ==
        "Add: extents that it needs to be equal differ, expected H = 2, found W = 4");
}

TEST_CASE("symbols are found where no input has one as its extent") {
  dk::builder b;
  const dk::sym half("H/2", {1, 8});
  b.output("y", dk::relu(b.input("x", dk::f32, {b.size(half) * 2, 3})));
  const dk::plan::plan_draft plan = plan_of(b.value());
  CHECK(dk::verify(dk::plan::view_of(plan)).str() == "");
  const auto run = [&](std::int64_t n) {
    return dk::execute(dk::plan::view_of(plan), {dk::host_tensor(dk::f32, {n, 3})});
  };
  CHECK(run(6)[0].dims == std::vector<std::int64_t>{6, 3});
  CHECK(error_of([&] { return run(7); }).find("expected 2*(H/2), found 7") != std::string::npos);
}

TEST_CASE("an index that the data do not have is an error of its operator and step") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {3}), i = b.input("i", dk::i64, {1});
  b.output("y", dk::gather(x, i));
  const dk::plan::plan_draft plan = plan_of(b.value());
  const std::vector<dk::host_tensor> inputs{dk::host_tensor({3}, {1, 2, 3}),
                                            dk::host_tensor::of_integers(dk::i64, {1}, {99})};
  const std::string problem = error_of([&] { return dk::execute(dk::plan::view_of(plan), inputs); });
  CHECK(problem.find("step '") == 0);
  CHECK(problem.find("', Gather: index is out of range, expected -3 to 2, found 99") != std::string::npos);
}

TEST_CASE("inputs that do not fit are refused") {
  dk::builder b;
  const dk::sym n{"N", {.min = 1, .max = 4}};
  b.output("y", b.input("x", dk::f32, {n, 3}) + b.weight("w", {3}));
  const dk::plan::plan_draft plan = plan_of(b.value());
  const dk::weight_source weights = [](std::string_view) { return dk::host_tensor({3}, {1, 2, 3}); };
  const auto run = [&](std::vector<dk::host_tensor> inputs) {
    return error_of([&] { return dk::execute(dk::plan::view_of(plan), inputs, weights); });
  };
  CHECK(dk::execute(dk::plan::view_of(plan), {dk::host_tensor({1, 3}, {1, 1, 1})}, weights)[0].reals ==
        std::vector<double>{2, 3, 4});
  CHECK(run({}) == "plan executor: number of inputs differs, expected 1, found 0");
  CHECK(run({dk::host_tensor(dk::f32, {5, 3})}) ==
        "input 'x', symbol 'N': extent is out of bounds, expected 1 to 4, found 5");
  CHECK(run({dk::host_tensor(dk::f32, {2, 4})}) ==
        "input 'x': shape or element type differs, expected f32 [2, 3], found f32 [2, 4]");
  CHECK(error_of([&] {
          return dk::execute(dk::plan::view_of(plan), {dk::host_tensor(dk::f32, {1, 3})});
        }) == "weight 'w': no weights were given");
}
