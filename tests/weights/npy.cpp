// SPDX-License-Identifier: MIT
// Tests of .npy files: what NumPy writes, what it accepts, and each malformed file with its message.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/npy.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace dk = dnnkit;

static_assert(std::is_nothrow_move_constructible_v<dk::npy> && !std::is_copy_constructible_v<dk::npy>);

namespace {

std::span<const std::byte> as_bytes(const std::string& s) { return std::as_bytes(std::span(s)); }

// A file with this text for a header, not padded.
std::string file_of(std::string_view header, std::string_view data = {}, char version = 1) {
  std::string s = "\x93NUMPY";
  s += version;
  s += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) s += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return s + std::string(header) + std::string(data);
}
std::string header_of(std::string_view descr, std::string_view shape, std::string_view order = "False") {
  return "{'descr': '" + std::string(descr) + "', 'fortran_order': " + std::string(order) +
         ", 'shape': " + std::string(shape) + ", }";
}
dk::npy read(const std::string& bytes) { return dk::npy::from_memory(as_bytes(bytes), "f"); }
std::string complaint(const std::string& bytes) {
  return error_of([&] { return read(bytes); });
}
// What is wrong with a header, the place left out.
std::string header_complaint(std::string_view header) {
  const std::string message = complaint(file_of(header));
  CHECK(message.starts_with("f, header byte "));
  return message.substr(message.find(": ") + 2);
}

// The bytes numpy.save writes for numpy.array([[1.5, -2], [3, 4]], numpy.float32), without the elements.
std::string numpy_header() {
  std::string s("\x93NUMPY\x01\x00v\x00", 10);
  s += "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  s.resize(127, ' ');
  return s + "\n";
}

}  // namespace

TEST_CASE("a file is byte for byte what NumPy writes") {
  const temporary_folder folder;
  const float values[] = {1.5f, -2, 3, 4};
  const auto data = std::as_bytes(std::span(values));
  dk::save_npy(folder / "a.npy", {"a", dk::f32, {2, 2}, data});
  const std::string expected = numpy_header() + std::string(reinterpret_cast<const char*>(values), sizeof values);
  CHECK(read_file(folder / "a.npy") == expected);

  dk::npy first(folder / "a.npy");
  const std::byte* address = first.tensor().data.data();
  const dk::npy second = std::move(first);
  CHECK(second.tensor().data.data() == address);
  CHECK(second.tensor().name == (folder / "a.npy").string());
  CHECK(second.tensor().dtype == dk::f32);
  CHECK(second.tensor().shape == std::vector<std::int64_t>{2, 2});
  CHECK(dk::read_values<float>(second.tensor()) == std::vector<float>{1.5f, -2, 3, 4});
}

TEST_CASE("every element type and rank is read back as it was written") {
  const temporary_folder folder;
  constexpr dk::dtype types[] = {dk::f32, dk::f64, dk::f16, dk::i8,  dk::i16, dk::i32,
                                 dk::i64, dk::u8,  dk::u16, dk::u32, dk::u64, dk::boolean};
  const std::vector<std::int64_t> shapes[] = {{}, {3}, {0}, {2, 1, 3}, {4, 0, 2}};
  for (const dk::dtype type : types)
    for (const std::vector<std::int64_t>& shape : shapes) {
      std::vector<std::byte> data(static_cast<std::size_t>(dk::detail::dense_bytes(type, shape).value()));
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::byte(type == dk::boolean ? i % 2 : i * 37 % 256);
      dk::save_npy(folder / "a.npy", {"a", type, shape, data});
      const dk::npy file(folder / "a.npy");
      CHECK(file.tensor().dtype == type);
      CHECK(file.tensor().shape == shape);
      CHECK(std::ranges::equal(file.tensor().data, data));
      CHECK((read_file(folder / "a.npy").size() - data.size()) % 64 == 0);
    }
}

TEST_CASE("a header too long for version 1") {
  const temporary_folder folder;
  const std::vector<std::int64_t> shape(30'000, 1);  // more dimensions than are read back
  const std::byte one[4]{};
  dk::save_npy(folder / "a.npy", {"a", dk::f32, shape, one});
  const std::string bytes = read_file(folder / "a.npy");
  CHECK(bytes[6] == 2);
  CHECK(bytes.size() % 64 == 4);
  CHECK(complaint(bytes).find("shape has too many dimensions, expected at most 64") != std::string::npos);
}

TEST_CASE("headers as other versions and writers have them") {
  for (const char version : {'\1', '\2', '\3'})
    CHECK(read(file_of(header_of("<i2", "(2,)"), "abcd", version)).tensor().shape == std::vector<std::int64_t>{2});
  CHECK(read(file_of("{\"shape\":(1L,2L),\"descr\":\"|u1\",\"fortran_order\":False}", "ab")).tensor().shape ==
        std::vector<std::int64_t>{1, 2});
  CHECK(read(file_of(header_of("=i4", "()"), "abcd")).tensor().dtype == dk::i32);
  CHECK(read(file_of(header_of(">i1", "(1,)"), "a")).tensor().dtype == dk::i8);
  CHECK(read(file_of("  { 'descr' : 'f8' ,'fortran_order':False,'shape':( 0 , ) }  \n")).tensor().dtype == dk::f64);
}

TEST_CASE("Fortran's order is turned into C's") {
  // numpy.asfortranarray(numpy.arange(24, dtype=numpy.int16).reshape(2, 3, 4)), element by element
  std::vector<std::int16_t> stored;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) stored.push_back(static_cast<std::int16_t>(i * 12 + j * 4 + k));
  const std::string data(reinterpret_cast<const char*>(stored.data()), stored.size() * 2);
  std::vector<std::int16_t> expected(24);
  std::iota(expected.begin(), expected.end(), std::int16_t{0});
  const std::string bytes = file_of(header_of("<i2", "(2, 3, 4)", "True"), data);
  CHECK(dk::read_values<std::int16_t>(read(bytes).tensor()) == expected);
  dk::npy first = read(bytes);
  const dk::npy second = std::move(first);
  CHECK(dk::read_values<std::int16_t>(second.tensor()) == expected);
  CHECK(read(file_of(header_of("<i2", "(0, 3)", "True"))).tensor().data.empty());
  CHECK(dk::read_values<std::int16_t>(read(file_of(header_of("<i2", "()", "True"), "ab")).tensor()).size() == 1);
}

TEST_CASE("bytes that are no bool become one") {
  const std::string bytes = file_of(header_of("|b1", "(3,)"), std::string("\0\1\2", 3));
  CHECK(dk::read_values<std::uint8_t>(read(bytes).tensor()) == std::vector<std::uint8_t>{0, 1, 1});
}

TEST_CASE("what is no array of numbers is refused") {
  CHECK(complaint("") == "f: is not a .npy file");
  CHECK(complaint("\x93NUMP\1") == "f: is not a .npy file");
  CHECK(complaint("\x93NUMPY") == "f: file is truncated in the header");
  CHECK(complaint(file_of("{}", "", 0)) == "f: version of the .npy format is not known, expected 1, 2 or 3, found 0");
  CHECK(complaint(file_of("{}", "", 4)).ends_with("found 4"));
  CHECK(complaint(std::string("\x93NUMPY\x02\x00\xff\xff", 10)) == "f: file is truncated in the header");
  CHECK(complaint(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14)) ==
        "f: header is truncated, expected 4294967295 bytes after the length, found 2");
  for (const char* descr : {"<c8", "|O", "<U3", "|V2", "<f16", "<b1x", "", "<", "i3", "<m8"})
    CHECK(header_complaint(header_of(descr, "(1,)")).starts_with("element type is not supported, expected "));
  CHECK(header_complaint(header_of(">f4", "(1,)")) ==
        "elements are big-endian, expected little-endian ones, found '>f4'");
}

TEST_CASE("malformed headers are refused") {
  CHECK(header_complaint("") == "header is malformed, expected a dictionary");
  CHECK(header_complaint("{") == "header is malformed, expected a string");
  CHECK(header_complaint("{'descr") == "header is malformed, expected the end of a string");
  CHECK(header_complaint("{'descr' '<f4'}") == "header is malformed, expected ':' after a key");
  CHECK(header_complaint("{'descr': 5}") == "header is malformed, expected a string");
  CHECK(header_complaint("{'descr': '<f4' 'shape': ()}") == "header is malformed, expected ',' or '}' after a value");
  CHECK(header_complaint("{}") == "header is incomplete, expected descr, fortran_order and shape");
  CHECK(header_complaint("{'descr': '<f4', 'shape': ()}").starts_with("header is incomplete"));
  CHECK(header_complaint("{'descr': '<f4', 'descr': '<f4'}") == "header names a key twice, found 'descr'");
  CHECK(header_complaint("{'extra': 1}") ==
        "header has an unknown key, expected descr, fortran_order or shape, found 'extra'");
  CHECK(header_complaint(header_of("<f4", "(1,)", "Maybe")) == "header is malformed, expected True or False");
  CHECK(header_complaint(header_of("<f4", "5")) == "header is malformed, expected the shape as a tuple");
  CHECK(header_complaint(header_of("<f4", "(")) == "header is malformed, expected an extent from 0 to 2^63 - 1");
  CHECK(header_complaint(header_of("<f4", "(-1,)")) == "header is malformed, expected an extent from 0 to 2^63 - 1");
  CHECK(header_complaint(header_of("<f4", "(9223372036854775808,)")).ends_with("an extent from 0 to 2^63 - 1"));
  CHECK(header_complaint(header_of("<f4", "(1 2)")) == "header is malformed, expected ',' or ')' after an extent");
  CHECK(header_complaint(header_of("<f4", "(1,)") + "x") == "header has text after the dictionary");
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1,";
  CHECK(header_complaint(header_of("<f4", many + ")")) == "shape has too many dimensions, expected at most 64");
}

TEST_CASE("data that contradicts the shape is refused") {
  CHECK(complaint(file_of(header_of("<f4", "(2,)"), "1234567")) ==
        "f: data does not have the size of the array, expected 8 bytes for f32 [2], found 7");
  CHECK(complaint(file_of(header_of("<f4", "(2,)"), "123456789")).ends_with("expected 8 bytes for f32 [2], found 9"));
  CHECK(complaint(file_of(header_of("<f4", "(4294967296, 4294967296)"))) ==
        "f: shape is too large, expected fewer than 2^63 bytes, found [4294967296, 4294967296]");
  CHECK(complaint(file_of(header_of("<f4", "(0, 9223372036854775807, 9)"))).find("shape is too large") !=
        std::string::npos);
}

TEST_CASE("every prefix is refused") {
  const std::string bytes = numpy_header() + std::string(16, 'x');
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const std::string prefix = bytes.substr(0, n);
    CHECK(complaint(prefix) != "no error");
  }
  CHECK(complaint(bytes) == "no error");
}

TEST_CASE("what cannot be written is refused") {
  const temporary_folder folder;
  const std::byte data[4]{};
  const auto refusal = [&](const dk::stored_tensor& t) {
    const std::string message = error_of([&] { return dk::save_npy(folder / "a.npy", t), 0; });
    CHECK(folder.entries() == 0);
    return message.substr(message.find(": ") + 2);
  };
  CHECK(refusal({"a", dk::bf16, {2}, data}) == "NumPy has no such element type, found bf16 [2]");
  CHECK(refusal({"a", dk::f32, {2}, data}) ==
        "data does not have the size of the tensor, expected 8 bytes for f32 [2], found 4");
  CHECK(refusal({"a", dk::f32, {-1}, data}) == "shape is negative or too large, found f32 [-1]");
}
