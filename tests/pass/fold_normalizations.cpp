// SPDX-License-Identifier: MIT
// Which normalisations go into convolutions, and that the kernels are those that come of folding scales and shifts.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/fold_normalizations.hpp"

#include <doctest/doctest.h>

#include <string>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/left_operators.hpp"

namespace dk = dnnkit;
using dk::tensor;

namespace {

tensor convolution(dk::builder& b, tensor x, bool biased = true, dk::dtype type = dk::f32) {
  const tensor w = b.weight("w", {4, 3, 3, 3}, type);
  return biased ? dk::conv(x, w, b.weight("b", {4}, type)) : dk::conv(x, w);
}
tensor normalised(dk::builder& b, tensor y, dk::dtype type = dk::f32) {
  return dk::batch_normalization(y, b.weight("s", {4}, type), b.weight("t", {4}, type), b.weight("m", {4}, type),
                                 b.weight("variance", {4}, type), {.epsilon = 1e-3f});
}
tensor image(dk::builder& b, dk::dtype type = dk::f32) { return b.input("x", type, {1, 3, 6, 6}); }

struct no_pass {
  static dk::graph run(const dk::graph& g) { return g; }
};
std::string left(auto build) { return harness::left_operators<dk::passes::fold_normalizations, no_pass>(build); }

struct residual {
  static constexpr void build(dk::builder& g) {
    const tensor x = g.input("x", dk::f32, {1, 8, 12, 12});
    const auto conv3 = [&](tensor t, const char* name, const char* norm) {
      const tensor bias = name[0] == 'a' ? g.weight("bias", {8}) : tensor{};
      const tensor y = dk::conv(t, g.weight(name, {8, 8, 3, 3}), bias, {.pads = {1, 1, 1, 1}});
      return dk::batch_normalization(y, g.batch_norm(norm, 8));
    };
    g.output("y", dk::relu(conv3(dk::relu(conv3(x, "a", "na")), "b", "nb") + x));
  }
};
template <class Pipeline> dk::plan::plan_draft plan_by() {
  dk::builder b;
  residual::build(b);
  return Pipeline::run(b.value()).plan;
}
// Operations, operands and the recipe's number of each kernel of a run.
std::string kernels_of(const dk::plan::plan_draft& p) {
  std::string kernels;
  for (const dk::plan::step& s : p.steps)
    kernels += std::to_string(s.flops.value()) + " by " + std::to_string(s.operands.count) + ", ";
  return kernels;
}

}  // namespace

TEST_CASE("a normalisation of what a convolution computes for it alone goes into the weights") {
  for (const bool biased : {true, false})
    CHECK(left([&](dk::builder& b) { b.output("y", normalised(b, convolution(b, image(b), biased))); }) == "Conv");
  CHECK(left([](dk::builder& b) {
          b.output("y", normalised(b, convolution(b, image(b, dk::f64), true, dk::f64), dk::f64));
        }) == "Conv");
}

TEST_CASE("it stays where others read what it normalises, where its numbers come with the run, and behind others") {
  const std::string stays = "Conv BatchNormalization";
  CHECK(left([](dk::builder& b) {
          const tensor y = convolution(b, image(b));
          b.output("plain", y);
          b.output("y", normalised(b, y));
        }) == stays);
  CHECK(left([](dk::builder& b) {
          const tensor y = convolution(b, image(b));
          b.output("y", dk::batch_normalization(y, b.input("s", dk::f32, {4}), b.weight("t", {4}), b.weight("m", {4}),
                                                b.weight("variance", {4})));
        }) == stays);
  CHECK(left([](dk::builder& b) {
          b.output("y", normalised(b, dk::conv(image(b), b.input("w", dk::f32, {4, 3, 3, 3}))));
        }) == stays);
  CHECK(left([](dk::builder& b) { b.output("y", normalised(b, dk::relu(convolution(b, image(b))))); }) ==
        "Conv Relu BatchNormalization");
  CHECK(left([](dk::builder& b) {  // sums of short numbers are rounded further than the numbers
          b.output("y", normalised(b, convolution(b, image(b, dk::f16), true, dk::f16), dk::f16));
        }) == stays);
}

TEST_CASE("without the pass, scales and shifts come to the same kernels") {
  using all = dk::default_pipeline;
  const dk::plan::plan_draft with = plan_by<all>(),
                             without = plan_by<dk::without<all, dk::passes::fold_normalizations>>();
  REQUIRE(with.error.view() == "");
  REQUIRE(without.error.view() == "");
  CHECK(kernels_of(with) == kernels_of(without));
}
