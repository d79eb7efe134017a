// SPDX-License-Identifier: MIT
// The table of element types against the sizes and properties of C++'s types.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/core/dtype.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <type_traits>

using namespace dnnkit;

template <class T> constexpr bool describes(dtype t) {
  return size_of(t) == sizeof(T) && is_floating(t) == std::is_floating_point_v<T> &&
         is_integral(t) == (std::is_integral_v<T> && !std::is_same_v<T, bool>)&&info(t).is_signed ==
             std::is_signed_v<T>;
}
static_assert(describes<float>(f32) && describes<double>(f64) && describes<bool>(boolean));
static_assert(describes<std::int8_t>(i8) && describes<std::int16_t>(i16) && describes<std::int32_t>(i32) &&
              describes<std::int64_t>(i64));
static_assert(describes<std::uint8_t>(u8) && describes<std::uint16_t>(u16) && describes<std::uint32_t>(u32) &&
              describes<std::uint64_t>(u64));
static_assert(size_of(f16) == 2 && size_of(bf16) == 2 && is_floating(f16) && is_floating(bf16));

TEST_CASE("names are unique") {
  for (std::size_t i = 0; i < dtype_table.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      CHECK(dtype_table[i].name != dtype_table[j].name);
      CHECK(dtype_table[i].safetensors != dtype_table[j].safetensors);
    }
  CHECK(name(bf16) == "bf16");
}
