// SPDX-License-Identifier: MIT
// The laws that element-wise operators declare: both sides are computed, and no law that holds is left out.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/op/builtin.hpp"

namespace dk = dnnkit;

namespace {

// Numbers whose sums and products floating-point types hold exactly, and those that are special.
template <class T> std::vector<T> domain() {
  if constexpr (std::same_as<T, bool>) return {false, true};
  else if constexpr (std::floating_point<T>) {
    const T infinity = std::numeric_limits<T>::infinity();
    return {std::numeric_limits<T>::quiet_NaN(),
            -infinity,
            -3,
            -2,
            T(-1.5),
            -1,
            T(-0.5),
            T(-0.0),
            0,
            T(0.5),
            1,
            2,
            3,
            infinity};
  } else {
    std::vector<T> all;
    for (int i = 0; i < 12; ++i) all.push_back(static_cast<T>(i));
    for (const T x : {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()}) all.push_back(x);
    if constexpr (std::is_signed_v<T>)
      for (int i = 1; i < 6; ++i) all.push_back(static_cast<T>(-i));
    return all;
  }
}
template <class T> bool is_same(T a, T b) { return a == b || (a != a && b != b); }

template <class Op, class T>
concept unary_on = requires(Op f, T x) {
  { f.apply(x) } -> std::same_as<T>;
};
template <class Op, class T>
concept binary_on = requires(Op f, T x) {
  f.apply(x, x);
};
template <class Op, class T>
concept closed_on = requires(Op f, T x) {
  { f.apply(x, x) } -> std::same_as<T>;
};

// The laws that hold for all elements of this type.
template <class Op, class T> unsigned laws_on(const Op& f) {
  unsigned found = 0;
  const auto holds = [&](dk::algebra law, auto check) {
    if (check()) found |= static_cast<unsigned>(law);
  };
  if constexpr (unary_on<Op, T>)
    holds(dk::algebra::projection, [&] {
      for (const T x : domain<T>())
        if (!is_same(f.apply(f.apply(x)), f.apply(x))) return false;
      return true;
    });
  if constexpr (binary_on<Op, T>)
    holds(dk::algebra::commutative, [&] {
      for (const T a : domain<T>())
        for (const T b : domain<T>())
          if (!is_same(f.apply(a, b), f.apply(b, a))) return false;
      return true;
    });
  if constexpr (closed_on<Op, T>) {
    holds(dk::algebra::idempotent, [&] {
      for (const T a : domain<T>())
        if (!is_same(f.apply(a, a), a)) return false;
      return true;
    });
    holds(dk::algebra::associative, [&] {
      for (const T a : domain<T>())
        for (const T b : domain<T>())
          for (const T c : domain<T>())
            if (!is_same(f.apply(f.apply(a, b), c), f.apply(a, f.apply(b, c)))) return false;
      return true;
    });
  }
  return found;
}

// Those that hold for all types that the operator takes.
template <class Op> unsigned laws_of(const Op& f) {
  unsigned found = ~0U;
  const dk::element_kinds takes = dk::accepts<Op>;
  if constexpr (has(dk::accepts<Op>, dk::element_kinds::floating)) found &= laws_on<Op, float>(f);
  if constexpr (has(dk::accepts<Op>, dk::element_kinds::integral)) {
    found &= laws_on<Op, std::int32_t>(f);
    found &= laws_on<Op, std::uint8_t>(f);
  }
  if constexpr (has(dk::accepts<Op>, dk::element_kinds::logical)) found &= laws_on<Op, bool>(f);
  CHECK(static_cast<unsigned>(takes) != 0);
  return found;
}

template <class Op> Op example() {
  if constexpr (std::same_as<Op, dk::op::clip>) return {.min = -1, .max = 2};
  else if constexpr (std::same_as<Op, dk::op::shrink>) return {.bias = 0.5F};
  else return {};
}

}  // namespace

TEST_CASE("operators declare the laws that hold of them, and no others") {
  std::size_t operators = 0, laws = 0;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto check = [&]<class Op>(std::type_identity<Op>) {
      if constexpr (Op::kind == dk::form::elementwise) {
        CAPTURE(Op::name);
        const auto declared = static_cast<unsigned>(Op::properties.laws);
        CHECK(laws_of(example<Op>()) == declared);
        ++operators;
        laws += declared != 0 ? 1 : 0;
      } else CHECK(Op::properties.laws == dk::algebra::none);
    };
    (check(std::type_identity<dk::builtin_set::at<I>>{}), ...);
  }
  (std::make_index_sequence<dk::builtin_set::size>{});
  CHECK(operators > 60);
  CHECK(laws > 15);
}
