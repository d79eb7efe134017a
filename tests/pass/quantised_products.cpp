// SPDX-License-Identifier: MIT
// Products of dequantised numbers become products of integers, and compute the same.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/quantised_products.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/separate_outputs.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;
using dk::f32, dk::i8, dk::u8;

namespace {

// Nodes of that name that are left of a model with an input of bytes; -1 when the model then computes something else.
template <class Build> int nodes_left(std::string_view name, const std::vector<std::int64_t>& dims, Build build) {
  dk::builder b;
  dk::shape s;
  for (const std::int64_t d : dims) s.push_back(d);
  dk::graph& g = b.value();
  g.inputs.push_back(g.add_value({g.store("q"), {f32, s}, dk::origin::input, dk::none, {}}));
  const dk::tensor q = dk::cast(dk::tensor{&b, g.inputs[0]}, {.to = u8});
  b.output("y", build(b, dk::dequantize_linear(q, b.scalar(0.5), b.scalar(3, u8))));
  const dk::graph after = dk::passes::separate_outputs::run(dk::passes::quantised_products::rewritten(b.value()));
  if (!dk::verify(after).view().empty()) return -1;
  dk::host_tensor x(f32, dims);
  for (std::size_t i = 0; i < x.reals.size(); ++i) x.reals[i] = static_cast<double>(i * 37 % 256);
  const auto expected = evaluate(b.value(), {x})[0].reals, found = evaluate(after, {x})[0].reals;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (std::abs(expected[i] - found[i]) > 1e-9 * (1 + std::abs(expected[i]))) return -1;
  int n = 0;
  for (const dk::node& y : after.nodes) n += y.op->name == name ? 1 : 0;
  return n;
}

// Numbers of i8, with `scales` along `axis`.
dk::tensor weight(dk::builder& b, dk::shape dims, const dk::vector<double>& scales, std::int64_t axis) {
  std::size_t count = 1;
  for (const dk::dim d : dims) count *= static_cast<std::size_t>(d.value());
  dk::vector<double> x;
  for (std::size_t i = 0; i < count; ++i) x.push_back(static_cast<double>(i * 29 % 255) - 127);
  const dk::tensor w = dk::cast(b.constant(x, dims), {.to = i8});
  const dk::shape of_scales{static_cast<std::int64_t>(scales.size())};
  return dk::dequantize_linear(w, b.constant(scales, of_scales), {.axis = axis});
}

}  // namespace

TEST_CASE("a convolution, with a scale for each channel, a bias, and quantised again") {
  const auto real = [](dk::builder& b, dk::tensor x) {
    return dk::conv(x, weight(b, {2, 3, 2, 2}, {0.25, 2}, 0), b.constant({1.5, -2}, {2}), {.pads = {1, 1, 0, 0}});
  };
  CHECK(nodes_left("Conv", {1, 3, 4, 4}, real) == 0);
  CHECK(nodes_left("ConvInteger", {1, 3, 4, 4}, real) == 1);
  const auto again = [&](dk::builder& b, dk::tensor x) {
    const dk::tensor y = dk::quantize_linear(real(b, x), b.scalar(16), b.scalar(100, u8));
    return dk::cast(y, {.to = f32});
  };
  CHECK(nodes_left("ConvInteger", {1, 3, 4, 4}, again) == 1);
  CHECK(nodes_left("QuantizeLinear", {1, 3, 4, 4}, again) == 0);
  CHECK(nodes_left("Conv", {1, 3, 4, 4}, again) == 0);
}

TEST_CASE("MatMul and Gemm, with scales of columns") {
  CHECK(nodes_left("MatMulInteger", {1, 2, 3, 4}, [](dk::builder& b, dk::tensor x) {
          return dk::matmul(x, weight(b, {4, 2}, {0.5, 0.125}, 1));
        }) == 1);
  const auto row = [](dk::op::gemm how) {
    return [how](dk::builder& b, dk::tensor x) {
      const bool turned = how.trans_b;
      const dk::tensor w = weight(b, turned ? dk::shape{2, 4} : dk::shape{4, 2}, {0.5, 0.125}, turned ? 0 : 1);
      return dk::gemm(x, w, b.constant({1, 2}, {2}), how);
    };
  };
  CHECK(nodes_left("MatMulInteger", {3, 4}, row({})) == 1);
  CHECK(nodes_left("MatMulInteger", {3, 4}, row({.trans_b = true})) == 1);
  CHECK(nodes_left("Gemm", {3, 4}, row({.alpha = 2})) == 1);
  CHECK(nodes_left("Gemm", {3, 4}, row({.beta = 2})) == 1);
  CHECK(nodes_left("Gemm", {4, 3}, row({.trans_a = true})) == 1);
}

TEST_CASE("what is scaled along the reduction stays real") {
  const auto real = [](dk::builder& b, dk::tensor x) {
    return dk::matmul(x, weight(b, {4, 2}, {0.5, 0.125, 1, 2}, 0));
  };
  CHECK(nodes_left("MatMulInteger", {1, 2, 3, 4}, real) == 0);
  CHECK(nodes_left("MatMul", {1, 2, 3, 4}, real) == 1);
  CHECK(nodes_left("MatMul", {3, 4}, [](dk::builder& b, dk::tensor x) {  // of the first factor
          const dk::tensor scaled = dk::dequantize_linear(dk::cast(x, {.to = u8}), b.constant({1, 2, 3, 4}, {4}));
          return dk::matmul(scaled, weight(b, {4, 2}, {1}, 1));
        }) == 1);
  CHECK(nodes_left("Conv", {1, 3, 4, 4}, [](dk::builder& b, dk::tensor x) {  // of input channels
          return dk::conv(x, weight(b, {2, 3, 2, 2}, {0.25, 2, 1}, 1));
        }) == 1);
  CHECK(
      nodes_left("MatMul", {3, 4}, [](dk::builder& b, dk::tensor x) {  // block by block
        const dk::tensor w = dk::cast(b.constant({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2}), {.to = i8});
        return dk::matmul(x, dk::dequantize_linear(w, b.constant({1, 2, 4, 8}, {4, 1}), {.axis = 1, .block_size = 2}));
      }) == 1);
}

TEST_CASE("what is quantised again by several scales is real before") {
  const auto again = [](dk::shape scales, dk::op::quantize_linear how) {
    return [=](dk::builder& b, dk::tensor x) {
      const dk::tensor unit = b.constant({16, 32}, scales);
      return dk::cast(dk::quantize_linear(dk::matmul(x, weight(b, {4, 2}, {1}, 1)), unit, how), {.to = f32});
    };
  };
  CHECK(nodes_left("QuantizeLinear", {3, 4}, again({2}, {.axis = 1})) == 1);
  CHECK(nodes_left("QuantizeLinear", {2, 4}, again({2, 1}, {.axis = 1, .block_size = 2})) == 1);
  CHECK(nodes_left("MatMul", {3, 4}, [](dk::builder& b, dk::tensor x) {  // and where it is given out besides, once
          const dk::tensor y = dk::matmul(x, weight(b, {4, 2}, {1}, 1));
          b.output("real", y);
          return dk::cast(dk::quantize_linear(y, b.scalar(16), b.scalar(3, u8)), {.to = f32});
        }) == 0);
}

TEST_CASE("a bias that was quantised is added to the sums of integers") {
  const auto again = [](double unit) {
    return [=](dk::builder& b, dk::tensor x) {
      const dk::tensor w = weight(b, {2, 3, 2, 2}, {0.25, 2}, 0);
      const dk::tensor bias = dk::dequantize_linear(dk::cast(b.constant({700, -3000}, {2}), {.to = dk::i32}),
                                                    b.constant({0.5 * 0.25 * unit, 0.5 * 2 * unit}, {2}), {.axis = 0});
      return dk::cast(dk::quantize_linear(dk::conv(x, w, bias), b.scalar(64), b.scalar(100, u8)), {.to = f32});
    };
  };
  CHECK(nodes_left("ConvInteger", {1, 3, 4, 4}, again(1)) == 1);
  CHECK(nodes_left("ConvInteger", {1, 3, 4, 4}, again(4)) == 1);  // of another scale, of which sums have multiples
}

TEST_CASE("sums and products element by element of what is dequantised") {
  const auto two = [](auto combine, dk::dtype to) {
    return [=](dk::builder& b, dk::tensor x) {
      const dk::tensor bytes = dk::cast(b.constant({0, 1, 100, 255}, {4}), {.to = u8});
      const dk::tensor other = dk::dequantize_linear(bytes, b.constant({0.125}, {1}), b.constant({9}, {1}, u8));
      const dk::tensor y = dk::quantize_linear(combine(x, other), b.scalar(0.5), b.scalar(6, to));
      return dk::cast(y, {.to = f32});
    };
  };
  const auto sum = [](dk::tensor a, dk::tensor b) { return a + b; };
  const auto product = [](dk::tensor a, dk::tensor b) { return a * b; };
  CHECK(nodes_left("QuantizeLinear", {3, 4}, two(sum, u8)) == 0);
  CHECK(nodes_left("QuantizeLinear", {3, 4}, two(sum, i8)) == 0);
  CHECK(nodes_left("QuantizeLinear", {3, 4}, two(product, u8)) == 0);
  CHECK(nodes_left("QuantizeLinear", {3, 4}, two(product, dk::i16)) == 1);  // which f32 would not hold exactly
}
