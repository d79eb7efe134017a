// SPDX-License-Identifier: MIT
// The specification of a legal table of symbols.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/text.hpp"
#include "dnnkit/tensor/dim.hpp"

namespace dnnkit::detail {

// Is what d refers to in the table?
constexpr bool is_dim_of(const symbol_table& t, dim d) {
  return !d.is_expression() || d.expression() < t.polynomials.size();
}

// Is d made of atoms before number i only?
constexpr bool is_made_before(const symbol_table& t, dim d, std::size_t i) {
  if (!d.is_expression()) return true;
  for (const monomial& m : t.polynomials[d.expression()])
    for (std::uint16_t f : m.factors)
      if (f >= i) return false;
  return true;
}

// Empty when each symbol has a name of its own and bounds 0 <= min <= max, and what atoms and polynomials refer to
// exists before them; else what is wrong.
constexpr text symbols_error(const symbol_table& t) {
  for (std::size_t i = 0; i < t.symbols.size(); ++i) {
    const symbol& s = t.symbols[i];
    const auto wrong = [&](const char* problem) { return text("symbol '") << s.name.view() << "': " << problem; };
    if (s.name.empty()) return "a symbol has no name";
    if (s.limits.min < 0 || s.limits.min > s.limits.max) return wrong("its bounds are not 0 <= min <= max");
    for (std::size_t j = 0; j < i; ++j)
      if (t.symbols[j].name == s.name) return wrong("two symbols have this name");
  }
  for (const polynomial& p : t.polynomials)
    for (const monomial& m : p)
      for (std::uint16_t f : m.factors)
        if (f >= t.atoms.size()) return "an expression refers to an atom that does not exist";
  for (std::size_t i = 0; i < t.atoms.size(); ++i) {
    const atom& a = t.atoms[i];
    const bool exists = a.kind == atom_kind::symbol
                            ? a.a.is_known() && static_cast<std::size_t>(a.a.value()) < t.symbols.size()
                            : !a.a.is_unknown() && !a.b.is_unknown() && is_dim_of(t, a.a) && is_dim_of(t, a.b);
    if (!exists) return "an expression refers to a symbol or dimension that does not exist";
    if (a.kind != atom_kind::symbol && !(is_made_before(t, a.a, i) && is_made_before(t, a.b, i)))
      return "an expression refers to itself";
  }
  for (const assumption& a : t.assumptions) {
    const bool exists = is_dim_of(t, a.left) && is_dim_of(t, a.right) && is_dim_of(t, a.by) &&
                        a.replaced < static_cast<std::int64_t>(t.atoms.size());
    if (!exists || a.left.is_unknown() || a.right.is_unknown() ||
        (a.replaces() && (a.replaced < 0 || a.by.is_unknown())))
      return "an assumption is about a dimension that does not exist";
  }
  return {};
}

}  // namespace dnnkit::detail
