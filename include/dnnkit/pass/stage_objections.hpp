// SPDX-License-Identifier: MIT
// What speaks against groups as stages of one kernel, before the kernel is tried: a user's fusion rule, weights that
// would be packed twice, an order that cannot be kept, and how much one hands to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/pass/fusion_reason.hpp"
#include "dnnkit/pass/group_loads.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::detail {

struct stage_objection {
  std::string_view refused;  // empty where nothing speaks against them
  std::string_view rule;     // of the user's, if that is why
};

class stage_objections {
 public:
  // `stored`, `setup`: flags of values. `kernel_of`: of values, the group that stores it.
  constexpr stage_objections(const schedule& s, const vector<std::uint8_t>& stored, const vector<std::uint8_t>& setup,
                             const vector<std::int32_t>& kernel_of)
      : s_(s), g_(s.g), stored_(stored), setup_(setup), kernel_of_(kernel_of), reads_(g_.values.size(), 0) {
    if (s.fusion.refuses != nullptr) users_.emplace(g_);
    for (value_id v : g_.operands)
      if (v != none) ++reads_.items[v];
  }

  // To a chain of groups, by their numbers, each of which stores one value that the next one reads. `keeps`: others
  // read the first one's, too.
  constexpr stage_objection to(const vector<std::size_t>& chain, const tile_wish& wish, bool keeps) const {
    if (users_)
      for (std::size_t i = 0; i + 1 < chain.count; ++i)
        if (const std::string_view rule = rule_against(group(chain.items[i]), group(chain.items[i + 1])); !rule.empty())
          return {words_of(fusion_reason::rule).name, rule};
    if (wish.one_tile && shares_weights(chain)) return {packed_twice, {}};
    if (keeps && !can_run_with_first(chain)) return {not_there_yet, {}};
    for (std::size_t i = chain.count - 1; i-- > 0;) {
      const double bytes = bytes_of(handed_by(group(chain.items[i])));
      if (bytes > wish.most_bytes) return {too_large, {}};
      if (bytes < wish.least_bytes) return {small_enough, {}};
    }
    return {};
  }

 private:
  static constexpr std::string_view small_enough = "what the one hands to the other stays in the cache as a whole",
                                    too_large = "what the one hands to the other is too much for the first cache",
                                    not_there_yet = "the second reads what is computed only behind the first",
                                    packed_twice = "weights that other kernels read, too, would be packed twice";

  constexpr const fusion_group& group(std::size_t k) const { return s_.fusion.groups.items[k]; }
  static constexpr value_id handed_by(const fusion_group& group) { return group.outputs.items[0]; }
  constexpr bool is_moved(value_id v) const {
    return g_.at(v).producer != none && g_.node_at(g_.at(v).producer).op->kind == form::movement;
  }
  constexpr value_id before_movement(value_id v) const { return g_.input_of(g_.node_at(g_.at(v).producer), 0); }

  // The user's rule that keeps two groups apart of which the second reads what the first one computes.
  constexpr std::string_view rule_against(const fusion_group& first, const fusion_group& second) const {
    const value_id handed = handed_by(first);
    value_id computed = handed;  // before it is rearranged
    while (is_moved(computed) && g_.at(computed).producer != first.anchor) computed = before_movement(computed);
    const node& producer = g_.node_at(g_.at(computed).producer);
    for (node_id n : second.nodes) {
      const node& reader = g_.node_at(n);
      if (reader.op->kind == form::movement && n != second.anchor) continue;
      for (std::size_t i = 0; i < reader.inputs.count; ++i) {
        value_id v = g_.input_of(reader, i);
        while (v != none && v != handed && is_moved(v)) v = before_movement(v);
        if (v != handed) continue;
        const std::string_view rule = s_.fusion.refuses(g_, *users_, producer, reader, i, first.type, second.type);
        if (!rule.empty()) return rule;
      }
    }
    return {};
  }
  // Is what an anchor reads besides its first input, and no run computes, read by anything else as well?
  constexpr bool shares_weights(const vector<std::size_t>& chain) const {
    for (std::size_t k : chain) {
      const node& anchor = g_.node_at(group(k).anchor);
      for (std::size_t i = 1; i < anchor.inputs.count; ++i) {
        value_id v = g_.input_of(anchor, i);
        if (v == none || setup_.items[v] == 0) continue;
        while (reads_.items[v] == 1 && is_moved(v)) v = before_movement(v);
        if (reads_.items[v] > 1) return true;
      }
    }
    return false;
  }
  // Is all that the second group reads there when the first one runs?
  constexpr bool can_run_with_first(const vector<std::size_t>& chain) const {
    vector<value_id> loads;
    find_loads(g_, group(chain.items[1]), stored_, loads);
    for (value_id v : loads)
      if (v != handed_by(group(chain.items[0])) && kernel_of_.items[v] != none &&
          static_cast<std::size_t>(kernel_of_.items[v]) > chain.items[0])
        return false;
    return true;
  }
  constexpr double bytes_of(value_id v) const {
    auto bytes = static_cast<double>(size_of(g_.at(v).type.type));
    for (dim d : g_.at(v).type.dims) bytes *= static_cast<double>(g_.symbols.typical(d));
    return bytes;
  }

  const schedule& s_;
  const graph& g_;
  const vector<std::uint8_t>& stored_;
  const vector<std::uint8_t>& setup_;
  const vector<std::int32_t>& kernel_of_;
  vector<std::uint32_t> reads_;       // of values: inputs of nodes
  std::optional<value_users> users_;  // where there are rules of the user's, which ask for them
};

}  // namespace dnnkit::detail
