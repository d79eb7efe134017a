// SPDX-License-Identifier: MIT
// The list of operators: each is listed once, has ONNX's name, and has cases with results from elsewhere. What is
// computed an element at a time is a constant expression, for any number whose functions are such.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "dnnkit/graph/builder.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

template <class Set> struct names_of;
template <class... Ops> struct names_of<op_set<Ops...>> {
  static std::set<std::string> all() { return {std::string(Ops::name)...}; }
};

struct mine {
  static constexpr std::string_view name = "Mine";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  template <class T> static constexpr T apply(T x) { return x; }
};
static_assert(info_of<mine>.name == "Mine" && info_of<mine>.kind == form::elementwise);
constexpr auto more = builtin_ops + op_set<mine>{};
static_assert(builtin_set::find(id_of<mine>) == builtin_set::size);
static_assert(more.find(id_of<mine>) == builtin_set::size);
static_assert(more.distinct && !decltype(more + op_set<mine>{})::distinct);
static_assert(std::is_same_v<decltype(more)::at<builtin_set::size>, mine>);
static_assert(builtin_set::find(id_of<builtin_set::at<7>>) == 7);

struct constant_mask {
  bool x = false;
  friend constexpr constant_mask operator&(constant_mask a, constant_mask b) { return {a.x && b.x}; }
  friend constexpr constant_mask operator|(constant_mask a, constant_mask b) { return {a.x || b.x}; }
};

// A number as operators see one that is not arithmetic: its operators and functions are found by its type alone. What
// they give does not matter here.
struct constant_number {
  using value_type = float;
  float x = 0;

  constexpr constant_number() = default;
  template <number T> constexpr explicit constant_number(T v) : x(static_cast<float>(v)) {}

  using self = constant_number;
  friend constexpr self operator+(self a, self b) { return self(a.x + b.x); }
  friend constexpr self operator-(self a, self b) { return self(a.x - b.x); }
  friend constexpr self operator*(self a, self b) { return self(a.x * b.x); }
  friend constexpr self operator/(self a, self b) { return self(b.x == 0 ? a.x : a.x / b.x); }
  friend constexpr self operator-(self a) { return self(-a.x); }
  friend constexpr constant_mask operator==(self a, self b) { return {a.x == b.x}; }
  friend constexpr constant_mask operator!=(self a, self b) { return {a.x != b.x}; }
  friend constexpr constant_mask operator<(self a, self b) { return {a.x < b.x}; }
  friend constexpr constant_mask operator>(self a, self b) { return {a.x > b.x}; }
  friend constexpr constant_mask operator<=(self a, self b) { return {a.x <= b.x}; }
  friend constexpr constant_mask operator>=(self a, self b) { return {a.x >= b.x}; }
  friend constexpr self select(constant_mask condition, self a, self b) { return condition.x ? a : b; }
  friend constexpr self minimum(self a, self b) { return a.x < b.x ? a : b; }
  friend constexpr self maximum(self a, self b) { return a.x < b.x ? b : a; }
  friend constexpr self larger(self a, self b) { return a.x < b.x ? b : a; }
};
#define FUNCTION(name) \
  constexpr constant_number name(constant_number a) { return a; }
FUNCTION(abs)
FUNCTION(floor)
FUNCTION(ceil)
FUNCTION(nearbyint)
FUNCTION(exp)
FUNCTION(exp_of_nonpositive)
FUNCTION(log)
FUNCTION(sqrt)
FUNCTION(reciprocal_sqrt)
FUNCTION(erf)
FUNCTION(sigmoid)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tan)
FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(tanh)
FUNCTION(asinh)
FUNCTION(acosh)
FUNCTION(atanh)
#undef FUNCTION
constexpr constant_number pow(constant_number a, constant_number) { return a; }
constexpr constant_number fmod(constant_number a, constant_number) { return a; }

// A type of the elements that Op takes.
template <class Op>
using sample = std::conditional_t<has(accepts<Op>, element_kinds::floating), constant_number,
                                  std::conditional_t<has(accepts<Op>, element_kinds::integral), std::int64_t, bool>>;

template <class Op, std::size_t... I> constexpr auto applied(std::index_sequence<I...>) {
  const auto x = [](auto i) {
    if constexpr (element_of<Op>(i) == element::logical) return constant_mask{true};
    else return sample<Op>(i + 2);
  };
  return Op{}.apply(x(pass<I>{})...);
}
template <class Op> constexpr auto folded() {
  using T = sample<Op>;
  statistics<T, Op::passes> s{};
  const Op op{};
  [&]<std::size_t... P>(std::index_sequence<P...>) {
    const auto fold = [&](auto p) {
      const T start = op.template start<T>(p), one = op.template accumulate<T>(p, start, T(3), s);
      s[p] = op.template close<T>(p, op.template merge<T>(p, one, start), T(2), s);
    };
    (fold(pass<P>{}), ...);
  }
  (std::make_index_sequence<Op::passes>());
  if constexpr (Op::kind == form::row) return op.template finish<T>(T(2), s);
  else return s;
}

// Whether what Op computes of elements is a constant expression; an operator that computes none has nothing to be.
template <class Op> constexpr bool is_constant() {
  if constexpr (Op::kind == form::elementwise && !is_variadic<Op>) {
    [[maybe_unused]] constexpr auto y = applied<Op>(std::make_index_sequence<most_inputs<Op>()>{});
  } else if constexpr (Op::kind == form::reduction || Op::kind == form::row) {
    [[maybe_unused]] constexpr auto y = folded<Op>();
  }
  return true;
}
template <class... Ops> constexpr bool all_constant(op_set<Ops...>) { return (is_constant<Ops>() && ...); }
static_assert(all_constant(builtin_ops));

TEST_CASE("every operator is listed once and has cases") {
  const std::set<std::string> names = names_of<builtin_set>::all();
  CHECK(names.size() == builtin_set::size);
  std::set<std::string> with_cases = operator_cases::names_in_all_families();
  // Nobody else has the numbers of our generators (tests/op/random.cpp), what assumes (tests/op/assume_shape.cpp), or
  // what passes make of Pad (tests/op/pad.cpp).
  for (const char* own : {"RandomUniform", "RandomNormal", "AssumeShape", "RepeatedBorder"}) {
    CHECK(!with_cases.contains(own));
    with_cases.insert(own);
  }
  CHECK(names == with_cases);
}

}  // namespace
