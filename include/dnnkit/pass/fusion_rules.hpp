// SPDX-License-Identifier: MIT
// Rules of fusion: what is made of Table 3.3's verdict about an edge. A rule is a type with a name and
//   static constexpr verdict decide(const fusion_edge& edge, mapping first, mapping second, verdict v)
// Rules are asked in order; each may change the verdict of the one before.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/graph/graph.hpp"
#include "dnnkit/pass/fusion_reason.hpp"
#include "dnnkit/pass/mapping_table.hpp"

namespace dnnkit::passes {

// The edge a rule is asked about: `second` reads `first`'s output as its input number `input`.
struct fusion_edge {
  const graph& g;
  const node& first;
  const node& second;
  std::size_t input;
};

// The library's answer to Table 3.3's yellow cells: views cost nothing, so movement fuses; growing a result that took
// many operations to compute does not.
struct profile_rule {
  static constexpr std::string_view name = "profile";
  static constexpr verdict decide(const fusion_edge&, mapping first, mapping second, verdict v) {
    if (v != verdict::profile) return v;
    return first == mapping::many_to_many && second == mapping::one_to_many ? verdict::never : verdict::fuse;
  }
};

// What stands against fusing an edge, and which rule of the user's says so.
struct objection {
  fusion_reason reason = fusion_reason::nothing;
  std::string_view rule;
};

// What the rules make of the table's verdict `v`; no reason when they let the edge be fused.
template <class... Rules>
constexpr objection objection_of(const fusion_edge& edge, mapping first, mapping second, verdict v) {
  std::string_view last;  // the rule that changed the verdict last
  const auto ask = [&](std::string_view name, verdict decided) {
    if (decided != v) last = name;
    v = decided;
  };
  (ask(Rules::name, Rules::decide(edge, first, second, v)), ...);
  if (v == verdict::fuse) return {};
  if (last.empty()) return {v == verdict::never ? fusion_reason::mapping_types : fusion_reason::profile, {}};
  if (last == profile_rule::name) return {fusion_reason::profile, {}};
  return {fusion_reason::rule, last};
}

}  // namespace dnnkit::passes
