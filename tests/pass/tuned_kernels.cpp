// SPDX-License-Identifier: MIT
// What the choice of kernels, and the tiles of stages, make of a table of what was measured (cost/tuned.hpp).
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/pass/choose_kernels.hpp"
#include "dnnkit/plan/kernel_key.hpp"

namespace dk = dnnkit;
using dk::f32;
using dk::kernel_genes;
using dk::tuned_kernel;

namespace {

constexpr const dk::cpu_facts& facts = dk::targets::avx512::facts;

dk::schedule logged(auto build, std::vector<tuned_kernel> table, bool sorted = true) {
  if (sorted) std::sort(table.begin(), table.end());
  dk::builder b;
  build(b);
  REQUIRE(b.value().error.str() == "");
  return dk::default_pipeline::run_logged<dk::targets::avx512>(
      b.value(), dk::family_table(dk::cpu::default_families.table, table));
}
struct chosen {
  dk::kernel_choice choice;
  std::vector<dk::kernel_alternative> others;
  std::uint64_t key;

  const dk::kernel_alternative& other(std::string_view family) const {
    const auto found = std::ranges::find(others, family, &dk::kernel_alternative::family);
    REQUIRE(found != others.end());
    return *found;
  }
};
// What the last step's kernel is.
chosen last_of(const dk::schedule& s) {
  REQUIRE(s.g.error.str() == "");
  const dk::plan::plan_view plan = view_of(s.plan);
  const std::size_t r = plan.steps.back().kernel;
  chosen c{plan.choices[r], {}, dk::plan::key_of(dk::kernel_spec(plan, r), facts)};
  for (std::uint32_t i = 0; i < c.choice.alternatives.count; ++i)
    c.others.push_back(plan.alternatives[c.choice.alternatives.first + i]);
  return c;
}
std::vector<std::string> disbelieved(const dk::schedule& s) {
  std::vector<std::string> lines;
  const dk::plan::plan_view plan = view_of(s.plan);
  for (const dk::plan::decision& d : plan.decisions)
    if (d.pass == "choose kernels")
      lines.push_back(std::string(plan.text_of(d.operators)) + ": " + std::string(d.reason));
  return lines;
}

// Families that carry it out: conv_nhwc, conv_nchw, conv_winograd and by_point.
constexpr auto convolution = [](dk::builder& g) {
  const dk::tensor x = dk::max_pool(g.input("x", f32, {1, 16, 48, 48}), {.kernel_shape = {2, 2}, .strides = {2, 2}});
  g.output("y", dk::conv(x, g.weight("w", {64, 16, 3, 3}), {.pads = {1, 1, 1, 1}}));
};
constexpr auto product = [](dk::builder& g) {
  g.output("y", dk::matmul(g.input("x", f32, {128, 4096}), g.weight("w", {4096, 256})));
};

}  // namespace

TEST_CASE("of families that were measured, the one that took least is chosen, whatever is expected") {
  const chosen untuned = last_of(logged(convolution, {}));
  CHECK(untuned.choice.family == "conv_winograd");
  CHECK(untuned.choice.cost.measured == 0);
  const std::uint64_t key = untuned.key;
  const chosen direct = last_of(logged(convolution, {{key, "conv_nhwc", 20}, {key, "conv_winograd", 30}}));
  CHECK(direct.choice.family == "conv_nhwc");
  CHECK(direct.choice.cost.measured == 20);
  CHECK(direct.choice.cost.cycles == untuned.other("conv_nhwc").cost.cycles);  // what is expected is still said
  CHECK(direct.other("conv_winograd").cost.measured == 30);
  CHECK(direct.other("conv_nchw").cost.measured == 0);
  CHECK(direct.key == key);  // which does not depend on the choice
  CHECK(last_of(logged(convolution, {{key, "conv_nhwc", 40}, {key, "conv_winograd", 30}})).choice.family ==
        "conv_winograd");
  CHECK(last_of(logged(convolution, {{key + 1, "conv_nhwc", 1}})).choice.family == "conv_winograd");
}

TEST_CASE("a family that was not measured is chosen where it expects less than each of those that were") {
  const chosen untuned = last_of(logged(convolution, {}));
  const std::uint64_t key = untuned.key;
  CHECK(last_of(logged(convolution, {{key, "conv_nhwc", 20}})).choice.family == "conv_winograd");
  CHECK(last_of(logged(convolution, {{key, "conv_winograd", 20}})).choice.family == "conv_winograd");
  CHECK(last_of(logged(convolution, {{key, "conv_winograd", 20}, {key, "by_point", 19}})).choice.family == "by_point");
}

TEST_CASE("an entry without a time is what the kernel is to be") {
  const std::uint64_t key = last_of(logged(convolution, {})).key;
  const chosen forced = last_of(logged(convolution, {{key, "by_point", 0}, {key, "conv_winograd", 0.001}}));
  CHECK(forced.choice.family == "by_point");
  CHECK(forced.choice.cost.measured == 0);
}

TEST_CASE("genes of convolutions: vectors and rows of a tile, tiles of a block") {
  const chosen untuned = last_of(logged(convolution, {}));
  const std::uint64_t key = untuned.key;
  const chosen direct = last_of(logged(convolution, {{key, "conv_nhwc", 0, {{.vectors = 2, .rows = 8}}}}));
  CHECK(direct.choice.family == "conv_nhwc");
  CHECK(direct.choice.genes == kernel_genes{.vectors = 2, .rows = 8});
  CHECK(direct.choice.tile.vectors == 2);
  CHECK(direct.choice.tile.rows == 8);
  CHECK(direct.choice.cost.cycles != untuned.other("conv_nhwc").cost.cycles);
  const chosen tiles =
      last_of(logged(convolution, {{key, "conv_winograd", 0, {{.vectors = 1, .block = 12, .outputs = 2}}}}));
  CHECK(tiles.choice.genes == kernel_genes{.vectors = 1, .block = 12, .outputs = 2});
  CHECK(tiles.choice.parameters[1] == 2);
  CHECK(tiles.choice.parameters[2] == 12);
  CHECK(tiles.choice.parameters[4] == 1);
  CHECK(untuned.choice.genes.vectors > 0);  // families say what they decide by themselves, too
  CHECK(untuned.choice.genes.block > 0);
}

TEST_CASE("genes of products: rows that all panels pass, and steps of a reduction in one go") {
  const chosen untuned = last_of(logged(product, {}));
  CHECK(untuned.choice.genes == kernel_genes{.vectors = 3, .rows = 9, .block = 43, .depth = 1024});
  CHECK(untuned.choice.parameters[0] == 0);  // gemm decides
  CHECK(untuned.choice.tile.rows == 0);
  const kernel_genes asked{.vectors = 4, .rows = 6, .block = 22, .depth = 512};
  const chosen tuned = last_of(logged(product, {{untuned.key, "matrix_product", 5, {asked}}}));
  CHECK(tuned.choice.genes == asked);
  CHECK(tuned.choice.tile.vectors == 4);
  CHECK(tuned.choice.tile.rows == 6);
  CHECK(tuned.choice.parameters[0] == 22);
  CHECK(tuned.choice.parameters[1] == 512);
}

TEST_CASE("what cannot be had, and families that are not asked, are not believed, and the log says so") {
  const std::uint64_t key = last_of(logged(convolution, {})).key;
  const dk::schedule s = logged(convolution, {{key, "attention", 1},
                                              {key, "conv_nhwc", 1, {{.vectors = 9}}},
                                              {key, "conv_winograd", 3, {{.positions = 4}}},
                                              {key, "not_a_family", 1}});
  CHECK(last_of(s).choice.family == "conv_winograd");
  CHECK(last_of(s).choice.cost.measured == 0);
  CHECK(disbelieved(s) == std::vector<std::string>{
                              "Conv by conv_nhwc: the kernel cannot have what the table asks for",
                              "Conv by conv_winograd: the kernel cannot have what the table asks for",
                              "Conv by attention: the family is not asked about it",
                              "Conv by not_a_family: the family is not asked about it",
                          });
  CHECK(disbelieved(logged(convolution, {{key, "conv_nhwc", 1}})).empty());
}

TEST_CASE("a table that is not in order is an error of the model") {
  const std::vector<tuned_kernel> table{{2, "conv_nhwc", 1}, {1, "conv_nhwc", 1}};
  CHECK(logged(convolution, table, false).g.error.str() ==
        "the table of tuned kernels is wrong: entry 1, of family 'conv_nhwc', does not come behind the one before it");
}

namespace {
// Behind it the image is larger than the second cache.
constexpr auto stages = [](dk::builder& g) {
  const dk::tensor x = dk::max_pool(g.input("x", f32, {1, 16, 448, 448}), {.kernel_shape = {2, 2}, .strides = {2, 2}});
  const dk::tensor wide = dk::relu(dk::conv(x, g.weight("a", {96, 16, 1, 1})));
  const dk::tensor filtered =
      dk::relu(dk::conv(wide, g.weight("b", {96, 1, 3, 3}), {.pads = {1, 1, 1, 1}, .group = 96}));
  g.output("y", dk::conv(filtered, g.weight("c", {16, 96, 1, 1})));
};
}  // namespace

TEST_CASE("genes of stages: positions of a tile, and tiles of registers of each stage") {
  const dk::schedule before = logged(stages, {});
  const chosen untuned = last_of(before);
  REQUIRE(untuned.choice.family == "row_stages");
  REQUIRE(view_of(before.plan).stages_of(view_of(before.plan).recipes[view_of(before.plan).steps.back().kernel]) == 3);
  const std::int32_t positions = untuned.choice.genes.positions == 8 ? 4 : 8;
  const dk::schedule s = logged(
      stages, {{untuned.key, "row_stages", 7, {{.vectors = 3}, {.rows = 7}, {.vectors = 1, .positions = positions}}}});
  const chosen tuned = last_of(s);
  CHECK(tuned.key == untuned.key);  // which does not depend on the tiles
  CHECK(tuned.choice.family == "row_stages");
  CHECK(tuned.choice.cost.measured == 7);
  CHECK(tuned.choice.genes.positions == positions);
  const dk::plan::plan_view plan = view_of(s.plan);
  const std::size_t r = plan.steps.back().kernel;
  CHECK(plan.numbers_of(plan.recipes[r].tile)[2] == positions);
  CHECK(plan.choices[plan.number_of_stage(r, 0)].tile.vectors == 3);
  CHECK(plan.choices[plan.number_of_stage(r, 1)].tile.rows == 7);
  CHECK(disbelieved(s).empty());
  const dk::schedule wrong = logged(stages, {{untuned.key, "row_stages", 7, {{.depth = 3}}}});
  CHECK(last_of(wrong).choice.genes == untuned.choice.genes);
  CHECK(disbelieved(wrong) ==
        std::vector<std::string>{"Conv 'Conv #3' by row_stages: a stage cannot have what the table asks for"});
}
