// SPDX-License-Identifier: MIT
// Random legal graphs over the library's operators, the same at run time (for the reference evaluator) and in constant
// expressions (for compile<>): the seed alone decides.
//
// Arguments of a call are evaluated in another order in constant expressions than at run time (GCC), so nothing that
// draws a number or appends a node stands beside another such argument.
//
// Values that no operator has rounded are "exact": every right evaluator computes the same bits. Operators that jump
// (Floor, comparisons, ArgMax, ...) are applied to these only, so that results can be compared with a tolerance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/random_source.hpp"

struct random_options {
  std::int64_t least_operators = 2, most_operators = 12;
  bool symbols = false;  // some extents of inputs are symbols
};

class random_graph {
 public:
  constexpr random_graph(dnnkit::builder& b, std::uint64_t seed, random_options options = {})
      : random_graph(b, random_source(seed), options) {}
  constexpr random_graph(dnnkit::builder& b, random_source choices, random_options options = {})
      : b_(b), r_(choices), options_(options) {}

  constexpr void build() {
    make_inputs();
    const auto wanted = static_cast<std::size_t>(r_.between(options_.least_operators, options_.most_operators));
    for (int tries = 0; nodes() < wanted && tries < 200; ++tries) {
      const std::size_t before = nodes();
      const auto family = r_.below(100);
      if (family < 14) unary();
      else if (family < 32) binary();
      else if (family < 37) choose();
      else if (family < 53) move();
      else if (family < 61) sample();
      else if (family < 73) convolve();
      else if (family < 78) pool();
      else if (family < 86) multiply();
      else if (family < 91) reduce();
      else if (family < 98) normalise();
      else integers();
      if (nodes() == before) continue;
    }
    make_outputs();
  }

 private:
  using tensor = dnnkit::tensor;
  using shape = dnnkit::shape;
  using dim = dnnkit::dim;
  struct entry {
    tensor t;
    bool exact = false;
  };
  static constexpr std::int64_t most_elements = 4000;

  // --- what there is
  constexpr std::size_t nodes() const { return b_.value().nodes.size(); }
  constexpr std::int64_t least(dim d) const { return b_.value().symbols.range(d).min; }
  constexpr std::int64_t most(dim d) const { return b_.value().symbols.range(d).max; }
  constexpr std::int64_t most_count(const shape& s) const {
    std::int64_t n = 1;
    for (dim d : s) n *= most(d);
    return n;
  }
  constexpr std::size_t rank(tensor t) const { return t.dims().size(); }

  // A known value, recent ones preferred; of the given element type and rank, if there is any such.
  constexpr entry any(dnnkit::dtype type = dnnkit::f32, std::size_t least_rank = 0, std::size_t most_rank = 5,
                      bool exact = false) {
    for (int tries = 0; tries < 12; ++tries) {
      const std::size_t i = r_.below(count_), j = r_.below(count_);
      const entry& e = known_[tries < 6 ? (i > j ? i : j) : i];
      if (e.t.type() == type && rank(e.t) >= least_rank && rank(e.t) <= most_rank && (e.exact || !exact)) return e;
    }
    return {};
  }
  constexpr void add(tensor t, bool exact = false) {
    if (count_ < sizeof known_ / sizeof known_[0]) known_[count_++] = {t, exact};
  }

  // --- leaves
  constexpr tensor leaf(std::string_view prefix, std::int64_t number, const shape& s, dnnkit::dtype type,
                        dnnkit::origin from) {
    dnnkit::text name(prefix);
    name << number;
    dnnkit::graph& g = b_.value();
    const dnnkit::value_id id = g.add_value({g.store(name.view()), {type, s}, from, dnnkit::none, {}});
    if (from == dnnkit::origin::input) g.inputs.push_back(id);
    return {&b_, id};
  }
  constexpr tensor input(const shape& s, dnnkit::dtype type = dnnkit::f32) {
    const tensor t = leaf("x", static_cast<std::int64_t>(b_.value().inputs.size()), s, type, dnnkit::origin::input);
    add(t, true);
    return t;
  }
  // A name that begins with "variance" is filled with positive numbers.
  constexpr tensor weight(const shape& s, std::string_view prefix = "w", dnnkit::dtype type = dnnkit::f32) {
    return leaf(prefix, weights_++, s, type, dnnkit::origin::weight);
  }
  // A weight, or something computed from weights.
  constexpr tensor parameter(const shape& s) {
    const std::size_t kind = r_.below(10);
    if (kind == 0) {
      const tensor a = weight(s), b = weight(s);
      return a * b;
    }
    if (kind == 1) {
      const tensor reversed = weight(shape(s.begin(), s.end()));
      return dnnkit::relu(reversed) - 0.25;
    }
    if (kind == 2 && s.size() > 1) {
      shape reversed;
      for (std::size_t d = s.size(); d-- > 0;) reversed.push_back(s[d]);
      return dnnkit::transpose(weight(reversed));
    }
    if (kind == 3 && most_count(s) <= 8) {
      dnnkit::vector<double> elements;
      for (std::int64_t i = 0; i < most_count(s); ++i) elements.push_back(static_cast<double>(r_.between(-8, 8)) / 4);
      return b_.constant(elements, s);
    }
    return weight(s);
  }

  constexpr dim extent(std::int64_t lowest, std::int64_t highest) {
    if (!options_.symbols || !r_.chance(60)) return r_.chance(12) ? dim(1) : dim(r_.between(lowest, highest));
    constexpr std::string_view names[] = {"S", "T"};
    const std::size_t which = r_.below(2);
    return b_.symbol({names[which], {5, 11}});
  }
  constexpr void make_inputs() {
    const std::int64_t channels = r_.pick({1, 3, 4, 8, 16, 17, 24});
    switch (r_.below(6)) {
      case 0:
      case 1:  // images
        for (std::int64_t n = r_.between(1, 2); n-- > 0;)
          input({r_.chance(70) ? 1 : 2, channels, extent(4, 11), extent(4, 11)});
        break;
      case 2:  // sequences
        for (std::int64_t n = r_.between(1, 2); n-- > 0;)
          input({r_.between(1, 2), extent(3, 10), r_.pick({4, 7, 16, 24, 33})});
        break;
      case 3: {  // signals or volumes
        const dim length = extent(5, 9);
        if (r_.chance(50)) input({r_.between(1, 2), channels, length});
        else input({1, channels > 8 ? 5 : channels, r_.between(3, 5), length, r_.between(3, 6)});
        break;
      }
      default: {  // anything
        shape s;
        for (std::int64_t n = r_.between(r_.chance(90) ? 1 : 0, 5); n-- > 0;)
          s.push_back(extent(2, s.size() < 2 ? 17 : 5));
        input(s);
        if (r_.chance(60)) input(s);
        if (r_.chance(40)) input(s, dnnkit::i64);
        if (r_.chance(30)) input(s, dnnkit::boolean);
      }
    }
  }
  constexpr void make_outputs() {
    dnnkit::graph& g = b_.value();
    const auto users = dnnkit::users_of_values(g);
    auto output = [&](dnnkit::value_id v) {
      dnnkit::text name("y");
      name << g.outputs.size();
      b_.output(name.view(), {&b_, v});
    };
    for (std::size_t i = 0; i < count_; ++i) {
      const dnnkit::value_id v = known_[i].t.id();
      const bool unread = users[static_cast<std::size_t>(v)].empty();
      if (g.at(v).from == dnnkit::origin::node && (unread || r_.chance(8))) output(v);
    }
    if (g.outputs.empty() || r_.chance(4)) output(known_[r_.below(count_)].t.id());  // perhaps an input, or one twice
  }

  // --- families of operators
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

  constexpr entry any_type(std::size_t least_rank = 0, std::size_t most_rank = 5) {
    const entry e = any(r_.chance(85)   ? dnnkit::f32
                        : r_.chance(60) ? dnnkit::i64
                                        : dnnkit::boolean,
                        least_rank, most_rank);
    return e.t.present() ? e : any(dnnkit::f32, least_rank, most_rank);
  }
  constexpr void move() {
    const entry e = any_type();
    if (!e.t.present()) return;
    const tensor x = e.t;
    const std::size_t n = rank(x);
    const auto axis = static_cast<std::int64_t>(n == 0 ? 0 : r_.below(n));
    switch (r_.below(12)) {
      case 0:
      case 1:
        return reshape(e);
      case 2:
      case 3: {
        dnnkit::int_list perm;
        for (std::size_t d = 0; d < n; ++d) perm.insert(r_.below(perm.size() + 1), static_cast<std::int64_t>(d));
        return add(dnnkit::transpose(x, {.perm = perm}), e.exact);
      }
      case 4:
        if (n == 0) return;
        return add(dnnkit::flatten(x, {.axis = r_.between(0, static_cast<std::int64_t>(n))}), e.exact);
      case 5:
        if (n < 5) return add(dnnkit::unsqueeze(x, {.axes = {r_.between(0, static_cast<std::int64_t>(n))}}), e.exact);
        return add(dnnkit::squeeze(x), e.exact);
      case 6: {
        const std::int64_t channels = n == 4 ? least(x.dims()[1]) : 0;
        if (n != 4) return add(dnnkit::identity(x), e.exact);
        if (channels % 4 == 0 && x.dims()[1].is_known())
          return add(
              dnnkit::depth_to_space(x, {2, static_cast<decltype(dnnkit::op::depth_to_space::mode)>(r_.between(0, 1))}),
              e.exact);
        return;
      }
      case 7: {
        if (n != 4) return;
        const dim h = x.dims()[2], w = x.dims()[3];
        if (h.is_known() && w.is_known() && h.value() % 2 == 0 && w.value() % 2 == 0)
          return add(dnnkit::space_to_depth(x, {2}), e.exact);
        return;
      }
      case 8: {
        if (n == 0 || least(x.size(axis)) < 3) return;
        const std::int64_t step = r_.chance(30) ? 2 : r_.chance(15) ? -1 : 1;
        const std::int64_t begin = r_.between(0, 1), end = r_.chance(50) ? -1 : least(x.size(axis));
        const dnnkit::op::slice s = step > 0 ? dnnkit::op::slice{{begin}, {end}, {axis}, {step}}
                                             : dnnkit::op::slice{{-1}, {-std::int64_t{1} << 40}, {axis}, {step}};
        return add(dnnkit::slice(x, s), e.exact);
      }
      case 9: {
        if (n == 0 || least(x.size(axis)) < 2) return;
        const std::int64_t size = r_.between(1, least(x.size(axis)) - 1);
        add(dnnkit::narrow(x, axis, 0, size), e.exact);
        if (!r_.chance(50)) return;
        return add(dnnkit::narrow(x, axis, size, b_.value().symbols.add(x.size(axis), -size)), e.exact);
      }
      case 10: {
        shape s = x.dims();
        bool grows = false;
        for (dim& d : s)
          if (d == dim(1) && r_.chance(70)) d = 3, grows = true;
        if (n < 5 && r_.chance(40)) s.insert(0, 2), grows = true;
        if (!grows || most_count(s) > most_elements) return;
        return add(b_.apply(dnnkit::op::expand{s}, {x}), e.exact);
      }
      default: {
        dnnkit::int_list repeats;
        for (std::size_t d = 0; d < n; ++d) repeats.push_back(r_.chance(35) ? 2 : 1);
        if (most_count(x.dims()) * 4 > most_elements) return;
        return add(dnnkit::tile(x, {repeats}), e.exact);
      }
    }
  }
  // Neighbouring extents merged, and known ones split.
  constexpr void reshape(const entry& e) {
    shape s;
    for (dim d : e.t.dims()) {
      if (!s.empty() && r_.chance(40)) s[s.size() - 1] = b_.value().symbols.mul(s[s.size() - 1], d);
      else s.push_back(d);
    }
    for (std::size_t d = 0; d < s.size() && s.size() < 5; ++d)
      for (std::int64_t f : {5, 4, 3, 2})
        if (s[d].is_known() && s[d].value() % f == 0 && s[d].value() > f && r_.chance(40)) {
          s[d] = s[d].value() / f;
          s.insert(d, f);
          break;
        }
    if (s.size() == 1 && r_.chance(50)) s.push_back(1);
    add(b_.apply(dnnkit::op::reshape{s}, {e.t}), e.exact);
  }

  constexpr void sample() {
    const entry e = any_type(1);
    if (!e.t.present()) return;
    const tensor x = e.t;
    const std::size_t n = rank(x);
    const auto axis = static_cast<std::int64_t>(r_.below(n));
    switch (r_.below(5)) {
      case 0: {
        if (most_count(x.dims()) * 2 > most_elements) return;
        dnnkit::vector<tensor> parts{x};
        bool exact = e.exact;
        for (int tries = 0; tries < 6 && parts.size() < 3; ++tries) {
          const entry f = any(x.type(), n, n);
          if (!f.t.present()) continue;
          shape a = f.t.dims(), b = x.dims();
          a[static_cast<std::size_t>(axis)] = b[static_cast<std::size_t>(axis)] = 0;
          if (a == b) {
            parts.push_back(f.t);
            exact = exact && f.exact;
          }
        }
        if (parts.size() == 1) parts.push_back(x);
        return add(dnnkit::concat(parts, {axis}), exact);
      }
      case 1: {
        const auto mode = r_.pick({dnnkit::pad_mode::constant, dnnkit::pad_mode::reflect, dnnkit::pad_mode::edge});
        dnnkit::int_list pads;
        std::int64_t larger = 1;
        for (std::size_t i = 0; i < 2 * n; ++i) {
          const dim d = x.dims()[i % n];
          const bool fits = mode != dnnkit::pad_mode::reflect || least(d) > 2;
          pads.push_back(fits && r_.chance(40) ? r_.between(1, 2) : 0);
          larger *= pads.back() + 1;
        }
        if (most_count(x.dims()) * larger > 3 * most_elements) return;
        const float value = x.type() == dnnkit::f32 ? 0.5f : 1;
        return add(dnnkit::pad(x, {pads, mode, value}), e.exact);
      }
      case 2: {
        const std::int64_t extent = least(x.size(axis));
        if (extent < 1) return;
        dnnkit::vector<double> rows;
        const std::int64_t wanted = r_.between(1, 6);
        for (std::int64_t i = 0; i < wanted; ++i) rows.push_back(static_cast<double>(r_.between(-extent, extent - 1)));
        const bool scalar = wanted == 1 && r_.chance(50);
        const tensor indices = b_.constant(rows, scalar ? shape{} : shape{wanted}, dnnkit::i64);
        return add(dnnkit::gather(x, indices, {axis}), e.exact);
      }
      default: {
        if (x.type() != dnnkit::f32 || most_count(x.dims()) * 4 > most_elements || n < 2) return;
        dnnkit::float_list scales;
        for (std::size_t d = 0; d < n; ++d) scales.push_back(d < 2 && n > 2 ? 1.0f : r_.pick({1.0f, 2.0f, 0.5f, 1.5f}));
        dnnkit::op::resize a{.scales = scales};
        for (std::size_t d = 0; d < n; ++d)
          if (least(x.dims()[d]) < 4) return;
        a.mode = r_.chance(50) ? dnnkit::resize_mode::nearest : dnnkit::resize_mode::linear;
        a.coordinate_transformation_mode =
            r_.pick({dnnkit::coordinate_mode::half_pixel, dnnkit::coordinate_mode::asymmetric});
        return add(dnnkit::resize(x, a), e.exact && a.mode == dnnkit::resize_mode::nearest);
      }
    }
  }

  // A window that fits x; none where the least extent is not known to be positive.
  constexpr dnnkit::window window_for(tensor x, std::int64_t widest) {
    dnnkit::window w;
    const std::size_t axes = rank(x) - 2;
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t room = least(x.dims()[i + 2]);
      if (room < 1) return {};
      const std::int64_t k = r_.between(1, room < widest ? room : widest);
      w.kernel_shape.push_back(k);
      w.strides.push_back(r_.chance(70) ? 1 : 2);
      w.dilations.push_back(k > 1 && (k - 1) * 2 + 1 <= room && r_.chance(20) ? 2 : 1);
    }
    for (std::size_t i = 0; i < 2 * axes; ++i)
      w.pads.push_back(w.kernel_shape[i % axes] > 1 ? r_.between(0, w.kernel_shape[i % axes] / 2) : 0);
    return w;
  }
  constexpr void convolve() {
    const entry e = any(dnnkit::f32, 3, 5);
    if (!e.t.present() || !e.t.dims()[1].is_known()) return;
    const tensor x = e.t;
    const std::int64_t channels = x.dims()[1].value();
    const dnnkit::window w = window_for(x, 3);
    if (w.kernel_shape.empty()) return;
    const bool depthwise = r_.chance(15), grouped = !depthwise && channels % 2 == 0 && r_.chance(20);
    const std::int64_t group = depthwise ? channels : grouped ? 2 : 1;
    const std::int64_t outputs = depthwise ? channels * (r_.chance(80) ? 1 : 2)
                                 : grouped ? r_.pick({2, 8, 16, 20})
                                           : r_.pick({1, 3, 4, 8, 12, 16, 24});
    if (channels < 1 || most_count(x.dims()) / channels * outputs > 2 * most_elements) return;
    if (r_.chance(12)) {
      shape kernel{channels, outputs % group == 0 ? outputs / group : 1};
      for (std::int64_t k : w.kernel_shape) kernel.push_back(k);
      dnnkit::int_list strides = w.strides;
      return add(dnnkit::conv_transpose(x, parameter(kernel), {.strides = strides, .group = group}));
    }
    shape kernel{outputs, channels / group};
    for (std::int64_t k : w.kernel_shape) kernel.push_back(k);
    const dnnkit::op::conv a{.strides = w.strides, .pads = w.pads, .dilations = w.dilations, .group = group};
    const tensor filter = parameter(kernel), bias = r_.chance(60) ? parameter({outputs}) : tensor{};
    tensor y = bias.present() ? dnnkit::conv(x, filter, bias, a) : dnnkit::conv(x, filter, a);
    if (r_.chance(40)) {
      const tensor scale = weight({outputs}), shift = weight({outputs}), mean = weight({outputs});
      y = dnnkit::batch_normalization(y, scale, shift, mean, weight({outputs}, "variance"));
    }
    if (r_.chance(40)) y = dnnkit::relu(y);
    if (y.dims() == x.dims() && r_.chance(60)) y = y + x;
    add(y);
  }
  constexpr void pool() {
    const entry e = any(dnnkit::f32, 3, 5);
    if (!e.t.present()) return;
    const dnnkit::window w = window_for(e.t, 3);
    if (w.kernel_shape.empty()) return;
    switch (r_.below(5)) {
      case 0:
      case 1:
        return add(dnnkit::max_pool(e.t, {w.kernel_shape, w.strides, w.pads, w.dilations, r_.chance(20)}), e.exact);
      case 2:
        return add(dnnkit::average_pool(e.t, {w.kernel_shape, w.strides, w.pads, w.dilations, false, r_.chance(50)}));
      case 3:
        return add(dnnkit::global_average_pool(e.t));
      default:
        return add(dnnkit::global_max_pool(e.t), e.exact);
    }
  }

  constexpr void multiply() {
    const entry e = any(dnnkit::f32, 1, 4);
    if (!e.t.present() || !e.t.size(-1).is_known()) return;
    const tensor x = e.t;
    const std::int64_t inner = x.size(-1).value(), outputs = r_.pick({1, 5, 8, 16, 19, 32});
    if (inner < 1 || most_count(x.dims()) / inner * outputs > 2 * most_elements) return;
    if (rank(x) == 2 && r_.chance(40)) {
      const bool transposed = r_.chance(60);
      const shape s = transposed ? shape{outputs, inner} : shape{inner, outputs};
      const tensor b = parameter(s), c = parameter({outputs});
      const float alpha = r_.chance(70) ? 1.0f : 0.5f;
      return add(dnnkit::gemm(x, b, c, {.alpha = alpha, .trans_b = transposed}));
    }
    if (r_.chance(40))  // a product of computed values
      for (int tries = 0; tries < 6; ++tries) {
        const entry f = any(dnnkit::f32, 2, 4);
        if (!f.t.present() || rank(f.t) > rank(x) || rank(x) < 2) continue;
        tensor y = f.t;
        if (!(y.size(-2) == x.size(-1))) {
          if (!(y.size(-1) == x.size(-1))) continue;
          dnnkit::int_list perm;
          for (std::int64_t d = 0; d + 2 < y.rank(); ++d) perm.push_back(d);
          perm.push_back(y.rank() - 1);
          perm.push_back(y.rank() - 2);
          y = dnnkit::transpose(y, {.perm = perm});
        }
        bool fits = true;
        for (std::int64_t d = 3; d <= y.rank(); ++d) fits = fits && (y.size(-d) == x.size(-d) || y.size(-d) == dim(1));
        if (!fits || most_count(x.dims()) / inner * most(y.size(-1)) > 2 * most_elements) continue;
        return add(dnnkit::matmul(x, y) * 0.25);
      }
    shape s{inner, outputs};
    if (rank(x) > 2 && x.size(0).is_known() && r_.chance(25)) {
      s.insert(0, rank(x) == 3 ? x.size(0) : dim(1));
      if (rank(x) == 4) s.insert(0, x.size(0));
    }
    if (rank(x) == 1 || r_.chance(10)) s = r_.chance(50) ? shape{inner} : shape{inner, outputs};
    tensor y = dnnkit::matmul(x, parameter(s));
    if (s.size() > 1 && r_.chance(50)) y = y + parameter({outputs});
    add(y);
  }

  constexpr void reduce() {
    const entry e = any();
    if (!e.t.present()) return;
    const tensor x = e.t;
    const std::size_t n = rank(x);
    dnnkit::row_axes axes;
    for (std::size_t d = 0; d < n; ++d)
      if (r_.chance(50))
        axes.list.push_back(static_cast<std::int64_t>(d) - (r_.chance(30) ? static_cast<std::int64_t>(n) : 0));
    const bool keep = r_.chance(60);
    switch (r_.below(e.exact && n > 0 ? 10 : 9)) {
      case 0:
        return add(dnnkit::reduce_sum(x, {axes, keep}));
      case 1:
        return add(dnnkit::reduce_mean(x, {axes, keep}));
      case 2:
        return add(dnnkit::reduce_max(x, {axes, keep}), e.exact);
      case 3:
        return add(dnnkit::reduce_min(x, {axes, keep}), e.exact);
      case 4:
        return add(dnnkit::reduce_l1(x, {axes, keep}));
      case 5:
        return add(dnnkit::reduce_l2(x, {axes, keep}));
      case 6:
        return add(dnnkit::reduce_sum_square(x, {axes, keep}));
      case 7:
        return add(dnnkit::reduce_log_sum_exp(x, {axes, keep}));
      case 8:
        return add(dnnkit::reduce_prod(dnnkit::tanh(x), {axes, keep}));
      default: {
        const auto axis = static_cast<std::int64_t>(r_.below(n));
        return add(r_.chance(50) ? dnnkit::arg_max(x, {axis, keep, r_.chance(30)}) : dnnkit::arg_min(x, {axis, keep}),
                   true);
      }
    }
  }

  constexpr void normalise() {
    const entry e = any(dnnkit::f32, 1);
    if (!e.t.present()) return;
    const tensor x = e.t;
    const std::size_t n = rank(x);
    const auto axis = static_cast<std::int64_t>(r_.below(n));
    const bool channels = n >= 3 && x.size(1).is_known();
    switch (r_.below(8)) {
      case 0:
      case 1:
        return add(dnnkit::softmax(x, {r_.chance(60) ? -1 : axis}));
      case 2:
        return add(dnnkit::log_softmax(x, {axis}));
      case 3:
      case 4: {
        shape s;
        const std::int64_t from = n > 1 && r_.chance(25) ? -2 : -1;
        for (std::int64_t d = from; d < 0; ++d) s.push_back(x.size(d).is_known() ? x.size(d) : dim(1));
        const tensor scale = parameter(s), shift = parameter(s);
        return add(dnnkit::layer_normalization(x, scale, shift, {.axis = from, .epsilon = 0.01f}));
      }
      case 5: {
        const shape s{x.size(-1).is_known() ? x.size(-1) : dim(1)};
        return add(dnnkit::rms_normalization(x, parameter(s), {.epsilon = 0.01f}));
      }
      default: {
        if (!channels) return;
        const tensor scale = parameter({x.size(1)}), shift = parameter({x.size(1)});
        if (r_.chance(50)) return add(dnnkit::instance_normalization(x, scale, shift, {.epsilon = 0.01f}));
        const std::int64_t groups = x.size(1).value() % 2 == 0 ? 2 : 1;
        return add(dnnkit::group_normalization(x, scale, shift, {.num_groups = groups, .epsilon = 0.01f}));
      }
    }
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

  dnnkit::builder& b_;
  random_source r_;
  random_options options_;
  entry known_[64] = {};
  std::size_t count_ = 0;
  std::int64_t weights_ = 0;
};

// A model for compile<>.
template <std::uint64_t Seed, bool Symbols = false, std::int64_t Most = 8> struct random_model {
  static constexpr void build(dnnkit::builder& b) {
    random_graph(b, Seed, {.least_operators = 2, .most_operators = Most, .symbols = Symbols}).build();
  }
};
