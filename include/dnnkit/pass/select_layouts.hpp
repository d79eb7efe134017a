// SPDX-License-Identifier: MIT
// Pass: where the coordinates of each stored value lie (SmartMem, section 3.3: a producer writes contiguously what its
// reader reduces over). Values that convolutions and pools read or write are channels last, and so is what is computed
// from them element by element, or picked from their planes (Resize, Pad). Where that would leave vector lanes empty -
// few channels, not a multiple of a vector - a whole stretch of convolutions may be channels first instead, with
// vectors along rows: the families of kernels are asked what each layout would cost (pass/layout_costs.hpp), and the
// cheaper one is taken; without families, the one that takes fewer multiply-adds. A value that a convolution reads as
// it is carries a halo as wide as the padding. Inputs and outputs of the graph stay row-major. Target says whether it
// gains from any of this, and how many lanes a vector has (cost/target.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/pass/layout_costs.hpp"
#include "dnnkit/pass/layout_tables.hpp"
#include "dnnkit/pass/schedule.hpp"

namespace dnnkit {

namespace detail {

inline constexpr std::string_view name_of_layout_selection = "select layouts";

template <class Target> class layout_selection {
 public:
  // One layout for each value of the graph; those of values that are not stored mean nothing.
  static constexpr vector<buffer_layout> run(graph& g, const fusion_plan& fusion, const family_table& families,
                                             decision_notes notes) {
    if (!any_wants_channels(g, fusion)) return row_major_layouts(g);
    layout_selection s(g, notes);
    s.find_stretches(fusion);
    for (stretch& of : s.stretches_) of.planar_first = of.leaves_lanes_empty();
    if constexpr (requires { Target::facts; })
      if (families) s.compare_costs(g, fusion, *families);
    const vector<buffer_layout> layouts = s.layouts(fusion);
    if (notes.wanted()) s.note_halos(fusion), s.note_orders(fusion);
    return layouts;
  }

 private:
  constexpr layout_selection(graph& g, decision_notes notes)
      : g_(g), notes_(notes), spatial_(g.values.size(), 0), parent_(g.values.size()), stretches_(g.values.size()) {
    for (std::size_t v = 0; v < parent_.size(); ++v) parent_[v] = static_cast<value_id>(v);
  }

  static constexpr std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  // --- stretches: values that share one storage order, joined by the kernels that read some and write others
  struct stretch {
    // In either order: multiply-adds of its convolutions, empty lanes included, and cycles of all its kernels, where
    // the families were asked.
    double last = 0, planar = 0, cycles_last = 0, cycles_planar = 0;
    bool must_be_last = false, planar_first = false;
    constexpr bool leaves_lanes_empty() const { return !must_be_last && last > planar; }
  };
  // Shortens the way for the next time, so that a chain of convolutions takes time in proportion to its length.
  constexpr value_id root(value_id v) {
    value_id* const parent = parent_.items;
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  }
  constexpr void join(value_id a, value_id b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    parent_[index(b)] = a;
    stretch& s = stretches_[index(a)];
    const stretch& other = stretches_[index(b)];
    s.last += other.last;
    s.planar += other.planar;
    s.must_be_last = s.must_be_last || other.must_be_last;
  }
  constexpr bool is_planar(value_id v) { return stretches_[index(root(v))].planar_first; }

  // --- costs
  // Asks the families about the stretches that would leave lanes empty channels last, one after the other: what the
  // kernels that touch its values take in either order, all others being channels last.
  constexpr void compare_costs(graph& g, const fusion_plan& fusion, std::span<const kernel_family> families) {
    bool any = false;
    for (std::size_t v = 0; v < stretches_.size(); ++v)
      if (parent_[v] == static_cast<value_id>(v) && stretches_[v].planar_first) {
        any = true;
        stretches_[v].planar_first = false;
      }
    if (!any) return;
    const vector<buffer_layout> last = layouts(fusion);
    layout_costs of_last(g, fusion, last, families, Target::facts);
    for (std::size_t v = 0; v < stretches_.size(); ++v) {
      stretch& s = stretches_[v];
      if (parent_[v] != static_cast<value_id>(v) || !s.leaves_lanes_empty()) continue;
      s.planar_first = true;
      const vector<buffer_layout> planar = layouts(fusion);
      layout_costs of_planar(g, fusion, planar, families, Target::facts);
      for (const fusion_group& group : fusion.groups)
        if (!group.setup && touches(group, static_cast<value_id>(v))) {
          s.cycles_last += of_last.cycles(group);
          s.cycles_planar += of_planar.cycles(group);
        }
      s.planar_first = s.cycles_planar < s.cycles_last;
    }
  }
  constexpr bool touches(const fusion_group& group, value_id of) {
    const auto is_of = [&](value_id v) { return v != none && spatial_[index(v)] != 0 && root(v) == of; };
    for (value_id o : group.outputs)
      if (is_of(o)) return true;
    for (node_id n : group.nodes)
      for (std::size_t i = 0; i < g_.node_at(n).inputs.count; ++i)
        if (is_of(g_.input_of(g_.node_at(n), i))) return true;
    return false;
  }
  // The value that v is some of the channels of, or v: where it lies decides where these do.
  constexpr value_id all_channels_of(value_id v) const {
    for (node_id p = g_.at(v).producer; p != none && g_.is<op::slice>(g_.node_at(p)); p = g_.at(v).producer) {
      const value_id whole = g_.input_of(g_.node_at(p), 0);
      const shape &of_part = g_.at(v).type.dims, &of_whole = g_.at(whole).type.dims;
      for (std::size_t d = 0; d < of_whole.size(); ++d)
        if (d != 1 && !(of_part[d] == of_whole[d])) return v;
      v = whole;
    }
    return v;
  }
  // A value whose order is ours to choose.
  constexpr bool is_free(value_id v) const {
    return v != none && g_.at(v).from == origin::node && g_.at(v).type.dims.size() >= 3 && !is_output(g_, v);
  }

  constexpr void find_stretches(const fusion_plan& fusion) {
    for (const fusion_group& group : fusion.groups)
      if (!group.setup && group.anchor != none && is_searched(g_, group) &&
          wants_channels(g_, g_.node_at(group.anchor))) {
        const value_id x = all_channels_of(g_.input_of(g_.node_at(group.anchor), 0));
        const value_id y = g_.node_at(group.anchor).output;
        if (is_free(x)) spatial_[index(x)] = 1;
        for (value_id o : group.outputs) {
          if (turns_channels(group, o)) continue;  // what is written along other axes has the order of its own
          if (is_free(o)) spatial_[index(o)] = 1;
          join(y, o);
        }
        if (is_free(x)) join(y, x);
        add_cost(g_.node_at(group.anchor), stretches_[index(root(y))]);
      }
    for (const fusion_group& group : fusion.groups)
      if (!group.setup) follow_operands(group);
  }
  // Does the kernel store v with another axis for the channels than its anchor has?
  constexpr bool turns_channels(const fusion_group& group, value_id v) const {
    for (node_id n : group.nodes)
      if (const node& t = g_.node_at(n); g_.is<op::transpose>(t) && n > group.anchor) {
        const int_list order = g_.as<op::transpose>(t).order(g_.at(t.output).type.dims.size());
        if (order[1] != 1 &&
            (t.output == v || !same_shape(g_.at(v).type.dims, g_.at(g_.node_at(group.anchor).output).type.dims)))
          return true;
      }
    return false;
  }
  // What a kernel computes from spatial values of its own shape, or picks from the planes of such, takes their order.
  constexpr void follow_operands(const fusion_group& group) {
    const value_id y = group.outputs[0];
    const shape& s = g_.at(group.anchor == none ? y : g_.node_at(group.anchor).output).type.dims;
    const bool picks = group.anchor != none && picks_from_planes(g_.node_at(group.anchor));
    const shape& from = picks ? g_.at(g_.input_of(g_.node_at(group.anchor), 0)).type.dims : s;
    for (node_id n : group.nodes)
      for (std::size_t i = 0; i < g_.node_at(n).inputs.count; ++i) {
        const value_id v = g_.input_of(g_.node_at(n), i);
        if (v == none || spatial_[index(v)] == 0) continue;
        if (!(g_.at(v).type.dims == s) && !(g_.at(v).type.dims == from)) continue;
        join(y, v);
        for (value_id o : group.outputs)
          if (is_free(o) && g_.at(o).type.dims == s) spatial_[index(o)] = 1;
      }
  }
  // Does each plane of the output hold elements of the same plane of the input (Resize, Pad)?
  constexpr bool picks_from_planes(const node& anchor) const {
    const shape& in = g_.at(g_.input_of(anchor, 0)).type.dims;
    if (anchor.op->properties.map != mapping::one_to_many || in.size() != g_.at(anchor.output).type.dims.size())
      return false;
    const footprint f = g_.footprint_of(anchor, 0);
    return f.axes.size() > 1 && f.axes[0] == needs::same(0) && f.axes[1] == needs::same(1);
  }
  // Does SmartMem's Table 6 have the layouts of the kernel's operands and results searched: is its class, that of its
  // operators one after the other, ILD & Variable?
  static constexpr bool is_searched(const graph& g, const fusion_group& group) {
    std::optional<layout_class> so_far;
    for (node_id n : group.nodes) {
      const std::optional<layout_class> next = plan::layout_class_of(*g.node_at(n).op);
      if (so_far && next) {
        const plan::layout_pair& pair = plan::about_layouts(*so_far, *next);
        so_far = pair.result ? pair.result : next;
      } else if (next) so_far = next;
    }
    return so_far == layout_class::ild_variable;
  }
  static constexpr bool wants_channels(const graph& g, const node& anchor) {
    const std::size_t rank = g.at(anchor.output).type.dims.size();
    return anchor.op->properties.contiguous_axis == 1 && rank >= 3 && rank <= 5;
  }
  static constexpr bool any_wants_channels(const graph& g, const fusion_plan& fusion) {
    for (std::size_t k = 0; k < fusion.groups.count; ++k)
      if (const fusion_group& group = fusion.groups.items[k];
          !group.setup && group.anchor != none && wants_channels(g, g.nodes.items[group.anchor]))
        return true;
    return false;
  }

  constexpr void add_cost(const node& anchor, stretch& s) const {
    const shape& out = g_.at(anchor.output).type.dims;
    if (!g_.is<op::conv>(anchor) || out.size() > 4) {
      s.must_be_last = true;
      return;
    }
    const shape& weight = g_.at(g_.input_of(anchor, 1)).type.dims;
    const op::conv c = g_.as<op::conv>(anchor);
    const window w = c.over([&](std::size_t i) { return weight[i].value(); }, weight.size() - 2);
    if (c.group != 1 || w.stride(weight.size() - 3) != 1) s.must_be_last = true;
    double work = static_cast<double>(w.taps());  // multiply-adds for one channel pair, up to common factors
    for (std::size_t i = 2; i < out.size(); ++i)
      if (out[i].is_known()) work *= static_cast<double>(out[i].value());
    work *= static_cast<double>(weight[1].value());
    const std::int64_t known_width = out.back().is_known() ? out.back().value() : 16 * Target::float_lanes;
    const std::int64_t width = known_width > 0 ? known_width : 1;
    s.last += work * padded(weight[0].value());
    s.planar += work * static_cast<double>(weight[0].value()) * padded(width) / static_cast<double>(width);
  }
  // n rounded up to whole vectors
  static constexpr double padded(std::int64_t n) {
    return static_cast<double>((n + Target::float_lanes - 1) / Target::float_lanes * Target::float_lanes);
  }

  // --- layouts
  constexpr vector<buffer_layout> layouts(const fusion_plan& fusion) {
    vector<buffer_layout> layouts = row_major_layouts(g_);
    for (std::size_t v = 0; v < g_.values.count; ++v)
      if (spatial_.items[v] != 0 && !is_planar(static_cast<value_id>(v))) put_channels_last(layouts[v]);
    for (const fusion_group& group : fusion.groups)
      if (group.anchor != none && !group.setup) add_halo(group.anchor, layouts);
    return layouts;
  }
  static constexpr void put_channels_last(buffer_layout& l) {
    l.order.erase(1);
    l.order.push_back(1);
  }
  // Makes room for what a convolution reads beyond its input. Returns how much that is, on all sides together.
  constexpr std::int64_t add_halo(node_id reader, vector<buffer_layout>& layouts) const {
    const node& anchor = g_.node_at(reader);
    if (!g_.is<op::conv>(anchor)) return 0;  // others may have no operand 0
    const value_id x = all_channels_of(g_.input_of(anchor, 0));
    if (spatial_[index(x)] == 0) return 0;
    const shape& weight = g_.at(g_.input_of(anchor, 1)).type.dims;
    const window w = g_.as<op::conv>(anchor).over([&](std::size_t i) { return weight[i].value(); }, weight.size() - 2);
    buffer_layout& l = layouts[index(x)];
    std::int64_t pads = 0;
    for (std::size_t i = 0; i + 2 < weight.size(); ++i) {
      widen(l.before[i + 2], w.pad_begin(i));
      widen(l.after[i + 2], w.pad_end(i));
      pads += w.pad_begin(i) + w.pad_end(i);
    }
    return pads;
  }
  static constexpr void widen(std::uint8_t& border, std::int64_t pad) {
    constexpr std::int64_t widest = 255;  // a wider border is made in scratch memory
    const std::int64_t width = pad < widest ? pad : widest;
    if (border < width) border = static_cast<std::uint8_t>(width);
  }

  constexpr void note_halos(const fusion_plan& fusion) const {
    vector<buffer_layout> layouts = row_major_layouts(g_);
    for (const fusion_group& group : fusion.groups) {
      if (group.anchor == none || group.setup || add_halo(group.anchor, layouts) == 0) continue;
      decision d{name_of_layout_selection, "halo", "a convolution reads it padded"};
      d.second = group.anchor;
      d.value = all_channels_of(g_.input_of(g_.node_at(group.anchor), 0));
      notes_.add(d);
    }
  }

  // Why the coordinates of each value that is stored lie as they do.
  constexpr void note_orders(const fusion_plan& fusion) {
    for (const fusion_group& group : fusion.groups)
      for (value_id v : group.outputs)
        if (!group.setup) note_order(v);
  }
  constexpr void note_order(value_id v) {
    const auto say = [&](std::string_view verdict, std::string_view reason, bool compared) {
      decision d{name_of_layout_selection, verdict, reason};
      d.value = v;
      const stretch& s = stretches_[index(root(v))];
      if (!compared) notes_.add(d);
      else if (s.cycles_last > 0)
        notes_.add(d, {{"channels last", "cycles", s.cycles_last}, {"channels first", "cycles", s.cycles_planar}});
      else
        notes_.add(d, {{"channels last", "multiply-adds, empty lanes included", s.last},
                       {"channels first", "multiply-adds, empty lanes included", s.planar}});
    };
    if (is_output(g_, v)) return say("row-major", "the caller's memory is row-major", false);
    if (spatial_[index(v)] == 0)
      return say("row-major", "no kernel that works along channels reads or writes it", false);
    const stretch& s = stretches_[index(root(v))];
    if (is_planar(v))
      return say("channels first", "channels last would leave lanes of vectors empty, and its kernels take longer",
                 true);
    if (s.must_be_last)
      return say(
          "channels last",
          "pools, and convolutions with groups or strides, are fast channels last alone, and one shares its order",
          false);
    if (s.cycles_last > 0)
      return say("channels last", "it leaves lanes of vectors empty, and its kernels take no longer", true);
    say("channels last", "vectors of channels leave no more lanes empty than vectors along rows would", true);
  }

  graph& g_;
  decision_notes notes_;
  vector<std::uint8_t> spatial_;  // read or written by a convolution or pool, or following such a value
  vector<value_id> parent_;
  vector<stretch> stretches_;  // of roots
};

}  // namespace detail

namespace passes {

struct select_layouts {
  static constexpr std::string_view name = detail::name_of_layout_selection;
  template <class Target> static constexpr void run(schedule& s) {
    if (s.has_stages()) return s.come_too_late(name, "stages of kernels");
    if constexpr (Target::channels_last)
      s.layouts = detail::layout_selection<Target>::run(s.g, s.fusion, s.families, s.notes());
    else s.layouts = row_major_layouts(s.g);
  }
};

}  // namespace passes

}  // namespace dnnkit
