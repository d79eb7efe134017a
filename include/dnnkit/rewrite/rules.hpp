// SPDX-License-Identifier: MIT
// The library's rules, by the property that they come from. A list of one's own:
//   inline constexpr auto mine = rules_of(law::..., rule(...));
//   inline constexpr rule_list list = rules::all + mine;
#pragma once

#include "dnnkit/rewrite/rules/associative.hpp"
#include "dnnkit/rewrite/rules/commutative.hpp"
#include "dnnkit/rewrite/rules/distributive.hpp"
#include "dnnkit/rewrite/rules/identities.hpp"
#include "dnnkit/rewrite/rules/recognitions.hpp"

namespace dnnkit::rewrite::rules {

inline constexpr rule_list all = rule_list(associative) + homomorphic + distributive + commutative + identities +
                                 inverses + idempotent + recognitions;

}  // namespace dnnkit::rewrite::rules
