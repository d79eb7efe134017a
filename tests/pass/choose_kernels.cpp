// SPDX-License-Identifier: MIT
// Which family of kernels is chosen for each kind of recipe, what is kept of the others, and lists that are not the
// library's.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/choose_kernels.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/compile.hpp"
#include "tests/support/kernel_choices.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;
using dk::f32;
using dk::operand_reading;
using namespace kernel_choices;

// Tensors without elements have kernels, too.
struct without_elements {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 3, 4, 0}), none = g.input("none", dk::f32, {0, 3, 4, 4});
    g.output("conv", dk::conv(none, g.weight("w", {8, 3, 1, 1})));
    g.output("pool", dk::max_pool(none, {.kernel_shape = {1, 1}}));
    g.output("row", dk::softmax(x));
    g.output("sum", dk::reduce_sum(x, {.axes = {2}}));
    g.output("product", dk::matmul(x, g.input("b", dk::f32, {1, 3, 0, 5})));
    g.output("columns", dk::matmul(g.input("a", dk::f32, {2, 5}), g.input("c", dk::f32, {5, 0})));
    g.output("map", dk::concat({dk::relu(x), x}, {.axis = 3}));
  }
};
static_assert(dk::compile<without_elements>::kernels == 7);

TEST_CASE("products: what is packed when, and the order in which K is walked") {
  const auto found = choices_of<dk::op::matmul>([](dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {10, 64}), z = g.input("z", f32, {4, 10, 64});
    g.output("weights", dk::matmul(x, g.weight("w", {64, 32})));
    g.output("computed", dk::matmul(x, g.input("v", f32, {64, 48})));
    g.output("columns", dk::matmul(dk::transpose(g.input("t", f32, {64, 10})), g.weight("u", {64, 16})));
    g.output("batches", dk::matmul(z, g.input("s", f32, {4, 64, 8})));
    g.output("integers", dk::matmul(g.input("i", dk::i32, {4, 5}), g.input("j", dk::i32, {5, 6})));
    g.output("doubles", dk::matmul(g.input("a", dk::f64, {4, 5}), g.weight("b", {5, 6}, dk::f64)));
    g.output("narrow", dk::matmul(g.input("k", dk::i16, {4, 5}), g.input("l", dk::i16, {5, 6})));
    g.output("few rows", dk::matmul(g.input("r", f32, {6, 64}), g.input("m", f32, {64, 9})));
    g.output("a column a row", dk::matmul(g.input("q", f32, {6, 64}), dk::transpose(g.input("n", f32, {9, 64}))));
  });
  REQUIRE(found.size() == 9);
  CHECK(operands(found[0]) == readings{in_place, once});
  CHECK(operands(found[1]) == readings{in_place, each_run});
  CHECK(operands(found[2]) == readings{staged, once});
  CHECK(operands(found[3]) == readings{in_place, each_run});
  CHECK(operands(found[4]) == readings{in_place, in_place});
  CHECK(operands(found[5]) == readings{in_place, once});
  CHECK(operands(found[6]) == readings{staged, each_run});  // in lanes of 32 bits
  CHECK(operands(found[7]) == readings{in_place, in_place});
  CHECK(operands(found[8]) == readings{in_place, each_run});
  for (const dk::kernel_choice& c : found) {
    CHECK(c.family == "matrix_product");
    CHECK(c.walk.empty());
  }

  // pixels channels last, flattened channels first
  const auto flat = choices_of<dk::op::matmul>([](dk::builder& g) {
    const dk::tensor image = dk::relu(filtered(g, pooled_input(g, 32), 32, "a", {}));
    g.output("y", dk::matmul(dk::flatten(image), g.weight("w", {32 * 100, 10})));
  });
  REQUIRE(flat.size() == 1);
  CHECK(operands(flat[0]) == readings{in_place, once});
  CHECK(std::vector<int>(flat[0].walk.begin(), flat[0].walk.end()) == std::vector{1, 0});
}
TEST_CASE(
    "products whose K is not known are packed in each run; panels are wider where rows share a set of the cache") {
  const auto found = choices_of<dk::op::matmul>([](dk::builder& g) {
    const dk::sym k("K", {1, 100});
    g.output("y", dk::matmul(g.input("a", f32, {30, k}), g.input("b", f32, {k, 5})));
    g.output("z", dk::matmul(g.input("c", f32, {3, 1024}), g.weight("d", {1024, 64})));
  });
  REQUIRE(found.size() == 2);
  CHECK(operands(found[0]) == readings{in_place, each_run});
  CHECK(found[0].tile.vectors == 2);
  CHECK(found[1].tile.vectors == 3);
}

TEST_CASE("pools, rows, parts and maps") {
  const auto build = [](dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 32, 8, 8}), y = g.input("y", f32, {4, 100});
    g.output("pooled", dk::max_pool(dk::relu(filtered(g, x, 32, "a", {})), {.kernel_shape = {2, 2}}));
    g.output("integers", dk::max_pool(g.input("i", dk::i32, {1, 4, 8, 8}), {.kernel_shape = {2, 2}}));
    g.output("softmax", dk::softmax(y));
    g.output("joined", dk::concat({y, y}, {.axis = 1}));
    g.output("map", dk::sigmoid(g.input("z", f32, {5, 77})));
    g.output("doubles", dk::sigmoid(g.input("d", dk::f64, {5, 77})));
  };
  const auto pools = choices_of<dk::op::max_pool>(build);
  REQUIRE(pools.size() == 2);
  CHECK(pools[0].family == "pool_nhwc");
  CHECK(operands(pools[0]) == readings{in_place});
  CHECK(pools[1].family == "pool_nchw");
  CHECK(operands(pools[1]) == readings{in_place});
  const auto rows = choices_of<dk::op::softmax>(build);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].family == "row_passes");
  CHECK(rows[0].tile.along == 1);
  const auto parts = choices_of<dk::op::concat>(build);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].family == "concat_parts");
  const dk::schedule s = schedule_of(build);
  std::vector<int> lanes;
  for (const dk::kernel_choice& c : s.plan.choices)
    if (c.family == "elementwise_map") lanes.push_back(c.tile.lanes);
  CHECK(lanes == std::vector{16, 1});
}

namespace {

// A kernel of each family, and more, over extents that grow with n.
auto one_of_each(std::int64_t n) {
  return [n](dk::builder& g) {
    const dk::tensor rows = g.input("rows", f32, {4 * n, 96}), image = g.input("image", f32, {1, 32, 8 * n, 8 * n}),
                     few = g.input("few", f32, {1, 3, 16 * n, 32});
    g.output("map", dk::sigmoid(rows));
    g.output("copy", dk::transpose(g.input("turned", f32, {96, 5 * n})));
    g.output("rows out", dk::softmax(rows));
    g.output("lockstep", dk::reduce_sum(rows, {.axes = {0}}));
    g.output("joined", dk::concat({rows, rows}, {.axis = 1}));
    g.output("product", dk::matmul(rows, g.weight("w", {96, 40})));
    g.output("packed", dk::matmul(rows, g.input("right", f32, {96, 40 * n})));
    g.output("last", filtered(g, image, 64, "a", {}));
    g.output("grouped", filtered(g, image, 64, "b", {.group = 4}));
    g.output("depthwise", filtered(g, image, 32, "c", {.group = 32}));
    g.output("first", filtered(g, few, 4, "d", {}));
    g.output("wide", dk::conv(image, g.weight("e", {64, 32, 5, 5}), {.pads = {2, 2, 2, 2}}));
    const dk::tensor squeezed = dk::conv(dk::global_average_pool(image), g.weight("s", {4, 32, 1, 1}));
    g.output("excited", dk::conv(dk::relu(squeezed), g.weight("t", {32, 4, 1, 1})));
    g.output("pooled", dk::average_pool(image, {.kernel_shape = {3, 3}}));
    g.output("integers", dk::matmul(g.input("i", dk::i32, {4 * n, 5}), g.input("j", dk::i32, {5, 6})));
    const auto heads = [&](const char* name) { return g.input(name, f32, {1, 2, 32 * n, 32}); };
    const dk::tensor scores = dk::matmul(heads("q"), dk::transpose(heads("k"), {.perm = {0, 1, 3, 2}}));
    g.output("attended", dk::matmul(dk::softmax(scores), heads("v")));
    g.output("summed", dk::cum_sum(rows, {.axis = 1}));
    const dk::tensor bytes = g.input("bytes", dk::u8, {4 * n, 96});
    const dk::tensor pixels = g.input("pixels", dk::u8, {1, 32, 8 * n, 8});
    g.output("product of bytes", g.apply(dk::op::matmul_integer{}, {bytes, g.weight("bw", {96, 40}, dk::i8)}));
    g.output("filtered bytes", g.apply(dk::op::conv_integer{}, {pixels, g.weight("bf", {64, 32, 3, 3}, dk::i8)}));
    g.output("looked up", dk::gather(g.weight("table", {256}, dk::u8), dk::cast(bytes, {.to = dk::i32})));
    g.output("largest", dk::arg_max(rows, {.axis = 1}));
    g.output("resized", dk::resize(rows, {.scales = {1, 2}}));
    g.output("resized rows", dk::resize(rows, {.scales = {2, 1}}));
    g.output("states", g.apply(dk::op::gru{}, {g.input("steps", f32, {4 * n, 1, 16}), g.weight("gw", {1, 48, 16}),
                                               g.weight("gr", {1, 48, 16})}));
    const dk::tensor scale = g.weight("scale", {1}), zero = g.weight("zero", {1}, dk::u8);
    g.output("states of bytes",
             g.apply(dk::op::dynamic_quantize_lstm{},
                     {g.input("more steps", f32, {4 * n, 1, 16}), g.weight("lw", {1, 16, 64}, dk::u8),
                      g.weight("lr", {1, 16, 64}, dk::u8), scale, zero, scale, zero}));
  };
}
// f(family's name, its match) of each family that matches a recipe, recipe by recipe.
void for_each_match(const dk::schedule& s, const dk::cpu_facts& facts, auto f) {
  const dk::plan_view plan = dk::plan::view_of(s.plan);
  for (std::size_t r = 0; r < plan.recipes.size(); ++r)
    for (const dk::kernel_family& family : dk::cpu::default_families.table) {
      if (!family.is_asked(dk::kernel_spec(plan, r), facts)) continue;
      if (const auto match = family.match(dk::kernel_spec(plan, r), facts)) f(family.name, match->cost);
    }
}
struct named_cost {
  std::string_view family;
  dk::kernel_cost cost;
};
std::vector<named_cost> costs_of(const dk::schedule& s, const dk::cpu_facts& facts = dk::targets::avx512::facts) {
  std::vector<named_cost> all;
  for_each_match(s, facts, [&](std::string_view name, const dk::kernel_cost& cost) { all.push_back({name, cost}); });
  return all;
}

}  // namespace

TEST_CASE("every family counts by the model: what the facts say of a core changes its costs") {
  const dk::schedule s = schedule_of(one_of_each(2));
  const auto usual = costs_of(s);
  for (const dk::kernel_family& f : dk::cpu::default_families.table) {
    // their costs are those of their stages
    if (f.name == "row_stages" || f.name == "normalised_product" || f.name == "conv_winograd_pool") continue;
    CAPTURE(f.name);
    CHECK(std::any_of(usual.begin(), usual.end(), [&](const named_cost& c) { return c.family == f.name; }));
  }
  dk::cpu_facts slow = dk::targets::avx512::facts;
  slow.costs.kernel += 1000;
  const auto later = costs_of(s, slow);
  slow = dk::targets::avx512::facts;
  slow.l1_width /= 2, slow.l2_width /= 2, slow.l3_width /= 2, slow.memory_width /= 2;
  const auto farther = costs_of(s, slow);
  for (std::size_t i = 0; i < usual.size(); ++i) {
    CAPTURE(usual[i].family);
    CHECK(later[i].cost.starts == doctest::Approx(usual[i].cost.starts + 1000));
    CHECK(later[i].cost.cycles == doctest::Approx(usual[i].cost.cycles + 1000));
    // Winograd's takes tiles of fewer weights then
    if (usual[i].family == "conv_winograd") CHECK(farther[i].cost.memory > usual[i].cost.memory);
    else CHECK(farther[i].cost.memory == doctest::Approx(2 * usual[i].cost.memory));
    CHECK(farther[i].cost.cycles > usual[i].cost.cycles);
  }
}
TEST_CASE("every family takes longer for more") {
  for (const std::int64_t n : {1, 2, 3, 5, 8}) {
    const auto here = costs_of(schedule_of(one_of_each(n))), more = costs_of(schedule_of(one_of_each(n + 1)));
    REQUIRE(here.size() == more.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      CAPTURE(n);
      CAPTURE(here[i].family);
      CHECK(more[i].cost.cycles > here[i].cost.cycles);
      CHECK(more[i].cost.arithmetic >= here[i].cost.arithmetic);
    }
  }
}
// Of a row, not of each of its vectors: a sum with an operand whose windows lie apart, by the extent of the rows.
TEST_CASE("the place that coordinates of views lead to is found once a row") {
  const auto cycles_of = [](std::int64_t row, bool in_windows) {
    const auto found = costs_of(schedule_of([&](dk::builder& g) {
      const dk::tensor x = g.input("x", f32, {64, row});
      dk::tensor y = g.input("y", f32, {64, row});
      if (in_windows)
        y = dk::reshape(dk::transpose(dk::reshape(y, {2, 4, 2, 4, row}), {.perm = {0, 2, 1, 3, 4}}), {64, row});
      g.output("z", x + y);
    }));
    REQUIRE(found.size() == 1);
    return found[0].cost.arithmetic;
  };
  const double of_short_rows = cycles_of(16, true) - cycles_of(16, false),
               of_long_rows = cycles_of(1600, true) - cycles_of(1600, false);
  CHECK(of_short_rows > 0);
  CHECK(of_long_rows > 0);
  CHECK(of_long_rows < 2 * of_short_rows);  // of a hundred times as many vectors
}
TEST_CASE("extents that symbols decide count as typical ones") {
  const auto cost = [](dk::dim rows) {
    return costs_of(schedule_of([&](dk::builder& g) {
      const dk::tensor x = g.input("x", f32, {rows, 96});
      g.output("y", dk::softmax(x));
      g.output("z", dk::matmul(x, g.weight("w", {96, 40})));
    }));
  };
  const dk::sym rows("rows", {1, 1000});
  const auto open = costs_of(schedule_of([&](dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {rows, 96});
    g.output("y", dk::softmax(x));
    g.output("z", dk::matmul(x, g.weight("w", {96, 40})));
  }));
  const auto known = cost(dk::symbol::usual);
  REQUIRE(open.size() == known.size());
  for (std::size_t i = 0; i < open.size(); ++i)
    CHECK(open[i].cost.cycles == doctest::Approx(known[i].cost.cycles).epsilon(0.05));
}

TEST_CASE("rows and columns of images count as those of a photograph, and what is made of them as what it is then") {
  const auto costs = [](dk::dim_argument height, dk::dim_argument width) {
    return costs_of(schedule_of([&](dk::builder& g) {
      dk::tensor x = g.input("x", f32, {1, 64, height, width});
      for (const char* name : {"first", "second"})
        x = dk::conv(x, g.weight(name, {64, 64, 3, 3}), {.strides = {8, 8}, .pads = {1, 1, 1, 1}});
      g.output("y", x);
    }));
  };
  struct {
    dk::bounds limits;
    std::int64_t typical;
  } const cases[] = {{{1, 4096}, 224}, {{1, 100}, 100}, {{300, 900}, 300}};
  for (const auto& [limits, typical] : cases) {
    CAPTURE(typical);
    const auto open = costs(dk::sym("H", limits), dk::sym("W", limits)), known = costs(typical, typical);
    REQUIRE(open.size() == known.size());
    for (std::size_t i = 0; i < open.size(); ++i)
      CHECK(open[i].cost.cycles == doctest::Approx(known[i].cost.cycles).epsilon(0.05));
  }
}

TEST_CASE("every family that was asked is kept with its cost, or with why it does not match") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    dk::builder b;
    random_graph(b, seed).build();
    const dk::schedule s = dk::default_pipeline::run(b.value(), dk::cpu::default_families.table);
    REQUIRE(s.g.error.str() == "");
    REQUIRE(s.plan.choices.size() == s.plan.recipes.size() + s.plan.stages.size());
    const dk::plan_view plan = dk::plan::view_of(s.plan);
    for (std::size_t r = 0; r < s.plan.recipes.size(); ++r) {
      const dk::kernel_choice& c = s.plan.choices[r];
      std::size_t asked = 0;
      for (const dk::kernel_family& f : dk::cpu::default_families.table)
        asked += f.is_asked(dk::kernel_spec(plan, r), dk::targets::portable::facts);
      CHECK(dk::cpu::default_families.table[c.number].name == c.family);
      CHECK(c.alternatives.count + 1 == asked);
      CHECK(c.cost.cycles > 0);
      CHECK(c.cost.cycles >= c.cost.arithmetic);
      CHECK(c.cost.cycles >= c.cost.memory);
      CHECK(c.cost.microseconds == dk::microseconds(dk::targets::portable::facts, c.cost));
      CHECK(!c.reason.empty());
      for (std::uint32_t i = 0; i < c.alternatives.count; ++i) {
        const dk::kernel_alternative& a = s.plan.alternatives[c.alternatives.first + i];
        CHECK(a.family != c.family);
        CHECK(!a.reason.empty());
        if (a.matches) CHECK(a.cost.cycles >= c.cost.cycles);
      }
    }
  }
}

namespace {

// Matches every map, at so many cycles.
template <int Cycles> struct own_map {
  static constexpr std::string_view name = "own_map";
  static constexpr bool carries_out(const dk::plan::operator_tag& anchor) { return anchor.id == dk::operator_id::none; }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    dk::kernel_choice c = *dk::cpu::elementwise_map::match(spec, facts);
    c.cost.cycles = Cycles;
    c.reason = "as asked";
    return c;
  }
  template <class Net, std::size_t R> struct kernel : dk::cpu::elementwise_map::kernel<Net, R> {};
};
struct second : own_map<1> {
  static constexpr std::string_view name = "second";
};
struct costs : own_map<1> {
  static constexpr std::string_view name = "costs";
  static inline double cycles = 0;
  static dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    dk::kernel_choice c = *own_map<1>::match(spec, facts);
    c.cost.cycles = cycles;
    return c;
  }
};
struct no_map {
  static constexpr std::string_view name = "no_map";
  static constexpr bool carries_out(const dk::plan::operator_tag& anchor) { return anchor.id == dk::operator_id::none; }
  static constexpr dk::kernel_match match(const dk::kernel_spec&, const dk::cpu_facts&) {
    return dk::no_match{"it never does"};
  }
  template <class Net, std::size_t R> struct kernel;
};

template <class Families> dk::schedule map_of(Families) {
  return schedule_of([](dk::builder& g) { g.output("y", g.named("bend", dk::relu(g.input("x", f32, {1000})))); },
                     Families::table);
}

struct model {
  static constexpr auto families = dk::cpu::default_families + dk::family_list<own_map<1>>{};
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", f32, {1000}))); }
};
static_assert(dk::compile<model>::choices[0].family == "own_map");
static_assert(dk::compile<model>::record().alternatives[1].family == "elementwise_map");
static_assert(dk::compile<model>::plan.choices.empty(), "what programs hold has no record");

}  // namespace

TEST_CASE("a family from outside wins where it is cheaper, and does not where it is dearer") {
  const auto cheaper = map_of(dk::cpu::default_families + dk::family_list<own_map<1>>{});
  CHECK(cheaper.plan.choices[0].family == "own_map");
  CHECK(cheaper.plan.choices[0].number == dk::cpu::default_families.size);
  REQUIRE(cheaper.plan.alternatives.size() == 2);
  CHECK(cheaper.plan.alternatives[0].family == "transposition");  // which does not match
  CHECK(cheaper.plan.alternatives[1].family == "elementwise_map");
  const auto dearer = map_of(dk::cpu::default_families + dk::family_list<own_map<1'000'000>>{});
  CHECK(dearer.plan.choices[0].family == "elementwise_map");
  REQUIRE(dearer.plan.alternatives.size() == 2);
  CHECK(dearer.plan.alternatives[1].family == "own_map");
  CHECK(dearer.plan.alternatives[1].cost.cycles == 1'000'000);
}
TEST_CASE("of equals the first") {
  CHECK(map_of(dk::family_list<own_map<1>, second>{}).plan.choices[0].family == "own_map");
  CHECK(map_of(dk::family_list<second, own_map<1>>{}).plan.choices[0].family == "second");
}
TEST_CASE("a cost that nothing can be compared with is refused, and the family named") {
  for (const double cycles : {std::nan(""), -1.0, HUGE_VAL}) {
    CAPTURE(cycles);
    costs::cycles = cycles;
    for (const dk::schedule& s : {map_of(dk::cpu::default_families + dk::family_list<costs>{}),
                                  map_of(dk::family_list<costs>{} + dk::cpu::default_families)})
      CHECK(s.plan.error.str() ==
            "family 'costs': what it expects to take for element-wise operators 'bend' is not 0 or more cycles");
  }
}
TEST_CASE("a list in which nothing matches") {
  CHECK(map_of(dk::family_list<no_map>{}).plan.error.str() ==
        "no family of kernels carries out element-wise operators 'bend': no_map: it never does");
  CHECK(map_of(dk::family_list<dk::cpu::row_passes>{}).plan.error.str() ==
        "no family of kernels carries out element-wise operators 'bend': the list has none for it");
  CHECK(map_of(dk::family_list<>{}).plan.error.str() ==
        "no family of kernels carries out element-wise operators 'bend': the list has none for it");
}
