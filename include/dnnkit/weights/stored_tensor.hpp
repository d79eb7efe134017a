// SPDX-License-Identifier: MIT
// One named tensor of a weights file: what the reader hands out and the writer takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/core/printable.hpp"

namespace dnnkit {

// `data` is not owned and may be unaligned: row-major, little-endian elements, the product of `shape` many of them.
struct stored_tensor {
  std::string name;
  dnnkit::dtype dtype = dnnkit::dtype::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

namespace detail {

// "[16, 3, 3, 3]"
inline std::string shape_text(std::span<const std::int64_t> extents) {
  std::string text = "[";
  for (std::size_t i = 0; i < extents.size(); ++i) (text += i ? ", " : "") += std::to_string(extents[i]);
  return text + "]";
}

// "f32 [16, 3, 3, 3]"
inline std::string tensor_text(dtype type, std::span<const std::int64_t> extents) {
  return std::string(name(type)) + " " + shape_text(extents);
}

// A name from an untrusted file in quotes, fit for a message: escaped, and shortened when it is long.
inline std::string quoted(std::string_view name) {
  std::size_t length = 120;
  if (name.size() <= length) return "'" + printable(name) + "'";
  while (length > 117 && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80) --length;  // characters stay whole
  return "'" + printable(name.substr(0, length)) + "...'";
}

// Bytes of a dense tensor; nothing when a dimension is negative or the product of the non-zero dimensions does not
// fit into 63 bits (so that no later product over any subset of the dimensions can overflow either).
constexpr std::optional<std::uint64_t> dense_bytes(dtype type, std::span<const std::int64_t> extents) {
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t bytes = size_of(type);
  bool empty = false;
  for (const std::int64_t dim : extents) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      empty = true;
      continue;
    }
    if (bytes > limit / static_cast<std::uint64_t>(dim)) return std::nullopt;
    bytes *= static_cast<std::uint64_t>(dim);
  }
  return empty ? 0 : bytes;
}

template <class T>
concept stored_value = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;

// Whether the stored bytes of `type` are values of T. Half-precision elements are read as their 16 bits and booleans
// as bytes: C++20 has no type for the former, and a byte other than 0 or 1 is not a valid bool.
template <stored_value T> constexpr bool holds(dtype type) {
  if (sizeof(T) != size_of(type)) return false;
  if (std::is_floating_point_v<T>) return is_floating(type);
  if (std::is_signed_v<T>) return is_integral(type) && info(type).is_signed;
  return type == boolean || type == f16 || type == bf16 || (is_integral(type) && !info(type).is_signed);
}

// "u16 or f16 or bf16": the dtypes whose elements are read as T.
template <class T> std::string dtypes_of() {
  std::string names;
  for (std::size_t i = 0; i < dtype_table.size(); ++i)
    if (holds<T>(static_cast<dtype>(i))) (names += names.empty() ? "" : " or ") += dtype_table[i].name;
  return names;
}

}  // namespace detail

// Copies the elements of `tensor` to `out`, which must be exactly as long. T is the C++ type of the stored dtype
// (std::uint8_t also for bool, std::uint16_t also for the bits of f16 and bf16).
// Throws dnnkit::error naming the tensor when the dtype or the number of elements differs.
template <detail::stored_value T> void copy_values(const stored_tensor& tensor, std::span<T> out) {
  const std::string culprit = "tensor " + detail::quoted(tensor.name);
  if (!detail::holds<T>(tensor.dtype))
    throw error("elements are of another dtype", culprit, detail::dtypes_of<T>(), std::string(name(tensor.dtype)));
  if (out.size_bytes() != tensor.data.size())
    throw error("number of elements differs", culprit, std::to_string(out.size()),
                std::to_string(tensor.data.size() / sizeof(T)));
  if (!out.empty()) std::memcpy(out.data(), tensor.data.data(), out.size_bytes());
}

// The elements of `tensor` as a vector; T and errors as for copy_values.
template <detail::stored_value T> std::vector<T> read_values(const stored_tensor& tensor) {
  std::vector<T> values(tensor.data.size() / sizeof(T));
  copy_values<T>(tensor, values);
  return values;
}

}  // namespace dnnkit
