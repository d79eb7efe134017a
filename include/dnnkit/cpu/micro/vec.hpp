// SPDX-License-Identifier: MIT
// vec<T, N>: N lanes of T in vector registers, on the compilers' vector types, with operators found by
// argument-dependent lookup.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/micro/config.hpp"
#include DNNKIT_INSTRUCTIONS

namespace dnnkit::cpu::inline DNNKIT_TARGET {

namespace detail {

template <int Bytes>
using signed_of = std::conditional_t<
    Bytes == 1, std::int8_t,
    std::conditional_t<Bytes == 2, std::int16_t, std::conditional_t<Bytes == 4, std::int32_t, std::int64_t>>>;

template <class T, int N> struct native_vector { using type [[gnu::vector_size(sizeof(T) * N)]] = T; };

// A list of N copies, which both compilers turn into one broadcasting load. `native{} + x` is not that: zero plus x
// differs from x for x = -0, so an addition and a shuffle remain, and both compete with the multiply-adds for their
// ports.
template <class Native, class T, std::size_t... I>
[[gnu::always_inline]] constexpr Native broadcast(T x, std::index_sequence<I...>) noexcept {
  return Native{((void)I, x)...};
}

// f over all lanes, halves onto halves: f(low half, high half) until one lane is left.
template <int N, class Native, class F> [[gnu::always_inline]] inline auto fold(Native a, F f) noexcept {
  if constexpr (N == 1) {
    return a[0];
  } else if constexpr (N == 2) {
    return f(a[0], a[1]);
  } else {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return fold<N / 2>(f(__builtin_shufflevector(a, a, I...), __builtin_shufflevector(a, a, (I + N / 2)...)), f);
    }
    (std::make_integer_sequence<int, N / 2>());
  }
}

template <class F>
concept has_minimum = requires(F f) {
  isa::minimum(f, f);
};
template <class F>
concept has_store_whole = requires(float* p, F f) {
  isa::store_whole(p, f);
};
template <class F>
concept has_load_first = requires(const float* p, F f) {
  isa::load_first(p, 1, f);
};

}  // namespace detail

// T is float, double or an integer, of which operations wrap around. A comparison yields a mask: lanes of all ones
// (true) or zero, of the integer as wide as T.
template <class T, int N> struct vec {
  using value_type = T;
  using native = typename detail::native_vector<T, N>::type;
  using mask = vec<detail::signed_of<sizeof(T)>, N>;
  static constexpr int lanes = N;

  native v;

  vec() = default;
  [[gnu::always_inline]] constexpr vec(native x) noexcept : v(x) {}
  [[gnu::always_inline]] constexpr vec(T x) noexcept : v(broadcast(x)) {}

  [[gnu::always_inline]] static constexpr native broadcast(T x) noexcept {
    return detail::broadcast<native>(x, std::make_index_sequence<N>());
  }

  // N values from p, which needs no alignment beyond that of T.
  [[gnu::always_inline]] static vec load(const T* p) noexcept {
    vec r;
    std::memcpy(&r.v, p, sizeof(native));
    return r;
  }
  [[gnu::always_inline]] void store(T* p) const noexcept {
    if constexpr (std::is_same_v<T, float> && detail::has_store_whole<native>) isa::store_whole(p, v);
    else std::memcpy(p, &v, sizeof(native));
  }

  // All of them, where the number is a constant.
  using whole = std::integral_constant<std::ptrdiff_t, N>;
  [[gnu::always_inline]] static vec load(const T* p, whole) noexcept { return load(p); }
  [[gnu::always_inline]] void store(T* p, whole) const noexcept { store(p); }

  // The first n values (0 <= n <= N); the other lanes are zero, and memory past p[n - 1] is not touched.
  [[gnu::always_inline]] static vec load(const T* p, std::ptrdiff_t n) noexcept {
    if constexpr (std::is_same_v<T, float> && detail::has_load_first<native>) {
      return native(isa::load_first(p, static_cast<int>(n), native{}));
    } else if constexpr (sizeof(T) == 1) {
      T x[N]{};
      std::memcpy(x, p, static_cast<std::size_t>(n));
      return load(x);
    } else {
      vec r{native{}};
      for (int i = 0; i < N; ++i)
        if (i < n) r.v[i] = p[i];
      return r;
    }
  }
  [[gnu::always_inline]] void store(T* p, std::ptrdiff_t n) const noexcept {
    if constexpr (std::is_same_v<T, float> && detail::has_load_first<native>) {
      isa::store_first(p, v, static_cast<int>(n));
    } else if constexpr (sizeof(T) == 1) {
      std::memcpy(p, &v, static_cast<std::size_t>(n));
    } else {
      for (int i = 0; i < N; ++i)
        if (i < n) p[i] = v[i];
    }
  }

  // Lane i is p[i * stride], for the first n lanes; the others are zero.
  [[gnu::always_inline]] static vec gather(const T* p, std::ptrdiff_t stride, std::ptrdiff_t n = N) noexcept {
    if (sizeof(T) == 4 && __builtin_constant_p(stride == 2 && n == N) && stride == 2 && n == N) return every_other(p);
    vec r{native{}};
    for (int i = 0; i < N; ++i)
      if (i < n) r.v[i] = p[i * stride];
    return r;
  }
  [[gnu::always_inline]] void scatter(T* p, std::ptrdiff_t stride, std::ptrdiff_t n = N) const noexcept {
    for (int i = 0; i < N; ++i)
      if (i < n) p[i * stride] = v[i];
  }

  // Lane i is p[2 * i]; nothing behind the last of them is read.
  [[gnu::always_inline]] static vec every_other(const T* p) noexcept {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return vec(native(__builtin_shufflevector(load(p).v, load(p + N - 1).v, (2 * I < N ? 2 * I : 2 * I + 1)...)));
    }
    (std::make_integer_sequence<int, N>());
  }

  // Lane i is first + i.
  [[gnu::always_inline]] static vec iota(T first = T(0)) noexcept {
    vec r;
    for (int i = 0; i < N; ++i) r.v[i] = static_cast<T>(first + static_cast<T>(i));
    return r;
  }

  [[gnu::always_inline]] T operator[](int i) const noexcept { return v[i]; }
  [[gnu::always_inline]] void set(int i, T x) noexcept { v[i] = x; }

  [[gnu::always_inline]] friend vec operator+(vec a, vec b) noexcept { return native(wrapping(a.v) + wrapping(b.v)); }
  [[gnu::always_inline]] friend vec operator-(vec a, vec b) noexcept { return native(wrapping(a.v) - wrapping(b.v)); }
  [[gnu::always_inline]] friend vec operator*(vec a, vec b) noexcept { return native(wrapping(a.v) * wrapping(b.v)); }
  [[gnu::always_inline]] friend vec operator/(vec a, vec b) noexcept { return native(a.v / b.v); }
  [[gnu::always_inline]] friend vec operator-(vec a) noexcept { return native(-wrapping(a.v)); }
  [[gnu::always_inline]] vec& operator+=(vec b) noexcept { return *this = *this + b; }
  [[gnu::always_inline]] vec& operator-=(vec b) noexcept { return *this = *this - b; }
  [[gnu::always_inline]] vec& operator*=(vec b) noexcept { return *this = *this * b; }
  [[gnu::always_inline]] vec& operator/=(vec b) noexcept { return *this = *this / b; }

  // a * b + c, rounded once where the target has the instruction.
  [[gnu::always_inline]] friend vec fma(vec a, vec b, vec c) noexcept { return native(a.v * b.v + c.v); }

  [[gnu::always_inline]] friend mask operator<(vec a, vec b) noexcept { return to_mask(a.v < b.v); }
  [[gnu::always_inline]] friend mask operator<=(vec a, vec b) noexcept { return to_mask(a.v <= b.v); }
  [[gnu::always_inline]] friend mask operator>(vec a, vec b) noexcept { return to_mask(a.v > b.v); }
  [[gnu::always_inline]] friend mask operator>=(vec a, vec b) noexcept { return to_mask(a.v >= b.v); }
  [[gnu::always_inline]] friend mask operator==(vec a, vec b) noexcept { return to_mask(a.v == b.v); }
  [[gnu::always_inline]] friend mask operator!=(vec a, vec b) noexcept { return to_mask(a.v != b.v); }

  // Integers only; masks are integers.
  [[gnu::always_inline]] friend vec operator&(vec a, vec b) noexcept requires std::is_integral_v<T> {
    return native(a.v & b.v);
  }
  [[gnu::always_inline]] friend vec operator|(vec a, vec b) noexcept requires std::is_integral_v<T> {
    return native(a.v | b.v);
  }
  [[gnu::always_inline]] friend vec operator^(vec a, vec b) noexcept requires std::is_integral_v<T> {
    return native(a.v ^ b.v);
  }
  [[gnu::always_inline]] friend vec operator~(vec a) noexcept requires std::is_integral_v<T> { return native(~a.v); }
  [[gnu::always_inline]] friend vec operator<<(vec a, int n) noexcept requires std::is_integral_v<T> {
    return native(a.v << n);
  }
  [[gnu::always_inline]] friend vec operator>>(vec a, int n) noexcept requires std::is_integral_v<T> {
    return native(a.v >> n);
  }
  [[gnu::always_inline]] friend bool any(vec a) noexcept requires std::is_integral_v<T> {
    return detail::fold<N>(a.v, [](auto x, auto y) { return x | y; }) != 0;
  }
  [[gnu::always_inline]] friend bool all(vec a) noexcept requires std::is_integral_v<T> { return !any(a == vec(T(0))); }

  // Per lane: m ? a : b.
  [[gnu::always_inline]] friend vec select(mask m, vec a, vec b) noexcept { return native(m.v ? a.v : b.v); }

  // As std::min and std::max: the first argument when the two are unordered, so max(x, 0) keeps a NaN x.
  [[gnu::always_inline]] friend vec min(vec a, vec b) noexcept {
    if constexpr (std::is_same_v<T, float> && detail::has_minimum<native>) {
      return native(isa::minimum(a.v, b.v));
    } else {
      return select(b < a, b, a);
    }
  }
  [[gnu::always_inline]] friend vec max(vec a, vec b) noexcept {
    if constexpr (std::is_same_v<T, float> && detail::has_minimum<native>) {
      return native(isa::maximum(a.v, b.v));
    } else {
      return select(a < b, b, a);
    }
  }
  [[gnu::always_inline]] friend vec abs(vec a) noexcept {
    if constexpr (std::is_integral_v<T>) {
      return select(a < vec(T(0)), -a, a);
    } else {
      return bit_cast<vec>(bit_cast<mask>(a) & mask(static_cast<typename mask::value_type>(~sign_bit)));
    }
  }

  // Sums, largest and smallest of all lanes, in a fixed order (halves onto halves).
  [[gnu::always_inline]] friend T reduce_add(vec a) noexcept {
    return detail::fold<N>(a.v, [](auto x, auto y) { return x + y; });
  }
  [[gnu::always_inline]] friend T reduce_max(vec a) noexcept {
    return detail::fold<N>(a.v, [](auto x, auto y) { return x < y ? y : x; });
  }
  [[gnu::always_inline]] friend T reduce_min(vec a) noexcept {
    return detail::fold<N>(a.v, [](auto x, auto y) { return y < x ? y : x; });
  }

  // Lane i is lane (i + K) % N of a.
  template <int K> [[gnu::always_inline]] friend vec rotate(vec a) noexcept {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return vec(native(__builtin_shufflevector(a.v, a.v, ((I + K) % N)...)));
    }
    (std::make_integer_sequence<int, N>());
  }

  // Lane i is lane i ^ K of a, K a power of two less than N.
  template <int K> [[gnu::always_inline]] friend vec swap_lanes(vec a) noexcept {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return vec(native(__builtin_shufflevector(a.v, a.v, (I ^ K)...)));
    }
    (std::make_integer_sequence<int, N>());
  }

  // The same bits as another vec of the same size.
  template <class To> [[gnu::always_inline]] friend To bit_cast(vec a) noexcept {
    static_assert(sizeof(To) == sizeof(vec));
    To r;
    std::memcpy(&r, &a, sizeof(r));
    return r;
  }

 private:
  // Integers as unsigned ones, whose overflow is defined; anything else as it is.
  [[gnu::always_inline]] static constexpr auto wrapping(native x) noexcept {
    if constexpr (std::is_integral_v<T>) {
      return typename detail::native_vector<std::make_unsigned_t<T>, N>::type(x);
    } else {
      return x;
    }
  }
  static constexpr auto sign_bit =
      static_cast<std::make_unsigned_t<typename std::conditional_t<
          std::is_integral_v<T>, std::type_identity<T>, std::type_identity<detail::signed_of<sizeof(T)>>>::type>>(1)
      << (8 * sizeof(T) - 1);

  template <class Compared> [[gnu::always_inline]] static mask to_mask(Compared c) noexcept {
    mask r;
    std::memcpy(&r.v, &c, sizeof(r.v));
    return r;
  }
};

// Lanes converted by value; float to integer truncates towards zero and must be in range.
template <class To, class From, int N> [[gnu::always_inline]] inline vec<To, N> convert(vec<From, N> a) noexcept {
  return typename vec<To, N>::native(__builtin_convertvector(a.v, typename vec<To, N>::native));
}

// The first half of a vector's lanes, the second, and both in one.
template <class T, int N> [[gnu::always_inline]] inline vec<T, N / 2> low_of(vec<T, N> x) noexcept {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return vec<T, N / 2>(__builtin_shufflevector(x.v, x.v, I...));
  }
  (std::make_integer_sequence<int, N / 2>());
}
template <class T, int N> [[gnu::always_inline]] inline vec<T, N / 2> high_of(vec<T, N> x) noexcept {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return vec<T, N / 2>(__builtin_shufflevector(x.v, x.v, (I + N / 2)...));
  }
  (std::make_integer_sequence<int, N / 2>());
}
template <class T, int N> [[gnu::always_inline]] inline vec<T, 2 * N> joined(vec<T, N> low, vec<T, N> high) noexcept {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return vec<T, 2 * N>(__builtin_shufflevector(low.v, high.v, I...));
  }
  (std::make_integer_sequence<int, 2 * N>());
}

// The lanes of even number of a, then those of b.
template <class T, int N> [[gnu::always_inline]] inline vec<T, N> even_lanes(vec<T, N> a, vec<T, N> b) noexcept {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return vec<T, N>(__builtin_shufflevector(a.v, b.v, (2 * I)...));
  }
  (std::make_integer_sequence<int, N>());
}

// N elements of another type from p as lanes, or the first n of them, the other lanes being zero; and lanes as elements
// of another type, of which they keep the lowest bits.
template <class Vec, class T> [[gnu::always_inline]] inline Vec load_as(const T* p) noexcept {
  if constexpr (requires(typename Vec::native v) { v = isa::lanes_of_bytes(p, v); }) {
    return typename Vec::native(isa::lanes_of_bytes(p, typename Vec::native{}));
  } else {
    typename detail::native_vector<T, Vec::lanes>::type x;
    std::memcpy(&x, p, sizeof(x));
    return typename Vec::native(__builtin_convertvector(x, typename Vec::native));
  }
}
template <class Vec, class T> [[gnu::always_inline]] inline Vec load_as(const T* p, std::ptrdiff_t n) noexcept {
  T x[Vec::lanes]{};
  for (int i = 0; i < Vec::lanes; ++i)
    if (i < n) x[i] = p[i];
  return load_as<Vec>(x);
}
template <class T, class From, int N> [[gnu::always_inline]] inline void store_as(vec<From, N> v, T* p) noexcept {
  constexpr bool bytes = sizeof(T) == 1 && sizeof(From) == 4;
  if constexpr (bytes && requires(std::uint8_t * to) { isa::low_bytes(v.v, to); }) {
    isa::low_bytes(v.v, reinterpret_cast<std::uint8_t*>(p));
  } else {
    const auto x = __builtin_convertvector(v.v, typename detail::native_vector<T, N>::type);
    std::memcpy(p, &x, sizeof(x));
  }
}
template <class T, class From, int N>
[[gnu::always_inline]] inline void store_as(vec<From, N> v, T* p, std::ptrdiff_t n) noexcept {
  T x[N];
  store_as(v, x);
  for (int i = 0; i < N; ++i)
    if (i < n) p[i] = x[i];
}

using float_vec = vec<float, float_lanes>;

// Operators of these names are objects in the enclosing namespace; functions here keep them from hiding those of vec.
using std::abs;
using std::max;
using std::min;
void reduce_max();
void reduce_min();

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
