// SPDX-License-Identifier: MIT
// The kernel of a chain of convolutions and pools, each of which reads what the one before has computed, and of what
// normalises the channels of each pixel behind them: the kernels of all stages run in turn on tiles of rows, which
// stay in the cache. Rows that two tiles need are kept where a worker does both, one after the other: to move a row
// takes its way through the cache twice, to compute it again as many multiply-adds for each of its elements as a
// filter has, tens at the least, and the rows before it again, too. The first tile of each worker computes all that it
// needs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "dnnkit/cpu/families/row_stages_spec.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct row_stages {
  static constexpr std::string_view name = "row_stages";

  // Pools and normalisations do little with what they read, and are spared the way to the second cache; convolutions,
  // the way beyond it.
  static constexpr tile_wish joins(std::span<const operator_tag> anchors, const cpu_facts& facts) {
    if (anchors.size() < 2 || anchors[0].id != id_of<op::conv>) return {};
    const bool computes = anchors.back().id == id_of<op::conv>;
    if (row_stages_spec::normalises(anchors.back())) anchors = anchors.first(anchors.size() - 1);
    for (const operator_tag& anchor : anchors)
      if (anchor.id != id_of<op::conv> && !pool_nhwc::carries_out(anchor)) return {};
    return {.positions = 1,
            .whole_axes = 0,
            .whole = {~(1u | 1u << row_stages_spec::along)},
            .least_bytes = static_cast<double>(computes ? facts.l2_bytes / 2 : facts.l1_bytes)};
  }
  static constexpr std::int32_t positions(const kernel_spec& last, const cpu_facts& facts) {
    row_stages_spec spec(last, facts);
    if (!spec.unfit().empty()) return 1;
    return last.genes().positions > 0 ? last.genes().positions : spec.best_rows();
  }
  static constexpr kernel_match stage(const kernel_spec& spec, const cpu_facts& facts) {
    return row_stages_spec::kernel_of(spec, facts);
  }

  static constexpr kernel_match match(const kernel_spec& last, const cpu_facts& facts) {
    row_stages_spec spec(last, facts);
    if (const std::string_view why = spec.unfit(); !why.empty()) return no_match{why};
    kernel_choice c = spec.last_kernel();
    c.cost = spec.cost(spec.tile(spec.cut_axis()));
    c.genes.positions = static_cast<std::int32_t>(spec.tile(spec.cut_axis()));
    c.reason = "each stage computes a few rows, which the next one finds in the cache";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;
};

// Stage I of recipe R, and the kernel that it has on rows.
template <class Net, std::size_t R, std::size_t I> struct row_stage {
  static constexpr std::size_t number = Net::plan.number_of_stage(R, I);
  using family = row_families::at<static_cast<std::size_t>(Net::choices[number].parameters.back())>;
  using kernel = typename family::template kernel<Net, number>;
};

template <class Net, std::size_t R> struct row_stages::kernel {
  using access = recipe_access<Net, R>;
  static constexpr std::size_t stages = access::spec.stages(), last_stage = stages - 1;
  static constexpr std::size_t along = access::spec.cut_axis();
  static constexpr index_t positions = access::spec.tile(along);

  template <std::size_t I> using stage = typename row_stage<Net, R, I>::kernel;
  using first_stage = typename row_stage<Net, R, 0>::kernel;
  // Calls visit.template operator()<I>() for the first `Count` stages.
  template <std::size_t Count> static constexpr void for_stages(auto visit) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (visit.template operator()<I>(), ...); }
    (std::make_index_sequence<Count>{});
  }

  // --- weights: those of each stage, one after the other
  template <class Stage> static constexpr bool packs = requires { Stage::packed_bytes; };
  template <std::size_t I> static constexpr std::int64_t packed_before() {
    if constexpr (I == 0) return 0;
    else if constexpr (!packs<stage<I - 1>>) return packed_before<I - 1>();
    else return packed_before<I - 1>() + (stage<I - 1>::packed_bytes + 63) / 64 * 64;
  }
  static constexpr std::int64_t packed_bytes = packed_before<stages>();
  template <std::size_t I> static constexpr std::uint32_t inputs_packed_by() {
    if constexpr (packs<stage<I>>) return stage<I>::packed_inputs << 8 * (last_stage - I);
    else return 0;
  }
  static constexpr std::uint32_t packed_inputs = []<std::size_t... I>(std::index_sequence<I...>) {
    return (inputs_packed_by<I>() | ...);
  }
  (std::make_index_sequence<stages>{});
  static void pack(const kernel_call& call) noexcept {
    for_stages<stages>([&]<std::size_t I>() {
      kernel_call own = call;
      own.packed += packed_before<I>();
      if constexpr (packs<stage<I>>) stage<I>::pack(own);
    });
  }

  // --- first phase: that of the first stage, whose input may lie otherwise than it is read
  static constexpr bool is_staged = requires(const kernel_call& call) { first_stage::prepare(call, 0, 0); };
  static std::int64_t scratch_bytes(const kernel_call& call) noexcept requires(is_staged) {
    return first_stage::scratch_bytes(call);
  }
  static index_t prepare_units(const kernel_call& call) noexcept requires(is_staged) {
    return first_stage::prepare_units(call);
  }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept requires(is_staged) {
    first_stage::prepare(call, first, last);
  }

  // Rows of a stage: the first that tile storage has, and those that are computed for a tile.
  struct row_range {
    index_t stored, begin, end;
  };

  // --- tile storage: what stage I hands to the next, rows of all channels or, channels first, of one after the other
  template <std::size_t I> struct handed_rows {
    using writer = recipe_access<Net, row_stage<Net, R, I>::number>;
    static constexpr recipe_output output = writer::template output<0>;
    static constexpr kernel_spec reader{Net::plan, row_stage<Net, R, I + 1>::number};
    // What tiles of the last stage need, and what rows of the next one do.
    static constexpr tile_reach reach = row_stages_spec::rows_of(writer::spec);
    static constexpr tile_reach step = row_stages_spec::step_between(reach, row_stages_spec::rows_of(reader));
    static constexpr bool channels_first = writer::space(1) != 1 && stride_along(Net::plan, output.axes, 1).stride != 1;
    // Has an axis that tiles do not cut room for a border? The reader's load says so.
    static constexpr bool bordered = [] {
      for (std::size_t l = 0; l < reader.loads(); ++l)
        for (std::size_t d = 0; reader.load(l).reach.count != 0 && d < max_rank; ++d)
          if (reader.load(l).before[d] + reader.load(l).after[d] != 0) return true;
      return false;
    }();

    template <std::size_t D> static index_t stride(const kernel_call& call) {
      return extent_value<stride_along(Net::plan, output.axes, D).stride>(call);
    }
    static index_t rows(const kernel_call& call) { return extent_value<writer::space(writer::spec.cut_axis())>(call); }
    static index_t row(const kernel_call& call) { return stride<writer::spec.cut_axis()>(call); }
    static index_t planes(const kernel_call& call) {
      return channels_first ? index_t(extent_value<writer::space(1)>(call)) : 1;
    }
    static index_t plane(const kernel_call& call) { return reach.count(positions) * row(call); }
    static row_range needed_by(const row_range& next) {
      const index_t begin = step.first(next.begin), n = next.end - next.begin;
      return {begin, begin, n > 0 ? begin + step.count(n) : begin};
    }
    static float* data(const kernel_call& call) { return reinterpret_cast<float*>(call.worker) + room_before<I>(call); }
    // In floats, with room for what vectors along rows read beyond the last one.
    static index_t room(const kernel_call& call) {
      return (planes(call) * plane(call) + 2 * float_lanes - 1) / float_lanes * float_lanes;
    }
  };
  template <std::size_t I> static index_t room_before(const kernel_call& call) {
    if constexpr (I == 0) return 0;
    else return room_before<I - 1>(call) + handed_rows<I - 1>::room(call);
  }
  static std::int64_t worker_bytes(const kernel_call& call) noexcept {
    return room_before<last_stage>(call) * static_cast<std::int64_t>(sizeof(float));
  }

  // --- second phase: a unit is a tile of an image
  static index_t tiles(const kernel_call& call) {
    return ceil_div(index_t(extent_value<access::space(along)>(call)), positions);
  }
  static index_t units(const kernel_call& call) noexcept { return extent_value<access::space(0)>(call) * tiles(call); }
  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const index_t height = extent_value<access::space(along)>(call), each = tiles(call);
    std::array<std::byte*, access::spec.operands()> operands;
    std::copy_n(call.operands, operands.size(), operands.begin());
    kernel_call own = call;
    own.operands = operands.data();
    std::array<row_range, stages> rows;  // that stages compute of the present tile
    clear_borders(call);
    for (index_t u = first; u < last; ++u) {
      const index_t image = u / each, begin = u % each * positions;
      rows[last_stage] = {begin, begin, std::min(begin + positions, height)};
      for_stages<last_stage>([&]<std::size_t Before>() {  // from the last to the first
        constexpr std::size_t I = last_stage - 1 - Before;
        const row_range needed = handed_rows<I>::needed_by(rows[I + 1]);
        rows[I] = u > first && begin > 0 ? keep<I>(call, needed, rows[I]) : needed;
      });
      for_stages<last_stage>([&]<std::size_t I>() {
        using handed = handed_rows<I>;
        const row_range r = rows[I];
        const index_t row = handed::row(call), all = handed::rows(call);
        float* const room = handed::data(call);
        clear_rows<I>(call, r.begin - r.stored, std::min<index_t>(r.end, 0) - r.stored);
        clear_rows<I>(call, std::max(r.begin, all) - r.stored, r.end - r.stored);
        // the first row of tile storage stands where that row of this image would in the whole
        operands[handed::output.operand] =
            reinterpret_cast<std::byte*>(room - r.stored * row - image * handed::template stride<0>(call));
        own.packed = call.packed + packed_before<I>();
        stage<I>::run_rows(own, image, std::clamp<index_t>(r.begin, 0, all), std::clamp<index_t>(r.end, 0, all));
      });
      own.packed = call.packed + packed_before<last_stage>();
      stage<last_stage>::run_rows(own, image, rows[last_stage].begin, rows[last_stage].end);
    }
  }

 private:
  // Of the rows that are needed, those that the tile before has are brought to the beginning of tile storage.
  template <std::size_t I>
  static row_range keep(const kernel_call& call, const row_range& needed, const row_range& before) {
    using handed = handed_rows<I>;
    const index_t kept = std::min(before.end, needed.end) - needed.stored;
    if (kept <= 0) return needed;
    const index_t row = handed::row(call), planes = handed::planes(call), plane = handed::plane(call);
    for (index_t p = 0; p < planes; ++p) {
      float* const first = handed::data(call) + p * plane;
      std::memmove(first, first + (needed.stored - before.stored) * row,
                   static_cast<std::size_t>(kept * row) * sizeof(float));
    }
    return {needed.stored, needed.stored + kept, needed.end};
  }
  // Of the rows [first, last) of tile storage.
  template <std::size_t I> static void clear_rows(const kernel_call& call, index_t first, index_t last) {
    using handed = handed_rows<I>;
    const index_t row = handed::row(call), planes = handed::planes(call), plane = handed::plane(call);
    if (first < last)
      for (index_t p = 0; p < planes; ++p)
        std::fill(handed::data(call) + p * plane + first * row, handed::data(call) + p * plane + last * row, 0.0F);
  }
  // All of it, since nobody writes to a border.
  static void clear_borders(const kernel_call& call) {
    for_stages<last_stage>([&]<std::size_t I>() {
      if constexpr (handed_rows<I>::bordered) clear_rows<I>(call, 0, handed_rows<I>::reach.count(positions));
    });
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
