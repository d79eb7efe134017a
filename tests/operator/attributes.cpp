// SPDX-License-Identifier: MIT
// Operators written to integers and read back, and printed.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/operator/attributes.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "dnnkit/op/builtin.hpp"

using namespace dnnkit;

namespace {

template <class Op> constexpr Op round_trip(const Op& op) {
  vector<std::int64_t> codes;
  encode(op, codes);
  codes.push_back(-77);  // what follows is another node's
  return decode<Op>(codes.data());
}
template <class Op> constexpr text printed(const Op& op) {
  symbol_table t;
  text result;
  print_attributes(op, t, result);
  return result;
}

constexpr op::conv conv_back = round_trip(op::conv{.kernel_shape = {3, 3}, .pads = {1, 0, 1, 0}, .group = 2});
static_assert(conv_back.kernel_shape == int_list{3, 3} && conv_back.strides.empty() &&
              conv_back.pads == int_list{1, 0, 1, 0} && conv_back.group == 2);
static_assert(round_trip(op::slice{.starts = {-1}, .ends = {std::numeric_limits<std::int64_t>::min()}, .steps = {-2}})
                  .ends[0] == std::numeric_limits<std::int64_t>::min());
static_assert(round_trip(op::leaky_relu{.alpha = -0.1f}).alpha == -0.1f);
static_assert(round_trip(op::clip{}).min == std::numeric_limits<float>::lowest());
static_assert(round_trip(op::cast{.to = boolean}).to == boolean);
static_assert(round_trip(op::depth_to_space{4, op::depth_to_space_mode::crd}).mode == op::depth_to_space_mode::crd);
static_assert(round_trip(op::reshape{{0, dim::unknown(), dim::of_expression(5)}}).dims ==
              shape{0, dim::unknown(), dim::of_expression(5)});
static_assert(round_trip(op::split{-1, dim::of_expression(2), 7}).begin == dim::of_expression(2));
static_assert(round_trip(op::resize{.scales = {1, 0.5f}}).scales == float_list{1, 0.5f});
static_assert(round_trip(op::reduce_sum{.axes = {0, -1}, .keepdims = false}).axes.list == int_list{0, -1});

static_assert(printed(op::add{}) == "");
static_assert(printed(op::conv{.kernel_shape = {3, 3}, .group = 2}) ==
              "kernel_shape=[3, 3] strides=[] pads=[] dilations=[] group=2");
static_assert(printed(op::gemm{.alpha = 0.5f, .trans_b = true}) == "alpha=0.5 beta=1 trans_a=false trans_b=true");
static_assert(printed(op::cast{.to = i64}) == "to=i64");
static_assert(printed(op::layer_normalization{.epsilon = 1e-5f}) == "axis=-1 epsilon=1e-5");
static_assert(printed(op::reshape{{0, -1, 64}}) == "shape=[0, ?, 64]");
static_assert(printed(op::leaky_relu{.alpha = 0.044715f}) == "alpha=0.044715");
static_assert(printed(op::leaky_relu{.alpha = 6e6f}) == "alpha=6000000");
static_assert(printed(op::leaky_relu{.alpha = 3.4e38f}) == "alpha=3.4e38");
static_assert(printed(op::leaky_relu{.alpha = 0.9999999f}) == "alpha=1");
static_assert(printed(op::leaky_relu{.alpha = -0.0f}) == "alpha=0");
static_assert(printed(op::leaky_relu{.alpha = -1234.5f}) == "alpha=-1234.5");
static_assert(printed(op::leaky_relu{.alpha = std::numeric_limits<float>::infinity()}) == "alpha=inf");

TEST_CASE("the assertions above are the test") {}

}  // namespace
