// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/join_recurrent_outputs.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "dnnkit/graph/verify.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;

namespace {

// Two LSTMs of which all outputs are read, and one more of another clip; GRUs of which one output is read; one of bytes
// of which two outputs are read.
dk::graph layers(std::int64_t layout) {
  dk::builder b;
  const dk::dim length = b.symbol({"L", {1, 9}}), outer = layout == 0 ? length : dk::dim(2),
                inner = layout == 0 ? dk::dim(2) : length;
  const dk::tensor x = b.input("x", dk::f32, {outer, inner, 3}), z = b.input("z", dk::f32, {outer, inner, 3});
  const dk::tensor w = b.weight("w", {2, 16, 3}), r = b.weight("r", {2, 16, 4});
  dk::op::lstm both{.direction = dk::recurrent_direction::bidirectional, .layout = layout};
  for (const auto& [of, name] : {std::pair(x, "x"), std::pair(z, "z")})
    for (both.output = 0; both.output < 3; ++both.output)
      b.output(std::string(name) + std::to_string(both.output), b.apply(both, {of, w, r}));
  both.clip = 0.5f;
  both.output = 2;
  b.output("clipped", b.apply(both, {x, w, r}));
  const dk::tensor w3 = b.weight("w3", {1, 12, 3}), r3 = b.weight("r3", {1, 12, 4});
  dk::op::gru once{.layout = layout, .output = 1};
  b.output("last", b.apply(once, {x, w3, r3}));
  b.output("other", b.apply(once, {z, w3, r3}));
  const dk::tensor w8 = b.weight("w8", {1, 3, 16}, dk::i8), r8 = b.weight("r8", {1, 4, 16}, dk::i8);
  const dk::tensor scale = b.weight("scale", {1}), zero = b.weight("zero", {1}, dk::i8);
  dk::op::dynamic_quantize_lstm bytes{.layout = layout};
  for (const std::int64_t output : {0, 2}) {
    bytes.output = output;
    b.output("bytes" + std::to_string(output), b.apply(bytes, {x, w8, r8, scale, zero, scale, zero}));
  }
  return b.value();
}

std::size_t count(const dk::graph& g) {
  std::size_t n = 0;
  for (const dk::node& x : g.nodes)
    n += g.is<dk::op::lstm>(x) || g.is<dk::op::gru>(x) || g.is<dk::op::dynamic_quantize_lstm>(x);
  return n;
}

}  // namespace

TEST_CASE("layers that differ in their output only are computed once and mean the same") {
  for (std::int64_t layout : {0, 1}) {
    CAPTURE(layout);
    const dk::graph g = layers(layout), after = dk::passes::join_recurrent_outputs::run(g);
    REQUIRE(g.error.str() == "");
    CHECK(count(g) == 11);
    CHECK(count(after) == 6);
    CHECK(dk::verify(after).str() == "");
    const auto data = harness::random_data(g, 1);
    const auto expected = harness::reference(g, data), found = harness::reference(after, data);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(harness::difference(found[i], expected[i], 0) == "");
  }
}
