// SPDX-License-Identifier: MIT
// Concats whose parts are written where the whole has them: which are no kernel, and that plans of them are legal and
// compute what the graphs do.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/place_parts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dnnkit/compile.hpp"
#include "dnnkit/pass/verify_schedule.hpp"
#include "tests/support/joined_models.hpp"
#include "tests/support/layouts_by_rules.hpp"
#include "tests/support/plan_check.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;
namespace joined = harness::joined;
using dk::none;

namespace {

template <class Model> dk::schedule planned() {
  dk::builder b;
  Model::build(b);
  return harness::layouts_by_rules<>::run_logged<dk::targets::avx512>(b.value(), dk::cpu::default_families.table);
}
template <class Model> dk::graph graph_of() {
  dk::builder b;
  Model::build(b);
  return b.value();
}
std::size_t concats(const dk::schedule& s) {
  return static_cast<std::size_t>(std::ranges::count_if(s.plan.steps, [&](const dk::plan::step& x) {
    return s.plan.recipes[x.kernel].anchor.name == std::string_view("Concat");
  }));
}
std::string reasons(const dk::schedule& s) {
  std::string all;
  for (const dk::plan::decision& d : s.log.decisions)
    if (d.pass == "place parts") all += std::string(d.verdict) + ": " + std::string(d.reason) + "\n";
  return all;
}
// A Concat is a kernel.
struct concats_stay {
  static constexpr std::string_view name = "Concats stay";
  static constexpr dk::verdict decide(const dk::passes::fusion_edge& edge, dk::mapping, dk::mapping, dk::verdict v) {
    return edge.g.is<dk::op::concat>(edge.second) ? dk::verdict::never : v;
  }
};

// The plan is legal, has as many Concats as expected, and computes what the graph does.
template <class Model> void check() {
  const dk::schedule s = planned<Model>();
  REQUIRE_MESSAGE(s.is_right(), s.g.error.str());
  const dk::text wrong = dk::verify(s);
  CHECK_MESSAGE(wrong.empty(), wrong.str());
  CHECK_MESSAGE(concats(s) == Model::concats, reasons(s));
  for (const std::uint64_t seed : harness::seeds(1, 2)) {
    const std::string difference = harness::error_of_plan(graph_of<Model>(), s.plan, seed);
    CHECK_MESSAGE(difference.empty(), difference << ", data of seed " << seed);
  }
}

}  // namespace

TEST_CASE("branches of an image") {
  check<joined::branches>();
  check<joined::symbolic_branches>();
}
TEST_CASE("a fusion rule of the user's is asked about Concats, too, and the log names it") {
  const dk::graph g = graph_of<joined::branches>();
  const auto& families = dk::cpu::default_families.table;
  const dk::schedule usual = dk::default_pipeline::run<dk::targets::avx512>(g, families),
                     apart = dk::pipeline_with_rules<concats_stay>::run_logged<dk::targets::avx512>(g, families);
  CHECK(concats(apart) > concats(usual));
  CHECK(std::ranges::any_of(apart.log.decisions, [](const dk::plan::decision& d) {
    return d.pass == "place parts" && d.reason == "rule" && d.rule == concats_stay::name;
  }));
}
TEST_CASE("parts in another order than they are computed in, and parts of rows") {
  check<joined::backwards>();
  check<joined::rows>();
}
TEST_CASE("what is enlarged by a product and moved is written where it lies in the end, if only a Concat reads it") {
  check<joined::u_shaped<false>>();
  check<joined::u_shaped<true>>();
  check<joined::enlarged_elsewhere>();
}
TEST_CASE("random branches that are joined: plans are legal, compute what the graphs do, and most Concats are none") {
  std::size_t placed = 0;
  const auto seeds = harness::seeds(1, 200);
  for (const std::uint64_t seed : seeds) {
    const auto graph = [&] {
      dk::builder b;
      random_graph(b, seed, {.symbols = seed % 3 == 1}).build_joined();
      return b.value();
    };
    const dk::schedule s =
        dk::default_pipeline::run_logged<dk::targets::avx512>(graph(), dk::cpu::default_families.table);
    const std::string at = "DNNKIT_SEED=" + std::to_string(seed) + ": ";
    REQUIRE_MESSAGE(s.is_right(), at << s.g.error.str());
    const dk::text wrong = dk::verify(s);
    CHECK_MESSAGE(wrong.empty(), at << wrong.str());
    const std::string difference = harness::error_of_plan(graph(), s.plan, seed);
    CHECK_MESSAGE(difference.empty(), at << difference << "\n" << harness::describe(graph()));
    placed += reasons(s).find("no kernel: ") != std::string::npos ? 1 : 0;
  }
  MESSAGE(placed << " of " << seeds.size() << " graphs have a Concat that is no kernel");
  CHECK(2 * placed >= seeds.size());
}
TEST_CASE("halves of one value, one of them read with a border") { check<joined::halves>(); }
TEST_CASE("parts that are read by the kernels of other parts") { check<joined::pyramid>(); }
TEST_CASE("a Concat that is a part, and one that lies in a larger one") { check<joined::nested>(); }
TEST_CASE("what cannot be written in place is copied, and the log says why") {
  check<joined::refused>();
  const std::string said = reasons(planned<joined::refused>());
  CHECK_MESSAGE(said.find("a part is the caller's") != std::string::npos, said);
  CHECK_MESSAGE(said.find("a value is a part twice") != std::string::npos, said);
}
TEST_CASE("a plan whose parts overlap is illegal, and so is one whose part leaves the whole") {
  dk::schedule s = planned<joined::branches>();
  std::size_t second = s.plan.buffers.size();
  for (std::size_t b = 0; b < s.plan.buffers.size(); ++b)
    if (s.plan.buffers[b].layout.within != none && s.plan.buffers[b].layout.at != 0) second = b;
  REQUIRE(second < s.plan.buffers.size());
  const dk::plan::buffer right = s.plan.buffers[second];
  s.plan.buffers[second].layout.at -= 1;
  s.plan.buffers[second].offset -= 4;
  CHECK(!dk::verify(dk::plan::view_of(s.plan)).empty());
  s.plan.buffers[second] = right;
  s.plan.buffers[second].layout.at += 1'000'000;
  CHECK(!dk::verify(dk::plan::view_of(s.plan)).empty());
  s.plan.buffers[second] = right;
  s.plan.buffers[second].offset += 4;
  CHECK(!dk::verify(dk::plan::view_of(s.plan)).empty());
}
