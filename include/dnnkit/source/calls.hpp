// SPDX-License-Identifier: MIT
// From the nodes of a graph to expressions: each operator as a call of its function, weights and constants in place.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/expression.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/source/layer_names.hpp"
#include "dnnkit/source/operator_source.hpp"
#include "dnnkit/source/symbols.hpp"

namespace dnnkit::generation {

class call_maker {
 public:
  // `model` is what the struct is called, whose members are not; arrays take their names from `names`.
  call_maker(const graph& g, const symbol_names& symbols, name_scope& names, std::string_view model)
      : g_(g), symbols_(symbols), names_(names), model_(model), is_defined_(g.values.size(), false) {
    for (const node& n : g.nodes)
      if (needs_name(n)) named_.insert(n.op->id);
  }

  // Definitions of members for the elements of long constants.
  const std::vector<std::string>& arrays() const { return arrays_; }

  // The live nodes in order, each as an expression; each long constant is one, too, before the first that needs it.
  template <class Set> std::vector<expression> expressions(Set) {
    std::vector<expression> list;
    const auto alive = live_nodes(g_);
    for (std::size_t k = 0; k < g_.nodes.size(); ++k) {
      if (alive[k] == 0) continue;
      const node& n = g_.nodes[k];
      const std::size_t position = Set::find(n.op->id);
      if (position == Set::size) throw error("operator is not in the operator set", std::string(n.op->name));
      for (std::size_t i = 0; i < n.inputs.count; ++i) define_constant(g_.input_of(n, i), list);
      list.push_back(call(n, operator_sources<Set>::table[position](g_.attributes_of(n))));
    }
    for (value_id v : g_.outputs) define_leaf(v, list);
    return list;
  }

 private:
  static constexpr std::size_t longest_in_place = 12;  // elements of a constant inside an expression
  static constexpr std::size_t longest_list = 32;      // and of one in build() at all

  expression call(const node& n, const operator_source& op) {
    expression x;
    x.outputs = {n.output};
    x.operators = 1;
    x.node_names = {std::string(g_.text_of(n.name))};
    x.operator_name = op.type.substr(op.type.rfind(':') + 1);
    if (!infix(x, n, op) && !batch_normalization(x, n, op) && !shaped(x, n, op)) plain(x, n, op);
    name_layer(x, n);
    make_key(x);
    return x;
  }

  // Does an operator have the name of a layer that its weight does not give it?
  bool needs_name(const node& n) const {
    if (layer_weight(g_, n) == none || n.name.count == 0) return false;
    const slice_of of_weight = layer_of(g_, n);
    return layer_name(g_.text_of(n.name)) !=
           (of_weight.count != 0 ? g_.text_of(of_weight) : std::string_view(n.op->name));
  }
  // g.named("stem", dk::conv(...)) for layers of an operator some of which need it: so all of them are of one pattern.
  void name_layer(expression& x, const node& n) const {
    if (!named_.contains(n.op->id) || layer_weight(g_, n) == none) return;
    const std::string name = layer_name(g_.text_of(n.name));
    const std::size_t k = x.add({gap::kind::name, 0, 0, name, "name", false});
    const part before[] = {
        {part::kind::text, "g.named(", 0, 0}, {part::kind::gap, {}, k, 0}, {part::kind::text, ", ", 0, 0}};
    x.before.insert(x.before.begin(), std::begin(before), std::end(before));
    x.after.push_back({part::kind::text, ")", 0, 0});
  }

  // a + b, -a
  bool infix(expression& x, const node& n, const operator_source& op) {
    const auto sign = [&](const char* name) { return op.type == "dk::op::" + std::string(name); };
    if (sign("neg")) {
      x.text("-");
      operand(x, n, 0, op, true);
      x.precedence = 3;
      return true;
    }
    const char* spelling = sign("add")   ? " + "
                           : sign("sub") ? " - "
                           : sign("mul") ? " * "
                           : sign("div") ? " / "
                                         : nullptr;
    if (spelling == nullptr || n.inputs.count != 2) return false;
    const bool one_tensor = !is_number(n, 0) || !is_number(n, 1);
    operand(x, n, 0, op, one_tensor);
    x.text(spelling);
    operand(x, n, 1, op, one_tensor);
    x.precedence = sign("add") || sign("sub") ? 1 : 2;
    return true;
  }
  // A constant that a plain number stands for beside the other operand.
  bool is_number(const node& n, std::size_t i) const {
    const value_id v = g_.input_of(n, i), other = g_.input_of(n, 1 - i);
    if (v == none || other == none) return false;
    const value& c = g_.at(v);
    return c.from == origin::constant && c.type.dims.empty() && c.type.type == g_.at(other).type.type &&
           c.type.type != dtype::boolean && fits_double(c, 0);
  }

  // dk::batch_normalization(x, g.batch_norm("bn1", 64)) where the weights are named as PyTorch does
  bool batch_normalization(expression& x, const node& n, const operator_source& op) {
    if (op.type != "dk::op::batch_normalization") return false;
    const value_id scale = g_.input_of(n, 1);
    std::string prefix(g_.name_of(scale));
    bool matches = prefix.ends_with(".weight");
    if (matches) prefix.resize(prefix.size() - 7);
    const char* suffixes[] = {".weight", ".bias", ".running_mean", ".running_var"};
    for (std::size_t i = 0; i < 4 && matches; ++i) {
      const value& w = g_.at(g_.input_of(n, i + 1));
      matches = w.from == origin::weight && w.type.type == f32 && g_.text_of(w.name) == prefix + suffixes[i];
    }
    x.text("dk::batch_normalization(");
    if (matches) {
      operand(x, n, 0, op, false);
      x.text(", g.batch_norm(");
      x.before.push_back({part::kind::gap, {}, x.add({gap::kind::name, 0, 0, prefix, "name", false}), 0});
      x.text(", ");
      x.value(size(g_.at(scale).type.dims[0], "channels"));
      x.text(")");
      x.has_weight = true;
    } else
      for (std::size_t i = 0; i < n.inputs.count; ++i) {
        x.text(i == 0 ? "" : ", ");
        operand(x, n, i, op, false);
      }
    attributes(x, n, op);
    return true;
  }

  // Functions with arguments of their own.
  bool shaped(expression& x, const node& n, const operator_source& op) {
    if (op.type == "dk::op::reshape" || op.type == "dk::op::expand") {
      x.text("dk::" + op.type.substr(8) + "(");
      operand(x, n, 0, op, false);
      x.text(", ");
      list(x.before, x, op.attributes[0].elements, "size");
      x.text(")");
      return true;
    }
    if (op.type == "dk::op::assume_shape") {
      x.text("dk::assume_shape(");
      operand(x, n, 0, op, false);
      x.text(", ");
      list(x.before, x, op.attributes[0].elements, "size");
      x.text(", ");
      x.before.push_back(
          {part::kind::gap, {}, x.add({gap::kind::name, 0, 0, std::string(g_.text_of(n.name)), "name", false}), 0});
      x.text(")");
      return true;
    }
    if (op.type == "dk::op::split") {
      x.text("dk::narrow(");
      operand(x, n, 0, op, false);
      for (const attribute_source& a : op.attributes) {
        x.text(", ");
        element(x.before, x, a.elements[0], a.name);
      }
      x.text(")");
      return true;
    }
    if (op.type == "dk::op::einsum") {
      std::string equation;
      for (const attribute_element& e : op.attributes[0].elements) equation += static_cast<char>(e.integer);
      x.text("dk::einsum(" + string_literal(equation) + ", dk::vector<dk::tensor>{");
      operands(x, n, op);
      x.text("})");
      return true;
    }
    if (op.type == "dk::op::concat") {
      x.text("dk::concat({");
      operands(x, n, op);
      x.text("}");
      attributes(x, n, op);
      return true;
    }
    return false;
  }

  void plain(expression& x, const node& n, const operator_source& op) {
    const std::size_t count = n.inputs.count;
    const bool by_function = !op.function.empty() && (count <= 3 || count == 5);
    if (by_function && count > 0) {
      x.text(op.function + "(");
      operands(x, n, op);
      return attributes(x, n, op);
    }
    const bool by_builder = count == 0 || g_.input_of(n, 0) == none;  // no tensor in front that knows the builder
    x.text((by_builder ? "g.apply(" : "dk::apply(") + op.type + "{");
    attributes(x, n, op);
    x.attributes_open = "";
    x.attributes_close = x.attributes_none = "}";
    x.before.swap(x.after);
    x.text(by_builder ? ", dk::vector<dk::tensor>{" : ", ");
    operands(x, n, op);
    x.text(by_builder ? "})" : ")");
    x.before.swap(x.after);
  }
  void operands(expression& x, const node& n, const operator_source& op) {
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      x.text(i == 0 ? "" : ", ");
      operand(x, n, i, op, false);
    }
  }

  void operand(expression& x, const node& n, std::size_t i, const operator_source& op, bool number) {
    const value_id v = g_.input_of(n, i);
    if (v == none) return x.text("dk::tensor{}");
    const value& w = g_.at(v);
    if (w.from == origin::weight) weight(x, w, weight_roles(op, i, w.type.dims.size()));
    else if (w.from == origin::constant && number && is_number(n, i)) x.value(number_of(w));
    else if (w.from == origin::constant && !is_long(w)) constant(x, w);
    else x.operand(v);
  }

  // --- weights
  static std::vector<std::string> weight_roles(const operator_source& op, std::size_t operand, std::size_t rank) {
    const std::string name = op.type.substr(op.type.rfind(':') + 1);
    if (rank == 1) return {name == "conv" || name == "gemm" ? "out" : "width"};
    std::vector<std::string> roles(rank, "size");
    bool out_first = name == "conv";
    if (name == "gemm")
      for (const attribute_source& a : op.attributes)
        if (a.name == "trans_b") out_first = !a.is_default;
    if (operand == 1 && (name == "conv" || name == "conv_transpose" || name == "gemm" || name == "matmul")) {
      roles[rank > 2 && name == "matmul" ? rank - 2 : 0] = out_first ? "out" : "in";
      roles[rank > 2 && name == "matmul" ? rank - 1 : 1] = out_first ? "in" : "out";
      if (name != "matmul")
        for (std::size_t d = 2; d < rank; ++d) roles[d] = "kernel";
    } else if (name == "gather" && operand == 0) roles = {"rows", "width"}, roles.resize(rank, "size");
    return roles;
  }
  void weight(expression& x, const value& w, const std::vector<std::string>& roles) {
    x.text("g.weight(");
    x.before.push_back({part::kind::weight_name,
                        {},
                        x.add({gap::kind::name, 0, 0, std::string(g_.text_of(w.name)), "name", false}),
                        0});
    x.text(", {");
    for (std::size_t d = 0; d < w.type.dims.size(); ++d) {
      x.text(d == 0 ? "" : ", ");
      x.value(size(w.type.dims[d], d < roles.size() ? roles[d] : "size"));
    }
    x.text(w.type.type == f32 ? "})" : "}, " + dtype_literal(w.type.type) + ")");
    x.has_weight = true;
  }

  // --- constants
  bool fits_double(const value& c, std::size_t i) const {
    constexpr std::int64_t exact = std::int64_t{1} << 53;
    const std::int64_t code = g_.constants[c.data.first + i];
    return is_floating(c.type.type) || (code >= -exact && code <= exact);
  }
  std::int64_t code_of(const value& c, std::size_t i) const { return g_.constants[c.data.first + i]; }
  double real_of(const value& c, std::size_t i) const {
    const std::int64_t code = code_of(c, i);
    return is_floating(c.type.type) ? std::bit_cast<double>(code) : static_cast<double>(code);
  }
  gap number_of(const value& c) const { return {gap::kind::real, 0, real_of(c, 0), {}, "value", false}; }
  bool is_long(const value& c) const { return c.data.count > longest_in_place; }
  std::string type_argument(const value& c) const {
    return c.type.type == f32 ? "" : ", " + dtype_literal(c.type.type);
  }

  void constant(expression& x, const value& c) {
    bool exact = true;
    for (std::size_t i = 0; i < c.data.count; ++i) exact = exact && fits_double(c, i);
    if (exact && c.type.dims.empty()) {
      x.text("g.scalar(");
      x.value(number_of(c));
      return x.text(type_argument(c) + ")");
    }
    std::string elements;
    for (std::size_t i = 0; i < c.data.count; ++i) {
      elements += i == 0 ? "" : ", ";
      elements += is_floating(c.type.type) ? real_literal(real_of(c, i)) : integer_literal(code_of(c, i));
    }
    if (c.data.count > longest_list) {
      const std::string name = array(exact ? "double" : "std::int64_t", c.data.count, elements);
      x.text(exact ? "g.constant({" : "g.constant_from_codes({");
      const std::size_t k = x.add({gap::kind::expression, 0, 0, name, exact ? "elements" : "codes", false});
      x.before.push_back({part::kind::gap, {}, k, 0});
      x.text(".begin(), ");
      x.before.push_back({part::kind::gap, {}, k, 0});
      x.text(".end()");
    } else x.text((exact ? "g.constant({" : "g.constant_from_codes({") + elements);
    x.text("}, {");
    for (std::size_t d = 0; d < c.type.dims.size(); ++d) {
      x.text(d == 0 ? "" : ", ");
      x.value(size(c.type.dims[d], "size"));
    }
    x.text("}" + (exact ? type_argument(c) : ", " + dtype_literal(c.type.type)) + ")");
  }
  // The name of an array with these elements.
  std::string array(const std::string& type, std::size_t count, const std::string& elements) {
    const std::string head = "static constexpr std::array<" + type + ", " + std::to_string(count) + "> ";
    std::string& name = array_names_[head + elements];
    if (!name.empty()) return name;
    int number = static_cast<int>(arrays_.size());
    do name = name_scope::numbered("elements", ++number);
    while (name == model_ || !names_.take(name));
    arrays_.push_back(head + name + "{" + elements + "};");
    return name;
  }
  // Long constants are variables, defined before the first expression that reads them.
  void define_constant(value_id v, std::vector<expression>& list) {
    if (v != none && g_.at(v).from == origin::constant && is_long(g_.at(v))) define_leaf(v, list);
  }
  void define_leaf(value_id v, std::vector<expression>& list) {
    const value& c = g_.at(v);
    if (c.from != origin::constant && c.from != origin::weight) return;
    if (is_defined_[static_cast<std::size_t>(v)]) return;
    is_defined_[static_cast<std::size_t>(v)] = true;
    expression x;
    x.outputs = {v};
    x.operator_name = c.from == origin::weight ? "weight" : "constant";
    if (c.from == origin::weight) weight(x, c, {});
    else constant(x, c);
    make_key(x);
    list.push_back(std::move(x));
  }

  // --- attributes
  gap size(dim d, const std::string& role) const {
    if (d.is_known()) return {gap::kind::size, d.value(), 0, {}, role, false};
    if (d.is_unknown()) return {gap::kind::size, -1, 0, {}, role, false};
    return {gap::kind::expression, 0, 0, symbols_.code(d), role, false};
  }
  void element(std::vector<part>& parts, expression& x, const attribute_element& e, const std::string& role) const {
    using kind = attribute_element::kind;
    if (e.is == kind::word) return parts.push_back({part::kind::text, e.word, 0, 0});
    gap s{gap::kind::size, e.integer, 0, {}, role, false};
    if (e.is == kind::real) s = {gap::kind::real, 0, e.real, "float", role, false};
    if (e.is == kind::dimension) s = size(e.dimension, role);
    parts.push_back({part::kind::gap, {}, x.add(std::move(s)), 0});
  }
  void list(std::vector<part>& parts, expression& x, const std::vector<attribute_element>& elements,
            const std::string& role) const {
    if (elements.empty() || elements[0].is == attribute_element::kind::word) {
      std::string s = "{";
      for (std::size_t i = 0; i < elements.size(); ++i) s += (i == 0 ? "" : ", ") + elements[i].word;
      return parts.push_back({part::kind::text, s + "}", 0, 0});
    }
    std::vector<part> gaps;
    for (const attribute_element& e : elements) element(gaps, x, e, role);
    parts.push_back({part::kind::list, {}, gaps[0].index, gaps.size()});
  }
  static std::string all(int x, std::size_t count) {
    std::string s = "{";
    for (std::size_t k = 0; k < count; ++k) s += (k == 0 ? "" : ", ") + std::to_string(x);
    return s + "}";
  }
  // The ends of a slice that takes all there is, as extents: exporters write the largest number there is.
  void clamp(std::vector<attribute_element>& ends, const operator_source& op, const node& n) const {
    const shape& dims = g_.at(g_.input_of(n, 0)).type.dims;
    for (std::size_t k = 0; k < ends.size(); ++k) {
      std::int64_t axis = static_cast<std::int64_t>(k);
      for (const attribute_source& a : op.attributes)
        if (a.name == "axes" && k < a.elements.size()) axis = a.elements[k].integer;
      const dim d = dims[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(dims.size()) : axis)];
      if (d.is_known() && ends[k].is == attribute_element::kind::integer)
        ends[k].integer = std::min(ends[k].integer, d.value());
    }
  }
  static std::string role_of(const std::string& member) {
    if (member == "kernel_shape") return "kernel";
    if (member == "axes") return "axis";
    return member.size() > 3 && member.ends_with("s") && member != "axis" ? member.substr(0, member.size() - 1)
                                                                          : member;
  }

  // What differs from its default. Lists of a window are written out for every node, so that nodes with and without
  // padding are of one pattern.
  void attributes(expression& x, const node& n, const operator_source& op) const {
    x.attributes_open = ", {";
    x.attributes_close = "})";
    x.attributes_none = ")";
    const bool windowed = op.type.starts_with("dk::op::conv") || op.type.ends_with("_pool");
    std::size_t axes = 0;
    for (const gap& s : x.gaps) axes += s.role == "kernel";
    for (const attribute_source& a : op.attributes)
      if (a.name == "kernel_shape" && op.type != "dk::op::conv") axes = a.elements.size();
    for (const attribute_source& a : op.attributes) {
      std::vector<attribute_element> elements = a.elements;
      member_value i{a.name, {}, {}};
      if (windowed && (a.name == "strides" || a.name == "dilations" || a.name == "pads")) {
        const std::size_t count = a.name == "pads" ? 2 * axes : axes;
        if (elements.empty()) {
          elements.resize(count);
          for (auto& e : elements) e.integer = a.name == "pads" ? 0 : 1;
        }
        i.neutral = all(a.name == "pads" ? 0 : 1, count);
      } else if (op.type == "dk::op::conv" && a.name == "kernel_shape") continue;  // the weight says it
      else if (a.is_default) continue;
      if (op.type == "dk::op::slice") {
        if (a.name == "steps") i.neutral = all(1, elements.size());
        if (a.name == "ends") clamp(elements, op, n);
      }
      if (a.is_list) list(i.value, x, elements, role_of(a.name));
      else element(i.value, x, elements[0], role_of(a.name));
      x.attributes.push_back(std::move(i));
    }
  }

  const graph& g_;
  const symbol_names& symbols_;
  name_scope& names_;
  std::string_view model_;
  std::set<operator_id> named_;   // whose layers are given names
  std::vector<bool> is_defined_;  // long constants, by value
  std::vector<std::string> arrays_;
  std::map<std::string, std::string> array_names_;  // by type and elements
};

}  // namespace dnnkit::generation
