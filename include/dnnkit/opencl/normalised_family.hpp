// SPDX-License-Identifier: MIT
// Which stages are rows that are normalised and a product over them, which one OpenCL kernel computes
// (opencl/normalised_operand.hpp), and what it is expected to take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/normalization.hpp"
#include "dnnkit/opencl/joined_stages.hpp"
#include "dnnkit/opencl/planned/stage_chain.hpp"
#include "dnnkit/opencl/product_tile.hpp"

namespace dnnkit::opencl {

// Items of a group for each row of its tile, a power of two.
constexpr std::int64_t items_of_row(const product_tile& t) {
  std::int64_t n = 1;
  while (2 * n * t.bm <= t.items()) n *= 2;
  return n;
}
// The tile of the product; local memory has the statistics of its rows besides.
constexpr product_tile choose_normalised_tile(const product_extents& x, product_gpu gpu = {}) {
  constexpr std::int64_t most_rows = 64, most_passes = 4;
  gpu.group_local -= most_rows * most_passes;
  return choose_product_tile(x, 0, gpu);
}

// Two stages: rows, and a product whose first factor they are.
class normalised_stages {
 public:
  // spec: the product.
  constexpr explicit normalised_stages(const kernel_spec& spec) : rows(spec.stage(0)), product(spec) {}

  kernel_spec rows, product;

  // Why there is no kernel for them; empty when there may be one.
  constexpr std::string_view unfit() const {
    const std::size_t rank = rows.rank();
    for (const kernel_spec* s : {&rows, &product}) {
      if (!has_known_extents(*s)) return "extents are not known before the network runs";
      if (const std::string_view why = unreadable(*s); !why.empty()) return why;
    }
    if (rank < 2 || product.rank_of(0) != rank || product.rank_of(1) < 2) return "a factor is a vector";
    if (rows.self().rows.axes.bits != 1u << (rank - 1)) return "the product does not sum up over the rows";
    for (std::size_t d = 0; d + 2 < product.rank_of(1); ++d)
      if (!(product.extent_of(1, d) == 1)) return "rows are multiplied by several factors";
    if (!planned::stage_chain(product).hands_first_operand(1)) return "what is handed over is read besides";
    for (std::size_t d = 0; d < rank; ++d)
      if (!(rows.space(d) == product.extent_of(0, d))) return "rows are rearranged on their way";
    if (!hands_as_it_is(rows, product)) return "rows are rearranged on their way";
    if (extents().m <= few_lines || extents().n <= few_lines || extents().k < shortest)
      return "there is no tile of so few rows or columns";
    if (extents().k > most_kept * items_of_row(choose_normalised_tile(extents())))
      return "rows are longer than what work-items keep in registers";
    return {};
  }
  constexpr product_extents extents() const {
    product_extents x;
    const std::size_t rank = rows.rank();
    for (std::size_t d = 0; d + 1 < rank; ++d) x.m *= rows.space(d).value();
    x.k = rows.space(rank - 1).value();
    x.n = product.extent_of(1, product.rank_of(1) - 1).value();
    x.is_gathered = x.n % 4 != 0;
    return x;
  }

 private:
  static constexpr std::int64_t few_lines = 8, shortest = 8, most_kept = 48;
};

struct normalised_rows {
  static constexpr std::string_view name = "normalised_rows";

  static constexpr tile_wish joins(std::span<const plan::operator_tag> anchors, const gpu_facts&) {
    if (anchors.size() != 2 || anchors[1].id != id_of<op::matmul>) return {};
    if (anchors[0].id != id_of<op::standardize> && anchors[0].id != id_of<op::root_mean_square>) return {};
    return {.positions = 32, .whole_axes = 1};
  }
  static constexpr kernel_match match(const kernel_spec& spec, const gpu_facts& facts) {
    const normalised_stages stages(spec);
    if (const std::string_view why = stages.unfit(); !why.empty()) return no_match{why};
    const gpu_stage rows(stages.rows), product(stages.product);
    const product_extents x = stages.extents();
    const auto blocks = static_cast<double>(detail::divided_up(x.n, choose_normalised_tile(x).bn));
    gpu_work w = product.work(facts);
    w.fixed += facts.pass;
    w.near += blocks * rows.input_bytes();
    w.compute += element_time(facts, blocks * rows.elements() * (4 + rows.operations_behind()));
    rows.add_operands(facts, w);
    gpu_kernel_time t(facts);
    t.add(w);
    return planned::choice_of(t, "each work-group normalises the rows that it multiplies");
  }
};

}  // namespace dnnkit::opencl
