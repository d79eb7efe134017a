// SPDX-License-Identifier: MIT
// Rules as they are written: "a * c + b * c = (a + b) * c"; their conditions, "c is constant along p", and licences.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/core/text.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/operator/attributes.hpp"
#include "dnnkit/rewrite/rule.hpp"

namespace dnnkit::rewrite {

namespace detail {

struct named_law {
  algebra law;
  std::string_view name;
};
inline constexpr named_law names_of_laws[] = {{algebra::projection, "a projection"},
                                              {algebra::idempotent, "idempotent"},
                                              {algebra::commutative, "commutative"},
                                              {algebra::associative, "associative"}};

class pattern_printer {
 public:
  constexpr explicit pattern_printer(const pattern& p) : p_(p) {}
  constexpr text print() {
    print(p_.root_index(), 0);
    return out_;
  }

 private:
  struct sign {
    operator_id id;
    std::string_view text;
    int strength;
  };
  static constexpr sign signs[] = {
      {id_of<op::add>, " + ", 1}, {id_of<op::sub>, " - ", 1}, {id_of<op::mul>, " * ", 2}, {id_of<op::div>, " / ", 2}};

  // In brackets where what is around it binds more strongly.
  constexpr void print(std::size_t index, int around) {
    const term& t = p_.terms[index];
    if (t.is == term::what::variable) out_ << variable_names.substr(t.name, 1);
    else if (t.is == term::what::number)
      dnnkit::detail::print_value(out_, symbol_table{}, static_cast<float>(t.number));
    else if (t.is != term::what::operation) call(t.is == term::what::unary ? "f" : "g", t);
    else {
      for (const sign& s : signs)
        if (s.id == t.op->id) {
          if (s.strength < around) out_ << "(";
          print(t.input[0], s.strength);
          out_ << s.text;
          print(t.input[1], s.strength + 1);
          if (s.strength < around) out_ << ")";
          return;
        }
      call(t.op->name, t);
    }
  }
  constexpr void call(std::string_view name, const term& t) {
    out_ << name << "(";
    for (std::size_t i = 0; i < t.inputs; ++i) {
      if (i > 0) out_ << ", ";
      print(t.input[i], 0);
    }
    if (t.is == term::what::operation && t.slot == term::no_slot && t.codes != 0) {
      out_ << ", ";
      t.op->print(p_.attributes.begin() + t.first_code, symbol_table{}, out_);
    }
    out_ << ")";
    if (t.slot != term::no_slot) out_ << "[" << slot_names.substr(t.slot, 1) << "]";
  }

  const pattern& p_;
  text out_;
};

}  // namespace detail

constexpr text print(const pattern& p) { return detail::pattern_printer(p).print(); }
// An operator that is a variable with the laws that it must have: "f(f(a)) = f(a), f a projection".
constexpr text print(const rule& r) {
  text t = print(r.left);
  t << " = " << print(r.right);
  bool is_said = false;
  for (const term& x : r.left.terms) {
    if (x.laws == algebra::none || is_said) continue;
    t << (x.is == term::what::unary ? ", f " : ", g ");
    std::string_view between;
    for (const auto& [law, name] : detail::names_of_laws)
      if (has(x.laws, law)) {
        t << between << name;
        between = " and ";
      }
    is_said = true;
  }
  return t;
}
// "exact", "approximates (4 ulp)"
constexpr text print(const licence_terms& l) {
  text t = text_of(l.kind);
  if (l.ulp != 0) t << " (" << l.ulp << " ulp)";
  return t;
}
constexpr text print_with_licence(const rule& r) {
  text t = print(r);
  t << ", " << print(r.allowed);
  return t;
}

constexpr text print(const condition& c) {
  const auto name = [](condition::about what, std::uint8_t number) -> std::string_view {
    if (what == condition::about::nothing) return {};
    return (what == condition::about::slot ? detail::slot_names : detail::variable_names).substr(number, 1);
  };
  text t = name(c.first_is, c.first);
  t << c.text << name(c.second_is, c.second);
  return t;
}

}  // namespace dnnkit::rewrite
