// SPDX-License-Identifier: MIT
// What the kernels of matrix products have in common: sizes, batches, and the coordinates of rows, columns and steps of
// the reduction.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/product_spec.hpp"
#include "dnnkit/cpu/loop.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

template <class Net, std::size_t R> struct product_kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr product_spec spec{kernel_spec(Net::plan, R)};
  static constexpr operand_ref a_ref = spec.input(0), b_ref = spec.input(1);
  static constexpr std::size_t rank = spec.rank(), a_rank = spec.a_rank, b_rank = spec.b_rank;
  static constexpr local_extent k_dim = spec.k_dim(), n_dim = spec.n_dim(), m_dim = spec.m_dim();
  static constexpr local_extent a_dim(std::size_t d) { return spec.a_dim(d); }
  static constexpr local_extent b_dim(std::size_t d) { return spec.b_dim(d); }
  static constexpr bool one_b = spec.one_b();
  static constexpr recipe_load a_load = spec.a_load, b_load = spec.b_load;
  static constexpr product_spec::k_order order = spec.order;
  static constexpr bool in_place = access::choice.operands[0] == operand_reading::in_place;
  static constexpr bool packed_once = access::choice.operands[1] == operand_reading::packed_once;

  // --- sizes
  static index_t batches(const kernel_call& call) {
    index_t n = 1;
    if (!one_b)
      for (std::size_t d = 0; d + 2 < rank; ++d) n *= access::bound(access::space(d), call);
    return n;
  }
  static auto rows(const kernel_call& call) {
    if constexpr (!one_b) {
      return extent_value<m_dim>(call);
    } else if constexpr (spec.rows_are_known()) {
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
  static auto row_stride(const kernel_call& call) {
    if constexpr (in_place) return extent_value<spec.stride_along(a_load.axes, spec.row_axis()).stride>(call);
    else return extent_value<k_dim>(call);
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

  // Coordinates of row m of a batch, whose leading coordinates are given, in the result.
  static coordinates result_row(const kernel_call& call, coordinates c, index_t m) {
    if constexpr (one_b) {
      for (std::size_t d = rank - 1; d-- > 0;) {
        const index_t extent = access::bound(access::space(d), call);
        if (extent == 1) continue;
        c[d] = m % extent;
        m /= extent;
      }
    } else {
      c[rank - 2] = m;
    }
    return c;
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
  // Position k of the walk as an index into K.
  static index_t logical_k(index_t k) {
    if constexpr (access::choice.walk.empty()) {
      return k;
    } else {
      std::array<index_t, 8> digit{};
      for (std::size_t i = order.axes.size(); i-- > 0;) {
        const index_t n = order.axes[access::choice.walk[i]].size.value();
        digit[access::choice.walk[i]] = k % n;
        k /= n;
      }
      index_t r = 0;
      for (std::size_t i = 0; i < order.axes.size(); ++i) r = r * order.axes[i].size.value() + digit[i];
      return r;
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
