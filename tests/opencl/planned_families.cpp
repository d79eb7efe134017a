// SPDX-License-Identifier: MIT
// One graph, two targets' facts, different plans: what is several kernels on a processor is one where launches cost.
// Plans for a GPU are legal and compute what the graphs do.
#include "dnnkit/opencl/planned_families.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/cpu/families.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/plan_check.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

// --- how many kernels the same passes make of a model
template <class Target> constexpr std::size_t kernels(const dk::graph& g, std::span<const dk::kernel_family> families) {
  return dk::default_pipeline::run<Target>(g, families).plan.steps.size();
}
struct counts {
  std::size_t cpu = 0, gpu = 0;
  friend constexpr bool operator==(const counts&, const counts&) = default;
};
constexpr counts kernels_of(auto build) {
  dk::builder b;
  build(b);
  return {kernels<dk::targets::avx512>(b.value(), dk::cpu::default_families.table),
          kernels<dk::targets::planned_opencl<dk::devices::h200>>(b.value(), dk::opencl::planned_families.table)};
}

constexpr auto normalised(dk::builder& b, dk::tensor x, std::int64_t width) {
  return dk::layer_normalization(x, b.weight("scale", {width}), b.weight("shift", {width}), {.axis = -1});
}
// A normalisation before a product of so many rows and columns: on a GPU each work-group normalises its rows again, on
// a processor all rows come first, in scratch memory.
template <std::int64_t Rows, std::int64_t Width, std::int64_t Columns> constexpr void operand(dk::builder& b) {
  const dk::tensor x = b.input("x", dk::f32, {Rows, Width});
  b.output("y", dk::matmul(normalised(b, x, Width), b.weight("w", {Width, Columns})));
}
static_assert(kernels_of(operand<197, 768, 768>) == counts{1, 1});
static_assert(kernels_of(operand<8192, 4096, 16384>) == counts{1, 2});

// A product with a residual, then the normalisation of what is stored.
template <std::int64_t Rows, std::int64_t Width> constexpr void result(dk::builder& b) {
  const dk::tensor x = b.input("x", dk::f32, {Rows, Width});
  b.output("y", normalised(b, dk::matmul(x, b.weight("w", {Width, Width})) + x, Width));
}
static_assert(kernels_of(result<128, 768>) == counts{1, 1});

// Two products with an activation between them: what a work-group needs of the first lies in its local memory, unless
// it is wide.
template <std::int64_t Rows, std::int64_t Width, std::int64_t Hidden> constexpr void mlp(dk::builder& b) {
  const dk::tensor x = b.input("x", dk::f32, {Rows, Width});
  const dk::tensor hidden = dk::gelu(dk::matmul(x, b.weight("w0", {Width, Hidden})));
  b.output("y", dk::matmul(hidden, b.weight("w1", {Hidden, Width})));
}
static_assert(kernels_of(mlp<3136, 96, 384>) == counts{2, 1});
static_assert(kernels_of(mlp<128, 768, 3072>) == counts{2, 2});

// Squeeze and excite: a mean over all pixels, and two products of one row.
template <std::int64_t Pixels> constexpr void squeeze(dk::builder& b) {
  const dk::tensor x = b.input("x", dk::f32, {1, 96, Pixels, Pixels});
  const auto conv = [&](std::string_view name, dk::tensor in, std::int64_t from, std::int64_t to) {
    return dk::conv(in, b.weight(name, {to, from, 1, 1}));
  };
  const dk::tensor narrow = dk::swish(conv("w0", dk::global_average_pool(x), 96, 4));
  b.output("y", x * dk::sigmoid(conv("w1", narrow, 4, 96)));
}
static_assert(kernels_of(squeeze<28>).gpu == 2);

template <std::int64_t Heads, std::int64_t Keys, std::int64_t Width> constexpr void attention(dk::builder& b) {
  const auto heads = [&](std::string_view name) { return b.input(name, dk::f32, {Heads, Keys, Width}); };
  const dk::tensor scores = dk::matmul(heads("q"), dk::transpose(heads("k"), {.perm = {0, 2, 1}})) * 0.125;
  b.output("y", dk::matmul(dk::softmax(scores), heads("v")));
}
static_assert(kernels_of(attention<12, 128, 64>) == counts{1, 1});

// A convolution on each channel, then a product over them, and a convolution with its pool.
template <std::int64_t Pixels> constexpr void separable(dk::builder& b) {
  const dk::tensor x = b.input("x", dk::f32, {1, 32, Pixels, Pixels});
  const dk::tensor deep = dk::relu(dk::conv(x, b.weight("w0", {32, 1, 3, 3}), {.pads = {1, 1, 1, 1}, .group = 32}));
  b.output("y", dk::conv(deep, b.weight("w1", {16, 32, 1, 1})));
}
static_assert(kernels_of(separable<28>) == counts{2, 1});
template <std::int64_t Pixels> constexpr void pooled(dk::builder& b) {
  const dk::tensor x = b.input("x", dk::f32, {1, 16, Pixels, Pixels});
  const dk::tensor y = dk::relu(dk::conv(x, b.weight("w", {32, 16, 3, 3}), {.pads = {1, 1, 1, 1}}));
  b.output("y", dk::max_pool(y, {.kernel_shape = {2, 2}, .strides = {2, 2}}));
}
static_assert(kernels_of(pooled<28>).gpu == 1);

// --- plans that are run: a device whose launches cost so much that all stages are joined that can be
constexpr dk::gpu_facts eager{.launch = 1e4, .gap = 5e3};
using eager_device = dk::targets::planned_opencl<eager>;

using harness::error_of_schedule;

}  // namespace

TEST_CASE("plans for a GPU compute what the graphs do") {
  for (const auto build :
       {operand<6, 8, 10>, result<9, 8>, mlp<20, 8, 12>, squeeze<3>, attention<2, 11, 4>, separable<7>, pooled<8>}) {
    dk::builder b;
    build(b);
    const dk::graph& g = b.value();
    const dk::schedule s = dk::default_pipeline::run<eager_device>(g, dk::opencl::planned_families.table);
    CHECK(s.plan.stages.size() > 0);
    CHECK(error_of_schedule(g, s, 1) == "");
  }
}

TEST_CASE("plans of random graphs for a GPU are legal and compute what the graphs do") {
  std::size_t joined = 0;
  for (std::uint64_t seed : harness::seeds(1, 100)) {
    dk::builder b;
    random_graph(b, seed, {.least_operators = 4, .most_operators = 16, .symbols = seed % 2 == 1}).build();
    const dk::graph& g = b.value();
    INFO("DNNKIT_SEED=" << seed << "\n" << harness::describe(g));
    const dk::schedule s = dk::default_pipeline::run<eager_device>(g, dk::opencl::planned_families.table);
    joined += s.plan.stages.size();
    CHECK(error_of_schedule(g, s, seed) == "");
  }
  if (harness::seeds(1, 100).size() > 1) CHECK(joined > 20);
}
