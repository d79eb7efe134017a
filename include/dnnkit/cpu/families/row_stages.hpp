// SPDX-License-Identifier: MIT
// The kernel of a convolution and of the pool that reads its result, channels last: the kernels of both stages run in
// turn on tiles of rows, which stay in the cache. Rows that two tiles need are computed for each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/cpu/families/conv_nhwc.hpp"
#include "dnnkit/cpu/families/pool_nhwc.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct row_stages {
  static constexpr std::string_view name = "row_stages";

  static constexpr tile_wish joins(std::span<const operator_tag> anchors, const cpu_facts&) {
    const bool fits = anchors.size() == 2 && anchors[0].id == id_of<op::conv> && pool_nhwc::carries_out(anchors[1]);
    return fits ? tile_wish{.positions = 2, .whole_axes = 2} : tile_wish{};  // rows of images channels last
  }

  static constexpr kernel_match match(const kernel_spec& pool, const cpu_facts& facts) {
    const kernel_spec first = pool.stage(0);
    if (const std::string_view why = unfit(first, pool); !why.empty()) return no_match{why};
    const kernel_match convolution = conv_nhwc::match(first, facts), reader = pool_nhwc::match(pool, facts);
    if (!convolution) return convolution;
    if (!reader) return reader;
    if (convolution->operands[0] != operand_reading::in_place)
      return no_match{"the convolution's input is not stored channels last, with room for its border"};
    if (reader->operands.empty() || reader->operands[0] != operand_reading::in_place)
      return no_match{"the pool does not find channels next to each other"};
    if (4 * first.elements() <= static_cast<double>(facts.l1_bytes))
      return no_match{"what the convolution hands to the pool stays in the nearest cache as a whole"};
    const tile_reach rows = row_reach(pool);
    const auto n = static_cast<double>(pool.tile(2)), height = static_cast<double>(known_or_typical(pool.space(2)));
    const double computed = static_cast<double>(rows.count(pool.tile(2))) / (n * rows.stride);  // times each row is
    // Each tile reads the weights again, which are fetched ahead while the one before is computed.
    const double weights = 4 * first.elements_of(1) * (height / n) / bytes_a_cycle(facts, 4 * first.elements_of(1));
    const double arithmetic = convolution->cost.arithmetic * (computed > 1 ? computed : 1) + reader->cost.arithmetic;
    kernel_work work{.cycles = arithmetic > weights ? arithmetic : weights,
                     .starts = convolution->cost.starts + reader->cost.starts - 2 * facts.costs.kernel,
                     .traffic = traffic_of(first, facts)};
    work.traffic += traffic_of(pool, facts);
    kernel_choice c = *reader;  // its kernel reads it
    c.cost = estimate(facts, work);
    c.reason = "the convolution computes a few rows, which the pool finds in the cache";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

  // What tiles need of the rows that the pool reads.
  static constexpr tile_reach row_reach(const kernel_spec& pool) {
    return pool.plan().reaches_of(pool.load(pool.input(0).index).reach)[2];
  }

 private:
  static constexpr std::string_view unfit(const kernel_spec& first, const kernel_spec& pool) {
    if (first.rank() != 4 || pool.rank() != 4) return "the stages are not images of rows and columns";
    if (first.space(0) != 1) return "there are several images";
    if (pool.tile(1) != 0 || pool.tile(2) == 0 || pool.tile(3) != 0) return "tiles are not of rows";
    const auto reach = first.plan().reaches_of(first.self().reach);
    if (!reach[1].is_whole() || reach[2].of != 2 || !reach[3].is_whole()) return "rows do not follow from rows";
    if (pool.input(0).from != source::load || pool.load(pool.input(0).index).reach.count == 0)
      return "what the pool reads is computed from the convolution's result";
    if (first.output(0).type != dtype::f32) return "the elements are not 32-bit floats";
    return {};
  }
};

template <class Net, std::size_t R> struct row_stages::kernel {
  using access = recipe_access<Net, R>;
  static constexpr std::size_t first_stage = Net::plan.number_of_stage(R, 0);
  using first_access = recipe_access<Net, first_stage>;
  using convolution = conv_nhwc::kernel<Net, first_stage>;
  using pool = pool_nhwc::kernel<Net, R>;
  static constexpr recipe_output handed = first_access::template output<0>;
  static constexpr tile_reach rows = row_reach(access::spec);
  static constexpr index_t positions = access::spec.tile(2);

  // --- weights: those of the convolution
  static constexpr std::int64_t packed_bytes = convolution::packed_bytes;
  static constexpr std::uint32_t packed_inputs = convolution::packed_inputs << 8;
  static void pack(const kernel_call& call) noexcept { convolution::pack(call); }

  // --- a unit is a tile
  static index_t units(const kernel_call& call) noexcept {
    return ceil_div(index_t(extent_value<access::space(2)>(call)), positions);
  }
  static std::int64_t worker_bytes(const kernel_call& call) noexcept {
    return rows.count(positions) * row_floats(call) * static_cast<std::int64_t>(sizeof(float));
  }
  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const index_t height = extent_value<access::space(2)>(call), width = extent_value<access::space(3)>(call),
                  input_height = extent_value<first_access::space(2)>(call);
    std::array<std::byte*, operand_count> operands;
    std::copy_n(call.operands, operand_count, operands.begin());
    kernel_call own = call;
    own.operands = operands.data();
    for (index_t u = first; u < last; ++u) {
      const index_t begin = u * positions, end = std::min(begin + positions, height), from = rows.first(begin);
      // the tile's first row stands where row `from` of the whole would
      operands[handed.operand] = call.worker - from * row_floats(call) * static_cast<index_t>(sizeof(float));
      convolution::run_rows(own, std::max<index_t>(from, 0), std::min(from + rows.count(end - begin), input_height));
      pool::run(own, begin * width, end * width);
    }
  }

 private:
  static constexpr std::size_t operand_count = [] {
    std::size_t most = 0;
    for (const kernel_spec& stage : {access::spec, first_access::spec}) {
      for (std::size_t l = 0; l < stage.loads(); ++l) most = std::max<std::size_t>(most, stage.load(l).operand);
      for (std::size_t o = 0; o < stage.outputs(); ++o) most = std::max<std::size_t>(most, stage.output(o).operand);
    }
    return most + 1;
  }();
  static index_t row_floats(const kernel_call& call) {
    return extent_value<stride_along(Net::plan, handed.axes, 2).stride>(call);
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
