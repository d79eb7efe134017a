// SPDX-License-Identifier: MIT
// What the family of reductions and row operators decides about a specification: along which axis vectors lie, which
// axes are walked as one with it, and what the lanes of a vector are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/cpu/micro/extent.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/op/softmax.hpp"
#include "dnnkit/plan/kernel_spec.hpp"

namespace dnnkit::cpu {

// Each axis of an input of rank `in_rank`, of which a row has `row`, as an axis of the output; in_rank where a
// reduction drops it.
constexpr std::array<std::size_t, max_rank> output_axes(const axis_set& row, std::size_t in_rank, std::size_t rank) {
  std::array<std::size_t, max_rank> r{};
  std::size_t next = 0;
  for (std::size_t d = 0; d < in_rank; ++d) r[d] = rank == in_rank ? d : row.has(d) ? in_rank : next++;
  return r;
}

class row_spec : public kernel_spec {
 public:
  constexpr row_spec(const kernel_spec& spec, index_t lanes_of_vectors)
      : kernel_spec(spec),
        in_rank(rank_of(0)),
        row(self().rows.axes),
        passes(self().rows.passes),
        reduces(self().anchor.kind == form::reduction),
        lanes_(lanes_of_vectors),
        in_vectors(!is_setup() && ((is_computed_in_f32(type_of(input(0))) && is_computed_in_f32(anchor_type())) ||
                                   folds_other_lanes())),
        along(best_axis()),
        group(lanes_of_a_row()),
        first_along(first_axis()),
        lanes_in_row(in_rank == 0 || (row.has(along) && group == 1)),
        width(in_vectors && in_rank > 0 ? lanes_ : 1),
        in_turns(goes_over_three_rows()),
        at_once(accumulators()) {}

  std::size_t in_rank;
  axis_set row;
  std::size_t passes;
  bool reduces;

 private:
  index_t lanes_;

 public:
  bool in_vectors;
  // The input axis along which vectors lie: the one where most elements that are read, once a pass, and written lie
  // next to each other.
  std::size_t along;
  // Lanes next to each other that belong to one row, when an axis of the row and the one before, which is none, are
  // walked as one: channels of a group. 1: each lane is a row, or all are one.
  index_t group;
  std::size_t first_along;  // axes [first_along, along] are walked as one
  bool lanes_in_row;        // the lanes of a vector belong to one row; else each, or each group of them, is a row
  index_t width;            // lanes of a vector
  // Are three rows gone over in one loop, each in another pass? Softmax's first pass is bound by loads, its second by
  // arithmetic, and what follows by stores.
  bool in_turns;
  // Vectors with accumulators of their own: for a row, as many as it takes to keep additions from waiting for each
  // other; in lockstep, as many as make the reading of memory worth while.
  index_t at_once;

  // Is it a fold of single elements that compilers make vectors of? Such are bytes, of which theirs hold four times as
  // many as vectors of wider lanes.
  constexpr bool is_left_to_compilers() const {
    return width == 1 && !is_setup() && reduces && row.has(along) && folds_integers() &&
           cpu::is_left_to_compilers(*this, input(0), along);
  }

  constexpr local_extent in_dim(std::size_t d) const { return extent_of(0, d); }
  // Input axis `axis` as an axis of the output; in_rank when a reduction drops it.
  constexpr std::size_t output_axis(std::size_t axis) const { return output_axes(row, in_rank, rank())[axis]; }

 private:
  // Folds that there are vectors of integers for.
  constexpr bool folds_integers() const {
    return is_anchor<op::reduce_sum>() || is_anchor<op::reduce_prod>() || is_anchor<op::reduce_max>() ||
           is_anchor<op::reduce_min>() || is_anchor<op::reduce_l1>() || is_anchor<op::reduce_sum_square>();
  }
  // Is it a fold of 32-bit integers or of 64-bit numbers that there are vectors of?
  constexpr bool folds_other_lanes() const {
    const dtype t = type_of(input(0));
    return (t == dtype::i32 || is_wide(t)) && t == anchor_type() &&
           (folds_integers() || (t == dtype::f64 && (is_anchor<op::reduce_mean>() || is_anchor<op::softmax>())));
  }

  // f(view, in the input's coordinates?) for the view of every load and output, as far as f returns true.
  constexpr bool all_views(auto f) const {
    for (std::size_t l = 0; l < loads(); ++l) {
      if (reads(input(0), l) && !f(load(l), true)) return false;
      if (outputs_read(l) && !f(load(l), false)) return false;
    }
    for (std::size_t o = 0; o < outputs(); ++o)
      if (!f(output(o), false)) return false;
    return true;
  }

  constexpr std::size_t best_axis() const {
    std::size_t best = in_rank == 0 ? 0 : in_rank - 1;
    double most = 0;
    for (std::size_t d = in_rank; d-- > 0;) {
      double n = 0;
      all_views([&](const auto& view, bool of_input) {
        if (of_input) n += elements_along(*this, view, d) * static_cast<double>(passes);
        if (of_input != reduces) n += elements_along(*this, view, d);
        return true;
      });
      if (in_dim(d) == 1 || n == 0 || n < most || (n == most && !row.has(d))) continue;
      best = d;
      most = n;
    }
    return best;
  }

  // Do axes d and d + 1 of the input lie behind each other, as one axis, wherever the kernel reads or writes them?
  constexpr bool adjoin(std::size_t d) const {
    return all_views([this, d](const auto& view, bool of_input) {
      if (of_input || !reduces) return adjoining(*this, view, d);
      return row.has(d) || row.has(d + 1) || adjoining(*this, view, output_axis(d));
    });
  }
  // Vectors after which groups of n lanes begin where a vector begins again.
  constexpr index_t period(index_t n) const { return std::lcm(n, lanes_) / lanes_; }
  static constexpr index_t longest_period = 16;

  constexpr index_t lanes_of_a_row() const {
    if (!in_vectors || along == 0 || !row.has(along) || row.has(along - 1) || !in_dim(along).is_known()) return 1;
    const index_t n = in_dim(along).value();
    bool has_more = n < lanes_;  // rows of less than a vector, or of more axes than this one
    for (std::size_t d = 0; d < in_rank; ++d) has_more = has_more || (row.has(d) && d != along && in_dim(d) != 1);
    return n > 0 && has_more && period(n) <= longest_period && adjoin(along - 1) ? n : 1;
  }
  constexpr std::size_t first_axis() const {
    if (group > 1) return along - 1;
    std::size_t first = along;
    const std::size_t cut = cut_axis();  // tiles have a part of it, with which lanes begin
    while (first > 0 && first != cut && row.has(first - 1) == row.has(along) && adjoin(first - 1)) --first;
    return first;
  }
  constexpr bool goes_over_three_rows() const {
    if (!lanes_in_row || width == 1 || !is_anchor<op::softmax>()) return false;
    index_t length = 1, rows = 1;
    for (std::size_t d = 0; d < in_rank; ++d) {
      const index_t n = known_or_typical(in_dim(d));
      if (row.has(d) && !in_dim(d).is_known()) return false;  // the row that is kept has a length
      (row.has(d) ? length : rows) *= n;
    }
    return rows >= 4 && length <= 256 * width;  // of longer rows three, and what is kept of them, leave the first cache
  }
  constexpr index_t accumulators() const {
    if (in_turns || (lanes_in_row && width == 1)) return 1;
    index_t lane_count = 1;
    for (std::size_t d = first_along; d <= along; ++d)
      lane_count *= in_dim(d).is_known() ? in_dim(d).value() : 16 * lanes_;
    if (lanes_in_row) {  // as leaves fewest vectors of a row over, which wait for each other
      const index_t vectors = std::max(index_t(1), lane_count / width);
      index_t best = std::min(vectors, index_t(8));
      for (index_t n = best; n >= 4; --n)
        if (vectors % n < vectors % best) best = n;
      return best;
    }
    const index_t enough = std::clamp(ceil_div(lane_count, width), index_t(1), index_t(16));
    return group == 1 ? enough : period(group) * std::max(index_t(1), enough / period(group));
  }
};

}  // namespace dnnkit::cpu
