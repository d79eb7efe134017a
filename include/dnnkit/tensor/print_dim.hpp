// SPDX-License-Identifier: MIT
// Dimensions as text: 3*N+1, floor_div(H, 2), ? for one that is not known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/text.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/tensor/polynomial.hpp"
#include "dnnkit/tensor/symbol.hpp"

namespace dnnkit::detail {

// Of the dimensions of one symbol_table, whose parts these are.
struct dim_printer {
  const vector<symbol>& symbols;
  const vector<atom>& atoms;
  const vector<polynomial>& polynomials;

  constexpr text operator()(dim d) const {
    text t;
    put(t, d);
    return t;
  }

 private:
  // Is x a symbol that is called like a calculation, H/32? Beside other terms it stands in brackets.
  constexpr bool is_calculation(const atom& x) const {
    if (x.kind != atom_kind::symbol) return false;
    for (const char c : symbols[static_cast<std::size_t>(x.a.value())].name.view())
      if (std::string_view("+-*/ ").find(c) != std::string_view::npos) return true;
    return false;
  }

  constexpr void put(text& t, dim d) const {
    if (d.is_known()) {
      t << d.value();
      return;
    }
    if (d.is_unknown()) {
      t << "?";
      return;
    }
    const polynomial& p = polynomials[d.expression()];
    for (std::size_t i = p.size(); i-- > 0;) {
      const std::int64_t c = p[i].coefficient;
      const bool is_one = (c == 1 || c == -1) && !p[i].factors.empty();
      if (c >= 0 && i + 1 < p.size()) t << "+";
      if (!is_one) t << c;
      else if (c < 0) t << "-";
      for (std::size_t f = 0; f < p[i].factors.size(); ++f) {
        if (f > 0 || !is_one) t << "*";
        const atom& x = atoms[p[i].factors[f]];
        const bool in_brackets = is_calculation(x) && (c != 1 || p.size() > 1 || p[i].factors.size() > 1);
        if (in_brackets) t << "(";
        put(t, x);
        if (in_brackets) t << ")";
      }
    }
  }

  constexpr void put(text& t, const atom& x) const {
    constexpr std::string_view names[] = {"", "floor_div", "mod", "min", "max"};
    if (x.kind == atom_kind::symbol) {
      t << symbols[static_cast<std::size_t>(x.a.value())].name;
      return;
    }
    t << names[static_cast<std::size_t>(x.kind)] << "(";
    put(t, x.a);
    t << ", ";
    put(t, x.b);
    t << ")";
  }
};

}  // namespace dnnkit::detail
