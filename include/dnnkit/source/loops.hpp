// SPDX-License-Identifier: MIT
// Calls of one function that follow each other, each on the result of the one before, as loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/source/anti_unification.hpp"
#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/expression.hpp"

namespace dnnkit::generation {

// A literal for each gap of a statement outside all functions.
inline body_expression with_literals(expression x) {
  body_expression b{std::move(x), {}, {}};
  for (const gap& s : b.pattern.gaps) {
    switch (s.is) {
      case gap::kind::size:
        b.gaps.push_back(integer_literal(s.size));
        break;
      case gap::kind::name:
        b.gaps.push_back(string_literal(s.text));
        break;
      case gap::kind::real:
        b.gaps.push_back(anti_unification::real_code(s));
        break;
      case gap::kind::expression:
        b.gaps.push_back(s.text);
        break;
    }
    b.suffixes.emplace_back();
  }
  return b;
}

class loop_maker {
 public:
  loop_maker(const std::vector<expression>& expressions, const std::vector<value_id>& kept)
      : expressions_(expressions) {
    for (const expression& x : expressions)
      for (value_id v : x.operands) ++uses_[v];
    for (value_id v : kept) ++uses_[v];
  }
  std::vector<body_expression> run() const {
    std::vector<body_expression> list;
    for (std::size_t i = 0; i < expressions_.size();) {
      std::size_t end = i + 1;
      while (end < expressions_.size() && follows(end) && is_in_step(i, end)) ++end;
      if (end > i + 2) {
        list.push_back(loop_over(i, end));
        i = end;
      } else list.push_back(with_literals(expressions_[i++]));
    }
    return list;
  }

 private:
  bool follows(std::size_t i) const {
    const expression &x = expressions_[i], &before = expressions_[i - 1];
    if (x.function == expression::no_function || x.key != before.key || x.operands.empty()) return false;
    if (x.operands[0] != before.outputs[0] || uses_.at(x.operands[0]) != 1) return false;
    for (std::size_t r = 1; r < x.operands.size(); ++r)
      if (x.operands[r] != before.operands[r]) return false;
    return true;
  }
  // Whether what fills the gaps of expressions [first, i), which are in step, goes on in the same steps with number i.
  bool is_in_step(std::size_t first, std::size_t i) const {
    for (std::size_t k = 0; k < expressions_[i].gaps.size(); ++k)
      if (!code_of(gaps(std::max(first + 2, i) - 2, i + 1, k))) return false;
    return true;
  }
  std::vector<gap> gaps(std::size_t first, std::size_t end, std::size_t k) const {
    std::vector<gap> values;
    for (std::size_t i = first; i < end; ++i) values.push_back(expressions_[i].gaps[k]);
    return values;
  }
  body_expression loop_over(std::size_t first, std::size_t end) const {
    body_expression b{expressions_[first], {}, {}};
    b.pattern.outputs = expressions_[end - 1].outputs;
    b.pattern.loop_count = end - first;
    b.pattern.node_names.clear();
    for (std::size_t i = first; i < end; ++i)
      b.pattern.node_names.insert(b.pattern.node_names.end(), expressions_[i].node_names.begin(),
                                  expressions_[i].node_names.end());
    for (std::size_t k = 0; k < expressions_[first].gaps.size(); ++k) {
      b.gaps.push_back(code_of(gaps(first, end, k)).value());
      b.suffixes.emplace_back();
    }
    return b;
  }
  // Code for a gap by the number of the round i; nothing where no steps are found.
  static std::optional<std::string> code_of(const std::vector<gap>& values) {
    const gap& first = values[0];
    if (first.is == gap::kind::size) {
      std::vector<std::int64_t> numbers;
      for (const gap& s : values) numbers.push_back(s.size);
      return in_steps(numbers);
    }
    if (first.is == gap::kind::name) return name_in_steps(values);
    expression one;
    one.gaps = {first};
    for (const gap& s : values)
      if (s.real != first.real || s.text != first.text) return std::nullopt;
    return with_literals(one).gaps[0];
  }
  // "7", "i", "512 + 9 * i"
  static std::optional<std::string> in_steps(const std::vector<std::int64_t>& x) {
    const std::int64_t step = x[1] - x[0];
    for (std::size_t i = 2; i < x.size(); ++i)
      if (x[i] - x[i - 1] != step) return std::nullopt;
    if (step == 0) return integer_literal(x[0]);
    const std::string i = step == 1 ? "i" : std::to_string(step) + " * i";
    return x[0] == 0 ? i : integer_literal(x[0]) + " + " + i;
  }
  static std::optional<std::string> name_in_steps(const std::vector<gap>& values) {
    std::vector<numbered_name> cut;
    for (const gap& s : values) {
      cut.push_back(cut_at_numbers(s.text));
      if (cut.back().texts != cut[0].texts || s.text.size() > 200) return std::nullopt;
    }
    std::string open = cut[0].texts[0], s;
    for (std::size_t k = 0; k < cut[0].numbers.size(); ++k) {
      std::vector<std::int64_t> numbers;
      for (const numbered_name& n : cut) numbers.push_back(n.numbers[k]);
      const auto code = in_steps(numbers);
      if (!code) return std::nullopt;
      if (code->find('i') == std::string::npos) open += *code;
      else {
        s += s.empty() ? "dk::text(" + (open.empty() ? std::string() : string_literal(open)) + ")"
                       : " << " + string_literal(open);
        s += " << " + *code;
        open.clear();
      }
      open += cut[0].texts[k + 1];
    }
    if (s.empty()) return string_literal(open);
    return open.empty() ? s : s + " << " + string_literal(open);
  }

  const std::vector<expression>& expressions_;
  std::map<value_id, std::size_t> uses_;
};

}  // namespace dnnkit::generation
