// SPDX-License-Identifier: MIT
// Keys of kernels: the same in the compiler as at run time, for what is spelt in two ways, and for what only has other
// names; others for whatever measures otherwise.
#include "dnnkit/plan/kernel_key.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

constexpr const dk::cpu_facts& facts = dk::targets::avx512::facts;

struct block {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::relu(g.input("x", f32, {1, 16, 12, 12}));
    g.output("y", dk::relu(dk::conv(x, g.weight("w", {32, 16, 3, 3}), g.weight("b", {32}), {.pads = {1, 1, 1, 1}})));
  }
};
constexpr std::uint64_t first_key = [] {
  const dk::plan::plan_view plan = dk::compile<block, dk::targets::avx512>::plan;
  return dk::plan::key_of(dk::kernel_spec(plan, plan.steps.back().kernel), facts);
}();
// Shipped tables have such keys: whatever changes this one makes them useless, and is followed by measuring anew.
static_assert(first_key == 0x28d76b3f4a9609dau);

// The keys of all kernels that a run calls.
std::vector<std::uint64_t> keys_of(auto build, const dk::cpu_facts& of = facts) {
  dk::builder b;
  build(b);
  REQUIRE(b.value().error.str() == "");
  const dk::plan::plan_draft draft = dk::cpu::planned<dk::default_pipeline, dk::targets::avx512>(b.value());
  const dk::plan::plan_view plan = view_of(draft);
  std::vector<std::uint64_t> keys;
  for (const dk::plan::step& s : plan.steps) keys.push_back(dk::plan::key_of(dk::kernel_spec(plan, s.kernel), of));
  return keys;
}
std::uint64_t key_of(auto build) { return keys_of(build).back(); }

// A convolution and what may be different about it.
struct variant {
  std::int64_t channels = 16, filters = 32, size = 12;
  dk::op::conv convolution{.pads = {1, 1, 1, 1}};
  bool has_bias = true, has_relu = true, has_residual = false;
  const char *input = "x", *weight = "w";
};
std::uint64_t key_of(const variant& v) {
  return key_of([&](dk::builder& g) {
    const dk::tensor x = dk::relu(g.input(v.input, f32, {1, v.channels, v.size, v.size}));
    const dk::tensor w = g.weight(v.weight, {v.filters, v.channels / v.convolution.group, 3, 3});
    dk::tensor y =
        v.has_bias ? dk::conv(x, w, g.weight("b", {v.filters}), v.convolution) : dk::conv(x, w, v.convolution);
    if (v.has_residual) y = y + g.input("r", f32, {1, v.filters, v.size, v.size});
    g.output("y", v.has_relu ? dk::relu(y) : y);
  });
}

}  // namespace

TEST_CASE("a key is the same at run time, by whatever names, and with defaults that are spelt out") {
  CHECK(key_of(variant{}) == first_key);
  CHECK(key_of({.input = "another", .weight = "name"}) == first_key);
  const dk::op::conv spelt_out{.kernel_shape = {3, 3}, .strides = {1, 1}, .pads = {1, 1, 1, 1}, .dilations = {1, 1}};
  CHECK(key_of({.convolution = spelt_out}) == first_key);
}

TEST_CASE("keys differ where extents, windows, epilogues or vectors do") {
  std::set<std::uint64_t> keys{first_key};
  std::size_t n = 1;
  for (const variant& v : {
           variant{.channels = 32},
           variant{.filters = 16},
           variant{.size = 14},
           variant{.convolution = {.strides = {2, 2}, .pads = {1, 1, 1, 1}}},
           variant{.convolution = {.pads = {2, 2, 2, 2}, .dilations = {2, 2}}},
           variant{.convolution = {.pads = {1, 1, 1, 1}, .group = 2}},
           variant{.has_bias = false},
           variant{.has_relu = false},
           variant{.has_residual = true},
       }) {
    keys.insert(key_of(v));
    CHECK(keys.size() == ++n);
  }
  dk::builder b;
  block::build(b);
  CHECK(keys_of(block::build, dk::targets::avx2::facts).back() != first_key);
  CHECK(keys_of(block::build, dk::targets::avx512_amx::facts).back() == first_key);  // floats have the same vectors
}

TEST_CASE("products, pools, slices and symbols") {
  const auto product = [](std::int64_t k, bool transposed) {
    return key_of([=](dk::builder& g) {
      const dk::tensor x = g.input("x", f32, {8, k});
      const dk::tensor w = transposed ? dk::transpose(g.weight("w", {24, k})) : g.weight("w", {k, 24});
      g.output("y", dk::matmul(x, w));
    });
  };
  CHECK(product(64, false) == product(64, false));
  CHECK(product(64, false) != product(80, false));
  CHECK(product(64, false) != product(64, true));
  const auto pool = [](const dk::op::max_pool& p) {
    return key_of([&](dk::builder& g) { g.output("y", dk::max_pool(g.input("x", f32, {1, 16, 8, 8}), p)); });
  };
  CHECK(pool({.kernel_shape = {2, 2}}) == pool({.kernel_shape = {2, 2}, .strides = {1, 1}, .dilations = {1, 1}}));
  CHECK(pool({.kernel_shape = {2, 2}}) != pool({.kernel_shape = {2, 2}, .strides = {2, 2}}));
  CHECK(pool({.kernel_shape = {2, 4}, .strides = {2, 2}}) != pool({.kernel_shape = {4, 2}, .strides = {2, 2}}));
  const auto rows = [](bool known) {
    return key_of([=](dk::builder& g) {
      const dk::tensor x = known ? g.input("x", f32, {64, 32}) : g.input("x", f32, {dk::sym("L", {1, 100}), 32});
      g.output("y", dk::matmul(x, g.weight("w", {32, 32})));
    });
  };
  CHECK(rows(true) != rows(false));
  const auto image = [](std::int64_t most) {  // what costs take its rows for
    return key_of([=](dk::builder& g) {
      g.output("y", dk::max_pool(g.input("x", f32, {1, 16, dk::sym("H", {1, most}), 8}), {.kernel_shape = {2, 2}}));
    });
  };
  CHECK(image(100) != image(50));
  CHECK(image(300) == image(400));
}
