// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Kernels with tiles and blocks that a table asks for (cost/tuned.hpp), against the reference evaluator: products cut
// in any way, convolutions of each family, stages. The table is made in the compiler, of the keys of the untuned
// network.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "dnnkit/compile.hpp"
#include "dnnkit/plan/kernel_key.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using dk::kernel_genes;
using dk::tuned_kernel;

namespace {

// The genes of all stages of a kernel.
struct genes_of_stages {
  kernel_genes genes[tuned_kernel::most_stages] = {};
};

// Model, each kernel of which is to be of Family, where that is one of those that carry it out, with these genes.
template <class Model, const auto& Family, genes_of_stages Genes> struct tuned_model : Model {
  static constexpr auto tuned = [] {
    using net = dk::compile<Model>;
    constexpr const dk::plan::plan_view& plan = net::plan;
    std::array<tuned_kernel, plan.recipes.size()> table{};
    for (std::size_t r = 0; r < table.size(); ++r) {
      table[r] = {dk::plan::key_of(dk::kernel_spec(plan, r), net::target::facts), Family, 0};
      for (std::size_t i = 0; i < tuned_kernel::most_stages; ++i) table[r].genes[i] = Genes.genes[i];
    }
    std::sort(table.begin(), table.end());
    return table;
  }();
};

constexpr std::string_view matrix_product = "matrix_product", conv_nhwc = "conv_nhwc",
                           conv_depthwise = "conv_depthwise", conv_winograd = "conv_winograd",
                           normalised_product = "normalised_product";

// Compiles and compares it; `Genes` must be those of one of its kernels at least.
template <class Model, const auto& Family, kernel_genes First, kernel_genes Second = kernel_genes{}>
void check(const std::string& name) {
  using model = tuned_model<Model, Family, genes_of_stages{{First, Second}}>;
  using net = dk::compile<model>;
  static_assert([] {
    bool has = false;
    for (const dk::kernel_choice& c : net::choices)
      has = has || (c.family == Family && dk::grants(c.genes, First) && (c.genes != kernel_genes{}));
    return has;
  }());
  CHECK(harness::compiled_error(harness::network_of<net>(name), 5) == "");
}

struct products {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {37, 90}), v = g.input("v", f32, {90, 50}), r = g.input("r", f32, {37, 50});
    g.output("y", dk::relu(dk::matmul(x, g.weight("w", {90, 83})) + g.weight("b", {83})));
    g.output("z", dk::matmul(x, v) + r);
  }
};
struct rows_at_run_time {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::matmul(g.input("x", f32, {dk::sym("L", {1, 40}), 48}), g.weight("w", {48, 70})));
  }
};
// Channels last, since pools hand it over.
template <std::int64_t Group> struct convolutions {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::max_pool(g.input("x", f32, {1, 40, 22, 26}), {.kernel_shape = {2, 2}, .strides = {2, 2}});
    const dk::tensor y =
        dk::conv(x, g.weight("w", {40, 40 / Group, 3, 3}), g.weight("b", {40}), {.pads = {1, 1, 1, 1}, .group = Group});
    g.output("y", dk::max_pool(dk::relu(y), {.kernel_shape = {2, 2}, .strides = {2, 2}}));
  }
};
struct normalised {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {24, 96});
    const dk::tensor y = dk::layer_normalization(x, g.weight("s", {96}), g.weight("t", {96}));
    g.output("y", dk::matmul(y, g.weight("w", {96, 112})));
  }
};

}  // namespace

TEST_CASE("products: vectors, rows, blocks of rows and of the reduction") {
  check<products, matrix_product, kernel_genes{.vectors = 1, .rows = 5}>("narrow tiles");
  check<rows_at_run_time, matrix_product, kernel_genes{.rows = 4, .depth = 16}>("rows at run time, in pieces");
  harness::thoroughly([](auto) {
    check<products, matrix_product, kernel_genes{.depth = 30}>("a reduction in pieces");
    check<rows_at_run_time, matrix_product, kernel_genes{.vectors = 1, .rows = 3}>("rows at run time");
  });
}

TEST_CASE("convolutions: vectors and rows, planes, tiles of a block") {
  check<convolutions<1>, conv_nhwc, kernel_genes{.vectors = 1, .rows = 4}>("direct");
  check<convolutions<40>, conv_depthwise, kernel_genes{.rows = 5}>("depthwise");
  check<convolutions<1>, conv_winograd, kernel_genes{.vectors = 1, .block = 3, .outputs = 2}>("Winograd");
}

TEST_CASE("stages: each with genes of its own") {
  check<normalised, normalised_product, kernel_genes{}, kernel_genes{.vectors = 1, .rows = 3}>("normalised rows");
}
