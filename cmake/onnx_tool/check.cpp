// SPDX-License-Identifier: MIT
// dnnkit check: everything in a model that stands in the way of using it, at once.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/graph/branch_assumptions.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/inspect/fitting_extents.hpp"
#include "dnnkit/inspect/scalar_kernels.hpp"

namespace dnnkit::tool {

namespace {

void print_signature(const dnnkit::graph& g, std::string_view word, const vector<value_id>& values, bool outputs) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const tensor_type& t = g.at(values[i]).type;
    const shape& dims = outputs ? t.dims : g.declared_input(i);
    const std::string_view name = outputs ? g.text_of(g.output_names[i]) : g.name_of(values[i]);
    fmt::print("{} {}: {} {}\n", word, printable(name), t.type, printable(dnnkit::print(g.symbols, dims).view()));
  }
}

// Extents for which what `g` assumes holds, and `more`, where that can be seen at a glance of neither.
void print_example(const dnnkit::graph& g, const std::vector<assumption>& more, const std::string& where) {
  const fitting_extents fitting(g, more);
  if (!fitting.need_thought()) return;
  if (const auto found = fitting.example())
    fmt::print("what is assumed{} holds, for example, for {}\n", where, printable(fitting.print(*found)));
}

// Each assumption, with the conditions of the branches that alone need it, and examples of extents that fit.
void print_assumptions(const dnnkit::graph& g) {
  const auto print_one = [&](const assumption& a, const std::string& where) {
    fmt::print("assumed{}: {} {} {}, for {}\n", where, printable(g.symbols.print(a.left).view()), sign_of(a.is),
               printable(g.symbols.print(a.right).view()), printable(a.needed_by.view()));
  };
  for (const assumption& a : g.symbols.assumptions) print_one(a, {});
  print_example(g, {}, {});
  const vector<plan::branch_assumption> of_branches =
      plan::branch_assumptions_of(g, plan::branches_of(g, plan::joins_booleans::of_both));
  std::vector<std::string> places;  // each once
  std::map<std::string, std::vector<assumption>> assumed_at;
  for (const plan::branch_assumption& a : of_branches) {
    std::string where;
    for (const plan::branch& b : a.branches)
      where +=
          (where.empty() ? " where " : " and ") + std::string(b.when ? "" : "not ") + printable(g.name_of(b.condition));
    print_one(a.assumed, where);
    if (!assumed_at.contains(where)) places.push_back(where);
    std::vector<assumption>& here = assumed_at[where];
    if (!here.empty()) {
      here.push_back(a.assumed);
      continue;
    }
    for (const plan::branch_assumption& other : of_branches)  // of the branches around it as well
      if (&other == &a || (other.branches.size() < a.branches.size() &&
                           std::equal(other.branches.begin(), other.branches.end(), a.branches.begin())))
        here.push_back(other.assumed);
  }
  for (const std::string& where : places) print_example(g, assumed_at[where], where);
}

void print_number(std::size_t printed, std::size_t left_out) {
  if (left_out > 0) fmt::print("and {} more\n", left_out);
  fmt::print("{} problem{}\n", printed + left_out, printed + left_out == 1 ? "" : "s");
}

}  // namespace

int check(int argc, char** argv) {
  cxxopts::Options options("dnnkit check",
                           "Lists everything in a model that is not supported; the exit status is 1 if there is any. "
                           "Else kernels that run element by element, with their share of the expected time.");
  add_input_option(options);
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  const tensors given = inputs_of(*arguments);
  model m = load(*arguments, given);
  if (m.imported.ok()) std::cerr << onnx::describe_open_inputs(m.imported.graph, "--input", given);
  for (const onnx::import_problem& p : m.imported.problems) fmt::print("{}\n", p.describe());
  if (!m.imported.ok()) {
    fmt::print("{}", onnx::describe_values_to_give(m.imported, "--input", "--dim"));
    if (m.imported.has_unknown_operators) fmt::print("{}\n", m.imported.advice());
    print_number(m.imported.problems.size(), m.imported.problems_left_out);
    return 1;
  }
  const dnnkit::graph& g = m.imported.graph;
  for (const std::string& name : m.imported.inputs_to_bind)
    if (std::any_of(g.inputs.begin(), g.inputs.end(), [&](value_id v) { return g.name_of(v) == name; }))
      fmt::print("the value of input '{0}' would decide what is assumed: --input {0}=FILE.npy\n", printable(name));
  std::map<std::string_view, std::size_t> kinds;
  const vector<std::uint8_t> alive = live_nodes(g);
  std::size_t operators = 0, without_extents = 0;
  print_signature(g, "input", g.inputs, false);
  print_signature(g, "output", g.outputs, true);
  for (const auto& [name, size] : m.imported.sizes_found)
    fmt::print("assumed: {} = {}, as operators need it\n", printable(name), size);
  print_assumptions(g);
  for (std::size_t n = 0; n < g.nodes.size(); ++n) {
    if (!alive[n]) continue;
    const node& x = g.nodes[n];
    ++kinds[x.op->name], ++operators;
    if (x.op->properties.dynamic != dynamism::edo || !has_unknown(g.at(x.output).type.dims)) continue;
    ++without_extents;
    fmt::print("{} '{}': the extents of its output depend on the elements of its inputs\n", x.op->name,
               printable(g.text_of(x.name)));
  }
  const plan::plan_draft plan = cpu::logged_plan(g);
  const std::string reason = plan.error.str();
  fmt::print("{} operator{} of {} kind{}, {}\n", operators, operators == 1 ? "" : "s", kinds.size(),
             kinds.size() == 1 ? "" : "s",
             reason.empty()         ? "all supported"
             : without_extents != 0 ? "for the interpreter only"
                                    : fmt::format("for the interpreter only: {}", printable(reason)));
  if (reason.empty()) fmt::print("{}", printable(describe(scalar_kernels_of(view_of(plan))), line_feeds::kept));
  const onnx::import_problems unreadable = unreadable_weights(m);
  for (const onnx::import_problem& p : unreadable.first) fmt::print("{}\n", p.describe());
  if (unreadable.first.empty()) return 0;
  print_number(unreadable.first.size(), unreadable.left_out);
  return 1;
}

}  // namespace dnnkit::tool
