// SPDX-License-Identifier: MIT
// A graph as compact text, one value a line; the names of values are theirs if those are unique, else %number.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/text.hpp"
#include "dnnkit/fmt.hpp"
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
      fmt::format_to(std::back_inserter(out), "{}: {} {} = {}\n", label(v), g_.at(v).type.type,
                     print(g_.symbols, g_.at(v).type.dims), definition(g_.at(v)));
    for (std::size_t i = 0; i < g_.outputs.size(); ++i)
      fmt::format_to(std::back_inserter(out), "output {} = {}\n", g_.text_of(g_.output_names[i]), label(g_.outputs[i]));
    if (!g_.error.empty()) fmt::format_to(std::back_inserter(out), "error: {}\n", g_.error);
    return out;
  }

 private:
  std::string label(value_id v) const {
    if (v == none) return "none";
    const std::string_view name = g_.name_of(v);
    if (!name.empty() && uses_.at(name) == 1) return std::string(name);
    return fmt::format("%{}", v);
  }
  std::string definition(const value& v) const {
    if (v.from == origin::input) return "input";
    if (v.from == origin::weight) return "weight";
    if (v.from == origin::constant) return constant(v);
    const node& n = g_.node_at(v.producer);
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < n.inputs.count; ++i) inputs.push_back(label(g_.input_of(n, i)));
    text attributes;
    n.op->print(g_.attributes_of(n), g_.symbols, attributes);
    const bool is_unnamed = label(n.output)[0] != '%' || g_.text_of(n.name) == n.op->name;
    return fmt::format("{}({}){}{}{}{}", n.op->name, fmt::join(inputs, ", "), attributes.empty() ? "" : " ", attributes,
                       is_unnamed ? "" : "  # ", is_unnamed ? "" : g_.text_of(n.name));
  }
  // The first elements.
  std::string constant(const value& v) const {
    constexpr std::uint32_t most = 8;
    std::vector<text> elements;
    for (std::uint32_t i = 0; i < v.data.count && i < most; ++i) {
      const std::int64_t code = g_.constants[v.data.first + i];
      text& element = elements.emplace_back();
      if (is_floating(v.type.type)) print_value(element, g_.symbols, static_cast<float>(std::bit_cast<double>(code)));
      else element << code;
    }
    return fmt::format("constant {{{}{}}}", fmt::join(elements, ", "), v.data.count > most ? ", ..." : "");
  }

  const graph& g_;
  std::map<std::string_view, std::size_t> uses_;
};

}  // namespace detail

// One line a value in topological order, `name: type shape = Operator(inputs) attributes`, then the outputs.
inline std::string print(const graph& g) { return detail::graph_printer(g).run(); }

}  // namespace dnnkit
