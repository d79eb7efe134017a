// SPDX-License-Identifier: MIT
// Pass: Pow with a constant exponent is products, a reciprocal or a square root, which take a fraction of its time:
//   x^1 = x    x^2 = x x    x^3 = x x x    x^4 = (x x)(x x)    x^-1 = 1 / x    x^-2 = (1 / x)(1 / x)
//   x^0.5 = sqrt(x + 0), but infinity for -infinity            x^-0.5 = 1 / x^0.5
// and of integers every power with at most four products, which wrap around as Pow does. Floats of 16 bits become
// what rounds once alone, x^2, 1 / x and the root: their products are rounded to 16 bits, each.
// Takes a graph without composites; guarantees the same function up to rounding, 1.5 units in the last place, with the
// same infinities, zeros and NaN; rules that set the sign of a zero aside (a + 0 = a) may then make -infinity of the
// power -0.5 of -0.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/transcendental.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct expand_powers {
  static constexpr std::string_view name = "expand powers";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    bool any = false;
    for (std::size_t k = 0; k < g.nodes.count; ++k) any = any || is_expanded(g, g.nodes.items[k]);
    if (!any) return g;
    return rebuild(
        g,
        [&](builder&, const node& n, const rebuilt_inputs& inputs) {
          return is_expanded(g, n) ? power(inputs[0], exponent_of(g, n)) : tensor{};
        },
        [&](const node& n, const graph& now, std::size_t first) {
          notes.add({name, "expanded", "its exponent is known, and products and roots take less time"}, g, n, now,
                    first);
        });
  }

 private:
  static constexpr std::int64_t none_known = std::numeric_limits<std::int64_t>::min();

  // Twice the exponent of a node that is a Pow with a constant one, if that is a whole number; else none_known.
  static constexpr std::int64_t exponent_of(const graph& g, const node& n) {
    if (!g.is<op::pow>(n)) return none_known;
    const value& exponent = g.at(g.input_of(n, 1));
    if (exponent.from != origin::constant || exponent.data.count != 1) return none_known;
    const std::int64_t code = g.constants[exponent.data.first];
    if (!is_floating(exponent.type.type)) return code >= -64 && code <= 64 ? 2 * code : none_known;
    const double twice = 2 * std::bit_cast<double>(code);
    if (!(twice >= -64 && twice <= 64)) return none_known;
    const auto whole = static_cast<std::int64_t>(twice);
    return static_cast<double>(whole) == twice ? whole : none_known;
  }
  static constexpr bool is_expanded(const graph& g, const node& n) {
    const std::int64_t twice = exponent_of(g, n);
    if (twice == none_known || !(g.at(g.input_of(n, 0)).type == g.at(n.output).type)) return false;
    const dtype type = g.at(n.output).type.type;
    if (!is_floating(type)) return twice > 0 && products(twice / 2) <= 4;
    if (is_half(type)) return twice == 4 || twice == 2 || twice == 1 || twice == -2;
    return twice == 1 || twice == -1 || twice == -2 || twice == -4 || (twice > 0 && twice <= 8 && twice % 2 == 0);
  }
  // Products that x^n takes, by squares.
  static constexpr int products(std::int64_t n) {
    int count = 0;
    for (; n > 1; n /= 2) count += n % 2 == 0 ? 1 : 2;
    return count;
  }

  static constexpr tensor power(tensor x, std::int64_t twice) {
    if (twice == 1) return root(x);
    if (twice == -1) return reciprocal(root(x));
    if (twice < 0) return whole_power(reciprocal(x), -twice / 2);
    return whole_power(x, twice / 2);
  }
  static constexpr tensor whole_power(tensor x, std::int64_t n) {
    tensor result{};
    for (tensor square = x;; square = square * square) {
      if (n % 2 != 0) result = result.present() ? result * square : square;
      n /= 2;
      if (n == 0) return result;
    }
  }
  // The root of -0 is -0, and its power 0.
  static constexpr tensor root(tensor x) {
    const double infinity = std::numeric_limits<double>::infinity();
    builder& b = x.owner();
    return where(equal(x, b.scalar(-infinity, x.type())), b.scalar(infinity, x.type()), sqrt(x + 0.0));
  }
};

}  // namespace dnnkit::passes
