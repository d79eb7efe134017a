// SPDX-License-Identifier: MIT
// DynamicQuantizeLSTM: shapes, and values that ONNX Runtime computed.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/quantized_recurrent.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dnnkit/op/quantization.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"
#include "tests/support/random_source.hpp"

using namespace dnnkit;

namespace {

constexpr sym L{"L", {1, 512}};

struct changed {
  dtype weight = i8, zero = i8;
  std::int64_t columns = 12, scales = 2, bias = 24;
};
// A layer of 3 units in both directions, with operands as said.
constexpr auto layer_of(changed of) {
  return inferred([of](builder& g) {
    const tensor w = g.weight("w", {2, 5, of.columns}, of.weight), r = g.weight("r", {2, 3, 12}, of.weight);
    const tensor scale = g.weight("s", {of.scales}), columns = g.weight("c", {2, 12});
    return g.apply(op::dynamic_quantize_lstm{.direction = recurrent_direction::bidirectional},
                   {g.input("x", f32, {L, 2, 5}), w, r, scale, g.weight("z", {2}, of.zero), columns,
                    g.weight("q", {2, 12}, of.weight), g.weight("b", {2, of.bias})});
  });
}
static_assert(layer_of({}) == "f32 [L, 2, 2, 3]");
static_assert(layer_of({.weight = i16}) == "DynamicQuantizeLSTM: weight is i16, expected i8 or u8");
static_assert(layer_of({.zero = u8}) == "DynamicQuantizeLSTM: zero points must be of the type of their weights");
static_assert(layer_of({.columns = 9}) ==
              "DynamicQuantizeLSTM: the last extent of a weight is 9, but four times the units is 12");
static_assert(layer_of({.scales = 3}) ==
              "DynamicQuantizeLSTM: the number of scales or zero points is 3, but the number of directions is 2");
static_assert(layer_of({.bias = 12}) ==
              "DynamicQuantizeLSTM: the length of B is 12, but twice gates times units is 24");

TEST_CASE("reals become the bytes that DynamicQuantizeLinear makes of them") {
  builder g;
  const tensor x = g.input("x", f32, {40});
  for (std::int64_t output = 0; output < 3; ++output)
    g.output("y" + std::to_string(output), g.apply(op::dynamic_quantize_linear{output}, {x}));
  for (const std::uint64_t seed : harness::seeds(1, 50)) {
    CAPTURE(seed);
    random_source r(seed);
    host_tensor data(f32, {40});
    const double least = r.real(-3, 1), most = r.real(-1, 3);  // on either side of 0, or on one
    for (double& v : data.reals) v = static_cast<float>(least + (most - least) * r.real(0, 1));
    const auto expected = evaluate(g.value(), std::vector{data});
    detail::byte_range range;
    for (const double v : data.reals) range.include(static_cast<float>(v));
    const detail::byte_scale of = range.scale();
    // the evaluator divides in 64 bits: what is a middle between two bytes in one may not be in the other
    CHECK(of.scale == doctest::Approx(expected[1].reals[0]).epsilon(3e-7));
    CHECK(std::abs(of.zero - static_cast<float>(expected[2].integers[0])) <= 1);
    for (std::size_t i = 0; i < data.reals.size(); ++i)
      CHECK(std::abs(of(static_cast<float>(data.reals[i])) - static_cast<float>(expected[0].integers[i])) <= 1);
  }
  const detail::byte_scale nothing = detail::byte_range{}.scale();
  CHECK((nothing.scale == 1 && nothing.zero == 0 && nothing(0) == 0));
  CHECK(nothing(std::numeric_limits<float>::quiet_NaN()) == 0);
  CHECK(nothing(std::numeric_limits<float>::infinity()) == 255);
}

TEST_CASE("recurrent layers of bytes: ONNX Runtime's results, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("quantized_recurrent");
  CHECK(outcome.cases == 30);
  CHECK(outcome.symbolic_graphs >= 20);
}

}  // namespace
