// SPDX-License-Identifier: MIT
// What the kernels of Resize have in common. Lines of the output run along one axis, `Within`; of each, the lines of
// the input around it along the other axes become one first, their weighted mean. What an output position is a mean of
// is computed once a run for each position of an axis.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/loop.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Is axis d resampled by a kernel's anchor?
constexpr bool is_resampled(const kernel_spec& spec, const op::resize& resize, std::size_t d) {
  return !resize.keeps(d, spec.extent_of(0, d) == spec.space(d));
}
// How many lines of the input there are around one of the output, which runs along axis `within`.
constexpr double lines_around(const kernel_spec& spec, const op::resize& resize, std::size_t within) {
  double lines = 1;
  for (std::size_t d = 0; d < spec.rank(); ++d)
    if (d != within && is_resampled(spec, resize, d)) lines *= static_cast<double>(resize.most_neighbours());
  return lines;
}
// Kernels hold that many: what cubic means along two axes beside the lines take.
inline constexpr std::size_t most_lines = 16;
// Why there is no kernel of lines along axis `within`; empty if there may be one.
constexpr std::string_view unfit_for_lines(const kernel_spec& spec, std::size_t within) {
  const auto resize = spec.anchor<op::resize>();
  const std::size_t most = resize.most_neighbours();
  if (spec.is_setup()) return "it runs once";
  if (most == 0) return "how many elements one is a mean of depends on the scale, or some lie outside";
  if (within >= spec.rank()) return "nothing is resampled";
  if (lines_around(spec, resize, within) > most_lines) return "too many lines make one";
  const dtype type = spec.anchor_type();
  const bool has_means = is_computed_in_f32(type) || (is_byte(type) && most == 2);
  return most > 1 && !has_means ? "means are taken of 32-bit floats, or of two bytes" : "";
}

template <class Net, std::size_t R, std::size_t Within> struct resize_kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  using neighbours = op::resize::neighbours;
  static constexpr op::resize anchor = anchor_of<Net, R>::value;
  static constexpr std::size_t along = access::choice.tile.along, most = anchor.most_neighbours();
  static constexpr int width = access::choice.tile.lanes;
  static constexpr dtype type = access::self.anchor_type;
  static constexpr bool takes_means = most > 1;
  using result = lanes<type, width>;
  using weights = vec<float, width>;
  using held = std::conditional_t<takes_means, weights, result>;  // of a line
  using number = typename held::value_type;

  static index_t output_extent(const kernel_call& call, std::size_t d) { return access::bound(access::space(d), call); }
  static index_t input_extent(const kernel_call& call, std::size_t d) {
    return access::bound(access::input_extent(0, d), call);
  }

  // --- lines of the output: of one row along the lanes, or of as many pixels as Within has
  static index_t units(const kernel_call& call) noexcept {
    index_t n = 1;
    for (std::size_t d = 0; d < access::rank; ++d)
      if (d != along && d != Within) n *= output_extent(call, d);
    return n;
  }
  // f(coordinates) for the lines [first, last); along the lanes and Within they are 0.
  static void for_units(const kernel_call& call, index_t first, index_t last, auto&& f) {
    coordinates c{};
    index_t rest = first;
    for (std::size_t d = access::rank; d-- > 0;) {
      if (d == along || d == Within) continue;
      c[d] = rest % output_extent(call, d);
      rest /= output_extent(call, d);
    }
    for (index_t unit = first; unit < last; ++unit) {
      f(c);
      for (std::size_t d = access::rank; d-- > 0;) {
        if (d == along || d == Within) continue;
        if (++c[d] < output_extent(call, d)) break;
        c[d] = 0;
      }
    }
  }

  // --- tables of neighbours, one for each axis that is resampled but Within
  static constexpr std::array<bool, max_rank> has_table = [] {
    std::array<bool, max_rank> r{};
    for (std::size_t d = 0; d < access::rank; ++d) r[d] = d != Within && is_resampled(access::spec, anchor, d);
    return r;
  }();
  static index_t table_entries(const kernel_call& call) {
    index_t n = 0;
    for (std::size_t d = 0; d < access::rank; ++d)
      if (has_table[d]) n += output_extent(call, d);
    return n;
  }
  // Up to whole cache lines.
  static std::int64_t table_bytes(const kernel_call& call) {
    return ceil_div(table_entries(call) * static_cast<index_t>(sizeof(neighbours)), index_t{64}) * 64;
  }
  static void fill_entry(const kernel_call& call, index_t entry) {
    neighbours& of = reinterpret_cast<neighbours*>(call.scratch)[entry];
    for (std::size_t d = 0; d < access::rank; ++d) {
      if (!has_table[d]) continue;
      if (entry < output_extent(call, d)) {
        of = anchor.neighbours_of(anchor_context<Net, R>{call}, d, entry);
        return;
      }
      entry -= output_extent(call, d);
    }
  }
  // A neighbour of no weight would still make a NaN of what is infinite: it shares another one's position and weight,
  // so that there are always `most`.
  static constexpr neighbours without_zeros(neighbours n) {
    std::size_t of = 0;
    while (of + 1 < n.count && n.weights[of] == 0) ++of;
    for (std::size_t k = 0; k < most; ++k) {
      if (k < n.count && (n.weights[k] != 0 || k == of)) continue;
      n.positions[k] = n.positions[of];
      n.weights[k] = n.weights[of] /= 2;
    }
    n.count = most;
    return n;
  }

  // --- the lines of the input around one of the output, those of some weight; along the lanes and Within they are at 0
  struct lines {
    std::size_t count = 0;
    std::array<coordinates, most_lines + 1> at;  // one more than there are, as long as its weight is not known
    std::array<float, most_lines + 1> weight;

    bool operator==(const lines& o) const {
      if (count != o.count) return false;
      bool same = true;
      for (std::size_t i = 0; i < count; ++i) {
        same = same && weight[i] == o.weight[i];
        for (std::size_t d = 0; d < access::rank; ++d) same = same && at[i][d] == o.at[i][d];
      }
      return same;
    }
  };
  static void find_lines(const kernel_call& call, const coordinates& c, lines& r) {
    std::array<const neighbours*, max_rank> of{};
    coordinates k{}, counts{};
    const auto* table = reinterpret_cast<const neighbours*>(call.scratch);
    for (std::size_t d = 0; d < access::rank; ++d) {
      counts[d] = 1;
      if (!has_table[d]) continue;
      of[d] = table + c[d];
      counts[d] = static_cast<index_t>(of[d]->count);
      table += output_extent(call, d);
    }
    r.count = 0;
    do {  // element by element: vectors would wait for the elements that they are put together from
      float weight = 1;
      for (std::size_t d = 0; d < access::rank; ++d) {
        r.at[r.count][d] = c[d];
        if (!has_table[d]) continue;
        r.at[r.count][d] = of[d]->positions[static_cast<std::size_t>(k[d])];
        weight *= of[d]->weights[static_cast<std::size_t>(k[d])];
      }
      r.weight[r.count] = weight;
      if (weight != 0) ++r.count;
    } while (next(k, counts, access::rank));
  }

  // Numbers from a pixel of a line to the next one: whole vectors.
  static index_t pixel_stride(const kernel_call& call) {
    return ceil_div(input_extent(call, along), index_t{width}) * width;
  }
  struct pixel_range {
    index_t first, last;
  };
  // Writes the mean of these pixels of the lines, a pixel_stride each. Where lines run along the lanes, they are one.
  static void put_together(const kernel_call& call, const lines& around, pixel_range pixels, number* to) noexcept {
    if (around.count >= 4) add<4, true>(call, around, 0, pixels, to);
    else if (around.count == 3) add<3, true>(call, around, 0, pixels, to);
    else if (around.count == 2) add<2, true>(call, around, 0, pixels, to);
    else add<1, true>(call, around, 0, pixels, to);
    std::size_t i = 4;
    for (; i + 4 <= around.count; i += 4) add<4, false>(call, around, i, pixels, to);
    for (; i < around.count; ++i) add<1, false>(call, around, i, pixels, to);
  }

  static result as_result(const held& mean) {
    if constexpr (!takes_means) return mean;
    else if constexpr (std::is_same_v<result, weights>) return as_stored<type>(mean);
    else return as_stored<type>(convert<typename result::value_type>(mean));
  }

 private:
  // Adds Count lines from number `first` on, one if there are no means, to what is there if they do not begin it.
  template <std::size_t Count, bool Begins>
  static void add(const kernel_call& of, const lines& around, std::size_t first, pixel_range pixels,
                  number* to) noexcept {
    const local_operands<Net, R> operands(of);
    const kernel_call call = operands.call();
    const index_t stride = pixel_stride(call);
    for (index_t pixel = pixels.first; pixel < pixels.last; ++pixel, to += stride) {
      std::array<coordinates, Count> from;
#pragma GCC unroll 4
      for (std::size_t k = 0; k < Count; ++k) {
        from[k] = around.at[first + k];
        if constexpr (Within != along) from[k][Within] = pixel;
      }
      coordinates c{};
      for_lanes<width, along>(c, input_extent(call, along), [&](auto n) {
        const auto element = [&](std::size_t k) __attribute__((always_inline)) {
          from[k][along] = c[along];
          return values::template evaluate<access::anchor_input(0), width, along>(call, from[k], n, 0);
        };
        number* const at = to + c[along];
        if constexpr (!takes_means) {
          element(0).store(at);
        } else {
          const weights one = converted_lanes<dtype::f32, type>(element(0)) * weights(around.weight[first]);
          weights sum = Begins ? one : one + weights::load(at);
#pragma GCC unroll 4
          for (std::size_t k = 1; k < Count; ++k)
            sum = fma(converted_lanes<dtype::f32, type>(element(k)), weights(around.weight[first + k]), sum);
          sum.store(at);
        }
      });
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
