// SPDX-License-Identifier: MIT
// What is generated, before it is text: expressions with gaps (operands, numbers, names of weights). Two with the same
// pattern differ only in what fills their gaps, so they may become one function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/graph/graph.hpp"

namespace dnnkit::generation {

// What fills a gap that is not a tensor.
struct gap {
  enum class kind : std::uint8_t { size, real, name, expression };  // expression: C++ code of a symbolic dimension
  kind is = kind::size;
  std::int64_t size = 0;
  double real = 0;
  std::string text;      // a weight's name, or code
  std::string role;      // what a parameter for it may be called: "out", "stride"
  bool of_name = false;  // a size that is part of a weight's name
};

// A part of an expression's text.
struct part {
  enum class kind : std::uint8_t { text, operand, gap, weight_name, list };
  kind is = kind::text;
  std::string text;       // of kind::text
  std::size_t index = 0;  // of the operand, of the gap, or of a list's first gap
  std::size_t count = 0;  // gaps of a list, printed "{a, b}"
};

// A designated initialiser, left out where all its gaps hold `neutral`.
struct member_value {
  std::string member;
  std::vector<part> value;
  std::string neutral;  // empty: never left out
};

struct expression {
  std::vector<part> before;  // up to the attributes
  std::vector<member_value> attributes;
  std::string attributes_open, attributes_close;  // around what is left of the attributes: ", {" and "})"
  std::string attributes_none;                    // when nothing is left: ")"
  std::vector<part> after;
  int precedence = 0;  // of an infix expression: 1 for sums, 2 for products, 3 for a sign; 0 for calls

  std::vector<value_id> operands;
  std::vector<gap> gaps;
  std::vector<value_id> outputs;

  std::size_t function = no_function;   // of a call: which of the functions
  std::size_t operators = 0;            // nodes it stands for
  std::vector<std::string> node_names;  // of those nodes
  std::string operator_name;            // of its last node, in snake_case
  bool has_weight = false;
  std::size_t loop_count = 0;  // of a loop: how often it runs; its operand 0 is the value it begins with

  std::string key;  // equal for equal patterns

  static constexpr std::size_t no_function = static_cast<std::size_t>(-1);

  void text(std::string s) { before.push_back({part::kind::text, std::move(s), 0, 0}); }
  void operand(value_id v) {
    before.push_back({part::kind::operand, {}, operands.size(), 0});
    operands.push_back(v);
  }
  // The number of a new gap.
  std::size_t add(gap s) {
    gaps.push_back(std::move(s));
    return gaps.size() - 1;
  }
  void value(gap s) { before.push_back({part::kind::gap, {}, add(std::move(s)), 0}); }
};

// "onnx::Conv_" of onnx::Conv_497, a name that only an exporter can have given; nothing for other names. Weights of
// either kind are not taken for each other.
inline std::string numbered_by_exporter(const std::string& name) {
  if (name.find("::") == std::string::npos) return {};
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

// Keys have the length of each text in front of it, so that no name can look like something else's parts.
inline void add_to_key(std::string& key, const std::string& text) {
  (key += std::to_string(text.size()) + ":") += text;
}
inline void add_to_key(std::string& key, const std::vector<part>& parts, const std::vector<gap>& gaps) {
  key += std::to_string(parts.size()) + "[";
  for (const part& p : parts) {
    key += static_cast<char>('a' + static_cast<int>(p.is));
    if (p.is == part::kind::text) add_to_key(key, p.text);
    if (p.is == part::kind::weight_name) add_to_key(key, numbered_by_exporter(gaps[p.index].text));
    const std::size_t count = p.is == part::kind::list ? p.count : p.is == part::kind::gap ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) key += static_cast<char>('0' + static_cast<int>(gaps[p.index + i].is));
    key += ';';
  }
}

// Fills in the expression's key once its parts are complete.
inline void make_key(expression& x) {
  x.key.clear();
  add_to_key(x.key, x.before, x.gaps);
  for (const member_value& a : x.attributes) {
    add_to_key(x.key, a.member);
    add_to_key(x.key, a.value, x.gaps);
  }
  add_to_key(x.key, x.attributes_none);
  add_to_key(x.key, x.after, x.gaps);
  x.key += std::to_string(x.outputs.size());
}

// A parameter of a generated function.
struct parameter {
  std::string type, name;
};

// An expression in a function's body, and how its gaps are filled: code in terms of the function's parameters.
struct body_expression {
  expression pattern;                 // its operands are values of the first call
  std::vector<std::string> gaps;      // code for each gap of the pattern
  std::vector<std::string> suffixes;  // of a weight name said as two strings; empty for others
};

// A function of the generated code: a sequence of expressions that occurs several times.
struct function {
  std::string name;
  std::vector<parameter> parameters;  // after the tensors
  std::vector<value_id> tensors;      // values of the first call that the tensor parameters stand for
  std::vector<body_expression> body;
  std::vector<value_id> results;  // values of the first call
  std::string comment;
  std::size_t calls = 0;
  bool is_leaf = false;  // of one operator and its weights
};

}  // namespace dnnkit::generation
