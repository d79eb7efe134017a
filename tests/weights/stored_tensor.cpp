// SPDX-License-Identifier: MIT
// Tests of the stored tensor: sizes without overflow, typed copies out of unaligned bytes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/stored_tensor.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

constexpr auto bytes = [](dk::dtype type, std::vector<std::int64_t> shape) {
  return dk::detail::dense_bytes(type, shape);
};
static_assert(bytes(dk::f32, {2, 3, 4}) == 96 && bytes(dk::f64, {}) == 8 && bytes(dk::u8, {5, 0}) == 0);
static_assert(!bytes(dk::f32, {2, -1}) && !bytes(dk::f32, {0, -1}));
static_assert(bytes(dk::u8, {std::int64_t{1} << 62}) == std::uint64_t{1} << 62);
static_assert(!bytes(dk::u8, {std::int64_t{1} << 62, 2}) && !bytes(dk::f64, {std::int64_t{1} << 60}));
static_assert(!bytes(dk::u8, {0, std::int64_t{1} << 62, 4}), "the order of the dimensions does not matter");

template <class T> static std::string dtypes() { return dk::detail::dtypes_of<T>(); }

TEST_CASE("each C++ type reads the dtypes that have its bytes") {
  CHECK(dtypes<float>() == "f32");
  CHECK(dtypes<double>() == "f64");
  CHECK(dtypes<std::int8_t>() == "i8");
  CHECK(dtypes<std::int16_t>() == "i16");
  CHECK(dtypes<std::int32_t>() == "i32");
  CHECK(dtypes<std::int64_t>() == "i64");
  CHECK(dtypes<std::uint8_t>() == "u8 or bool");
  CHECK(dtypes<std::uint16_t>() == "f16 or bf16 or u16");
  CHECK(dtypes<std::uint32_t>() == "u32");
  CHECK(dtypes<std::uint64_t>() == "u64");
}

TEST_CASE("elements come out of bytes at any address") {
  const std::array<float, 3> values{1.5f, -2.0f, 1e-30f};
  std::array<std::byte, 20> buffer{};
  for (std::size_t offset = 0; offset < 8; ++offset) {
    std::memcpy(buffer.data() + offset, values.data(), sizeof values);
    const dk::stored_tensor t{"t", dk::f32, {3}, std::span(buffer).subspan(offset, sizeof values)};
    CHECK(dk::read_values<float>(t) == std::vector(values.begin(), values.end()));
  }
  const dk::stored_tensor empty{"t", dk::f32, {0, 7}, {}};
  CHECK(dk::read_values<float>(empty).empty());
}

TEST_CASE("the wrong type or number of elements is refused") {
  const std::array<std::byte, 8> buffer{};
  const dk::stored_tensor t{"w\n", dk::bf16, {4}, buffer};
  std::array<std::uint16_t, 3> three{};
  CHECK(error_of([&] { return dk::read_values<float>(t); }) ==
        "tensor 'w\\x0a': elements are of another dtype, expected f32, found bf16");
  CHECK(error_of([&] { return dk::copy_values<std::uint16_t>(t, three), 0; }) ==
        "tensor 'w\\x0a': number of elements differs, expected 3, found 4");
}

TEST_CASE("names from a file are made fit for a message") {
  CHECK(dk::detail::quoted("conv1.weight") == "'conv1.weight'");
  CHECK(dk::detail::quoted("a\x1b[31m\x7f") == "'a\\x1b[31m\\x7f'");
  CHECK(dk::detail::quoted(std::string(121, 'n')) == "'" + std::string(120, 'n') + "...'");
}
