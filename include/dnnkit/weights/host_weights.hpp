// SPDX-License-Identifier: MIT
// Tensors of a weights file as those of the reference evaluator.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string_view>
#include <type_traits>

#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/weights/safetensors.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit {

namespace detail {

template <class T> T stored_element(const std::byte* p) {
  T x;
  std::memcpy(&x, p, sizeof(T));
  return x;
}

inline double half_to_double(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double magnitude =
      exponent == 31  ? (fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity())
      : exponent == 0 ? std::ldexp(fraction, -24)
                      : std::ldexp(fraction + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

inline double bfloat_to_double(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  return static_cast<double>(stored_element<float>(reinterpret_cast<const std::byte*>(&wide)));
}

}  // namespace detail

// The elements of a tensor from a weights file.
inline host_tensor to_host_tensor(const stored_tensor& s) {
  host_tensor t(s.dtype, s.shape);
  const std::size_t n = t.count();
  const auto elements = [&]<class T>(T, auto& into) {
    for (std::size_t i = 0; i < n; ++i)
      into[i] = static_cast<typename std::remove_reference_t<decltype(into)>::value_type>(
          detail::stored_element<T>(s.data.data() + i * sizeof(T)));
  };
  const auto halves = [&](auto convert) {
    for (std::size_t i = 0; i < n; ++i)
      t.reals[i] = convert(detail::stored_element<std::uint16_t>(s.data.data() + 2 * i));
  };
  switch (s.dtype) {
    case f32:
      elements(float{}, t.reals);
      break;
    case f64:
      elements(double{}, t.reals);
      break;
    case f16:
      halves(detail::half_to_double);
      break;
    case bf16:
      halves(detail::bfloat_to_double);
      break;
    case i8:
      elements(std::int8_t{}, t.integers);
      break;
    case i16:
      elements(std::int16_t{}, t.integers);
      break;
    case i32:
      elements(std::int32_t{}, t.integers);
      break;
    case i64:
      elements(std::int64_t{}, t.integers);
      break;
    case u8:
      elements(std::uint8_t{}, t.integers);
      break;
    case u16:
      elements(std::uint16_t{}, t.integers);
      break;
    case u32:
      elements(std::uint32_t{}, t.integers);
      break;
    case u64:
      elements(std::uint64_t{}, t.integers);
      break;
    case boolean:
      for (std::size_t i = 0; i < n; ++i) t.integers[i] = s.data[i] != std::byte{0};
      break;
  }
  return t;
}

// The weights of `file` (safetensors, onnx_weights, ...), which must live as long as what is returned; a missing tensor
// raises dnnkit::error.
inline std::function<host_tensor(std::string_view)> weights_of(const weight_file& file) {
  return [&file](std::string_view name) { return to_host_tensor(file.at(name)); };
}

}  // namespace dnnkit
