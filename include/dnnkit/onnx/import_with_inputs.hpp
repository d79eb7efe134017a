// SPDX-License-Identifier: MIT
// An import with values for inputs, as command lines give them: those whose values decide shapes or branches become
// constants, and others stay inputs.
#pragma once

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
#include "dnnkit/onnx/format/read_model.hpp"
#include "dnnkit/onnx/import.hpp"
#include "dnnkit/onnx/import/result.hpp"
#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/weights/host_weights.hpp"
#include "dnnkit/weights/npy.hpp"

namespace dnnkit::onnx {

// By name.
using input_values = std::map<std::string, host_tensor, std::less<>>;

// Takes "NAME=FILE.npy" into `values`. Throws dnnkit::error naming `option` where it says something else, or has an
// input that has a value already, and what reading the file throws.
inline void read_input_value(input_values& values, std::string_view option, std::string_view assignment) {
  const std::size_t equals = assignment.rfind('=');
  if (equals == assignment.npos || equals == 0)
    throw error("is no assignment", std::string(option), "NAME=FILE.npy", std::string(assignment));
  const std::string name(assignment.substr(0, equals));
  if (values.contains(name)) throw error("is given twice", std::string(option) + " " + name);
  values.emplace(name, to_host_tensor(npy(std::string(assignment.substr(equals + 1))).tensor()));
}

// Values for inputs that the model does not have are mistakes in their names: throws dnnkit::error for the first.
inline void refuse_unknown_inputs(const model& m, std::string_view option, const input_values& values) {
  std::set<std::string_view> inputs;
  for (const value_info& i : m.graph.inputs) inputs.insert(i.name);
  for (const tensor_data& t : m.graph.initializers) inputs.erase(t.name);  // inputs up to IR version 3
  std::string names;
  for (const std::string_view name : inputs)
    (names += names.empty() ? "one of " : ", ") += dnnkit::detail::quoted(name);
  for (const auto& [name, value] : values)
    if (!inputs.contains(name))
      throw error("the model has no input of this name", std::string(option) + " " + printable(name),
                  names.empty() ? "none" : names);
}

// So are values for extents that no input has: throws dnnkit::error for the first.
inline void refuse_unknown_extents(const model& m, std::string_view option, const import_options& options) {
  const std::set<std::string, std::less<>> known = open_extents(m);
  std::string names;
  for (const std::string& name : known) (names += names.empty() ? "one of " : ", ") += dnnkit::detail::quoted(name);
  const auto look_up = [&](const std::string& name) {
    if (!known.contains(name))
      throw error("no extent of an input is called so", std::string(option) + " " + printable(name),
                  names.empty() ? "none, as all are numbers" : names);
  };
  for (const auto& [name, size] : options.sizes) look_up(name);
  for (const auto& [name, range] : options.ranges) look_up(name);
}

// And values of another element type or rank than the model declares, or with other extents where it declares numbers:
// throws dnnkit::error for the first.
inline void refuse_other_types(const model& m, std::string_view option, const input_values& values) {
  for (const value_info& i : m.graph.inputs) {
    const auto given = values.find(i.name);
    const auto type = dtype_of(i.data_type);
    if (given == values.end() || !type || !i.shape) continue;
    const host_tensor& t = given->second;
    bool fits = t.type == *type && t.dims.size() == i.shape->size();
    std::string declared;
    for (std::size_t d = 0; d < i.shape->size(); ++d) {
      const dimension& x = (*i.shape)[d];
      fits = fits && (!is_number(x) || *x.value == t.dims[d]);
      declared += (declared.empty() ? "" : ", ") + (is_number(x) ? std::to_string(*x.value) : name_of_extent(i, d));
    }
    if (!fits)
      throw error("is of another type than the input", std::string(option) + " " + printable(i.name),
                  std::string(name(*type)) + " [" + declared + "]", t.describe());
  }
}

// Which inputs become constants where they are given a value: those that the import asks for, or all that decide
// something, also which branch is taken of an If that has both.
enum class bound_inputs : bool { needed, deciding };

// The model in `f`, which must outlive the result, with such inputs bound.
[[nodiscard]] inline import_result import_with_inputs(file& f, import_options options, const input_values& values,
                                                      bound_inputs bound = bound_inputs::deciding) {
  while (true) {
    import_result imported = import_model(f, options);
    bool more = false;
    const auto bind = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names)
        if (const auto found = values.find(name); found != values.end()) more |= options.bind.emplace(*found).second;
    };
    bind(imported.inputs_to_bind);
    if (bound == bound_inputs::deciding) bind(imported.inputs_that_choose);
    if (!more) return imported;
  }
}

// What values would have to be given for a model that cannot be imported: of each input and of the extents together a
// line, "the value of input 'x' decides shapes: give it by --input x=FILE.npy\n". Options are named as they are said.
[[nodiscard]] inline std::string describe_values_to_give(const import_result& imported, std::string_view input_option,
                                                         std::string_view extent_option) {
  std::string text;
  for (const std::string& name : imported.inputs_to_bind)
    text += "the value of input " + dnnkit::detail::quoted(name) + " decides shapes: give it by " +
            std::string(input_option) + " " + printable(name) + "=FILE.npy\n";
  std::string extents;
  for (const std::string& name : imported.extents_to_give()) {
    const bool is_repeated = extents.empty() || extent_option.starts_with("--");
    extents += (is_repeated ? " " + std::string(extent_option) : "") + " " + printable(name) + "=NUMBER";
  }
  return extents.empty() ? text : text + "extents that must be known: give" + extents + "\n";
}

// Of each value that is still an input's of `g` a line that says so: "--input x: is not needed, ...\n"
[[nodiscard]] inline std::string describe_open_inputs(const dnnkit::graph& g, std::string_view option,
                                                      const input_values& values) {
  std::string text;
  for (const value_id v : g.inputs)
    if (values.find(g.name_of(v)) != values.end())
      text += std::string(option) + " " + printable(g.name_of(v)) +
              ": is not needed, and stays an input: its value decides no shape and no branch\n";
  return text;
}

}  // namespace dnnkit::onnx
