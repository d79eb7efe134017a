// SPDX-License-Identifier: MIT
// How far a right result of a graph may be from the reference evaluator's.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/pass/expand_composites.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/random_data.hpp"

namespace dnnkit {

namespace detail {

// x disturbed by at most `amplitude`, by how much being a function of x and the seed.
struct disturb {
  float amplitude = 0;
  std::int64_t seed = 0;

  static constexpr std::string_view name = "Disturb";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("amplitude", self.amplitude);
    visit("seed", self.seed);
  }
  template <class T> T apply(T x) const {
    random_source r(std::bit_cast<std::uint64_t>(static_cast<double>(x)) ^ static_cast<std::uint64_t>(seed) << 32);
    return x + static_cast<T>(amplitude * r.real(-1, 1));
  }
};

inline bool rounds(const graph& g, const node& n) {
  static constexpr std::string_view exact[] = {
      "Relu", "Clip",   "Abs", "Neg",    "Min",     "Max",       "Floor",       "Ceil",   "Round",   "Sign",
      "And",  "Or",     "Xor", "Not",    "Equal",   "Less",      "LessOrEqual", "Where",  "Greater", "GreaterOrEqual",
      "Cast", "Concat", "Pad", "Gather", "MaxPool", "ReduceMax", "ReduceMin",   "ArgMax", "ArgMin"};
  if (n.op->kind == form::movement || g.at(n.output).type.type != f32) return false;
  if (g.is<op::resize>(n)) return g.as<op::resize>(n).mode == resize_mode::linear;
  return std::find(std::begin(exact), std::end(exact), n.op->name) == std::end(exact);
}

inline double largest_of(const host_tensor& t) {
  double m = 0;
  for (double x : t.reals)
    if (std::isfinite(x)) m = std::max(m, std::fabs(x));
  return m;
}

}  // namespace detail

// For each output, how far a right result may be from the reference's, `expected`. Found by evaluating the graph with
// the operands and the result of every operator that rounds disturbed by a few units in the last place of their
// tensor's largest element: so a long reduction allows more than a short one, and an ill-conditioned operator more than
// a benign one. The graph's operators are those of Set.
template <class Set = builtin_set>
[[nodiscard]] std::vector<double> rounding_tolerances(const graph& original, const random_operands& data,
                                                      const std::vector<host_tensor>& expected) {
  using operators = decltype(Set{} + op_set<detail::disturb>{});
  const graph g = passes::expand_composites::run(original);
  std::vector<double> largest(g.values.size(), 0);
  evaluate<Set>(g, data.inputs, weights_of(data.weights), [&](value_id v, const host_tensor& t) {
    largest[static_cast<std::size_t>(v)] = detail::largest_of(t);
  });
  constexpr double units = 0x1p-23 * 12;
  std::vector<double> result;
  for (const host_tensor& t : expected) result.push_back(units * detail::largest_of(t) + 0x1p-40);
  for (std::int64_t run = 1; run <= 2; ++run) {
    std::int64_t seed = run * 100'003;
    const graph disturbed = rebuild(g, [&](builder& b, const node& n, const auto& inputs) {
      if (!detail::rounds(g, n)) return tensor{};
      const auto around = [&](tensor t, double scale) {
        return b.apply(detail::disturb{static_cast<float>(units * scale), ++seed}, {t});
      };
      vector<value_id> ids;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool real = inputs[i].present() && inputs[i].type() == f32;
        const double scale = real ? largest[static_cast<std::size_t>(g.input_of(n, i))] : 0;
        ids.push_back(real ? around(inputs[i], scale / 4).id() : inputs[i].id());
      }
      const std::int64_t* codes = g.attributes_of(n);
      const tensor y{&b, b.value().add_node(*n.op, "", {codes, codes + n.attributes.count}, ids)};
      // functions are computed with terms of the size of 1 even where the result is small
      const double least = n.op->kind == form::elementwise && n.inputs.count == 1 ? 0.25 : 0;
      return around(y, std::max(largest[static_cast<std::size_t>(n.output)], least));
    });
    const auto found = evaluate<operators>(disturbed, data.inputs, weights_of(data.weights));
    for (std::size_t k = 0; k < found.size(); ++k)
      for (std::size_t i = 0; i < found[k].reals.size(); ++i) {
        const double d = std::fabs(found[k].reals[i] - expected[k].reals[i]);
        if (d > result[k]) result[k] = d;
      }
  }
  return result;
}

}  // namespace dnnkit
