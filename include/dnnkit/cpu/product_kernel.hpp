// SPDX-License-Identifier: MIT
// The kernel of a group around a matrix product: GEMM over rows read in place and packed panels (cpu/gemm.hpp). Weights
// are packed once; a product's second operand that is computed is packed in scratch, once a run. A first operand whose
// rows are not contiguous, or that has a prologue, is brought into scratch row by row.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "dnnkit/cpu/gemm.hpp"
#include "dnnkit/cpu/point_kernel.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

template <class Net, std::size_t R> struct product_kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr operand_ref a_ref = access::anchor_input(0), b_ref = access::anchor_input(1);
  static constexpr std::size_t rank = access::rank;
  static constexpr std::size_t a_rank = access::anchor_shape(0).count, b_rank = access::anchor_shape(1).count;
  static constexpr dim a_dim(std::size_t d) { return Net::plan.dims[access::anchor_shape(0).first + d]; }
  static constexpr dim b_dim(std::size_t d) { return Net::plan.dims[access::anchor_shape(1).first + d]; }

  static constexpr bool supported = access::self.anchor_type == dtype::f32 && a_rank >= 2 && b_rank >= 2 &&
                                    values::outputs_vectorize() && values::vectorizes(a_ref) &&
                                    values::type_of(b_ref) == dtype::f32;
  static constexpr bool b_is_setup = values::is_setup(b_ref);

  // With one B for all, the leading axes of A are rows too.
  static constexpr bool one_b = [] {
    for (std::size_t d = 0; d + 2 < b_rank; ++d)
      if (!(b_dim(d) == dim(1))) return false;
    return true;
  }();
  static constexpr dim k_dim = a_dim(a_rank - 1), n_dim = b_dim(b_rank - 1), m_dim = a_dim(a_rank - 2);

  // --- A read in place: the order in which K is walked follows its storage (the order of a sum is free)
  struct k_order {
    bool contiguous = false;
    std::size_t count = 0;
    std::array<view_axis, 8> axes{};         // of K, logical order
    std::array<std::size_t, 8> by_stride{};  // their numbers, largest stride first
  };
  static constexpr recipe_load a_load = [] {
    if constexpr (a_ref.from == source::load) return access::template load<a_ref.index>;
    else return recipe_load{};
  }();
  static constexpr k_order order = [] {
    k_order o;
    if (a_ref.from != source::load || a_load.movement.count != 0 || a_load.type != dtype::f32) return o;
    for (const view_axis& x : Net::plan.axes_of(a_load.axes)) {
      if (x.of != a_rank - 1) continue;
      if (!x.size.is_known() || !x.stride.is_known()) {
        o.contiguous = false;
        // a single axis of unknown size is still contiguous at stride 1
        const lane_stride s = stride_along<Net>(a_load.axes, a_rank - 1);
        o.contiguous = s.single && s.stride == dim(1);
        o.count = 0;
        return o;
      }
      o.axes[o.count++] = x;
    }
    for (std::size_t i = 0; i < o.count; ++i) o.by_stride[i] = i;
    for (std::size_t i = 0; i < o.count; ++i)
      for (std::size_t j = i + 1; j < o.count; ++j)
        if (o.axes[o.by_stride[j]].stride.value() > o.axes[o.by_stride[i]].stride.value())
          std::swap(o.by_stride[i], o.by_stride[j]);
    std::int64_t expected = 1;
    for (std::size_t i = o.count; i-- > 0;) {
      if (o.axes[o.by_stride[i]].stride.value() != expected) return o;
      expected *= o.axes[o.by_stride[i]].size.value();
    }
    o.contiguous = expected == (k_dim.is_known() ? k_dim.value() : -1);
    return o;
  }();
  static constexpr bool rows_at_one_stride = [] {
    if (a_ref.from != source::load) return false;
    for (std::size_t d = 0; d + 1 < a_rank; ++d)
      if (!stride_along<Net>(a_load.axes, d).single) return false;
    if (!one_b) return true;
    // leading axes continue the rows: stride(d) = extent(d + 1) * stride(d + 1), known or the only ones
    dim expected = 0;
    bool first = true;
    for (std::size_t d = a_rank - 1; d-- > 0;) {
      if (a_dim(d) == dim(1)) continue;
      const dim s = stride_along<Net>(a_load.axes, d).stride;
      if (!first && !(s.is_known() && expected.is_known() && s == expected)) return false;
      expected = s.is_known() && a_dim(d).is_known() ? dim(s.value() * a_dim(d).value()) : dim::unknown();
      first = false;
    }
    return true;
  }();
  static constexpr bool direct = order.contiguous && rows_at_one_stride;

  // --- sizes
  static index_t batches(const kernel_call& call) {
    index_t n = 1;
    if (!one_b)
      for (std::size_t d = 0; d + 2 < rank; ++d) n *= access::bound(access::space(d), call);
    return n;
  }
  static auto rows(const kernel_call& call) {
    constexpr bool known = [] {
      for (std::size_t d = 0; d + 1 < a_rank; ++d)
        if (!a_dim(d).is_known()) return false;
      return true;
    }();
    if constexpr (!one_b) {
      return extent_value<m_dim>(call);
    } else if constexpr (known) {
      constexpr index_t n = [] {
        index_t product = 1;
        for (std::size_t d = 0; d + 1 < a_rank; ++d) product *= a_dim(d).value();
        return product;
      }();
      return constant<n>{};
    } else {
      index_t n = 1;
      for (std::size_t d = 0; d + 1 < a_rank; ++d) n *= access::bound(a_dim(d), call);
      return n;
    }
  }
  // The axis of A whose stride separates its rows: the innermost that has more than one of them.
  static constexpr std::size_t row_axis = [] {
    if (!one_b) return a_rank - 2;
    for (std::size_t d = a_rank - 1; d-- > 0;)
      if (!(a_dim(d) == dim(1))) return d;
    return a_rank - 2;
  }();
  static auto row_stride(const kernel_call& call) {
    if constexpr (direct) return extent_value<stride_along<Net>(a_load.axes, row_axis).stride>(call);
    else return extent_value<k_dim>(call);
  }
  static auto product(const kernel_call& call) {
    const auto m = rows(call);
    const auto n = extent_value<n_dim>(call);
    const auto k = extent_value<k_dim>(call);
    const auto s = row_stride(call);
    return gemm<std::remove_cvref_t<decltype(m)>, std::remove_cvref_t<decltype(n)>, std::remove_cvref_t<decltype(k)>,
                std::remove_cvref_t<decltype(s)>>{m, n, k, s};
  }

  // Coordinates of batch number `batch` in the leading axes.
  static coordinates batch_coordinates(const kernel_call& call, index_t batch) {
    coordinates c{};
    if (!one_b)
      for (std::size_t d = rank - 2; d-- > 0;) {
        const index_t n = access::bound(access::space(d), call);
        c[d] = batch % n;
        batch /= n;
      }
    return c;
  }
  // The same in an operand of rank r whose extents may be 1 where the product's are not.
  static coordinates operand_coordinates(const kernel_call& call, const coordinates& c, std::size_t r, auto extent) {
    coordinates o{};
    for (std::size_t d = 0; d + 2 < r; ++d) o[d] = access::bound(extent(d), call) == 1 ? 0 : c[d + rank - r];
    return o;
  }

  // --- B
  // The layout of packed panels depends on N and K alone: sessions pack weights before any symbol is bound.
  static auto panels(const kernel_call& call) {
    const auto n = extent_value<n_dim>(call);
    const auto k = extent_value<k_dim>(call);
    return gemm<constant<1>, std::remove_cvref_t<decltype(n)>, std::remove_cvref_t<decltype(k)>>{{}, n, k, k};
  }
  static void pack_b(const kernel_call& call, index_t batch, float* out) {
    const coordinates at = operand_coordinates(call, batch_coordinates(call, batch), b_rank, b_dim);
    panels(call).pack(
        [&](index_t k, index_t n) {
          coordinates c = at;
          c[b_rank - 2] = logical_k(k);
          c[b_rank - 1] = n;
          return values::template evaluate<b_ref, 1, 0>(call, c, constant<1>{}, 0);
        },
        out);
  }
  // Position k of the walk as an index into K.
  static index_t logical_k(index_t k) {
    if constexpr (!direct || order.count < 2) {
      return k;
    } else {
      std::array<index_t, 8> digit{};
      for (std::size_t i = order.count; i-- > 0;) {
        const index_t n = order.axes[order.by_stride[i]].size.value();
        digit[order.by_stride[i]] = k % n;
        k /= n;
      }
      index_t r = 0;
      for (std::size_t i = 0; i < order.count; ++i) r = r * order.axes[i].size.value() + digit[i];
      return r;
    }
  }
  static index_t b_floats(const kernel_call& call) { return panels(call).packed_size(); }
  static void pack(const kernel_call& call) noexcept { pack_b(call, 0, reinterpret_cast<float*>(call.packed)); }

  static constexpr bool pack_once = b_is_setup && one_b && k_dim.is_known() && n_dim.is_known();
  static constexpr std::uint32_t packed_inputs = 0b10;  // the right factor
  static constexpr std::int64_t packed_bytes = [] {
    if constexpr (pack_once) {
      const gemm<constant<1>, constant<n_dim.value()>, constant<k_dim.value()>> g{};
      return g.packed_size() * static_cast<std::int64_t>(sizeof(float));
    } else return std::int64_t{0};
  }();

  // --- first phase: packed panels of a computed B (a unit a batch), then rows of A (a unit a row)
  static index_t b_units(const kernel_call& call) { return pack_once ? 0 : one_b ? 1 : batches(call); }
  static index_t a_units(const kernel_call& call) { return direct ? 0 : batches(call) * rows(call); }
  // Scratch: panels of B, then the partial sums of long reductions (a piece a batch, in which each unit has a place of
  // its own), then rows of A.
  static index_t b_scratch(const kernel_call& call) { return b_units(call) * b_floats(call); }
  static index_t partial_scratch(const kernel_call& call) { return batches(call) * product(call).scratch_size(); }
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept {
    const index_t a = a_units(call) * extent_value<k_dim>(call);
    return (b_scratch(call) + partial_scratch(call) + a) * static_cast<std::int64_t>(sizeof(float));
  }
  static index_t prepare_units(const kernel_call& call) noexcept { return b_units(call) + a_units(call); }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept {
    auto* scratch = reinterpret_cast<float*>(call.scratch);
    const index_t panels_of_b = b_units(call), k = extent_value<k_dim>(call), m = rows(call);
    for (index_t u = first; u < last; ++u) {
      if (u < panels_of_b) {
        pack_b(call, u, scratch + u * b_floats(call));
        continue;
      }
      const index_t row = u - panels_of_b;
      float* out = scratch + b_scratch(call) + partial_scratch(call) + row * k;
      coordinates c = a_row(call, row / m, row % m);
      for_lanes<float_lanes, a_rank - 1>(c, k, [&](auto n) {
        const auto v = values::template evaluate<a_ref, float_lanes, a_rank - 1>(call, c, n, 0);
        if constexpr (is_constant<decltype(n)>) v.store(out + c[a_rank - 1]);
        else v.store(out + c[a_rank - 1], n);
      });
    }
  }
  // Coordinates in A of row m of a batch.
  static coordinates a_row(const kernel_call& call, index_t batch, index_t m) {
    coordinates c{};
    if constexpr (one_b) {
      for (std::size_t d = a_rank - 1; d-- > 0;) {
        const index_t n = access::bound(a_dim(d), call);
        c[d] = m % n;
        m /= n;
      }
    } else {
      c = operand_coordinates(call, batch_coordinates(call, batch), a_rank, a_dim);
      c[a_rank - 2] = m;
    }
    return c;
  }

  // --- second phase
  static index_t units(const kernel_call& call) noexcept { return batches(call) * product(call).units(); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto g = product(call);
    auto* const scratch = reinterpret_cast<float*>(call.scratch);
    const index_t each = g.units(), k = extent_value<k_dim>(call), m = rows(call), partial = g.scratch_size();
    for (index_t u = first; u < last;) {
      const index_t batch = u / each, stop = std::min(last, (batch + 1) * each);
      const float* a = scratch + b_scratch(call) + partial_scratch(call) + batch * m * k;
      if constexpr (direct) {
        constexpr recipe_load l = a_load;
        a = values::template pointer<a_ref.index>(call) +
            view_address<Net, l.axes, l.offset>(call, a_row(call, batch, 0));
      }
      const float* b =
          pack_once ? reinterpret_cast<const float*>(call.packed) : scratch + (one_b ? 0 : batch) * b_floats(call);
      const coordinates leading = batch_coordinates(call, batch);
      const auto finish = [&](auto acc, index_t row, index_t n, auto valid) {
        coordinates c = leading;
        if constexpr (one_b) {
          for (std::size_t d = rank - 1; d-- > 0;) {
            const index_t extent = access::bound(access::space(d), call);
            if (extent == 1) continue;
            c[d] = row % extent;
            row /= extent;
          }
        } else {
          c[rank - 2] = row;
        }
        c[rank - 1] = n;
        values::template finish<float_lanes, rank - 1>(call, c, valid, acc);
      };
      g.run(a, b, nullptr, u - batch * each, stop - batch * each, finish,
            partial == 0 ? nullptr : scratch + b_scratch(call) + batch * partial);
      u = stop;
    }
  }

  static constexpr bool prepares = !direct || !pack_once;
  static constexpr bool may_be_long = !k_dim.is_known() || k_dim.value() > longest_whole_reduction;
  static constexpr kernel_entry entry{units,
                                      run,
                                      prepares ? prepare_units : nullptr,
                                      prepares ? prepare : nullptr,
                                      prepares || may_be_long ? scratch_bytes : nullptr,
                                      pack_once ? pack : nullptr,
                                      packed_bytes,
                                      pack_once ? packed_inputs : 0};
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
