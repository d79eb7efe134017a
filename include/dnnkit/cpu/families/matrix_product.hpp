// SPDX-License-Identifier: MIT
// The kernel of a group around a matrix product: GEMM over rows read in place and packed panels (cpu/micro/gemm.hpp),
// in floats or integers of 32 or 64 bits, of which narrower integers take the lowest. Weights are packed once; a
// product's second operand that is computed is packed in scratch, once a run, unless there are few rows to multiply it
// by: then it is read where it lies (cpu/micro/thin_gemm.hpp). A first operand whose rows are not contiguous, or that
// has a prologue, is brought into scratch row by row.
// Parameters of its choices: rows that all panels pass at once, and steps of the reduction that a register tile takes
// in one go; 0 where nobody has asked for any (gemm_cut).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/families/product_kernel.hpp"
#include "dnnkit/cpu/micro/gemm.hpp"
#include "dnnkit/cpu/micro/thin_gemm.hpp"
#include "dnnkit/cpu/tree_cost.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct matrix_product {
  static constexpr std::string_view name = "matrix_product";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::matmul>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const product_spec spec(recipe);
    if (const std::string_view why = spec.unfit(); !why.empty()) return no_match{why};
    const bool in_place = spec.in_place(), once = spec.is_packed_once(), thin = is_thin(spec, facts);
    kernel_choice c;
    c.operands = {in_place ? operand_reading::in_place : operand_reading::staged,
                  thin   ? operand_reading::in_place
                  : once ? operand_reading::packed_once
                         : operand_reading::packed_each_run};
    if (in_place && spec.order.axes.size() > 1) c.walk = spec.order.by_stride;
    c.tile.along = static_cast<std::int8_t>(spec.rank() - 1);
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    c.tile.vectors = static_cast<std::uint8_t>(widest(spec, facts));
    if (!thin) {
      c.genes = genes_of(spec, facts);
      const gemm_cut cut = asked_cut(spec);
      c.tile.rows = static_cast<std::uint8_t>(cut.most_rows == 0 ? 0 : c.genes.rows);
      c.parameters = {cut.block == 0 ? 0 : c.genes.block, cut.depth == 0 ? 0 : c.genes.depth};
    }
    c.cost = cost(spec, facts, in_place, once || thin);
    c.reason = thin ? "there are few rows, and those of the second factor are read where they lie"
                    : spec.reason(in_place, once);
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  static constexpr bool is_thin(const product_spec& spec, const cpu_facts& facts) {
    return !spec.is_packed_once() && spec.reads_rows_of_b(plan::tile_rows(facts, tile_vectors(facts)));
  }
  // Can B be packed in vectors of its rows?
  static constexpr bool packs_vectors(const product_spec& spec) {
    return lies_in_rows(spec, spec.input(1), spec.b_rank - 1);
  }
  // is_ready: B need not be packed in the run
  static constexpr kernel_cost cost(const product_spec& spec, const cpu_facts& facts, bool in_place, bool is_ready) {
    const cost_coefficients& of = facts.costs;
    const auto k = static_cast<double>(known_or_typical(spec.k_dim())),
               n = static_cast<double>(known_or_typical(spec.n_dim()));
    const double bytes = bytes_of(spec);
    const double rows = spec.elements() / n, vectors = rows * vectors_of(facts, n);
    const double batches = spec.one_b() ? 1 : rows / static_cast<double>(known_or_typical(spec.m_dim()));
    const tiled_cycles one =
        cycles_of(facts, product_of(spec, facts, rows / batches), widest(spec, facts) * registers_of(spec));
    kernel_work work{.cycles = batches * one.arithmetic +
                               vectors * tree_cost(spec, facts, spec.rank() - 1, facts.float_lanes).outputs(),
                     .starts = batches * one.starts,
                     .traffic = traffic_of(spec, facts)};
    if (!in_place) {
      const double a = spec.elements_of(0);
      const tree_cost tree(spec, facts, spec.a_rank - 1, facts.float_lanes);
      work.cycles += a / k * vectors_of(facts, k) * (tree.value(spec.input(0)) + of.store);
      work.starts += of.phase + a / k * of.row;
      work.staged += bytes * a;
    }
    if (!is_ready) {
      const double b = spec.elements_of(1);
      if (packs_vectors(spec)) {
        const tree_cost tree(spec, facts, spec.b_rank - 1, facts.float_lanes);
        work.cycles += b / n * vectors_of(facts, n) * (tree.value(spec.input(1)) + of.store);
      } else {
        work.gathered += b;
        work.cycles += b * tree_cost(spec, facts, spec.b_rank - 1, 1).value(spec.input(1));
      }
      work.starts += of.phase;
      work.staged += bytes * b;
    }
    return estimate(facts, work);
  }
  static constexpr tiled_product product_of(const product_spec& spec, const cpu_facts& facts, double rows) {
    const auto k = static_cast<double>(known_or_typical(spec.k_dim())),
               n = static_cast<double>(known_or_typical(spec.n_dim()));
    const local_extent step =
        spec.in_place() ? spec.stride_along(spec.a_load.axes, spec.row_axis()).stride : spec.k_dim();
    return {.rows = rows,
            .vectors = vectors_of(facts, n) * registers_of(spec),
            .depth = k,
            .rows_collide = step.is_known() && rows_collide(facts, step.value() * bytes_of(spec)),
            .most_rows = spec.genes().rows};
  }
  // How the product is to be cut, as far as it is said from outside: rows and a reduction only where it is known how
  // many.
  static constexpr gemm_cut asked_cut(const product_spec& spec) {
    return {.most_rows = spec.genes().rows,
            .block = spec.rows_are_known() ? spec.genes().block : 0,
            .depth = spec.k_dim().is_known() ? spec.genes().depth : 0};
  }
  // What comes of it.
  static constexpr kernel_genes genes_of(const product_spec& spec, const cpu_facts& facts) {
    const gemm_cut cut = asked_cut(spec);
    const index_t k = known_or_typical(spec.k_dim()), n = known_or_typical(spec.n_dim()),
                  vectors = static_cast<index_t>(vectors_of(facts, static_cast<double>(n)));
    const index_t rows = spec.one_b() ? static_cast<index_t>(spec.rows()) : known_or_typical(spec.m_dim());
    const bool known_rows = spec.rows_are_known(), known_n = spec.n_dim().is_known(), known_k = spec.k_dim().is_known();
    kernel_genes genes;
    genes.vectors = widest(spec, facts);
    if (known_n) genes.vectors = static_cast<std::int32_t>(plan::largest_piece(vectors, genes.vectors));
    genes.rows = plan::tile_rows(facts, registers_of(spec) * genes.vectors, cut.most_rows);
    if (known_rows) genes.rows = static_cast<std::int32_t>(plan::largest_piece(rows, genes.rows));
    if (known_rows && known_n && known_k)
      genes.block = static_cast<std::int32_t>(ceil_div(
          rows, cut.blocks_of_rows(rows, k, ceil_div(vectors, genes.vectors), bytes_of(spec), facts.l2_bytes)));
    if (known_k) genes.depth = static_cast<std::int32_t>(ceil_div(k, cut.blocks_of_reduction(k)));
    return genes;
  }
  static constexpr int widest(const product_spec& spec, const cpu_facts& facts) {
    const int asked = spec.genes().vectors;
    if (asked > 0 && asked * registers_of(spec) <= plan::tile_vectors(facts)) return asked;
    return gemm_panel_vectors(facts, spec.k_dim().is_known() ? spec.k_dim().value() : 1, bytes_of(spec));
  }
  // Of an element, as it is multiplied; registers that hold a vector of such.
  static constexpr int bytes_of(const product_spec& spec) {
    return static_cast<int>(size_of(multiplied_as(spec.anchor_type())));
  }
  static constexpr int registers_of(const product_spec& spec) { return bytes_of(spec) / 4; }
};

template <class Net, std::size_t R> struct matrix_product::kernel : product_kernel<Net, R> {
  using facts = product_kernel<Net, R>;
  using access = typename facts::access;
  using values = typename facts::values;
  using facts::a_load, facts::a_ref, facts::a_row, facts::b_dim, facts::b_load, facts::b_ref, facts::batch_coordinates,
      facts::batches, facts::in_place, facts::k_dim, facts::logical_k, facts::n_dim, facts::one_b,
      facts::operand_coordinates, facts::packed_once, facts::row_stride, facts::rows;
  static constexpr std::size_t rank = facts::rank, a_rank = facts::a_rank, b_rank = facts::b_rank;

  // What is multiplied.
  using vector = lanes<multiplied_as(access::self.anchor_type), float_lanes>;
  using number = typename vector::value_type;
  static constexpr index_t number_bytes = sizeof(number);

  static constexpr int panel_vectors_of_b = access::choice.tile.vectors;
  static constexpr gemm_cut cut = [] {
    const auto& of = access::choice.parameters;
    return of.empty() ? gemm_cut{} : gemm_cut{.most_rows = access::choice.tile.rows, .block = of[0], .depth = of[1]};
  }();
  static auto product(const kernel_call& call) {
    const auto m = rows(call);
    const auto n = extent_value<n_dim>(call);
    const auto k = extent_value<k_dim>(call);
    const auto s = row_stride(call);
    return gemm<std::remove_cvref_t<decltype(m)>, std::remove_cvref_t<decltype(n)>, std::remove_cvref_t<decltype(k)>,
                std::remove_cvref_t<decltype(s)>, panel_vectors_of_b, vector, cut>{m, n, k, s};
  }

  // --- B
  static constexpr bool is_thin = access::choice.operands[1] == operand_reading::in_place;
  static auto thin_product(const kernel_call& call) {
    const auto n = extent_value<n_dim>(call);
    const auto k = extent_value<k_dim>(call);
    const auto of_a = row_stride(call);
    const auto of_b = extent_value<facts::spec.stride_along(b_load.axes, b_rank - 2).stride>(call);
    using count = std::remove_cvref_t<decltype(rows(call))>;
    return thin_gemm<static_cast<int>(count::value), std::remove_cvref_t<decltype(n)>, std::remove_cvref_t<decltype(k)>,
                     std::remove_cvref_t<decltype(of_a)>, std::remove_cvref_t<decltype(of_b)>, vector>{n, k, of_a,
                                                                                                       of_b};
  }
  static const number* stored_b(const kernel_call& call, const coordinates& batch) {
    constexpr recipe_load l = b_load;
    return reinterpret_cast<const number*>(values::template pointer<b_ref.index>(call)) +
           view_address<Net, l.axes, l.offset>(call, operand_coordinates(call, batch, b_rank, b_dim));
  }
  // The layout of packed panels depends on N and K alone: sessions pack weights before any symbol is bound.
  static auto panels(const kernel_call& call) {
    const auto n = extent_value<n_dim>(call);
    const auto k = extent_value<k_dim>(call);
    using extent_of_k = std::remove_cvref_t<decltype(k)>;
    return gemm<constant<1>, std::remove_cvref_t<decltype(n)>, extent_of_k, extent_of_k, panel_vectors_of_b, vector>{
        {}, n, k, k};
  }
  static void pack_b(const kernel_call& call, index_t batch, number* out) {
    const coordinates at = operand_coordinates(call, batch_coordinates(call, batch), b_rank, b_dim);
    const auto place = [&](index_t k, index_t n) {
      coordinates c = at;
      c[b_rank - 2] = logical_k(k);
      c[b_rank - 1] = n;
      return c;
    };
    if constexpr (!packed_once && packs_vectors(facts::spec))
      panels(call).pack_vectors(
          [&](index_t k, index_t n, auto count) {
            return multiplied(values::template evaluate<b_ref, float_lanes, b_rank - 1>(call, place(k, n), count, 0));
          },
          out);
    else
      panels(call).pack(
          [&](index_t k, index_t n) {
            return values::template evaluate<b_ref, 1, 0>(call, place(k, n), constant<1>{}, 0);
          },
          out);
  }
  static index_t b_numbers(const kernel_call& call) { return panels(call).packed_size(); }
  static void pack(const kernel_call& call) noexcept requires(packed_once) {
    pack_b(call, 0, reinterpret_cast<number*>(call.packed));
  }
  static constexpr std::uint32_t packed_inputs = packed_once ? 0b10 : 0;  // the right factor
  static constexpr std::int64_t packed_bytes = [] {
    if constexpr (packed_once) {
      using extent_of_k = constant<k_dim.value()>;
      const gemm<constant<1>, constant<n_dim.value()>, extent_of_k, extent_of_k, panel_vectors_of_b, vector> g{};
      return g.packed_size() * number_bytes;
    } else return std::int64_t{0};
  }();

  // --- first phase: packed panels of a computed B (a unit a batch), then rows of A (a unit a row)
  static index_t b_units(const kernel_call& call) { return packed_once || is_thin ? 0 : one_b ? 1 : batches(call); }
  static index_t a_units(const kernel_call& call) { return in_place ? 0 : batches(call) * rows(call); }
  // Scratch: panels of B, then the partial sums of long reductions (a piece a batch, in which each unit has a place of
  // its own), then rows of A.
  static index_t b_scratch(const kernel_call& call) { return b_units(call) * b_numbers(call); }
  static index_t partial_scratch(const kernel_call& call) {
    return is_thin ? 0 : batches(call) * product(call).scratch_size();
  }
  static constexpr bool prepares = !in_place || !(packed_once || is_thin);
  static constexpr bool may_be_long = !is_thin && (!k_dim.is_known() || cut.blocks_of_reduction(k_dim.value()) > 1);
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept requires(prepares || may_be_long) {
    const index_t a = a_units(call) * extent_value<k_dim>(call);
    return (b_scratch(call) + partial_scratch(call) + a) * number_bytes;
  }
  static index_t prepare_units(const kernel_call& call) noexcept requires(prepares) {
    return b_units(call) + a_units(call);
  }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept requires(prepares) {
    auto* scratch = reinterpret_cast<number*>(call.scratch);
    const index_t panels_of_b = b_units(call), k = extent_value<k_dim>(call), m = rows(call);
    for (index_t u = first; u < last; ++u) {
      if (u < panels_of_b) {
        pack_b(call, u, scratch + u * b_numbers(call));
        continue;
      }
      const index_t row = u - panels_of_b;
      number* out = scratch + b_scratch(call) + partial_scratch(call) + row * k;
      coordinates c = a_row(call, row / m, row % m);
      for_lanes<float_lanes, a_rank - 1>(c, k, [&](auto n) {
        const vector v = multiplied(values::template evaluate<a_ref, float_lanes, a_rank - 1>(call, c, n, 0));
        v.store(out + c[a_rank - 1], n);
      });
    }
  }
  // Elements as they are multiplied.
  template <class T> [[gnu::always_inline]] static vector multiplied(const T& x) {
    if constexpr (std::is_same_v<T, vector>) return x;
    else
      return lanes_from<multiplied_as(access::self.anchor_type), float_lanes>(
          [&](int i) { return static_cast<number>(x[i]); });
  }
  // --- second phase
  static auto work(const kernel_call& call) {
    if constexpr (is_thin) return thin_product(call);
    else return product(call);
  }
  static index_t units(const kernel_call& call) noexcept { return batches(call) * work(call).units(); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const auto g = work(call);
    auto* const scratch = reinterpret_cast<number*>(call.scratch);
    const index_t each = g.units(), k = extent_value<k_dim>(call), m = rows(call), packed = b_scratch(call);
    for (index_t u = first; u < last;) {
      const index_t batch = u / each, begin = u - batch * each, stop = std::min(last, (batch + 1) * each);
      const number* a = scratch + packed + partial_scratch(call) + batch * m * k;
      if constexpr (in_place) {
        constexpr recipe_load l = a_load;
        a = reinterpret_cast<const number*>(values::template pointer<a_ref.index>(call)) +
            view_address<Net, l.axes, l.offset>(call, a_row(call, batch, 0));
      }
      const coordinates leading = batch_coordinates(call, batch);
      const auto finish = [&](auto acc, index_t row, index_t n, auto valid) {
        coordinates c = facts::result_row(call, leading, row);
        c[rank - 1] = n;
        values::template finish<float_lanes, rank - 1>(call, c, valid, acc);
      };
      if constexpr (is_thin) {
        g.run(a, stored_b(call, leading), begin, stop - batch * each, finish);
      } else {
        const number* b = packed_once ? reinterpret_cast<const number*>(call.packed)
                                      : scratch + (one_b ? 0 : batch) * b_numbers(call);
        const index_t partial = g.scratch_size();
        g.run(a, b, nullptr, begin, stop - batch * each, finish,
              partial == 0 ? nullptr : scratch + packed + batch * partial);
      }
      u = stop;
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
