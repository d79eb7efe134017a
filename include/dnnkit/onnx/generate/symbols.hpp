// SPDX-License-Identifier: MIT
// Symbolic dimensions as C++: symbols are variables of type dnnkit::extent, and an expression computes with them.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "dnnkit/onnx/generate/literals.hpp"
#include "dnnkit/tensor/dim.hpp"

namespace dnnkit::generation {

class symbol_names {
 public:
  explicit symbol_names(const symbol_table& table) : table_(table) {
    std::set<std::string> taken{"g", "x", "y", "i"};
    for (const symbol& s : table.symbols) {
      std::string name(s.name.view());
      bool legal = !name.empty() && !is_keyword(name) && !(name[0] >= '0' && name[0] <= '9');
      for (char c : name)
        legal = legal && (c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
      if (!legal || name[0] == '_' || name.find("__") != std::string::npos) name = identifier(name, "size");
      while (!taken.insert(name).second) name += "_";
      names_.push_back(name);
      used_.push_back(false);
    }
  }
  const std::string& operator[](std::size_t symbol) const { return names_[symbol]; }
  std::size_t size() const { return names_.size(); }
  // Has code for a dimension with this symbol been asked for?
  bool is_used(std::size_t symbol) const { return used_[symbol]; }

  // Code of type extent (or dim, or a number) for `d`.
  std::string code(dim d) const {
    if (d.is_unknown()) return "-1";
    if (d.is_known()) return std::to_string(d.value());
    std::string sum, constant;
    for (const monomial& m : table_.polynomials[d.expression()]) {
      if (m.factors.empty()) {
        constant =
            (m.coefficient < 0 ? " - " : " + ") + std::to_string(m.coefficient < 0 ? -m.coefficient : m.coefficient);
        continue;
      }
      const bool subtract = m.coefficient < 0 && !sum.empty();
      std::string product;
      for (auto f : m.factors) product += (product.empty() ? "" : " * ") + code(table_.atoms[f]);
      if (const auto c = subtract ? -m.coefficient : m.coefficient; c != 1) product += " * " + std::to_string(c);
      sum += (sum.empty() ? "" : subtract ? " - " : " + ") + product;
    }
    return sum + constant;
  }

 private:
  std::string code(const atom& x) const {
    if (x.kind == atom_kind::symbol) {
      used_[static_cast<std::size_t>(x.a.value())] = true;
      return names_[static_cast<std::size_t>(x.a.value())];
    }
    if (x.kind == atom_kind::floor_div) return "(" + factor(x.a, x.b) + " / " + factor(x.b, {}) + ")";
    if (x.kind == atom_kind::mod) return factor(x.a, x.b) + ".mod(" + code(x.b) + ")";
    const bool swapped = x.a.is_known();  // min and max may be
    return factor(swapped ? x.b : x.a, {}) + (x.kind == atom_kind::min ? ".min(" : ".max(") +
           code(swapped ? x.a : x.b) + ")";
  }
  // Code for d as an operand; where the other operand is no extent either, d is made one.
  std::string factor(dim d, dim other) const {
    if (d.is_known() && other.is_expression()) {
      std::string any = code(other);
      return any.find(' ') == std::string::npos ? "(" + any + " - " + any + " + " + code(d) + ")" : code(d);
    }
    const std::string s = code(d);
    return s.find(' ') == std::string::npos ? s : "(" + s + ")";
  }

  const symbol_table& table_;
  std::vector<std::string> names_;
  mutable std::vector<bool> used_;
};

}  // namespace dnnkit::generation
