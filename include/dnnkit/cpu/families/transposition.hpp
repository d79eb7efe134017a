// SPDX-License-Identifier: MIT
// The kernel of a group that only moves elements, where output and input run along different axes: blocks in registers,
// transposed there (cpu/micro/transpose.hpp). Axes that follow each other in both are one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/cpu/micro/transpose.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct transposition {
  static constexpr std::string_view name = "transposition";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == operator_id::none; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    if (spec.is_setup()) return no_match{"it runs once"};
    if (!is_a_copy(spec)) return no_match{"more is done than to move elements of one tensor"};
    const exchanged_axes x = axes_of(spec);
    if (!x.found) return no_match{"output and input do not lie next to each other along an axis each"};
    const std::size_t bytes = size_of(spec.output(0).type);
    const int block = largest_block(bytes, typical(spec, x.rows), typical(spec, x.columns));
    if (block == 1) return no_match{"there are too few elements along an axis for a block"};
    kernel_choice c;
    c.tile.along = static_cast<std::int8_t>(x.rows.last);
    c.tile.lanes = static_cast<std::uint8_t>(block);
    double interleaved = 0;  // times that each vector is
    for (int n = block; n > 1; n /= 2) ++interleaved;
    const cost_coefficients& of = facts.costs;
    c.cost = estimate(facts, {.cycles = spec.elements() / block * (of.load + interleaved * of.simple / 2 + of.store),
                              .starts = of.row * spec.elements() / static_cast<double>(typical(spec, x.rows)) /
                                        static_cast<double>(typical(spec, x.columns)),
                              .traffic = traffic_of(spec, facts)});
    c.reason = "blocks, transposed in registers";
    return c;
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  // Axes of the iteration space that follow each other, in the output as in the input.
  struct axis_run {
    std::size_t first = 0, last = 0;
    constexpr bool has(std::size_t d) const { return first <= d && d <= last; }
  };
  // The output's elements lie next to each other along the last of the rows, the input's along that of the columns.
  struct exchanged_axes {
    bool found = false;
    axis_run rows, columns;
  };

  static constexpr bool is_a_copy(const kernel_spec& spec) {
    if (spec.outputs() != 1 || spec.output(0).value.from != source::load) return false;
    const recipe_load& l = spec.load(spec.output(0).value.index);
    return l.type == spec.output(0).type && l.movement.count == 0;
  }
  static constexpr exchanged_axes axes_of(const kernel_spec& spec) {
    const slice_of in = spec.load(spec.output(0).value.index).axes, out = spec.output(0).axes;
    exchanged_axes x;
    const std::size_t along = lane_axis(spec);
    const lane_stride from = spec.stride_along(in, along), to = spec.stride_along(out, along);
    if (spec.rank() < 2 || !from.single || from.stride == 0 || from.stride == 1 || !to.single || to.stride != 1)
      return x;
    for (std::size_t d = spec.rank(); d-- > 0 && !x.found;) {
      const lane_stride next = spec.stride_along(in, d), apart = spec.stride_along(out, d);
      if (d == along || spec.space(d) == 1 || !next.single || next.stride != 1 || !apart.single) continue;
      x = {true, {along, along}, {d, d}};
    }
    if (!x.found) return x;
    extend(spec, x.rows, x.columns);
    extend(spec, x.columns, x.rows);
    return x;
  }
  static constexpr void extend(const kernel_spec& spec, axis_run& run, const axis_run& other) {
    const recipe_load& l = spec.load(spec.output(0).value.index);
    while (run.first > 0 && !other.has(run.first - 1) && adjoining(spec, l, run.first - 1) &&
           adjoining(spec, spec.output(0), run.first - 1))
      --run.first;
  }
  static constexpr std::int64_t typical(const kernel_spec& spec, const axis_run& run) {
    std::int64_t n = 1;
    for (std::size_t d = run.first; d <= run.last; ++d) n *= known_or_typical(spec.space(d));
    return n;
  }
};

template <class Net, std::size_t R> struct transposition::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr exchanged_axes exchanged = axes_of(access::spec);
  static constexpr recipe_output out = access::template output<0>;
  static constexpr recipe_load in = access::template load<out.value.index>;
  static constexpr index_t columns_of_a_unit = 256;

  static index_t units(const kernel_call& call) noexcept { return matrices(call) * parts(call); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    const index_t rows = extent(call, exchanged.rows), columns = extent(call, exchanged.columns), each = parts(call);
    const index_t in_stride = extent_value<stride_along(Net::plan, in.axes, exchanged.rows.last).stride>(call),
                  out_stride = extent_value<stride_along(Net::plan, out.axes, exchanged.columns.last).stride>(call);
    auto* const to = reinterpret_cast<element<out.type>*>(call.operands[out.operand]);
    for (index_t u = first; u < last; ++u) {
      const coordinates c = matrix(call, u / each);
      const index_t begin = columns * (u % each) / each, end = columns * (u % each + 1) / each;
      transpose_elements(
          values::template pointer<out.value.index>(call) + view_address<Net, in.axes, in.offset>(call, c) + begin,
          in_stride, rows, end - begin, to + view_address<Net, out.axes, out.offset>(call, c) + begin * out_stride,
          out_stride);
    }
  }

 private:
  static index_t extent(const kernel_call& call, const axis_run& run) {
    index_t n = 1;
    for (std::size_t d = run.first; d <= run.last; ++d) n *= access::bound(access::space(d), call);
    return n;
  }
  // A matrix is divided by its columns.
  static index_t parts(const kernel_call& call) {
    return std::max<index_t>(extent(call, exchanged.columns) / columns_of_a_unit, 1);
  }
  static constexpr bool is_within(std::size_t d) { return exchanged.rows.has(d) || exchanged.columns.has(d); }
  static index_t matrices(const kernel_call& call) {
    index_t n = 1;
    for (std::size_t d = 0; d < access::rank; ++d)
      if (!is_within(d)) n *= access::bound(access::space(d), call);
    return n;
  }
  // Where matrix number n begins.
  static coordinates matrix(const kernel_call& call, index_t n) {
    coordinates c{};
    for (std::size_t d = access::rank; d-- > 0;) {
      if (is_within(d)) continue;
      const index_t extent = access::bound(access::space(d), call);
      c[d] = n % extent;
      n /= extent;
    }
    return c;
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
