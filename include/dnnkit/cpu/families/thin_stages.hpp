// SPDX-License-Identifier: MIT
// The kernel of one or two products of few rows by weights that follow each other or a reduction: what squeezes and
// excites channels (Hu et al., Squeeze-and-Excitation Networks, section 3), and heads of classifiers. What stages hand
// to each other stays in the first cache.
//
// All workers share the stages, in two phases. Of a reduction and one product, or of two products, the first is
// computed in one and the second in the other. Of a reduction and two products, a unit of the first phase reduces a
// block of a row and multiplies it by its part of the first weights; in the second phase each worker adds these sums,
// which are few, and goes on to the columns of the second product.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/cpu/anchor.hpp"
#include "dnnkit/cpu/families/thin_stages_spec.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/cpu/micro/gemm.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct thin_stages {
  static constexpr std::string_view name = "thin_stages";

  static constexpr tile_wish joins(std::span<const operator_tag> anchors, const cpu_facts& facts) {
    if (anchors.empty()) return {};
    const std::size_t before = thin_stages_spec::reduces(anchors[0]) ? 1 : 0;
    if (anchors.size() < 2 || anchors.size() > before + 2) return {};
    for (const operator_tag& anchor : anchors.subspan(before))
      if (!thin_product::carries_out(anchor)) return {};
    return {.positions = 1, .most_bytes = static_cast<double>(facts.l1_bytes) / 2, .one_tile = true};
  }
  static constexpr kernel_match stage(const kernel_spec& spec, const cpu_facts& facts) {
    if (thin_stages_spec::reduces(spec.self().anchor)) return thin_stages_spec::reduction(spec, facts);
    return product(thin_product(spec), facts);
  }

  static constexpr kernel_match match(const kernel_spec& last, const cpu_facts& facts) {
    const thin_stages_spec spec(last, facts);
    if (const std::string_view why = spec.unfit(); !why.empty()) return no_match{why};
    kernel_choice c = product(thin_product(last), facts);
    c.cost = spec.cost();
    c.reason = spec.splits() ? "what is reduced is multiplied block by block; the second product adds these sums first"
                             : "rows are few, and the next stage finds them in the first cache";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  static constexpr kernel_choice product(const thin_product& spec, const cpu_facts& facts) {
    kernel_choice c;
    c.operands = {operand_reading::in_place, operand_reading::packed_once};
    if (spec.convolves)
      c.operands.push_back(spec.input(2).from == source::nothing ? operand_reading::absent
                                                                 : operand_reading::packed_once);
    c.tile.along = static_cast<std::int8_t>(spec.column_axis);
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    c.tile.vectors = static_cast<std::uint8_t>(spec.panel_vectors(facts));
    const auto vectors = static_cast<index_t>(vectors_of(facts, static_cast<double>(spec.columns())));
    c.genes.vectors = static_cast<std::int32_t>(plan::largest_piece(vectors, c.tile.vectors));
    return c;
  }
};

// Stage `Number` of a plan, a product: its weights, and where its rows lie.
template <class Net, std::size_t Number> struct thin_product_stage {
  using values = tree<Net, Number>;
  static constexpr thin_product spec{kernel_spec(Net::plan, Number)};
  static constexpr index_t rows = spec.rows(), depth = spec.depth(), columns = spec.columns();
  static constexpr std::size_t rank = spec.rank(), column_axis = spec.column_axis;
  static constexpr operand_ref first_factor = spec.input(0), weight = spec.input(1), bias = spec.input(2);
  static constexpr recipe_load stored = spec.stored();

  // Of so many rows and steps of the reduction.
  template <class M, class K>
  using product = gemm<M, constant<columns>, K, constant<spec.row_stride()>, Net::choices[Number].tile.vectors>;
  using whole = product<constant<rows>, constant<depth>>;
  static constexpr index_t padded = whole{}.bias_size();

  static const float* first_row(const kernel_call& call) {
    return values::template pointer<first_factor.index>(call) +
           view_address<Net, stored.axes, stored.offset>(call, coordinates{});
  }

  // --- packed weights, of one block of steps after the other, and behind them the bias
  static constexpr bool has_bias = spec.convolves && bias.from != source::nothing;
  static constexpr std::int64_t packed_bytes = (padded * (depth + (has_bias ? 1 : 0)) * 4 + 63) / 64 * 64;
  static constexpr std::uint32_t packed_inputs = spec.convolves ? 0b110 : 0b010;
  static void pack(const kernel_call& call, index_t block) {
    auto* const out = reinterpret_cast<float*>(call.packed);
    for (index_t k = 0; k < depth; k += block) {
      const product<constant<1>, index_t> part{{}, {}, std::min(block, depth - k), {}};
      part.pack([&](index_t step, index_t n) { return weight_at(call, k + step, n); }, out + k * padded);
    }
    if constexpr (has_bias) {
      float* const behind = out + depth * padded;
      std::fill(behind, behind + padded, 0.0F);
      for (index_t n = 0; n < columns; ++n)
        behind[n] = values::template evaluate<bias, 1, 0>(call, coordinates{n}, constant<1>{}, 0);
    }
  }
  static const float* packed_bias(const float* packed) { return has_bias ? packed + depth * padded : nullptr; }

  // Vector `sums` of row `row`, from column n on.
  [[gnu::always_inline]] static void finish(const kernel_call& call, float_vec sums, index_t row, index_t n,
                                            auto lanes) {
    coordinates c{};
    for (std::size_t d = rank; d-- > 0;) {
      const index_t extent = d == column_axis ? 1 : spec.space(d).value();
      if (extent == 1) continue;
      c[d] = row % extent;
      row /= extent;
    }
    c[column_axis] = n;
    values::template finish<float_lanes, column_axis>(call, c, lanes, sums);
  }

  // --- the whole product, which is divided into units
  static constexpr index_t units = whole{}.units();
  static void run(const kernel_call& call, const float* packed, index_t first, index_t last) {
    whole{}.run(first_row(call), packed, packed_bias(packed), first, last,
                [&](float_vec sums, index_t row, index_t n, auto lanes) { finish(call, sums, row, n, lanes); });
  }

 private:
  static float weight_at(const kernel_call& call, index_t k, index_t n) {
    coordinates c{};
    c[spec.convolves ? 0 : spec.rank_of(1) - 1] = n;
    c[spec.convolves ? 1 : spec.rank_of(1) - 2] = k;
    return values::template evaluate<weight, 1, 0>(call, c, constant<1>{}, 0);
  }
};

template <class Net, std::size_t R> struct thin_stages::kernel {
  using access = recipe_access<Net, R>;
  static constexpr std::size_t stages = access::spec.stages(), last_stage = stages - 1;
  static constexpr bool reduces = thin_stages_spec::reduces(access::spec.stage(0).self().anchor);
  static constexpr bool splits = reduces && stages == 3;
  static constexpr std::size_t first_product = reduces ? 1 : 0;

  template <std::size_t I> static constexpr std::size_t number = Net::plan.number_of_stage(R, I);
  template <std::size_t I> using product = thin_product_stage<Net, number<I>>;
  using reduction = row_passes::kernel<Net, number<0>>;
  using first = product<first_product>;
  using last = product<last_stage>;

  // --- weights: those of each product, one after the other
  static constexpr bool has_two = first_product != last_stage;
  static constexpr std::int64_t packed_before_last = has_two ? first::packed_bytes : 0;
  static constexpr std::int64_t packed_bytes = packed_before_last + last::packed_bytes;
  static constexpr std::uint32_t packed_inputs =
      last::packed_inputs | (has_two ? first::packed_inputs << 8 * (last_stage - first_product) : 0);
  static void pack(const kernel_call& call) noexcept {
    if constexpr (has_two) first::pack(call, block);
    kernel_call own = call;
    own.packed += packed_before_last;
    last::pack(own, last::depth);
  }

  // --- blocks of what is reduced; without such, of the whole
  static constexpr index_t block = splits ? index_t(Net::choices[number<0>].parameters.back()) : first::depth;
  static constexpr index_t blocks = ceil_div(first::depth, block);

  // --- scratch memory: what the first stage hands over, then the sums of blocks. What is handed to the last of three
  // stages belongs to each worker.
  static constexpr index_t handed_size = [] {
    index_t n = 1;
    for (std::size_t d = 0; d < access::spec.stage(0).rank(); ++d) n *= access::spec.stage(0).space(d).value();
    return ceil_div(n, 16) * 16;
  }();
  static constexpr index_t sums_size = splits ? first::rows * blocks * first::padded : 0;
  static std::int64_t scratch_bytes(const kernel_call&) noexcept {
    return (handed_size + sums_size) * static_cast<std::int64_t>(sizeof(float));
  }
  static std::int64_t worker_bytes(const kernel_call&) noexcept requires(splits) {
    return first::rows * first::padded * static_cast<std::int64_t>(sizeof(float));
  }
  // The sums of a block of a row.
  static float* sums_of(const kernel_call& call, index_t row, index_t b) {
    return reinterpret_cast<float*>(call.scratch) + handed_size + (row * blocks + b) * first::padded;
  }

  // A call whose stages find each other's results.
  struct joined_call : kernel_call {
    explicit joined_call(const kernel_call& call) : kernel_call(call) {
      std::copy_n(call.operands, all.size(), all.begin());
      all[access::spec.stage(0).output(0).operand] = call.scratch;
      if constexpr (splits) all[access::spec.stage(1).output(0).operand] = call.worker;
      operands = all.data();
    }
    joined_call(const joined_call&) = delete;
    joined_call& operator=(const joined_call&) = delete;

   private:
    std::array<std::byte*, access::spec.operands()> all;
  };

  // --- first phase
  static index_t prepare_units(const kernel_call& call) noexcept {
    if constexpr (splits) return first::rows * blocks;
    else if constexpr (reduces) return reduction::units(call);
    else return first::units;
  }
  static void prepare(const kernel_call& call, index_t begin, index_t end) noexcept {
    const joined_call own(call);
    if constexpr (splits)
      for (index_t u = begin; u < end; ++u) reduce_block(own, u / blocks, u % blocks);
    else if constexpr (reduces) reduction::run(own, begin, end);
    else first::run(own, reinterpret_cast<const float*>(call.packed), begin, end);
  }
  static void reduce_block(const kernel_call& call, index_t row, index_t b) {
    const index_t k = b * block, steps = std::min(block, first::depth - k);
    if constexpr (reduction::lanes_in_row) reduction::run(call, row * first::depth + k, row * first::depth + k + steps);
    else reduction::run(call, row * blocks + b, row * blocks + b + 1);
    const typename first::template product<constant<1>, index_t> part{{}, {}, steps, {}};
    float* const sums = sums_of(call, row, b);
    part.run(first::first_row(call) + row * first::depth + k,
             reinterpret_cast<const float*>(call.packed) + k * first::padded, nullptr, 0, part.units(),
             [&](float_vec x, index_t, index_t n, auto) { x.store(sums + n); });
  }

  // --- second phase
  static index_t units(const kernel_call&) noexcept { return last::units; }
  static void run(const kernel_call& call, index_t begin, index_t end) noexcept {
    const joined_call own(call);
    if constexpr (splits) add_sums(own);
    last::run(own, reinterpret_cast<const float*>(call.packed + packed_before_last), begin, end);
  }
  static void add_sums(const kernel_call& call) {
    const float* const bias = first::packed_bias(reinterpret_cast<const float*>(call.packed));
    for (index_t row = 0; row < first::rows; ++row)
      for (index_t n = 0; n < first::columns; n += float_lanes) {
        float_vec sum = bias != nullptr ? float_vec::load(bias + n) : float_vec(0.0F);
        for (index_t b = 0; b < blocks; ++b) sum = sum + float_vec::load(sums_of(call, row, b) + n);
        with_lanes<first::columns % float_lanes == 0>(first::columns - n,
                                                      [&](auto lanes) { first::finish(call, sum, row, n, lanes); });
      }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
