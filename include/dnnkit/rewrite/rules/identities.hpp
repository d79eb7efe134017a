// SPDX-License-Identifier: MIT
// Rules: what changes nothing, what undoes another operator, and what is done already.
#pragma once

#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite::rules {

using namespace names;

// clang-format off
inline constexpr auto identities = rules_of(law::identity,
    rule(a * 1          == a,       exact),
    rule(a / 1          == a,       exact),
    rule(a + 0          == a,       exact),
    rule(a - 0          == a,       exact),
    rule(0 - a          == -a,      exact),
    rule(a * -1.0       == -a,      exact),
    rule(a / -1.0       == -a,      exact),
    rule(where(c, a, a) == a,       exact),
    rule(relu(exp(a))     == exp(a),     exact),
    rule(relu(sigmoid(a)) == sigmoid(a), exact),
    rule(relu(softplus(a)) == softplus(a), exact),
    rule(relu(sqrt(a))    == sqrt(a),    exact),
    rule(relu(abs(a))     == abs(a),     exact),
    rule(abs(relu(a))     == relu(a),    exact),
    rule(abs(exp(a))      == exp(a),     exact),
    rule(abs(sigmoid(a))  == sigmoid(a), exact),
    rule(abs(sqrt(a))     == sqrt(a),    exact),
    rule(floor(ceil(a))   == ceil(a),    exact),
    rule(floor(round(a))  == round(a),   exact),
    rule(ceil(floor(a))   == floor(a),   exact),
    rule(ceil(round(a))   == round(a),   exact),
    rule(round(floor(a))  == floor(a),   exact),
    rule(round(ceil(a))   == ceil(a),    exact),
    rule(max(a, zero)       == relu(a),    exact),
    rule(relu(max(a, zero))  == relu(a),    exact));

inline constexpr auto inverses = rules_of(law::inverse,
    rule(-(-a)                      == a,                    exact),
    rule(logical_not(logical_not(a)) == a,                   exact),
    rule(reciprocal(reciprocal(a))  == a,                    approximates(2)),
    rule(exp(log(a))                == a,                    approximates(128)),
    rule(log(exp(a))                == a,                    approximates(4)),
    rule(sqrt(a) * sqrt(a)          == a,                    approximates(2)),
    rule(sqrt(a * a)                == abs(a),               approximates(1)),
    rule(reciprocal(exp(a))         == exp(-a),              approximates(4)),
    rule(a / exp(b)                 == a * exp(-b),          approximates(4)),
    rule(a + -b                     == a - b,                exact),
    rule(a - -b                     == a + b,                exact),
    rule(-(a - b)                   == b - a,                exact),
    rule(-a * -b                    == a * b,                exact),
    rule(-a / -b                    == a / b,                exact),
    rule(-a * u                     == a * -u,               exact),
    rule(-(a * u)                   == a * -u,               exact),
    rule(-(a / u)                   == a / -u,               exact),
    rule(-a / u                     == a / -u,               exact),
    rule(u / -a                     == -u / a,               exact),
    rule(abs(-a)                    == abs(a),               exact),
    rule(abs(a - b) * abs(b - a)    == (a - b) * (a - b),    exact),
    rule(where(logical_not(c), a, b) == where(c, b, a),      exact));

inline constexpr auto idempotent = rules_of(law::idempotent,
    rule(projection(projection(a))         == projection(a),          exact),
    rule(selection(a, a)                   == a,                      exact),
    rule(joined_selection(a, joined_selection(a, b)) == joined_selection(a, b), exact),
    rule(joined_selection(joined_selection(a, b), b) == joined_selection(a, b), exact));
// clang-format on

}  // namespace dnnkit::rewrite::rules
