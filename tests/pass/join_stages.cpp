// SPDX-License-Identifier: MIT
#include "dnnkit/pass/join_stages.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/eager_stages.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/joining.hpp"
#include "tests/support/plan_check.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

using namespace joining;
using harness::error_of_schedule;

}  // namespace

TEST_CASE("products with a softmax between them become stages of one kernel") {
  const dk::graph g = attention({}, only_softmax);
  const dk::schedule s = scheduled<anything<2, 1>>(g);
  CHECK(s.plan.steps.size() == 1);
  CHECK(stages_in(s) == counts{3});
  const dk::plan::recipe& r = s.plan.recipes[0];
  const auto tile = dk::plan::plan_draft::part<std::int32_t>(s.plan.numbers, r.tile);
  CHECK(std::vector<std::int32_t>(tile.begin(), tile.end()) == std::vector<std::int32_t>{1, 1, 2, 0});
  std::size_t handed = 0;
  for (const dk::plan::buffer& x : s.plan.buffers)
    if (x.where == dk::plan::storage::tiles) {
      ++handed;
      CHECK(x.elements == dk::dim(2 * 7));
    }
  CHECK(handed == 2);
  CHECK(s.plan.arena_bytes == 0);
  CHECK(error_of_schedule(g, s, 1) == "");
}

TEST_CASE("tiles of all sizes, also such that do not divide the axis") {
  const dk::graph g = attention({}, only_softmax);
  CHECK(error_of_schedule(g, scheduled<anything<1, 1>>(g), 1) == "");
  CHECK(error_of_schedule(g, scheduled<anything<3, 1>>(g), 2) == "");
  CHECK(error_of_schedule(g, scheduled<anything<32, 1>>(g), 3) == "");
  CHECK(error_of_schedule(g, scheduled<anything<1, 2>>(g), 4) == "");
  CHECK(stages_in(scheduled<anything<1, 3>>(g)) == counts{3});  // an image at a time
}

TEST_CASE("masks, lengths that symbols say, and what is computed on either side of the softmax") {
  const auto masked = [](dk::builder& b, dk::tensor x) {
    return dk::softmax(x + b.input("mask", dk::f32, {2, 1, 1, 7})) * 2 + 1;
  };
  const auto causal = [](dk::builder& b, dk::tensor x) {
    return dk::softmax(dk::where(b.weight("seen", "", {5, 7}, dk::boolean), x, b.constant({-1e9}, {})));
  };
  const auto computed = [](dk::builder& b, dk::tensor x) {
    return dk::softmax(x + (1.0 - b.input("mask", dk::f32, {2, 1, 1, 7})) * -1e4);
  };
  const auto of_all_scores = [](dk::builder& b, dk::tensor x) {
    return dk::softmax((1.0 - b.input("mask", dk::f32, {2, 3, 5, 7})) * -1e4 + x);
  };
  for (const dk::graph& g : {attention({}, masked), attention({}, causal), attention({}, computed),
                             attention({}, of_all_scores), attention({dk::dim(1), dk::dim(1)}, only_softmax)}) {
    const dk::schedule s = scheduled<anything<2, 1>>(g);
    CHECK(stages_in(s) == counts{3});
    CHECK(error_of_schedule(g, s, 7) == "");
  }
  dk::builder b;
  const dk::tensor q = b.input("q", dk::f32, {3, dk::sym("Q", {.min = 1, .max = 9}), 4}),
                   k = b.input("k", dk::f32, {3, 4, dk::sym("K", {.min = 1, .max = 9})});
  b.output("y", dk::matmul(dk::softmax(dk::matmul(q, k)), dk::transpose(k, {.perm = {0, 2, 1}})));
  const dk::schedule s = scheduled<anything<2, 1>>(b.value());
  CHECK(stages_in(s) == counts{3});
  for (std::uint64_t seed = 0; seed < 5; ++seed) CHECK(error_of_schedule(b.value(), s, seed) == "");
}

TEST_CASE("a family may want all of a chain in one tile, also where no axis could be cut") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {1, 6, 3, 5});
  dk::tensor s = dk::conv(dk::global_average_pool(x), b.weight("a", {4, 6, 1, 1}));
  s = dk::conv(dk::relu(s), b.weight("b", ".w", {6, 4, 1, 1}), b.weight("b", ".b", {6}));
  b.output("y", dk::sigmoid(s));
  CHECK(stages_in(scheduled<anything<2, 1>>(b.value())).empty());
  for (const dk::graph& g : {b.value(), attention({}, only_softmax)}) {
    const dk::schedule all = scheduled<one_tile<>>(g);
    CHECK(stages_in(all) == counts{3});
    REQUIRE(all.plan.recipes.size() == 1);
    for (std::int32_t n : dk::plan::plan_draft::part<std::int32_t>(all.plan.numbers, all.plan.recipes[0].tile))
      CHECK(n == 0);
    for (const dk::plan::buffer& v : all.plan.buffers) {
      std::int64_t elements = 1;
      for (dk::dim d : v.type.dims) elements *= d.value();
      if (v.where == dk::plan::storage::tiles) CHECK(v.elements == dk::dim(elements));
    }
    CHECK(all.plan.arena_bytes == 0);
    CHECK(error_of_schedule(g, all, 1) == "");
  }
}

TEST_CASE("products with one weight, which is packed once for all of their kernels, are not joined in one tile") {
  const auto joined = [](const char* first, const char* second) {
    dk::builder b;
    const dk::tensor x = b.input("x", dk::f32, {2, 6}), w = b.weight("w", {6, 6}), v = b.weight("v", {6, 6});
    const auto named = [&](const char* name) { return *name == 'w' ? w : dk::transpose(v); };
    b.output("y", dk::matmul(dk::relu(dk::matmul(x, named(first))), named(second)));
    const dk::schedule s = scheduled<one_tile<>>(b.value());
    CHECK(error_of_schedule(b.value(), s, 1) == "");
    return stages_in(s);
  };
  CHECK(joined("w", "v") == counts{2});
  CHECK(joined("w", "w").empty());
  CHECK(joined("v", "v").empty());
}

TEST_CASE("a mask that is read twice at each of many levels is looked at once at each") {
  const auto doubled = [](dk::builder& b, dk::tensor x) {
    dk::tensor mask = b.input("mask", dk::f32, {2, 1, 1, 7});
    for (int i = 0; i < 27; ++i) mask = mask + mask;
    return dk::softmax(x + mask);
  };
  const dk::graph g = attention({}, doubled);
  const dk::schedule s = scheduled<anything<2, 1>>(g);
  CHECK(stages_in(s) == counts{3});
  CHECK(dk::verify(s).str() == "");
}

TEST_CASE("a pool, and convolutions, behind a convolution: tiles overlap, and what they share is computed again") {
  dk::builder b;
  dk::tensor x = b.input("x", dk::f32, {2, 3, 9, 8});
  x = dk::relu(dk::conv(x, b.weight("a", {4, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
  b.output("y", dk::max_pool(x, {.kernel_shape = {3, 3}, .strides = {2, 2}, .pads = {1, 1, 1, 1}}));
  x = dk::relu(dk::conv(b.input("z", dk::f32, {1, 3, 9, 8}), b.weight("b", {5, 3, 3, 3}), {.strides = {2, 1}}));
  b.output("w", dk::conv(dk::relu(dk::conv(x, b.weight("c", {5, 1, 3, 3}), {.pads = {1, 1, 1, 1}, .group = 5})),
                         b.weight("d", {2, 5, 1, 1})));
  const dk::schedule s = scheduled<anything<2, 1>>(b.value());
  CHECK(s.plan.steps.size() == 2);
  CHECK(stages_in(s) == counts{2, 3});
  CHECK(error_of_schedule(b.value(), s, 1) == "");
}

TEST_CASE("normalisation over channels behind a convolution: rows are another axis of each stage") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 6, 9, 8});
  const dk::tensor y = dk::conv(x, b.weight("a", {6, 1, 3, 3}), {.strides = {2, 1}, .pads = {1, 1, 1, 1}, .group = 6});
  b.output("y",
           dk::layer_normalization(dk::transpose(y, {.perm = {0, 2, 3, 1}}), b.weight("s", {6}), b.weight("t", {6})));
  const dk::schedule s = scheduled<rows_of_convolutions>(b.value());
  CHECK(stages_in(s) == counts{2});
  const auto tile = dk::plan::plan_draft::part<std::int32_t>(s.plan.numbers, s.plan.recipes[0].tile);
  CHECK(std::vector<std::int32_t>(tile.begin(), tile.end()) == std::vector<std::int32_t>{1, 2, 0, 0});
  CHECK(error_of_schedule(b.value(), s, 1) == "");
}

TEST_CASE("what is normalised over pixels, or is read elsewhere as well, stays a kernel of its own") {
  const auto joined = [](auto behind, std::int64_t width = 12) {
    dk::builder b;
    const dk::tensor x = b.input("x", dk::f32, {2, 8, 20, width});
    behind(b, dk::conv(x, b.weight("a", {8, 1, 7, 7}), {.pads = {3, 3, 3, 3}, .group = 8}));
    const dk::schedule s = dk::default_pipeline::run(b.value(), harness::with_eager_stages<3>.table);
    CHECK(error_of_schedule(b.value(), s, 1) == "");
    return stages_in(s);
  };
  const auto last = [](dk::tensor x) { return dk::transpose(x, {.perm = {0, 2, 3, 1}}); };
  const auto normalised = [](dk::builder& b, dk::tensor x, std::int64_t axis, dk::shape_argument s) {
    return dk::layer_normalization(x, b.weight("n", ".s", s), b.weight("n", ".t", s), {.axis = axis});
  };
  const auto channels = [&](dk::builder& b, dk::tensor x) { b.output("y", normalised(b, last(x), -1, {8})); };
  CHECK(joined(channels) == counts{2});
  CHECK(joined([&](dk::builder& b, dk::tensor x) { b.output("y", normalised(b, last(x), -2, {12, 8})); }).empty());
  CHECK(joined([&](dk::builder& b, dk::tensor x) { b.output("y", normalised(b, last(x), 1, {20, 12, 8})); }).empty());
  CHECK(joined([](dk::builder& b, dk::tensor x) {
          b.output("y", dk::instance_normalization(x, b.weight("s", {8}), b.weight("t", {8})));
        }).empty());
  CHECK(joined([](dk::builder& b, dk::tensor x) {
          b.output("y", dk::group_normalization(x, b.weight("s", {8}), b.weight("t", {8}), {.num_groups = 2}));
        }).empty());
  CHECK(joined(  // over images
            [&](dk::builder& b, dk::tensor x) {
              b.output("y", normalised(b, dk::transpose(x, {.perm = {3, 2, 1, 0}}), -1, {2}));
            },
            1)
            .empty());
  CHECK(joined([&](dk::builder& b, dk::tensor x) {  // of rows of W elements
          b.output("y", normalised(b, dk::transpose(x, {.perm = {0, 1, 3, 2}}), -1, {20}));
        })
            .empty());
  CHECK(joined([&](dk::builder& b, dk::tensor x) {
          channels(b, x);
          b.output("z", x);
        }).empty());
  CHECK(joined([&](dk::builder& b, dk::tensor x) {
          channels(b, x);
          b.output("z", dk::reduce_mean(x, {.axes = {2, 3}}));
        }).empty());
}

TEST_CASE("what is read twice, given out, or rearranged across the tiles stays a kernel of its own") {
  dk::builder b;
  const dk::tensor q = b.input("q", dk::f32, {3, 4, 4}), k = b.weight("k", {3, 4, 4}), v = b.weight("v", {3, 4, 4});
  const dk::tensor p = dk::softmax(dk::matmul(q, k));
  b.output("p", p);
  b.output("y", dk::matmul(p, v));
  CHECK(stages_in(scheduled<anything<2, 1>>(b.value())) == counts{2});  // the first product and the softmax
  CHECK(error_of_schedule(b.value(), scheduled<anything<2, 1>>(b.value()), 1) == "");

  dk::builder c;
  const dk::tensor x = c.input("x", dk::f32, {3, 4, 4});
  const dk::tensor first = dk::matmul(x, c.weight("a", {3, 4, 4}));
  c.output("y", dk::matmul(dk::reshape(dk::transpose(first, {.perm = {2, 0, 1}}), {4, 12}), c.weight("b", {12, 2})));
  CHECK(error_of_schedule(c.value(), scheduled<anything<2, 1>>(c.value()), 1) == "");
}

TEST_CASE("what others read, too, is stored and handed over where a family keeps it") {
  const auto graph = [](auto other) {
    dk::builder b;
    const dk::tensor x = b.input("x", dk::f32, {1, 4, 6, 8});
    const dk::tensor a = dk::relu(dk::conv(x, b.weight("a", {6, 4, 3, 3}), {.pads = {1, 1, 1, 1}}));
    other(b, a);
    return b.value();
  };
  const auto pooled = [](dk::tensor t) { return dk::max_pool(t, {.kernel_shape = {2, 2}, .strides = {2, 2}}); };
  // The convolution and the pool are one kernel, which runs before the other reader.
  const dk::graph g = graph([&](dk::builder& b, dk::tensor a) {
    const dk::tensor sum = dk::reduce_mean(a, {.axes = {2, 3}});
    b.output("sum", dk::exp(sum));
    b.output("y", dk::tanh(pooled(a)));
  });
  const dk::schedule s = scheduled<keeping_before_pools>(g);
  CHECK(s.plan.steps.size() == 2);
  CHECK(stages_in(s) == counts{2});
  CHECK(s.fusion.groups[0].keeps);
  CHECK(s.fusion.groups[0].goes_on);
  for (const dk::plan::buffer& v : s.plan.buffers) CHECK(v.where != dk::plan::storage::tiles);
  CHECK(s.plan.arena_bytes >= 6 * 6 * 8 * 4);
  CHECK(error_of_schedule(g, s, 1) == "");
  std::size_t written = 0;  // both of the first kernel's
  for_each_written(dk::plan::view_of(s.plan), s.plan.steps[0], [&](std::int32_t) { ++written; });
  CHECK(written == 2);
  CHECK(stages_in(scheduled<anything<2, 1>>(g)).empty());
  // Its second stage would read what is computed of the first one's.
  const dk::graph behind = graph([&](dk::builder& b, dk::tensor a) {
    b.output("y", pooled(a) * dk::reduce_max(a, {.axes = {1, 2, 3}}));
  });
  CHECK(stages_in(scheduled<keeping_before_pools>(behind)).empty());
  CHECK(error_of_schedule(behind, scheduled<keeping_before_pools>(behind), 1) == "");
  // The caller's own, and what nobody else reads.
  const dk::graph given = graph([&](dk::builder& b, dk::tensor a) {
    b.output("a", a);
    b.output("y", pooled(a));
  });
  CHECK(stages_in(scheduled<keeping_before_pools>(given)).empty());
  const dk::graph alone = graph([&](dk::builder& b, dk::tensor a) { b.output("y", pooled(a)); });
  CHECK(stages_in(scheduled<keeping_before_pools>(alone)) == counts{2});
  CHECK(!scheduled<keeping_before_pools>(alone).fusion.groups[0].keeps);
  // Broken on purpose.
  using unplanned = dk::without<dk::without<dk::default_pipeline, dk::passes::choose_kernels>, dk::passes::make_plan>;
  const dk::schedule good = unplanned::run(g, dk::family_list<keeping_before_pools>::table);
  const auto broken_by = [&](const std::function<void(dk::schedule&)>& change) {
    dk::schedule bad = good;
    change(bad);
    if (const dk::text wrong = dk::verify(bad); !wrong.empty()) return "verify: " + wrong.str();
    dk::passes::make_plan::run(bad);
    return error_of_schedule(g, bad, 1);
  };
  CHECK(broken_by([](dk::schedule&) {}) == "");
  CHECK(broken_by([](dk::schedule& b) { b.fusion.groups[0].keeps = false; }).find("verify: ") == 0);
  CHECK(broken_by([](dk::schedule& b) { b.fusion.groups[0].reach[2] = {2, 2, 2, 0}; }).find("verify: ") == 0);
  CHECK(broken_by([](dk::schedule& b) { b.fusion.groups[1].keeps = true; }).find("verify: ") == 0);
  CHECK(broken_by([](dk::schedule& b) { b.fusion.groups[1].tile = {1, 0, 1, 0}; }) != "");
}

TEST_CASE("stages that are broken on purpose are caught") {
  const dk::graph g = attention({}, only_softmax);
  using unplanned = dk::without<dk::without<dk::default_pipeline, dk::passes::choose_kernels>, dk::passes::make_plan>;
  const dk::schedule good = unplanned::run(g, dk::family_list<anything<2, 1>>::table);
  const auto broken_by = [&](const std::function<void(dk::vector<dk::plan::fusion_group>&)>& change) {
    dk::schedule s = good;
    change(s.fusion.groups);
    if (const dk::text wrong = dk::verify(s); !wrong.empty()) return "verify: " + wrong.str();
    dk::passes::make_plan::run(s);
    return error_of_schedule(g, s, 1);
  };
  REQUIRE(good.fusion.groups.size() == 3);
  CHECK(broken_by([](auto&) {}) == "");
  CHECK(broken_by([](auto& groups) { groups[0].reach[2] = {}; }) != "");        // more than tile storage holds
  CHECK(broken_by([](auto& groups) { groups[1].reach[2].before = 1; }) != "");  // the rows of another tile
  CHECK(broken_by([](auto& groups) { groups[0].reach[2].of = 1; }) != "");      // the heads' rows
  CHECK(broken_by([](auto& groups) { groups[2].tile[2] = 3; }) != "");          // tiles larger than their storage
  CHECK(broken_by([](auto& groups) { groups[2].tile[1] = 0; }) != "");          // all heads at once
  CHECK(broken_by([](auto& groups) { groups[2].tile = {}; }).find("verify: ") == 0);
  CHECK(broken_by([](auto& groups) { groups[1].goes_on = false; }).find("verify: ") == 0);
  CHECK(broken_by([](auto& groups) { groups[1].reach = {}; }).find("verify: ") == 0);
  dk::plan::plan_draft plan = scheduled<anything<2, 1>>(g).plan;
  REQUIRE(plan.stages.size() == 2);
  std::swap(plan.stages[0], plan.stages[1]);
  CHECK(dk::verify(dk::plan::view_of(plan)).str() == "tile storage that no earlier stage of the kernel has written");
}

TEST_CASE("nothing is joined where no family has kernels of several stages, or they would take longer") {
  const dk::graph g = attention({}, only_softmax);
  CHECK(stages_in(scheduled<single_kernels>(g)).empty());
  CHECK(stages_in(scheduled<anything<2, 1, false>>(g)).empty());
  CHECK(stages_in(dk::default_pipeline::run(g)).empty());
}

TEST_CASE("stages are joined once, however often the pass runs") {
  using twice =
      dk::replaced<dk::default_pipeline, dk::passes::join_stages, dk::passes::join_stages, dk::passes::join_stages>;
  const dk::graph g = attention({}, only_softmax);
  const dk::schedule s = twice::run(g, dk::family_list<pairs<4>>::table);
  CHECK(stages_in(s) == counts{2});
  CHECK(error_of_schedule(g, s, 1) == "");
}

TEST_CASE("of chains that share a group the one that gains most is taken") {
  const dk::graph g = attention({}, only_softmax);
  const auto first_of_pair = [&](const dk::schedule& s) {
    for (const dk::plan::step& x : s.plan.steps)
      if (const dk::plan::recipe& r = s.plan.recipes[x.kernel]; dk::plan::plan_draft::stages_of(r) == 2)
        return s.plan.stages[r.earlier.first].anchor.id;
    return dk::operator_id::none;
  };
  CHECK(first_of_pair(scheduled<pairs<4>>(g)) == dk::id_of<dk::op::matmul>);
  CHECK(first_of_pair(scheduled<pairs<6>>(g)) == dk::id_of<dk::op::softmax>);
}

TEST_CASE("what is handed over is joined only where it has as many bytes as the family says") {
  const dk::graph g = attention({}, only_softmax);
  constexpr int scores = 2 * 3 * 5 * 7 * 4;
  CHECK(stages_in(scheduled<pairs<4, scores>>(g)) == counts{2});
  CHECK(stages_in(scheduled<pairs<4, scores + 1>>(g)).empty());
  CHECK(stages_in(scheduled<one_tile<scores>>(g)) == counts{3});
  CHECK(stages_in(scheduled<one_tile<scores - 1>>(g)).empty());
}

TEST_CASE("of families that would join a chain, the one that gains most does") {
  const dk::graph g = attention({}, only_softmax);
  const auto is_cut = [&](const dk::schedule& s) {
    CHECK(error_of_schedule(g, s, 1) == "");
    REQUIRE(stages_in(s) == counts{3});
    bool cut = false;
    for (std::int32_t n : dk::plan::plan_draft::part<std::int32_t>(s.plan.numbers, s.plan.recipes[0].tile))
      cut = cut || n != 0;
    return cut;
  };
  CHECK(is_cut(scheduled<anything<2, 1>, one_tile<>>(g)));  // of equals, the first
  CHECK(is_cut(scheduled<one_tile<1 << 30, 2>, anything<2, 1>>(g)));
  CHECK(!is_cut(scheduled<one_tile<1 << 30, 0>, anything<2, 1>>(g)));
  CHECK(is_cut(scheduled<one_tile<8>, anything<2, 1>>(g)));  // the other would not
}

TEST_CASE("plans of random graphs whose groups are joined wherever tiles allow it compute what the graphs do") {
  std::size_t joined = 0, kept = 0;
  const auto check = [&]<class Family>(const dk::graph& g, std::uint64_t seed, Family) {
    const dk::schedule s = scheduled<Family>(g);
    joined += stages_in(s).size();
    for (const dk::plan::fusion_group& group : s.fusion.groups) kept += group.keeps ? 1 : 0;
    CHECK(error_of_schedule(g, s, seed) == "");
  };
  for (std::uint64_t seed : harness::seeds(1, 150)) {
    dk::builder b;
    random_graph(b, seed, {.least_operators = 4, .most_operators = 16, .symbols = seed % 2 == 1}).build();
    INFO("DNNKIT_SEED=" << seed << "\n" << harness::describe(b.value()));
    check(b.value(), seed, anything<1, 0>{});
    check(b.value(), seed, anything<2, 1>{});
    check(b.value(), seed, anything<3, 2>{});
    check(b.value(), seed, one_tile<>{});
    check(b.value(), seed, keeping{});
  }
  if (harness::seeds(1, 150).size() > 1) {
    CHECK(joined > 20);
    CHECK(kept > 10);
  }
}
