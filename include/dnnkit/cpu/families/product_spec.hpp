// SPDX-License-Identifier: MIT
// What the family of matrix products knows of a specification: which axes are rows, whether they can be read where they
// are, and in which order K lies in storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/op/quantization.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu {

class product_spec : public kernel_spec {
 public:
  constexpr explicit product_spec(const kernel_spec& spec) : kernel_spec(spec), a_rank(rank_of(0)), b_rank(rank_of(1)) {
    if (input(0).from == source::load) a_load = load(input(0).index);
    if (input(1).from == source::load) b_load = load(input(1).index);
    if (is_matrix()) order = order_of_k();
  }

  std::size_t a_rank, b_rank;
  recipe_load a_load, b_load;  // A and B, where they are stored

  // The order in which K lies in storage; the order of a sum is free.
  struct k_order {
    bool contiguous = false;
    static_vector<view_axis, 8> axes;          // of K, logical order; none when there is a single one
    static_vector<std::uint8_t, 8> by_stride;  // their numbers, largest stride first
  };
  k_order order;

  constexpr local_extent a_dim(std::size_t d) const { return extent_of(0, d); }
  constexpr local_extent b_dim(std::size_t d) const { return extent_of(1, d); }
  constexpr bool is_matrix() const { return a_rank >= 2 && b_rank >= 2; }
  constexpr local_extent k_dim() const { return a_dim(a_rank - 1); }
  constexpr local_extent n_dim() const { return b_dim(b_rank - 1); }
  constexpr local_extent m_dim() const { return a_dim(a_rank - 2); }

  // Why it is no product of panels and vectors; empty when it can be.
  constexpr std::string_view unfit() const { return is_matrix() ? std::string_view() : "a factor is a vector"; }

  // With one B for all, the leading axes of A are rows too.
  constexpr bool one_b() const {
    for (std::size_t d = 0; d + 2 < b_rank; ++d)
      if (b_dim(d) != 1) return false;
    return true;
  }
  // The axis of A whose stride separates its rows: the innermost that has more than one of them.
  constexpr std::size_t row_axis() const {
    if (one_b())
      for (std::size_t d = a_rank - 1; d-- > 0;)
        if (a_dim(d) != 1) return d;
    return a_rank - 2;
  }
  constexpr bool rows_are_known() const {
    for (std::size_t d = 0; d + 1 < a_rank; ++d)
      if (!a_dim(d).is_known()) return false;
    return true;
  }
  constexpr bool rows_at_one_stride() const {
    if (input(0).from != source::load) return false;
    for (std::size_t d = 0; d + 1 < a_rank; ++d)
      if (!stride_along(a_load.axes, d).single) return false;
    if (!one_b()) return true;
    std::size_t inner = a_rank;  // of the rows' axes, the one that the others continue
    for (std::size_t d = a_rank - 1; d-- > 0;) {
      if (a_dim(d) == 1) continue;
      if (inner < a_rank && !continues(a_load.axes, d, inner)) return false;
      inner = d;
    }
    return true;
  }
  // Can A be read where it is?
  constexpr bool in_place() const { return order.contiguous && rows_at_one_stride(); }
  // Panels of B are laid out by N and K, and sessions pack weights before any symbol has a value.
  constexpr bool is_packed_once() const {
    return is_setup(input(1)) && one_b() && k_dim().is_known() && n_dim().is_known();
  }
  // Has every product at most so many rows, and B rows that can be read where they lie?
  constexpr bool reads_rows_of_b(std::int64_t most) const {
    if (input(1).from != source::load || b_load.movement.count != 0 || !lies_as_multiplied(b_load.type)) return false;
    const lane_stride columns = stride_along(b_load.axes, b_rank - 1);
    if (!columns.single || !(columns.stride == 1) || !stride_along(b_load.axes, b_rank - 2).single) return false;
    if (in_place() && order.axes.size() > 1) return false;  // K in another order than that of B's rows
    std::int64_t rows = 1;
    for (std::size_t d = one_b() ? 0 : a_rank - 2; d + 1 < a_rank; ++d) {
      if (!a_dim(d).is_known() || a_dim(d).value() > most) return false;
      rows *= a_dim(d).value();
    }
    return rows <= most;
  }

  // Why a kernel that reads rows in place, or packs the second factor once, is the one.
  static constexpr std::string_view reason(bool in_place, bool once) {
    if (in_place)
      return once ? "rows of the first factor are read where they lie; the second is packed once"
                  : "rows of the first factor are read where they lie; the second, which the run computes or whose "
                    "extents are not known before it, is packed in each";
    return once ? "rows of the first factor are computed, or lie at no one stride, and are staged; the second is "
                  "packed once"
                : "rows of the first factor are computed, or lie at no one stride, and are staged; the second, which "
                  "the run computes or whose extents are not known before it, is packed in each";
  }

  // Rows of A in all.
  constexpr double rows() const { return elements_of(0) / static_cast<double>(known_or_typical(k_dim())); }

 private:
  constexpr bool lies_as_multiplied(dtype t) const {
    return is_anchor<op::matmul_integer>() ? is_multiplied_as_stored(t) : size_of(t) == size_of(multiplied_as(t));
  }
  constexpr k_order order_of_k() const {
    k_order o;
    if (input(0).from != source::load || a_load.movement.count != 0 || !lies_as_multiplied(a_load.type)) return o;
    for (const view_axis& x : plan().axes_of(a_load.axes)) {
      if (x.of != a_rank - 1) continue;
      if (!x.size.is_known() || !x.stride.is_known()) {
        // a single axis of unknown size is still contiguous at stride 1
        const lane_stride s = stride_along(a_load.axes, a_rank - 1);
        o = {};
        o.contiguous = s.single && s.stride == 1;
        return o;
      }
      if (o.axes.size() == o.axes.capacity()) return {};
      o.by_stride.push_back(static_cast<std::uint8_t>(o.axes.size()));
      o.axes.push_back(x);
    }
    const auto stride = [&](std::size_t i) { return o.axes[o.by_stride[i]].stride.value(); };
    for (std::size_t i = 0; i < o.axes.size(); ++i)
      for (std::size_t j = i + 1; j < o.axes.size(); ++j)
        if (stride(j) > stride(i)) std::swap(o.by_stride[i], o.by_stride[j]);
    std::int64_t expected = 1;
    for (std::size_t i = o.axes.size(); i-- > 0;) {
      if (stride(i) != expected) return o;
      expected *= o.axes[o.by_stride[i]].size.value();
    }
    o.contiguous = expected == (k_dim().is_known() ? k_dim().value() : -1);
    return o;
  }
};

}  // namespace dnnkit::cpu
