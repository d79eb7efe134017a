// SPDX-License-Identifier: MIT
// What follows from constants and extents, in graphs written by hand.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/propagate_values.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/plan_check.hpp"
#include "tests/support/random_source.hpp"

namespace dk = dnnkit;
using namespace dnnkit;  // expressions of operators

namespace {

// "Exp Neg -> f32 [2, 3]": what the pass leaves of a model of x [N, 2, 3], N from 1 to 8, and w [2, 3].
template <class Build> constexpr text left_of(Build build) {
  builder b;
  const tensor x = b.input("x", f32, {sym{"N", {1, 8}}, 2, 3}), w = b.input("w", f32, {2, 3});
  b.output("y", build(b, x, w));
  if (!b.value().error.empty()) return b.value().error;
  const graph g = passes::propagate_values::run(b.value());
  if (!g.error.empty()) return g.error;
  text t;
  for (const node& n : g.nodes) t << n.op->name << " ";
  if (const text wrong = dnnkit::verify(g); !wrong.empty()) return wrong;
  t << "-> ";
  const value& y = g.at(g.outputs[0]);
  if (y.from != origin::constant) return t << dnnkit::name(y.type.type) << " " << print(g.symbols, y.type.dims);
  for (std::uint32_t i = 0; i < y.data.count; ++i) t << (i ? " " : "") << g.constants[y.data.first + i];
  return t;
}
constexpr tensor number(builder& b, std::int64_t n) { return b.scalar(static_cast<double>(n), i64); }
constexpr tensor count_of(tensor x) { return reduce_prod(shape_of(x), {.keepdims = false}); }

static_assert(left_of([](builder&, tensor, tensor w) { return shape_of(w); }) == "-> 2 3");
static_assert(left_of([](builder&, tensor, tensor w) { return count_of(w); }) == "-> 6");
static_assert(left_of([](builder&, tensor x, tensor) { return shape_of(x); }) == "Dims -> i64 [3]");
static_assert(left_of([](builder&, tensor x, tensor) { return shape_of(dk::exp(x), {.start = 1}); }) == "-> 2 3");
static_assert(left_of([](builder&, tensor x, tensor) { return count_of(x); }) == "Dims Reshape -> i64 []");
static_assert(left_of([](builder& b, tensor x, tensor) { return count_of(x) / (count_of(x) / 6) + number(b, 1); }) ==
              "-> 7");

// Movement, indices, concatenation, conversion, comparison.
static_assert(left_of([](builder& b, tensor x, tensor) {
                const tensor s = shape_of(x);
                const tensor h = gather(s, number(b, -1)), c = gather(s, number(b, 1));
                return concat({reshape(h, {1}), reshape(c, {1}), slice(s, {.starts = {1}, .ends = {2}})});
              }) == "-> 3 2 2");
static_assert(left_of([](builder& b, tensor, tensor w) {
                return cast(mod(count_of(w), number(b, 4)), {.to = boolean});
              }) == "-> 1");
static_assert(left_of([](builder& b, tensor x, tensor) {
                return logical_and(less(count_of(x), number(b, 49)), logical_not(equal(count_of(x), number(b, 5))));
              }) == "-> 1");
static_assert(left_of([](builder& b, tensor, tensor w) {
                return where(greater(shape_of(w), number(b, 2)), shape_of(w), number(b, -1));
              }) == "-> -1 3");
static_assert(left_of([](builder&, tensor, tensor w) {
                return transpose(expand(shape_of(w), {2, 2}), {.perm = {1, 0}});
              }) == "-> 2 2 3 3");
static_assert(left_of([](builder& b, tensor, tensor) { return range(number(b, 5), number(b, -2), {.count = 3}); }) ==
              "-> 5 3 1");

// Branches whose condition is known, by numbers or by bounds of symbols.
static_assert(left_of([](builder& b, tensor x, tensor) {
                return combine(greater(count_of(x), number(b, 48)), dk::exp(x), neg(x));
              }) == "Neg -> f32 [N, 2, 3]");
static_assert(left_of([](builder& b, tensor x, tensor) {
                return combine(greater(count_of(x), number(b, 5)), dk::exp(x), neg(x));
              }) == "Exp -> f32 [N, 2, 3]");
static_assert(left_of([](builder& b, tensor x, tensor) {
                return combine(greater(count_of(x), number(b, 20)), dk::exp(x), neg(x));
              }) == "Dims Reshape Greater Exp Neg If -> f32 [N, 2, 3]");
static_assert(left_of([](builder& b, tensor x, tensor w) {
                return where(equal(count_of(w), number(b, 6)), dk::exp(x), neg(x));
              }) == "Exp -> f32 [N, 2, 3]");
static_assert(left_of([](builder& b, tensor x, tensor w) {  // which is broadcast
                return where(equal(count_of(w), number(b, 6)), w, x);
              }) == "Where -> f32 [N, 2, 3]");

static_assert(left_of([](builder& b, tensor x, tensor w) {  // what is chosen is known itself
                const tensor six = equal(count_of(w), number(b, 6));
                return combine(six, shape_of(w) * 2, combine(six, shape_of(w), shape_of(x, {.start = 1})));
              }) == "-> 4 6");

// Extents that were not known because a condition was not.
static_assert(left_of([](builder& b, tensor, tensor w) {
                const tensor y = combine(less(count_of(w), number(b, 6)), w, slice(w, {.starts = {1}, .ends = {2}}));
                return relu(y) * cast(count_of(y), {.to = f32});
              }) == "Slice Relu Cast Mul -> f32 [1, 3]");
static_assert(left_of([](builder& b, tensor, tensor w) {
                const tensor y = combine(less(count_of(w), number(b, 6)), w, transpose(w, {.perm = {1, 0}}));
                return y + w;
              }) == "Add (node 5): shapes [3, 2] and [2, 3] do not broadcast");

// What is not known stays.
static_assert(left_of([](builder& b, tensor x, tensor) {
                return combine(b.input("c", boolean, {}), dk::exp(x), neg(x));
              }) == "Exp Neg If -> f32 [N, 2, 3]");
static_assert(left_of([](builder& b, tensor, tensor w) {  // as the evaluator says when it runs
                return gather(shape_of(w), number(b, 2));
              }) == "Gather -> i64 []");
static_assert(left_of([](builder& b, tensor x, tensor) { return number(b, 5) - count_of(x); }) ==
              "Dims Reshape Sub -> i64 []");  // which may be negative
static_assert(left_of([](builder&, tensor x, tensor) { return shape_of(non_zero(x)); }) == "NonZero Shape -> i64 [2]");

// Random arithmetic on the extents of x [N, 2, 3]; every value is an output.
void build_random_values(builder& b, std::uint64_t seed) {
  random_source r(seed);
  const tensor x = b.input("x", f32, {sym{"N", {1, 8}}, 2, 3}), chosen = b.input("c", boolean, {});
  std::vector<tensor> numbers{shape_of(x), b.input("n", i64, {3})}, truths;
  const auto number = [&] { return numbers[r.below(numbers.size())]; };
  const auto as_long = [&](tensor t) {  // [3], by movement
    if (t.rank() == 0) return expand(t, {3});
    if (t.size(0) == dim(3)) return t;
    return slice(concat({t, t, t}), {.starts = {0}, .ends = {3}});
  };
  for (int k = 0; k < 14; ++k) {
    const tensor p = number(),
                 q = r.chance(30) ? b.scalar(static_cast<double>(r.between(-2, 7)), i64) : as_long(number());
    const tensor a = as_long(p);
    switch (r.below(14)) {
      case 0:
        numbers.push_back(a + q);
        break;
      case 1:
        numbers.push_back(a - q);
        break;
      case 2:
        numbers.push_back(min(a, b.scalar(50, i64)) * min(q, b.scalar(50, i64)));
        break;
      case 3:
        numbers.push_back(a / q);
        break;
      case 4:
        numbers.push_back(mod(a, q, {.fmod = r.chance(50)}));
        break;
      case 5:
        numbers.push_back(max(a, neg(q)));
        break;
      case 6:
        numbers.push_back(gather(a, b.scalar(static_cast<double>(r.between(-3, 2)), i64)));
        break;
      case 7:
        numbers.push_back(slice(a, {.starts = {r.between(0, 1)}, .ends = {r.between(2, 3)}}));
        break;
      case 8:
        numbers.push_back(reduce_sum(a, {.axes = {0}}));
        break;
      case 9:
        numbers.push_back(dk::abs(cast(cast(a, {.to = r.chance(50) ? i32 : i8}), {.to = i64})));
        break;
      case 10:
        truths.push_back(less(a, q));
        break;
      case 11:
        truths.push_back(logical_not(equal(reduce_max(a), b.scalar(3, i64))));
        break;
      case 12:
        if (!truths.empty()) numbers.push_back(where(truths[r.below(truths.size())], a, q));
        break;
      default: {
        const tensor c = truths.empty() || r.chance(30) ? chosen : gather(truths.back(), b.scalar(0, i64));
        numbers.push_back(combine(c, a, as_long(number())));
      }
    }
  }
  for (std::size_t k = 0; k < numbers.size(); ++k) b.output((text("n") << k).view(), numbers[k]);
  for (std::size_t k = 0; k < truths.size(); ++k) b.output((text("t") << k).view(), truths[k]);
}

}  // namespace

TEST_CASE("random arithmetic on extents gives what it gave, for every value of the symbol") {
  std::size_t nodes = 0, left = 0;
  for (const std::uint64_t seed : harness::seeds(1, 300)) {
    INFO("DNNKIT_SEED=" << seed);
    builder b;
    build_random_values(b, seed);
    REQUIRE(b.value().error.str() == "");
    const graph after = passes::propagate_values::run(b.value());
    REQUIRE(dnnkit::verify(after).str() == "");
    nodes += b.value().nodes.size();
    left += after.nodes.size();
    for (const std::int64_t n : {1, 2, 5, 8}) {
      const std::vector<host_tensor> inputs{host_tensor(f32, {n, 2, 3}), host_tensor::of_integers(boolean, {}, {n % 2}),
                                            host_tensor::of_integers(i64, {3}, {n - 3, 4, -n})};
      const auto expected = evaluate(b.value(), inputs), found = evaluate(after, inputs);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        CHECK(found[k].describe() == expected[k].describe());
        CHECK(found[k].integers == expected[k].integers);
      }
    }
  }
  CHECK(10 * left < 9 * nodes);
}

TEST_CASE("a branch that is known not to be taken is not in the plan") {
  builder b;
  const tensor x = b.input("x", f32, {4, 3});
  const tensor small = equal(gather(shape_of(x), b.scalar(1, i64)), b.scalar(3, i64));
  b.output("y", combine(small, matmul(x, b.weight("a", {3, 5})), matmul(x, b.weight("b", {3, 7}))));
  const plan::plan_draft plan = default_pipeline::run(b.value()).plan;
  CHECK(plan.error.view() == "");
  CHECK(plan.steps.size() == 1);
  CHECK(harness::error_of_plan(b.value(), plan, 1) == "");
  CHECK(without<default_pipeline, passes::propagate_values>::run(b.value()).plan.error.view() ==
        "If: the extents of its output depend on the elements of its inputs; a compiled network has no room for that, "
        "the interpreter does");
}

TEST_CASE("the log says what was computed and which condition was known") {
  builder b;
  const tensor x = b.input("x", f32, {2, 3});
  b.output("y", combine(equal(count_of(x), b.scalar(6, i64)), dk::exp(x), neg(x)));
  const plan::plan_draft plan = default_pipeline::run_logged(b.value()).plan;
  std::string said;
  for (const plan::decision& d : plan.decisions)
    if (d.pass == passes::propagate_values::name) said += std::string(d.reason) + "\n";
  CHECK(said.find("it follows from constants and extents\n") != said.npos);
  CHECK(said.find("the condition is known\n") != said.npos);
}
