// SPDX-License-Identifier: MIT
// Which products read another sum than their own, and that they compute the same.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/share_shifts.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;

namespace {

// How many sums of x with weights the pass leaves of build(b, x, c, d); x has extents [2, 3, 5, 4], c and d [3, 1, 4].
template <class Build> std::string left(Build build) {
  dk::builder b;
  build(b, b.input("x", dk::f32, {2, 3, 5, 4}), b.weight("c", {3, 1, 4}), b.weight("d", {3, 1, 4}));
  REQUIRE(b.value().error.str() == "");
  const dk::graph after = dk::passes::share_shifts::run(b.value());
  if (!dk::verify(after).view().empty()) return dk::verify(after).str();
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const harness::test_data data = harness::random_data(b.value(), seed);
    const auto expected = harness::reference(b.value(), data), found = harness::reference(after, data);
    const auto allowed = harness::tolerances(b.value(), data, expected);
    for (std::size_t k = 0; k < expected.size(); ++k)
      if (std::string wrong = harness::difference(found[k], expected[k], allowed[k]); !wrong.empty()) return wrong;
  }
  const auto alive = dk::live_nodes(after);
  int sums = 0;
  for (std::size_t n = 0; n < after.nodes.size(); ++n)
    if (alive[n] && after.is<dk::op::add>(after.nodes[n]) &&
        (after.input_of(after.nodes[n], 0) == after.inputs[0] || after.input_of(after.nodes[n], 1) == after.inputs[0]))
      ++sums;
  return std::to_string(sums);
}

}  // namespace

TEST_CASE("positions and keys, whichever comes first") {
  CHECK(left([](dk::builder& b, dk::tensor x, dk::tensor c, dk::tensor d) {
          const dk::tensor k = b.input("k", dk::f32, {2, 3, 4, 6}), p = b.weight("p", {1, 3, 4, 7});
          b.output("y", dk::matmul(x + c, k));
          b.output("z", dk::matmul(d + x, p));
        }) == "1");
  CHECK(left([](dk::builder& b, dk::tensor x, dk::tensor c, dk::tensor d) {
          const dk::tensor k = b.input("k", dk::f32, {2, 3, 4, 6}), p = b.weight("p", {3, 4, 7});
          b.output("z", dk::matmul(d + x, p));
          b.output("y", dk::matmul(x + c, k));
        }) == "1");
}
TEST_CASE("several products, and shifts that are vectors") {
  CHECK(left([](dk::builder& b, dk::tensor x, dk::tensor c, dk::tensor d) {
          const dk::tensor e = b.weight("e", {4}), f = dk::relu(x + c);
          b.output("w", f);
          b.output("y", dk::matmul(x + d, b.weight("p", {4, 7})));
          b.output("z", dk::matmul(x + e, b.weight("q", {3, 4, 2})));
        }) == "1");
}
TEST_CASE("sums that are no shifts alone, or of which something else is computed") {
  CHECK(left([](dk::builder& b, dk::tensor x, dk::tensor c, dk::tensor d) {  // x is read, too
          b.output("w", dk::relu(x));
          b.output("y", dk::relu(x + c));
          b.output("z", dk::matmul(x + d, b.weight("p", {4, 7})));
        }) == "2");
  CHECK(left([](dk::builder& b, dk::tensor x, dk::tensor c, dk::tensor d) {
          b.output("y", dk::relu(x + c));
          b.output("z", dk::tanh(x + d));
        }) == "2");
  CHECK(left([](dk::builder& b, dk::tensor x, dk::tensor c, dk::tensor d) {  // products with weights alone
          b.output("y", dk::matmul(x + c, b.weight("p", {4, 7})));
          b.output("z", dk::matmul(x + d, b.weight("q", {4, 7})));
        }) == "2");
  CHECK(left([](dk::builder& b, dk::tensor x, dk::tensor c, dk::tensor) {  // a number for each row
          b.output("y", dk::relu(x + c));
          b.output("z", dk::matmul(x + b.weight("e", {5, 4}), b.weight("p", {4, 7})));
        }) == "2");
  CHECK(left([](dk::builder& b, dk::tensor x, dk::tensor c, dk::tensor) {  // one number
          b.output("y", dk::relu(x + c));
          b.output("z", dk::matmul(x + b.weight("e", {1}), b.weight("p", {4, 7})));
        }) == "2");
}
