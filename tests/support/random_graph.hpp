// SPDX-License-Identifier: MIT
// Random legal graphs over the library's operators, the same at run time (for the reference evaluator) and in constant
// expressions (for compile<>): the seed alone decides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/graph/walk.hpp"
#include "tests/support/random_idioms.hpp"
#include "tests/support/random_source.hpp"

class random_graph : random_idioms {
 public:
  constexpr random_graph(dnnkit::builder& b, std::uint64_t seed, random_options options = {})
      : random_graph(b, random_source(seed), options) {}
  constexpr random_graph(dnnkit::builder& b, random_source choices, random_options options = {})
      : random_idioms(b, choices, options) {}

  constexpr void build() {
    make_inputs();
    const auto wanted = static_cast<std::size_t>(r_.between(options_.least_operators, options_.most_operators));
    for (int tries = 0; nodes() < wanted && tries < 200; ++tries) {
      if (options_.branches && r_.chance(8)) branch();
      if (options_.chains && r_.chance(20)) chain();
      if (options_.idioms && r_.chance(30)) idiom();
      const std::size_t before = nodes();
      const auto family = r_.below(100);
      if (family < 14) unary();
      else if (family < 32) binary();
      else if (family < 37) choose();
      else if (family < 53) move();
      else if (family < 61) sample();
      else if (family < 73) convolve(any(dnnkit::f32, 3, 5));
      else if (family < 78) pool(any(dnnkit::f32, 3, 5));
      else if (family < 86) multiply();
      else if (family < 91) reduce();
      else if (family < 98) normalise();
      else integers();
      if (nodes() == before) continue;
    }
    make_outputs();
  }
  // Nothing but convolutions and pools, one behind the other.
  constexpr void build_chain() {
    const std::int64_t channels = r_.pick({1, 3, 4, 8, 16, 17, 24});
    shape s{r_.chance(50) ? dnnkit::dim(1) : extent(1, 3), channels, extent(7, 19), extent(7, 19)};
    if (r_.chance(15)) s.push_back(r_.between(3, 6));
    input(s);
    chain();
    make_outputs();
  }

  // Nothing but branches that are joined.
  constexpr void build_joined() {
    const std::int64_t channels = r_.pick({3, 16});
    input({r_.between(1, 2), channels, extent(4, 9), extent(4, 9)});
    joined_branches();
    make_outputs();
  }

 private:
  // What an imported If becomes: two ways from what there is, of which one is taken, as an input says or the number of
  // elements, which may be known.
  constexpr void branch() {
    const entry e = any(dnnkit::f32, 1);
    if (!e.t.present()) return;
    const auto size = [&] { return dnnkit::reduce_prod(dnnkit::shape_of(e.t), {.axes = {0}}); };
    const tensor condition = r_.chance(60)
                                 ? input({1}, dnnkit::boolean)
                                 : dnnkit::greater(size(), b_.scalar(r_.pick({4.0, 40.0, 400.0}), dnnkit::i64));
    tensor taken = dnnkit::relu(e.t), other = dnnkit::neg(e.t);
    if (r_.chance(50)) taken = dnnkit::softmax(taken);
    if (r_.chance(50)) other = dnnkit::tanh(other) + e.t;
    add(dnnkit::combine(condition, taken, other));
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
};

// Models for compile<>.
template <std::uint64_t Seed, bool Symbols = false, std::int64_t Most = 8> struct random_model {
  static constexpr void build(dnnkit::builder& b) {
    random_graph(b, Seed, {.least_operators = 2, .most_operators = Most, .symbols = Symbols}).build();
  }
};
template <std::uint64_t Seed> struct random_chain {
  static constexpr void build(dnnkit::builder& b) { random_graph(b, Seed, {.symbols = Seed % 2 == 1}).build_chain(); }
};
template <std::uint64_t Seed> struct random_joined {
  static constexpr void build(dnnkit::builder& b) { random_graph(b, Seed, {.symbols = Seed % 3 == 1}).build_joined(); }
};
