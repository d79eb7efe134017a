// SPDX-License-Identifier: MIT
// Element types as C++ types: what the elements of a tensor are in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/small_float.hpp"

namespace dnnkit {

namespace detail {

// In the order of dtype.
using stored_types = std::tuple<float, double, float16, bfloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool>;
static_assert(std::tuple_size_v<stored_types> == dtype_table.size());

// Integers of one size and sign are one type to us, though C++ may have two (long and long long).
template <class A, class B>
inline constexpr bool is_same_element = std::is_same_v<A, B> ||
                                        (std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, bool> &&
                                         !std::is_same_v<B, bool> && !std::is_same_v<A, char> &&
                                         !std::is_same_v<A, wchar_t> && sizeof(A) == sizeof(B) &&
                                         std::is_signed_v<A> == std::is_signed_v<B>);

template <class T, std::size_t I = 0> constexpr std::optional<dtype> find_dtype() {
  if constexpr (I == std::tuple_size_v<stored_types>) return std::nullopt;
  else if constexpr (is_same_element<T, std::tuple_element_t<I, stored_types>>) return static_cast<dtype>(I);
  else return find_dtype<T, I + 1>();
}

}  // namespace detail

// dtype_of_type<float> is f32; nothing for types that no tensor has for elements.
template <class T> inline constexpr std::optional<dtype> dtype_of_type = detail::find_dtype<std::remove_cv_t<T>>();

// type_of_dtype<f32> is float.
template <dtype D> using type_of_dtype = std::tuple_element_t<static_cast<std::size_t>(D), detail::stored_types>;

}  // namespace dnnkit
