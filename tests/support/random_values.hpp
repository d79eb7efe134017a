// SPDX-License-Identifier: MIT
// What random graphs are made from: the values there are so far, inputs, weights and what is computed from weights.
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
  bool symbols = false;   // some extents of inputs are symbols
  bool branches = false;  // some values are computed by one of two branches, which an input chooses
  bool chains = false;    // convolutions and pools read what others have just computed
  bool idioms = false;    // what passes are made for occurs (tests/support/random_idioms.hpp)
};

class random_values {
 protected:
  constexpr random_values(dnnkit::builder& b, random_source choices, random_options options)
      : b_(b), r_(choices), options_(options) {}

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

  constexpr entry any_type(std::size_t least_rank = 0, std::size_t most_rank = 5) {
    const entry e = any(r_.chance(85)   ? dnnkit::f32
                        : r_.chance(60) ? dnnkit::i64
                                        : dnnkit::boolean,
                        least_rank, most_rank);
    return e.t.present() ? e : any(dnnkit::f32, least_rank, most_rank);
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

  dnnkit::builder& b_;
  random_source r_;
  random_options options_;
  entry known_[64] = {};
  std::size_t count_ = 0;
  std::int64_t weights_ = 0;
};
