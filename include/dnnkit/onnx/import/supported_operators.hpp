// SPDX-License-Identifier: MIT
// Which operators of ONNX and of ONNX Runtime are imported, and what becomes of each: the table in docs/onnx.md.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "dnnkit/onnx/import.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/operator/op_set.hpp"

namespace dnnkit::onnx {

namespace detail {

inline constexpr std::string_view by_other_operators = "by other operators";

// How an operator of the library's own is computed.
constexpr std::string_view phrase(const op_info& info) {
  if (info.properties.dynamic == dynamism::edo) return "by the interpreter only: extents depend on elements";
  switch (info.kind) {
    case form::elementwise:
      return "element by element";
    case form::movement:
      return "as another view of the same elements";
    case form::point:
      return "each element from many of the inputs";
    case form::reduction:
      return "by reductions";
    case form::row:
      return "row by row";
    case form::whole:
      return "as a whole";
    case form::composite:
      return by_other_operators;
    case form::constant:
      return "while importing";
  }
  return "";
}

template <class... Ops> std::string_view phrase_of(std::string_view name, op_set<Ops...>) {
  static const std::map<std::string_view, const op_info*> infos{{Ops::name, &info_of<Ops>}...};
  constexpr std::array while_importing{"ConcatFromSequence",
                                       "Constant",
                                       "ConstantOfShape",
                                       "Loop",
                                       "OptionalGetElement",
                                       "OptionalHasElement",
                                       "Scan",
                                       "SequenceAt",
                                       "SequenceConstruct",
                                       "SequenceEmpty",
                                       "SequenceErase",
                                       "SequenceInsert",
                                       "SequenceLength",
                                       "Shape",
                                       "Size",
                                       "SplitToSequence"};
  if (name == "If") return "the branch taken only";
  if (std::find(while_importing.begin(), while_importing.end(), name) != while_importing.end())
    return "while importing";
  const auto found = infos.find(name);
  return found == infos.end() ? by_other_operators : phrase(*found->second);
}

}  // namespace detail

// A Markdown table: the operators that are imported, by how they are computed.
inline std::string operator_table() {
  std::map<std::string_view, std::string> rows;
  std::size_t count = 0;
  for (const std::string_view name : detail::importer<detail::import_walk>::operators()) {
    std::string& row = rows[detail::phrase_of(name, builtin_ops)];
    row += (row.empty() ? "" : ", ") + std::string(name);
    ++count;
  }
  std::string& of_runtime = rows["by other operators: ONNX Runtime's own, of the domain `com.microsoft`"];
  for (const std::string_view name : detail::importer<detail::import_walk>::microsoft_operators()) {
    of_runtime += (of_runtime.empty() ? "" : ", ") + std::string(name);
    ++count;
  }
  std::string table = "| computed | " + std::to_string(count) + " operators |\n|---|---|\n";
  for (const auto& [how, names] : rows) table += "| " + std::string(how) + " | " + names + " |\n";
  return table;
}

}  // namespace dnnkit::onnx
