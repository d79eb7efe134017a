// SPDX-License-Identifier: MIT
// ONNX's numbers of element types (TensorProto.DataType): their names and the dtypes they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dnnkit/core/dtype.hpp"

namespace dnnkit::onnx {

struct data_type_info {
  std::string_view name;  // ONNX's word
  std::optional<dnnkit::dtype> dtype;
};

// Row i is the number i.
inline constexpr std::array<data_type_info, 29> data_type_table{{
    {"UNDEFINED", {}},
    {"FLOAT", f32},
    {"UINT8", u8},
    {"INT8", i8},
    {"UINT16", u16},
    {"INT16", i16},
    {"INT32", i32},
    {"INT64", i64},
    {"STRING", {}},
    {"BOOL", boolean},
    {"FLOAT16", f16},
    {"DOUBLE", f64},
    {"UINT32", u32},
    {"UINT64", u64},
    {"COMPLEX64", {}},
    {"COMPLEX128", {}},
    {"BFLOAT16", bf16},
    {"FLOAT8E4M3FN", f32},
    {"FLOAT8E4M3FNUZ", f32},
    {"FLOAT8E5M2", f32},
    {"FLOAT8E5M2FNUZ", f32},
    {"UINT4", u8},
    {"INT4", i8},
    {"FLOAT4E2M1", f32},
    {"FLOAT8E8M0", f32},
    {"UINT2", u8},
    {"INT2", i8},
    {"FLOAT6E2M3", {}},
    {"FLOAT6E3M2", {}},
}};

// The element type of a number, for those of 8 bits and fewer that dnnkit does not have (narrow_types.hpp) the one that
// holds their elements; nothing for other types that it does not have (strings, complex numbers) and numbers that are
// none.
constexpr std::optional<dtype> dtype_of(std::int32_t data_type) {
  if (data_type < 0 || static_cast<std::size_t>(data_type) >= data_type_table.size()) return std::nullopt;
  return data_type_table[static_cast<std::size_t>(data_type)].dtype;
}

// The number of an element type; the first in the table is its own.
constexpr std::int32_t data_type_of(dtype type) {
  std::size_t i = 0;
  while (data_type_table[i].dtype != type) ++i;
  return static_cast<std::int32_t>(i);
}

// "FLOAT"; "type 99" for a number that is none.
inline std::string data_type_name(std::int32_t data_type) {
  if (data_type < 0 || static_cast<std::size_t>(data_type) >= data_type_table.size())
    return "type " + std::to_string(data_type);
  return std::string(data_type_table[static_cast<std::size_t>(data_type)].name);
}

static_assert(dtype_of(1) == f32 && dtype_of(16) == bf16 && !dtype_of(8) && !dtype_of(-1) && !dtype_of(29));
static_assert(data_type_of(u64) == 13 && data_type_of(boolean) == 9);

}  // namespace dnnkit::onnx
