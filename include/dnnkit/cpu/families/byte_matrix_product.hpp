// SPDX-License-Identifier: MIT
// The kernel of a group around a product of 8-bit integers (MatMulInteger): rows of bytes read in place, panels of
// packed bytes (cpu/micro/byte_gemm.hpp), sums in 32 bits, exact. With zero points a and b of the factors,
//   sum (A - a)(B - b) = sum A B - a (sum B - K b) - b sum A
// whose first correction is known of each column when B is packed, and whose second takes the sums of the rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/families/product_kernel.hpp"
#include "dnnkit/cpu/micro/byte_gemm.hpp"
#include "dnnkit/cpu/tree_cost.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct byte_matrix_product {
  static constexpr std::string_view name = "byte_matrix_product";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::matmul_integer>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const product_spec spec(recipe);
    if (const std::string_view why = unfit(spec); !why.empty()) return no_match{why};
    const bool in_place = spec.in_place() && may_read_behind(spec, facts),
               once = spec.is_packed_once() && spec.is_setup(spec.input(3));
    kernel_choice c;
    c.operands = {in_place ? operand_reading::in_place : operand_reading::staged,
                  once ? operand_reading::packed_once : operand_reading::packed_each_run,
                  has(spec, 2) ? operand_reading::evaluated : operand_reading::absent,
                  has(spec, 3) ? (once ? operand_reading::packed_once : operand_reading::packed_each_run)
                               : operand_reading::absent};
    if (in_place && spec.order.axes.size() > 1) c.walk = spec.order.by_stride;
    c.tile.along = static_cast<std::int8_t>(spec.rank() - 1);
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    c.tile.vectors = static_cast<std::uint8_t>(widest(spec, facts));
    c.cost = cost(spec, facts, in_place, once);
    c.reason = spec.reason(in_place, once);
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  static constexpr bool has(const product_spec& spec, std::size_t input) {
    return spec.input(input).from != source::nothing;
  }
  static constexpr std::string_view unfit(const product_spec& spec) {
    if (!is_byte(spec.type_of(spec.input(0))) || !is_byte(spec.type_of(spec.input(1))))
      return "the elements have 16 bits";
    if (!spec.is_matrix()) return "a factor is a vector";
    return {};
  }
  // Rows of A are read in place only where there is room behind them.
  static constexpr bool may_read_behind(const product_spec& spec, const cpu_facts& facts) {
    if (!spec.a_load.external && !spec.a_load.setup) return true;
    return spec.k_dim().is_known() ? !reads_behind(facts, spec.k_dim().value()) : !facts.tile_registers;
  }
  static constexpr int widest(const product_spec& spec, const cpu_facts& facts) {
    return byte_panel_vectors(facts, spec.k_dim().is_known() ? spec.k_dim().value() : 1);
  }
  static constexpr kernel_cost cost(const product_spec& spec, const cpu_facts& facts, bool in_place, bool once) {
    const cost_coefficients& of = facts.costs;
    const auto k = static_cast<double>(known_or_typical(spec.k_dim())),
               n = static_cast<double>(known_or_typical(spec.n_dim()));
    const double rows = spec.elements() / n, vectors = rows * vectors_of(facts, n);
    const double batches = spec.one_b() ? 1 : rows / static_cast<double>(known_or_typical(spec.m_dim()));
    const tiled_cycles one =
        cycles_of_bytes(facts, rows / batches, vectors_of(facts, n), 1, static_cast<index_t>(k), widest(spec, facts),
                        spec.k_dim().is_known() && rows_collide(facts, spec.k_dim().value()));
    kernel_work work{.cycles = batches * one.arithmetic +
                               vectors * tree_cost(spec, facts, spec.rank() - 1, facts.float_lanes).outputs(),
                     .starts = batches * one.starts,
                     .traffic = traffic_of(spec, facts)};
    const double a = spec.elements_of(0), rows_of_a = a / k;
    if (!in_place || has(spec, 3)) {
      const tree_cost tree(spec, facts, spec.a_rank - 1, facts.float_lanes);
      work.cycles += rows_of_a * vectors_of(facts, k) * (tree.value(spec.input(0)) + of.store);
      work.starts += of.phase + rows_of_a * of.row;
      if (!in_place) work.staged += a;
    }
    if (!once) {
      const double b = spec.elements_of(1);
      work.gathered += b;
      work.cycles += b * tree_cost(spec, facts, spec.b_rank - 1, 1).value(spec.input(1));
      work.starts += of.phase;
      work.staged += b;
    }
    return estimate(facts, work);
  }
};

template <class Net, std::size_t R> struct byte_matrix_product::kernel : product_kernel<Net, R> {
  using facts = product_kernel<Net, R>;
  using access = typename facts::access;
  using values = typename facts::values;
  using facts::a_load, facts::a_ref, facts::a_row, facts::b_dim, facts::b_ref, facts::batch_coordinates, facts::batches,
      facts::in_place, facts::k_dim, facts::logical_k, facts::n_dim, facts::one_b, facts::operand_coordinates,
      facts::packed_once, facts::row_stride, facts::rows;
  static constexpr std::size_t rank = facts::rank, a_rank = facts::a_rank, b_rank = facts::b_rank;

  static constexpr operand_ref a_zero = facts::spec.input(2), b_zero = facts::spec.input(3);
  static constexpr bool signed_a = facts::spec.type_of(a_ref) == dtype::i8,
                        signed_b = facts::spec.type_of(b_ref) == dtype::i8;
  static constexpr byte_sign sign = signed_a ? byte_sign::is_signed : byte_sign::is_unsigned;
  // Kernels take B for signed bytes, and A perhaps for unsigned ones; zero points move with them.
  static constexpr std::int32_t more_a = added_to_bytes<sign>, less_b = signed_b ? 0 : 128;
  static constexpr bool sums_rows = !signed_b || b_zero.from != source::nothing;
  static constexpr bool corrects = sums_rows || more_a != 0 || a_zero.from != source::nothing;

  static constexpr bool one_zero(std::size_t input) {
    for (std::size_t d = 0; d < facts::spec.rank_of(input); ++d)
      if (facts::spec.extent_of(input, d) != 1) return false;
    return true;
  }
  // The zero point of row or column i, as the kernels' bytes have it.
  template <std::size_t Input> static std::int32_t zero_point(const kernel_call& call, index_t i) {
    constexpr operand_ref zero = facts::spec.input(Input);
    constexpr std::int32_t moved = Input == 2 ? more_a : -less_b;
    if constexpr (zero.from == source::nothing) {
      return moved;
    } else {
      const coordinates at{one_zero(Input) ? 0 : i};
      return static_cast<std::int32_t>(values::template evaluate<zero, 1, 0>(call, at, constant<1>{}, 0)) + moved;
    }
  }

  static constexpr int panel_vectors_of_b = access::choice.tile.vectors;
  template <class M, class Stride> static auto product_of(const kernel_call& call, M m, Stride stride) {
    const auto n = extent_value<n_dim>(call);
    const auto k = extent_value<k_dim>(call);
    return byte_gemm<sign, M, std::remove_cvref_t<decltype(n)>, std::remove_cvref_t<decltype(k)>, Stride,
                     panel_vectors_of_b>{m, n, k, stride};
  }
  static auto product(const kernel_call& call) { return product_of(call, rows(call), row_stride(call)); }
  // The layout of packed panels depends on N and K alone.
  static auto panels(const kernel_call& call) { return product_of(call, constant<1>{}, extent_value<k_dim>(call)); }

  // --- B: panels; then of each column what a row's zero point is taken times, sum B - K b, and b; then whether any b
  // is not 0
  static constexpr index_t whole_lines(index_t bytes) { return ceil_div(bytes, 64) * 64; }
  static constexpr index_t panel_bytes(const auto& g) {
    return whole_lines(g.packed_size() * static_cast<index_t>(sizeof(packed_byte)));
  }
  static constexpr index_t bytes_of(const auto& g) {
    return panel_bytes(g) + whole_lines((2 * g.columns() + 1) * static_cast<index_t>(sizeof(std::int32_t)));
  }
  struct packed_b {
    packed_byte* panels;
    std::int32_t *by_a_zero, *zero, *any_zero;

    packed_b(std::byte* at, const auto& g)
        : panels(reinterpret_cast<packed_byte*>(at)),
          by_a_zero(reinterpret_cast<std::int32_t*>(at + panel_bytes(g))),
          zero(by_a_zero + g.columns()),
          any_zero(zero + g.columns()) {}
  };
  static void pack_b(const kernel_call& call, index_t batch, std::byte* out) {
    const coordinates at = operand_coordinates(call, batch_coordinates(call, batch), b_rank, b_dim);
    const auto g = panels(call);
    const packed_b to(out, g);
    const index_t columns = g.columns(), k = g.k, n = g.n;
    std::fill(to.by_a_zero, to.by_a_zero + 2 * columns + 1, 0);
    g.pack(
        [&](index_t row, index_t column) {
          coordinates c = at;
          c[b_rank - 2] = logical_k(row);
          c[b_rank - 1] = column;
          const auto x = static_cast<std::int32_t>(values::template evaluate<b_ref, 1, 0>(call, c, constant<1>{}, 0));
          to.by_a_zero[column] += x - less_b;
          return x - less_b;
        },
        to.panels);
    for (index_t column = 0; column < n; ++column) {
      to.zero[column] = zero_point<3>(call, column);
      to.by_a_zero[column] -= static_cast<std::int32_t>(k) * to.zero[column];
      if (to.zero[column] != 0) *to.any_zero = 1;
    }
  }
  static void pack(const kernel_call& call) noexcept requires(packed_once) { pack_b(call, 0, call.packed); }
  // the right factor and its zero points
  static constexpr std::uint32_t packed_inputs = packed_once ? (b_zero.from == source::nothing ? 0b0010 : 0b1010) : 0;
  static constexpr std::int64_t packed_bytes = [] {
    if constexpr (packed_once) {
      using extent_of_k = constant<k_dim.value()>;
      return bytes_of(
          byte_gemm<sign, constant<1>, constant<n_dim.value()>, extent_of_k, extent_of_k, panel_vectors_of_b>{});
    } else return std::int64_t{0};
  }();

  // --- first phase: packed panels of a computed B (a unit a batch), then rows of A (a unit a row): their sums, and the
  // rows themselves if they are staged
  static index_t b_units(const kernel_call& call) { return packed_once ? 0 : one_b ? 1 : batches(call); }
  static constexpr bool visits_rows = !in_place || sums_rows;
  static index_t a_units(const kernel_call& call) { return visits_rows ? batches(call) * rows(call) : 0; }
  // Scratch: B, sums of rows of A, rows of A.
  static index_t b_scratch(const kernel_call& call) {
    return b_units(call) == 0 ? 0 : b_units(call) * bytes_of(panels(call));
  }
  static index_t sum_scratch(const kernel_call& call) {
    return sums_rows ? whole_lines(a_units(call) * static_cast<index_t>(sizeof(std::int32_t))) : 0;
  }
  static constexpr bool prepares = visits_rows || !packed_once;
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept requires(prepares) {
    return b_scratch(call) + sum_scratch(call) +
           (in_place ? 0 : a_units(call) * extent_value<k_dim>(call) + most_behind);
  }
  static index_t prepare_units(const kernel_call& call) noexcept requires(prepares) {
    return b_units(call) + a_units(call);
  }
  static std::int32_t* row_sums(const kernel_call& call) {
    return reinterpret_cast<std::int32_t*>(call.scratch + b_scratch(call));
  }
  static std::uint8_t* staged_rows(const kernel_call& call) {
    return reinterpret_cast<std::uint8_t*>(call.scratch + b_scratch(call) + sum_scratch(call));
  }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept requires(prepares) {
    const index_t panels_of_b = b_units(call), k = extent_value<k_dim>(call), m = rows(call);
    const bool wants_sums = sums_rows && (!packed_once || *packed_b(call.packed, panels(call)).any_zero != 0);
    for (index_t u = first; u < last; ++u) {
      if (u < panels_of_b) {
        pack_b(call, u, call.scratch + u * bytes_of(panels(call)));
        continue;
      }
      const index_t row = u - panels_of_b;
      const std::uint8_t* bytes = in_place ? in_place_row(call, row / m, row % m) : stage(call, row, k, m);
      if (wants_sums) row_sums(call)[row] = sum_of(bytes, k);
    }
  }
  static const std::uint8_t* in_place_row(const kernel_call& call, index_t batch, index_t m) {
    if constexpr (in_place) {
      constexpr recipe_load l = a_load;
      return reinterpret_cast<const std::uint8_t*>(values::template pointer<a_ref.index>(call)) +
             view_address<Net, l.axes, l.offset>(call, a_row(call, batch, m));
    } else return nullptr;
  }
  static const std::uint8_t* stage(const kernel_call& call, index_t row, index_t k, index_t m) {
    std::uint8_t* const out = staged_rows(call) + row * k;
    coordinates c = a_row(call, row / m, row % m);
    for_lanes<float_lanes, a_rank - 1>(c, k, [&](auto n) {
      const auto v = values::template evaluate<a_ref, float_lanes, a_rank - 1>(call, c, n, 0);
      if constexpr (is_constant<decltype(n)>) store_as(v, out + c[a_rank - 1]);
      else store_as(v, out + c[a_rank - 1], n);
    });
    return out;
  }
  // As the kernels take them.
  static std::int32_t sum_of(const std::uint8_t* bytes, index_t k) {
    std::int32_t sum = 0;
    for (index_t i = 0; i < k; ++i) sum += (signed_a ? static_cast<std::int8_t>(bytes[i]) : bytes[i]) + more_a;
    return sum;
  }

  // --- second phase
  static index_t units(const kernel_call& call) noexcept { return batches(call) * product(call).units(); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto g = product(call);
    const index_t each = g.units(), k = extent_value<k_dim>(call), m = rows(call);
    for (index_t u = first; u < last;) {
      const index_t batch = u / each, stop = std::min(last, (batch + 1) * each);
      const std::uint8_t* a = in_place ? in_place_row(call, batch, 0) : staged_rows(call) + batch * m * k;
      const packed_b b(packed_once ? call.packed : call.scratch + (one_b ? 0 : batch) * bytes_of(panels(call)),
                       panels(call));
      const coordinates leading = batch_coordinates(call, batch);
      const std::int32_t zero = corrects ? zero_point<2>(call, 0) : 0;
      const std::int32_t* const sums = sums_rows && *b.any_zero != 0 ? row_sums(call) + batch * m : nullptr;
      const auto start = [&](index_t row, index_t column) {
        if constexpr (!corrects) {
          return int_vec(0);
        } else {
          const std::int32_t of_row = one_a_zero ? zero : zero_point<2>(call, row);
          int_vec sum = -(int_vec(of_row) * int_vec::load(b.by_a_zero + column));
          if constexpr (sums_rows)
            if (sums != nullptr) sum -= int_vec::load(b.zero + column) * int_vec(sums[row]);
          return sum;
        }
      };
      const auto finish = [&](auto acc, index_t row, index_t n, auto valid) __attribute__((always_inline)) {
        coordinates c = facts::result_row(call, leading, row);
        c[rank - 1] = n;
        values::template finish<float_lanes, rank - 1>(call, c, valid, acc);
      };
      g.run(a, b.panels, u - batch * each, stop - batch * each, start, finish);
      u = stop;
    }
  }
  static constexpr bool one_a_zero = a_zero.from == source::nothing || one_zero(2);
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
