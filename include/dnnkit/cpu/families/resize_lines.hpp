// SPDX-License-Identifier: MIT
// The kernel of Resize along the axis that its output is contiguous in: from the line of the input that those around
// one of the output make, which is kept for as long as the next lines need the same, its elements are picked.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/families/resize_kernel.hpp"
#include "dnnkit/cpu/micro/picked.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct resize_lines {
  static constexpr std::string_view name = "resize_lines";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::resize>; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    const auto resize = spec.anchor<op::resize>();
    const std::size_t along = lane_axis(spec);
    if (const std::string_view why = unfit_for_lines(spec, along); !why.empty()) return no_match{why};
    if (!is_resampled(spec, resize, along)) return no_match{"lines of the output are as long as those of the input"};

    const auto neighbours = static_cast<double>(resize.most_neighbours());
    const vector_rows pieces = rows_along(spec, facts, along, true);
    const double of_line = vectors_of(facts, static_cast<double>(known_or_typical(spec.extent_of(0, along))));
    const double input = tree_cost(spec, facts, along, facts.float_lanes).value(spec.input(0));
    const double read = pieces.rows * of_line * lines_around(spec, resize, along), picked = pieces.vectors * neighbours;
    return element_choice(spec, facts, along, true,
                          {.evaluated = 0,
                           .cycles = read * (input + facts.costs.simple + facts.costs.store) +
                                     picked * (2 * facts.costs.load + 2 * facts.costs.simple)},
                          "lines of the input, from which those of the output pick in vectors");
  }

  template <class Net, std::size_t R> struct kernel;
};

template <class Net, std::size_t R>
struct resize_lines::kernel : resize_kernel<Net, R, recipe_access<Net, R>::choice.tile.along> {
  using common = resize_kernel<Net, R, recipe_access<Net, R>::choice.tile.along>;
  using common::along, common::most, common::takes_means, common::width;
  using typename common::held, typename common::neighbours, typename common::number, typename common::weights;
  using positions = vec<std::int32_t, width>;

  // --- what every vector of a line is picked from, behind the tables
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept {
    return common::table_bytes(call) + vectors(call) * static_cast<std::int64_t>(sizeof(piece));
  }
  static index_t prepare_units(const kernel_call& call) noexcept { return common::table_entries(call) + vectors(call); }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept {
    auto* const pieces = reinterpret_cast<piece*>(call.scratch + common::table_bytes(call));
    const index_t entries = common::table_entries(call);
    for (index_t u = first; u < last; ++u) {
      if (u < entries) {
        common::fill_entry(call, u);
        continue;
      }
      const index_t v = u - entries;
      pieces[v] = piece_of(call, v);
      if (v + 1 < vectors(call)) pieces[v].repeats = are_alike(pieces[v], piece_of(call, v + 1));
    }
  }

  // Two lines, up to whole vectors, behind each of which a vector can be read.
  static index_t line_size(const kernel_call& call) { return common::pixel_stride(call) + width; }
  static std::int64_t worker_bytes(const kernel_call& call) noexcept {
    return 2 * line_size(call) * static_cast<std::int64_t>(sizeof(number));
  }
  // The next line is put together before elements are picked from the one in front of it: processors wait for what they
  // read right behind its being written, where vectors read are not those written.
  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto* const pieces = reinterpret_cast<const piece*>(call.scratch + common::table_bytes(call));
    line_of_input one, other;
    one.at = reinterpret_cast<number*>(call.worker);
    other.at = one.at + line_size(call);
    line_of_input *current = &one, *next = &other;
    coordinates at{};
    common::for_units(call, first, last, [&](const coordinates& c) {
      common::find_lines(call, c, next->around);
      const bool is_other = !(next->around == current->around);
      if (is_other) common::put_together(call, next->around, {0, 1}, next->at);
      if (current->around.count != 0) pick(call, at, pieces, current->at);
      if (is_other) std::swap(next, current);
      at = c;
    });
    if (current->around.count != 0) pick(call, at, pieces, current->at);
  }

 private:
  struct line_of_input {
    typename common::lines around;  // that it was made of
    number* at;
  };
  struct piece {
    index_t first = 0;     // of the line, from which positions count
    bool is_near = false;  // all of them lie within the vector there
    bool repeats = false;  // the next piece has the same positions and weights
    positions at[most];    // of the first neighbours of all lanes, of the second
    weights weight[takes_means ? most : 1];
  };

  static index_t vectors(const kernel_call& call) {
    return ceil_div(common::output_extent(call, along), index_t{width});
  }
  static piece piece_of(const kernel_call& call, index_t v) {
    piece p;
    std::array<neighbours, width> of;
    const index_t last = common::output_extent(call, along) - 1;
    for (int lane = 0; lane < width; ++lane)
      of[lane] = common::without_zeros(
          common::anchor.neighbours_of(anchor_context<Net, R>{call}, along, std::min(v * width + lane, last)));
    if constexpr (detail::has_permutation<held, positions>) {
      index_t low = of[0].positions[0], high = low;
      for (const neighbours& n : of)
        for (std::size_t k = 0; k < most; ++k) {
          low = std::min(low, n.positions[k]);
          high = std::max(high, n.positions[k]);
        }
      p.is_near = high - low < width;
      if (p.is_near) p.first = low;
    }
    for (std::size_t k = 0; k < most; ++k)
      for (int lane = 0; lane < width; ++lane) {
        p.at[k].set(lane, static_cast<std::int32_t>(of[lane].positions[k] - p.first));
        if constexpr (takes_means) p.weight[k].set(lane, of[lane].weights[k]);
      }
    return p;
  }
  static bool are_alike(const piece& one, const piece& other) {
    if (!one.is_near || !other.is_near) return false;
    bool same = true;
    for (std::size_t k = 0; k < most; ++k) {
      same = same && all(one.at[k] == other.at[k]);
      if constexpr (takes_means) same = same && all(one.weight[k] == other.weight[k]);
    }
    return same;
  }

  static void pick(const kernel_call& of, coordinates c, const piece* pieces, const number* line) {
    const local_operands<Net, R> operands(of);
    const kernel_call call = operands.call();
    const index_t extent = common::output_extent(call, along), whole = extent / width;
    index_t v = 0;
    while (v < whole) {
      const piece p = pieces[v];
      if constexpr (detail::has_permutation<held, positions>) {
        if (p.is_near) {
          bool repeats = true;
          for (; repeats && v < whole; ++v) {
            repeats = pieces[v].repeats;
            c[along] = v * width;
            const held from = held::load(line + pieces[v].first);
            const held x = mean(p, [&](std::size_t k) { return held(isa::permuted(from.v, p.at[k].v)); });
            common::values::template finish<width, along>(call, c, constant<width>{}, common::as_result(x));
          }
          continue;
        }
      }
      c[along] = v++ * width;
      common::values::template finish<width, along>(call, c, constant<width>{}, picked_mean(p, line));
    }
    if (v * width == extent) return;
    c[along] = v * width;
    common::values::template finish<width, along>(call, c, extent - v * width, picked_mean(pieces[v], line));
  }
  [[gnu::always_inline]] static auto picked_mean(const piece& p, const number* line) {
    return common::as_result(mean(p, [&](std::size_t k) { return picked<held>(line + p.first, p.at[k]); }));
  }
  // Of the elements that of(k) gets for all lanes, or the only ones.
  [[gnu::always_inline]] static held mean(const piece& p, auto&& of) {
    if constexpr (!takes_means) {
      return of(0);
    } else {
      weights sum = of(0) * p.weight[0];
#pragma GCC unroll 4
      for (std::size_t k = 1; k < most; ++k) sum = fma(of(k), p.weight[k], sum);
      return sum;
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
