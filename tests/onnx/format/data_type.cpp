// SPDX-License-Identifier: MIT
// Tests of ONNX's numbers of element types: the numbers are those of onnx.proto.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/format/data_type.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

using namespace dnnkit;

TEST_CASE("every number has a name") {
  CHECK(onnx::data_type_name(0) == "UNDEFINED");
  CHECK(onnx::data_type_name(8) == "STRING");
  CHECK(onnx::data_type_name(20) == "FLOAT8E5M2FNUZ");
  CHECK(onnx::data_type_name(22) == "INT4");
  CHECK(onnx::data_type_name(28) == "FLOAT6E3M2");
  CHECK(onnx::data_type_name(29) == "type 29");
  CHECK(onnx::data_type_name(-1) == "type -1");
  CHECK(onnx::data_type_name(std::numeric_limits<std::int32_t>::min()) == "type -2147483648");
}

TEST_CASE("element types have the numbers of onnx.proto") {
  constexpr dtype types[] = {f32, u8, i8, u16, i16, i32, i64, boolean, f16, f64, u32, u64, bf16};
  constexpr std::int32_t numbers[] = {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16};
  for (std::size_t i = 0; i < std::size(types); ++i) {
    CHECK(onnx::data_type_of(types[i]) == numbers[i]);
    CHECK(onnx::dtype_of(numbers[i]) == types[i]);
  }
  int known = 0;
  for (std::int32_t i = -5; i < 50; ++i) known += onnx::dtype_of(i).has_value();
  CHECK(known == 13 + 10);  // and those that wider types hold
}
