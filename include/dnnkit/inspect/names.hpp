// SPDX-License-Identifier: MIT
// Words for what a plan and its graph hold: operators, mapping types, layouts, places.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/printable.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/operator/traits.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

inline constexpr std::array<std::string_view, 5> mapping_names{"One-to-One", "Reorganize", "Shuffle", "One-to-Many",
                                                               "Many-to-Many"};
constexpr std::string_view name_of(mapping m) { return mapping_names[static_cast<std::size_t>(m)]; }

inline constexpr std::array<std::string_view, 8> storage_names{"arena",    "graph input", "graph output", "weight",
                                                               "constant", "setup",       "tile",         "image"};
constexpr std::string_view name_of(storage s) { return storage_names[static_cast<std::size_t>(s)]; }

// "Conv 'conv1'"; "Relu", or "Relu #2", when the node has no name of its own
inline std::string describe(const plan_view& plan, const logged_node& n) {
  const std::string_view name = plan.text_of(n.name);
  if (name.empty()) return std::string(n.op.name);
  return is_name_of_operator(name, n.op.name) ? std::string(name) : fmt::format("{} '{}'", n.op.name, printable(name));
}

// What must hold for a step with these guards to run: "gate and not other"; empty when it always does.
inline std::string conditions_of(const plan_view& plan, slice_of guards_of_step) {
  std::vector<std::string> conditions;
  const auto guards = plan.numbers_of(guards_of_step);
  for (std::size_t k = 0; k < guards.size(); k += 2)
    conditions.push_back(fmt::format("{}{}", guards[k + 1] != 0 ? "" : "not ",
                                     plan.text_of(plan.buffers[static_cast<std::size_t>(guards[k])].name)));
  return fmt::format("{}", fmt::join(conditions, " and "));
}

// "channels last, halo axis 2: 1+1 axis 3: 1+1"
inline std::string describe(const buffer_layout& l) {
  std::size_t in_order = 0, channels_last = 0;
  const std::size_t rank = l.order.size();
  bool halo = false;
  for (std::size_t i = 0; i < rank; ++i) {
    if (l.order[i] == i) ++in_order;
    if (l.order[i] == (i == 0 ? 0 : i + 1 == rank ? 1 : i + 1)) ++channels_last;
    halo = halo || l.before[i] != 0 || l.after[i] != 0;
  }
  std::string s = in_order == rank        ? "row-major"
                  : channels_last == rank ? "channels last"
                                          : fmt::format("order {}", fmt::join(l.order.begin(), l.order.end(), " "));
  if (halo) s += ", halo";
  for (std::size_t i = 0; i < rank; ++i)
    if (l.before[i] != 0 || l.after[i] != 0) s += fmt::format(" axis {}: {}+{}", i, l.before[i], l.after[i]);
  if (!l.part.empty()) {
    std::vector<std::string> parts;  // "tiles of 12 along axis 1 and 1 along axis 2"
    for (std::size_t i = 0; i < rank; ++i)
      if (l.part[i] != 0) parts.push_back(fmt::format("{} along axis {}", l.part[i], i));
    s += fmt::format(", tiles of {}", fmt::join(parts, " and "));
  }
  return s;
}

}  // namespace dnnkit::detail
