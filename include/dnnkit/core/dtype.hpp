// SPDX-License-Identifier: MIT
// Element types: their names, sizes in bytes and C++ counterparts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dnnkit {

enum class dtype : std::uint8_t { f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64, boolean };

inline constexpr dtype f32 = dtype::f32;
inline constexpr dtype f64 = dtype::f64;
inline constexpr dtype f16 = dtype::f16;
inline constexpr dtype bf16 = dtype::bf16;
inline constexpr dtype i8 = dtype::i8;
inline constexpr dtype i16 = dtype::i16;
inline constexpr dtype i32 = dtype::i32;
inline constexpr dtype i64 = dtype::i64;
inline constexpr dtype u8 = dtype::u8;
inline constexpr dtype u16 = dtype::u16;
inline constexpr dtype u32 = dtype::u32;
inline constexpr dtype u64 = dtype::u64;
inline constexpr dtype boolean = dtype::boolean;

struct dtype_info {
  std::string_view name;         // as in C++ code and in printed plans
  std::string_view safetensors;  // as in a safetensors header
  std::size_t bytes;
  bool floating, integral, is_signed;
};

inline constexpr std::array<dtype_info, 13> dtype_table{{
    {"f32", "F32", 4, true, false, true},
    {"f64", "F64", 8, true, false, true},
    {"f16", "F16", 2, true, false, true},
    {"bf16", "BF16", 2, true, false, true},
    {"i8", "I8", 1, false, true, true},
    {"i16", "I16", 2, false, true, true},
    {"i32", "I32", 4, false, true, true},
    {"i64", "I64", 8, false, true, true},
    {"u8", "U8", 1, false, true, false},
    {"u16", "U16", 2, false, true, false},
    {"u32", "U32", 4, false, true, false},
    {"u64", "U64", 8, false, true, false},
    {"bool", "BOOL", 1, false, false, false},
}};

constexpr const dtype_info& info(dtype t) { return dtype_table[static_cast<std::size_t>(t)]; }
constexpr std::string_view name(dtype t) { return info(t).name; }
constexpr std::size_t size_of(dtype t) { return info(t).bytes; }
constexpr bool is_floating(dtype t) { return info(t).floating; }
constexpr bool is_integral(dtype t) { return info(t).integral; }
constexpr bool is_half(dtype t) { return t == f16 || t == bf16; }
constexpr bool is_byte(dtype t) { return t == u8 || t == i8; }

// The value an integer element type (or bool) keeps of x: the lowest bits.
constexpr std::int64_t wrap_to(dtype type, std::int64_t x) {
  switch (type) {
    case i8:
      return static_cast<std::int8_t>(x);
    case i16:
      return static_cast<std::int16_t>(x);
    case i32:
      return static_cast<std::int32_t>(x);
    case u8:
      return static_cast<std::uint8_t>(x);
    case u16:
      return static_cast<std::uint16_t>(x);
    case u32:
      return static_cast<std::uint32_t>(x);
    case boolean:
      return x != 0;
    default:
      return x;
  }
}

}  // namespace dnnkit
