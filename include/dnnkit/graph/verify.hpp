// SPDX-License-Identifier: MIT
// The specification of a legal graph. Every pass may rely on it and must keep it; tests call verify() between passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/graph/graph.hpp"
#include "dnnkit/tensor/verify_symbols.hpp"

namespace dnnkit {

namespace detail {

class verifier {
 public:
  constexpr explicit verifier(const graph& g) : g_(g), symbols_(g.symbols) {}

  constexpr text run() {
    if (!g_.error.empty()) return g_.error;
    const bool legal = check_symbols() && check_values() && check_nodes() && check_interface() && check_weights() &&
                       check_constants() && check_inference();
    return legal ? text() : problem_;
  }

 private:
  constexpr bool fail(const text& t) {
    problem_ = t;
    return false;
  }
  constexpr bool fail_at(std::string_view kind, std::string_view name, const text& t) {
    text whole;
    return fail(whole << kind << " '" << name << "': " << t);
  }
  constexpr bool fail_at(const node& n, const text& t) { return fail(g_.label_of(n) << ": " << t); }
  static constexpr bool within(slice_of s, std::size_t pool) { return s.first <= pool && s.count <= pool - s.first; }
  constexpr bool is_value(value_id v) const { return v >= 0 && static_cast<std::size_t>(v) < g_.values.size(); }

  constexpr bool check_symbols() {
    const text wrong = symbols_error(g_.symbols);
    return wrong.empty() || fail(wrong);
  }

  // A value's name and type are well formed; a node's output names that node, and no other value has a producer.
  constexpr bool check_values() {
    for (std::size_t i = 0; i < g_.values.size(); ++i) {
      const value& v = g_.values[i];
      if (!within(v.name, g_.characters.size())) return fail("a value's name lies outside the graph's characters");
      const std::string_view name = g_.text_of(v.name);
      for (dim d : v.type.dims)
        if (!is_dim_of(g_.symbols, d))
          return fail_at("value", name, "its shape refers to an expression that does not exist");
      const bool produced = v.producer >= 0 && static_cast<std::size_t>(v.producer) < g_.nodes.size() &&
                            g_.node_at(v.producer).output == static_cast<value_id>(i);
      if (v.from == origin::node && !produced) return fail_at("value", name, "no node has it for an output");
      if (v.from != origin::node && v.producer != none)
        return fail_at("value", name, "it has a producer it must not have");
    }
    return true;
  }

  // A node has an operator, lists within the graph's pools, inputs that are leaves or outputs of nodes before it, and
  // an output of its own.
  constexpr bool check_nodes() {
    for (std::size_t n = 0; n < g_.nodes.size(); ++n) {
      const node& x = g_.nodes[n];
      if (x.op->id == operator_id::none) return fail("a node has no operator");
      if (!within(x.name, g_.characters.size()))
        return fail_at("node", x.op->name, "its name lies outside the graph's characters");
      if (!within(x.attributes, g_.attributes.size()) || !within(x.inputs, g_.operands.size()))
        return fail_at(x, "its attributes or inputs lie outside the graph's");
      if (!is_value(x.output) || g_.at(x.output).from != origin::node ||
          g_.at(x.output).producer != static_cast<node_id>(n))
        return fail_at(x, "its output is not a value of its own");
      for (std::size_t i = 0; i < x.inputs.count; ++i) {
        const value_id v = g_.input_of(x, i);
        if (v == none) continue;
        text t;
        if (!is_value(v)) return fail_at(x, t << "input " << i << " does not exist");
        if (g_.at(v).from == origin::node && g_.at(v).producer >= static_cast<node_id>(n))
          return fail_at(x, t << "input " << i << " is computed by a node that does not come before it");
      }
    }
    return true;
  }

  // Inputs: every value of that origin once, named apart, with known or symbolic extents, among which every symbol
  // stands alone somewhere. Outputs: at least one, named apart.
  constexpr bool check_interface() {
    for (std::size_t i = 0; i < g_.inputs.size(); ++i) {
      if (!is_value(g_.inputs[i]) || g_.at(g_.inputs[i]).from != origin::input)
        return fail("the list of inputs names a value that is not an input");
      const std::string_view name = g_.name_of(g_.inputs[i]);
      for (std::size_t j = 0; j < i; ++j)
        if (g_.name_of(g_.inputs[j]) == name) return fail_at("input", name, "two inputs have this name");
      for (dim d : g_.at(g_.inputs[i]).type.dims)
        if (d.is_unknown()) return fail_at("input", name, "an extent is neither known nor symbolic");
    }
    std::size_t inputs = 0;
    for (const value& v : g_.values) inputs += v.from == origin::input;
    if (inputs != g_.inputs.size()) return fail("an input is missing from the list of inputs");
    for (std::size_t s = 0; s < g_.symbols.symbols.size(); ++s)
      if (!gets_value(s)) return fail_at("symbol", g_.symbols.symbols[s].name.view(), "it is no extent of any input");
    if (g_.outputs.empty()) return fail("the graph has no output");
    if (g_.outputs.size() != g_.output_names.size()) return fail("outputs and their names differ in number");
    for (std::size_t i = 0; i < g_.outputs.size(); ++i) {
      if (!is_value(g_.outputs[i])) return fail("the list of outputs names a value that does not exist");
      if (!within(g_.output_names[i], g_.characters.size()))
        return fail("an output's name lies outside the graph's characters");
      const std::string_view name = g_.text_of(g_.output_names[i]);
      for (std::size_t j = 0; j < i; ++j)
        if (g_.text_of(g_.output_names[j]) == name) return fail_at("output", name, "two outputs have this name");
    }
    return true;
  }
  constexpr bool gets_value(std::size_t s) const {
    if (g_.symbols.replacement_of(s) != nullptr) return true;  // and so it does from others
    for (value_id v : g_.inputs)
      for (dim d : g_.at(v).type.dims)
        if (const auto x = g_.symbols.linear_of(d); x && x->symbol == s) return true;
    return false;
  }

  // Weights have names, each its own, and known shapes.
  constexpr bool check_weights() {
    for (std::size_t i = 0; i < g_.values.size(); ++i) {
      const value& v = g_.values[i];
      if (v.from != origin::weight) continue;
      const std::string_view name = g_.text_of(v.name);
      if (name.empty()) return fail("a weight has no name");
      if (!is_known(v.type.dims)) return fail_at("weight", name, "its shape is not known");
      for (std::size_t j = 0; j < i; ++j)
        if (g_.values[j].from == origin::weight && g_.text_of(g_.values[j].name) == name)
          return fail_at("weight", name, "two weights have this name");
    }
    return true;
  }

  // Constants have as many elements as their shapes, or one that stands for all: extents may be symbols then.
  constexpr bool check_constants() {
    for (const value& v : g_.values) {
      if (v.from != origin::constant) continue;
      const std::string_view name = g_.text_of(v.name);
      if (!within(v.data, g_.constants.size())) return fail_at("constant", name, "its data lies outside the graph's");
      if (has_unknown(v.type.dims)) return fail_at("constant", name, "its shape is not known");
      const dim count = element_count(symbols_, v.type.dims);
      if (v.data.count != 1 && !(count == dim(v.data.count)))
        return fail_at("constant", name, "its elements do not fit its shape");
    }
    return true;
  }

  // What a node's operator infers from its inputs is what its output is said to be; where the operator leaves an extent
  // unknown the output may say more.
  constexpr bool check_inference() {
    for (const node& n : g_.nodes) {
      inference c(symbols_);
      for (std::size_t i = 0; i < n.inputs.count; ++i)
        if (const value_id v = g_.input_of(n, i); v == none) c.add_absent_input();
        else c.add_input(g_.at(v).type);
      n.op->infer(g_.attributes_of(n), c);
      if (!c.error().empty()) return fail_at(n, c.error());
      if (symbols_.assumptions.count != g_.symbols.assumptions.count)
        return fail_at(n, "it assumes extents to be equal that the graph does not");
      if (c.outputs().size() != 1) return fail_at(n, "shape inference gave no output");
      const tensor_type &inferred = c.outputs()[0], &said = g_.at(n.output).type;
      bool same = inferred.type == said.type && inferred.dims.size() == said.dims.size();
      for (std::size_t d = 0; same && d < said.dims.size(); ++d)
        same = inferred.dims[d].is_unknown() || inferred.dims[d] == said.dims[d];
      if (same) continue;
      text t;
      t << "its output is said to be " << dnnkit::name(said.type) << " " << print(symbols_, said.dims);
      return fail_at(n, t << ", but is " << dnnkit::name(inferred.type) << " " << print(symbols_, inferred.dims));
    }
    return true;
  }

  const graph& g_;
  symbol_table symbols_;  // inference adds expressions
  text problem_;
};

}  // namespace detail

// The first rule that `g` breaks, in words that name the culprit; empty when the graph is legal.
[[nodiscard]] constexpr text verify(const graph& g) { return detail::verifier(g).run(); }

}  // namespace dnnkit
