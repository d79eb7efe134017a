// SPDX-License-Identifier: MIT
// Backward transfer of shapes (SoD2, section 4.1, Algorithm 1): dimensions that operators require to be equal are
// equations over the symbols of the inputs; each one solved is a symbol that is replaced, and the forward transfer runs
// again until nothing changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/tensor/shape.hpp"

namespace dnnkit::onnx {

// What is known of a symbol: a value over other symbols, or narrower bounds.
struct symbol_solution {
  std::shared_ptr<const symbol_table> table;  // of `value`
  dim value = dim::unknown();                 // unknown: the symbol stays
  bounds limits{1, bounds{}.max};
};
using symbol_solutions = std::map<std::string, symbol_solution, std::less<>>;

namespace detail {

// Writes a dimension of one table in another, where symbols are what `symbol` says.
class dim_copy {
 public:
  dim_copy(const symbol_table& from, symbol_table& to, std::function<dim(std::size_t)> symbol)
      : from_(from), to_(to), symbol_(std::move(symbol)) {}

  dim operator()(dim d) const {
    if (!d.is_expression()) return d;
    dim sum = 0;
    const polynomial p = from_.polynomials[d.expression()];
    for (const monomial& m : p) {
      dim term = to_.add(dim(0), m.coefficient);
      for (std::uint16_t f : m.factors) term = to_.mul(term, copy(from_.atoms[f]));
      sum = to_.add(sum, term);
    }
    return sum;
  }

 private:
  dim copy(const atom& x) const {
    if (x.kind == atom_kind::symbol) return symbol_(static_cast<std::size_t>(x.a.value()));
    const dim a = (*this)(x.a), b = (*this)(x.b);
    switch (x.kind) {
      case atom_kind::floor_div:
        return to_.floor_div(a, b);
      case atom_kind::mod:
        return to_.mod(a, b);
      case atom_kind::min:
        return to_.min(a, b);
      default:
        return to_.max(a, b);
    }
  }

  const symbol_table& from_;
  symbol_table& to_;
  std::function<dim(std::size_t)> symbol_;
};

}  // namespace detail

// Symbols in a table, or what they were solved to be. Solutions mention other symbols, which are solved in their turn:
// each once.
class solved_symbols {
 public:
  explicit solved_symbols(const symbol_solutions& solutions) : solutions_(solutions) {}

  bool has(const std::string& name) const { return solutions_.contains(name); }
  dim of(symbol_table& table, const std::string& name) {
    const auto found = solutions_.find(name);
    if (found == solutions_.end()) return table.symbol_named(name, {1, bounds{}.max});
    const symbol_solution& s = found->second;
    if (s.value.is_unknown()) return table.symbol_named(name, s.limits);
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    const dim d = detail::dim_copy(*s.table, table,
                                   [&](std::size_t i) { return of(table, s.table->symbols[i].name.str()); })(s.value);
    known_.emplace(name, d);
    return d;
  }

 private:
  const symbol_solutions& solutions_;
  std::map<std::string, dim, std::less<>> known_;  // in the one table that all calls are given
};

// Solves the equations of one table, one after the other. What it makes of them is one more table, which all solutions
// share.
class symbol_solver {
 public:
  symbol_solver(const symbol_table& table, symbol_solutions& solutions)
      : table_(table), scratch_(std::make_shared<symbol_table>(table)), solutions_(solutions) {}

  // Whether `e` could be solved, or says nothing new.
  bool solve(const equation& e) {
    if (holds(e)) return true;
    const dim difference = scratch_->sub(e.left, e.right);
    if (!difference.is_expression()) return false;
    return by_isolation(*scratch_, without_common_factors(*scratch_, difference)) || by_bounds(e) || by_divisibility(e);
  }
  bool holds(const equation& e) const { return scratch_->sub(e.left, e.right) == dim(0); }
  // Does `e` mention a symbol that has been solved? It may mean something else then, once the solution is put in.
  // Solutions so mention no symbol that was solved before them, and there is no circle of them.
  bool mentions_solved(const equation& e) const {
    return std::any_of(solved_.begin(), solved_.end(),
                       [&](std::size_t i) { return table_.uses(e.left, i) || table_.uses(e.right, i); });
  }

 private:
  // d = 0 without the symbols that all its terms have, none of which is 0.
  static dim without_common_factors(symbol_table& t, dim d) {
    for (std::size_t i = 0; i < t.symbols.size(); ++i) {
      if (t.symbols[i].limits.min < 1 || !t.uses(d, i)) continue;
      const dim s = t.symbol_named(t.symbols[i].name.view(), {});
      for (dim rest = t.exact_div(d, s); rest.is_expression(); rest = t.exact_div(d, s)) d = rest;
    }
    return d;
  }

  // A symbol that stands alone in one term c * s and occurs nowhere else, c = 1, -1 or a divisor of a constant rest.
  bool by_isolation(symbol_table& t, dim difference) {
    const polynomial p = t.polynomials[difference.expression()];
    for (std::size_t i = t.symbols.size(); i-- > 0;) {  // later symbols give way to earlier ones
      const monomial* alone = nullptr;
      std::size_t uses = 0;
      for (const monomial& m : p) {
        bool here = false;
        for (std::uint16_t f : m.factors) here = here || atom_uses(t, t.atoms[f], i);
        uses += here;
        if (here && m.factors.size() == 1 && t.atoms[m.factors[0]].kind == atom_kind::symbol) alone = &m;
      }
      if (alone == nullptr || uses != 1) continue;
      const dim s = t.symbol_named(t.symbols[i].name.view(), {});
      dim rest;  // c * s + rest = 0
      if (alone->coefficient == 1) rest = t.sub(dim(0), t.sub(difference, s));
      else if (alone->coefficient == -1) rest = t.add(difference, s);
      else continue;
      const bounds r = t.range(rest), limits = t.symbols[i].limits;
      if (rest.is_unknown() || r.max < limits.min || r.min > limits.max) return false;
      return note(i, {scratch_, rest, limits});
    }
    return constant_multiple(t, p);
  }
  // c * s + k = 0
  bool constant_multiple(const symbol_table& t, const polynomial& p) {
    if (p.size() != 2 || !p[0].factors.empty() || p[1].factors.size() != 1) return false;
    const atom& a = t.atoms[p[1].factors[0]];
    if (a.kind != atom_kind::symbol || p[0].coefficient % p[1].coefficient != 0) return false;
    const std::int64_t value = -(p[0].coefficient / p[1].coefficient);
    const symbol& s = t.symbols[static_cast<std::size_t>(a.a.value())];
    if (value < s.limits.min || value > s.limits.max) return false;
    return note(static_cast<std::size_t>(a.a.value()), {scratch_, value, s.limits});
  }

  // m * floor(s / m) = s says that m divides s: s becomes m times another symbol.
  bool by_divisibility(const equation& e) {
    std::vector<const atom*> quotients;
    collect(e.left, atom_kind::floor_div, quotients);
    collect(e.right, atom_kind::floor_div, quotients);
    for (const atom* q : quotients) {
      if (!q->b.is_known()) continue;
      for (std::size_t i = 0; i < table_.symbols.size(); ++i) {
        if (!table_.uses(q->a, i)) continue;
        const std::string part = table_.symbols[i].name.str() + "/" + std::to_string(q->b.value());
        const bounds limits = table_.symbols[i].limits;
        symbol_table t;
        const auto replaced = [&](std::size_t k) {
          if (k != i) return t.symbol_named(table_.symbols[k].name.view(), table_.symbols[k].limits);
          return t.mul(t.symbol_named(part, {1, limits.max / q->b.value()}), q->b);
        };
        const detail::dim_copy copy(table_, t, replaced);
        if (!(copy(e.left) == copy(e.right))) continue;
        const dim value = replaced(i);
        solutions_[part] = {
            nullptr,
            dim::unknown(),
            {std::max<std::int64_t>(1, (limits.min + q->b.value() - 1) / q->b.value()), limits.max / q->b.value()}};
        return note(i, {std::make_shared<const symbol_table>(t), value, limits});
      }
    }
    return false;
  }

  // min(s, c) = s says s <= c, and max(s, c) = s says s >= c; where neither does, min(s, c) = c and max(s, c) = c say
  // the opposite.
  bool by_bounds(const equation& e) {
    for (const bool opposite : {false, true})
      for (const atom_kind kind : {atom_kind::min, atom_kind::max}) {
        std::vector<const atom*> extrema;
        collect(e.left, kind, extrema);
        collect(e.right, kind, extrema);
        for (const atom* x : extrema)
          if (by_bound(e, *x, (kind == atom_kind::min) != opposite ? atom_kind::min : atom_kind::max)) return true;
      }
    return false;
  }
  // Whether e holds once one side of `x` is at most (min) or at least (max) the other side, a number.
  bool by_bound(const equation& e, const atom& x, atom_kind side) {
    const bool first = x.a.is_known();
    const dim limit = first ? x.a : x.b, other = first ? x.b : x.a;
    for (std::size_t i = 0; limit.is_known() && i < table_.symbols.size(); ++i) {
      if (!table_.uses(other, i)) continue;
      bounds limits = table_.symbols[i].limits;
      if (!narrow(limits, side, other, limit.value(), i)) continue;
      symbol_table t;
      const detail::dim_copy copy(table_, t, [&](std::size_t k) {
        return t.symbol_named(table_.symbols[k].name.view(), k == i ? limits : table_.symbols[k].limits);
      });
      if (!(copy(e.left) == copy(e.right))) continue;
      return note(i, {nullptr, dim::unknown(), limits});
    }
    return false;
  }
  // The bounds of symbol i under which d is at most (min) or at least (max) `limit`, where d is c * s + k, or has
  // another such sum divided by a number and rounded down in the place of s.
  bool narrow(bounds& limits, atom_kind kind, dim d, std::int64_t limit, std::size_t i) const {
    if (!d.is_expression()) return false;
    const polynomial& p = table_.polynomials[d.expression()];
    const monomial& m = p.back();
    if (p.size() > 2 || m.factors.size() != 1 || (p.size() == 2 && !p[0].factors.empty())) return false;
    const std::int64_t c = m.coefficient, size = c < 0 ? -c : c, k = p.size() == 2 ? p[0].coefficient : 0;
    std::int64_t room = 0;  // of c * s
    if (c == std::numeric_limits<std::int64_t>::min() || __builtin_sub_overflow(limit, k, &room) ||
        room == std::numeric_limits<std::int64_t>::min())
      return false;
    if (c < 0) room = -room;
    const bool at_most = (kind == atom_kind::min) == (c > 0);
    const std::int64_t edge =
        at_most ? dnnkit::detail::floor_quotient(room, size) : -dnnkit::detail::floor_quotient(-room, size);
    const atom& a = table_.atoms[m.factors[0]];
    if (a.kind == atom_kind::floor_div && a.b.is_known()) {
      std::int64_t inner = 0;
      if (__builtin_mul_overflow(edge, a.b.value(), &inner)) return false;
      return narrow(limits, at_most ? atom_kind::min : atom_kind::max, a.a, at_most ? inner + (a.b.value() - 1) : inner,
                    i);
    }
    if (a.kind != atom_kind::symbol || !(a.a == dim(static_cast<std::int64_t>(i)))) return false;
    if (at_most) limits.max = std::min(limits.max, edge);
    else limits.min = std::max(limits.min, edge);
    return limits.min <= limits.max;
  }

  // Every atom of a kind in d, also inside other atoms; outer ones first.
  void collect(dim d, atom_kind kind, std::vector<const atom*>& into) const {
    if (!d.is_expression()) return;
    for (const monomial& m : table_.polynomials[d.expression()])
      for (std::uint16_t f : m.factors) {
        const atom& a = table_.atoms[f];
        if (a.kind == kind) into.push_back(&a);
        if (a.kind == atom_kind::symbol) continue;
        collect(a.a, kind, into);
        collect(a.b, kind, into);
      }
  }
  static bool atom_uses(const symbol_table& t, const atom& a, std::size_t i) {
    if (a.kind == atom_kind::symbol) return a.a == dim(static_cast<std::int64_t>(i));
    return t.uses(a.a, i) || t.uses(a.b, i);
  }

  // Symbol i is solved.
  bool note(std::size_t i, symbol_solution solution) {
    solutions_[table_.symbols[i].name.str()] = std::move(solution);
    solved_.push_back(i);
    return true;
  }

  const symbol_table& table_;
  std::shared_ptr<symbol_table> scratch_;  // `table_`, and what is computed in it
  symbol_solutions& solutions_;
  std::vector<std::size_t> solved_;
};

}  // namespace dnnkit::onnx
