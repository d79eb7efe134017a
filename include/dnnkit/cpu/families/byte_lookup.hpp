// SPDX-License-Identifier: MIT
// The kernel of a table of 256 bytes that is looked up by bytes, which pass/byte_functions.hpp makes of chains of
// element-wise operators: a Gather of the table by indices that are bytes, read along the axis of the output's vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/cpu/families/element_choice.hpp"
#include "dnnkit/cpu/loop.hpp"
#include "dnnkit/cpu/micro/byte_table.hpp"
#include "dnnkit/op/gather.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

struct byte_lookup {
  static constexpr std::string_view name = "byte_lookup";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::gather>; }

  static constexpr kernel_match match(const kernel_spec& spec, const cpu_facts& facts) {
    if (const std::string_view why = unfit(spec); !why.empty()) return no_match{why};
    const std::size_t along = lane_axis(spec);
    const vector_rows pieces = rows_along(
        facts, spec.elements(), static_cast<double>(known_or_typical(spec.space(along))), facts.float_lanes > 1);
    kernel_choice c;
    c.operands = {operand_reading::in_place, operand_reading::in_place};
    c.tile.along = static_cast<std::int8_t>(along);
    c.tile.lanes = static_cast<std::uint8_t>(facts.float_lanes);
    c.cost = estimate(facts, {.cycles = pieces.vectors * (facts.costs.load + facts.costs.store),
                              .starts = pieces.rows * facts.costs.row,
                              .traffic = traffic_of(spec, facts)});
    c.reason = "a table of 256 bytes in registers, or in the first cache";
    return c;
  }

  // The load of the bytes that are looked up.
  static constexpr std::size_t load_of_bytes(const kernel_spec& spec) { return bytes_of(spec, spec.input(1)).index; }

  template <class Net, std::size_t R> struct kernel;

 private:
  // The bytes that are widened to an index; nothing where the index is another one.
  static constexpr operand_ref bytes_of(const kernel_spec& spec, operand_ref index) {
    if (index.from != source::node || spec.node(index.index).op.id != id_of<op::cast>) return {};
    const operand_ref x = spec.inputs_of(index)[0];
    return x.from == source::load && is_byte(spec.type_of(x)) ? x : operand_ref{};
  }
  static constexpr bool is_row(const kernel_spec& spec, const recipe_load& l, std::size_t along) {
    return l.movement.count == 0 && spec.stride_along(l.axes, along).single;
  }
  static constexpr std::string_view unfit(const kernel_spec& spec) {
    const operand_ref table = spec.input(0), bytes = bytes_of(spec, spec.input(1));
    if (spec.rank_of(0) != 1 || spec.extent_of(0, 0) != 256 || !is_byte(spec.anchor_type()) ||
        bytes.from != source::load)
      return "it is no table of 256 bytes that is looked up by bytes";
    if (table.from != source::load || !is_row(spec, spec.load(table.index), 0) ||
        spec.stride_along(spec.load(table.index).axes, 0).stride != 1)
      return "the table is no row of bytes";
    if (spec.nodes() != 1 || spec.outputs() != 1 || spec.output(0).value.from != source::anchor)
      return "something else is computed besides";
    const std::size_t along = lane_axis(spec);
    if (!is_row(spec, spec.load(bytes.index), along) || !spec.stride_along(spec.output(0).axes, along).single)
      return "what is read or written lies at no constant stride";
    return {};
  }
};

template <class Net, std::size_t R> struct byte_lookup::kernel {
  using access = recipe_access<Net, R>;
  using values = tree<Net, R>;
  static constexpr std::size_t along = access::choice.tile.along, bytes = load_of_bytes(access::spec),
                               table = access::spec.input(0).index;

  static index_t units(const kernel_call& call) noexcept { return rows_without<Net, R>(call, along); }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    constexpr recipe_load of_table = access::template load<table>, l = access::template load<bytes>;
    constexpr recipe_output o = access::template output<0>;
    const auto* const entries = reinterpret_cast<const std::uint8_t*>(values::template pointer<table>(call)) +
                                view_address<Net, of_table.axes, of_table.offset>(call, coordinates{});
    const auto* const in = reinterpret_cast<const std::uint8_t*>(values::template pointer<bytes>(call));
    auto* const out = reinterpret_cast<std::uint8_t*>(call.operands[o.operand]);
    const index_t in_step = extent_value<access::spec.stride_along(l.axes, along).stride>(call),
                  out_step = extent_value<access::spec.stride_along(o.axes, along).stride>(call);
    const index_t extent = access::rank == 0 ? 1 : access::bound(access::space(along), call);
    for (index_t row = first; row < last; ++row) {
      const coordinates c = row_coordinates<Net, R>(call, along, row);
      const std::uint8_t* const from = in + view_address<Net, l.axes, l.offset>(call, c);
      std::uint8_t* const to = out + view_address<Net, o.axes, o.offset>(call, c);
      if (in_step == 1 && out_step == 1) look_up(entries, from, to, extent);
      else
        for (index_t i = 0; i < extent; ++i) to[i * out_step] = entries[from[i * in_step]];
    }
  }
};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
