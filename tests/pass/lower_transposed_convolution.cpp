// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/lower_transposed_convolution.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>

#include "dnnkit/graph/verify.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;

namespace {

std::size_t count(const dk::graph& g) {
  std::size_t n = 0;
  for (const dk::node& x : g.nodes) n += g.is<dk::op::conv_transpose>(x);
  return n;
}

// One transposed convolution in 1 to 3 dimensions; false where its pads leave nothing.
bool build(dk::builder& b, std::mt19937_64& random) {
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  const std::int64_t axes = pick(1, 3), channels = pick(1, 3), made = pick(1, 3);
  dk::shape in{dk::dim(pick(1, 2)), dk::dim(channels)}, weight{dk::dim(channels), dk::dim(made)};
  dk::op::conv_transpose c;
  for (std::int64_t i = 0; i < axes; ++i) {
    in.push_back(i == 0 && pick(0, 1) == 0 ? b.symbol({"H", {.min = 4}}) : dk::dim(pick(2, 5)));
    weight.push_back(pick(1, 4));
    c.strides.push_back(pick(1, 3));
    c.output_padding.push_back(pick(0, c.strides[i] - 1));
  }
  c.pads = dk::int_list::filled(static_cast<std::size_t>(2 * axes), 0);
  for (std::int64_t i = 0; i < 2 * axes; ++i) c.pads[i] = pick(0, weight[2 + i % axes].value() - 1);
  dk::graph& g = b.value();
  g.inputs.push_back(g.add_value({g.store("x"), {dk::f32, in}, dk::origin::input, dk::none, {}}));
  const dk::tensor x{&b, g.inputs[0]};
  const dk::tensor w{&b, g.add_value({g.store("w"), {dk::f32, weight}, dk::origin::weight, dk::none, {}})};
  const bool biased = pick(0, 1) == 1;
  b.output("y", biased ? b.apply(c, {x, w, b.weight("bias", {made})}) : b.apply(c, {x, w}));
  return g.error.empty();
}

}  // namespace

TEST_CASE("300 transposed convolutions mean the same as the convolutions they become") {
  std::size_t built = 0, tried = 0;
  for (const std::uint64_t seed : harness::seeds(0, 300)) {
    CAPTURE(seed);
    ++tried;
    std::mt19937_64 random(seed);
    dk::builder b;
    if (!build(b, random)) continue;
    ++built;
    const dk::graph g = b.value(), after = dk::passes::lower_transposed_convolution::run(g);
    CHECK(dk::verify(after).str() == "");
    CHECK(count(g) == 1);
    CHECK(count(after) == 0);
    const harness::test_data data = harness::random_data(g, seed);
    const auto expected = harness::reference(g, data), found = harness::reference(after, data);
    const auto allowed = harness::tolerances(g, data, expected);
    CHECK(harness::difference(found[0], expected[0], allowed[0]) == "");
  }
  CHECK(built * 2 > tried);  // the others are not legal
}

TEST_CASE("groups, dilations and weights that are computed are left alone") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {1, 4, 5, 5}), w = b.weight("w", {4, 2, 3, 3});
  b.output("groups", dk::conv_transpose(x, w, {.group = 2}));
  b.output("dilations", dk::conv_transpose(x, w, {.dilations = {2, 2}}));
  b.output("computed", dk::conv_transpose(x, x));
  CHECK(count(dk::passes::lower_transposed_convolution::run(b.value())) == 3);
}
