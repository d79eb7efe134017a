// SPDX-License-Identifier: MIT
// Symbolic dimensions as C++: symbols are variables of type dnnkit::extent, and an expression computes with them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/tensor/dim.hpp"

namespace dnnkit::generation {

class symbol_names {
 public:
  // A symbol of one letter keeps it (H), but for those that generated code has uses of its own for. Of longer names
  // capitals become small, since many of capitals are macros.
  symbol_names(const symbol_table& table, name_scope& names) : table_(table) {
    constexpr std::string_view used_otherwise = "abcgitxyI";
    for (const symbol& s : table.symbols) {
      const std::string_view given = s.name.view();
      std::string name = identifier(given, "size");
      if (name.size() == 1)
        name = given.size() == 1 && used_otherwise.find(given[0]) == given.npos ? std::string(given) : "size_" + name;
      names_.push_back(names.add(name));
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
    const polynomial& p = table_.polynomials[d.expression()];
    std::string sum;
    for (const bool negative : {false, true})  // what is subtracted comes last
      for (const monomial& m : p) {
        if (m.factors.empty() || (m.coefficient < 0) != negative) continue;
        const bool subtract = negative && !sum.empty();
        std::string product;
        for (auto f : m.factors) product += (product.empty() ? "" : " * ") + code(table_.atoms[f]);
        if (const auto c = subtract ? -m.coefficient : m.coefficient; c != 1) product += " * " + std::to_string(c);
        sum += (sum.empty() ? "" : subtract ? " - " : " + ") + product;
      }
    for (const monomial& m : p)
      if (m.factors.empty())
        sum = (sum.empty() ? zero() : sum) + (m.coefficient < 0 ? " - " : " + ") +
              std::to_string(m.coefficient < 0 ? -m.coefficient : m.coefficient);
    return sum;
  }

 private:
  // An extent of 0, which a number below it is computed from.
  std::string zero() const {
    used_.front() = true;
    return names_.front() + " - " + names_.front();
  }
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
