// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/unmerge_rows.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/activation.hpp"
#include "dnnkit/pass/expand_composites.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;

namespace {

std::string operators_of(const dk::graph& g) {
  std::string all;
  const auto alive = dk::live_nodes(g);
  for (std::size_t n = 0; n < g.nodes.size(); ++n)
    if (alive[n]) all += std::string(g.nodes[n].op->name) + " ";
  return all;
}
dk::graph expanded(const dk::builder& b) { return dk::passes::expand_composites::run(b.value()); }

// Reshape, a normalisation over some of the axes there, element-wise operators with weights that broadcast in some way,
// and a Reshape to the first shape.
void build(dk::builder& b, std::mt19937_64& random) {
  const auto pick = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  const dk::dim n = pick(0, 1) == 0 ? b.symbol({"N", {.min = 1, .max = 4}}) : dk::dim(pick(1, 2));
  const std::int64_t groups = pick(1, 3), each = pick(1, 4), h = pick(1, 4), w = pick(1, 3);
  const dk::tensor x = b.input("x", dk::f32, {n, groups * each, h, w});
  const dk::shape shapes[] = {{n, groups, each * h * w}, {n, groups, each, h * w}, {n, groups * each, h * w},
                              {n, groups * each * h, w}, {n, groups, each * h, w}, {n, groups, 1, each * h * w}};
  const dk::shape s = shapes[pick(0, 5)];
  const auto rank = static_cast<std::int64_t>(s.size());
  dk::row_axes axes;
  for (std::int64_t d = 1; d < rank; ++d)
    if (pick(0, 1) == 1) axes.list.push_back(pick(0, 1) == 0 ? d : d - rank);
  if (axes.list.empty()) axes.list.push_back(-1);
  dk::tensor y = b.apply(dk::op::reshape{s}, {x});
  y = pick(0, 1) == 0 ? b.apply(dk::op::standardize{axes}, {y}) : b.apply(dk::op::root_mean_square{axes}, {y});
  for (std::int64_t k = 0, most = pick(0, 3); k < most; ++k) {
    dk::shape weight;
    for (std::int64_t d = pick(0, rank); d < rank; ++d) {
      const dk::dim extent = s[static_cast<std::size_t>(d)];
      weight.push_back(pick(0, 1) == 0 || !extent.is_known() ? dk::dim(1) : extent);
    }
    dk::graph& g = b.value();
    const dk::tensor v{
        &b, g.add_value({g.store("w" + std::to_string(k)), {dk::f32, weight}, dk::origin::weight, dk::none, {}})};
    y = pick(0, 2) == 0 ? dk::relu(y) : pick(0, 1) == 0 ? y * v : v - y;
  }
  b.output("y", b.apply(dk::op::reshape{pick(0, 3) == 0 ? dk::shape{n, groups, each * h, w} : x.dims()}, {y}));
}

}  // namespace

TEST_CASE("GroupNormalization as PyTorch writes it becomes what the operator expands to") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 6, 3, 4});
  const dk::tensor merged = b.apply(dk::op::reshape{{2, 2, 36}}, {x});
  const dk::tensor y = dk::instance_normalization(merged, b.weight("ones", {2}), b.weight("zeros", {2}));
  b.output("y", b.apply(dk::op::reshape{x.dims()}, {y}));
  const dk::graph g = expanded(b), after = dk::passes::unmerge_rows::run(g);
  CHECK(dk::verify(after).str() == "");
  CHECK(operators_of(after) ==
        "Reshape Standardize Reshape Reshape Reshape Reshape Expand Reshape Cast Mul Reshape Expand Reshape Cast Add ");
  const dk::node& last = after.node_at(after.at(after.outputs[0]).producer);
  CHECK(after.at(last.output).type.dims.size() == 4);
  for (const dk::node& n : after.nodes)
    if (after.is<dk::op::standardize>(n)) CHECK(after.at(n.output).type.dims == dk::shape{2, 2, 3, 3, 4});
}

TEST_CASE("300 normalisations of what was reshaped mean the same") {
  std::size_t changed = 0;
  for (const std::uint64_t seed : harness::seeds(0, 300)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    dk::builder b;
    build(b, random);
    REQUIRE(b.value().error.str() == "");
    const dk::graph g = b.value(), after = dk::passes::unmerge_rows::run(g);
    CHECK(dk::verify(after).str() == "");
    changed += operators_of(after) != operators_of(g);
    const harness::test_data data = harness::random_data(g, seed);
    const auto expected = harness::reference(g, data), found = harness::reference(after, data);
    const auto allowed = harness::tolerances(g, data, expected);
    CHECK(harness::difference(found[0], expected[0], allowed[0]) == "");
  }
  CHECK(changed > 60);
}

TEST_CASE("rows of one axis, and what others read in the merged shape, stay as they are") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {2, 6, 3, 4});
  const dk::tensor split = b.apply(dk::op::reshape{{2, 2, 3, 3, 4}}, {x});
  b.output("alone", b.apply(dk::op::standardize{{-1}}, {split}));
  const dk::graph g = b.value();
  CHECK(operators_of(dk::passes::unmerge_rows::run(g)) == operators_of(g));

  dk::builder c;
  const dk::tensor in = c.input("x", dk::f32, {2, 6, 3, 4});
  const dk::tensor y = c.apply(dk::op::standardize{{-1}}, {c.apply(dk::op::reshape{{2, 2, 36}}, {in})});
  const dk::tensor twice = y * c.weight("w", {36});
  c.output("merged", twice);
  c.output("y", c.apply(dk::op::reshape{in.dims()}, {twice}));
  CHECK(operators_of(dk::passes::unmerge_rows::run(c.value())) == "Reshape Standardize Reshape Mul Reshape ");

  dk::builder d;  // what else is computed as the network runs would have to be moved, too
  const dk::tensor one = d.input("x", dk::f32, {2, 6, 3, 4}), other = d.input("z", dk::f32, {2, 2, 36});
  const dk::tensor sum =
      dk::relu(other) + d.apply(dk::op::standardize{{-1}}, {d.apply(dk::op::reshape{{2, 2, 36}}, {one})});
  d.output("y", d.apply(dk::op::reshape{one.dims()}, {sum}));
  CHECK(operators_of(dk::passes::unmerge_rows::run(d.value())) == "Reshape Standardize Reshape Relu Add Reshape ");

  dk::builder e;  // read twice
  const dk::tensor image = e.input("x", dk::f32, {2, 6, 3, 4});
  const dk::tensor scaled = e.apply(dk::op::standardize{{-1}}, {e.apply(dk::op::reshape{{2, 2, 36}}, {image})}) * 2.0;
  e.output("y", e.apply(dk::op::reshape{image.dims()}, {scaled}));
  e.output("merged", dk::relu(scaled));
  CHECK(operators_of(dk::passes::unmerge_rows::run(e.value())) == "Reshape Standardize Reshape Mul Reshape Relu ");
}
