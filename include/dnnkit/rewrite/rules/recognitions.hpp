// SPDX-License-Identifier: MIT
// Rules: functions that are spelled out become the operator that has a kernel of its own.
#pragma once

#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/op/softmax.hpp"
#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite::rules {

using namespace names;

namespace detail {
inline constexpr op::hard_sigmoid sixth{.alpha = 1.0f / 6, .beta = 0.5f};
inline constexpr op::clip up_to_6{.min = 0, .max = 6}, up_to_1{.min = 0, .max = 1};
inline constexpr double root_of_two = 1.4142135623730951, root_of_half = 0.70710678118654752,
                        root_of_two_over_pi = 0.79788456080286536;
}  // namespace detail

// clang-format off
inline constexpr auto recognitions = rules_of(law::recognition,
    rule(1 / (1 + exp(-a))            == sigmoid(a),  approximates(4)),
    rule(reciprocal(1 + exp(-a))      == sigmoid(a),  approximates(4)),
    rule(exp(a) / (1 + exp(a))        == sigmoid(a),  approximates(4)),
    rule(1 - sigmoid(a)               == sigmoid(-a), approximates(32)),
    rule(0.5 * (1 + tanh(a * 0.5))    == sigmoid(a),  approximates(32)),
    rule(a * sigmoid(a)               == swish(a),    approximates(2)),
    rule(a / (1 + exp(-a))            == swish(a),    approximates(4)),
    rule(a * sigmoid(a * 1.702)       == swish(a, {.alpha = 1.702f}), approximates(2)),
    rule(a * tanh(softplus(a))        == mish(a),     approximates(4)),
    rule(a / (1 + abs(a))             == softsign(a), approximates(2)),
    rule(clip(a * 0.16666667 + 0.5, detail::up_to_1) == hard_sigmoid(a, detail::sixth), approximates(2)),
    rule(clip(a + 3, detail::up_to_6) * (1.0 / 6)    == hard_sigmoid(a, detail::sixth), approximates(16)),
    rule(clip(a + 3, detail::up_to_6) / 6            == hard_sigmoid(a, detail::sixth), approximates(16)),
    rule(a * hard_sigmoid(a, detail::sixth) == hard_swish(a), reassociates),
    rule(a * clip(a + 3, detail::up_to_6) / 6        == hard_swish(a), approximates(16)),
    rule(a * clip(a + 3, detail::up_to_6) * (1.0 / 6) == hard_swish(a), approximates(16)),
    rule(a * 0.5 * (1 + erf(a / detail::root_of_two))  == gelu(a), approximates(32)),
    rule(a * 0.5 * (1 + erf(a * detail::root_of_half)) == gelu(a), approximates(32)),
    rule(a * 0.5 * (1 + tanh((a + a * a * a * 0.044715) * detail::root_of_two_over_pi))
                                      == gelu(a, {.approximate = gelu_approximation::by_tanh}), approximates(32)),
    rule(a * sigmoid((a + a * a * a * 0.044715) * (2 * detail::root_of_two_over_pi))
                                      == gelu(a, {.approximate = gelu_approximation::by_tanh}), approximates(32)),
    // reductions
    rule(reduce_sum(a * a)[p]         == reduce_sum_square(a)[p],  reassociates),
    rule(reduce_sum(abs(a))[p]        == reduce_l1(a)[p],          reassociates),
    rule(sqrt(reduce_sum_square(a)[p]) == reduce_l2(a)[p],         reassociates),
    rule(log(reduce_sum(a)[p])        == reduce_log_sum(a)[p],     reassociates),
    rule(log(softmax(a)[p])           == log_softmax(a)[p],        approximates(32)),
    rule(exp(log_softmax(a)[p])       == softmax(a)[p],            approximates(128)));
// clang-format on

}  // namespace dnnkit::rewrite::rules
