// SPDX-License-Identifier: MIT
// The kernel of reductions and row operators (Softmax, normalisations) from their passes (op/statistics.hpp): vectors
// run along the row when the input is contiguous there, else along the axis where it is, as many rows in lockstep.
#pragma once

#include <array>
#include <cstddef>

#include "dnnkit/cpu/point_kernel.hpp"
#include "dnnkit/op/statistics.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

template <class Net, std::size_t R> struct row_kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  using anchor = anchor_of<Net, R>;
  using Op = typename anchor::type;
  static constexpr operand_ref input = access::anchor_input(0);
  static constexpr std::size_t in_rank = access::anchor_shape(0).count;
  static constexpr axis_set row = anchor::value.axes(in_rank);
  static constexpr bool reduces = Op::kind == form::reduction;

  // Input axis `d` as an axis of the output; in_rank when a reduction drops it.
  static constexpr std::array<std::size_t, max_rank> output_axis = [] {
    std::array<std::size_t, max_rank> r{};
    const bool keeps = access::rank == in_rank;
    std::size_t next = 0;
    for (std::size_t d = 0; d < in_rank; ++d) r[d] = keeps ? d : row.has(d) ? in_rank : next++;
    return r;
  }();

  static constexpr bool vectorizes = !values::is_setup() && values::vectorizes(input) && values::outputs_vectorize() &&
                                     values::type_of(input) == dtype::f32 && access::self.anchor_type == dtype::f32;
  // The input axis that runs in lanes: where the input is contiguous, preferably along the row.
  static constexpr std::size_t along = [] {
    std::size_t best = in_rank == 0 ? 0 : in_rank - 1;
    if (input.from == source::load)
      for (std::size_t d = in_rank; d-- > 0;) {
        const lane_stride s = stride_along<Net>(Net::plan.loads[access::self.loads.first + input.index].axes, d);
        if (s.single && s.stride == dim(1)) best = d;
      }
    return best;
  }();
  static constexpr bool lanes_in_row = in_rank > 0 && row.has(along);
  static constexpr int width = vectorizes && in_rank > 0 ? float_lanes : 1;
  using scalar = computed<values::type_of(input)>;
  using number = lanes<values::type_of(input), width>;
  using stats = std::array<number, Op::passes>;

  static index_t extent(const kernel_call& call, std::size_t d) {
    return access::bound(Net::plan.dims[access::anchor_shape(0).first + d], call);
  }

  // Units: the coordinates outside the row (and outside the lanes).
  static constexpr bool is_outer(std::size_t d) { return !row.has(d) && d != along; }
  static index_t units(const kernel_call& call) noexcept {
    index_t n = 1;
    for (std::size_t d = 0; d < in_rank; ++d)
      if (is_outer(d)) n *= extent(call, d);
    return n;
  }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    index_t length = 1;
    for (std::size_t d = 0; d < in_rank; ++d)
      if (row.has(d)) length *= extent(call, d);
    for (index_t unit = first; unit < last; ++unit) {
      coordinates c{};
      for (index_t d = static_cast<index_t>(in_rank), rest = unit; d-- > 0;)
        if (is_outer(static_cast<std::size_t>(d))) {
          c[static_cast<std::size_t>(d)] = rest % extent(call, static_cast<std::size_t>(d));
          rest /= extent(call, static_cast<std::size_t>(d));
        }
      if constexpr (lanes_in_row || in_rank == 0) {
        one_row(call, c, length, constant<width>{});
      } else if constexpr (width == 1) {
        const bool kept = !row.has(along);
        for (index_t i = 0; i < (kept ? extent(call, along) : 1); ++i) {
          c[along] = i;
          one_row(call, c, length, constant<1>{});
        }
      } else {
        for_lanes<width, along>(c, extent(call, along), [&](auto n) { one_row(call, c, length, n); });
      }
    }
  }

  static constexpr kernel_entry entry{units, run, nullptr, nullptr, nullptr, nullptr, 0};

 private:
  // visit(c, n) for all positions of the row through c, n lanes at a time.
  static void for_row(const kernel_call& call, coordinates c, auto n, auto&& visit) {
    constexpr bool inner = lanes_in_row;
    for (std::size_t d = 0; d < in_rank; ++d)
      if (row.has(d)) c[d] = 0;
    for (bool more = true; more;) {
      if constexpr (inner) for_lanes<width, along>(c, extent(call, along), [&](auto k) { visit(c, k); });
      else visit(c, n);
      more = false;
      for (std::size_t d = in_rank; d-- > 0 && !more;)
        if (row.has(d) && !(inner && d == along)) {
          more = ++c[d] < extent(call, d);
          if (!more) c[d] = 0;
        }
    }
  }

  static void one_row(const kernel_call& call, const coordinates& c, index_t length, auto n) {
    stats s{};
    [&]<std::size_t... P>(std::index_sequence<P...>) { ((s[P] = fold<P>(call, c, length, n, s)), ...); }
    (std::make_index_sequence<Op::passes>{});
    if constexpr (reduces) {
      coordinates out{};
      for (std::size_t d = 0; d < in_rank; ++d)
        if (output_axis[d] < in_rank) out[output_axis[d]] = row.has(d) ? 0 : c[d];
      if constexpr (lanes_in_row || width == 1)
        values::template finish<1, 0>(call, out, constant<1>{}, first_of(s[Op::passes - 1]));
      else values::template finish<width, output_axis[along]>(call, out, n, s[Op::passes - 1]);
    } else {
      for_row(call, c, n, [&](const coordinates& at, auto k) {
        const auto x = values::template evaluate<input, width, along>(call, at, k, 0);
        values::template finish<width, along>(call, at, k, anchor::value.finish(static_cast<number>(x), s));
      });
    }
  }

  static scalar first_of(number x) {
    if constexpr (width == 1) return x;
    else return x.v[0];
  }

  template <std::size_t P>
  static number fold(const kernel_call& call, const coordinates& c, index_t length, auto n, const stats& s) {
    using step = pass<P>;
    const Op& op = anchor::value;
    number sum = op.template start<number>(step{});
    for_row(call, c, n, [&](const coordinates& at, auto k) {
      const auto x = static_cast<number>(values::template evaluate<input, width, along>(call, at, k, 0));
      const number next = op.accumulate(step{}, sum, x, s);
      if constexpr (!lanes_in_row || is_constant<decltype(k)>) sum = next;
      else sum = select(first_lanes(k), next, sum);
    });
    if constexpr (lanes_in_row && width > 1) {
      float total = sum.v[0];  // in the order of the lanes, the same for every division of the work
      std::array<scalar, Op::passes> scalar_stats{};
      for (std::size_t i = 0; i < Op::passes; ++i) scalar_stats[i] = s[i].v[0];
      for (int i = 1; i < width; ++i) total = op.merge(step{}, total, static_cast<float>(sum.v[i]));
      return number(op.close(step{}, total, static_cast<float>(length), scalar_stats));
    } else {
      return op.close(step{}, sum, number(static_cast<scalar>(length)), s);
    }
  }
  static auto first_lanes(index_t k) {
    return vec<std::int32_t, width>::iota() < vec<std::int32_t, width>(static_cast<std::int32_t>(k));
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
