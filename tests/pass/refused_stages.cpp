// SPDX-License-Identifier: MIT
// What the log says of stages that are not joined, and who else is asked.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/joining.hpp"
#include "tests/support/plan_check.hpp"

namespace dk = dnnkit;
using namespace joining;
using harness::error_of_schedule;

namespace {

// Nothing is computed in one kernel with a Softmax.
struct softmax_alone {
  static constexpr std::string_view name = "softmax alone";
  static constexpr dk::verdict decide(const dk::passes::fusion_edge& edge, dk::mapping, dk::mapping, dk::verdict v) {
    const auto is_softmax = [](const dk::node& n) { return n.op->name == "Softmax"; };
    return is_softmax(edge.first) || is_softmax(edge.second) ? dk::verdict::never : v;
  }
};
// The product of the weights and values stands by itself; a Transpose lies behind it.
struct second_product_alone {
  static constexpr std::string_view name = "second product alone";
  static constexpr dk::verdict decide(const dk::passes::fusion_edge& edge, dk::mapping, dk::mapping, dk::verdict v) {
    return edge.g.is<dk::op::matmul>(edge.second) ? dk::verdict::never : v;
  }
};

}  // namespace

TEST_CASE("a fusion rule of the user's is asked about stages, too, and the log names it") {
  const dk::graph g = attention({}, only_softmax);
  const auto check = [&]<class Rule>(std::type_identity<Rule>, std::size_t refusals, const counts& stages) {
    const dk::schedule s = dk::pipeline_with_rules<Rule>::run_logged(g, dk::family_list<anything<2, 1>>::table);
    CHECK(stages_in(s) == stages);
    CHECK(error_of_schedule(g, s, 1) == "");
    std::size_t found = 0;
    for (const dk::plan::decision& d : s.log.decisions)
      if (d.pass == dk::passes::join_stages::name && d.rule == Rule::name) {
        CHECK_FALSE(d.applied);
        CHECK(d.reason == "rule");
        ++found;
      }
    CHECK(found == refusals);
  };
  check(std::type_identity<softmax_alone>{}, 2, {});
  check(std::type_identity<second_product_alone>{}, 1, {2});
}

TEST_CASE("of two groups that are not joined the log says once why, however many chains begin with them") {
  const auto said = [](const dk::schedule& s) {  // pairs of anchors, each as often as it is noted
    std::vector<std::pair<dk::node_id, dk::node_id>> list;
    for (const dk::plan::decision& d : s.log.decisions)
      if (d.pass == dk::passes::join_stages::name) list.emplace_back(d.first, d.second);
    return list;
  };
  const dk::graph g = attention({}, only_softmax);  // chains of two and of three begin with the first product
  const auto check = [&]<class... Families>(dk::family_list<Families...>) {
    const auto list = said(dk::default_pipeline::run_logged(g, dk::family_list<Families...>::table));
    REQUIRE(list.size() == 2);
    CHECK(list[0] != list[1]);
  };
  check(dk::family_list<anything<2, 1, false>>{});
  check(dk::family_list<anything<2, 1, false>, one_tile<8>>{});
  check(dk::family_list<pairs<4>>{});
  check(dk::family_list<anything<2, 1>>{});
}
