// SPDX-License-Identifier: MIT
// Normalisation in the kernel of the product beside it, planned only. Behind a product or convolution its statistics
// are gathered where that stores its results; before one, its rows are normalised where their elements are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/opencl/planned/stage_chain.hpp"

namespace dnnkit::opencl::planned {

// Rows, then a product over them: each work-group makes the passes over the rows of its tile.
struct normalised_operand {
  static constexpr std::string_view name = "normalised_operand";

  static constexpr tile_wish joins(std::span<const plan::operator_tag> anchors, const gpu_facts&) {
    if (anchors.size() != 2 || anchors[0].kind != form::row) return {};
    if (!gpu_stage::is_product(anchors[1]) && !gpu_stage::is_convolution(anchors[1])) return {};
    return {.positions = 32, .whole_axes = 1};
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    const stage_chain chain(spec);
    const gpu_stage rows = chain[0], product = chain[1];
    if (chain.positions() == 0) return no_match{"tiles are not of rows"};
    if (!product.multiplies()) return no_match{"channels are not summed up"};
    const gpu_product p = product.product(facts);
    if (!chain.hands_first_operand(1) || !chain.has_whole_rows(0) || rows.row_length() != p.depth / product.taps())
      return no_match{"the product does not sum up over the rows"};
    if (!chain.is_needed_once(0)) return no_match{"windows overlap, and rows would be normalised several times"};
    const gpu_product_plan tiles = dnnkit::planned(facts, p);
    gpu_work w = product.work(facts);
    rows.add_passes(facts, w, tiles.column_blocks);
    w.near += tiles.column_blocks * rows.input_bytes();
    w.compute += element_time(facts, tiles.column_blocks * rows.elements() * rows.operations_behind());
    rows.add_operands(facts, w);
    gpu_kernel_time t(facts);
    t.add(w);
    kernel_choice c = choice_of(t, "each work-group normalises the rows that it multiplies");
    c.parameters = {tiles.tile->rows, tiles.tile->columns, tiles.slices};
    return c;
  }
};

// A product, convolution or pool, then rows: a work-group that computes whole rows has them in local memory; else the
// last to arrive of those that compute parts of the same rows goes over these once more.
struct normalised_result {
  static constexpr std::string_view name = "normalised_result";

  static constexpr tile_wish joins(std::span<const plan::operator_tag> anchors, const gpu_facts&) {
    if (anchors.size() != 2 || !gpu_stage::is_of_rows(anchors[1])) return {};
    if (!gpu_stage::is_product(anchors[0]) && !gpu_stage::is_convolution(anchors[0]) && !gpu_stage::is_pool(anchors[0]))
      return {};
    return {.positions = 16, .whole_axes = 1};
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    const stage_chain chain(spec);
    const gpu_stage before = chain[0], rows = chain[1];
    if (chain.positions() == 0) return no_match{"tiles are not of rows"};
    if (!chain.hands_first_operand(1) || !chain.has_whole_rows(1)) return no_match{"tiles do not have whole rows"};
    if (!chain.is_needed_once(0)) return no_match{"tiles share what is reduced"};
    gpu_work apart = before.work(facts), w{};
    rows.add_passes(facts, w, 1);
    w.compute += element_time(facts, rows.elements() * rows.operations_behind());
    rows.add_operands(facts, w);
    gpu_work in_group = w;
    w.near += 2 * before.result_bytes();
    w.fixed += facts.handover;
    const double last_arrives = time_of(facts, apart) + time_of(facts, w);
    gpu_kernel_time t(facts);
    if (before.multiplies()) {
      const gpu_product p = before.product(facts);
      const bool fits = 4 * 16 * p.columns * p.batch + staging <= static_cast<double>(facts.local_bytes);
      gpu_work whole = apart;
      whole.compute += compute_time(facts, rounded_up(p.rows / 16), 32 * p.columns * p.batch * p.depth,
                                    facts.shares.tiles_4x4 * p.part) -
                       dnnkit::planned(facts, p).work.compute;
      if (fits && time_of(facts, whole) + time_of(facts, in_group) < last_arrives) {
        t.add(whole);
        t.add(in_group);
        return choice_of(t, "whole rows lie in the local memory of a work-group");
      }
    } else if (4 * 16 * rows.row_length() <= static_cast<double>(facts.local_bytes)) {
      t.add(apart);
      t.add(in_group);
      return choice_of(t, "a work-group computes whole rows, which lie in its local memory");
    }
    t.add(apart);
    t.add(w);
    return choice_of(t, "of the work-groups that compute parts of rows, the last to arrive normalises these");
  }

 private:
  static constexpr double staging = 16 * 1024;
};

}  // namespace dnnkit::opencl::planned
