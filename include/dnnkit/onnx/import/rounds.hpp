// SPDX-License-Identifier: MIT
// The importer behind import.hpp: walks over the model, repeated until no more is learnt of the symbols (SoD2, section
// 4.1, Algorithm 1) and no more branches have to be chosen; extents that still must be equal and are not known to be
// are then assumed to be.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import.hpp"
#include "dnnkit/onnx/import/solve_symbols.hpp"
#include "dnnkit/onnx/import/walk.hpp"

namespace dnnkit::onnx {

namespace detail {

// What is wrong with the names of the sizes given: those that are no extent of an input.
inline std::vector<import_problem> unknown_sizes(const onnx::model& m, const import_options& options) {
  const std::set<std::string, std::less<>> known = open_extents(m);
  std::string names;
  for (const std::string& name : known) names += (names.empty() ? "" : ", ") + dnnkit::detail::quoted(name);
  std::vector<import_problem> problems;
  const auto look_up = [&](const std::string& name, const std::string& given) {
    if (!known.contains(name))
      problems.push_back({"", "",
                          "no extent of an input is called " + dnnkit::detail::quoted(name) + ", to which " + given +
                              (names.empty() ? "all of them are numbers" : "those that are no numbers: " + names)});
  };
  for (const auto& [name, size] : options.sizes) look_up(name, std::to_string(size) + " was given; ");
  for (const auto& [name, range] : options.ranges)
    look_up(name, std::to_string(range.min) + " to " + std::to_string(range.max) + " were given; ");
  return problems;
}

// The model with these choices, to which those are added that have to be made besides.
template <class Walk>
import_result import_with(const onnx::model& m, const import_options& options, branch_choices& choices) {
  symbol_solutions solutions;
  constexpr std::size_t most_rounds = 256;
  bool assumes = false;  // what is left when no more is learnt
  for (std::size_t round = 0;;) {
    Walk walk(m, options, solutions, choices, assumes);
    walk.run();
    if (walk.has_chosen()) continue;
    import_state& s = walk.state();
    symbol_table& table = s.graph.value().symbols;
    bool learnt = false, open = false;
    symbol_solver solver(table, solutions);
    for (const equation& e : table.equations) {
      if (solver.holds(e) || solver.mentions_solved(e)) continue;
      if (solver.solve(e)) learnt = true;
      else open = open || !e.follows;
    }
    if (learnt && ++round < most_rounds) continue;
    if (learnt) s.problems.add({"", "", "extents that must be equal lead to ever new ones"});
    else if (open) {
      assumes = true;
      continue;
    }
    import_result result;
    result.problems.assign(s.problems.first.begin(), s.problems.first.end());
    result.problems_left_out = s.problems.left_out;
    result.has_unknown_operators = s.problems.has_unknown_operators;
    result.inputs_to_bind.assign(s.inputs_to_bind.begin(), s.inputs_to_bind.end());
    result.inputs_that_choose.assign(s.inputs_that_choose.begin(), s.inputs_that_choose.end());
    if (!result.ok()) return result;
    table.collects_equations = false;
    table.equations.clear();
    for (const std::string& name : open_extents(m))
      if (solutions.contains(name) && !options.sizes.contains(name))
        if (const dim d = solved_symbols(solutions).of(table, name); d.is_known())
          result.sizes_found.emplace(name, d.value());
    for (const auto& [name, v] : s.tensors)
      if (v->data.present()) result.tensors.emplace(name, v->data.id());
    result.weights = std::move(s.weights);
    result.graph = std::move(s.graph.value());
    result.graph.settle();
    if (const text& wrong = result.graph.error; !wrong.empty()) result.problems.push_back({"", "", wrong.str()});
    return result;
  }
}

template <class Walk> import_result importer<Walk>::run(const onnx::model& m, import_options options) {
  const std::vector<import_problem> unknown = unknown_sizes(m, options);
  for (const value_info& i : m.graph.inputs)  // symbols that are extents of inputs whose values are known
    if (const auto bound = options.bind.find(i.name); bound != options.bind.end() && i.shape)
      for (std::size_t d = 0; d < i.shape->size() && d < bound->second.dims.size(); ++d)
        if (!is_number((*i.shape)[d])) options.sizes.emplace(name_of_extent(i, d), bound->second.dims[d]);
  branch_choices choices;
  import_result result = import_with<Walk>(m, options, choices);
  constexpr std::size_t most_tries = 16;
  std::size_t tries = 0;
  for (const auto& [name, taken] : branch_choices(choices)) {  // perhaps one of the choices was wrong
    if (result.ok() || ++tries > most_tries) break;
    branch_choices others = choices;
    others[name] = !taken;
    if (import_result other = import_with<Walk>(m, options, others); other.ok()) result = std::move(other);
  }
  result.problems.insert(result.problems.begin(), unknown.begin(), unknown.end());
  if (!result.ok()) result.graph = {};
  return result;
}

template <class Walk> std::vector<std::string_view> importer<Walk>::operators() { return Walk::operators(); }
template <class Walk> std::vector<std::string_view> importer<Walk>::microsoft_operators() {
  return detail::microsoft_operators();
}

}  // namespace detail

}  // namespace dnnkit::onnx
