// SPDX-License-Identifier: MIT
// What operators take on a vector of elements: a table of those that are dearer than an addition. An operator that it
// does not name counts as one of those.
#pragma once

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/cost/target.hpp"
#include "dnnkit/op/activation.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/normalization.hpp"
#include "dnnkit/op/softmax.hpp"
#include "dnnkit/op/transcendental.hpp"
#include "dnnkit/op/trigonometry.hpp"

namespace dnnkit::detail {

// Instructions of an operator, by what they take (cost/coefficients.hpp).
struct operator_parts {
  operator_id id{};
  std::int8_t simple = 1, divisions = 0, roots = 0, exponentials = 0, logarithms = 0, powers = 0, library = 0;
};
inline constexpr operator_parts dear_operators[] = {
    {.id = id_of<op::clip>, .simple = 2},
    {.id = id_of<op::leaky_relu>, .simple = 3},
    {.id = id_of<op::prelu>, .simple = 3},
    {.id = id_of<op::hard_sigmoid>, .simple = 3},
    {.id = id_of<op::hard_swish>, .simple = 4},
    {.id = id_of<op::div>, .simple = 0, .divisions = 1},
    {.id = id_of<op::reciprocal>, .simple = 0, .divisions = 1},
    {.id = id_of<op::softsign>, .simple = 2, .divisions = 1},
    {.id = id_of<op::sqrt>, .simple = 0, .roots = 1},
    {.id = id_of<op::normalizing_scale>, .simple = 1, .divisions = 1, .roots = 1},
    {.id = id_of<op::normalizing_shift>, .simple = 2},
    {.id = id_of<op::exp>, .simple = 0, .exponentials = 1},
    {.id = id_of<op::log>, .simple = 0, .logarithms = 1},
    {.id = id_of<op::elu>, .simple = 3, .exponentials = 1},
    {.id = id_of<op::selu>, .simple = 4, .exponentials = 1},
    {.id = id_of<op::sigmoid>, .simple = 6, .exponentials = 1},
    {.id = id_of<op::swish>, .simple = 7, .exponentials = 1},
    {.id = id_of<op::tanh>, .simple = 18, .exponentials = 1},
    {.id = id_of<op::erf>, .simple = 32, .exponentials = 1},
    {.id = id_of<op::gelu>, .simple = 14},
    {.id = id_of<op::softplus>, .simple = 6, .exponentials = 1, .logarithms = 1},
    {.id = id_of<op::mish>, .simple = 20, .divisions = 1, .exponentials = 2, .logarithms = 1},
    {.id = id_of<op::sin>, .simple = 0, .exponentials = 3},
    {.id = id_of<op::cos>, .simple = 0, .exponentials = 3},
    {.id = id_of<op::tan>, .simple = 0, .divisions = 1, .exponentials = 3},
    {.id = id_of<op::pow>, .simple = 0, .powers = 1},
    {.id = id_of<op::asin>, .simple = 0, .library = 1},
    {.id = id_of<op::acos>, .simple = 0, .library = 1},
    {.id = id_of<op::atan>, .simple = 0, .library = 1},
    {.id = id_of<op::sinh>, .simple = 0, .library = 1},
    {.id = id_of<op::cosh>, .simple = 0, .library = 1},
    {.id = id_of<op::asinh>, .simple = 0, .library = 1},
    {.id = id_of<op::acosh>, .simple = 0, .library = 1},
    {.id = id_of<op::atanh>, .simple = 0, .library = 1},
};

// Of operators that work in passes over rows: what a pass and the last step take on a vector, loads aside.
struct row_parts {
  operator_id id{};
  operator_parts passes, last;  // of all passes together
};
inline constexpr row_parts row_operators[] = {
    {id_of<op::softmax>, {.simple = 3, .exponentials = 1}, {.simple = 2, .exponentials = 1}},
    {id_of<op::log_softmax>, {.simple = 3, .exponentials = 1}, {.simple = 2}},
    {id_of<op::standardize>, {.simple = 3}, {.simple = 2}},
    {id_of<op::root_mean_square>, {.simple = 1}, {.simple = 1}},
};

constexpr double cycles_of(const cpu_facts& facts, const operator_parts& p) {
  const cost_coefficients& of = facts.costs;
  const double share = static_cast<double>(facts.float_lanes) / 16;  // dividers work on a few lanes at a time
  return p.simple * of.simple + share * (p.divisions * of.division + p.roots * of.square_root) +
         p.exponentials * of.exponential + p.logarithms * of.logarithm + p.powers * of.power +
         p.library * share * of.library;
}

}  // namespace dnnkit::detail

namespace dnnkit::plan {

// Cycles that an element-wise operator takes on a vector.
constexpr double vector_cycles(const cpu_facts& facts, operator_id id) {
  for (const detail::operator_parts& p : detail::dear_operators)
    if (p.id == id) return detail::cycles_of(facts, p);
  return facts.costs.simple;
}

// Those of an operator that works in passes over rows: of all passes on a vector that they read, and of the last step.
struct row_cycles {
  double passes = 0, last = 0;
};
constexpr row_cycles row_cycles_of(const cpu_facts& facts, operator_id id, double passes) {
  for (const detail::row_parts& p : detail::row_operators)
    if (p.id == id) return {detail::cycles_of(facts, p.passes), detail::cycles_of(facts, p.last)};
  return {passes * facts.costs.simple, facts.costs.simple};
}

}  // namespace dnnkit::plan
