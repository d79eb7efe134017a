// SPDX-License-Identifier: MIT
// What the family of convolutions and pools that run in turn on a few rows, and of what normalises the pixels behind
// them, asks about its stages: the kernel of each, whether rows of the last need rows of those before it, and what
// tiles of so many rows take. Rows are positions of the first axis of an image: in volumes they are planes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/cost/register_tile.hpp"
#include "dnnkit/cpu/families/conv_nchw.hpp"
#include "dnnkit/cpu/families/conv_nhwc.hpp"
#include "dnnkit/cpu/families/pool_nhwc.hpp"
#include "dnnkit/cpu/families/row_passes.hpp"
#include "dnnkit/cpu/tree_cost.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Families whose kernels have run_rows(call, image, first, last). The last parameter of a stage's choice is the number
// here.
using row_families = family_list<conv_nhwc, conv_depthwise, conv_nchw, pool_nhwc, row_passes>;

class row_stages_spec : public kernel_spec {
 public:
  static constexpr std::size_t along = 2;  // the axis of rows of a convolution or pool; others have it elsewhere

  // Is it an operator whose rows are normalised, each by itself?
  static constexpr bool normalises(const operator_tag& anchor) { return anchor.kind == form::row; }

  // spec: the last stage.
  constexpr row_stages_spec(const kernel_spec& spec, const cpu_facts& facts) : kernel_spec(spec), facts_(facts) {}

  // The cheapest kernel of one stage that runs on rows. Only the first may bring its input into a form of its own.
  static constexpr kernel_match kernel_of(const kernel_spec& stage, const cpu_facts& facts) {
    kernel_choice best;
    no_match why{"no kernel of it runs on rows"};
    bool found = false;
    for (std::size_t f = 0; f < row_families::table.size(); ++f) {
      if (!row_families::table[f].carries_out(stage.self().anchor)) continue;
      const kernel_match match = row_families::table[f].match(stage, facts);
      if (!match) why.reason = match.reason();
      if (!match || (found && match->cost.cycles >= best.cost.cycles)) continue;
      best = *match;
      best.parameters.push_back(static_cast<std::int32_t>(f));
      found = true;
    }
    return found ? kernel_match(best) : kernel_match(why);
  }

  // What tiles need of a stage's rows.
  static constexpr tile_reach rows_of(const kernel_spec& stage) {
    return stage.plan().reaches_of(stage.self().reach)[stage.cut_axis()];
  }

  // What so many rows of a stage need of those that the one before hands to it, where `to_last` and `before_to_last`
  // say what tiles need of the rows of either. @post composed of it and to_last is before_to_last
  // (pass/tile_reaches.hpp)
  static constexpr tile_reach step_between(const tile_reach& before_to_last, const tile_reach& to_last) {
    const std::int32_t stride = before_to_last.stride / to_last.stride;
    return {to_last.of, stride, before_to_last.extent - (to_last.extent - 1) * stride,
            before_to_last.before - to_last.before * stride};
  }

  // Why the stages do not run on rows in turn; empty when they do. Finds what kernels they have.
  constexpr std::string_view unfit() {
    if (tile(0) > 1) return "tiles are not of rows of an image";
    for (std::size_t i = 0; i < stages(); ++i) {
      const kernel_spec one = stage(i);
      if (one.rank() < 4) return "there are no rows of several elements";
      if (!is_of_rows(one)) return "tiles are not of rows of an image";
      if (one.space(one.cut_axis()) == 1) return "an image has one row";
      if (i + 1 < stages() && one.output(0).type != dtype::f32) return "the elements are not 32-bit floats";
      if (i > 0 && !reads_rows_of(one, stage(i - 1))) return "rows do not follow from rows that are read as they are";
      if (normalises(one.self().anchor) && (i == 0 || !is_of_pixels(one, stage(i - 1))))
        return "what is normalised is more than a pixel";
      const kernel_match match = kernel_of(one, facts_);
      if (!match) return match.reason();
      if (i > 0 && (match->operands.empty() || match->operands[0] != way_to(one)))
        return "a stage does not read what is handed to it where it lies";
      kernels_.push_back(*match);
    }
    sum_up();
    return {};
  }
  constexpr const kernel_choice& last_kernel() const { return kernels_[stages() - 1]; }

  // What tiles of so many rows take, once unfit() has found nothing.
  constexpr kernel_cost cost(std::int64_t rows) const {
    const double height = extent(space(cut_axis())), tiles = images() * cut(height, static_cast<double>(rows)).count;
    double handed = 0, room = 0;  // bytes that go through tile storage, and that it has
    for (std::size_t i = 0; i + 1 < stages(); ++i) {
      const tile_reach reach = rows_of(stage(i));
      const tile_reach step = step_between(reach, rows_of(stage(i + 1)));
      const double row = row_bytes(stage(i)), again = static_cast<double>(std::max(step.extent - step.stride, 0));
      room += row * static_cast<double>(reach.count(rows));
      handed += row * (images() * height * reach.stride + again * tiles);  // rows that are kept are moved
    }
    kernel_work work = work_;
    work.starts += (tiles - 1) * static_cast<double>(stages()) * facts_.costs.turn;
    const memory_level level = level_of(facts_, 1.5 * room);  // what else is read and written goes there, too
    work.traffic.add_written(level, handed);
    work.traffic.add_read(level, handed);
    // Each tile reads the weights again, one panel while it computes with another.
    work.traffic.add_read(level_of(facts_, room + weights_), (tiles - 1) * weights_ * facts_.costs.weights);
    return estimate(facts_, work);
  }
  // How many rows a tile best has, as long as there are some tiles to share among workers: of about equals the fewest.
  constexpr std::int32_t best_rows() const {
    constexpr double clearly = 0.998, least_tiles = 8;
    const double most = images() * extent(space(cut_axis())) / least_tiles;
    std::int32_t best = 1;
    double least = cost(1).cycles;
    for (std::int32_t rows = 2; rows < most_rows && rows <= most; rows *= 2)
      if (const double cycles = cost(rows).cycles; cycles < clearly * least) {
        best = rows;
        least = cycles;
      }
    return best;
  }

 private:
  static constexpr std::int32_t most_rows = 1024;

  static constexpr double extent(local_extent e) { return static_cast<double>(known_or_typical(e)); }
  constexpr double images() const { return extent(space(0)); }
  // Of what a stage hands over.
  constexpr double row_bytes(const kernel_spec& one) const {
    return 4 * one.elements() / (extent(one.space(0)) * extent(one.space(one.cut_axis())));
  }

  // How a stage reads what is handed to it: convolutions and pools by pointer.
  static constexpr operand_reading way_to(const kernel_spec& one) {
    return normalises(one.self().anchor) ? operand_reading::evaluated : operand_reading::in_place;
  }
  // Are these coordinates, of which tiles need so much, those of rows of one image, and all else is whole?
  constexpr bool are_rows(std::span<const tile_reach> needed, std::size_t rows) const {
    if (rows == 0 || rows >= needed.size() || needed[rows].of != static_cast<std::int8_t>(cut_axis())) return false;
    for (std::size_t d = 1; d < needed.size(); ++d)
      if (d != rows && !needed[d].is_whole()) return false;
    return space(0) == 1 || needed[0] == tile_reach{0};
  }
  constexpr bool is_of_rows(const kernel_spec& one) const {
    if (space(0) == 1 && one.space(0) != 1) return false;  // its images are all in one tile
    const std::size_t rows = one.cut_axis();
    return (rows == along || normalises(one.self().anchor)) && are_rows(plan().reaches_of(one.self().reach), rows);
  }
  // Does a stage read what `before` hands to it, the rows of a tile being the same for both?
  constexpr bool reads_rows_of(const kernel_spec& one, const kernel_spec& before) const {
    bool reads = false;
    for (std::size_t l = 0; l < one.loads(); ++l) {
      const recipe_load& load = one.load(l);
      if (load.reach.count == 0) continue;
      const auto read = plan().reaches_of(load.reach);
      const std::size_t rows = normalises(one.self().anchor) ? one.cut_axis() : along;
      if (load.operand != before.output(0).operand || !are_rows(read, rows) || !(read[rows] == rows_of(before)))
        return false;
      reads = true;
    }
    return reads;
  }
  // Is a row of what is normalised among the channels of a pixel?
  static constexpr bool is_of_pixels(const kernel_spec& one, const kernel_spec& before) {
    std::int64_t length = 1;
    for (std::size_t d = 0; d < one.rank_of(0); ++d)
      if (one.self().rows.axes.has(d)) {
        if (!one.extent_of(0, d).is_known()) return false;
        length *= one.extent_of(0, d).value();
      }
    return length <= before.space(1).value();
  }

  // What the stages do whatever the tiles are.
  constexpr void sum_up() {
    for (std::size_t i = 0; i < stages(); ++i) {
      const kernel_spec one = stage(i);
      work_.cycles += kernels_[i].cost.arithmetic;
      work_.starts += kernels_[i].cost.starts - facts_.costs.kernel;
      work_.traffic += traffic_of(one, facts_);
      if (one.inputs() > 1) weights_ += 4 * one.elements_of(1);
    }
  }

  const cpu_facts& facts_;
  static_vector<kernel_choice, 8> kernels_;
  kernel_work work_;
  double weights_ = 0;  // bytes
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
