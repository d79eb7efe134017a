// SPDX-License-Identifier: MIT
// wide<T, N>: N lanes of 64-bit numbers, as many as a vector has of 32-bit ones, in two vectors; with the operators and
// functions of vec. Truth values beside them are masks of 32-bit lanes, as those of all other types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "dnnkit/cpu/micro/vec.hpp"
#include "dnnkit/cpu/micro/vector_scalar.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// T is int64_t or double; N is even. Integers wrap around.
template <class T, int N> struct wide {
  using value_type = T;
  using half = vec<T, N / 2>;
  using mask = vec<std::int32_t, N>;
  static constexpr int lanes = N;

  half low, high;

  wide() = default;
  [[gnu::always_inline]] constexpr wide(half a, half b) noexcept : low(a), high(b) {}
  [[gnu::always_inline]] constexpr wide(T x) noexcept : low(x), high(x) {}

  // N values from p, or the first n of them, the other lanes being zero; and to p.
  [[gnu::always_inline]] static wide load(const T* p) noexcept { return {half::load(p), half::load(p + N / 2)}; }
  [[gnu::always_inline]] void store(T* p) const noexcept {
    low.store(p);
    high.store(p + N / 2);
  }
  using whole = std::integral_constant<std::ptrdiff_t, N>;
  [[gnu::always_inline]] static wide load(const T* p, whole) noexcept { return load(p); }
  [[gnu::always_inline]] void store(T* p, whole) const noexcept { store(p); }
  [[gnu::always_inline]] static wide load(const T* p, std::ptrdiff_t n) noexcept {
    T x[N]{};
    for (int i = 0; i < N; ++i)
      if (i < n) x[i] = p[i];
    return load(x);
  }
  [[gnu::always_inline]] void store(T* p, std::ptrdiff_t n) const noexcept {
    T x[N];
    store(x);
    for (int i = 0; i < N; ++i)
      if (i < n) p[i] = x[i];
  }

  [[gnu::always_inline]] T operator[](int i) const noexcept { return i < N / 2 ? low[i] : high[i - N / 2]; }
  [[gnu::always_inline]] void set(int i, T x) noexcept {
    if (i < N / 2) low.set(i, x);
    else high.set(i - N / 2, x);
  }

  [[gnu::always_inline]] friend wide operator+(wide a, wide b) noexcept { return {a.low + b.low, a.high + b.high}; }
  [[gnu::always_inline]] friend wide operator-(wide a, wide b) noexcept { return {a.low - b.low, a.high - b.high}; }
  [[gnu::always_inline]] friend wide operator*(wide a, wide b) noexcept { return {a.low * b.low, a.high * b.high}; }
  [[gnu::always_inline]] friend wide operator/(wide a, wide b) noexcept { return {a.low / b.low, a.high / b.high}; }
  [[gnu::always_inline]] friend wide operator-(wide a) noexcept { return {-a.low, -a.high}; }

  [[gnu::always_inline]] friend mask operator<(wide a, wide b) noexcept { return of(a.low < b.low, a.high < b.high); }
  [[gnu::always_inline]] friend mask operator<=(wide a, wide b) noexcept {
    return of(a.low <= b.low, a.high <= b.high);
  }
  [[gnu::always_inline]] friend mask operator>(wide a, wide b) noexcept { return of(a.low > b.low, a.high > b.high); }
  [[gnu::always_inline]] friend mask operator>=(wide a, wide b) noexcept {
    return of(a.low >= b.low, a.high >= b.high);
  }
  [[gnu::always_inline]] friend mask operator==(wide a, wide b) noexcept {
    return of(a.low == b.low, a.high == b.high);
  }
  [[gnu::always_inline]] friend mask operator!=(wide a, wide b) noexcept {
    return of(a.low != b.low, a.high != b.high);
  }

  // Per lane: m ? a : b.
  [[gnu::always_inline]] friend wide select(mask m, wide a, wide b) noexcept {
    return {select(convert<std::int64_t>(low_of(m)), a.low, b.low),
            select(convert<std::int64_t>(high_of(m)), a.high, b.high)};
  }
  [[gnu::always_inline]] friend wide abs(wide a) noexcept { return {abs(a.low), abs(a.high)}; }
  [[gnu::always_inline]] friend wide larger(wide a, wide b) noexcept {
    return {larger(a.low, b.low), larger(a.high, b.high)};
  }
  [[gnu::always_inline]] friend wide exp_of_nonpositive(wide a) noexcept {
    return {exp_of_nonpositive(a.low), exp_of_nonpositive(a.high)};
  }
  // NaN if either is.
  [[gnu::always_inline]] friend wide maximum(wide a, wide b) noexcept {
    return {maximum(a.low, b.low), maximum(a.high, b.high)};
  }
  [[gnu::always_inline]] friend wide minimum(wide a, wide b) noexcept {
    return {minimum(a.low, b.low), minimum(a.high, b.high)};
  }

 private:
  using half_mask = vec<std::int64_t, N / 2>;
  [[gnu::always_inline]] static mask of(half_mask a, half_mask b) noexcept {
    return joined(convert<std::int32_t>(a), convert<std::int32_t>(b));
  }
};

// The lanes of even number of a, then those of b.
template <class T, int N> [[gnu::always_inline]] inline wide<T, N> even_lanes(wide<T, N> a, wide<T, N> b) noexcept {
  return {even_lanes(a.low, a.high), even_lanes(b.low, b.high)};
}

// Lanes of 64 bits as such of 32, by value: integers keep their lowest bits, floats are rounded to the nearest; and the
// other way round. Floats become integers by integers_of.
template <class To, class From, int N> [[gnu::always_inline]] inline vec<To, N> narrowed(wide<From, N> x) noexcept {
  return joined(convert<To>(x.low), convert<To>(x.high));
}
template <class To, class From, int N> [[gnu::always_inline]] inline wide<To, N> widened(vec<From, N> x) noexcept {
  return {convert<To>(low_of(x)), convert<To>(high_of(x))};
}
// int64_t as double, and double as int64_t where it is in range.
template <class To, class From, int N> [[gnu::always_inline]] inline wide<To, N> convert(wide<From, N> x) noexcept {
  return {convert<To>(x.low), convert<To>(x.high)};
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
