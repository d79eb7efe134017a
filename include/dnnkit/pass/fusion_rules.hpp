// SPDX-License-Identifier: MIT
// Rules of fusion: what is made of Table 3.3's verdict about an edge. A rule is a type with a name and
//   static constexpr verdict decide(const fusion_edge& edge, mapping first, mapping second, verdict v)
// Rules are asked in order; each may change the verdict of the one before. Those that are not the library's are asked
// about every edge whose operators some pass would compute in one kernel.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/gather.hpp"
#include "dnnkit/op/quantization.hpp"
#include "dnnkit/pass/edge_profile.hpp"
#include "dnnkit/pass/fusion_reason.hpp"
#include "dnnkit/pass/mapping_table.hpp"

namespace dnnkit::passes {

// The edge a rule is asked about: `second` reads `first`'s output as its input number `input`. Who reads what in all of
// the graph is known, so that no rule has to look for it.
struct fusion_edge {
  const graph& g;
  const value_users& users;
  const node& first;
  const node& second;
  std::size_t input;
  edge_profile* profile = nullptr;  // what is known of fusing it, which is found out when it is asked for
};

// The library's answer to Table 3.3's yellow cells: what takes less time, as was measured or as the cost model says.
// For a target of which no facts are known, views cost nothing, so movement fuses; growing a result that took many
// operations to compute does not.
struct profile_rule {
  static constexpr std::string_view name = "profile";
  static constexpr verdict decide(const fusion_edge& edge, mapping first, mapping second, verdict v) {
    if (v != verdict::profile) return v;
    if (edge.profile != nullptr)
      if (const edge_answer& known = edge.profile->answer(); known.by != answered_by::nobody)
        return known.pays() ? verdict::fuse : verdict::never;
    return first == mapping::many_to_many && second == mapping::one_to_many ? verdict::never : verdict::fuse;
  }
};

// A quantised tensor is stored as the bytes that it is, and not as the wider numbers that a reader makes of them, if it
// has several readers, or one for which that is all that happens to it before it is stored: pools, say, and other
// kernels with an anchor of their own. What becomes bytes again, behind a bias say, stays in its kernel. What is added
// to another tensor may be so in the kernel that it comes from; of two kernels with anchors whose results are added, in
// that of the later anchor, to which the other hands bytes. A picture of a few channels is quantised by the convolution
// that reads it, which has to put the channels of a pixel next to each other anyway. A table of bytes is read by a
// kernel that does nothing else.
struct bytes_rule {
  static constexpr std::string_view name = "bytes";
  static constexpr verdict decide(const fusion_edge& edge, mapping, mapping, verdict v) {
    const graph& g = edge.g;
    if (is_table_of_bytes(g, edge.first)) return verdict::never;
    if (edge.first.op->kind != form::elementwise || !gives_bytes(g, edge.first) || gives_bytes(g, edge.second))
      return v;
    if (number_of_readers(edge, edge.first) > 1) return verdict::never;
    if (reads_picture(g, edge)) return v;
    for (const node* at = &edge.second; at->op->kind == form::elementwise; at = reader(edge, *at)) {
      if (gives_bytes(g, *at)) return v;
      if (joins_tensors(g, *at)) return is_of_last_anchor(edge, edge.first, *at) ? v : verdict::never;
      if (number_of_readers(edge, *at) != 1) return verdict::never;
    }
    return verdict::never;
  }

 private:
  static constexpr bool gives_bytes(const graph& g, const node& n) { return is_byte(g.at(n.output).type.type); }
  static constexpr bool is_table_of_bytes(const graph& g, const node& n) {
    return n.op->id == id_of<op::gather> && gives_bytes(g, n) && g.at(g.input_of(n, 0)).type.dims == shape{256};
  }
  static constexpr bool reads_picture(const graph& g, const fusion_edge& edge) {
    const shape& s = g.at(edge.first.output).type.dims;
    return edge.second.op->id == id_of<op::conv_integer> && edge.input == 0 && s.size() > 1 && s[1].is_known() &&
           s[1].value() <= 4;
  }
  static constexpr std::size_t number_of_readers(const fusion_edge& edge, const node& n) {
    return edge.users[n.output].size();
  }
  // The node that reads n, which is one.
  static constexpr const node* reader(const fusion_edge& edge, const node& n) {
    const value_users::range readers = edge.users[n.output];
    return readers.empty() ? &n : &edge.g.node_at(*readers.begin());
  }
  // Of the results of anchors that `join` is computed of, is n's that of the last?
  static constexpr bool is_of_last_anchor(const fusion_edge& edge, const node& n, const node& join) {
    const graph& g = edge.g;
    const std::ptrdiff_t own = anchor_behind(edge, &n);
    for (std::size_t i = 0; i < join.inputs.count; ++i)
      if (const value_id v = g.input_of(join, i); v != none && g.at(v).producer != none)
        if (anchor_behind(edge, &g.node_at(g.at(v).producer)) > own) return false;
    return true;
  }
  // The number of the anchor whose result n is made of by element-wise operators with one tensor each, as bytes that
  // one node alone reads; -1 if there is none.
  static constexpr std::ptrdiff_t anchor_behind(const fusion_edge& edge, const node* n) {
    const graph& g = edge.g;
    for (; n->op->kind == form::elementwise;) {
      if (gives_bytes(g, *n) && number_of_readers(edge, *n) != 1) return -1;
      const node* from = nullptr;
      for (std::size_t i = 0; i < n->inputs.count; ++i)
        if (const value_id v = g.input_of(*n, i); v != none && g.at(v).type.dims == g.at(n->output).type.dims) {
          if (from != nullptr || g.at(v).producer == none) return -1;
          from = &g.node_at(g.at(v).producer);
        }
      if (from == nullptr) return -1;
      n = from;
    }
    return n->op->kind == form::movement ? -1 : n - g.nodes.items;
  }
  // Does it compute its result of several tensors of that shape?
  static constexpr bool joins_tensors(const graph& g, const node& n) {
    std::size_t tensors = 0;
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      if (const value_id v = g.input_of(n, i); v != none && g.at(v).type.dims == g.at(n.output).type.dims) ++tensors;
    return tensors > 1;
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

// Rules that say what the library has found out of pairs of blocks, which others than fusion planning do by costs of
// their own; all others are the user's.
template <class Rule>
inline constexpr bool is_of_user = !std::is_same_v<Rule, profile_rule> && !std::is_same_v<Rule, bytes_rule>;

// The name of the user's rule that has something against an edge on which all else agrees; see plan::refusal_by_rule.
template <class... Rules>
constexpr std::string_view refused_by_rule(const graph& g, const value_users& users, const node& first,
                                           const node& second, std::size_t input, mapping of_first, mapping of_second) {
  const fusion_edge edge{g, users, first, second, input};
  verdict v = verdict::fuse;
  std::string_view last;
  const auto ask = [&](std::string_view name, verdict decided) {
    if (decided != v) last = name;
    v = decided;
  };
  const auto ask_if_of_user = [&]<class Rule>(std::type_identity<Rule>) {
    if constexpr (is_of_user<Rule>) ask(Rule::name, Rule::decide(edge, of_first, of_second, v));
  };
  (ask_if_of_user(std::type_identity<Rules>{}), ...);
  return v == verdict::fuse ? std::string_view() : last;
}

}  // namespace dnnkit::passes
