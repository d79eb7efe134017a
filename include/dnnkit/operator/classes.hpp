// SPDX-License-Identifier: MIT
// Classes of operators in SmartMem and FlashMem: what follows from an operator's form and mapping type.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dnnkit/operator/traits.hpp"

namespace dnnkit {

// SmartMem, section 3.1, Tables 3 and 4: whether the speed of the computation depends on the layout of the input (ILD)
// or not (ILI), and whether the layout of the output is free to choose (variable) or the operator's subject (fixed).
enum class layout_class : std::uint8_t { ild_variable, ild_fixed, ili_variable, ili_fixed };

// FlashMem, section 4.2, Table 5: how much loading of weights a kernel can hide behind its work, as a part of its own
// time: elemental ones 300 per cent, reusable ones 20, hierarchical ones nothing.
enum class load_class : std::uint8_t { elemental, reusable, hierarchical };

// Nothing of composites, whose classes are those of their parts, and of constants.
constexpr std::optional<layout_class> layout_class_of(form kind, mapping map) {
  switch (kind) {
    case form::composite:
    case form::constant:
      return std::nullopt;
    case form::elementwise:
      return layout_class::ili_variable;
    case form::movement:  // all elements in another order, or a choice of them
      return map == mapping::reorganize || map == mapping::shuffle ? layout_class::ild_fixed : layout_class::ili_fixed;
    default:  // computed from several elements, or chosen by position
      return map == mapping::many_to_many ? layout_class::ild_variable : layout_class::ili_fixed;
  }
}

constexpr std::optional<load_class> load_class_of(form kind, mapping map) {
  switch (kind) {
    case form::composite:
    case form::constant:
      return std::nullopt;
    case form::row:  // one pass waits for the other
      return load_class::hierarchical;
    default:
      return map == mapping::many_to_many ? load_class::reusable : load_class::elemental;
  }
}

constexpr std::string_view text_of(layout_class c) {
  constexpr std::string_view names[] = {"ILD, variable", "ILD, fixed", "ILI, variable", "ILI, fixed"};
  return names[static_cast<unsigned>(c)];
}
constexpr std::string_view text_of(load_class c) {
  constexpr std::string_view names[] = {"elemental", "reusable", "hierarchical"};
  return names[static_cast<unsigned>(c)];
}

}  // namespace dnnkit
