// SPDX-License-Identifier: MIT
// Families of kernels that join stages as tests want it, and attention for them to join.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "dnnkit/pass/pipeline.hpp"

namespace joining {

namespace dk = dnnkit;

// A family that carries out whatever a recipe or a chain of them asks for, in tiles of `Positions`.
template <int Positions, int WholeAxes, bool Gains = true> struct anything {
  static constexpr std::string_view name = "anything";
  static constexpr bool carries_out(const dk::plan::operator_tag&) { return true; }
  static constexpr dk::tile_wish joins(std::span<const dk::plan::operator_tag>, const dk::cpu_facts&) {
    return {Positions, WholeAxes};
  }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts&) {
    dk::kernel_choice c;
    c.cost.cycles = spec.stages() == 1 ? 10 : Gains ? 1 : 1000;
    return c;
  }
};
// Joins two at a time, of `Bytes` at the least; a pair that begins with a product gains 5 cycles, any other `Others`.
template <int Others, int Bytes = 0> struct pairs {
  static constexpr std::string_view name = "pairs";
  static constexpr bool carries_out(const dk::plan::operator_tag&) { return true; }
  static constexpr dk::tile_wish joins(std::span<const dk::plan::operator_tag> anchors, const dk::cpu_facts&) {
    return {.positions = anchors.size() == 2 ? 2 : 0, .least_bytes = Bytes};
  }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts&) {
    dk::kernel_choice c;
    c.cost.cycles = spec.stages() == 1 ? 10 : spec.stage(0).is_anchor<dk::op::matmul>() ? 15 : 20 - Others;
    return c;
  }
};
// Cuts images, and their rows: axes 0 and 2 of the convolution that comes first.
struct rows_of_convolutions : anything<2, 0> {
  static constexpr dk::tile_wish joins(std::span<const dk::plan::operator_tag>, const dk::cpu_facts&) {
    return {.positions = 2, .whole_axes = 0, .whole = {~(1U | 1U << 2U)}};
  }
};
// Wants all of a chain in one tile, whatever axes there are, where at most so many bytes are handed over.
template <int Bytes = 1 << 30, int Cycles = 1> struct one_tile {
  static constexpr std::string_view name = "one tile";
  static constexpr bool carries_out(const dk::plan::operator_tag&) { return true; }
  static constexpr dk::tile_wish joins(std::span<const dk::plan::operator_tag>, const dk::cpu_facts&) {
    return {.positions = 1, .most_bytes = Bytes, .one_tile = true};
  }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts&) {
    dk::kernel_choice c;
    c.cost.cycles = spec.stages() == 1 ? 10 : Cycles;
    for (std::size_t d = 0; d < spec.rank(); ++d)
      if (spec.tile(d) != 0) return dk::no_match{"it is cut"};
    return c;
  }
};
// Keeps what is handed over where others read it, too.
struct keeping : anything<2, 1> {
  static constexpr dk::tile_wish joins(std::span<const dk::plan::operator_tag>, const dk::cpu_facts&) {
    return {.positions = 2, .keeps = true};
  }
};
struct keeping_before_pools : keeping {
  static constexpr dk::tile_wish joins(std::span<const dk::plan::operator_tag> anchors, const dk::cpu_facts& facts) {
    return anchors.back().id == dk::id_of<dk::op::max_pool> ? keeping::joins(anchors, facts) : dk::tile_wish{};
  }
};
struct single_kernels {
  static constexpr std::string_view name = "single kernels";
  static constexpr bool carries_out(const dk::plan::operator_tag&) { return true; }
  static constexpr dk::kernel_match match(const dk::kernel_spec&, const dk::cpu_facts&) { return dk::kernel_choice{}; }
};

template <class... Families> dk::schedule scheduled(const dk::graph& g) {
  return dk::default_pipeline::run(g, dk::family_list<Families...>::table);
}

// Numbers of stages of the plan's kernels that have several.
inline std::vector<std::size_t> stages_in(const dk::schedule& s) {
  std::vector<std::size_t> list;
  for (const dk::plan::step& x : s.plan.steps)
    if (const std::size_t n = dk::plan::plan_draft::stages_of(s.plan.recipes[x.kernel]); n > 1) list.push_back(n);
  return list;
}
using counts = std::vector<std::size_t>;

struct heads {
  dk::dim batch = 2, count = 3, queries = 5, keys = 7;
};
dk::graph attention(const heads& h, auto between) {
  dk::builder b;
  const dk::tensor q = b.input("q", dk::f32, {h.batch, h.count, h.queries, 4}),
                   k = b.input("k", dk::f32, {h.batch, h.count, h.keys, 4}),
                   v = b.input("v", dk::f32, {h.batch, h.count, h.keys, 6});
  const dk::tensor scores = dk::matmul(q, dk::transpose(k, {.perm = {0, 1, 3, 2}})) * 0.5;
  b.output("y", dk::transpose(dk::matmul(between(b, scores), v), {.perm = {0, 2, 1, 3}}));
  return b.value();
}
inline dk::tensor only_softmax(dk::builder&, dk::tensor x) { return dk::softmax(x); }

}  // namespace joining
