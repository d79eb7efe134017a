// SPDX-License-Identifier: MIT
// Each pass of the default pipeline broken on purpose: random graphs show it, by what their plans compute.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "tests/support/eager_stages.hpp"
#include "tests/support/plan_check.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;
using dk::graph, dk::schedule;

namespace {

// A rewriting pass that gets one operator wrong wherever it has changed the graph: what the last one that gives f32
// computes has the wrong sign.
template <class Pass> struct wrong_sign {
  static constexpr std::string_view name = Pass::name;
  static graph run(graph g) {
    const std::size_t before = g.nodes.size();
    graph made = rewritten(std::move(g));
    if (made.nodes.size() == before) return made;
    dk::value_id last = dk::none;
    for (const dk::node& n : made.nodes)
      if (made.at(n.output).type.type == dk::f32 && n.op->kind != dk::form::movement) last = n.output;
    if (last == dk::none) return made;
    return dk::rebuild(made, [&](dk::builder& b, const dk::node& n, const dk::rebuilt_inputs& inputs) {
      if (n.output != last) return dk::tensor{};
      return dk::neg(dk::tensor{&b, dk::detail::copy_node(b.value(), made, n, inputs)});
    });
  }

 private:
  static graph rewritten(graph g) {
    if constexpr (requires { Pass::rewritten(std::move(g)); }) return Pass::rewritten(std::move(g));
    else return Pass::run(std::move(g));
  }
};

// Two kernels of which the second reads what the first stores run in the wrong order.
struct wrong_order {
  using fusion = dk::passes::default_fusion<>;
  static constexpr std::string_view name = fusion::name;
  static void run(schedule& s) {
    fusion::run(s);
    auto& groups = s.fusion.groups;
    for (std::size_t k = 0; k + 1 < groups.size(); ++k)
      for (dk::node_id n : groups[k + 1].nodes)
        for (std::size_t i = 0; i < s.g.node_at(n).inputs.count; ++i)
          if (std::find(groups[k].outputs.begin(), groups[k].outputs.end(), s.g.input_of(s.g.node_at(n), i)) !=
              groups[k].outputs.end())
            return std::swap(groups[k], groups[k + 1]);
  }
};

// A storage order names an axis twice.
struct wrong_layout {
  static constexpr std::string_view name = dk::passes::select_layouts::name;
  template <class Target> static void run(schedule& s) {
    dk::passes::select_layouts::run<Target>(s);
    for (dk::plan::buffer_layout& l : s.layouts)
      if (l.order.size() > 1 && l.order[0] == 0 && l.order[1] != 1) return static_cast<void>(l.order[0] = l.order[1]);
  }
};

// A buffer of the arena lies where another one that lives at the same time does.
struct overlapping_buffers {
  static constexpr std::string_view name = dk::passes::make_plan::name;
  template <class Target> static void run(schedule& s) {
    dk::detail::run_pass<dk::passes::make_plan, Target>(s);
    dk::plan::buffer* first = nullptr;
    for (dk::plan::buffer& b : s.plan.buffers) {
      if (b.where != dk::plan::storage::arena) continue;
      if (first != nullptr && first->first < b.last && b.first < first->last)
        return static_cast<void>(b.offset = first->offset);
      first = &b;
    }
  }
};

// A stage computes the positions beside those that a tile needs of it.
struct shifted_tiles {
  static constexpr std::string_view name = dk::passes::join_stages::name;
  template <class Target> static void run(schedule& s) {
    dk::passes::join_stages::run<Target>(s);
    for (dk::plan::fusion_group& group : s.fusion.groups)
      for (dk::plan::tile_reach& r : group.reach)
        if (group.goes_on && !r.is_whole()) return static_cast<void>(++r.before);
  }
};

// A dearer kernel is chosen in the place of a cheaper one.
struct dearest_kernels {
  static constexpr std::string_view name = dk::passes::choose_kernels::name;
  template <class Target> static void run(schedule& s) {
    dk::passes::choose_kernels::run<Target>(s);
    const auto families = *s.families;
    for (dk::kernel_choice& c : s.plan.choices)
      for (std::uint32_t i = 0; i < c.alternatives.count; ++i) {
        dk::kernel_alternative& a = s.plan.alternatives[c.alternatives.first + i];
        if (!a.matches || a.cost.cycles <= c.cost.cycles) continue;
        std::swap(a.family, c.family);
        std::swap(a.cost, c.cost);
        while (families[c.number].name != c.family)
          c.number = static_cast<std::uint16_t>((c.number + 1u) % families.size());
        return;
      }
  }
};

// What compile<> would say or compute otherwise than the graph, or plan otherwise than it should; empty where all is
// well.
template <class Pipeline> std::string first_difference(std::uint64_t seed) {
  dk::builder b;
  random_graph(b, seed,
               {.least_operators = 2, .most_operators = 14, .symbols = seed % 2 == 1, .branches = true, .chains = true})
      .build();
  const schedule s = Pipeline::run(b.value(), harness::with_eager_stages<2>.table);
  if (s.g.error.view().starts_with("the pass '")) return s.g.error.str();
  if (s.plan.steps.empty()) return "";
  if (const dk::text wrong = dk::detail::choices_error(s.plan, *s.families); !wrong.empty()) return wrong.str();
  return harness::error_of_plan(b.value(), s.plan, seed);
}

// Does one of 500 random graphs show that Broken in the place of Pass is wrong?
template <class Pass, class Broken> bool is_caught() {
  using all = dk::default_pipeline;
  for (std::uint64_t seed = 1; seed <= 500; ++seed)
    if (first_difference<dk::replaced<all, Pass, Broken>>(seed) != "") {
      CHECK(first_difference<all>(seed) == "");
      return true;
    }
  return false;
}

}  // namespace

using namespace dnnkit::passes;

TEST_CASE("rewriting passes broken on purpose are caught") {
  CHECK(is_caught<propagate_values, wrong_sign<propagate_values>>());
  CHECK(is_caught<expand_composites, wrong_sign<expand_composites>>());
  CHECK(is_caught<default_rules, wrong_sign<default_rules>>());
  CHECK(is_caught<lower_transposed_convolution, wrong_sign<lower_transposed_convolution>>());
  CHECK(is_caught<fold_normalizations, wrong_sign<fold_normalizations>>());
  CHECK(is_caught<fold_scales, wrong_sign<fold_scales>>());
  CHECK(is_caught<separate_outputs, wrong_sign<separate_outputs>>());

  // What random graphs do not have: chains of so many views, groups of channels in one axis, recurrent layers,
  // reductions alike, dequantised products, chains between bytes.
  const auto differs = []<class Pipeline>(const dk::builder& b, Pipeline) {
    return harness::error_of_plan(b.value(), Pipeline::run(b.value()).plan, 1) != "";
  };
  using all = dk::default_pipeline;
  dk::builder views;
  dk::tensor x = views.input("x", dk::f32, {2, 3});
  for (std::size_t i = 0; i < 2 * break_long_views::most; ++i) x = dk::transpose(x, {.perm = {1, 0}});
  views.output("y", x);
  CHECK_FALSE(differs(views, all{}));
  CHECK(differs(views, dk::replaced<all, break_long_views, wrong_sign<break_long_views>>{}));

  dk::builder groups;
  const dk::tensor image = groups.input("x", dk::f32, {1, 6, 3, 4});
  const dk::tensor merged = dk::reshape(image, {1, 2, 36});
  groups.output("y", dk::instance_normalization(merged, groups.weight("scale", {2}), groups.weight("bias", {2})));
  CHECK_FALSE(differs(groups, all{}));
  CHECK(differs(groups, dk::replaced<all, unmerge_rows, wrong_sign<unmerge_rows>>{}));

  const auto branch = [](dk::builder& b, dk::tensor of, const char* name, std::int64_t window, const dk::op::conv& c) {
    return dk::conv(of, b.weight(name, {3, 4, window, window}), c);
  };
  dk::builder siblings;
  x = siblings.input("x", dk::f32, {1, 4, 5, 5});
  siblings.output("y", dk::softmax(branch(siblings, x, "a", 1, {})) + dk::softmax(branch(siblings, x, "b", 1, {})));
  CHECK_FALSE(differs(siblings, all{}));
  CHECK(differs(siblings, dk::replaced<all, merge_siblings, wrong_sign<merge_siblings>>{}));
  dk::builder sums;
  x = sums.input("x", dk::f32, {1, 4, 5, 5});
  sums.output("y", branch(sums, x, "a", 1, {}) + branch(sums, x, "b", 3, {.pads = {1, 1, 1, 1}}));
  CHECK_FALSE(differs(sums, all{}));
  CHECK(differs(sums, dk::replaced<all, sum_convolutions, wrong_sign<sum_convolutions>>{}));

  dk::builder layers;
  const dk::tensor steps = layers.input("x", dk::f32, {3, 1, 2});
  const dk::tensor w = layers.weight("w", {1, 8, 2}), r = layers.weight("r", {1, 8, 2});
  layers.output("y", layers.apply(dk::op::lstm{.output = 0}, {steps, w, r}));
  layers.output("cell", layers.apply(dk::op::lstm{.output = 2}, {steps, w, r}));
  CHECK_FALSE(differs(layers, all{}));
  CHECK(differs(layers, dk::replaced<all, join_recurrent_outputs, wrong_sign<join_recurrent_outputs>>{}));

  dk::builder alike;
  const dk::tensor rows = alike.input("x", dk::f32, {3, 4});
  alike.output("y", dk::reduce_max(rows, {.axes = {1}}) * dk::reduce_max(rows, {.axes = {1}}));
  CHECK_FALSE(differs(alike, all{}));
  CHECK(differs(alike, dk::replaced<all, share_reductions, wrong_sign<share_reductions>>{}));

  dk::builder bytes;
  const auto dequantised = [&](dk::tensor real, dk::dtype type) {
    return dk::dequantize_linear(dk::cast(real, {.to = type}), bytes.scalar(0.5), bytes.scalar(3, type));
  };
  const dk::tensor left = dequantised(bytes.input("x", dk::f32, {3, 4}) * 20.0, dk::u8);
  bytes.output("y", dk::matmul(left, dequantised(bytes.weight("w", {4, 5}) * 20.0, dk::i8)));
  CHECK_FALSE(differs(bytes, all{}));
  CHECK(differs(bytes, dk::replaced<all, quantised_products, wrong_sign<quantised_products>>{}));

  dk::builder chain;
  const dk::tensor unit = chain.scalar(2), zero = chain.scalar(1, dk::u8);
  const dk::tensor real =
      dk::dequantize_linear(dk::cast(chain.input("x", dk::f32, {3, 4}) * 20.0, {.to = dk::u8}), chain.scalar(0.5));
  chain.output("y", dk::dequantize_linear(dk::quantize_linear(dk::relu(real), unit, zero), unit, zero));
  CHECK_FALSE(differs(chain, all{}));
  CHECK(differs(chain, dk::replaced<all, byte_functions, wrong_sign<byte_functions>>{}));
}

TEST_CASE("passes in another order are right, or refused by name") {
  using rewriting = dk::rewriting_of<dk::default_pipeline>;
  using fusion = default_fusion<>;
  const auto refused_by = [](std::uint64_t seed, auto planning) {
    dk::builder b;
    random_graph(b, seed, {.least_operators = 2, .most_operators = 14, .chains = true}).build();
    const schedule s = decltype(rewriting{} + planning)::run(b.value(), harness::with_eager_stages<2>.table);
    if (!s.plan.error.empty()) return s.plan.error.str();
    CHECK(dk::verify(s).str() == "");
    return harness::error_of_plan(b.value(), s.plan, seed);
  };
  const std::string graphs =
                        "' comes too late in the pipeline: there are kernels or layouts of the graph, which it "
                        "makes anew, already",
                    stages = "' comes too late in the pipeline: there are stages of kernels already";
  std::size_t with_stages = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    CHECK(refused_by(
              seed, dk::pipeline<fusion, select_layouts, join_stages, join_stages, make_plan, choose_kernels>{}) == "");
    CHECK(refused_by(
              seed,
              dk::pipeline<select_layouts, fusion, fusion, join_stages, make_plan, make_plan, choose_kernels>{}) == "");
    CHECK(refused_by(seed, dk::pipeline<fusion, default_rules, make_plan>{}) == "the pass 'apply rules" + graphs);
    CHECK(refused_by(seed, dk::pipeline<make_plan, separate_outputs>{}) == "the pass 'separate outputs" + graphs);
    const std::string late = refused_by(seed, dk::pipeline<fusion, join_stages, select_layouts, make_plan>{});
    with_stages += late == "the pass 'select layouts" + stages;
    if (late.empty()) continue;
    CHECK(late == "the pass 'select layouts" + stages);
    CHECK(refused_by(seed, dk::pipeline<fusion, join_stages, fusion, make_plan>{}) == "the pass 'plan fusion" + stages);
  }
  CHECK(with_stages > 0);
}

TEST_CASE("planning passes broken on purpose are caught") {
  CHECK(is_caught<wrong_order::fusion, wrong_order>());
  CHECK(is_caught<select_layouts, wrong_layout>());
  CHECK(is_caught<join_stages, shifted_tiles>());
  CHECK(is_caught<make_plan, overlapping_buffers>());
  CHECK(is_caught<choose_kernels, dearest_kernels>());

  dk::builder b;
  b.output("y", dk::non_zero(b.input("x", dk::f32, {4})));
  CHECK(dk::default_pipeline::run(b.value()).plan.error.view().find("depend on the elements") !=
        std::string_view::npos);
  CHECK(harness::error_of_plan(b.value(), dk::without<dk::default_pipeline, check_extents>::run(b.value()).plan, 1) !=
        "");
}
