// SPDX-License-Identifier: MIT
// A tensor of the reference evaluator: elements wider than their element type, and rounded to it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/error.hpp"

namespace dnnkit {

namespace detail {

// x rounded to `digits` binary digits, to nearest and ties to even; below 2^least the spacing stays that of 2^least,
// and from 2^beyond on the result is infinite.
inline double round_to_digits(double x, int digits, int least, int beyond) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);  // |x| in [2^(exponent-1), 2^exponent)
  const int spacing = (exponent - 1 < least ? least : exponent - 1) - (digits - 1);
  const double r = std::ldexp(std::nearbyint(std::ldexp(x, -spacing)), spacing);
  return std::fabs(r) >= std::ldexp(1.0, beyond) ? std::copysign(std::numeric_limits<double>::infinity(), x) : r;
}

}  // namespace detail

// The value a floating-point element type keeps of x.
inline double round_to(dtype type, double x) {
  switch (type) {
    case f32:
      return static_cast<double>(static_cast<float>(x));
    case f16:
      return detail::round_to_digits(x, 11, -14, 16);
    case bf16:
      return detail::round_to_digits(x, 8, -126, 128);
    default:
      return x;
  }
}

// The number nearest to x that an integer element type (or bool) holds; of u64, whose numbers are bits here, x.
constexpr std::int64_t nearest_to(dtype type, std::int64_t x) {
  if (wrap_to(type, x) == x) return x;
  const bool from_zero = wrap_to(type, -1) >= 0;
  const std::int64_t count = std::int64_t{1} << 8 * info(type).bytes;  // 32 bits at most, as others hold every x
  if (type == boolean) return 1;
  if (x < 0) return from_zero ? 0 : -(count / 2);
  return from_zero ? count - 1 : count / 2 - 1;
}

// x without its fraction; the nearest 64-bit integer outside their range, and 0 for NaN.
inline std::int64_t truncate(double x) {
  if (std::isnan(x)) return 0;
  if (x >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (x < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(x);
}

// Elements in row-major order: `reals` of floating-point types, `integers` of integer types and bool (0 or 1). All
// element types are held exactly, u64 by its bits.
struct host_tensor {
  dtype type = f32;
  std::vector<std::int64_t> dims;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;

  host_tensor() = default;
  // All zeros. Throws dnnkit::error for extents that no memory could hold, or that there is no memory for.
  host_tensor(dtype t, std::vector<std::int64_t> d) : type(t), dims(std::move(d)) {
    const std::size_t n = count();
    try {
      if (is_floating(type)) reals.resize(n);
      else integers.resize(n);
    } catch (const std::bad_alloc&) {
      throw error("not enough memory", describe(), std::to_string(n * sizeof(double)) + " bytes");
    }
  }
  host_tensor(std::vector<std::int64_t> d, std::vector<double> elements) : host_tensor(f32, std::move(d)) {
    fill(reals, elements);
    for (double& x : reals) x = round_to(f32, x);
  }
  static host_tensor of_integers(dtype type, std::vector<std::int64_t> d, const std::vector<std::int64_t>& elements) {
    host_tensor t(type, std::move(d));
    t.fill(t.integers, elements);
    for (std::int64_t& x : t.integers) x = wrap_to(type, x);
    return t;
  }

  // Number of elements; throws dnnkit::error when it, or an extent, is not one a memory could hold.
  std::size_t count() const {
    constexpr std::int64_t most = std::int64_t{1} << 48;
    std::int64_t n = 1;
    bool empty = false;
    for (std::int64_t d : dims) {
      if (d < 0 || d > most || (d > 0 && n > most / d)) throw error("shape is negative or too large", describe(dims));
      if (d == 0) empty = true;
      else n *= d;
    }
    return empty ? 0 : static_cast<std::size_t>(n);
  }
  static std::string describe(const std::vector<std::int64_t>& dims) {
    std::string s = "[";
    for (std::size_t i = 0; i < dims.size(); ++i) s += (i ? ", " : "") + std::to_string(dims[i]);
    return s + "]";
  }
  // "f32 [1, 3, 8, 8]"
  std::string describe() const { return std::string(name(type)) + " " + describe(dims); }
  bool floating() const { return is_floating(type); }

  // Element i as T (bool, an integer or a floating-point type).
  template <class T> T get(std::size_t i) const {
    if constexpr (std::is_same_v<T, bool>) return floating() ? reals[i] != 0 : integers[i] != 0;
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(floating()    ? reals[i]
                            : type == u64 ? static_cast<double>(static_cast<std::uint64_t>(integers[i]))
                                          : static_cast<double>(integers[i]));
    else return static_cast<T>(floating() ? truncate(reals[i]) : integers[i]);
  }
  // Element i becomes x, converted to the element type as ONNX's Cast does.
  template <class T> void set(std::size_t i, T x) {
    if constexpr (std::is_floating_point_v<T>) {
      if (floating()) reals[i] = round_to(type, static_cast<double>(x));
      else if (type == u64 && x >= T(0x1p63))
        integers[i] = static_cast<std::int64_t>(x < T(0x1p64) ? static_cast<std::uint64_t>(x) : ~std::uint64_t{0});
      else integers[i] = type == boolean ? x != 0 : wrap_to(type, truncate(static_cast<double>(x)));
    } else {
      if (floating()) reals[i] = round_to(type, static_cast<double>(x));
      else integers[i] = wrap_to(type, static_cast<std::int64_t>(x));
    }
  }

 private:
  template <class T> void fill(std::vector<T>& into, const std::vector<T>& elements) const {
    if (elements.size() != into.size())
      throw error("number of elements differs", describe(), std::to_string(into.size()),
                  std::to_string(elements.size()));
    into = elements;
  }
};

}  // namespace dnnkit
