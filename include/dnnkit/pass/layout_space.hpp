// SPDX-License-Identifier: MIT
// In which orders the stored values of a graph may lie, before costs are asked (SmartMem, section 3.2.2). Each kernel
// wishes that what it reads be contiguous along what it reduces over; convolutions and pools, also that what they write
// be so along channels. A value that all its kernels are content with in one order - channels last, for convolutions
// whose channels fill vectors, or row-major - has that order. The others are contested: by kernels that wish for
// different orders, by convolutions that leave lanes of vectors empty, by element-wise kernels of values that lie
// otherwise. Those have several orders, and so have values of the same shape beside them that nobody has a wish for. In
// a graph of few values, all are contested: what the rules spare is then not worth what they miss.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/concat.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/pass/group_loads.hpp"
#include "dnnkit/pass/layout_tables.hpp"
#include "dnnkit/pass/reduction_dimensions.hpp"
#include "dnnkit/pass/storage_order.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::detail {

// Elements, extents that are not known counting as typical ones.
constexpr double typical_elements(const graph& g, const shape& s) {
  double n = 1;
  for (dim d : s) n *= static_cast<double>(g.symbols.typical(d));
  return n;
}

// What a kernel is best at with a value: contiguous along one of these dimensions.
struct layout_wish {
  enum class from : std::uint8_t {
    channels,  // a convolution or pool that is fast along channels alone, or has full vectors of them
    disputed,  // a convolution whose channels leave lanes empty: rows may be better
    rows,      // a reduction, softmax or normalisation, which may also take many rows at a time
    products   // anything else that reduces
  };
  value_id v = none;
  std::int32_t group = none;
  axis_set dims;
  from how = from::products;
  std::int32_t next = none;  // of the wishes about the same value
};

// Which values of several possible orders are contested: those of which rules say so, all in a graph of few values and
// else those, or all.
enum class contest : std::uint8_t { by_rules, all_of_few, all };

class layout_space {
 public:
  static constexpr std::size_t most_orders = 4;
  // Of so many values whose order is to be chosen, costs are asked in the compiler in less than a second.
  static constexpr std::size_t few = 12;

  // lanes: 32-bit elements of a vector; contiguous: dimensions that the memory of activations keeps so at a time.
  constexpr layout_space(graph& g, const fusion_plan& fusion, std::int64_t lanes, int contiguous, contest which)
      : g_(g),
        groups_(fusion.groups),
        lanes_(lanes),
        contiguous_(contiguous),
        stored(g.values.size(), 0),
        setup(setup_values(g)),
        order(g.values.size()),
        wish_(g.values.size(), none),
        entry_(g.values.size(), none),
        has_channels_(g.values.size(), 0) {
    for (const fusion_group& group : groups_)
      for (value_id o : group.outputs) stored.items[o] = 1;
    loads.resize(groups_.count);
    for (std::size_t k = 0; k < groups_.count; ++k)
      if (!groups_.items[k].setup) {
        find_loads(g_, groups_.items[k], stored, loads.items[k]);
        find_wishes(k);
      }
    choose_undisputed();
    follow_shapes();
    find_contested(which == contest::all || (which == contest::all_of_few && free_values() <= few));
  }

  // A value whose order is ours to choose.
  constexpr bool is_free(value_id v) const {
    return v != none && g_.at(v).from == origin::node && stored.items[v] != 0 && setup.items[v] == 0 &&
           g_.at(v).type.dims.size() >= 2 && !is_output(g_, v);
  }
  constexpr bool is_contested(value_id v) const { return entry_.items[v] != none; }
  // Of a contested value: its orders; the first is that of order[v].
  constexpr const vector<storage_order>& orders_of(value_id v) const {
    return contested_.items[entry_.items[v]].orders;
  }
  constexpr std::size_t number_of(value_id v) const { return static_cast<std::size_t>(entry_.items[v]); }
  constexpr std::size_t contested() const { return contested_.count; }
  constexpr value_id contested_value(std::size_t i) const { return contested_.items[i].v; }

  // Does every kernel that has a wish for v find it fulfilled?
  constexpr bool are_content(value_id v, const storage_order& o) const {
    for (std::int32_t w = wish_.items[v]; w != none; w = wishes_.items[w].next)
      if (!is_fulfilled(wishes_.items[w], o)) return false;
    return true;
  }
  constexpr bool has_wishes(value_id v) const { return wish_.items[v] != none; }
  constexpr bool has_channels(value_id v) const { return has_channels_.items[v] != 0; }
  constexpr const layout_wish* wish_of(std::size_t group, value_id v) const {
    for (std::int32_t w = wish_.items[v]; w != none; w = wishes_.items[w].next)
      if (wishes_.items[w].group == static_cast<std::int32_t>(group)) return &wishes_.items[w];
    return nullptr;
  }

 private:
  graph& g_;
  const vector<fusion_group>& groups_;
  const std::int64_t lanes_;
  const int contiguous_;

 public:
  vector<std::uint8_t> stored, setup;  // by value
  vector<storage_order> order;         // of each value; of contested ones, the one that they have without a search
  vector<vector<value_id>> loads;      // of each group

  // n rounded up to whole vectors
  constexpr double padded(std::int64_t n) const { return static_cast<double>((n + lanes_ - 1) / lanes_ * lanes_); }
  // Multiply-adds of a convolution, up to common factors and empty lanes included, where vectors run along channels,
  // and along rows.
  struct lane_work {
    double channels = 0, rows = 0;
  };
  constexpr lane_work work_of(const node& anchor) const {
    const shape& out = g_.at(anchor.output).type.dims;
    const std::int64_t channels = g_.at(g_.input_of(anchor, 1)).type.dims[0].value(),
                       width = out.back().is_known() && out.back().value() > 0 ? out.back().value() : 16 * lanes_;
    return {padded(channels), static_cast<double>(channels) * padded(width) / static_cast<double>(width)};
  }
  // May rows be better than channels? Pools, and convolutions with groups or strides, are fast channels last alone.
  constexpr bool is_disputed(const node& anchor) const {
    const shape& out = g_.at(anchor.output).type.dims;
    if (!g_.is<op::conv>(anchor) || out.size() > 4) return false;
    const op::conv c = g_.as<op::conv>(anchor);
    const shape& weight = g_.at(g_.input_of(anchor, 1)).type.dims;
    const window w = c.over([&](std::size_t i) { return weight[i].value(); }, weight.size() - 2);
    const lane_work work = work_of(anchor);
    return c.group == 1 && w.stride(weight.size() - 3) == 1 && work.channels > work.rows;
  }
  static constexpr bool wants_channels(const graph& g, const node& anchor) {
    const std::size_t rank = g.at(anchor.output).type.dims.size();
    return anchor.op->properties.contiguous_axis == 1 && rank >= 3 && rank <= 5;
  }

 private:
  struct contested_value_orders {
    value_id v = none;
    vector<storage_order> orders;
  };

  // --- wishes
  // Does SmartMem's Table 6 have the layouts of the kernel's operands and results searched: is its class, that of its
  // operators one after the other, ILD & Variable?
  constexpr bool is_searched(const fusion_group& group) const {
    std::optional<layout_class> so_far;
    for (node_id n : group.nodes) {
      const std::optional<layout_class> next = plan::layout_class_of(*g_.node_at(n).op);
      if (so_far && next) {
        const plan::layout_pair& pair = plan::about_layouts(*so_far, *next);
        so_far = pair.result ? pair.result : next;
      } else if (next) so_far = next;
    }
    return so_far == layout_class::ild_variable;
  }
  constexpr void find_wishes(std::size_t k) {
    const fusion_group& group = groups_.items[k];
    if (group.anchor == none || !is_searched(group)) return;
    const node& anchor = g_.node_at(group.anchor);
    const reduction_dimensions reduced(g_, stored);
    if (wants_channels(g_, anchor)) {
      const layout_wish::from how = is_disputed(anchor) ? layout_wish::from::disputed : layout_wish::from::channels;
      const axis_set channels{2};
      if (const value_id x = g_.input_of(anchor, 0); x != none)
        reduced.in_loads(group, x, channels, [&](value_id v, axis_set dims) { add({v, index(k), dims, how}); });
      for (value_id o : group.outputs) add({o, index(k), reduced.in_output(group, o, 1), how});
      return;
    }
    const bool rows = anchor.op->kind == form::row || anchor.op->kind == form::reduction;
    for (std::size_t i = 0; i < anchor.inputs.count; ++i) {
      const value_id x = g_.input_of(anchor, i);
      if (x == none || setup.items[x] != 0 || g_.at(x).type.dims.size() < 2) continue;
      reduced.in_loads(group, x, reduced.of_input(anchor, i), [&](value_id v, axis_set dims) {
        add({v, index(k), dims, rows ? layout_wish::from::rows : layout_wish::from::products});
      });
    }
  }
  static constexpr std::int32_t index(std::size_t k) { return static_cast<std::int32_t>(k); }
  constexpr void add(layout_wish w) {
    if (w.dims.bits == 0 || !is_free(w.v)) return;
    w.next = wish_.items[w.v];
    wish_.items[w.v] = index(wishes_.count);
    wishes_.push_back(w);
  }
  constexpr bool is_fulfilled(const layout_wish& w, const storage_order& o) const {
    if (w.how == layout_wish::from::disputed) return false;
    const shape& s = g_.at(w.v).type.dims;
    // What is reduced over as one dimension, such as the joined heads of attention, has all its parts innermost.
    const int parts = std::popcount(w.dims.bits);
    const axis_set innermost = contiguous_dimensions(s, o, std::max(contiguous_, parts));
    if (innermost.bits == 0 || (w.dims.bits & ~innermost.bits) == 0) return true;
    // Many rows are taken at a time where vectors of channels are full.
    return w.how == layout_wish::from::rows && has_channels_.items[w.v] != 0 &&
           are_full(s, contiguous_dimensions(s, o, contiguous_));
  }
  // Do vectors along these dimensions have few empty lanes?
  constexpr bool are_full(const shape& s, axis_set inner) const {
    for (std::size_t d = 0; d < s.size(); ++d)
      if (inner.has(d) && (!s[d].is_known() || s[d].value() % lanes_ == 0)) return true;
    return false;
  }

  // --- orders without a search
  constexpr void choose_undisputed() {
    storage_order of_rank[max_rank + 1];
    for (std::size_t rank = 0; rank <= max_rank; ++rank) of_rank[rank] = with_innermost(rank, {});
    for (std::size_t v = 0; v < g_.values.count; ++v) order.items[v] = of_rank[g_.values.items[v].type.dims.count];
    for (const layout_wish& w : wishes_)
      if (w.how == layout_wish::from::channels || w.how == layout_wish::from::disputed) {
        order.items[w.v] = with_innermost(order.items[w.v].size(), w.dims);
        has_channels_.items[w.v] = 1;
      }
  }
  // visit(v) for the values of a kernel that lie like what it iterates over, or like what it picks its planes from.
  constexpr void for_each_alike(std::size_t k, auto visit) const {
    const fusion_group& group = groups_.items[k];
    const node* const anchor = group.anchor == none ? nullptr : &g_.node_at(group.anchor);
    const shape& s = g_.at(anchor == nullptr ? group.outputs.items[0] : anchor->output).type.dims;
    const bool joins = anchor != nullptr && g_.is<op::concat>(*anchor);
    const shape* const from =
        anchor != nullptr && picks_from_planes(*anchor) ? &g_.at(g_.input_of(*anchor, 0)).type.dims : &s;
    for (value_id v : loads.items[k]) {
      const shape& of = g_.at(v).type.dims;
      if (of == s || of == *from || (joins && is_part(*anchor, v))) visit(v);
    }
    for (value_id o : group.outputs)
      if (g_.at(o).type.dims == s) visit(o);
  }
  constexpr bool is_part(const node& concat, value_id v) const {
    for (std::size_t i = 0; i < concat.inputs.count; ++i)
      if (g_.input_of(concat, i) == v) return true;
    return false;
  }
  // Does each plane of the output hold elements of the same plane of the input (Resize, Pad)?
  constexpr bool picks_from_planes(const node& anchor) const {
    if (anchor.op->properties.map != mapping::one_to_many || anchor.inputs.count == 0) return false;
    const shape& in = g_.at(g_.input_of(anchor, 0)).type.dims;
    if (in.size() != g_.at(anchor.output).type.dims.size()) return false;
    const footprint f = g_.footprint_of(anchor, 0);
    return f.axes.size() > 1 && f.axes[0] == needs::same(0) && f.axes[1] == needs::same(1);
  }
  // What nobody wishes channels of takes the order of what it is computed from.
  constexpr void follow_shapes() {
    for (std::size_t k = 0; k < groups_.count; ++k) {
      const fusion_group& group = groups_.items[k];
      if (group.setup) continue;
      value_id leader = none;
      for_each_alike(k, [&](value_id v) {
        if (leader == none && has_channels_.items[v] != 0 && !contains(group, g_.at(v).producer)) leader = v;
      });
      if (leader == none) continue;
      for_each_alike(k, [&](value_id v) {
        if (!contains(group, g_.at(v).producer) || !is_free(v) || has_channels_.items[v] != 0) return;
        if (g_.at(v).type.dims.size() != order.items[leader].size()) return;
        order.items[v] = order.items[leader];
        has_channels_.items[v] = 1;
      });
    }
  }

  // --- contested values
  constexpr std::size_t free_values() const {
    std::size_t n = 0;
    for (std::size_t v = 0; v < g_.values.count; ++v) n += is_free(static_cast<value_id>(v)) ? 1u : 0u;
    return n;
  }
  // A kernel that has no wish, but goes over values that lie otherwise than others.
  constexpr void find_disagreement(std::size_t k, auto add_order) {
    value_id first = none, other = none;
    for_each_alike(k, [&](value_id v) {
      if (setup.items[v] != 0) return;
      if (first == none) first = v;
      else if (order.items[v].size() == order.items[first].size() &&
               !is_same_order(g_.at(v).type.dims, order.items[v], order.items[first]))
        other = v;
    });
    if (other == none) return;
    const storage_order a = order.items[first], b = order.items[other];
    for_each_alike(k, [&](value_id v) {
      if (setup.items[v] != 0 || order.items[v].size() != a.size()) return;
      add_order(v, a);
      add_order(v, b);
    });
  }
  constexpr void find_contested(bool all) {
    vector<value_id> waiting;
    const auto add_order = [&](value_id v, const storage_order& o) {
      if (!is_free(v)) return;
      const bool is_new = entry_.items[v] == none;
      if (is_new) {
        entry_.items[v] = index(contested_.count);
        contested_.push_back({v, {order.items[v]}});
      }
      if ((offer(v, o) || is_new)) waiting.push_back(v);
    };
    for (std::size_t v = 0; v < g_.values.count; ++v) {
      const auto id = static_cast<value_id>(v);
      if (!all && (wish_.items[v] == none || are_content(id, order.items[v]))) continue;
      if (!is_free(id)) continue;
      add_order(id, order.items[v]);
      offer_wishes(id);
    }
    for (std::size_t k = 0; k < groups_.count; ++k)
      if (!groups_.items[k].setup) find_disagreement(k, add_order);
    if (waiting.empty()) return;
    vector<vector<std::uint32_t>> touching = groups_of_values();
    for (std::size_t i = 0; i < waiting.count; ++i) {
      const value_id v = waiting.items[i];
      for (std::uint32_t k : touching.items[v])
        for_each_alike(k, [&](value_id other) {
          if (other == v || !is_free(other) || !(g_.at(other).type.dims == g_.at(v).type.dims)) return;
          if (has_wishes(other) && !is_contested(other)) return;
          const vector<storage_order> orders = orders_of(v);
          for (const storage_order& o : orders) add_order(other, o);
        });
    }
  }
  // Adds an order that v does not have yet, while there are few.
  constexpr bool offer(value_id v, const storage_order& o) {
    vector<storage_order>& orders = contested_.items[entry_.items[v]].orders;
    for (const storage_order& known : orders)
      if (is_same_order(g_.at(v).type.dims, known, o)) return false;
    if (orders.count == most_orders) return false;
    orders.push_back(o);
    return true;
  }
  constexpr void offer_wishes(value_id v) {
    const std::size_t rank = order.items[v].size();
    if (contiguous_ > 1) offer_pairs(v);
    offer(v, with_innermost(rank, {}));
    for (std::int32_t w = wish_.items[v]; w != none; w = wishes_.items[w].next)
      offer(v, with_innermost(rank, wishes_.items[w].dims));
  }
  // Where memory keeps two dimensions contiguous: one of each of two wishes, the inner one last.
  constexpr void offer_pairs(value_id v) {
    const std::size_t rank = order.items[v].size();
    for (std::int32_t a = wish_.items[v]; a != none; a = wishes_.items[a].next)
      for (std::int32_t b = wishes_.items[a].next; b != none; b = wishes_.items[b].next) {
        const axis_set first = last_of(v, wishes_.items[a].dims), second = last_of(v, wishes_.items[b].dims);
        if (first.bits != second.bits) offer(v, with_innermost(rank, {first.bits | second.bits}));
      }
  }
  constexpr axis_set last_of(value_id v, axis_set dims) const {
    axis_set last;
    for (std::size_t d = 0; d < order.items[v].size(); ++d)
      if (dims.has(d)) last = {1u << d};
    return last;
  }
  constexpr vector<vector<std::uint32_t>> groups_of_values() const {
    vector<vector<std::uint32_t>> touching(g_.values.count);
    for (std::size_t k = 0; k < groups_.count; ++k) {
      if (groups_.items[k].setup) continue;
      for (value_id v : loads.items[k]) touching.items[v].push_back(static_cast<std::uint32_t>(k));
      for (value_id v : groups_.items[k].outputs) touching.items[v].push_back(static_cast<std::uint32_t>(k));
    }
    return touching;
  }

  vector<layout_wish> wishes_;
  vector<std::int32_t> wish_;   // of values: the last of the wishes about it
  vector<std::int32_t> entry_;  // of values: the number of a contested one
  vector<std::uint8_t> has_channels_;
  vector<contested_value_orders> contested_;
};

}  // namespace dnnkit::detail
