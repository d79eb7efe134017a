// SPDX-License-Identifier: MIT
// SmartMem, Tables 5 and 6 (section 3.2): what is done about two operators of which the second reads what the first
// computes, of what class the result is, and whose layouts are searched. Read by the passes that see through movement
// (plan_fusion, read_through), by the one that selects layouts, and by the log, which says why a kernel that the table
// would eliminate is there all the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dnnkit/operator/classes.hpp"
#include "dnnkit/operator/op_info.hpp"

namespace dnnkit::plan {

// Table 5
enum class layout_action : std::uint8_t {
  keep_both,         // red: each has a kernel of its own
  try_fuse,          // orange: DNNFusion's table decides (pass/mapping_table.hpp)
  eliminate_first,   // yellow: one becomes index arithmetic of the other
  eliminate_second,  //
  eliminate_both     // green: both become index arithmetic of whatever reads them
};
// Table 6: whose input and output layouts are searched.
enum class layout_search : std::uint8_t { both, fused, first, second, none };

struct layout_pair {
  layout_action action;
  std::optional<layout_class> result;  // nothing where no operator is left
  layout_search search;
};

// The place of a class in the tables' rows and columns.
constexpr std::size_t place_in_tables(layout_class c) {
  switch (c) {
    case layout_class::ild_variable:
      return 0;
    case layout_class::ili_variable:
      return 1;
    case layout_class::ild_fixed:
      return 2;
    default:
      return 3;
  }
}

// Rows: first operator; columns: second; both in the order of place_in_tables, which is the paper's.
inline constexpr std::array<std::array<layout_pair, 4>, 4> layout_table = [] {
  using enum layout_action;
  using enum layout_search;
  constexpr layout_class ild = layout_class::ild_variable, ili = layout_class::ili_variable;
  return std::array<std::array<layout_pair, 4>, 4>{{
      // second: ILD & Variable      ILI & Variable                  ILD & Fixed                ILI & Fixed
      {{{keep_both, ild, both},
        {try_fuse, ild, fused},
        {eliminate_second, ild, first},
        {eliminate_second, ild, first}}},
      {{{try_fuse, ild, fused}, {try_fuse, ili, none}, {eliminate_second, ili, none}, {eliminate_second, ili, none}}},
      {{{eliminate_first, ild, second},
        {eliminate_first, ili, none},
        {eliminate_both, {}, none},
        {eliminate_both, {}, none}}},
      {{{eliminate_first, ild, second},
        {eliminate_first, ili, none},
        {eliminate_both, {}, none},
        {eliminate_both, {}, none}}},
  }};
}();

constexpr const layout_pair& about_layouts(layout_class first, layout_class second) {
  return layout_table[place_in_tables(first)][place_in_tables(second)];
}

// Is an operator of class c eliminated when one of class `reader` reads it, or when it reads one of class `producer`?
constexpr bool is_eliminated_before(layout_class c, layout_class reader) {
  const layout_action a = about_layouts(c, reader).action;
  return a == layout_action::eliminate_first || a == layout_action::eliminate_both;
}
constexpr bool is_eliminated_behind(layout_class c, layout_class producer) {
  const layout_action a = about_layouts(producer, c).action;
  return a == layout_action::eliminate_second || a == layout_action::eliminate_both;
}

// Is it eliminated whatever stands before and behind it?
constexpr bool is_eliminated(layout_class c) {
  constexpr std::array<bool, 4> always = [] {
    using enum layout_class;
    std::array<bool, 4> all{true, true, true, true};
    for (layout_class of : {ild_variable, ili_variable, ild_fixed, ili_fixed})
      for (layout_class beside : {ild_variable, ili_variable, ild_fixed, ili_fixed})
        if (!is_eliminated_before(of, beside) || !is_eliminated_behind(of, beside)) all[place_in_tables(of)] = false;
    return all;
  }();
  return always[place_in_tables(c)];
}

constexpr std::optional<layout_class> layout_class_of(const op_info& op) {
  return dnnkit::layout_class_of(op.kind, op.properties.map);
}
// The same of an operator; of composites and constants, nothing is eliminated.
constexpr bool is_eliminated(const op_info& op) {
  const std::optional<layout_class> c = layout_class_of(op);
  return c && is_eliminated(*c);
}
// Is it movement that Table 5 eliminates, by a view of its input?
constexpr bool is_a_view(const op_info& op) { return op.kind == form::movement && is_eliminated(op); }

}  // namespace dnnkit::plan

namespace dnnkit {
using plan::layout_action;
using plan::layout_search;
}  // namespace dnnkit
