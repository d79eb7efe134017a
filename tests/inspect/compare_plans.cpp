// SPDX-License-Identifier: MIT
// compare_plans: nothing between a network and itself; with a rule, what it changed.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/inspect/compare_plans.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/graph.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/rearranged.hpp"

namespace dk = dnnkit;
using harness::movement_stays_out;
using harness::rearranged;

namespace {

using usual = dk::compile<rearranged>;
using apart = dk::compile<rearranged, dk::targets::native, dk::pipeline_with_rules<movement_stays_out>>;
using row_major = dk::compile<rearranged, dk::targets::native,
                              dk::without<dk::pipeline_with_rules<movement_stays_out>, dk::passes::select_layouts>>;
using list = std::vector<dk::plan_differences::difference>;

}  // namespace

TEST_CASE("a network does not differ from itself") {
  CHECK(dk::compare_plans<usual, usual>().empty());
  CHECK(dk::compare_plans<usual, usual>().str() == "");
}

TEST_CASE("what a rule changed") {
  const dk::plan_differences d = dk::compare_plans<usual, apart>();
  CHECK(d.kernels == list{{"Conv, DepthToSpace, Add", "1", "-"}, {"Add", "-", "1"}, {"Conv", "-", "1"}});
  CHECK(d.fusion == list{{"Conv -> Add", "fused, predecessor", "not fused, rule 'movement stays out'"}});
  CHECK(d.layouts == list{{"Conv", "-", "channels last"}});
  CHECK(d.totals ==
        list{{"arena", "0 bytes", "2,304 bytes"}, {"kernels", "1", "2"}, {"kernels to instantiate", "1", "2"}});
  CHECK(d.str().find("fusion\n  Conv -> Add: fused, predecessor | not fused, rule 'movement stays out'\n") !=
        std::string::npos);
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
    g.output("y", dk::depth_to_space(dk::conv(x, g.weight("w", {16, 4, 1, 1})), {.blocksize = 2}) + 1.0);
  }
};

}  // namespace

TEST_CASE("memory that is planned when symbols have values is compared where they are given") {
  using fused = dk::compile<any_batch>;
  using stored = dk::compile<any_batch, dk::targets::native, dk::pipeline_with_rules<movement_stays_out>>;
  const auto arena = [](const dk::plan_differences& d) {
    list found;
    for (const auto& x : d.totals)
      if (x.of == "arena") found.push_back(x);
    return found;
  };
  CHECK(arena(dk::compare_plans<fused, stored>()).empty());
  CHECK(arena(dk::compare_plans<fused, stored>({{"N", 3}})) == list{{"arena", "0 bytes", "12,288 bytes"}});
  CHECK(error_of([] {
          return dk::compare_plans<fused, stored>({{"M", 3}});
        }) == "bind: no such symbol, expected N, found M");
}

TEST_CASE("a plan without a log is refused") {
  CHECK(error_of([] { return dk::compare_plans(usual::plan, apart::plan); }) ==
        "compare_plans: the plan was made without a log");
}
