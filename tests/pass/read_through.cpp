// SPDX-License-Identifier: MIT
// Which Resizes and Pads are read through, and that their readers find the same elements.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/read_through.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

namespace {

using mode = dk::pad_mode;
using place = dk::coordinate_mode;

// What the pass leaves of build(x), x of extents [1, 2, rows, 4], as operators; "wrong" where it changes the elements.
template <class Build> std::string left_in(const dk::dim_argument& rows, Build build) {
  dk::builder b;
  b.output("y", build(b, b.input("x", dk::f32, {1, 2, rows, 4})));
  REQUIRE(b.value().error.str() == "");
  const dk::graph after = dk::passes::read_through::run(b.value());
  if (!dk::verify(after).view().empty()) return dk::verify(after).str();
  std::vector<double> elements;
  for (int i = 0; i < 24; ++i) elements.push_back(i % 7 - 3 + 0.25 * i);
  const std::vector<dk::host_tensor> inputs{dk::host_tensor({1, 2, 3, 4}, elements)};
  const dk::host_tensor expected = evaluate(b.value(), inputs)[0], found = evaluate(after, inputs)[0];
  if (found.dims != expected.dims || found.reals != expected.reals) return "wrong";
  std::string names;
  const auto alive = dk::live_nodes(after);
  for (std::size_t n = 0; n < after.nodes.size(); ++n)
    if (alive[n]) (names += names.empty() ? "" : " ") += after.nodes[n].op->name;
  return names;
}
template <class Build> std::string left(Build build) { return left_in(3, build); }

dk::tensor convolved(dk::builder& b, dk::tensor x) {
  return dk::conv(x, b.constant({1, 2, -1, 0.5, 3, 1, 0, -2}, {1, 2, 2, 2}));
}
std::string left_of(const dk::op::resize& r) {
  return left([&](dk::builder& b, dk::tensor x) { return convolved(b, dk::resize(x, r)); });
}
std::string left_of(const dk::op::pad& p) {
  return left([&](dk::builder& b, dk::tensor x) { return convolved(b, dk::pad(x, p)); });
}

constexpr const char* repeated = "Reshape Expand Reshape Conv";

}  // namespace

TEST_CASE("a Resize that repeats elements, whatever says so") {
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 2, 2}}) == repeated);
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 3, 2}}) == repeated);
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 1, 5}}) == repeated);
  CHECK(left_of(dk::op::resize{.sizes = {1, 2, 6, 4}}) == repeated);
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 2, 2},
                               .coordinate_transformation_mode = place::asymmetric,
                               .nearest_mode = dk::nearest_rounding::lower}) == repeated);
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 2, 2},
                               .coordinate_transformation_mode = place::tf_half_pixel_for_nn,
                               .nearest_mode = dk::nearest_rounding::lower}) == repeated);
}
TEST_CASE("positions of a Resize beyond any image are not asked for one by one") {
  dk::builder b;  // a loop over them would not end
  b.output("y", dk::relu(dk::resize(b.input("x", dk::f32, {1, 4}), {.sizes = {1, std::int64_t{1} << 40}})));
  REQUIRE(b.value().error.str() == "");
  CHECK(dk::passes::read_through::run(b.value()).nodes.size() == b.value().nodes.size());
}

TEST_CASE("other Resizes stay") {
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 1.5f, 2}}) == "Resize Conv");
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 2, 0.5f}}) == "Resize Conv");
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 2, 2}, .mode = dk::resize_mode::linear}) == "Resize Conv");
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 3, 3}, .coordinate_transformation_mode = place::align_corners}) ==
        "Resize Conv");
  CHECK(left_of(dk::op::resize{.scales = {1, 1, 2, 2},
                               .coordinate_transformation_mode = place::asymmetric,
                               .nearest_mode = dk::nearest_rounding::upper}) == "Resize Conv");
}
TEST_CASE("a Pad with elements of its operand") {
  CHECK(left_of({.pads = {0, 0, 1, 2, 0, 0, 2, 1}, .mode = mode::reflect}) == "RepeatedBorder Conv");
  CHECK(left_of({.pads = {0, 0, 5, 0, 0, 0, 0, 9}, .mode = mode::edge}) == "RepeatedBorder Conv");
  CHECK(left_of({.pads = {0, 0, 1, 2, 0, 0, 2, 1}, .mode = mode::wrap}) == "RepeatedBorder Conv");
  CHECK(left_of({.pads = {0, 0, 1, 1, 0, 0, 1, 1}}) == "Pad Conv");
  CHECK(left_of({.pads = {0, 0, -1, 0, 0, 0, 1, 0}, .mode = mode::reflect}) == "Pad Conv");
}
TEST_CASE("one behind the other") {
  const dk::op::resize twice{.scales = {1, 1, 2, 2}};
  const dk::op::pad mirror{.pads = {0, 0, 1, 1, 0, 0, 1, 1}, .mode = mode::reflect};
  CHECK(left([&](dk::builder& b, dk::tensor x) { return convolved(b, dk::pad(dk::resize(x, twice), mirror)); }) ==
        "Reshape Expand Reshape RepeatedBorder Conv");
  CHECK(left([&](dk::builder&, dk::tensor x) { return dk::relu(dk::pad(dk::resize(x, twice), mirror)); }) ==
        "Resize Pad Relu");
}
TEST_CASE("readers that go over their operand once, and others") {
  const dk::op::resize twice{.scales = {1, 1, 2, 2}};
  CHECK(left([&](dk::builder&, dk::tensor x) {
          return dk::concat(
              {dk::resize(x, twice), dk::resize(dk::neg(x), {.scales = {1, 1, 2, 2}, .mode = dk::resize_mode::linear})},
              {.axis = 1});
        }).find("Resize") != std::string::npos);
  CHECK(left([&](dk::builder&, dk::tensor x) { return dk::relu(dk::resize(x, twice)); }) == "Resize Relu");
  CHECK(left([&](dk::builder&, dk::tensor x) { return dk::resize(x, twice); }) == "Resize");
  CHECK(left([&](dk::builder& b, dk::tensor x) {
          const dk::tensor y = dk::resize(x, twice);
          return convolved(b, y) + convolved(b, dk::neg(y));
        }).find("Resize") != std::string::npos);
  CHECK(left([&](dk::builder& b, dk::tensor x) {
          return dk::conv(b.constant({1}, {1, 2, 6, 8}), dk::resize(x, twice));
        }).find("Resize") != std::string::npos);
}
TEST_CASE("a roll") {
  const auto rolled = [](dk::tensor x, std::int64_t axis, std::int64_t by) {
    const std::int64_t n = x.size(axis).value();
    return dk::concat({dk::slice(x, {.starts = {by}, .ends = {n}, .axes = {axis}}), dk::narrow(x, axis, 0, by)},
                      {.axis = axis});
  };
  CHECK(left([&](dk::builder&, dk::tensor x) { return dk::relu(rolled(x, 2, 1)); }) == "RepeatedBorder Split Relu");
  CHECK(left([&](dk::builder&, dk::tensor x) { return dk::relu(rolled(rolled(x, 2, 1), -1, 3)); }) ==
        "RepeatedBorder Split RepeatedBorder Split Relu");
  CHECK(left([&](dk::builder& b, dk::tensor x) {
          return dk::matmul(dk::reshape(rolled(x, 3, 2), {6, 4}), b.constant({1, 2, 3, 4}, {4, 1}));
        }) == "Slice Split Concat Reshape MatMul");
  CHECK(left([&](dk::builder&, dk::tensor x) { return rolled(x, 2, 1); }).find("Concat") != std::string::npos);
  CHECK(left([&](dk::builder&, dk::tensor x) { return dk::softmax(rolled(x, 2, 1)); }).find("Concat") !=
        std::string::npos);
  CHECK(left([&](dk::builder&, dk::tensor x) {
          const dk::tensor y = rolled(x, 2, 1);
          return dk::relu(y) + dk::softmax(dk::neg(y));
        }).find("Concat") != std::string::npos);
  CHECK(left([&](dk::builder&, dk::tensor x) {  // a part is missing, or there twice
          return dk::relu(dk::concat({dk::narrow(x, 2, 2, 1), dk::narrow(x, 2, 0, 1)}, {.axis = 2}));
        })
            .find("Concat") != std::string::npos);
  CHECK(left([&](dk::builder&, dk::tensor x) {
          return dk::relu(dk::concat({dk::narrow(x, 2, 1, 2), dk::narrow(x, 2, 0, 2)}, {.axis = 2}));
        }).find("Concat") != std::string::npos);
  CHECK(left([&](dk::builder&, dk::tensor x) {  // along another axis
          return dk::relu(dk::concat({dk::narrow(x, 3, 2, 2), dk::narrow(x, 3, 0, 2)}, {.axis = 2}));
        })
            .find("Concat") != std::string::npos);
  CHECK(left([&](dk::builder&, dk::tensor x) {  // of two tensors
          return dk::relu(dk::concat({dk::narrow(x, 2, 1, 2), dk::narrow(dk::neg(x), 2, 0, 1)}, {.axis = 2}));
        })
            .find("Concat") != std::string::npos);
}
TEST_CASE("movement that moves nothing") {
  CHECK(left([&](dk::builder&, dk::tensor x) {
          return dk::relu(dk::slice(x, {.starts = {0}, .ends = {100}, .axes = {2}}));
        }) == "Relu");
  CHECK(left([&](dk::builder&, dk::tensor x) {
          return dk::relu(dk::transpose(dk::reshape(x, {1, 2, 3, 4}), {.perm = {0, 1, 2, 3}}));
        }) == "Relu");
  CHECK(left([&](dk::builder&, dk::tensor x) {
          return dk::relu(dk::slice(x, {.starts = {1}, .ends = {100}, .axes = {2}}));
        }) == "Slice Relu");
  CHECK(left([&](dk::builder&, dk::tensor x) {
          return dk::transpose(dk::narrow(x, 2, 0, 2), {.perm = {0, 2, 1, 3}});
        }) == "Split Transpose");
}
TEST_CASE("an extent that is a symbol") {
  const dk::sym n("N", {3, 100});
  const dk::op::pad mirror{.pads = {0, 0, 0, 1, 0, 0, 0, 1}, .mode = mode::reflect};
  CHECK(left_in(n, [&](dk::builder& b, dk::tensor x) { return convolved(b, dk::pad(x, mirror)); }) == "Pad Conv");
  CHECK(left_in(n, [&](dk::builder& b, dk::tensor x) {
          return convolved(b, dk::resize(x, {.scales = {1, 1, 1, 2}}));
        }) == repeated);
  CHECK(left_in(n, [&](dk::builder& b, dk::tensor x) {
          return convolved(b, dk::resize(x, {.scales = {1, 1, 2, 2}}));
        }) == "Resize Conv");
}

// Pixels made larger and mirrored at the border, as networks that draw pictures have them: no kernels of their own.
struct enlarged {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 16, 8, 8});
    const auto layer = [&](dk::tensor t, const char* name) {
      const dk::tensor y = dk::pad(t, {.pads = {0, 0, 1, 1, 0, 0, 1, 1}, .mode = mode::reflect});
      return dk::relu(dk::conv(y, g.weight(name, {16, 16, 3, 3})));
    };
    g.output("y", layer(dk::resize(layer(x, "a"), {.scales = {1, 1, 2, 2}}), "b"));
  }
};
static_assert(dk::compile<enlarged>::kernels == 2);
