// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// compare_plans: nothing between a network and itself; with a rule or without a pass, what it changed, in numbers.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/inspect/compare_plans.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/graph.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/json_syntax.hpp"
#include "tests/support/models.hpp"
#include "tests/support/rearranged.hpp"

namespace dk = dnnkit;
using harness::movement_goes_along;
using harness::movement_stays_out;
using harness::rearranged;

namespace {

using usual = dk::compile<rearranged, dk::targets::native, dk::pipeline_with_rules<movement_goes_along>>;
using apart =
    dk::compile<rearranged, dk::targets::native, dk::pipeline_with_rules<movement_goes_along, movement_stays_out>>;
using row_major = dk::compile<rearranged, dk::targets::native,
                              dk::without<dk::pipeline_with_rules<movement_stays_out>, dk::passes::select_layouts>>;
using list = std::vector<dk::plan_differences::difference>;

}  // namespace

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The figure of both that is called so.
list figure(const dk::plan_differences& d, std::string_view of) {
  list found;
  for (const auto& x : d.totals)
    if (x.of == of) found.push_back(x);
  return found;
}
// All but the expected time, which the target decides.
list without_time(list totals) {
  std::erase_if(totals, [](const auto& x) { return x.of == "expected time"; });
  return totals;
}

}  // namespace

TEST_CASE("a network does not differ from itself") {
  const dk::plan_differences d = dk::compare_plans<usual, usual>();
  CHECK(d.empty());
  CHECK(d.totals.size() == 10);
  CHECK_FALSE(has(d.str(), " | "));
}

TEST_CASE("what a rule changed") {
  const dk::plan_differences d = dk::compare_plans<usual, apart>();
  CHECK_FALSE(d.empty());
  CHECK(d.kernels == list{{"Conv, DepthToSpace, Sub", "1", "-"}, {"Conv", "-", "1"}, {"Sub", "-", "1"}});
  CHECK(d.fusion == list{{"Conv -> Sub", "fused, predecessor", "not fused, rule 'movement stays out'"}});
  CHECK(d.layouts == list{{"Conv", "-", "channels last"}});
  // 16 channels of 6x6, 9 multiplications and additions each, and the Sub; of 4 bytes when they are stored between
  CHECK(without_time(d.totals) == list{{"operators as built", "3", "3"},
                                       {"operators behind rewriting", "3", "3"},
                                       {"kernels", "1", "2"},
                                       {"kernels run once, at setup", "0", "0"},
                                       {"kernels to instantiate", "1", "2"},
                                       {"FLOPs", "10,944", "10,944"},
                                       {"bytes of intermediates written", "0", "2,304"},
                                       {"bytes of intermediates read", "0", "2,304"},
                                       {"bytes of the arena", "0", "2,304"}});
  CHECK(figure(d, "expected time").size() == 1);
  CHECK(has(d.str(), "\nfusion\n  Conv -> Sub: fused, predecessor | not fused, rule 'movement stays out'\n"));
  CHECK(has(d.str(), "kernels                         1                               2\n"));
}

namespace {

using digits = dk::compile<models::digits>;
using unfused =
    dk::compile<models::digits, dk::targets::native, dk::without<dk::default_pipeline, dk::passes::default_fusion<>>>;

}  // namespace

TEST_CASE("digits with fusion and without: a kernel for each operator, and the bytes between them") {
  const dk::plan_differences d = dk::compare_plans<digits, unfused>();
  // convolutions of 1,024, 2,048 and 512 elements, pools of 512 and 128; then besides them a Relu of 1,024, those
  // behind the pools and, of the fully connected layer, 10 elements without their bias
  CHECK(figure(d, "kernels") == list{{"kernels", "6", "10"}});
  CHECK(figure(d, "bytes of intermediates written") == list{{"bytes of intermediates written", "16,896", "23,592"}});
  CHECK(figure(d, "bytes of intermediates read") == list{{"bytes of intermediates read", "16,896", "23,592"}});
  CHECK(figure(d, "FLOPs") == list{{"FLOPs", "913,546", "913,546"}});
  for (const bool first : {true, false}) {
    std::size_t kernels = 0;
    for (const auto& x : d.families)
      if (const std::string& n = first ? x.first : x.second; n != "-") kernels += std::stoul(n);
    CHECK(kernels == (first ? digits::kernels : unfused::kernels));
  }
}

TEST_CASE("the same as JSON") {
  const std::string text = dk::compare_plans_json<digits, unfused>();
  CHECK(json_syntax::valid(text));
  CHECK(has(text, "\"kernels\": 6,"));
  CHECK(has(text, "\"kernels\": 10,"));
  CHECK(has(text, "\"intermediate_bytes\": {\"written\": 16896, \"read\": 16896}"));
  CHECK(has(text, "\"intermediate_bytes\": {\"written\": 23592, \"read\": 23592}"));
  CHECK(has(text, "{\"of\": \"Relu 'MaxPool #2'\", \"first\": 0, \"second\": 1}"));
  CHECK(has(text, "{\"of\": \"Conv 'conv1', Relu\", \"first\": 1, \"second\": 0}"));
  CHECK(has(text, "\"second\": null}"));
}

TEST_CASE("a pass that is left out of a run is named, and its plan is that of the list without it") {
  const dk::graph g = dk::graph_of<models::digits>();
  const auto* const families = &dk::cpu::default_families.table;
  const std::array<std::string_view, 1> left_out{"plan fusion"};
  const auto first = dk::default_pipeline::run_logged<dk::targets::native>(g, *families).plan,
             second = dk::default_pipeline::run_logged<dk::targets::native>(g, *families, left_out).plan;
  const dk::plan_differences d = dk::compare_plans(view_of(first), view_of(second));
  CHECK(d.totals == dk::compare_plans<digits, unfused>().totals);
  CHECK(d.kernels == dk::compare_plans<digits, unfused>().kernels);
  const std::string text = dk::compare_plans_json(view_of(first), view_of(second));
  CHECK(has(text, "\"passes_left_out\": [],"));
  CHECK(has(text, "\"passes_left_out\": [\"plan fusion\"],"));
}

TEST_CASE("the layouts that a pass chose") {
  const dk::plan_differences d = dk::compare_plans<apart, row_major>();
  CHECK(d.kernels.empty());
  CHECK(d.fusion.empty());
  CHECK(d.layouts == list{{"Conv", "channels last", "row-major"}});
}

namespace {

struct any_batch {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {dk::sym{"N"}, 4, 8, 8});
    g.output("y", 1.0 - dk::depth_to_space(dk::conv(x, g.weight("w", {16, 4, 1, 1})), {.blocksize = 2}));
  }
};

}  // namespace

TEST_CASE("memory that is planned when symbols have values is compared where they are given") {
  using fused = dk::compile<any_batch, dk::targets::native, dk::pipeline_with_rules<movement_goes_along>>;
  using stored =
      dk::compile<any_batch, dk::targets::native, dk::pipeline_with_rules<movement_goes_along, movement_stays_out>>;
  const auto arena = [](const dk::plan_differences& d) { return figure(d, "bytes of the arena"); };
  constexpr auto later = "planned when symbols have values";
  CHECK(arena(dk::compare_plans<fused, stored>()) == list{{"bytes of the arena", later, later}});
  CHECK(arena(dk::compare_plans<fused, stored>({{"N", 3}})) == list{{"bytes of the arena", "0", "12,288"}});
  CHECK(figure(dk::compare_plans<fused, stored>(), "bytes of intermediates written") ==
        list{{"bytes of intermediates written", "0", "4096*N"}});
  CHECK(error_of([] {
          return dk::compare_plans<fused, stored>({{"M", 3}});
        }) == "bind: no such symbol, expected N, found M");
}

namespace {

// Three blocks that look alike; in the first, Log(Exp(x)) is rewritten.
struct blocks {
  static constexpr void build(dk::builder& g) {
    dk::tensor x = dk::log(dk::exp(g.input("x", dk::f32, {8, 16})));
    for (int i = 0; i < 3; ++i) x = dk::softmax(dk::tanh(x), {.axis = 1});
    g.output("y", x);
  }
};

}  // namespace

TEST_CASE("operators without names are the same where they stand in the same place of the model") {
  const dk::plan_differences d = dk::compare_plans<
      dk::compile<blocks>,
      dk::compile<blocks, dk::targets::native, dk::without<dk::default_pipeline, dk::passes::default_rules>>>();
  CHECK_FALSE(d.kernels.empty());
  for (const auto& list_of : {d.fusion, d.layouts})
    for (const auto& x : list_of) CHECK_MESSAGE((has(x.of, "Log") || x.of == "Tanh" || x.of == "Exp -> Log"), x.of);
}

TEST_CASE("a plan without a log is refused") {
  CHECK(error_of([] { return dk::compare_plans(usual::plan, apart::plan); }) ==
        "compare_plans: the plan was made without a log");
}
