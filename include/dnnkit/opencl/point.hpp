// SPDX-License-Identifier: MIT
// The kernel of an anchor that says at() for any of its elements: a work-item computes one, as the definition says with
// coordinates and expressions for numbers, its operands' prologues where it reads them.
#pragma once

#include <cstddef>
#include <type_traits>

#include "dnnkit/opencl/flow.hpp"
#include "dnnkit/opencl/tree_writer.hpp"
#include "dnnkit/operator/access.hpp"

namespace dnnkit::opencl {

// Shapes of an anchor's inputs and output, as operator/access.hpp's context.
template <class Set> struct point_context {
  recipe_writer<Set>& w;
  using real = expression;

  constexpr source_writer& text() const { return w.out; }
  constexpr element_kind kind() const { return computed_as(w.self.anchor_type); }
  constexpr std::size_t rank(std::size_t i) const { return w.input_shape(i).size(); }
  constexpr std::size_t out_rank() const { return w.space().size(); }
  constexpr index in(std::size_t i, std::size_t d) const { return {w.out, w.input_shape(i)[d]}; }
  constexpr index out(std::size_t d) const { return {w.out, w.space()[d]}; }
  constexpr index value(dim attribute) const { return {w.out, local_extent::from_attribute(attribute)}; }
};

namespace detail {

// An anchor's input as at() calls it.
template <class Set> struct point_input {
  recipe_writer<Set>& w;
  std::size_t number;
  constexpr expression operator()(const indices& at) const {
    return tree_writer<Set>(w, at)(w.input(number), w.self.anchor.name);
  }
};

template <class Set, class Op, class... X>
concept has_point_text = Op::kind == form::point&& requires(const Op& op, const point_context<Set>& c, const indices& o,
                                                            const X&... x) {
  op.at(c, o, x...);
};

constexpr expression element_of(const expression& x) { return x; }
constexpr expression element_of(const index& n) { return as_element<expression>(n); }

// With input after input, as it is there or left out. False when there is no text for that.
template <class Set, class Op, class... X>
constexpr bool write_point(recipe_writer<Set>& w, const Op& op, const X&... x) {
  constexpr std::size_t i = sizeof...(X);
  if constexpr (i < most_inputs<Op>()) {
    if (w.input(i).from != source::nothing) return write_point(w, op, x..., point_input<Set>{w, i});
    if constexpr (i >= least_inputs<Op>()) return write_point(w, op, x..., absent{});
    else return false;
  } else if constexpr (has_point_text<Set, Op, X...>) {
    w.comment_operators();
    w.begin_elements();
    const point_context<Set> context{w};
    const expression y = element_of(op.at(context, w.named('c'), x...));
    tree_writer<Set> tree(w, 'c', converted(y, w.self.anchor_type));
    tree.store_outputs();
    w.end();
    return true;
  } else {
    return false;
  }
}

template <class Op> struct is_point : std::bool_constant<Op::kind == form::point && !is_variadic<Op>> {};

}  // namespace detail

// False when the anchor has no definition that can be written.
template <class Set> constexpr bool write_point(recipe_writer<Set>& w) {
  return visit_operator<detail::is_point>(Set{}, w.self.anchor.id, w.anchor_codes(),
                                          [&](const auto& op) { return detail::write_point(w, op); });
}

}  // namespace dnnkit::opencl
