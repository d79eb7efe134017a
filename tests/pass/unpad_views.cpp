// SPDX-License-Identifier: MIT
// Which views of padded tensors become views of the tensors, and that they have the same elements.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/unpad_views.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

namespace {

// What the pass leaves of build(b, x), x of extents `dims`.
std::string left(const std::vector<std::int64_t>& dims, auto build) {
  dk::builder b;
  std::int64_t count = 1;
  for (std::int64_t d : dims) count *= d;
  build(b, dims.size() == 2 ? b.input("x", dk::f32, {dims[0], dims[1]})
                            : b.input("x", dk::f32, {dims[0], dims[1], dims[2]}));
  REQUIRE(b.value().error.str() == "");
  const dk::graph after = dk::passes::unpad_views::run(b.value());
  if (!dk::verify(after).view().empty()) return dk::verify(after).str();
  std::vector<double> elements;
  for (std::int64_t i = 0; i < count; ++i) elements.push_back(static_cast<double>(i + 1));
  const std::vector<dk::host_tensor> inputs{dk::host_tensor(dims, elements)};
  const auto expected = evaluate(b.value(), inputs), found = evaluate(after, inputs);
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (found[k].dims != expected[k].dims || found[k].reals != expected[k].reals) return "wrong";
  const auto alive = dk::live_nodes(after);
  for (std::size_t n = 0; n < after.nodes.size(); ++n)
    if (alive[n] && after.is<dk::op::pad>(after.nodes[n])) return "padded";
  return "a view";
}
// Rows of relative positions, of which each query has its own; `kept` of those that the shift leaves.
dk::tensor shifted(dk::tensor x, std::int64_t heads, std::int64_t queries, std::int64_t positions, std::int64_t kept) {
  dk::tensor y = dk::pad(x, {.pads = {0, 0, 1, 0, 0, 0}});
  y = dk::reshape(y, {heads, positions + 1, queries});
  y = dk::slice(y, {.starts = {1}, .ends = {positions + 1}, .axes = {1}});
  y = dk::reshape(y, {heads, queries, positions});
  return dk::slice(y, {.starts = {0}, .ends = {kept}, .axes = {2}});
}
std::string left_of_shift(std::int64_t heads, std::int64_t queries, std::int64_t positions, std::int64_t kept) {
  return left({heads, queries, positions}, [&](dk::builder& b, dk::tensor x) {
    b.output("y", dk::relu(shifted(x, heads, queries, positions, kept)));
  });
}

}  // namespace

TEST_CASE("the relative shift, as far as no row reads the next one's border") {
  CHECK(left_of_shift(4, 49, 97, 49) == "a view");
  CHECK(left_of_shift(1, 5, 9, 5) == "a view");
  CHECK(left_of_shift(3, 5, 9, 4) == "a view");
  CHECK(left_of_shift(3, 2, 9, 7) == "a view");
  CHECK(left_of_shift(2, 5, 9, 6) == "padded");
  CHECK(left_of_shift(2, 7, 7, 7) == "padded");
}
TEST_CASE("borders behind, wider ones, and what leaves them out at once") {
  CHECK(left({4, 6}, [](dk::builder& b, dk::tensor x) {
          const dk::tensor y = dk::pad(x, {.pads = {0, 2, 0, 3}});
          b.output("y", dk::relu(dk::slice(y, {.starts = {3}, .ends = {7}, .axes = {1}})));
        }) == "a view");
  CHECK(left({4, 6}, [](dk::builder& b, dk::tensor x) {
          const dk::tensor y = dk::pad(x, {.pads = {0, 2, 0, 3}});
          b.output("y", dk::relu(dk::slice(y, {.starts = {1}, .ends = {7}, .axes = {1}})));
        }) == "padded");
  CHECK(left({4, 6}, [](dk::builder& b, dk::tensor x) {
          const dk::tensor y = dk::pad(x, {.pads = {0, 2, 0, 3}});
          b.output("y", dk::relu(dk::slice(y, {.starts = {3}, .ends = {9}, .axes = {1}})));
        }) == "padded");
}
TEST_CASE("every other element") {
  CHECK(left({4, 6}, [](dk::builder& b, dk::tensor x) {
          const dk::tensor y = dk::pad(x, {.pads = {0, 1, 0, 0}});
          b.output("y", dk::relu(dk::slice(y, {.starts = {1}, .ends = {7}, .axes = {1}, .steps = {2}})));
        }) == "a view");
}
TEST_CASE("what others read as well, other axes, other borders and other views stay") {
  CHECK(left({3, 5, 9}, [](dk::builder& b, dk::tensor x) {
          const dk::tensor y = dk::pad(x, {.pads = {0, 0, 1, 0, 0, 0}});
          b.output("z", dk::relu(y));
          b.output("y", dk::relu(dk::slice(y, {.starts = {1}, .ends = {7}, .axes = {2}})));
        }) == "padded");
  CHECK(left({4, 6}, [](dk::builder& b, dk::tensor x) {
          const dk::tensor y = dk::pad(x, {.pads = {1, 0, 0, 0}});
          b.output("y", dk::relu(dk::slice(y, {.starts = {1}, .ends = {4}, .axes = {0}})));
        }) == "padded");
  CHECK(left({4, 6}, [](dk::builder& b, dk::tensor x) {
          const dk::tensor y = dk::pad(x, {.pads = {0, 1, 0, 0}, .mode = dk::pad_mode::edge});
          b.output("y", dk::relu(dk::slice(y, {.starts = {1}, .ends = {4}, .axes = {1}})));
        }) == "padded");
  CHECK(left({4, 6}, [](dk::builder& b, dk::tensor x) {
          const dk::tensor y = dk::transpose(dk::pad(x, {.pads = {0, 1, 0, 0}}), {.perm = {1, 0}});
          b.output("y", dk::relu(dk::slice(y, {.starts = {1}, .ends = {7}, .axes = {0}})));
        }) == "padded");
}
TEST_CASE("random shifts, in one sense or the other") {
  std::uint64_t state = 20;
  MESSAGE("seed ", state);
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return least + static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(most - least + 1));
  };
  int views = 0;
  for (int i = 0; i < 300; ++i) {
    const std::int64_t heads = draw(1, 3), queries = draw(1, 6), positions = draw(1, 9);
    const std::string found = left_of_shift(heads, queries, positions, draw(1, positions));
    CHECK(found != "wrong");
    CHECK((found == "a view" || found == "padded"));
    views += found == "a view" ? 1 : 0;
  }
  CHECK(views > 50);
  CHECK(views < 250);
}
