// SPDX-License-Identifier: MIT
// Which Concats become views, and that these have the same elements.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/view_concats.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

namespace {

// What the pass leaves of build(x), x of extents [1, 4, 6, 3].
std::string left(auto build) {
  dk::builder b;
  b.output("y", build(b.input("x", dk::f32, {1, 4, 6, 3})));
  REQUIRE(b.value().error.str() == "");
  const dk::graph after = dk::passes::view_concats::run(b.value());
  if (!dk::verify(after).view().empty()) return dk::verify(after).str();
  std::vector<double> elements;
  for (int i = 0; i < 72; ++i) elements.push_back(i % 11 - 3 + 0.25 * i);
  const std::vector<dk::host_tensor> inputs{dk::host_tensor({1, 4, 6, 3}, elements)};
  const dk::host_tensor expected = evaluate(b.value(), inputs)[0], found = evaluate(after, inputs)[0];
  if (found.dims != expected.dims || found.reals != expected.reals) return "wrong";
  const auto alive = dk::live_nodes(after);
  for (std::size_t n = 0; n < after.nodes.size(); ++n)
    if (alive[n] && after.is<dk::op::concat>(after.nodes[n])) return "joined";
  return "a view";
}
// Every so many rows and columns, from a first one on.
dk::tensor some(dk::tensor x, std::int64_t row, std::int64_t column, std::int64_t rows = 2, std::int64_t columns = 2) {
  const dk::tensor y = dk::slice(x, {.starts = {row}, .ends = {4}, .axes = {1}, .steps = {rows}});
  return dk::slice(y, {.starts = {column}, .ends = {6}, .axes = {2}, .steps = {columns}});
}

}  // namespace

TEST_CASE("patches that are merged, in either order") {
  CHECK(left([](dk::tensor x) {
          return dk::softmax(dk::concat({some(x, 0, 0), some(x, 1, 0), some(x, 0, 1), some(x, 1, 1)}, {.axis = 3}));
        }) == "a view");
  CHECK(left([](dk::tensor x) {
          return dk::softmax(dk::concat({some(x, 0, 0), some(x, 0, 1), some(x, 1, 0), some(x, 1, 1)}, {.axis = -1}));
        }) == "a view");
  CHECK(left([](dk::tensor x) {
          return dk::relu(dk::concat({some(x, 0, 0), some(x, 0, 1), some(x, 1, 0), some(x, 1, 1)}, {.axis = 1}));
        }) == "a view");
  CHECK(left([](dk::tensor x) {  // three columns, and one row
          return dk::relu(dk::concat({some(x, 0, 0, 1, 3), some(x, 0, 1, 1, 3), some(x, 0, 2, 1, 3)}, {.axis = 2}));
        }) == "a view");
}
TEST_CASE("movement on either side") {
  CHECK(left([](dk::tensor x) {
          const dk::tensor t = dk::transpose(x, {.perm = {0, 1, 2, 3}});
          const dk::tensor y = dk::concat({some(t, 0, 0), some(t, 1, 0), some(t, 0, 1), some(t, 1, 1)}, {.axis = 3});
          return dk::softmax(dk::reshape(y, {2, 3, 12}));
        }) == "a view");
  CHECK(left([](dk::tensor x) {
          const dk::tensor a = dk::slice(x, {.starts = {0}, .ends = {2}, .axes = {1}}),
                           b = dk::slice(x, {.starts = {2}, .ends = {4}, .axes = {1}});
          return dk::softmax(dk::concat({a, b}, {.axis = 3}));
        }) == "a view");
}
TEST_CASE("other orders, other parts, and other readers") {
  const auto joined = [](dk::tensor a, dk::tensor b, dk::tensor c, dk::tensor d) {
    return dk::concat({a, b, c, d}, {.axis = 3});
  };
  CHECK(left([&](dk::tensor x) {  // its first part is not the first
          return dk::softmax(joined(some(x, 1, 0), some(x, 0, 0), some(x, 1, 1), some(x, 0, 1)));
        }) == "joined");
  CHECK(left([&](dk::tensor x) {
          return dk::softmax(joined(some(x, 0, 0), some(x, 1, 0), some(x, 1, 1), some(x, 0, 1)));
        }) == "joined");
  CHECK(left([&](dk::tensor x) {  // twice
          return dk::softmax(joined(some(x, 0, 0), some(x, 1, 0), some(x, 0, 0), some(x, 1, 0)));
        }) == "joined");
  CHECK(left([&](dk::tensor x) {  // not all
          return dk::softmax(dk::concat({some(x, 0, 0), some(x, 1, 0)}, {.axis = 3}));
        }) == "joined");
  CHECK(left([&](dk::tensor x) {  // of two tensors
          const dk::tensor z = dk::relu(x);
          return dk::softmax(joined(some(x, 0, 0), some(x, 1, 0), some(z, 0, 1), some(z, 1, 1)));
        }) == "joined");
  CHECK(left([&](dk::tensor x) {
          const dk::tensor y = joined(some(x, 0, 0), some(x, 1, 0), some(x, 0, 1), some(x, 1, 1));
          return dk::softmax(y) + dk::tanh(y);
        }) == "joined");
  CHECK(left([&](dk::tensor x) { return joined(some(x, 0, 0), some(x, 1, 0), some(x, 0, 1), some(x, 1, 1)); }) ==
        "joined");
}
