// SPDX-License-Identifier: MIT
// Outputs of a model that are the next run's inputs, as --feedback OUTPUT=INPUT of the tool and FEEDBACK of
// dnnkit_add_onnx name them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit::onnx {

struct feedback_names {
  std::string output, input;
};

namespace detail {

inline std::string names_of(const dnnkit::graph& g, bool inputs) {
  std::string all;
  const auto add = [&](std::string_view name) { all += (all.empty() ? "" : ", ") + std::string(name); };
  if (inputs)
    for (value_id v : g.inputs) add(g.name_of(v));
  else
    for (slice_of name : g.output_names) add(g.text_of(name));
  return all.empty() ? "none" : all;
}
inline std::optional<std::size_t> output_named(const dnnkit::graph& g, std::string_view name) {
  for (std::size_t i = 0; i < g.outputs.size(); ++i)
    if (g.text_of(g.output_names[i]) == name) return i;
  return std::nullopt;
}
inline std::optional<std::size_t> input_named(const dnnkit::graph& g, std::string_view name) {
  for (std::size_t i = 0; i < g.inputs.size(); ++i)
    if (g.name_of(g.inputs[i]) == name) return i;
  return std::nullopt;
}
inline std::string type_text(const dnnkit::graph& g, std::string_view name, value_id v) {
  return std::string(name) + ": " + std::string(dnnkit::name(g.at(v).type.type)) + " " +
         print(g.symbols, g.at(v).type.dims).str();
}

}  // namespace detail

// `text` is OUTPUT=INPUT, of names that may have an = themselves. Throws dnnkit::error naming `option` for other text,
// for a name that `g` does not have, and for tensors of other element types, ranks or known extents.
inline feedback_names feedback_of(const dnnkit::graph& g, std::string_view option, std::string_view text) {
  const std::string said = std::string(option) + " " + std::string(text);
  const std::size_t first = text.find('=');
  if (first == text.npos || first == 0 || first + 1 == text.size())
    throw error("takes OUTPUT=INPUT", std::string(option), {}, std::string(text));
  std::size_t split = first;
  for (std::size_t at = first; at != text.npos; at = text.find('=', at + 1))
    if (detail::output_named(g, text.substr(0, at)) && detail::input_named(g, text.substr(at + 1))) split = at;
  const std::string output(text.substr(0, split)), input(text.substr(split + 1));
  const auto from = detail::output_named(g, output), to = detail::input_named(g, input);
  if (!from) throw error("the model has no output of this name", said, detail::names_of(g, false), output);
  if (!to) throw error("the model has no input of this name", said, detail::names_of(g, true), input);
  const value_id given = g.outputs[*from], taken = g.inputs[*to];
  const tensor_type &a = g.at(given).type, &b = g.at(taken).type;
  bool fits = a.type == b.type && a.dims.size() == b.dims.size();
  for (std::size_t d = 0; fits && d < a.dims.size(); ++d)
    fits = a.dims[d] == b.dims[d] || !a.dims[d].is_known() || !b.dims[d].is_known();
  if (!fits)
    throw error("they are not of one element type and the same extents", said, detail::type_text(g, input, taken),
                detail::type_text(g, output, given));
  return {output, input};
}

// All of them; throws as well where one output or input is named twice.
inline std::vector<feedback_names> feedbacks_of(const dnnkit::graph& g, std::string_view option,
                                                std::span<const std::string> texts) {
  std::vector<feedback_names> all;
  for (const std::string& text : texts) {
    const feedback_names f = feedback_of(g, option, text);
    for (const feedback_names& other : all)
      if (other.output == f.output || other.input == f.input)
        throw error(other.output == f.output ? "the output is fed back twice" : "two outputs are fed back to the input",
                    std::string(option) + " " + text);
    all.push_back(f);
  }
  return all;
}

// The first state that a run makes larger or smaller: its session needs reserve(), and no program has a place for it.
inline std::optional<feedback_names> first_growing(const dnnkit::graph& g, std::span<const feedback_names> all) {
  for (const feedback_names& f : all) {
    const value_id given = g.outputs[*detail::output_named(g, f.output)],
                   taken = g.inputs[*detail::input_named(g, f.input)];
    if (!(g.at(given).type.dims == g.at(taken).type.dims)) return f;
  }
  return std::nullopt;
}

}  // namespace dnnkit::onnx
