// SPDX-License-Identifier: MIT
// Several consecutive elements of any type, as kernels compute with them: in vectors, or number by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dnnkit/core/element.hpp"
#include "dnnkit/cpu/lane_analysis.hpp"
#include "dnnkit/cpu/micro/small_float.hpp"
#include "dnnkit/cpu/micro/vector_scalar.hpp"
#include "dnnkit/cpu/micro/wide.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// As elements are stored, and as they are computed with.
template <dtype D> using element = type_of_dtype<D>;
template <dtype D> using computed = std::conditional_t<is_half(D), float, element<D>>;

// Numbers of a type that kernels keep in no vectors, one for each lane. Loops over them are what compilers make vectors
// of where the target has such.
template <class T, int N> struct scalars {
  using value_type = T;
  static constexpr int lanes = N;

  T v[N];

  scalars() = default;
  [[gnu::always_inline]] T operator[](int i) const { return v[i]; }
  [[gnu::always_inline]] void set(int i, T x) { v[i] = x; }
  [[gnu::always_inline]] static scalars load(const T* p) {
    scalars r;
    std::memcpy(r.v, p, sizeof(r.v));
    return r;
  }
  [[gnu::always_inline]] constexpr explicit scalars(T x) {
    for (int i = 0; i < N; ++i) v[i] = x;
  }
  [[gnu::always_inline]] void store(T* p, std::ptrdiff_t n = N) const {
    for (int i = 0; i < N; ++i)
      if (i < n) p[i] = v[i];
  }
};

// Lanes consecutive elements along one axis; Lanes == 1 is a plain number.
template <dtype D, int Lanes> struct lanes_of { using type = scalars<computed<D>, Lanes>; };
template <dtype D> struct lanes_of<D, 1> { using type = computed<D>; };
template <dtype D, int Lanes>
requires(Lanes > 1 && is_computed_in_f32(D)) struct lanes_of<D, Lanes> {
  using type = vec<float, Lanes>;
};
template <dtype D, int Lanes>
requires(Lanes > 1 && (has_integer_lanes(D) || D == dtype::boolean)) struct lanes_of<D, Lanes> {
  // As many as there are bytes in a vector: of a tree in which nothing is wider (cpu/lane_analysis.hpp).
  using byte = std::conditional_t<D == dtype::boolean, std::int8_t, element<D>>;
  using type = vec<std::conditional_t<Lanes == byte_lanes, byte, std::int32_t>, Lanes>;
};
template <dtype D, int Lanes>
requires(Lanes > 1 && is_wide(D)) struct lanes_of<D, Lanes> {
  using type = wide<element<D>, Lanes>;
};
template <dtype D, int Lanes> using lanes = typename lanes_of<D, Lanes>::type;

// x as an element, or vector of elements, of another type. Numbers that are no 64-bit integer (signed, unless the type
// is u64 and the number positive) become the nearest one, and NaN 0; the truth value of a mask is 1.
template <class To, class From> [[gnu::always_inline]] constexpr To converted(From x) {
  if constexpr (std::is_same_v<To, From>) return x;
  else if constexpr (!std::is_arithmetic_v<From>) {
    if constexpr (std::is_floating_point_v<typename To::value_type>) return select(x, To(1), To(0));
    else return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    constexpr From beyond = From(0x1p63);
    if (x != x) return To(0);
    if constexpr (std::is_same_v<To, std::uint64_t>)
      if (x >= beyond) return x < From(0x1p64) ? static_cast<To>(x) : ~To(0);
    return static_cast<To>(x >= beyond    ? std::numeric_limits<std::int64_t>::max()
                           : x <= -beyond ? std::numeric_limits<std::int64_t>::min()
                                          : static_cast<std::int64_t>(x));
  } else return static_cast<To>(x);
}

// Floats as the integers that they are without their fraction, of which To keeps the lowest bits: outside 64 bits those
// of the nearest number of 64, and 0 for NaN. Few are outside 32 bits: with one that is, lanes are converted one by
// one.
template <class To, class T> [[gnu::noinline]] inline void integers_one_by_one(const T& x, To* to) {
  for (int i = 0; i < T::lanes; ++i) to[i] = static_cast<To>(converted<std::int64_t>(x[i]));
}
template <class To, class T> [[gnu::always_inline]] inline auto integers_of(T x) {
  constexpr bool to_wide = sizeof(To) == 8;
  using result = std::conditional_t<to_wide, wide<std::int64_t, T::lanes>, vec<std::int32_t, T::lanes>>;
  if (all((x < T(0x1p31f)) & (x > T(-0x1p31f)))) {
    const auto small = [&] {
      if constexpr (sizeof(typename T::value_type) == 8) return narrowed<std::int32_t>(x);
      else return convert<std::int32_t>(x);
    }();
    if constexpr (to_wide) return widened<std::int64_t>(small);
    else return small;
  }
  To each[T::lanes];
  integers_one_by_one(x, each);
  return result::load(each);
}

// Lanes of elements of type From as lanes of type To, which as_stored() may still have to make fit. Of floats that
// become bytes, those outside 32 bits have lowest bits of zero, but for those above all numbers of 64. Bounded ones are
// known to lie within 32 bits, if they are numbers; what is none becomes one whose lowest bits are zero.
template <dtype To, dtype From, bool Bounded = false, class T> [[gnu::always_inline]] inline auto converted_lanes(T x) {
  constexpr bool from_integers = From == dtype::i64 || has_integer_lanes(From);
  if constexpr (To == From || (is_computed_in_f32(To) && is_computed_in_f32(From))) {
    return x;
  } else if constexpr (To == dtype::boolean) {
    return x != T(0);
  } else if constexpr (From == dtype::boolean) {
    if constexpr (is_computed_in_f32(To)) return select(x, vec<float, T::lanes>(1), vec<float, T::lanes>(0));
    else if constexpr (is_wide(To)) return widened<element<To>>(x & T(1));
    else return x & T(1);
  } else if constexpr (is_wide(To) && is_wide(From)) {
    if constexpr (To == dtype::f64) return convert<double>(x);
    else return integers_of<std::int64_t>(x);
  } else if constexpr (is_wide(From)) {
    if constexpr (is_computed_in_f32(To)) return narrowed<float>(x);
    else if constexpr (from_integers) return narrowed<std::int32_t>(x);
    else return integers_of<std::int32_t>(x);
  } else if constexpr (is_wide(To)) {
    if constexpr (To == dtype::f64 || from_integers) return widened<element<To>>(x);
    else return integers_of<std::int64_t>(x);
  } else if constexpr (is_computed_in_f32(To)) {
    return convert<float>(x);
  } else if constexpr (is_computed_in_f32(From)) {
    using integers = vec<std::int32_t, T::lanes>;
    if constexpr (Bounded) return convert<std::int32_t>(x);
    else if constexpr (!is_byte(To)) return integers_of<std::int32_t>(x);
    const auto fits = (x < T(0x1p31f)) & (x > T(-0x1p31f));
    return select(fits, convert<std::int32_t>(select(fits, x, T(0))), integers(x >= T(0x1p63f)));
  } else {
    return x;
  }
}

// A truth value in all lanes of a mask.
template <class Mask> [[gnu::always_inline]] constexpr Mask mask_of(bool x) {
  return Mask(static_cast<typename Mask::value_type>(x ? -1 : 0));
}

// x as an element of type D keeps it.
template <dtype D, class T> [[gnu::always_inline]] constexpr T as_stored(T x) {
  if constexpr (std::is_same_v<T, computed<D>> && !std::is_same_v<T, element<D>>) return static_cast<T>(element<D>(x));
  else if constexpr (std::is_arithmetic_v<T>) return x;
  else if constexpr (is_half(D)) return rounded_to<element<D>>(x);
  else if constexpr (sizeof(typename T::value_type) == size_of(D)) return x;
  else if constexpr (D == dtype::u8) return x & T(255);
  else if constexpr (D == dtype::i8) return (x << 24) >> 24;
  else return x;
}

// Lanes one by one, for elements of type D: those of 16 bits converted all at once.
template <dtype D, class T> [[gnu::always_inline]] inline auto as_elements(const T& x) {
  if constexpr (is_half(D)) {
    scalars<element<D>, T::lanes> all;
    store_as(x, all.v);
    return all;
  } else return x;
}

// Lane i of elements of type D, as an operator's definition takes them; and lanes of such.
template <dtype D, class Lanes> [[gnu::always_inline]] constexpr computed<D> lane_of(const Lanes& x, int i) {
  if constexpr (std::is_arithmetic_v<Lanes>) return x;
  else if constexpr (D == dtype::boolean) return x[i] != 0;
  else return static_cast<computed<D>>(x[i]);
}
template <dtype D, int Lanes> [[gnu::always_inline]] inline lanes<D, Lanes> lanes_from(const auto& of_lane) {
  using vector = lanes<D, Lanes>;
  typename vector::value_type all[Lanes];
  for (int i = 0; i < Lanes; ++i) {
    if constexpr (D == dtype::boolean) all[i] = of_lane(i) ? -1 : 0;
    else all[i] = of_lane(i);
  }
  return vector::load(all);
}
// What an anchor has computed, as elements of its type.
template <dtype D, class T> [[gnu::always_inline]] inline auto as_anchor(const T& x) {
  if constexpr (std::is_arithmetic_v<T> || has_lanes(D)) return as_stored<D>(x);
  else return lanes_from<D, T::lanes>([&](int i) { return as_stored<D>(static_cast<computed<D>>(x[i])); });
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
