// SPDX-License-Identifier: MIT
// Rules: operators in another order, so that what is known before the run meets first, or fewer operators are left.
// (DNNFusion, Table 3.4, "Associative".)
#pragma once

#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/rewrite/conditions.hpp"
#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite::rules {

using namespace names;

// clang-format off
inline constexpr auto associative = rules_of(law::associative,
    // what is known before the run
    rule(a * u * v         == a * (u * v),         reassociates),
    rule(a + u + v         == a + (u + v),         reassociates),
    rule((a + u) - v       == a + (u - v),         reassociates),
    rule((a - u) + v       == a + (v - u),         reassociates),
    rule((a - u) - v       == a - (u + v),         reassociates),
    rule((u - a) + v       == (u + v) - a,         reassociates),
    rule((u - a) - v       == (u - v) - a,         reassociates),
    rule(u - (v - a)       == a + (u - v),         reassociates),
    rule(u - (v + a)       == (u - v) - a,         reassociates),
    rule(u - (a - v)       == (u + v) - a,         reassociates),
    rule((a * u) / v       == a * (u / v),         reassociates),
    rule((a / u) * v       == a * (v / u),         reassociates),
    rule((a / u) / v       == a / (u * v),         reassociates),
    rule((u / a) * v       == (u * v) / a,         reassociates),
    rule((u / a) / v       == (u / v) / a,         reassociates),
    rule(u / (a * v)       == (u / v) / a,         reassociates),
    rule(u / (a / v)       == (u * v) / a,         reassociates),
    rule(u / (v / a)       == a * (u / v),         reassociates),
    rule(a / u             == a * reciprocal(u),   reassociates),
    rule(max(max(a, u), v) == max(a, max(u, v)),   exact),
    rule(min(min(a, u), v) == min(a, min(u, v)),   exact),
    rule(logical_and(logical_and(a, u), v) == logical_and(a, logical_and(u, v)), exact),
    rule(logical_or(logical_or(a, u), v)   == logical_or(a, logical_or(u, v)),   exact),
    rule(logical_xor(logical_xor(a, u), v) == logical_xor(a, logical_xor(u, v)), exact),
    // products of matrices, where that takes fewer operations
    rule(matmul(matmul(a, u), v) == matmul(a, matmul(u, v)), when(matrices()), reassociates),
    rule(matmul(u, matmul(v, a)) == matmul(matmul(u, v), a), when(matrices()), reassociates),
    rule(matmul(matmul(a, b), c) == matmul(a, matmul(b, c)), when(matrices()), reassociates),
    rule(matmul(a, matmul(b, c)) == matmul(matmul(a, b), c), when(matrices()), reassociates),
    // quotients: one division instead of two
    rule((a / b) / c                   == a / (b * c),         reassociates),
    rule(a / (b / c)                   == (a * c) / b,         reassociates),
    rule((a / b) * (c / d)             == (a * c) / (b * d),   reassociates),
    rule((a / b) / (c / d)             == (a * d) / (b * c),   reassociates),
    rule(reciprocal(a) * reciprocal(b) == reciprocal(a * b),   reassociates),
    rule(reciprocal(a) / b             == reciprocal(a * b),   reassociates),
    rule(reciprocal(a / b)             == b / a,               reassociates),
    rule(a * reciprocal(b)             == a / b,               reassociates),
    rule(a / reciprocal(b)             == a * b,               reassociates),
    rule(reciprocal(a * u)             == reciprocal(u) / a,   reassociates));

// operators that keep products, or make sums of them; DNNFusion counts these as associative, too
inline constexpr auto homomorphic = rules_of(law::homomorphic,
    rule(abs(a) * abs(b)               == abs(a * b),          exact),
    rule(abs(a) / abs(b)               == abs(a / b),          exact),
    rule(abs(a) * abs(a)               == a * a,               exact),
    rule(exp(a) * exp(b)               == exp(a + b),          approximates(256)),
    rule(exp(a) / exp(b)               == exp(a - b),          approximates(256)),
    rule(pow(a, s) * pow(a, t)         == pow(a, s + t),       approximates(16)),
    rule(pow(a, s) / pow(a, t)         == pow(a, s - t),       approximates(16)));
// clang-format on

}  // namespace dnnkit::rewrite::rules
