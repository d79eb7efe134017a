// SPDX-License-Identifier: MIT
// Footprints: which positions of an input a position of the output needs, axis by axis. The one declaration from which
// mapping types (DNNFusion, Table 3.2), tiles of fused stages, and the halos of split work follow.
//
// An operator that is neither element-wise, movement nor made of passes over rows says so with
//   footprint reads(const inference& c, std::size_t input) const     c: as in infer(), with the output's type known
// and is taken to need all of its inputs when it says nothing. What elements a definition really reads must lie within
// its footprint; tests change single elements to see it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/operator/inference.hpp"
#include "dnnkit/operator/statistics.hpp"
#include "dnnkit/operator/traits.hpp"

namespace dnnkit {

enum class reach : std::uint8_t {
  nothing,   // no element of the input is read, only its shape
  same,      // the position of output axis `of`
  window,    // of position p: p * stride + k * dilation - before, k = 0 ... extent - 1, where the input has them
  grouped,   // of position p: the block of `extent` positions with the number of p's block of `stride` positions
  whole,     // all
  indirect,  // `extent` positions (unknown: several), which other elements or a computation decide
};

// What position p of output axis `of` needs of one axis of an input.
struct axis_reach {
  reach how = reach::whole;
  std::uint8_t of = 0;
  dim stride = 1, extent = 1;
  std::int64_t dilation = 1;
  dim before = 0;

  friend constexpr bool operator==(const axis_reach&, const axis_reach&) = default;
};

namespace needs {
inline constexpr axis_reach nothing{reach::nothing};
inline constexpr axis_reach whole{};
constexpr axis_reach same(std::size_t of) { return {reach::same, static_cast<std::uint8_t>(of)}; }
constexpr axis_reach window(std::size_t of, dim stride, dim extent, std::int64_t dilation, dim before) {
  return {reach::window, static_cast<std::uint8_t>(of), stride, extent, dilation, before};
}
// Blocks of `to` positions of the output axis need blocks of `from` positions.
constexpr axis_reach grouped(std::size_t of, dim to, dim from) {
  return {reach::grouped, static_cast<std::uint8_t>(of), to, from};
}
constexpr axis_reach indirect(dim positions) { return {reach::indirect, 0, 1, positions}; }
inline constexpr axis_reach one_chosen = indirect(1), some_chosen = indirect(dim::unknown());
}  // namespace needs

// One entry for each axis of the input. A movement operator's is its view instead.
struct footprint {
  static_vector<axis_reach, max_rank> axes;
  bool is_view = false;

  constexpr footprint() = default;
  constexpr footprint(std::initializer_list<axis_reach> list) {
    for (const axis_reach& a : list) axes.push_back(a);
  }
  // Every axis of an input of this rank alike.
  static constexpr footprint all(std::size_t rank, axis_reach each = needs::whole) {
    footprint f;
    for (std::size_t d = 0; d < rank; ++d) f.axes.push_back(each);
    return f;
  }
  // Each axis of an input of this rank at the position of the output axis of the same number.
  static constexpr footprint same(std::size_t rank) {
    footprint f;
    for (std::size_t d = 0; d < rank; ++d) f.axes.push_back(needs::same(d));
    return f;
  }
  // The same, but for one axis.
  static constexpr footprint same_except(std::size_t rank, std::size_t axis, axis_reach other = needs::whole) {
    footprint f = same(rank);
    f.axes[axis] = other;
    return f;
  }
};

namespace detail {

// Numpy broadcasting: axes are aligned at the end, those of extent 1 are read whole.
constexpr footprint broadcast_reads(const inference& c, std::size_t input) {
  footprint f;
  const std::size_t rank = c.rank(input), lead = c.outputs()[0].dims.size() - rank;
  for (std::size_t d = 0; d < rank; ++d)
    f.axes.push_back(c.in(input)[d] == dim(1) ? needs::whole : needs::same(d + lead));
  return f;
}
// Rows run over some axes; an output of lower rank has lost them.
constexpr footprint row_reads(const inference& c, axis_set row) {
  footprint f;
  const std::size_t rank = c.rank(0);
  const bool keeps = c.outputs()[0].dims.size() == rank;
  std::size_t next = 0;
  for (std::size_t d = 0; d < rank; ++d) {
    if (row.has(d)) f.axes.push_back(needs::whole);
    else f.axes.push_back(needs::same(keeps ? d : next));
    next += row.has(d) && !keeps ? 0 : 1;
  }
  return f;
}

template <class Op> constexpr footprint reads_of(const Op& op, const inference& c, std::size_t input) {
  if constexpr (requires { op.reads(c, input); }) {
    return op.reads(c, input);
  } else if constexpr (Op::kind == form::elementwise) {
    return broadcast_reads(c, input);
  } else if constexpr (Op::kind == form::reduction || Op::kind == form::row) {
    return row_reads(c, op.axes(c.rank(0)));
  } else {
    footprint f = footprint::all(c.rank(input));
    f.is_view = Op::kind == form::movement;
    return f;
  }
}

}  // namespace detail

// How many positions of the axis one position of the output needs: 0, 1, or 2 for several.
constexpr int positions_needed(const axis_reach& a, dim extent) {
  switch (a.how) {
    case reach::nothing:
      return 0;
    case reach::same:
      return 1;
    case reach::whole:
      return extent == dim(1) ? 1 : 2;
    default:
      return a.extent == dim(1) ? 1 : 2;
  }
}

// DNNFusion's mapping type of the edge from an input of shape `in` to the output of shape `out`: Many-to-Many where an
// output element needs several elements, One-to-Many where one element serves several. Of movement operators, which
// the operator's own trait tells apart, and of inputs that are not read: One-to-One.
constexpr mapping mapping_of(const footprint& f, const shape& in, const shape& out) {
  if (f.is_view) return mapping::one_to_one;
  bool serves_several = false;
  axis_set followed;
  for (std::size_t d = 0; d < f.axes.size(); ++d) {
    const axis_reach& a = f.axes[d];
    if (a.how == reach::nothing) return mapping::one_to_one;
    if (positions_needed(a, in[d]) > 1) return mapping::many_to_many;
    serves_several = serves_several || a.how == reach::indirect;
    if (a.how == reach::same || a.how == reach::window || a.how == reach::grouped) {
      followed.add(a.of);
      serves_several = serves_several || (a.how == reach::grouped && !(a.stride == dim(1)));
    }
  }
  for (std::size_t d = 0; d < out.size(); ++d)
    serves_several = serves_several || (!followed.has(d) && !(out[d] == dim(1)));
  return serves_several ? mapping::one_to_many : mapping::one_to_one;
}

}  // namespace dnnkit
