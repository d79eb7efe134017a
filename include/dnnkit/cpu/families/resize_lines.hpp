// SPDX-License-Identifier: MIT
// The kernel of Resize along the axis that its output is contiguous in. What an output position is a mean of along that
// axis is computed once a run; of each line of the output, the lines of the input around it become one first, which is
// kept for as long as the next lines need the same.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/cpu/micro/picked.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct resize_lines {
  static constexpr std::string_view name = "resize_lines";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::resize>; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    const auto resize = spec.anchor<op::resize>();
    const std::size_t along = lane_axis(spec), most = resize.most_neighbours();
    if (spec.is_setup()) return no_match{"it runs once"};
    if (most == 0) return no_match{"how many elements one is a mean of depends on the scale, or some lie outside"};
    if (spec.rank() == 0 || resize.keeps(along, spec.extent_of(0, along) == spec.space(along)))
      return no_match{"lines of the output are as long as those of the input"};
    const dtype type = spec.anchor_type();
    if (most > 1 && !is_computed_in_f32(type) && !(is_byte(type) && most == 2))
      return no_match{"means are taken of 32-bit floats, or of two bytes"};

    const auto neighbours = static_cast<double>(most);
    double lines = 1;  // of the input that one is put together from
    for (std::size_t d = 0; d < spec.rank(); ++d)
      if (d != along && !resize.keeps(d, spec.extent_of(0, d) == spec.space(d))) lines *= neighbours;
    const vector_rows pieces = rows_along(spec, facts, along, true);
    const double of_line = vectors_of(facts, static_cast<double>(known_or_typical(spec.extent_of(0, along))));
    const double input = tree_cost(spec, facts, along, facts.float_lanes).value(spec.input(0));
    const double read = pieces.rows * of_line * lines, picked = pieces.vectors * neighbours;
    return element_choice(spec, facts, along, true,
                          {.evaluated = 0,
                           .cycles = read * (input + facts.costs.simple + facts.costs.store) +
                                     picked * (2 * facts.costs.load + 2 * facts.costs.simple)},
                          "lines of the input, from which those of the output pick in vectors");
  }

  template <class Net, std::size_t R> struct kernel;
};

template <class Net, std::size_t R> struct resize_lines::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr op::resize anchor = anchor_of<Net, R>::value;
  static constexpr std::size_t along = access::choice.tile.along, most = anchor.most_neighbours();
  static constexpr int width = access::choice.tile.lanes;
  static constexpr dtype type = access::self.anchor_type;
  static constexpr bool takes_means = most > 1;
  using result = lanes<type, width>;
  using held = std::conditional_t<takes_means, vec<float, width>, result>;  // of the line
  using number = typename held::value_type;
  using weights = vec<float, width>;
  using positions = vec<std::int32_t, width>;

  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, along); }

  // --- the neighbours of every position of a line, in vectors: positions and weights of the first ones, of the second
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept {
    return vectors(output_line(call)) * static_cast<std::int64_t>(sizeof(piece));
  }
  static index_t prepare_units(const kernel_call& call) noexcept { return vectors(output_line(call)); }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept {
    auto* const pieces = reinterpret_cast<piece*>(call.scratch);
    const anchor_context<Net, R> context{call};
    const index_t extent = output_line(call);
    for (index_t v = first; v < last; ++v)
      for (int lane = 0; lane < width; ++lane)
        set(pieces[v], lane, anchor.neighbours_of(context, along, std::min(v * width + lane, extent - 1)));
  }

  static std::int64_t worker_bytes(const kernel_call& call) noexcept {
    return (vectors(input_line(call)) + 1) * static_cast<std::int64_t>(sizeof(held));
  }
  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto* const pieces = reinterpret_cast<const piece*>(call.scratch);
    auto* const line = reinterpret_cast<number*>(call.worker);
    const index_t extent = output_line(call);
    surroundings held_now;
    for (index_t row = first; row < last; ++row) {
      coordinates c = row_coordinates<Net, R>(call, along, row);
      const surroundings around = surroundings_of(call, c);
      if (row == first || !(around == held_now)) put_together(call, around, line);
      held_now = around;
      const piece* p = pieces;
      for_lanes<width, along>(c, extent,
                              [&](auto n) { values::template finish<width, along>(call, c, n, mean(*p++, line)); });
    }
  }

 private:
  struct piece {
    positions at[most];
    weights weight[takes_means ? most : 1];
  };

  static index_t output_line(const kernel_call& call) { return access::bound(access::space(along), call); }
  static index_t input_line(const kernel_call& call) { return access::bound(access::input_extent(0, along), call); }
  static index_t vectors(index_t n) { return (n + width - 1) / width; }

  // A neighbour of no weight would still make a NaN of what is infinite: it shares another one's position and weight.
  static void set(piece& p, int lane, op::resize::neighbours n) noexcept {
    std::size_t of = 0;
    while (of + 1 < n.count && n.weights[of] == 0) ++of;
    for (std::size_t k = 0; k < most; ++k) {
      if (k >= n.count || (n.weights[k] == 0 && k != of)) {
        n.positions[k] = n.positions[of];
        n.weights[k] = n.weights[of] /= 2;
      }
      p.at[k].set(lane, static_cast<std::int32_t>(n.positions[k]));
    }
    if constexpr (takes_means)
      for (std::size_t k = 0; k < most; ++k) p.weight[k].set(lane, n.weights[k]);
  }

  static result mean(const piece& p, const number* line) {
    if constexpr (!takes_means) {
      return picked<result>(line, p.at[0]);
    } else {
      weights sum = picked<weights>(line, p.at[0]) * p.weight[0];
#pragma GCC unroll 4
      for (std::size_t k = 1; k < most; ++k) sum = fma(picked<weights>(line, p.at[k]), p.weight[k], sum);
      if constexpr (std::is_same_v<result, weights>) return as_stored<type>(sum);
      else return as_stored<type>(convert<typename result::value_type>(sum));
    }
  }

  // The neighbours of a line along the other axes.
  struct surroundings {
    std::array<op::resize::neighbours, max_rank> along_axis{};

    bool operator==(const surroundings& o) const {
      for (std::size_t d = 0; d < access::rank; ++d) {
        const op::resize::neighbours &a = along_axis[d], &b = o.along_axis[d];
        if (d != along && (a.count != b.count || a.positions != b.positions || a.weights != b.weights)) return false;
      }
      return true;
    }
  };
  static surroundings surroundings_of(const kernel_call& call, const coordinates& c) noexcept {
    const anchor_context<Net, R> context{call};
    surroundings s;
    for (std::size_t d = 0; d < access::rank; ++d)
      if (d != along) s.along_axis[d] = anchor.neighbours_of(context, d, c[d]);
    return s;
  }

  // The mean of the input's lines around, weighted; of one line, the line.
  static void put_together(const kernel_call& call, const surroundings& around, number* line) noexcept {
    coordinates k{}, counts{};
    for (std::size_t d = 0; d < access::rank; ++d)
      counts[d] = d == along ? 1 : static_cast<index_t>(around.along_axis[d].count);
    bool is_first = true;
    do {
      coordinates from{};
      float weight = 1;
      for (std::size_t d = 0; d < access::rank; ++d) {
        if (d == along) continue;
        from[d] = around.along_axis[d].positions[static_cast<std::size_t>(k[d])];
        weight *= around.along_axis[d].weights[static_cast<std::size_t>(k[d])];
      }
      if (weight == 0) continue;
      add(call, from, weight, is_first, line);
      is_first = false;
    } while (next(k, counts, access::rank));
  }
  static void add(const kernel_call& call, coordinates& from, float weight, bool is_first, number* line) noexcept {
    for_lanes<width, along>(from, input_line(call), [&](auto n) {
      const auto x = values::template evaluate<access::anchor_input(0), width, along>(call, from, n, 0);
      number* const to = line + from[along];
      if constexpr (!takes_means) {
        x.store(to);
      } else {
        const auto floats = converted_lanes<dtype::f32, type>(x);
        (is_first ? floats * weights(weight) : fma(floats, weights(weight), weights::load(to))).store(to);
      }
    });
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
