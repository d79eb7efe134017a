// SPDX-License-Identifier: MIT
// Tests of ONNX's element types of 8 bits and fewer: the numbers are those of its tables of codes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/format/narrow_types.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "dnnkit/onnx/format/data_type.hpp"

using namespace dnnkit;

TEST_CASE("codes of narrow floats") {
  struct known {
    std::int32_t number;
    unsigned code;
    double value;
  };
  const known all[] = {{17, 0x38, 1},       {17, 0x7e, 448},      {17, 0x01, 0x1p-9},    {17, 0x08, 0x1p-6},
                       {17, 0xb8, -1},      {17, 0x78, 256},      {18, 0x40, 1},         {18, 0x7f, 240},
                       {18, 0x01, 0x1p-10}, {18, 0xff, -240},     {19, 0x3c, 1},         {19, 0x7b, 57344},
                       {19, 0x01, 0x1p-16}, {19, 0x7c, INFINITY}, {19, 0xfc, -INFINITY}, {20, 0x40, 1},
                       {20, 0x7f, 57344},   {20, 0x01, 0x1p-17},  {20, 0x04, 0x1p-15},   {23, 0x1, 0.5},
                       {23, 0x2, 1},        {23, 0x5, 3},         {23, 0x7, 6},          {23, 0xf, -6},
                       {24, 0, 0x1p-127},   {24, 127, 1},         {24, 254, 0x1p127}};
  for (const known& k : all) {
    CAPTURE(k.number);
    CAPTURE(k.code);
    CHECK(onnx::real_of_code(*onnx::narrow_type_of(k.number), k.code) == k.value);
  }
  for (const auto& [number, code] : std::vector<std::pair<std::int32_t, unsigned>>{
           {17, 0x7f}, {17, 0xff}, {18, 0x80}, {19, 0x7d}, {19, 0xff}, {20, 0x80}, {24, 0xff}})
    CHECK(std::isnan(onnx::real_of_code(*onnx::narrow_type_of(number), code)));
  CHECK(std::signbit(onnx::real_of_code(*onnx::narrow_type_of(17), 0x80)));
}

TEST_CASE("the largest number is that of all codes, and none lies beyond the type that holds it") {
  for (const onnx::narrow_type& t : onnx::narrow_types) {
    CAPTURE(t.number);
    CHECK(onnx::dtype_of(t.number) == t.held_in);
    CHECK(onnx::narrow_type_of(t.number) == &t);
    double largest = 0;
    for (unsigned code = 0; code < 1U << t.bits; ++code) {
      if (!t.is_real()) {
        CHECK(onnx::integer_of_code(t, code) >= t.least_integer());
        CHECK(onnx::integer_of_code(t, code) <= t.largest_integer());
        continue;
      }
      const double x = onnx::real_of_code(t, code);
      if (std::isfinite(x)) largest = std::fmax(largest, x);
      CHECK((std::isnan(x) || static_cast<double>(static_cast<float>(x)) == x));
    }
    if (t.is_real()) CHECK(largest == t.largest());
  }
  CHECK(onnx::narrow_type_of(1) == nullptr);
  CHECK(onnx::narrow_type_of(-1) == nullptr);
}

TEST_CASE("integers of 4 and 2 bits, and the bytes they are packed into") {
  const onnx::narrow_type &u4 = *onnx::narrow_type_of(21), &i4 = *onnx::narrow_type_of(22),
                          &i2 = *onnx::narrow_type_of(26);
  CHECK(onnx::integer_of_code(u4, 15) == 15);
  CHECK(onnx::integer_of_code(i4, 15) == -1);
  CHECK(onnx::integer_of_code(i4, 8) == -8);
  CHECK(onnx::integer_of_code(i2, 2) == -2);
  CHECK(onnx::packed_bytes(u4, 5) == 3);
  CHECK(onnx::packed_bytes(i2, 9) == 3);
  CHECK(onnx::packed_bytes(i2, 0) == 0);
  CHECK(onnx::packed_bytes(*onnx::narrow_type_of(17), 5) == 5);
}
