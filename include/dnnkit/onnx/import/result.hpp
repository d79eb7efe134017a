// SPDX-License-Identifier: MIT
// What an import takes besides the model, and what it gives: a graph, or everything that stands in the way of one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/reference/host_tensor.hpp"

namespace dnnkit::onnx {

// Is the extent declared as a number? -1 and 0, which some exporters write, stand for one that is not known.
inline bool is_number(const dimension& x) { return x.value && *x.value != -1 && *x.value != 0; }

// Does the model name the extent? Extents of one name are equal; these are no names, but what exporters write for every
// extent that is not known.
inline bool is_named(const dimension& x) {
  constexpr std::string_view placeholders[] = {"", "?", "-1", "0", "None"};
  return std::find(std::begin(placeholders), std::end(placeholders), x.symbol) == std::end(placeholders);
}

// The symbol that extent d of an input is, whose shape the model declares: the one the model names, or one of its own.
inline std::string name_of_extent(const value_info& input, std::size_t d) {
  const dimension& x = (*input.shape)[d];
  return is_named(x) ? std::string(x.symbol) : std::string(input.name) + "." + std::to_string(d);
}

// The names of extents of inputs that are no numbers.
inline std::set<std::string, std::less<>> open_extents(const model& m) {
  std::set<std::string, std::less<>> names;
  for (const value_info& i : m.graph.inputs)
    for (std::size_t d = 0; i.shape && d < i.shape->size(); ++d)
      if (!is_number((*i.shape)[d])) names.insert(name_of_extent(i, d));
  return names;
}

// Gives the elements of a tensor stored in the model; raises dnnkit::error when they cannot be read.
using tensor_loader = std::function<host_tensor(const tensor_data&)>;

struct import_options {
  tensor_loader load;
  std::map<std::string, host_tensor, std::less<>> bind;    // inputs whose values are known: they become constants
  std::map<std::string, std::int64_t, std::less<>> sizes;  // symbols whose values are known: see name_of_extent
  std::map<std::string, bounds, std::less<>> ranges;       // of others the values they may have; else 1 and more
};

// One thing that cannot be imported: the node (empty: the model as a whole), its operator, and what is wrong.
struct import_problem {
  std::string node, operator_type, message;
  std::vector<std::string> extents =
      {};  // of inputs, by name_of_extent: with numbers for them, there may be no problem

  // One line, whatever names the model has.
  std::string describe() const {
    if (node.empty() && operator_type.empty()) return printable(message);
    if (node.empty()) return printable(operator_type + ": " + message);
    return printable(operator_type + " '" + node + "': " + message);
  }
};

// Problems in the order in which they were met: the first of them, and how many there were besides.
struct import_problems {
  static constexpr std::size_t most = 100;

  std::vector<import_problem> first;
  std::size_t left_out = 0;
  bool has_unknown_operators = false;  // is there one among them that an operator is not supported?

  void add(import_problem p) {
    if (first.size() < most) first.push_back(std::move(p));
    else ++left_out;
  }
};

struct [[nodiscard]] import_result {
  dnnkit::graph graph;                          // empty when there are problems
  std::vector<import_problem> problems;         // the first import_problems::most or so
  std::size_t problems_left_out = 0;            // how many there are besides
  bool has_unknown_operators = false;           // import_problems
  std::vector<std::string> inputs_to_bind;      // inputs whose values decide shapes or attributes
  std::vector<std::string> inputs_that_choose;  // inputs whose values decide which branch of an If is taken
  std::map<std::string, std::int64_t, std::less<>> sizes_found;  // open extents of inputs, as operators need them
  std::map<std::string, const tensor_data*, std::less<>>
      weights;                                           // of the graph, by name: where their elements are stored
  std::map<std::string, value_id, std::less<>> tensors;  // ONNX's tensors that are values of the graph

  bool ok() const { return problems.empty(); }
  // The extents of inputs for which the problems want numbers, each once.
  std::vector<std::string> extents_to_give() const {
    std::vector<std::string> all;
    for (const import_problem& p : problems)
      for (const std::string& name : p.extents)
        if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    return all;
  }
  // Where to look, to be shown with the problems; may be empty.
  std::string_view advice() const {
    return has_unknown_operators ? "`dnnkit operators` lists the operators that are supported" : "";
  }
  // The graph; raises dnnkit::error with the problems, one a line, when there are any.
  const dnnkit::graph& value() const {
    if (ok()) return graph;
    std::string all;
    for (const import_problem& p : problems) all += "\n  " + p.describe();
    if (problems_left_out > 0) all += "\n  and " + std::to_string(problems_left_out) + " more";
    if (has_unknown_operators) all += "\n" + std::string(advice());
    throw error("the model cannot be imported:" + all, "ONNX import");
  }
};

}  // namespace dnnkit::onnx
