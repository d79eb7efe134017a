// SPDX-License-Identifier: MIT
// Rules: a factor, a summand or an operator that two have in common is applied once.
// (DNNFusion, Table 3.4, "Distributive".)
#pragma once

#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/pooling.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/rewrite/conditions.hpp"
#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite::rules {

using namespace names;

// clang-format off
inline constexpr auto distributive = rules_of(law::distributive,
    rule(a * c + b * c == (a + b) * c,  reassociates),
    rule(a * c - b * c == (a - b) * c,  reassociates),
    rule(a / c + b / c == (a + b) / c,  reassociates),
    rule(a / c - b / c == (a - b) / c,  reassociates),
    rule(a * b + a     == a * (b + 1),  reassociates),
    rule(a * b - a     == a * (b - 1),  reassociates),
    rule(a - a * b     == a * (1 - b),  reassociates),
    // chains of factors and summands that are known before the run become one of each
    rule((a + u) * v + w       == a * v + (u * v + w),       reassociates),
    rule((a - u) * v + w       == a * v + (w - u * v),       reassociates),
    rule((u - a) * v + w       == (u * v + w) - a * v,       reassociates),
    rule((a + u) * v - w       == a * v + (u * v - w),       reassociates),
    rule((a - u) * v - w       == a * v - (u * v + w),       reassociates),
    rule((a * u + v) * w       == a * (u * w) + v * w,       reassociates),
    rule((a * u - v) * w       == a * (u * w) - v * w,       reassociates),
    rule((v - a * u) * w       == v * w - a * (u * w),       reassociates),
    rule((a * u + v) / w       == a * (u / w) + v / w,       reassociates),
    rule((a * u - v) / w       == a * (u / w) - v / w,       reassociates),
    // products of matrices
    rule(matmul(a, c) + matmul(b, c) == matmul(a + b, c), when(same_extents(a, b)), reassociates),
    rule(matmul(a, c) - matmul(b, c) == matmul(a - b, c), when(same_extents(a, b)), reassociates),
    rule(matmul(a, b) + matmul(a, c) == matmul(a, b + c), when(same_extents(b, c)), reassociates),
    rule(matmul(a, b) - matmul(a, c) == matmul(a, b - c), when(same_extents(b, c)), reassociates),
    rule(matmul(a * s, u)            == matmul(a, u * s), reassociates),
    rule(matmul(u, a * s)            == matmul(u * s, a), reassociates),
    rule(matmul(a, u) * s            == matmul(a, u * s), reassociates),
    rule(matmul(u, a) * s            == matmul(u * s, a), reassociates),
    rule(matmul(a * s, b)            == matmul(a, b) * s, reassociates),
    rule(matmul(a, b * s)            == matmul(a, b) * s, reassociates),
    rule(matmul(a * s, b * t)        == matmul(a, b) * (s * t), reassociates),
    rule(matmul(-a, -b)              == matmul(a, b),     exact),
    // sums and means of rows
    rule(reduce_sum(a * s)[p]    == reduce_sum(a)[p] * s,    reassociates),
    rule(reduce_mean(a * s)[p]   == reduce_mean(a)[p] * s,   reassociates),
    rule(reduce_mean(a + s)[p]   == reduce_mean(a)[p] + s,   reassociates),
    rule(reduce_mean(a - s)[p]   == reduce_mean(a)[p] - s,   reassociates),
    rule(reduce_mean(s - a)[p]   == s - reduce_mean(a)[p],   reassociates),
    rule(reduce_sum(a / s)[p]    == reduce_sum(a)[p] / s,    reassociates),
    rule(reduce_mean(a / s)[p]   == reduce_mean(a)[p] / s,   reassociates),
    rule(reduce_sum(a * c)[p]    == reduce_sum(a)[p] * c,    when(constant_along(c, p)), reassociates),
    rule(reduce_mean(a * c)[p]   == reduce_mean(a)[p] * c,   when(constant_along(c, p)), reassociates),
    rule(reduce_sum(a / c)[p]    == reduce_sum(a)[p] / c,    when(constant_along(c, p)), reassociates),
    rule(reduce_mean(a / c)[p]   == reduce_mean(a)[p] / c,   when(constant_along(c, p)), reassociates),
    rule(reduce_mean(a + c)[p]   == reduce_mean(a)[p] + c,   when(constant_along(c, p)), reassociates),
    rule(reduce_mean(a - c)[p]   == reduce_mean(a)[p] - c,   when(constant_along(c, p)), reassociates),
    rule(reduce_sum(a)[p] + reduce_sum(b)[p]   == reduce_sum(a + b)[p],  when(same_extents(a, b)), reassociates),
    rule(reduce_sum(a)[p] - reduce_sum(b)[p]   == reduce_sum(a - b)[p],  when(same_extents(a, b)), reassociates),
    rule(reduce_mean(a)[p] + reduce_mean(b)[p] == reduce_mean(a + b)[p], when(same_extents(a, b)), reassociates),
    rule(reduce_mean(a)[p] - reduce_mean(b)[p] == reduce_mean(a - b)[p], when(same_extents(a, b)), reassociates),
    rule(reduce_l1(a * s)[p]     == reduce_l1(a)[p] * s,     when(positive(s)), reassociates),
    rule(reduce_l2(a * s)[p]     == reduce_l2(a)[p] * s,     when(positive(s)), reassociates),
    rule(average_pool(a * s)[p]  == average_pool(a)[p] * s,  reassociates),
    rule(average_pool(a / s)[p]  == average_pool(a)[p] / s,  reassociates),
    // greatest and least elements
    rule(max(a + c, b + c)       == max(a, b) + c,           exact),
    rule(min(a + c, b + c)       == min(a, b) + c,           exact),
    rule(max(a - c, b - c)       == max(a, b) - c,           exact),
    rule(min(a - c, b - c)       == min(a, b) - c,           exact),
    rule(max(a, b) + min(a, b)   == a + b,                   exact),
    rule(max(a, b) * min(a, b)   == a * b,                   exact),
    rule(max(min(a, b), min(a, c)) == min(a, max(b, c)),     exact),
    rule(min(max(a, b), max(a, c)) == max(a, min(b, c)),     exact),
    rule(max(-a, -b)             == -min(a, b),              exact),
    rule(min(-a, -b)             == -max(a, b),              exact),
    rule(reduce_max(a + c)[p]    == reduce_max(a)[p] + c,    when(constant_along(c, p)), exact),
    rule(reduce_min(a + c)[p]    == reduce_min(a)[p] + c,    when(constant_along(c, p)), exact),
    rule(reduce_max(a - c)[p]    == reduce_max(a)[p] - c,    when(constant_along(c, p)), exact),
    rule(reduce_min(a - c)[p]    == reduce_min(a)[p] - c,    when(constant_along(c, p)), exact),
    rule(reduce_max(a * s)[p]    == reduce_max(a)[p] * s,    when(positive(s)), exact),
    rule(reduce_min(a * s)[p]    == reduce_min(a)[p] * s,    when(positive(s)), exact),
    rule(reduce_max(a / s)[p]    == reduce_max(a)[p] / s,    when(positive(s)), exact),
    rule(reduce_min(a / s)[p]    == reduce_min(a)[p] / s,    when(positive(s)), exact),
    rule(max_pool(a * s)[p]      == max_pool(a)[p] * s,      when(positive(s)), exact),
    rule(max_pool(a + s)[p]      == max_pool(a)[p] + s,      exact),
    // truth values
    rule(logical_or(logical_and(a, b), logical_and(a, c)) == logical_and(a, logical_or(b, c)), exact),
    rule(logical_and(logical_or(a, b), logical_or(a, c))  == logical_or(a, logical_and(b, c)), exact),
    rule(logical_and(logical_not(a), logical_not(b))      == logical_not(logical_or(a, b)),    exact),
    rule(logical_or(logical_not(a), logical_not(b))       == logical_not(logical_and(a, b)),   exact),
    // choices
    rule(where(c, a * b, a * d)  == a * where(c, b, d),      exact),
    rule(where(c, a + b, a + d)  == a + where(c, b, d),      exact),
    rule(where(c, a - b, a - d)  == a - where(c, b, d),      exact),
    rule(where(c, b - a, d - a)  == where(c, b, d) - a,      exact),
    rule(where(c, a / b, a / d)  == a / where(c, b, d),      exact),
    rule(where(c, b / a, d / a)  == where(c, b, d) / a,      exact),
    rule(where(c, f(a), f(b))    == f(where(c, a, b)),       exact));
// clang-format on

}  // namespace dnnkit::rewrite::rules
