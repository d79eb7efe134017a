// SPDX-License-Identifier: MIT
// Building the right side of a rule into a graph, of what its left side was found to be: in that graph, or in one whose
// pools of attributes it has.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/rewrite/matcher.hpp"

namespace dnnkit::rewrite {

class replacement {
 public:
  // `like`: the node that is replaced, after which new ones are named. image_of(v): the value of `into` that has the
  // place of value v of the old graph. A right side that cannot be built leaves an error in `into`.
  constexpr replacement(graph& into, const rule& r, const match& m, const node& like)
      : into_(into),
        rule_(r),
        match_(m),
        old_(*m.bound.g),
        known_(static_cast<value_id>(old_.values.count)),
        like_(like) {}

  constexpr value_id build(auto image_of) {
    static_vector<value_id, most_made> made;
    const auto value_in = [&](value_id v) { return v < known_ ? image_of(v) : made.items[v - known_]; };
    for (const made_value& m : match_.made)
      made.push_back(apply(*old_.node_at(m.like).op, {}, {value_in(m.first), value_in(m.second)}));
    static_vector<value_id, most_terms> built;
    for (const term& t : rule_.right.terms)
      if (t.is == term::what::variable) built.push_back(value_in(match_.bound.values[t.name]));
      else if (t.is == term::what::number) built.push_back(number(t.number));
      else built.push_back(operation(t, built));
    value_id result = built.back();
    const op_info& op = *old_.node_at(match_.nodes.items[0]).op;
    for (const value_id v : match_.beside) result = apply(op, {}, {result, value_in(v)});
    return result;
  }

 private:
  using values = static_vector<value_id, 3>;

  constexpr value_id operation(const term& t, const static_vector<value_id, most_terms>& built) {
    values inputs;
    for (std::size_t i = 0; i < t.inputs; ++i) inputs.push_back(built.items[t.input[i]]);
    if (t.is != term::what::operation) {
      const node n = old_.node_at(t.is == term::what::unary ? match_.bound.unary : match_.bound.binary);
      return apply(*n.op, n.attributes, inputs);
    }
    if (t.slot != term::no_slot) {
      const node& named = old_.node_at(match_.bound.slots[t.slot]);
      if (!names_same_axes(*t.op, named, inputs.items[0])) into_.error = "axes of another number";
      return apply(*t.op, named.attributes, inputs);
    }
    const slice_of codes = graph::end_of(into_.attributes, t.codes);
    for (std::size_t i = 0; i < t.codes; ++i)
      into_.attributes.push_back(rule_.right.attributes.items[t.first_code + i]);
    return apply(*t.op, codes, inputs);
  }
  // Attributes that name axes mean the same ones of operands of one rank only, and what broadcast the operand may be
  // gone.
  constexpr bool names_same_axes(const op_info& op, const node& named, value_id operand) const {
    if ((op.kind != form::reduction && op.kind != form::row) || named.inputs.count == 0) return true;
    return into_.at(operand).type.dims.size() == old_.at(old_.input_of(named, 0)).type.dims.size();
  }
  constexpr value_id apply(const op_info& op, slice_of attributes, const values& inputs) {
    if (const value_id known = number_of(op, inputs); known != none) return known;
    const slice_of operands = graph::end_of(into_.operands, inputs.count);
    into_.operands.append(inputs.begin(), inputs.end());
    return into_.add_node(node{&op, like_.name, attributes, operands, none});
  }
  // What arithmetic makes of numbers that are written into the graph is such a number; else none.
  constexpr value_id number_of(const op_info& op, const values& inputs) {
    double x[3] = {};
    dtype type{};
    for (std::size_t i = 0; i < inputs.count; ++i) {
      const value& v = into_.at(inputs.items[i]);
      if (v.from != origin::constant || !v.type.dims.empty() || v.data.count != 1) return none;
      type = v.type.type;
      if (type != f32 && type != f64) return none;
      x[i] = rounded_to(type, std::bit_cast<double>(into_.constants[v.data.first]));
    }
    if (op.id == id_of<op::add>) return number(x[0] + x[1], type);
    if (op.id == id_of<op::sub>) return number(x[0] - x[1], type);
    if (op.id == id_of<op::mul>) return number(x[0] * x[1], type);
    if (op.id == id_of<op::neg>) return number(-x[0], type);
    if (op.id == id_of<op::div> && x[1] != 0) return number(x[0] / x[1], type);
    if (op.id == id_of<op::reciprocal> && x[0] != 0) return number(1 / x[0], type);
    return none;
  }
  constexpr value_id number(double x) { return number(x, old_.at(like_.output).type.type); }
  constexpr value_id number(double x, dtype type) {
    const slice_of data = graph::end_of(into_.constants, 1);
    into_.constants.push_back(std::bit_cast<std::int64_t>(rounded_to(type, x)));
    return into_.add_value({{}, {type, {}}, origin::constant, none, data});
  }

  graph& into_;
  const rule& rule_;
  const match& match_;
  const graph& old_;
  const value_id known_;  // values of the old graph before any was built, as it may be the one that is built into
  const node like_;
};

}  // namespace dnnkit::rewrite
