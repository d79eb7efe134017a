// SPDX-License-Identifier: MIT
// Products that follow each other, and convolutions, pools and resizes of an image tile by tile, as one OpenCL kernel
// each, planned only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/opencl/planned/stage_chain.hpp"

namespace dnnkit::opencl::planned {

// Two products of rows, with what is computed element by element between them. Of what the first computes of some rows,
// local memory holds some columns at a time, which the second multiplies before the next come; its sums of all columns
// stay in registers, which is why it has to be narrow.
struct product_pair {
  static constexpr std::string_view name = "product_pair";

  static constexpr tile_wish joins(std::span<const plan::operator_tag> anchors, const gpu_facts&) {
    if (anchors.size() != 2) return {};
    for (const plan::operator_tag& a : anchors)
      if (!gpu_stage::is_product(a) && !gpu_stage::is_convolution(a)) return {};
    return {.positions = 16, .whole_axes = 1};
  }
  static constexpr std::int32_t positions(const kernel_spec& spec, const gpu_facts& facts) {
    constexpr std::int32_t offered[] = {16, 32, 64};
    return best_positions(offered, [&](std::int32_t n) { return cycles(spec, facts, n); });
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    if (const std::string_view why = unfit(spec, facts); !why.empty()) return no_match{why};
    std::int32_t rows = 16;
    while (rows < stage_chain(spec).positions() && rows < 64) rows *= 2;
    if (!fits(spec, facts, rows)) return no_match{"registers do not hold the second product's sums of some rows"};
    kernel_choice c = choice_of(time(spec, facts, rows),
                                "what the one hands to the other lies in local memory, some columns at a time");
    c.parameters = {rows};
    return c;
  }

 private:
  static constexpr std::string_view unfit(const kernel_spec& spec, const gpu_facts& facts) {
    const stage_chain chain(spec);
    if (chain.positions() == 0) return "tiles are not of rows";
    for (std::size_t i = 0; i < 2; ++i)
      if (!chain[i].multiplies() || chain[i].taps() != 1 || chain[i].product(facts).batch != 1)
        return "the stages are not two products of the same rows";
    if (!chain.hands_first_operand(1) || !chain.is_needed_once(0)) return "a tile does not have what is summed up";
    return {};
  }
  // Columns of the first product at a time; sums in the registers of 256 work-items.
  static constexpr std::int32_t columns_at_once = 128, sums = 256 * 64;
  static constexpr std::int64_t staging = 8 * 1024;
  static constexpr bool fits(const kernel_spec& spec, const gpu_facts& facts, std::int32_t rows) {
    return 4 * rows * columns_at_once + staging <= facts.local_bytes &&
           rows * stage_chain(spec)[1].product(facts).columns <= sums;
  }
  static constexpr gpu_kernel_time time(const kernel_spec& spec, const gpu_facts& facts, std::int32_t rows) {
    const stage_chain chain(spec);
    gpu_kernel_time t(facts);
    for (std::size_t i = 0; i < 2; ++i) {
      const gpu_stage stage = chain[i];
      const gpu_product p = stage.product(facts);
      const double groups = rounded_up(p.rows / rows);
      const double share = rows < 32 ? facts.shares.tiles_4x4 : facts.shares.tiles_8x4;
      gpu_work w;
      w.compute = compute_time(facts, groups, 2.0 * rows * p.columns * p.depth, share) +
                  element_time(facts, stage.elements() * stage.operations_behind());
      w.near = 4 * p.columns * p.depth * groups;
      if (i == 0) w.near += 4 * p.rows * p.depth * rounded_up(p.columns / columns_at_once);
      w.fixed = facts.pipeline;
      stage.add_operands(facts, w);
      t.add(w);
    }
    return t;
  }
  static constexpr double cycles(const kernel_spec& spec, const gpu_facts& facts, std::int32_t rows) {
    if (!unfit(spec, facts).empty() || !fits(spec, facts, rows)) return 0;
    return time(spec, facts, rows).cost().cycles;
  }
};

// A Resize before a convolution, a pool before or behind one, and 1x1 convolutions before and behind windows on each
// channel (Sandler et al., MobileNetV2, section 3.3). Tiles are squares of pixels; of what stages hand to each other,
// local memory holds 32 channels at a time. What borders of tiles need, and what work-groups for other output channels
// do, is computed again.
struct image_tiles {
  static constexpr std::string_view name = "image_tiles";
  static constexpr std::int32_t smallest = 4;
  static constexpr std::int64_t channels_at_once = 32;

  static constexpr tile_wish joins(std::span<const plan::operator_tag> anchors, const gpu_facts&) {
    if (anchors.size() != 2 && anchors.size() != 3) return {};
    bool convolves = false;
    for (const plan::operator_tag& a : anchors) {
      if (!gpu_stage::is_convolution(a) && !gpu_stage::is_pool(a) && !gpu_stage::is_resize(a)) return {};
      convolves = convolves || gpu_stage::is_convolution(a);
    }
    if (!convolves) return {};
    return {.positions = smallest, .whole_axes = 2};
  }
  static constexpr std::int32_t positions(const kernel_spec& spec, const gpu_facts& facts) {
    constexpr std::int32_t offered[] = {4, 8, 16};
    return best_positions(offered, [&](std::int32_t n) { return cycles(spec, facts, n); });
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    if (const std::string_view why = unfit(spec); !why.empty()) return no_match{why};
    const auto n = static_cast<std::int32_t>(std::max<std::int64_t>(stage_chain(spec).positions(), smallest));
    if (bytes(spec, n) > static_cast<double>(facts.local_bytes))
      return no_match{"local memory does not hold a tile of what one hands to the other"};
    return choice_of(time(spec, facts, n),
                     "tiles of some channels lie in local memory; their borders are computed again");
  }

 private:
  static constexpr std::string_view unfit(const kernel_spec& spec) {
    const stage_chain chain(spec);
    if (chain.positions() == 0 || spec.rank() < 4) return "tiles are not of rows of an image";
    for (std::size_t i = 1; i < chain.size(); ++i) {
      if (!chain.hands_first_operand(i)) return "what is handed over is read besides";
      if (chain[i].multiplies() && chain[i - 1].multiplies()) return "both sum up over all channels";
      if (chain[i].multiplies() && chain[i].taps() != 1 && !gpu_stage::is_resize(chain[i - 1].tag()))
        return "each tap of a window would need all channels of what is handed over";
    }
    return {};
  }
  static constexpr double bytes(const kernel_spec& spec, std::int32_t positions) {
    const stage_chain chain(spec);
    double most = 0;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
      const double side = chain.width(i, positions);
      most = std::max(most, 4.0 * channels_at_once * side * side);
    }
    return most;
  }
  static constexpr gpu_kernel_time time(const kernel_spec& spec, const gpu_facts& facts, std::int32_t positions) {
    const stage_chain chain(spec);
    gpu_kernel_time t(facts);
    double again = 1;  // times that a stage is computed for blocks of output channels behind it
    for (std::size_t i = chain.size(); i-- > 0;) {
      const gpu_stage stage = chain[i];
      gpu_work w = stage.work(facts);
      const double times = again * chain.overlap(i, positions);
      w.compute *= times;
      w.near *= times;
      t.add(w);
      if (stage.multiplies()) again *= dnnkit::planned(facts, stage.product(facts)).column_blocks;
    }
    return t;
  }
  static constexpr double cycles(const kernel_spec& spec, const gpu_facts& facts, std::int32_t positions) {
    if (!unfit(spec).empty() || bytes(spec, positions) > static_cast<double>(facts.local_bytes)) return 0;
    return time(spec, facts, positions).cost().cycles;
  }
};

}  // namespace dnnkit::opencl::planned
