// SPDX-License-Identifier: MIT
// Footprints: against mapping types, and against what definitions are seen to read.
#include "dnnkit/operator/footprint.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/operator_cases.hpp"

namespace dk = dnnkit;

namespace {

// The mapping type of the edge from input i of the last operator that Build makes.
template <class Build> constexpr dk::mapping edge(Build build, std::size_t i) {
  dk::builder b;
  build(b);
  dk::graph& g = b.value();
  const dk::node& n = g.nodes.back();
  dk::inference c = g.inference_of(n);
  const dk::tensor_type out = g.at(n.output).type;
  c.out(out.type, out.dims);
  return dk::mapping_of(n.op->reads(g.attributes_of(n), c, i), c.in(i), out.dims);
}
constexpr auto x(dk::builder& b) { return b.input("x", dk::f32, {1, 4, 6, 6}); }

// DNNFusion, Table 3.2
constexpr auto adds = [](dk::builder& b) { x(b) + b.weight("w", {1, 4, 6, 6}); };
constexpr auto broadcasts = [](dk::builder& b) { x(b) + b.weight("w", {4, 1, 1}); };
constexpr auto convolves = [](dk::builder& b) { dk::conv(x(b), b.weight("w", {8, 4, 3, 3}), b.weight("b", {8})); };
constexpr auto depthwise = [](dk::builder& b) { dk::conv(x(b), b.weight("w", {4, 1, 1, 1}), {.group = 4}); };
constexpr auto softmax = [](dk::builder& b) { dk::softmax(x(b)); };
constexpr auto joins = [](dk::builder& b) { dk::concat({x(b), b.weight("w", {1, 4, 2, 6})}, {.axis = 2}); };
constexpr auto gathers = [](dk::builder& b) { dk::gather(x(b), b.input("i", dk::i64, {3}), {.axis = 1}); };
constexpr auto enlarges = [](dk::builder& b) {
  dk::resize(x(b), {.scales = {1, 1, 2, 2}, .mode = dk::resize_mode::nearest});
};
using enum dk::mapping;
static_assert(edge(adds, 0) == one_to_one && edge(adds, 1) == one_to_one);
static_assert(edge(broadcasts, 0) == one_to_one && edge(broadcasts, 1) == one_to_many);
static_assert(edge(convolves, 0) == many_to_many && edge(convolves, 1) == many_to_many);
static_assert(edge(convolves, 2) == one_to_many);
static_assert(edge(depthwise, 0) == one_to_one);  // a product with a number for each channel
static_assert(edge(softmax, 0) == many_to_many);
static_assert(edge(joins, 0) == one_to_one && edge(joins, 1) == one_to_one);
static_assert(edge(gathers, 0) == one_to_many && edge(gathers, 1) == one_to_many);
static_assert(edge(enlarges, 0) == one_to_many);

}  // namespace

TEST_CASE("definitions read within their footprints, and footprints are no wider than definitions") {
  const std::set<std::string> exceptions{
      "Resize 0: a more complex mapping type than declared",          // the paper's class is that of nearest neighbours
      "ReverseSequence 0: a more complex mapping type than declared"  // that no element serves twice is in no axis
  };
  std::set<std::string> faults, wider;
  std::size_t edges = 0;
  for (const std::string& family : operator_cases::families()) {
    const auto found = operator_cases::check_footprints(family);
    edges += found.edges;
    faults.insert(found.faults.begin(), found.faults.end());
    wider.insert(found.wider_than_needed.begin(), found.wider_than_needed.end());
  }
  CHECK(edges > 500);
  CHECK(faults == exceptions);
  for (const std::string& w : wider) CHECK(w == "");
}
