// SPDX-License-Identifier: MIT
// Which sums of convolutions become one convolution.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/sum_convolutions.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/left_operators.hpp"

namespace dk = dnnkit;
using dk::tensor;

namespace {

std::string left(auto build) { return harness::left_operators<dk::passes::sum_convolutions>(build); }

// Of the sum of two convolutions with windows a x a and c x c of one image.
std::string left_of(std::int64_t a, const dk::op::conv& first, std::int64_t c, const dk::op::conv& second) {
  return left([&](dk::builder& b) {
    const tensor x = b.input("x", dk::f32, {2, 4, 9, 8});
    const tensor y = dk::conv(x, b.weight("v", {6, 4 / first.group, a, a}), b.weight("b", {6}), first),
                 z = dk::conv(x, b.weight("w", {6, 4 / second.group, c, c}), second);
    b.output("y", dk::relu(y + z));
  });
}

}  // namespace

TEST_CASE("a window within the other") {
  const std::string one = "Conv Relu", two = "Conv Conv Add Relu";
  CHECK(left_of(3, {.pads = {1, 1, 1, 1}}, 1, {}) == one);
  CHECK(left_of(1, {}, 3, {.pads = {1, 1, 1, 1}}) == one);
  CHECK(left_of(3, {.pads = {1, 1, 1, 1}}, 3, {.pads = {1, 1, 1, 1}}) == one);
  CHECK(left_of(5, {.pads = {2, 2, 2, 2}}, 3, {.pads = {1, 1, 1, 1}}) == one);
  CHECK(left_of(3, {.strides = {2, 2}, .pads = {1, 1, 1, 1}}, 1, {.strides = {2, 2}}) == one);
  CHECK(left_of(3, {.pads = {1, 1, 1, 1}, .group = 2}, 1, {.group = 2}) == one);
  CHECK(left_of(3, {.pads = {2, 2, 2, 2}, .dilations = {2, 2}}, 1, {.dilations = {3, 3}}) == one);
  CHECK(left_of(5, {.pads = {2, 2, 2, 2}}, 2, {.pads = {1, 0, 0, 1}}) == one);
  CHECK(left_of(3, {.pads = {1, 1, 1, 1}, .group = 2}, 1, {}) == two);
  CHECK(left_of(3, {.pads = {1, 1, 1, 1}}, 3, {.pads = {2, 2, 2, 2}, .dilations = {2, 2}}) == two);
  CHECK(left_of(3, {.pads = {2, 2, 2, 2}, .dilations = {2, 2}}, 3, {.pads = {1, 1, 1, 1}}) == two);
}

TEST_CASE("with other terms between them") {
  const auto branches = [](auto sum) {
    return left([&](dk::builder& b) {
      const tensor x = b.input("x", dk::f32, {1, 4, 6, 6});
      const tensor wide = dk::conv(x, b.weight("v", {4, 4, 3, 3}), {.pads = {1, 1, 1, 1}}),
                   narrow = dk::conv(x, b.weight("w", {4, 4, 1, 1}), b.weight("b", {4}));
      sum(b, x, wide, narrow);
    });
  };
  CHECK(branches([](auto& b, tensor x, tensor wide, tensor narrow) { b.output("y", (wide + x) + narrow); }) ==
        "Conv Add");
  CHECK(branches([](auto& b, tensor x, tensor wide, tensor narrow) { b.output("y", narrow + (x + wide)); }) ==
        "Conv Add");
  CHECK(branches([](auto& b, tensor x, tensor wide, tensor narrow) {
          b.output("y", (wide + x) + (narrow + dk::conv(x, b.weight("u", {4, 4, 1, 3}), {.pads = {0, 1, 0, 1}})));
        }) == "Conv Add");
  CHECK(branches([](auto& b, tensor x, tensor wide, tensor narrow) {
          b.output("y", wide + narrow);
          b.output("z", dk::conv(x, b.weight("u", {4, 4, 1, 1})) + narrow);
        }) == "Conv Conv Add Conv Add");
  CHECK(branches([](auto& b, tensor x, tensor wide, tensor narrow) {
          const tensor part = wide + x;
          b.output("y", part + narrow);
          b.output("z", dk::relu(part));
        }) == "Conv Conv Add Add Relu");
  CHECK(branches([](auto& b, tensor x, tensor wide, tensor narrow) { b.output("y", (wide + x) * narrow); }) ==
        "Conv Conv Add Mul");
}

TEST_CASE("of different tensors, or with weights that the run computes") {
  CHECK(left([](dk::builder& b) {
          const tensor x = b.input("x", dk::f32, {1, 4, 6, 6}), z = b.input("z", dk::f32, {1, 4, 6, 6});
          const tensor w = b.weight("w", {4, 4, 1, 1});
          b.output("y", dk::conv(x, w) + dk::conv(z, w));
        }) == "Conv Conv Add");
  CHECK(left([](dk::builder& b) {
          const tensor x = b.input("x", dk::f32, {1, 4, 6, 6}), w = b.input("w", dk::f32, {4, 4, 1, 1});
          b.output("y", dk::conv(x, w) + dk::conv(x, b.weight("v", {4, 4, 1, 1})));
        }) == "Conv Conv Add");
}

TEST_CASE("branches that are normalised each for itself are one kernel") {
  dk::builder b;
  const tensor x = b.input("x", dk::f32, {1, 8, 6, 6});
  const auto normalised = [&](tensor t, std::string_view name) {
    return dk::batch_normalization(t, b.weight(name, "s", {8}), b.weight(name, "t", {8}), b.weight(name, "m", {8}),
                                   b.weight(name, "v", {8}));
  };
  const tensor wide = dk::conv(x, b.weight("w3", {8, 8, 3, 3}), {.pads = {1, 1, 1, 1}}),
               narrow = dk::conv(x, b.weight("w1", {8, 8, 1, 1}));
  b.output("y", dk::relu(normalised(wide, "a") + normalised(narrow, "b") + normalised(x, "c")));
  const dk::plan::plan_draft p = dk::default_pipeline::run_logged(b.value()).plan;
  CHECK(p.steps.size() == 1);
  bool said = false;
  for (const dk::plan::decision& d : p.decisions) said = said || d.pass == dk::passes::sum_convolutions::name;
  CHECK(said);
}
