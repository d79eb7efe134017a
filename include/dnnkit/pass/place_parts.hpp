// SPDX-License-Identifier: MIT
// Pass: Concats that are no kernel. The kernels that compute the parts write them into the memory of the result, each
// behind those before it and with the strides of the whole; whoever else reads a part reads it there (SmartMem,
// section 3: movement as an index map, here of what is stored). A part may be a Concat itself, and a Concat lie where
// all its parts have been put for a larger one. It takes all of the parts, of known extents along the joined axis, in
// the order and element type of the result, computed by kernels of the run for the network itself, and families of
// kernels that expect to write and read them so in less time than the Concat would take besides. What only a Concat
// reads rearranged, such as the remainders of a transposed convolution, its kernel may write rearranged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/concat.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/pass/fusion_block.hpp"
#include "dnnkit/pass/fusion_reason.hpp"
#include "dnnkit/pass/group_loads.hpp"
#include "dnnkit/pass/layout_costs.hpp"
#include "dnnkit/pass/schedule.hpp"

namespace dnnkit {

namespace detail {

inline constexpr std::string_view name_of_part_placement = "place parts";

class part_placement {
 public:
  constexpr part_placement(schedule& s, target_facts facts)
      : s_(s),
        g_(s.g),
        groups_(s.fusion.groups),
        facts_(facts),
        stored_(g_.values.size(), 0),
        writer_(g_.values.size(), none),
        first_(g_.values.size()) {}

  constexpr void run() {
    for (std::size_t k = 0; k < groups_.count; ++k)
      for (value_id v : groups_.items[k].outputs) {
        stored_.items[v] = 1;
        writer_.items[v] = static_cast<std::int32_t>(k);
      }
    rules_.resize(groups_.count);
    loads_.resize(groups_.count);
    for (std::size_t k = 0; k < groups_.count; ++k) find_loads(g_, groups_.items[k], stored_, loads_.items[k]);
    vector<std::string_view> refused(groups_.count, in_another);  // why they are kernels
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t k = groups_.count; k-- > 0;) {  // larger ones before those that are parts of them
        if (!is_concat(groups_.items[k]) || refused.items[k] != in_another) continue;
        refused.items[k] = reason_against(k);
        goes_on = goes_on || refused.items[k].empty();  // another may now find its parts side by side
      }
    }
    for (std::size_t k = 0; k < groups_.count; ++k)
      if (is_concat(groups_.items[k]) && !groups_.items[k].is_there)
        note(g_.node_at(groups_.items[k].anchor), "a kernel of its own", refused.items[k], {}, rules_.items[k]);
  }

 private:
  using position = static_vector<std::int64_t, max_rank>;

  // A value that is stored, and the position of the joined axis of the result from which on it is found there.
  struct found_part {
    value_id whole = none;
    std::int64_t first = 0, found = 0;  // of its positions, so many are parts of the result
  };

  // A kernel that writes rearranged what it computes, while one Concat is looked at: as it was, what it stored, and
  // what stood for the layout of what it stores now.
  struct rearrangement {
    std::size_t writer = 0;
    value_id from = none;
    fusion_group group;
    buffer_layout layout;
  };

  static constexpr std::string_view in_another = "a part lies in another Concat's result already";

  constexpr bool is_concat(const fusion_group& group) const {
    return group.anchor != none && !group.setup && g_.is<op::concat>(g_.node_at(group.anchor));
  }
  // Why a Concat is a kernel; empty where it is none any more.
  constexpr std::string_view reason_against(std::size_t k) {
    const node& anchor = g_.node_at(groups_.items[k].anchor);
    parts_.clear();
    rearranging_.clear();
    std::string_view why = unfit(groups_.items[k], anchor);
    if (why.empty() && s_.fusion.refuses != nullptr) why = against_edges(k, anchor);
    if (why.empty()) why = find_parts(k, anchor);
    if (why.empty()) why = place(k, anchor);
    while (!why.empty() && !rearranging_.empty()) read_rearranged(k);
    return why;
  }

  // --- may it be none?
  constexpr std::string_view unfit(const fusion_group& group, const node& anchor) const {
    if (group.outputs.count != 1 || group.outputs.items[0] != anchor.output)
      return "it is not what is stored: more is computed of it";
    if (is_output(g_, anchor.output)) return "the caller's memory holds what this kernel writes alone";
    const shape& s = g_.at(anchor.output).type.dims;
    const buffer_layout& l = s_.layouts.items[anchor.output];
    const std::size_t axis = joined_axis(anchor);
    if (l.before[axis] + l.after[axis] != 0) return "between its parts there would be a border";
    for (std::size_t d = 0; d < s.size(); ++d)
      if (s[d] == dim(0)) return "it is empty";
    return {};
  }
  // Has a rule of the user's something against the Concat's being part of the kernel that computes a part?
  constexpr std::string_view against_edges(std::size_t k, const node& anchor) {
    if (!users_) users_.emplace(g_);
    for (std::size_t i = 0; i < anchor.inputs.count; ++i) {
      value_id v = g_.input_of(anchor, i);
      while (g_.at(v).producer != none && stored_.items[v] == 0 &&
             g_.node_at(g_.at(v).producer).op->kind == form::movement)
        v = g_.input_of(g_.node_at(g_.at(v).producer), 0);
      if (g_.at(v).producer == none || writer_.items[v] == none) continue;
      rules_.items[k] = s_.fusion.refuses(g_, *users_, g_.node_at(g_.at(v).producer), anchor, i,
                                          groups_.items[writer_.items[v]].type, groups_.items[k].type);
      if (!rules_.items[k].empty()) return plan::words_of(plan::fusion_reason::rule).name;
    }
    return {};
  }
  constexpr std::size_t joined_axis(const node& anchor) const {
    return g_.as<op::concat>(anchor).along(g_.at(anchor.output).type.dims.size());
  }

  constexpr std::string_view find_parts(std::size_t k, const node& anchor) {
    const std::size_t axis = joined_axis(anchor);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < anchor.inputs.count; ++i) {
      const value_id input = g_.input_of(anchor, i);
      const dim extent = g_.at(input).type.dims[axis];
      if (!extent.is_known()) return "where parts begin depends on symbols";
      if (extent.value() == 0) return "a part is empty";
      found_part piece{input, first, extent.value()};
      if (const std::string_view why = look_through(piece, k, axis); !why.empty()) return why;
      if (const std::string_view why = add_part(piece, anchor); !why.empty()) return why;
      first += extent.value();
    }
    for (const found_part& piece : parts_)
      if (dim(piece.found) != g_.at(piece.whole).type.dims[axis])
        return "a part is some of a value that lies elsewhere";
    return {};
  }
  // To the stored value that a part is some positions of.
  constexpr std::string_view look_through(found_part& piece, std::size_t k, std::size_t axis) {
    while (stored_.items[piece.whole] == 0) {
      const value& x = g_.at(piece.whole);
      if (x.from != origin::node) return "a part is the caller's, a weight or a constant";
      const node& n = g_.node_at(x.producer);
      const shape& in = g_.at(g_.input_of(n, 0)).type.dims;
      const bool is_split = g_.is<op::split>(n);
      if (!is_split && !g_.is<op::slice>(n)) {
        if (!write_rearranged(piece.whole, k)) return "a part is computed, or rearranged, where it is read";
        continue;
      }
      for (std::size_t d = 0; d < in.size(); ++d)
        if (d != axis && !(in[d] == x.type.dims[d])) return "a part is some of a value that lies elsewhere";
      const dim start =
          is_split ? start_of(g_.as<op::split>(n), in.size(), axis) : start_of(g_.as<op::slice>(n), in, axis);
      if (!start.is_known()) return "where parts begin depends on symbols, or it takes every other element";
      piece.first -= start.value();
      piece.whole = g_.input_of(n, 0);
    }
    return {};
  }
  // Has the kernel of what v is a rearrangement of write v instead, where only the Concat of group k reads it.
  constexpr bool write_rearranged(value_id v, std::size_t k) {
    vector<node_id> moved;
    value_id from = v;
    while (stored_.items[from] == 0) {
      const node_id p = g_.at(from).producer;
      if (p == none || g_.node_at(p).op->kind != form::movement) return false;
      moved.push_back(p);
      from = g_.input_of(g_.node_at(p), 0);
    }
    const std::int32_t writer = writer_.items[from];
    if (writer == none || is_output(g_, from) || s_.layouts.items[from].within != none) return false;
    fusion_group& group = groups_.items[writer];
    if (group.setup || group.anchor == none || is_concat(group) || group.outputs.count != 1) return false;
    for (std::size_t i = 0; i < groups_.count; ++i)
      for (value_id x : loads_.items[i])
        if (x == from && i != k) return false;
    fusion_group more = group;
    for (node_id n : moved) fusion_blocks::add(more.nodes, n);
    if (!blocks_) blocks_.emplace(g_);
    if (blocks_->check(more) != fusion_reason::nothing) return false;
    if (more.outputs.count != 1 || more.outputs.items[0] != v || more.anchor != group.anchor) return false;
    rearranging_.push_back({static_cast<std::size_t>(writer), from, group, s_.layouts.items[v]});
    group = static_cast<fusion_group&&>(more);
    exchange(k, from, v, writer);
    const buffer_layout& of_result = s_.layouts.items[groups_.items[k].outputs.items[0]];
    buffer_layout& l = s_.layouts.items[v];
    l = {};
    for (std::size_t d = 0; d < of_result.order.size(); ++d) {
      l.order.push_back(of_result.order[d]);
      l.before.push_back(0);
      l.after.push_back(0);
    }
    return true;
  }
  // The Concat of group k rearranges again what was last taken from it.
  constexpr void read_rearranged(std::size_t k) {
    rearrangement& last = rearranging_.back();
    const value_id v = groups_.items[last.writer].outputs.items[0];
    exchange(k, v, last.from, static_cast<std::int32_t>(last.writer));
    s_.layouts.items[v] = last.layout;
    groups_.items[last.writer] = static_cast<fusion_group&&>(last.group);
    rearranging_.pop_back();
  }
  // A kernel stores, and group k reads, one value instead of another.
  constexpr void exchange(std::size_t k, value_id other, value_id stored, std::int32_t writer) {
    stored_.items[other] = 0;
    stored_.items[stored] = 1;
    writer_.items[other] = none;
    writer_.items[stored] = writer;
    for (value_id& x : loads_.items[k])
      if (x == other) x = stored;
  }
  static constexpr dim start_of(const op::split& cut, std::size_t rank, std::size_t axis) {
    return cut.along(rank) == axis ? cut.begin : dim(0);
  }
  // Unknown where it does not take all elements from the start on.
  constexpr dim start_of(const op::slice& cut, const shape& in, std::size_t axis) const {
    dim start = 0;
    for (std::size_t i = 0; i < cut.starts.size(); ++i) {
      std::int64_t along = i < cut.axes.size() ? cut.axes[i] : static_cast<std::int64_t>(i);
      if (along < 0) along += static_cast<std::int64_t>(in.size());
      const op::slice::range r = cut.range_of(g_.symbols, i, in[static_cast<std::size_t>(along)]);
      if (r.step != 1) return dim::unknown();
      if (along == static_cast<std::int64_t>(axis)) start = r.start;
    }
    return start;
  }
  constexpr std::string_view add_part(const found_part& piece, const node& anchor) {
    const value& x = g_.at(piece.whole);
    if (piece.first < 0) return "a part is some of a value that lies elsewhere";
    for (found_part& other : parts_)
      if (other.whole == piece.whole) {
        if (other.first != piece.first) return "a value is a part twice, or in another order";
        other.found += piece.found;
        return {};
      }
    if (writer_.items[piece.whole] == none) return "a part is the caller's, a weight or a constant";
    if (groups_.items[writer_.items[piece.whole]].setup) return "a part is computed before the run";
    if (is_output(g_, piece.whole)) return "a part is an output, which lies in the caller's memory";
    const value& result = g_.at(anchor.output);
    if (x.type.type != result.type.type) return "a part has another element type";
    const buffer_layout &of_part = s_.layouts.items[piece.whole], &of_result = s_.layouts.items[anchor.output];
    const std::size_t axis = joined_axis(anchor);
    for (std::size_t level = 0; level < of_part.order.size(); ++level)
      if (of_part.order[level] != of_result.order[level]) return "a part is stored in another order";
    if (of_part.before[axis] + of_part.after[axis] != 0) return "between its parts there would be a border";
    parts_.push_back(piece);
    return {};
  }

  // --- where
  constexpr std::string_view place(std::size_t k, const node& anchor) {
    const value_id result = anchor.output;
    const std::size_t axis = joined_axis(anchor), rank = g_.at(result).type.dims.size();
    const vector<buffer_layout> layouts = s_.layouts;
    const vector<position> first = first_;
    changed_.clear();
    position at_part;
    at_part.resize(rank, 0);
    value_id whole = whole_of(result);
    std::size_t placed = 0;
    for (const found_part& piece : parts_) placed += s_.layouts.items[piece.whole].within != none ? 1u : 0u;
    if (placed == 0) {
      if (whole != result) at_part = first_.items[result];
      const std::int64_t before = at_part[axis];
      for (const found_part& piece : parts_) {
        at_part[axis] = before + piece.first;
        put(piece.whole, whole, at_part);
      }
      changed_.push_back(result);
    } else {
      if (placed != parts_.count || whole != result) return in_another;
      const found_part& front = parts_.items[0];
      whole = whole_of(front.whole);
      at_part = first_.items[front.whole];
      at_part[axis] -= front.first;
      for (const found_part& piece : parts_) {
        position expected = at_part;
        expected[axis] += piece.first;
        bool same = whole_of(piece.whole) == whole && at_part[axis] >= 0;
        for (std::size_t d = 0; d < rank; ++d) same = same && first_.items[piece.whole][d] == expected[d];
        if (!same) return in_another;
      }
      put(result, whole, at_part);
    }
    std::string_view why = share_borders(whole);
    if (why.empty()) why = compare_costs(k, layouts, anchor);
    if (!why.empty()) {
      s_.layouts = layouts;
      first_ = first;
    } else {
      groups_.items[k].is_there = true;
    }
    return why;
  }
  constexpr value_id whole_of(value_id v) const {
    const value_id within = s_.layouts.items[v].within;
    return within == none ? v : within;
  }
  constexpr void put(value_id v, value_id whole, const position& first) {
    s_.layouts.items[v].within = whole;
    first_.items[v] = first;
    changed_.push_back(v);
  }
  // Gives a value and all that lies in it one border, as wide as any of them needs, and those their places.
  constexpr std::string_view share_borders(value_id whole) {
    buffer_layout all = s_.layouts.items[whole];
    const auto each_inside = [&](auto visit) {
      for (std::size_t v = 0; v < s_.layouts.count; ++v)
        if (s_.layouts.items[v].within == whole) visit(static_cast<value_id>(v), s_.layouts.items[v]);
    };
    each_inside([&](value_id, const buffer_layout& l) {
      for (std::size_t d = 0; d < l.before.size(); ++d) {
        all.before[d] = l.before[d] > all.before[d] ? l.before[d] : all.before[d];
        all.after[d] = l.after[d] > all.after[d] ? l.after[d] : all.after[d];
      }
    });
    const shape& s = g_.at(whole).type.dims;
    std::string_view why;
    each_inside([&](value_id v, buffer_layout& l) {
      bool same = true;
      for (std::size_t d = 0; d < s.size(); ++d) {
        same = same && l.before[d] == all.before[d] && l.after[d] == all.after[d];
        if (all.before[d] + all.after[d] != 0 && !(s[d] == g_.at(v).type.dims[d]))
          why = "between its parts there would be a border";
      }
      if (!same) changed_.push_back(v);
      l.before = all.before;
      l.after = all.after;
      dim stride = 1;
      l.at = 0;
      for (std::size_t level = s.size(); level-- > 0;) {
        const std::size_t d = l.order[level];
        if (const std::int64_t n = first_.items[v][d]; n != 0) {
          if (!stride.is_known()) why = "where parts begin depends on symbols";
          else l.at += n * stride.value();
        }
        stride = g_.symbols.mul(stride, g_.symbols.add(s[d], all.before[d] + all.after[d]));
      }
    });
    changed_.push_back(whole);
    s_.layouts.items[whole].before = all.before;
    s_.layouts.items[whole].after = all.after;
    return why;
  }

  // --- does it pay? Asks the families about all kernels that write or read what lies elsewhere than before.
  constexpr std::string_view compare_costs(std::size_t k, const vector<buffer_layout>& before, const node& anchor) {
    fusion_plan before_fusion;
    if (!rearranging_.empty()) before_fusion = s_.fusion;
    for (const rearrangement& x : rearranging_) before_fusion.groups.items[x.writer] = x.group;
    const fusion_plan& fusion = rearranging_.empty() ? s_.fusion : before_fusion;
    layout_costs apart(g_, fusion, before, *s_.families, facts_);
    layout_costs together(g_, s_.fusion, s_.layouts, *s_.families, facts_);
    double cycles_apart = apart.cycles(fusion.groups.items[k]), cycles_together = 0;
    for (std::size_t i = 0; i < groups_.count; ++i) {
      const fusion_group& group = groups_.items[i];
      if (i == k || group.setup || group.is_there || !touches(i)) continue;
      const double one = together.cycles(group);
      if (one == 0) return "a kernel beside it cannot write or read its part so";
      cycles_together += one;
      cycles_apart += apart.cycles(fusion.groups.items[i]);
    }
    const bool pays = cycles_together < cycles_apart;
    auto bytes = static_cast<double>(size_of(g_.at(anchor.output).type.type));
    for (dim d : g_.at(anchor.output).type.dims) bytes *= static_cast<double>(g_.symbols.typical(d));
    if (pays)
      note(anchor, "no kernel", "the kernels of its parts write them where it has them",
           {{"a kernel of its own and those beside it", "cycles", cycles_apart},
            {"the kernels beside it", "cycles", cycles_together},
            {"neither read nor written", "bytes", 2 * bytes}});
    return pays ? std::string_view() : "the kernels beside it would take longer than it does";
  }
  constexpr bool touches(std::size_t k) const {
    for (value_id v : changed_) {
      for (value_id o : groups_.items[k].outputs)
        if (o == v) return true;
      for (value_id x : loads_.items[k])
        if (x == v) return true;
    }
    return false;
  }

  constexpr void note(const node& anchor, std::string_view verdict, std::string_view reason,
                      std::initializer_list<compared_cost> costs = {}, std::string_view rule = {}) const {
    decision d{name_of_part_placement, verdict, reason};
    d.rule = rule;
    d.value = anchor.output;
    d.applied = costs.size() != 0;
    s_.notes().add(d, costs);
  }

  schedule& s_;
  graph& g_;
  vector<fusion_group>& groups_;
  const target_facts facts_;
  vector<std::uint8_t> stored_;
  vector<std::int32_t> writer_;     // of values: the group that stores it
  vector<position> first_;          // of values that lie inside another: where in it
  vector<vector<value_id>> loads_;  // of groups
  vector<found_part> parts_;        // of the Concat that is looked at,
  vector<value_id> changed_;        // what would lie elsewhere than before,
  vector<rearrangement> rearranging_;
  std::optional<fusion_blocks> blocks_;
  std::optional<value_users> users_;  // where there are rules of the user's, which ask for them
  vector<std::string_view> rules_;    // of Concats: that which keeps them out of the kernels of their parts
};

}  // namespace detail

namespace passes {

struct place_parts {
  static constexpr std::string_view name = detail::name_of_part_placement;

  // Where no kernels are chosen, or branches may be left out, all stay as they are.
  template <class Target> static constexpr void run(schedule& s) {
    if (s.has_stages()) return s.come_too_late(name, "stages of kernels");
    if constexpr (requires { Target::facts; })
      if (s.families && !s.layouts.empty() && has_operator<op::concat>(s.g) && detail::guard_sets(s.g).empty())
        detail::part_placement(s, Target::facts).run();
  }
};

}  // namespace passes

}  // namespace dnnkit
