// SPDX-License-Identifier: MIT
// Pass: pairs of kernels that run in turns on strips of rows, so that what the first hands to the second stays in the
// cache and needs room for a few rows only. Fusing two convolutions into one kernel is what Table 3.3 of DNNFusion
// forbids; running them in turns keeps both kernels and still spares the trip to memory.
// A pair: a convolution whose only result is read, unpadded and once, by a convolution that looks at one row at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/pass/schedule.hpp"

namespace dnnkit::passes {

struct plan_strips {
  static constexpr std::string_view name = "plan strips";
  static constexpr std::int64_t narrow = 64;              // pixels; a strip of fewer has more rows
  static constexpr std::uint8_t slots = 4;                // strips that may be in work at once, by as many threads
  static constexpr std::int64_t worthwhile = 512 * 1024;  // bytes handed over; less stays in the cache anyway

  // Gives the value between the kernels of each pair a window in its layout, where the target gains from it
  // (cost/target.hpp).
  template <class Target> static constexpr void run(schedule& s) {
    if constexpr (Target::row_strips) find_pairs(s);
  }

 private:
  static constexpr void find_pairs(schedule& s) {
    const graph& g = s.g;
    const fusion_plan& fusion = s.fusion;
    if (!has_operator<op::conv>(g)) return;
    if (s.layouts.empty()) s.layouts = row_major_layouts(g);  // no pass has chosen any
    const auto users = users_of_values(g);
    const guard_sets guards(g);
    for (std::size_t k = 0; k + 1 < fusion.groups.count; ++k) {
      const fusion_group &first = fusion.groups.items[k], &second = fusion.groups.items[k + 1];
      if (first.setup || second.setup || !is_convolution(g, first) || !is_convolution(g, second)) continue;
      if (first.outputs.size() != 1 || !stays_inside(g, first)) continue;
      const value_id between = first.outputs[0];
      const node& reader = g.node_at(second.anchor);
      if (g.input_of(reader, 0) != between || users[between].size() != 1 || is_output(g, between) ||
          !stays_inside(g, second) || !looks_at_one_row(g, reader) ||
          guards.of_kernel(g, first.nodes) != guards.of_kernel(g, second.nodes))
        continue;
      buffer_layout& l = s.layouts[static_cast<std::size_t>(between)];
      const bool bordered = has_border(l), large = is_large(g.at(between).type);
      note(s, first, second, between,
           bordered ? "what lies between them has a border"
           : large  ? "what the first hands to the second stays in the cache"
                    : "what the first hands to the second stays in the cache as a whole",
           !bordered && large);
      if (bordered || !large) continue;
      l.window = rows_of(g.at(between).type.dims[3]);
      l.slots = slots;
      ++k;  // the second kernel is taken
    }
  }

  static constexpr void note(schedule& s, const fusion_group& first, const fusion_group& second, value_id between,
                             std::string_view reason, bool paired) {
    if (!s.logged) return;
    decision d{name, paired ? "run in turns on strips of rows" : "run one after the other", reason};
    d.first = first.anchor;
    d.second = second.anchor;
    d.value = between;
    d.applied = paired;
    const std::optional<std::int64_t> bytes = bytes_of(s.g.at(between).type);
    if (!bytes) s.notes().add(d, {{"worthwhile from", "bytes", static_cast<double>(worthwhile)}});
    else
      s.notes().add(d, {{"handed over", "bytes", static_cast<double>(*bytes)},
                        {"worthwhile from", "bytes", static_cast<double>(worthwhile)}});
  }
  static constexpr bool is_convolution(const graph& g, const fusion_group& group) {
    return group.anchor != none && group.reach.empty() && g.is<op::conv>(g.node_at(group.anchor)) &&
           g.at(g.node_at(group.anchor).output).type.dims.size() == 4 &&
           g.at(g.node_at(group.anchor).output).type.dims[0] == dim(1) &&
           g.as<op::conv>(g.node_at(group.anchor)).group == 1;
  }
  // The convolution reads a stored value as it is, not the caller's input.
  static constexpr bool stays_inside(const graph& g, const fusion_group& group) {
    const value_id x = g.input_of(g.node_at(group.anchor), 0);
    if (g.at(x).from != origin::node || is_output(g, x)) return false;
    for (node_id n : group.nodes)
      if (n == g.at(x).producer) return false;
    return true;
  }
  static constexpr bool looks_at_one_row(const graph& g, const node& convolution) {
    const shape& weight = g.at(g.input_of(convolution, 1)).type.dims;
    const op::conv c = g.as<op::conv>(convolution);
    const window w = c.over([&](std::size_t i) { return weight[i].value(); }, 2);
    return w.kernel(0) == 1 && w.stride(0) == 1 && w.pad_begin(0) == 0 && w.pad_end(0) == 0;
  }
  // The fewer rows, the nearer the cache that holds them; but the kernels want a few tiles of pixels.
  static constexpr std::uint8_t rows_of(dim width) { return width.is_known() && width.value() < narrow ? 4 : 1; }
  static constexpr bool has_border(const buffer_layout& l) {
    for (std::size_t i = 0; i < l.before.size(); ++i)
      if (l.before[i] != 0 || l.after[i] != 0) return true;
    return false;
  }
  // Nothing where a symbol decides.
  static constexpr std::optional<std::int64_t> bytes_of(const tensor_type& t) {
    std::int64_t bytes = static_cast<std::int64_t>(size_of(t.type));
    for (dim d : t.dims) {
      if (!d.is_known()) return std::nullopt;
      bytes *= d.value();
    }
    return bytes;
  }
  static constexpr bool is_large(const tensor_type& t) { return bytes_of(t).value_or(worthwhile + 1) > worthwhile; }
};

}  // namespace dnnkit::passes
