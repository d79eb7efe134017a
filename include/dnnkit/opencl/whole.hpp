// SPDX-License-Identifier: MIT
// The kernel of an operator that computes its output as a whole, in parts that do not need each other: a work-item a
// part, as its definition says with coordinates and expressions for numbers.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "dnnkit/opencl/flow.hpp"
#include "dnnkit/opencl/point.hpp"
#include "dnnkit/opencl/recipe_writer.hpp"
#include "dnnkit/operator/access.hpp"

namespace dnnkit::opencl {

namespace detail {

// An input as compute() sees it.
template <class Set> struct whole_input {
  const point_context<Set>& c;
  std::size_t number;

  constexpr bool present() const { return c.w.input(number).from != source::nothing; }
  constexpr expression operator()(const indices& at) const { return point_input<Set>{c.w, number}(at); }
  constexpr expression operator[](const index& n) const { return (*this)(input_coordinates(c, number, n)); }
};

// Its output, which nothing else is computed of in the same kernel.
template <class Set> struct whole_output {
  const point_context<Set>& c;

  constexpr const recipe_output& self() const { return c.w.plan.outputs[c.w.self.outputs.first]; }
  constexpr indices place(const index& n) const {
    return coordinates_of<indices>(
        n, [&](std::size_t d) { return c.out(d); }, c.out_rank());
  }
  constexpr expression load(const index& n) const {
    const recipe_output& o = self();
    recipe_load l;
    l.operand = o.operand;
    l.type = o.type;
    l.axes = o.axes;
    l.offset = o.offset;
    const indices at = place(n);
    const expression x(c.w.out, 't', c.w.out.new_name(), computed_as(o.type));
    c.w.out << "const " << type_of(computed_as(o.type)) << ' ' << x << '=';
    c.w.element(l, at);
    c.w.out << ";\n";
    return x;
  }
  constexpr void store(const index& n, const expression& x) const {
    c.w.store(self(), place(n), converted(x, self().type));
  }
};

// Has it a definition that can be written, of I inputs?
template <class Set, class Op, class Indices> inline constexpr bool has_whole_text = false;
template <class Set, class Op, std::size_t... I>
inline constexpr bool has_whole_text<Set, Op, std::index_sequence<I...>> = requires(const Op& op,
                                                                                    const point_context<Set>& c,
                                                                                    const index& part,
                                                                                    const whole_output<Set>& y,
                                                                                    const whole_input<Set>& x) {
  op.parts(c);
  op.compute_part(c, part, y, ((void)I, x)...);
};

template <class Op> struct is_whole : std::bool_constant<Op::kind == form::whole && !is_variadic<Op>> {};

template <class Set, class Op> constexpr bool write_whole(recipe_writer<Set>& w, const Op& op) {
  using numbers = std::make_index_sequence<most_inputs<Op>()>;
  if constexpr (has_whole_text<Set, Op, numbers>) {
    const point_context<Set> c{w};
    w.comment_operators();
    w.begin_numbers();
    const whole_output<Set> y{c};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const index part = index::spelt(w.out, "i"), parts = op.parts(c);
      w.out << "if(" << part << ">=" << parts << ")return;\n";
      op.compute_part(c, part, y, whole_input<Set>{c, I}...);
    }
    (numbers{});
    w.end();
    return true;
  } else {
    return false;
  }
}

}  // namespace detail

// False when the anchor has no definition that can be written.
template <class Set> constexpr bool write_whole(recipe_writer<Set>& w) {
  return visit_operator<detail::is_whole>(Set{}, w.self.anchor.id, w.anchor_codes(),
                                          [&](const auto& op) { return detail::write_whole(w, op); });
}

}  // namespace dnnkit::opencl
