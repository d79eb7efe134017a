// SPDX-License-Identifier: MIT
// Element-wise operators of random graphs: one operand, two that broadcast, conditions, integers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/random_values.hpp"

class random_elementwise : protected random_values {
 protected:
  using random_values::random_values;

  constexpr void unary() {
    const entry e = any();
    if (!e.t.present()) return;
    const tensor x = e.t;
    switch (r_.below(e.exact ? 28 : 24)) {
      case 0:
      case 1:
        return add(dnnkit::relu(x), e.exact);
      case 2:
        return add(dnnkit::leaky_relu(x, {.alpha = 0.1f}));
      case 3:
        return add(dnnkit::clip(x, {.min = -0.5f, .max = 0.75f}), e.exact);
      case 4:
        return add(dnnkit::sigmoid(x));
      case 5:
        return add(dnnkit::hard_sigmoid(x));
      case 6:
        return add(dnnkit::hard_swish(x));
      case 7:
        return add(dnnkit::silu(x));
      case 8:
        return add(dnnkit::gelu(x));
      case 9:
        return add(dnnkit::gelu(x, {.approximate = static_cast<decltype(dnnkit::op::gelu::approximate)>(1)}));
      case 10:
        return add(dnnkit::elu(x, {.alpha = 0.7f}));
      case 11:
        return add(dnnkit::selu(x));
      case 12:
        return add(dnnkit::softplus(x));
      case 13:
        return add(dnnkit::softsign(x));
      case 14:
        return add(dnnkit::mish(x));
      case 15:
        return add(dnnkit::tanh(x));
      case 16:
        return add(dnnkit::erf(x));
      case 17:
        return add(dnnkit::exp(dnnkit::clip(x, {.min = -4, .max = 3})));
      case 18:
        return add(dnnkit::log(dnnkit::abs(x) + 0.5));
      case 19:
        return add(dnnkit::sqrt(dnnkit::abs(x) + 0.125));
      case 20:
        return add(r_.chance(50) ? dnnkit::abs(x) : dnnkit::neg(x), e.exact);
      case 21:
        return add(dnnkit::reciprocal(dnnkit::abs(x) + 0.5));
      case 22:
        return add(dnnkit::sin(x));
      case 23:
        return add(dnnkit::cos(x));
      case 24:
        return add(dnnkit::floor(x), true);
      case 25:
        return add(r_.chance(50) ? dnnkit::ceil(x) : dnnkit::round(x), true);
      case 26:
        return add(dnnkit::sign(x), true);
      default:
        return add(dnnkit::cast(x, {.to = r_.chance(50) ? dnnkit::i64 : dnnkit::boolean}), true);
    }
  }

  // Something that broadcasts to x: another value of its shape, a parameter or a constant.
  constexpr entry partner(tensor x) {
    for (int tries = 0; tries < 4; ++tries)
      if (const entry e = any(); e.t.present() && e.t.dims() == x.dims() && (tries > 0 || e.t.id() != x.id())) return e;
    if (r_.chance(25)) return {b_.scalar(static_cast<double>(r_.between(-12, 12)) / 8 + 0.0625), true};
    shape s = x.dims();
    for (dim& d : s)
      if (!d.is_known() || r_.chance(50)) d = 1;
    while (!s.empty() && (s[0] == dim(1)) && r_.chance(60)) s.erase(0);
    const tensor p = parameter(s);
    return {p, b_.value().at(p.id()).from != dnnkit::origin::node};
  }
  constexpr void binary() {
    const entry e = any();
    if (!e.t.present()) return;
    const entry f = partner(e.t);
    const bool swap = r_.chance(30), exact = e.exact && f.exact;
    const tensor x = swap ? f.t : e.t, y = swap ? e.t : f.t;
    switch (r_.below(10)) {
      case 0:
      case 1:
      case 2:
        return add(x + y);
      case 3:
      case 4:
        return add(x * y);
      case 5:
        return add(x - y);
      case 6:
        return add(x / (dnnkit::abs(y) + 0.5));
      case 7:
        return add(r_.chance(50) ? dnnkit::min(x, y) : dnnkit::max(x, y), exact);
      case 8:
        return add(power(x));
      default:
        return add(dnnkit::prelu(e.t, f.t));
    }
  }
  constexpr tensor power(tensor x) {
    const tensor base = dnnkit::clip(dnnkit::abs(x) + 0.5, {.min = 0.1f, .max = 4});
    return dnnkit::pow(base, b_.scalar(r_.pick({2.0, 0.5, 3.0, -1.0, 1.75})));
  }
  constexpr void choose() {
    const entry a = any(dnnkit::f32, 0, 5, true), x = any();
    if (!a.t.present() || !x.t.present()) return;
    const entry b = partner(a.t);
    if (!b.exact) return;
    tensor condition;
    switch (r_.below(4)) {
      case 0:
        condition = dnnkit::greater(a.t, b.t);
        break;
      case 1:
        condition = dnnkit::less_or_equal(a.t, b.t);
        break;
      case 2:
        condition = dnnkit::logical_not(dnnkit::less(a.t, b.t));
        break;
      default:
        condition = dnnkit::greater_or_equal(a.t, b.t);
        condition = dnnkit::logical_or(condition, dnnkit::equal(a.t, a.t));
    }
    add(condition, true);
    if (!(x.t.dims() == a.t.dims())) return;
    const entry y = partner(x.t);
    add(dnnkit::where(condition, x.t, y.t), x.exact && y.exact);
  }

  constexpr void integers() {
    if (const entry e = any(dnnkit::i64); e.t.present()) {
      const tensor x = e.t;
      const entry f = any(dnnkit::i64);
      const tensor y = f.t.present() && f.t.dims() == x.dims() ? f.t : b_.scalar(3, dnnkit::i64);
      switch (r_.below(6)) {
        case 0:
          return add(x + y, true);
        case 1:
          return add(x * b_.scalar(-2, dnnkit::i64) - y, true);
        case 2:
          return add(dnnkit::mod(dnnkit::max(x, y), b_.scalar(5, dnnkit::i64)), true);
        case 3:
          return add(dnnkit::cast(dnnkit::min(x, b_.scalar(100, dnnkit::i64)), {.to = dnnkit::f32}), true);
        case 4:
          return add(dnnkit::reduce_max(x), true);
        default:
          return add(dnnkit::greater(x, y), true);
      }
    }
    if (const entry e = any(dnnkit::boolean); e.t.present()) {
      const entry f = any(dnnkit::boolean);
      const tensor y = f.t.present() && f.t.dims() == e.t.dims() ? f.t : e.t;
      if (r_.chance(50)) return add(dnnkit::cast(dnnkit::logical_xor(e.t, y), {.to = dnnkit::f32}), true);
      return add(dnnkit::logical_and(dnnkit::logical_not(e.t), y), true);
    }
  }
};
