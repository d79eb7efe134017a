// SPDX-License-Identifier: MIT
// A graph as compact text, one value a line; the names of values are theirs if those are unique, else %number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "dnnkit/core/text.hpp"
#include "dnnkit/graph/graph.hpp"

namespace dnnkit {

namespace detail {

class graph_printer {
 public:
  explicit graph_printer(const graph& g) : g_(g) {
    for (const value& v : g.values) ++uses_[g.text_of(v.name)];
  }

  std::string run() const {
    std::string out;
    for (value_id v = 0; v < static_cast<value_id>(g_.values.size()); ++v)
      out += label(v) + ": " + type_text(g_.at(v).type) + " = " + definition(g_.at(v)) + "\n";
    for (std::size_t i = 0; i < g_.outputs.size(); ++i)
      out += "output " + std::string(g_.text_of(g_.output_names[i])) + " = " + label(g_.outputs[i]) + "\n";
    if (!g_.error.empty()) out += "error: " + g_.error.str() + "\n";
    return out;
  }

 private:
  std::string label(value_id v) const {
    if (v == none) return "none";
    const std::string_view name = g_.name_of(v);
    if (!name.empty() && uses_.at(name) == 1) return std::string(name);
    return std::string("%").append(std::to_string(v));
  }
  std::string type_text(const tensor_type& t) const {
    return std::string(name(t.type)) + " " + print(g_.symbols, t.dims).str();
  }
  std::string definition(const value& v) const {
    if (v.from == origin::input) return "input";
    if (v.from == origin::weight) return "weight";
    if (v.from == origin::constant) return constant(v);
    const node& n = g_.node_at(v.producer);
    std::string s = std::string(n.op->name) + "(";
    for (std::size_t i = 0; i < n.inputs.count; ++i) s += (i ? ", " : "") + label(g_.input_of(n, i));
    s += ")";
    text attributes;
    n.op->print(g_.attributes_of(n), g_.symbols, attributes);
    if (!attributes.empty()) s += " " + attributes.str();
    if (label(n.output)[0] == '%' && g_.text_of(n.name) != n.op->name) s += "  # " + std::string(g_.text_of(n.name));
    return s;
  }
  // The first elements.
  std::string constant(const value& v) const {
    constexpr std::uint32_t most = 8;
    std::string s = "constant {";
    for (std::uint32_t i = 0; i < v.data.count && i < most; ++i) {
      const std::int64_t code = g_.constants[v.data.first + i];
      text element;
      if (is_floating(v.type.type)) print_value(element, g_.symbols, static_cast<float>(std::bit_cast<double>(code)));
      else element << code;
      s += (i ? ", " : "") + element.str();
    }
    return s + (v.data.count > most ? ", ...}" : "}");
  }

  const graph& g_;
  std::map<std::string_view, std::size_t> uses_;
};

}  // namespace detail

// One line a value in topological order, `name: type shape = Operator(inputs) attributes`, then the outputs.
inline std::string print(const graph& g) { return detail::graph_printer(g).run(); }

}  // namespace dnnkit
