// SPDX-License-Identifier: MIT
// The generator behind generate.hpp: repeated blocks become functions, calls in a row loops, the rest one line an
// operator.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/source/body_writer.hpp"
#include "dnnkit/source/calls.hpp"
#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/generate.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/source/loops.hpp"
#include "dnnkit/source/repeats.hpp"
#include "dnnkit/source/symbols.hpp"

namespace dnnkit {

namespace generation {

template <class Set> class model_writer {
 public:
  explicit model_writer(const graph& g) : g_(g), symbols_(g.symbols, names_) {}

  std::string write(const std::string& name) {
    call_maker calls(g_, symbols_, names_, name);
    visible_ = names_;
    repeats r(calls.expressions(Set{}), {g_.outputs.begin(), g_.outputs.end()}, names_);
    r.run();
    code_ = "struct " + name + " {\n  static constexpr void build(dnnkit::builder& g) {\n    namespace dk = dnnkit;\n";
    const std::size_t begin = code_.size();
    for (const assumption& a : g_.symbols.assumptions)
      line("g.assume(" + symbols_.code(a.left) + ", " + relation_code(a.is) + symbols_.code(a.right) + ", " +
           string_literal(a.needed_by.view()) + ");");
    for (const function& f : r.functions()) write_function(f);
    write_main(r.expressions());
    code_.insert(begin, symbol_definitions());
    code_ += "  }\n";
    for (const std::string& a : calls.arrays()) code_ += "\n" + broken(a, 2);
    return code_ + "};\n";
  }

 private:
  void line(const std::string& text) { code_ += broken(text, 4); }

  void comment(std::string text) {
    constexpr std::size_t width = line_width - 7;  // of "    // "
    while (text.size() > width) {
      std::size_t space = text.rfind(' ', width);
      if (space == std::string::npos || space == 0) space = width;
      code_ += "    // " + text.substr(0, space) + "\n";
      text.erase(0, space + 1);
    }
    code_ += "    // " + text + "\n";
  }

  // Symbols are variables where the code computes with them, or several inputs have them.
  std::string symbol_code(std::size_t i) const {
    const symbol& s = g_.symbols.symbols[i];
    const bool limited = s.limits.min != sym{}.limits.min || s.limits.max != sym{}.limits.max;
    return "{" + string_literal(s.name.view()) +
           (limited ? ", {" + std::to_string(s.limits.min) + ", " + std::to_string(s.limits.max) + "}" : "") + "}";
  }
  std::string symbol_definitions() const {
    std::string s;
    for (std::size_t i = 0; i < symbols_.size(); ++i)
      if (is_variable(i)) s += broken("const dk::extent " + symbols_[i] + " = g.size(" + symbol_code(i) + ");", 4);
    return s;
  }
  bool is_variable(std::size_t symbol) const {
    std::size_t inputs = 0;
    for (std::size_t i = 0; i < g_.inputs.size(); ++i)
      for (dim d : g_.declared_input(i)) inputs += g_.symbols.uses(d, symbol);
    return symbols_.is_used(symbol) || inputs != 1;
  }
  std::string input_dim(dim d) const {
    const auto symbol = g_.symbols.symbol_of(d);
    return symbol && !is_variable(*symbol) ? "dk::sym" + symbol_code(*symbol) : symbols_.code(d);
  }

  // An argument of assume(), which equality need not be.
  static std::string relation_code(relation r) {
    constexpr const char* names[] = {"", "dk::relation::different, ", "dk::relation::less, ",
                                     "dk::relation::at_least, "};
    return names[static_cast<std::size_t>(r)];
  }
  // Part of a comment.
  std::string shape_text(value_id v) const { return comment_text(print(g_.symbols, g_.at(v).type.dims).view()); }

  void write_function(const function& f) {
    static constexpr const char* tensors[] = {"x", "a", "b", "c"};
    visible_.take(f.name);
    name_scope names = visible_;
    std::string parameters;
    const auto add = [&](const std::string& type, const std::string& name) {
      names.take(name);
      parameters += (parameters.empty() ? "" : ", ") + type + " " + name;
    };
    for (std::size_t t = 0; t < f.tensors.size(); ++t) add("dk::tensor", tensors[t]);
    for (const parameter& p : f.parameters) add(p.type, p.name);
    body_writer w(6, std::move(names));
    for (std::size_t t = 0; t < f.tensors.size(); ++t) w.bind(f.tensors[t], tensors[t]);
    w.write(f.body, f.results, false, {});
    const std::string result = w.take(f.results[0]);
    const std::string head = "auto " + f.name + " = [&](" + parameters + ")";
    const std::string one_line = head + " { return " + result + "; };";
    if (!f.is_leaf) {
      std::string shapes;
      for (value_id v : f.tensors) shapes += (shapes.empty() ? "" : ", ") + shape_text(v);
      comment(std::to_string(f.calls) + " calls, the first " + (shapes.empty() ? "" : shapes + " ") + "-> " +
              shape_text(f.results[0]));
    }
    if (w.is_single_expression() && one_line.size() + 4 <= line_width) line(one_line);
    else {
      line(head + " {");
      code_ += w.code() + broken("return " + result + ";", 6);
      line("};");
    }
  }

  void write_main(const std::vector<expression>& expressions) {
    name_scope scope = visible_;
    scope.take("i");  // which loops count with
    std::vector<std::string> names;
    for (value_id v : g_.inputs) names.push_back(scope.add(identifier(g_.name_of(v), "input")));
    body_writer w(4, scope);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const value_id v = g_.inputs[i];
      w.bind(v, names[i]);
      std::string dims;
      for (dim d : g_.declared_input(i)) dims += (dims.empty() ? "" : ", ") + input_dim(d);
      line("const auto " + names[i] + " = g.input(" + string_literal(g_.name_of(v)) + ", " +
           dtype_literal(g_.at(v).type.type) + ", {" + dims + "});");
    }
    std::vector<body_expression> body = loop_maker(expressions, {g_.outputs.begin(), g_.outputs.end()}).run();
    for (std::size_t k = 0; k < g_.outputs.size(); ++k) {
      expression x;
      x.text("g.output(" + string_literal(g_.text_of(g_.output_names[k])) + ", ");
      x.operand(g_.outputs[k]);
      x.text(")");
      body.push_back(with_literals(std::move(x)));
    }
    w.write(body, {}, true, [this](value_id v) { return shape_text(v); });
    code_ += w.code();
  }

  const graph& g_;
  name_scope names_{"g"};    // of symbols, arrays and functions
  name_scope visible_{"g"};  // those that are there where code is being written
  symbol_names symbols_;
  std::string code_;
};

template <class Set> std::string generator<Set>::run(const graph& g, std::string_view name) {
  if (!is_type_name(name)) throw error("is no name for a type", "model", {}, std::string(name));
  return model_writer<Set>(g).write(std::string(name));
}

}  // namespace generation

}  // namespace dnnkit
