// SPDX-License-Identifier: MIT
// From a sequence of expressions to statements: which values get a variable, which are written where they are used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/expression.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/source/layout.hpp"
#include "dnnkit/source/scopes.hpp"

namespace dnnkit::generation {

class body_writer {
 public:
  // What stands behind a statement that computes v: its shape, or nothing.
  using comment_maker = std::function<std::string(value_id)>;

  // `names`: what is taken already. Variables with other names than these are made.
  body_writer(std::size_t indent, name_scope names)
      : indent_(indent), scope_(std::move(names)), flow_(scope_.add(scope_.contains("y") ? "t" : "y")) {}
  // A value that is there already, under a name that is taken.
  void bind(value_id v, std::string name) { names_[v] = std::move(name); }
  // `with_numbers`: variables may be called after folders with their numbers (layer1_0).
  void write(const std::vector<body_expression>& expressions, const std::vector<value_id>& results, bool with_numbers,
             const comment_maker& comment) {
    expressions_ = &expressions;
    for (std::size_t i = 0; i < expressions.size(); ++i)
      for (value_id v : expressions[i].pattern.operands) uses_[v].push_back(i);
    for (std::size_t i = 0; i < expressions.size(); ++i)
      for (value_id v : expressions[i].pattern.outputs) producers_[v] = i;
    for (value_id v : results) uses_[v].push_back(expressions.size());
    for (std::size_t i = 0; i < expressions.size(); ++i) write(i, with_numbers, comment);
  }
  // The value as an expression, which may be used once.
  std::string take(value_id v) {
    if (const auto p = pending_.find(v); p != pending_.end()) {
      std::string s = p->second.text;
      pending_.erase(p);
      return s;
    }
    return names_.at(v);
  }
  const std::string& code() const { return code_; }
  bool is_single_expression() const { return code_.empty(); }

  static std::string filled(const std::vector<std::string>& codes, bool of_sizes) {
    bool equal = codes.size() >= 4 && of_sizes;
    for (const std::string& c : codes) equal = equal && c == codes[0];
    if (equal && codes[0].find_first_not_of("0123456789") != std::string::npos &&
        codes[0].find(' ') != std::string::npos)
      return "dk::int_list::filled(" + std::to_string(codes.size()) + ", " + codes[0] + ")";
    std::string s = "{";
    for (std::size_t i = 0; i < codes.size(); ++i) s += (i == 0 ? "" : ", ") + codes[i];
    return s + "}";
  }

 private:
  static constexpr std::size_t longest_nested = 70;
  struct operand_code {
    std::string text;
    int precedence = 0;
    int depth = 0;
  };

  void write(std::size_t i, bool with_numbers, const comment_maker& comment) {
    const body_expression& b = (*expressions_)[i];
    if (b.pattern.loop_count > 0) return write_loop(i, with_numbers);
    int depth = 0;
    const std::string text = render(b, depth);
    if (b.pattern.outputs.empty()) return statement(text + ";", {});
    const value_id v = b.pattern.outputs[0];
    const bool leaf = b.pattern.operands.empty();
    if (!leaf && depth < 3 && may_nest(i, text)) {
      pending_[v] = {text, b.pattern.precedence, depth + 1};
      return;
    }
    const std::string note = comment == nullptr ? std::string() : comment(v);
    if (!leaf && is_used_soon(i, v)) return statement(flow_target(i, v, with_numbers) + " = " + text + ";", note);
    const std::string name = variable_for(b.pattern, with_numbers);
    names_[v] = name;
    statement("const auto " + name + " = " + text + ";", note);
  }

  // Is expression i used once, by the next one, and does it read well there? A layer with weights reads from a
  // variable.
  bool may_nest(std::size_t i, const std::string& text) const {
    const auto& uses = uses_.at((*expressions_)[i].pattern.outputs[0]);
    if (uses.size() != 1 || uses[0] != i + 1) return false;
    if (i + 1 == expressions_->size()) return true;
    const expression& next = (*expressions_)[i + 1].pattern;
    if (next.outputs.empty()) return text.size() < 95;
    return next.loop_count == 0 && text.size() <= longest_nested && (!next.has_weight || next.precedence > 0);
  }
  // By the next expression alone, or by the one behind it together with the next.
  bool is_used_soon(std::size_t i, value_id v) const {
    const auto& uses = uses_.at(v);
    if (i + 1 < expressions_->size() && (*expressions_)[i + 1].pattern.loop_count > 0)
      return uses.size() == 1 && uses[0] == i + 1 && (*expressions_)[i + 1].pattern.operands[0] == v;
    if (std::all_of(uses.begin(), uses.end(), [&](std::size_t u) { return u == i + 1; })) return true;
    if (uses.size() != 1 || uses[0] != i + 2 || i + 2 >= expressions_->size()) return false;
    const expression& next = (*expressions_)[i + 1].pattern;
    if (next.outputs.empty() || next.loop_count > 0 || (*expressions_)[i + 2].pattern.loop_count > 0) return false;
    const auto& uses_of_next = uses_.at(next.outputs[0]);
    return uses_of_next.size() == 1 && uses_of_next[0] == i + 2 && estimated_length(next) <= longest_nested &&
           may_nest(i + 1, "");
  }
  // The variable that values pass through on their way, about to be assigned v by expression i. What it holds and is
  // still needed gets a variable of its own first.
  std::string flow_target(std::size_t i, value_id v, bool with_numbers) {
    if (const auto held = names_.find(in_flow_);
        held != names_.end() && held->second == flow_ && in_flow_ != v && needed_behind(in_flow_, i)) {
      const std::string name = variable_for((*expressions_)[expression_of_flow_].pattern, with_numbers);
      statement("const auto " + name + " = " + flow_ + ";", {});
      names_[in_flow_] = name;
    }
    names_[v] = flow_;
    in_flow_ = v;
    expression_of_flow_ = i;
    const std::string target = flow_declared_ ? flow_ : "auto " + flow_;
    flow_declared_ = true;
    return target;
  }

  bool needed_behind(value_id v, std::size_t i) const {
    return uses_.at(v).back() > i;  // they are in order
  }

  void write_loop(std::size_t i, bool with_numbers) {
    const body_expression& b = (*expressions_)[i];
    const value_id in = b.pattern.operands[0], out = b.pattern.outputs[0];
    std::string start = take(in);
    if (start != flow_) statement(flow_target(i, in, with_numbers) + " = " + start + ";", {});
    else if (needed_behind(in, i)) {
      start = variable_for((*expressions_)[expression_of_flow_].pattern, with_numbers);
      statement("const auto " + start + " = " + flow_ + ";", {});
    }
    names_[in] = flow_;
    int depth = 0;
    statement("for (int i = 0; i < " + std::to_string(b.pattern.loop_count) + "; ++i) " + flow_ + " = " +
                  render(b, depth) + ";",
              {});
    names_[in] = start;  // for those that read it later
    names_[out] = flow_;
    in_flow_ = out;
    expression_of_flow_ = i;
  }

  static std::size_t estimated_length(const expression& x) {
    std::size_t n = 0;
    const auto count = [&](const std::vector<part>& parts) {
      for (const part& p : parts)
        n += p.is == part::kind::text          ? p.text.size()
             : p.is == part::kind::weight_name ? 20
                                               : 4 * std::max<std::size_t>(1, p.count);
    };
    count(x.before);
    count(x.after);
    for (const member_value& a : x.attributes) n += 6 + a.member.size(), count(a.value);
    return n;
  }

  // --- text of an expression
  std::string render(const body_expression& b, int& depth) {
    std::string s;
    render(b, b.pattern.before, s, depth);
    std::string list;
    for (const member_value& a : b.pattern.attributes) {
      std::string value;
      render(b, a.value, value, depth);
      if (value != a.neutral) list += (list.empty() ? "." : ", .") + a.member + " = " + value;
    }
    s += list.empty() ? b.pattern.attributes_none : b.pattern.attributes_open + list + b.pattern.attributes_close;
    render(b, b.pattern.after, s, depth);
    return s;
  }
  void render(const body_expression& b, const std::vector<part>& parts, std::string& s, int& depth) {
    for (const part& p : parts) switch (p.is) {
        case part::kind::text:
          s += p.text;
          break;
        case part::kind::operand:
          s += operand(b.pattern.operands[p.index], b.pattern.precedence, s.empty(), depth);
          break;
        case part::kind::weight_name:
          s += b.gaps[p.index] + (b.suffixes[p.index].empty() ? "" : ", " + string_literal(b.suffixes[p.index]));
          break;
        case part::kind::gap:
          s += gap_code(b, p.index);
          break;
        case part::kind::list: {
          std::vector<std::string> codes;
          for (std::size_t k = 0; k < p.count; ++k) codes.push_back(gap_code(b, p.index + k));
          s += filled(codes, b.pattern.gaps[p.index].role == "pad");
        }
      }
  }
  static std::string gap_code(const body_expression& b, std::size_t k) {
    if (b.suffixes[k].empty()) return b.gaps[k];
    const bool is_text = b.gaps[k].starts_with("dk::text(");
    return (is_text ? b.gaps[k] : "dk::text(" + b.gaps[k] + ")") + " << " + string_literal(b.suffixes[k]);
  }
  // Inside an expression of this precedence, as its left operand or not. Sums are not associative: a + (b + c).
  std::string operand(value_id v, int precedence, bool left, int& depth) {
    const auto p = pending_.find(v);
    if (p == pending_.end()) return names_.at(v);
    depth = std::max(depth, p->second.depth);
    const int inner = p->second.precedence;
    const bool wrapped = inner > 0 && (inner < precedence || (inner == precedence && !left));
    std::string s = wrapped ? "(" + p->second.text + ")" : p->second.text;
    pending_.erase(p);
    return s;
  }

  // --- variables
  std::string variable_for(const expression& x, bool with_numbers) {
    std::string wanted = with_numbers ? std::string() : subject_of(x);
    static const std::map<std::string, std::string> of_operators{
        {"add", "sum"}, {"mul", "product"}, {"sub", "difference"}, {"div", "quotient"}};
    if (x.function != expression::no_function || x.has_weight) {
      const auto folders = folders_of(path_of(x.node_names));
      if (!folders.empty()) {
        const std::string letters = letters_of(folders.back());
        if (letters.size() > 1) wanted = with_numbers ? folders.back() : letters;
      }
    }
    if (wanted.empty()) {
      const auto known = of_operators.find(x.operator_name);
      wanted = known == of_operators.end() ? x.operator_name : known->second;
    }
    return scope_.add(identifier(wanted, "t"));
  }

  // The module whose result x only moves about: what a query is reshaped to is still called query.
  std::string subject_of(const expression& x) const {
    static const std::set<std::string> movements{"reshape", "transpose", "squeeze", "unsqueeze", "expand", "flatten"};
    if (x.operands.size() != 1 || !movements.contains(x.operator_name)) return {};
    const auto source = producers_.find(x.operands[0]);
    if (source == producers_.end()) return {};
    const expression& before = (*expressions_)[source->second].pattern;
    if (!before.has_weight) return subject_of(before);
    const auto folders = folders_of(path_of(before.node_names));
    return folders.empty() ? std::string() : letters_of(folders.back());
  }

  void statement(const std::string& text, const std::string& comment) {
    std::string lines = broken(text, indent_);
    if (!comment.empty() && comment != last_comment_) {
      const std::size_t last = lines.rfind('\n', lines.size() - 2);
      const std::size_t width = lines.size() - 1 - (last == std::string::npos ? 0 : last + 1);
      if (width + 4 + comment.size() <= line_width) lines.insert(lines.size() - 1, "  // " + comment);
      last_comment_ = comment;
    }
    code_ += lines;
  }

  std::size_t indent_;
  name_scope scope_;
  std::string flow_, code_, last_comment_;
  bool flow_declared_ = false;
  value_id in_flow_ = none;             // what the flowing variable holds
  std::size_t expression_of_flow_ = 0;  // which expression computed it
  const std::vector<body_expression>* expressions_ = nullptr;
  std::map<value_id, std::vector<std::size_t>> uses_;
  std::map<value_id, std::size_t> producers_;
  std::map<value_id, std::string> names_;
  std::map<value_id, operand_code> pending_;
};

}  // namespace dnnkit::generation
