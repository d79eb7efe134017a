// SPDX-License-Identifier: MIT
// Matrix products with a factor of rank 1: what they become, and that the numbers are the same.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/products_of_vectors.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

namespace {

using extents = std::vector<std::int64_t>;

std::int64_t count_of(const extents& dims) {
  std::int64_t n = 1;
  for (const std::int64_t d : dims) n *= d;
  return n;
}
dk::host_tensor numbers(dk::dtype type, const extents& dims, std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> x;
  for (std::int64_t i = 0; i < count_of(dims); ++i) x.push_back(least + i * 7919 % (most - least + 1));
  if (!dk::is_floating(type)) return dk::host_tensor::of_integers(type, dims, x);
  dk::host_tensor t(type, dims);
  for (std::size_t i = 0; i < x.size(); ++i) t.reals[i] = dk::round_to(type, 0.125 * static_cast<double>(x[i]));
  return t;
}
dk::tensor input(dk::builder& g, const char* name, dk::dtype type, const extents& d) {
  switch (d.size()) {
    case 1:
      return g.input(name, type, {d[0]});
    case 2:
      return g.input(name, type, {d[0], d[1]});
    case 3:
      return g.input(name, type, {d[0], d[1], d[2]});
    default:
      return g.input(name, type, {d.at(0), d.at(1), d.at(2), d.at(3)});
  }
}

// a b before the pass and behind it; the operators behind it.
template <class Op> std::string operators_of(dk::dtype type, const extents& a, const extents& b) {
  CAPTURE(dk::name(type));
  dk::builder g;
  constexpr bool bytes = std::is_same_v<Op, dk::op::matmul_integer>;
  const dk::tensor x = input(g, "a", type, a), y = input(g, "b", type, b);
  if constexpr (bytes) g.output("y", g.apply(Op{}, {x, y, g.scalar(3, type), g.scalar(5, type)}));
  else g.output("y", dk::matmul(x, y));
  REQUIRE(g.value().error.empty());
  const dk::graph after = dk::passes::products_of_vectors::run(g.value());
  REQUIRE(dk::verify(after).str() == "");
  const std::int64_t least = dk::info(type).is_signed ? -20 : 0;
  const std::vector<dk::host_tensor> in{numbers(type, a, least, bytes ? 120 : 20), numbers(type, b, least, 19)};
  const dk::host_tensor expected = evaluate(g.value(), in)[0], found = evaluate(after, in)[0];
  CHECK(found.dims == expected.dims);
  CHECK(found.integers == expected.integers);
  REQUIRE(found.reals.size() == expected.reals.size());
  for (std::size_t i = 0; i < found.reals.size(); ++i)
    CHECK(std::abs(found.reals[i] - expected.reals[i]) <= 1e-6 * (1 + std::abs(expected.reals[i])));
  std::string operators;
  for (const dk::node& n : after.nodes) (operators += n.op->name) += " ";
  return operators;
}

}  // namespace

TEST_CASE("products of numbers") {
  for (const dk::dtype type : {dk::f32, dk::f64, dk::i32, dk::i64, dk::u32, dk::u64, dk::i8, dk::u16}) {
    const auto check = [&](const extents& a, const extents& b, const std::string& operators) {
      CHECK(operators_of<dk::op::matmul>(type, a, b) == operators);
    };
    check({7}, {7, 5}, "Unsqueeze MatMul Squeeze ");
    check({7}, {2, 3, 7, 5}, "Unsqueeze MatMul Squeeze ");
    check({7}, {7, 1}, "Unsqueeze MatMul Squeeze ");
    check({5, 7}, {7}, "Mul ReduceSum ");
    check({2, 3, 5, 7}, {7}, "Mul ReduceSum ");
    check({1, 7}, {7}, "Mul ReduceSum ");
    check({7}, {7}, "Mul ReduceSum ");
    check({1}, {1}, "Mul ReduceSum ");
    check({5, 7}, {7, 5}, "MatMul ");
  }
}

TEST_CASE("sums of products of 16 bits are rounded once") {
  for (const dk::dtype type : {dk::f16, dk::bf16}) {
    CHECK(operators_of<dk::op::matmul>(type, {5, 7}, {7}) == "Cast Cast Mul ReduceSum Cast ");
    CHECK(operators_of<dk::op::matmul>(type, {7}, {7}) == "Cast Cast Mul ReduceSum Cast ");
    CHECK(operators_of<dk::op::matmul>(type, {7}, {7, 5}) == "Unsqueeze MatMul Squeeze ");
  }
}

TEST_CASE("products of bytes") {
  const auto check = [](const extents& a, const extents& b, const std::string& operators) {
    CHECK(operators_of<dk::op::matmul_integer>(dk::u8, a, b) == operators);
    CHECK(operators_of<dk::op::matmul_integer>(dk::i8, a, b) == operators);
  };
  check({7}, {7, 5}, "Unsqueeze MatMulInteger Squeeze ");
  check({7}, {3, 7, 5}, "Unsqueeze MatMulInteger Squeeze ");
  check({5, 7}, {7}, "Unsqueeze MatMulInteger Squeeze ");
  check({3, 5, 7}, {7}, "Unsqueeze MatMulInteger Squeeze ");
  check({7}, {7}, "Unsqueeze Unsqueeze MatMulInteger Squeeze Squeeze ");
}

TEST_CASE("symbols") {
  dk::builder g;
  const dk::dim_argument k = dk::sym("K", {1, 9}), n = dk::sym("N", {1, 9});
  const dk::tensor vector = g.input("v", dk::f32, {k}), matrix = g.input("m", dk::f32, {n, k});
  g.output("column", dk::matmul(matrix, vector));
  g.output("row", dk::matmul(vector, dk::transpose(matrix)));
  const dk::graph after = dk::passes::products_of_vectors::run(g.value());
  REQUIRE(dk::verify(after).str() == "");
  const std::vector<dk::host_tensor> in{numbers(dk::f32, {4}, -9, 9), numbers(dk::f32, {6, 4}, -9, 9)};
  const std::vector<dk::host_tensor> found = evaluate(after, in), expected = evaluate(g.value(), in);
  CHECK(found[0].reals == expected[0].reals);
  CHECK(found[1].reals == expected[1].reals);
}

TEST_CASE("the log says so") {
  dk::builder b;
  b.output("y", dk::matmul(b.input("x", dk::f32, {3}), b.input("z", dk::f32, {3, 2})));
  bool said = false;
  for (const dk::plan::decision& d : dk::default_pipeline::run_logged(b.value()).plan.decisions)
    said = said || d.pass == dk::passes::products_of_vectors::name;
  CHECK(said);
}
