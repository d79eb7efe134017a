// SPDX-License-Identifier: MIT
// What families of OpenCL kernels of several stages ask: which positions of each stage a tile needs, and what passes
// between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dnnkit/opencl/planned/stage_work.hpp"
#include "dnnkit/plan/kernel_family.hpp"

namespace dnnkit::opencl::planned {

// The stages of a kernel; spec: the last.
class stage_chain {
 public:
  constexpr explicit stage_chain(const kernel_spec& spec) : spec_(spec) {}
  constexpr std::size_t size() const { return spec_.stages(); }
  constexpr gpu_stage operator[](std::size_t i) const { return gpu_stage(spec_.stage(i)); }
  constexpr std::span<const plan::tile_reach> reaches(std::size_t i) const {
    return spec_.plan().reaches_of(spec_.stage(i).self().reach);
  }
  // The positions of the innermost axis that tiles cut; 0 where they cut none.
  constexpr std::int64_t positions() const {
    const std::size_t along = spec_.cut_axis();
    return along == max_rank ? 0 : spec_.tile(along);
  }

  // Do tiles share no position of stage i?
  constexpr bool is_needed_once(std::size_t i) const {
    for (const plan::tile_reach& r : reaches(i))
      if (!r.is_whole() && r.extent > r.stride) return false;
    return true;
  }
  // Has a tile all of the rows that stage i runs over? Of a reduction, each tile has what it reduces.
  constexpr bool has_whole_rows(std::size_t i) const {
    const gpu_stage stage = (*this)[i];
    const auto needed = reaches(i);
    for (std::size_t d = 0; d < needed.size(); ++d)
      if (stage.tag().kind == form::row && stage.self().rows.axes.has(d) && !needed[d].is_whole() &&
          !(stage.space(d) == 1))
        return false;
    return true;
  }
  // Is what is handed to stage i read as the anchor's first operand alone, with all that a product sums up over?
  constexpr bool hands_first_operand(std::size_t i) const {
    const gpu_stage stage = (*this)[i];
    for (std::size_t l = 0; l < stage.loads(); ++l) {
      if (stage.load(l).reach.count == 0) continue;
      if (stage.outputs_read(l)) return false;
      for (std::size_t k = 1; k < stage.inputs(); ++k)
        if (stage.reads(stage.input(k), l)) return false;
      const auto read = stage.plan().reaches_of(stage.load(l).reach);
      const std::size_t summed = gpu_stage::is_product(stage.tag()) ? read.size() - 1 : 1;
      if (stage.multiplies() && summed < read.size() && !read[summed].is_whole()) return false;
    }
    return true;
  }
  // So many times more of stage i is computed because tiles overlap: squares or cubes of so many positions along each
  // axis of an image, of which the plan cuts the first.
  constexpr double overlap(std::size_t i, double positions) const {
    double n = 1;
    for (const plan::tile_reach& r : reaches(i)) {
      if (r.is_whole() || r.extent <= r.stride) continue;
      const double along = ((positions - 1) * r.stride + r.extent) / (positions * r.stride);
      for (std::size_t d = 2; d < spec_.rank(); ++d) n *= along;
    }
    return n;
  }
  // Positions of stage i that such a tile has, along one axis.
  constexpr double width(std::size_t i, double positions) const {
    double n = positions;
    for (const plan::tile_reach& r : reaches(i))
      if (!r.is_whole() && r.extent > 1) n = (positions - 1) * r.stride + r.extent;
    return n;
  }

 private:
  kernel_spec spec_;
};

// What a family of several stages says of them, once it knows what they take.
constexpr kernel_choice choice_of(const gpu_kernel_time& time, std::string_view reason) {
  kernel_choice c;
  c.tile.lanes = static_cast<std::uint8_t>(time.facts().vector);
  c.cost = time.cost();
  c.reason = reason;
  return c;
}

// The positions of those offered with which a kernel takes least time, of equals the first; 0 if it takes none of them.
constexpr std::int32_t best_positions(std::span<const std::int32_t> offered, auto cycles) {
  std::int32_t best = 0;
  double least = 0;
  for (std::int32_t n : offered)
    if (const double c = cycles(n); c > 0 && (best == 0 || c < least)) {
      best = n;
      least = c;
    }
  return best;
}

}  // namespace dnnkit::opencl::planned
