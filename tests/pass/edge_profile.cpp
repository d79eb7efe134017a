// SPDX-License-Identifier: MIT
// Which of the two decides a yellow cell, measurement or cost model, and what it says.
#include "dnnkit/pass/edge_profile.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"

namespace dk = dnnkit;
using dk::f32;
using dk::plan::answered_by;
using dk::plan::element_order;
using dk::plan::profile_key;

namespace {

// The keys that fusion asks about, in its order.
struct noting_rule {
  static constexpr std::string_view name = "noting";
  static inline std::vector<profile_key> keys;
  static constexpr dk::verdict decide(const dk::passes::fusion_edge& edge, dk::mapping, dk::mapping, dk::verdict v) {
    if (v != dk::verdict::profile) return v;
    if (!std::is_constant_evaluated()) keys.push_back(edge.profile->key());
    return dk::verdict::fuse;
  }
};
std::vector<profile_key> keys_of(const dk::builder& b) {
  noting_rule::keys.clear();
  using pipeline =
      dk::replaced<dk::default_pipeline, dk::passes::default_fusion<>, dk::passes::plan_fusion<noting_rule>>;
  static_cast<void>(dk::planning_of<pipeline>::run<dk::targets::avx2>(dk::rewriting_of<pipeline>::run(b.value()).g));
  return noting_rule::keys;
}

// The decision about the first edge whose costs were compared.
struct decided {
  bool fused = false;
  std::string unit;
  double one = 0, two = 0;  // what was compared with what
  std::size_t kernels = 0;
};
template <class Target> decided decision_of(const dk::builder& b) {
  const dk::schedule s = dk::default_pipeline::run_logged<Target>(b.value());
  decided found;
  found.kernels = s.plan.steps.size();
  for (const dk::plan::decision& d : s.log.decisions)
    if (d.pass == "plan fusion" && d.costs.count >= 2) {
      const dk::plan::compared_cost *one = &s.log.costs[d.costs.first], *two = one + 1;
      found = {d.applied, std::string(one->unit), one->amount, two->amount, found.kernels};
      break;
    }
  return found;
}

// softmax -> transpose -> + y
void transposed(dk::builder& b, std::int64_t rows) {
  b.output("z", dk::transpose(dk::softmax(b.input("x", f32, {rows, 64}))) + b.input("y", f32, {64, rows}));
}
// softmax -> reshape -> + y
void reshaped(dk::builder& b, std::int64_t rows) {
  b.output("z",
           dk::reshape(dk::softmax(b.input("x", f32, {rows, 64})), {1, rows, 64}) + b.input("y", f32, {1, rows, 64}));
}

}  // namespace

TEST_CASE("the key has the block's anchor, the types, the order of elements and the class of the size") {
  using enum dk::mapping;
  dk::builder across, along, behind;
  transposed(across, 128);
  CHECK(keys_of(across)[0] == profile_key{"Softmax", "Add", many_to_many, shuffle, element_order::across, 6});
  reshaped(along, 128);
  CHECK(keys_of(along)[0] == profile_key{"Softmax", "Add", many_to_many, reorganize, element_order::along, 6});
  // the anchor, not the Relu that the movement reads
  const dk::tensor p = dk::relu(dk::matmul(behind.input("x", f32, {32, 8}), behind.weight("w", {8, 32})));
  behind.output("z", dk::transpose(p) + behind.input("y", f32, {32, 32}));
  CHECK(keys_of(behind)[0] == profile_key{"MatMul", "Add", many_to_many, shuffle, element_order::across, 5});
}

TEST_CASE("behind a convolution, and in front of one, channels lie next to each other") {
  const auto order = [](bool from_image, bool to_image) {
    dk::builder b;
    dk::tensor t;
    if (from_image) {  // [1, 8, 6, 6], to [1, 36, 8]
      t = dk::conv(b.input("x", f32, {1, 8, 6, 6}), b.weight("w", {8, 8, 3, 3}), {.pads = {1, 1, 1, 1}});
      t = dk::transpose(dk::reshape(t, {1, 8, 36}), {.perm = {0, 2, 1}}) + b.input("y", f32, {1, 36, 8});
    } else {  // [1, 6, 6, 8], to [1, 8, 6, 6]
      t = dk::matmul(b.input("x", f32, {1, 6, 6, 4}), b.weight("w", {4, 8}));
      t = dk::transpose(t, {.perm = {0, 3, 1, 2}}) + b.input("y", f32, {1, 8, 6, 6});
      if (to_image) t = dk::conv(t, b.weight("v", {8, 8, 3, 3}), {.pads = {1, 1, 1, 1}});
    }
    b.output("z", t);
    return keys_of(b)[0].order;
  };
  CHECK(order(true, false) == element_order::along);
  CHECK(order(false, true) == element_order::along);
  CHECK(order(false, false) == element_order::across);
}

TEST_CASE("measurements decide where there are some") {
  using enum dk::mapping;
  const profile_key across{"Softmax", "Add", many_to_many, shuffle, element_order::across, 8},
      along{"Softmax", "Add", many_to_many, reorganize, element_order::along, 8};
  const dk::plan::profile_table table = dk::plan::table_of(dk::measured_profile::avx2);
  REQUIRE(find(table, across));
  REQUIRE(find(table, along));
  for (const bool is_along : {false, true}) {
    dk::builder b;
    if (is_along) reshaped(b, 2048);
    else transposed(b, 2048);
    const decided d = decision_of<dk::targets::avx2>(b);
    CHECK(d.unit == dk::plan::unit_of(answered_by::measurement));
    CHECK(d.one == doctest::Approx(100 * *find(table, is_along ? along : across)));
    CHECK(d.two == doctest::Approx(105));  // up to which one kernel is taken
    CHECK(d.fused == is_along);
    CHECK(d.kernels == (is_along ? 1 : 2));
  }
}

TEST_CASE("the cost model decides where there are none") {
  const auto decide = [](auto target, std::int64_t rows, bool is_along) {
    dk::builder b;
    if (is_along) reshaped(b, rows);
    else transposed(b, rows);
    const decided d = decision_of<decltype(target)>(b);
    CHECK(d.unit == dk::plan::unit_of(answered_by::cost_model));
    CHECK(d.fused == d.one < d.two);
    CHECK(d.kernels == (d.fused ? 1 : 2));
    return d.fused;
  };
  CHECK(decide(dk::targets::sse2(), 2048, true));
  CHECK(!decide(dk::targets::sse2(), 2048, false));  // elements that leave vectors one by one
  CHECK(decide(dk::targets::sse2(), 2, false));      // few of them cost less than a second kernel
  CHECK(!decide(dk::targets::neon(), 2048, false));
  CHECK(decide(dk::targets::avx2(), 1 << 18, true));  // a class of sizes that was not measured
}
