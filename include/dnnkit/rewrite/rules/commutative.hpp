// SPDX-License-Identifier: MIT
// Rules: two operators change places, so that one of them has fewer elements to compute.
// (DNNFusion, Table 3.4, "Commutative"; that operands may change places is matched everywhere.)
#pragma once

#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/expand.hpp"
#include "dnnkit/op/gather.hpp"
#include "dnnkit/op/pooling.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/rewrite/conditions.hpp"
#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite::rules {

using namespace names;

// clang-format off
inline constexpr auto commutative = rules_of(law::commutative,
    // what rises with its operand, behind the greatest and the least of these
    rule(reduce_max(relu(a))[p]    == relu(reduce_max(a)[p]),    exact),
    rule(reduce_min(relu(a))[p]    == relu(reduce_min(a)[p]),    exact),
    rule(reduce_max(clip(a)[q])[p] == clip(reduce_max(a)[p])[q], exact),
    rule(reduce_min(clip(a)[q])[p] == clip(reduce_min(a)[p])[q], exact),
    rule(reduce_max(floor(a))[p]   == floor(reduce_max(a)[p]),   exact),
    rule(reduce_min(floor(a))[p]   == floor(reduce_min(a)[p]),   exact),
    rule(reduce_max(ceil(a))[p]    == ceil(reduce_max(a)[p]),    exact),
    rule(reduce_min(ceil(a))[p]    == ceil(reduce_min(a)[p]),    exact),
    rule(reduce_max(round(a))[p]   == round(reduce_max(a)[p]),   exact),
    rule(reduce_min(round(a))[p]   == round(reduce_min(a)[p]),   exact),
    rule(reduce_max(sqrt(a))[p]    == sqrt(reduce_max(a)[p]),    exact),
    rule(reduce_min(sqrt(a))[p]    == sqrt(reduce_min(a)[p]),    exact),
    rule(reduce_max(exp(a))[p]     == exp(reduce_max(a)[p]),     approximates(2)),
    rule(reduce_min(exp(a))[p]     == exp(reduce_min(a)[p]),     approximates(2)),
    rule(reduce_max(log(a))[p]     == log(reduce_max(a)[p]),     approximates(2)),
    rule(reduce_min(log(a))[p]     == log(reduce_min(a)[p]),     approximates(2)),
    rule(reduce_max(sigmoid(a))[p] == sigmoid(reduce_max(a)[p]), approximates(4)),
    rule(reduce_min(sigmoid(a))[p] == sigmoid(reduce_min(a)[p]), approximates(4)),
    rule(reduce_max(tanh(a))[p]    == tanh(reduce_max(a)[p]),    approximates(4)),
    rule(reduce_min(tanh(a))[p]    == tanh(reduce_min(a)[p]),    approximates(4)),
    rule(reduce_max(erf(a))[p]     == erf(reduce_max(a)[p]),     approximates(4)),
    rule(reduce_min(erf(a))[p]     == erf(reduce_min(a)[p]),     approximates(4)),
    rule(reduce_max(softplus(a))[p] == softplus(reduce_max(a)[p]), approximates(4)),
    rule(reduce_min(softplus(a))[p] == softplus(reduce_min(a)[p]), approximates(4)),
    rule(reduce_max(-a)[p]         == -reduce_min(a)[p],         exact),
    rule(reduce_min(-a)[p]         == -reduce_max(a)[p],         exact),
    rule(max_pool(relu(a))[p]      == relu(max_pool(a)[p]),      exact),
    rule(max_pool(clip(a)[q])[p]   == clip(max_pool(a)[p])[q],   exact),
    rule(max_pool(floor(a))[p]     == floor(max_pool(a)[p]),     exact),
    rule(max_pool(ceil(a))[p]      == ceil(max_pool(a)[p]),      exact),
    rule(max_pool(round(a))[p]     == round(max_pool(a)[p]),     exact),
    rule(max_pool(sqrt(a))[p]      == sqrt(max_pool(a)[p]),      exact),
    rule(max_pool(exp(a))[p]       == exp(max_pool(a)[p]),       approximates(2)),
    rule(max_pool(log(a))[p]       == log(max_pool(a)[p]),       approximates(2)),
    rule(max_pool(sigmoid(a))[p]   == sigmoid(max_pool(a)[p]),   approximates(4)),
    rule(max_pool(tanh(a))[p]      == tanh(max_pool(a)[p]),      approximates(4)),
    rule(max_pool(erf(a))[p]       == erf(max_pool(a)[p]),       approximates(4)),
    rule(max_pool(softplus(a))[p]  == softplus(max_pool(a)[p]),  approximates(4)),
    rule(max(relu(a), relu(b))     == relu(max(a, b)),           exact),
    rule(min(relu(a), relu(b))     == relu(min(a, b)),           exact),
    rule(max(clip(a)[p], clip(b)[p]) == clip(max(a, b))[p],      exact),
    rule(min(clip(a)[p], clip(b)[p]) == clip(min(a, b))[p],      exact),
    rule(max(sqrt(a), sqrt(b))     == sqrt(max(a, b)),           exact),
    rule(min(sqrt(a), sqrt(b))     == sqrt(min(a, b)),           exact),
    rule(max(exp(a), exp(b))       == exp(max(a, b)),            approximates(2)),
    rule(min(exp(a), exp(b))       == exp(min(a, b)),            approximates(2)),
    rule(max(log(a), log(b))       == log(max(a, b)),            approximates(2)),
    rule(min(log(a), log(b))       == log(min(a, b)),            approximates(2)),
    rule(max(sigmoid(a), sigmoid(b)) == sigmoid(max(a, b)),      approximates(4)),
    rule(min(sigmoid(a), sigmoid(b)) == sigmoid(min(a, b)),      approximates(4)),
    rule(max(tanh(a), tanh(b))     == tanh(max(a, b)),           approximates(4)),
    rule(min(tanh(a), tanh(b))     == tanh(min(a, b)),           approximates(4)),
    // sums of logarithms and products of powers
    rule(reduce_prod(exp(a))[p]    == exp(reduce_sum(a)[p]),     approximates(4096)),
    rule(reduce_prod(sqrt(a))[p]   == sqrt(reduce_prod(a)[p]),   approximates(64)),
    rule(reduce_prod(abs(a))[p]    == abs(reduce_prod(a)[p]),    exact),
    rule(reduce_prod(reciprocal(a))[p] == reciprocal(reduce_prod(a)[p]), approximates(64)),
    rule(reduce_sum(-a)[p]         == -reduce_sum(a)[p],         exact),
    rule(reduce_mean(-a)[p]        == -reduce_mean(a)[p],        exact),
    rule(average_pool(-a)[p]       == -average_pool(a)[p],       exact),
    rule(reduce_l1(-a)[p]          == reduce_l1(a)[p],           exact),
    rule(reduce_l1(abs(a))[p]      == reduce_l1(a)[p],           exact),
    rule(reduce_l2(-a)[p]          == reduce_l2(a)[p],           exact),
    rule(reduce_l2(abs(a))[p]      == reduce_l2(a)[p],           exact),
    rule(reduce_sum_square(-a)[p]  == reduce_sum_square(a)[p],   exact),
    rule(reduce_sum_square(abs(a))[p] == reduce_sum_square(a)[p], exact),
    // any operator of one operand, where elements are picked or spread
    rule(slice(f(a))[p]            == f(slice(a)[p]),            exact),
    rule(gather(f(a), b)[p]        == f(gather(a, b)[p]),        exact),
    rule(f(gather(a, b)[p])        == gather(f(a), b)[p],        exact),
    rule(f(expand(a)[p])           == expand(f(a))[p],           exact),
    rule(g(expand(a)[p], b)        == g(a, b),                   exact),
    rule(g(b, expand(a)[p])        == g(b, a),                   exact));
// clang-format on

}  // namespace dnnkit::rewrite::rules
