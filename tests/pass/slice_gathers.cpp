// SPDX-License-Identifier: MIT
// Which Gathers become Slices, and that these are the same elements.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/slice_gathers.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

namespace {

using positions = std::vector<std::int64_t>;

dk::tensor gathered(dk::tensor x, const positions& of, const dk::shape& dims, std::int64_t axis) {
  dk::vector<std::int64_t> codes;
  for (const std::int64_t p : of) codes.push_back(p);
  return dk::gather(x, x.owner().constant_from_codes(codes, dims, dk::i64), {.axis = axis});
}

// What the pass leaves of Gather(x, positions) as operators, "Slice Squeeze"; "wrong" where it changes the elements.
template <class Build> std::string left_in(const dk::dim_argument& rows, std::int64_t known_rows, Build build) {
  dk::builder b;
  b.output("y", build(b.input("x", dk::f32, {2, rows, 3})));
  REQUIRE(b.value().error.str() == "");
  const dk::graph after = dk::passes::slice_gathers::run(b.value());
  if (!dk::verify(after).view().empty()) return dk::verify(after).str();
  std::vector<double> elements;
  for (std::int64_t i = 0; i < 6 * known_rows; ++i) elements.push_back(static_cast<double>(i));
  const std::vector<dk::host_tensor> inputs{dk::host_tensor({2, known_rows, 3}, elements)};
  const dk::host_tensor expected = evaluate(b.value(), inputs)[0], found = evaluate(after, inputs)[0];
  if (found.dims != expected.dims || found.reals != expected.reals) return "wrong";
  std::string names;
  for (const dk::node& n : after.nodes) (names += names.empty() ? "" : " ") += n.op->name;
  return names;
}
std::string left_of(const positions& of, const dk::shape& dims, std::int64_t axis = 1) {
  return left_in(5, 5, [&](dk::tensor x) { return gathered(x, of, dims, axis); });
}

}  // namespace

TEST_CASE("one position: a Slice without its axis") {
  CHECK(left_of({3}, {}) == "Slice Squeeze");
  CHECK(left_of({-1}, {}) == "Slice Squeeze");
  CHECK(left_of({0}, {}, 0) == "Slice Squeeze");
  CHECK(left_of({-3}, {}, -1) == "Slice Squeeze");
  CHECK(left_of({3}, {1}) == "Slice");
}
TEST_CASE("a row of positions that lie evenly") {
  CHECK(left_of({0, 1, 2, 3, 4}, {5}) == "Slice");
  CHECK(left_of({1, 3}, {2}) == "Slice");
  CHECK(left_of({-5, -3, -1}, {3}) == "Slice");
  CHECK(left_of({-2, 4}, {2}) == "Slice");
  CHECK(left_of({0, 2}, {2}, 2) == "Slice");
}
TEST_CASE("what stays a Gather") {
  CHECK(left_of({4, 3}, {2}) == "Gather");  // no view goes backwards
  CHECK(left_of({2, 2}, {2}) == "Gather");
  CHECK(left_of({0, 1, 3}, {3}) == "Gather");
  CHECK(left_of({0, 1, 2, 3}, {2, 2}) == "Gather");
  CHECK(left_of({2}, {3}) == "Gather");  // one element that stands for three
  CHECK(left_in(5, 5, [](dk::tensor x) {
          return dk::gather(dk::relu(x), dk::cast(dk::reduce_max(x, {.keepdims = false}), {.to = dk::i64}) * 0);
        }).find("Gather") != std::string::npos);
}
TEST_CASE("an axis whose extent is a symbol") {
  const dk::sym n("N", {3, 100});
  const auto left = [&](const positions& of, const dk::shape& dims) {
    return left_in(n, 4, [&](dk::tensor x) { return gathered(x, of, dims, 1); });
  };
  CHECK(left({2}, {}) == "Slice Squeeze");
  CHECK(left({0, 2}, {2}) == "Slice");
  CHECK(left({-1}, {}) == "Slice Squeeze");
  CHECK(left({-3, -2}, {2}) == "Slice");
  CHECK(left({3}, {}) == "Gather");  // not there if N is 3
  CHECK(left({-4}, {}) == "Gather");
  CHECK(left({-1, 0}, {2}) == "Gather");
}
TEST_CASE("positions that are nowhere are left to Gather, which refuses them") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
  for (const positions& of : {positions{5}, {-6}, {least, most}, {most, least}, {least}, {most}}) {
    dk::builder b;
    b.output("y", gathered(b.input("x", dk::f32, {2, 5, 3}), of, {static_cast<std::int64_t>(of.size())}, 1));
    CHECK(dk::passes::slice_gathers::run(b.value()).nodes[0].op->name == "Gather");
  }
}

// Queries, keys and values of one product, as PyTorch's MultiheadAttention takes them apart: no kernels of their own.
struct heads {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {10, 32});
    const dk::tensor all =
        dk::transpose(dk::reshape(dk::matmul(x, g.weight("w", {32, 96})), {10, 3, 32}), {.perm = {1, 0, 2}});
    const auto part = [&](std::int64_t i) { return dk::gather(all, g.constant_from_codes({i}, {}, dk::i64)); };
    g.output("y", dk::matmul(dk::softmax(dk::matmul(part(0), dk::transpose(part(1), {.perm = {1, 0}}))), part(2)));
  }
};
static_assert(dk::compile<heads>::kernels == 2);  // the product, and attention
