// SPDX-License-Identifier: MIT
// Tests of the safetensors reader: the shipped files, small files made by hand, and each malformed file with its
// message.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/safetensors.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace dk = dnnkit;

static_assert(std::is_move_constructible_v<dk::safetensors> && !std::is_copy_constructible_v<dk::safetensors>);

// The header's length, the header, and `data` bytes 0, 1, 2, ...
static std::string file_of(std::string_view header, std::size_t data = 0) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
  bytes += header;
  for (std::size_t i = 0; i < data; ++i) bytes += static_cast<char>(i);
  return bytes;
}

static dk::safetensors read(const std::string& bytes) {
  return dk::safetensors::from_memory(std::as_bytes(std::span(bytes)), "f");
}

// The message about a malformed file without the leading "f".
static std::string complaint(const std::string& bytes) {
  const std::string message = error_of([&] { return read(bytes); });
  return message.starts_with("f") ? message.substr(1) : message;
}

static const std::string assets = DNNKIT_ASSETS;

TEST_CASE("the weights of the digits classifier") {
  const dk::safetensors file(assets + "/digits_cnn.safetensors");
  CHECK(file.tensors().size() == 20);
  CHECK(file.metadata().at("source") == "trained on UCI digits (CC BY 4.0)");
  CHECK(file.metadata().at("test_accuracy") == "0.9944");
  CHECK(file.name() == assets + "/digits_cnn.safetensors");
  CHECK(file.find("nothing") == nullptr);
  CHECK(file.check("conv2.weight", dk::f32, {32, 16, 3, 3}).data.size() == 32 * 16 * 9 * 4);
  std::size_t parameters = 0;
  for (const dk::stored_tensor& t : file.tensors()) parameters += t.data.size() / 4;
  CHECK(parameters == 15'658);
  for (const float variance : dk::read_values<float>(file.at("bn1.running_var"))) CHECK(variance > 0);
}

TEST_CASE("the images of digits") {
  const dk::safetensors file(assets + "/digits.safetensors");
  CHECK(file.tensors().size() == 4);
  const auto pixels = dk::read_values<std::uint8_t>(file.check("train_x", dk::u8, {1437, 8, 8}));
  const auto labels = dk::read_values<std::uint8_t>(file.check("test_y", dk::u8, {360}));
  CHECK(std::ranges::max(pixels) == 16);
  CHECK(std::ranges::max(labels) == 9);
  CHECK(file.metadata().at("source").find("CC BY 4.0") != std::string::npos);
}

TEST_CASE("the weights of super-resolution") {
  const dk::safetensors file(assets + "/wdsr_x2.safetensors");
  CHECK(file.tensors().size() == 54);
  std::size_t parameters = 0;
  const std::byte* end = file.tensors().front().data.data();
  for (const dk::stored_tensor& t : file.tensors()) {
    CHECK(t.data.data() == end);  // in the order of the data, without holes
    end = t.data.data() + t.data.size();
    CHECK(std::ranges::all_of(dk::read_values<float>(t), [](float weight) { return std::isfinite(weight); }));
    parameters += t.data.size() / 4;
  }
  CHECK(parameters == 90'940);
  CHECK(file.metadata().at("psnr").starts_with("{\"chelsea.png\": {\"wdsr\": 34.8323"));
}

TEST_CASE("a small file, made by hand") {
  const std::string bytes = file_of(
      " {\"z\\u00e4\" : {\"shape\":[2,3],\"dtype\":\"I16\",\"data_offsets\":[4,16], \"note\":[{\"x\":1.5e3},null]},\n"
      "\"scalar\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
      "\"none\":{\"dtype\":\"F64\",\"shape\":[3,0],\"data_offsets\":[16,16]},\"__metadata__\":{\"k\":\"\\\"v\\\"\"}}  ",
      16);
  const std::string from_brace = file_of(std::string_view(bytes).substr(9, bytes.size() - 8 - 1 - 16), 16);
  dk::safetensors first = read(from_brace);
  const dk::safetensors file = std::move(first);
  REQUIRE(file.tensors().size() == 3);
  CHECK(file.tensors()[0].name == "scalar");
  CHECK(file.tensors()[1].name == "z\xc3\xa4");
  CHECK(file.tensors()[2].name == "none");
  CHECK(dk::read_values<std::int16_t>(file.check("z\xc3\xa4", dk::i16, {2, 3})) ==
        std::vector<std::int16_t>{0x0504, 0x0706, 0x0908, 0x0b0a, 0x0d0c, 0x0f0e});
  CHECK(file.check("scalar", dk::f32, {}).data.size() == 4);
  CHECK(file.check("none", dk::f64, {3, 0}).data.empty());
  CHECK(file.metadata() == dk::string_map{{"k", "\"v\""}});
  CHECK(complaint(bytes) == ": header does not begin with '{', expected a safetensors file");
}

TEST_CASE("a file without tensors") {
  CHECK(read(file_of("{}")).tensors().empty());
  CHECK(read(file_of("{\"__metadata__\":{}}      ")).metadata().empty());
}

TEST_CASE("every dtype of the table is read") {
  for (const dk::dtype_info& row : dk::dtype_table) {
    const std::string bytes =
        file_of("{\"t\":{\"dtype\":\"" + std::string(row.safetensors) + "\",\"shape\":[2],\"data_offsets\":[0," +
                    std::to_string(2 * row.bytes) + "]}}",
                2 * row.bytes);
    CHECK(dk::name(read(bytes).at("t").dtype) == row.name);
  }
}

TEST_CASE("files that are no file") {
  const temporary_folder folder;
  const auto open = [&](std::string_view name) { return error_of([&] { return dk::safetensors(folder / name); }); };
  const std::string prefix = folder.path().string();
  CHECK(open("absent.safetensors") == prefix + "/absent.safetensors: cannot open file (No such file or directory)");
  CHECK(open("") == prefix + "/: is a directory, expected a file");
  write_file(folder / "empty", "");
  CHECK(open("empty") == prefix + "/empty: file is empty");
  write_file(folder / "short", "\1\2");
  CHECK(open("short") ==
        prefix + "/short: file is too short for a safetensors header, expected at least 8 bytes, found 2");
  write_file(folder / "good", file_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}", 3));
  CHECK(open("good") == "no error");
}

TEST_CASE("the length of the header") {
  CHECK(complaint(std::string(7, '\1')) ==
        ": file is too short for a safetensors header, expected at least 8 bytes, found 7");
  CHECK(complaint(std::string("\x02\0\0\0\0\0\0\0", 8)) ==
        ": header is truncated, expected 2 bytes after the length, found 0");
  CHECK(complaint(std::string("\x05\0\0\0\0\0\0\0{}", 10)) ==
        ": header is truncated, expected 5 bytes after the length, found 2");
  CHECK(complaint(std::string("\0\0\0\0\0\0\0\0{}", 10)) ==
        ": header does not begin with '{', expected a safetensors file");
  CHECK(complaint(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)) ==
        ": is no safetensors file: its header would be too large, expected at most 100000000 bytes, found 100000001");
  CHECK(complaint(std::string(8, '\xff') + "{}") ==
        ": is no safetensors file: its header would be too large, expected at most 100000000 bytes, found "
        "18446744073709551615");
}

TEST_CASE("the header as a text") {
  CHECK(complaint(file_of("[]")) == ": header does not begin with '{', expected a safetensors file");
  CHECK(complaint(file_of("{\"a\xff\":1}")) == ": header is not UTF-8 at header byte 3");
  CHECK(
      complaint(file_of("{} {}")) ==
      ": header is not valid JSON at header byte 3, expected nothing but spaces after the header's object, found '{}'");
  CHECK(
      complaint(file_of(std::string_view("{}\0", 3))) ==
      ": header is not valid JSON at header byte 2, expected nothing but spaces after the header's object, found '?'");
  CHECK(complaint(file_of("{\"a\":")) ==
        ", tensor 'a': header is not valid JSON at header byte 5, expected an object, found the end of the header");
  CHECK(complaint(file_of("{\"a\":{\"x\":" + std::string(1000, '['))) ==
        ", tensor 'a': header is nested too deeply at header byte 24, expected at most 16 levels, found '" +
            std::string(16, '[') + "'");
  CHECK(complaint(file_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},\"a\":")) ==
        ": key appears twice at header byte 53, expected unique keys, found '\"a\":'");
  CHECK(complaint(file_of("{\"__metadata__\":{\"k\":1}}")) ==
        ", metadata: header is not valid JSON at header byte 21, expected a string, found '1}}'");
  CHECK(complaint(file_of("{\"__metadata__\":\"k\"}")) ==
        ", metadata: header is not valid JSON at header byte 16, expected an object, found '\"k\"}'");
  CHECK(complaint(file_of("{\"__metadata__\":{\"k\":\"\",\"k\":\"\"}}")) ==
        ", metadata: key appears twice at header byte 24, expected unique keys, found '\"k\":\"\"}}'");
}

// The complaint about a file with 16 data bytes and one tensor 't', without the leading "f, tensor 't': ".
static std::string about(std::string_view entry) {
  const std::string message = complaint(file_of("{\"t\":{" + std::string(entry) + "}}", 16));
  const std::string_view common = ", tensor 't': ";
  return message.starts_with(common) ? message.substr(common.size()) : message;
}

TEST_CASE("the entry of a tensor") {
  CHECK(about(R"("dtype":"F32","shape":[4],"data_offsets":[0,16])") == "no error");
  CHECK(about(R"("shape":[4],"data_offsets":[0,16])") == "dtype is missing");
  CHECK(about(R"("dtype":"F32","data_offsets":[0,16])") == "shape is missing");
  CHECK(about(R"("dtype":"F32","shape":[4])") == "data_offsets is missing");
  CHECK(about(R"("dtype":"F31","shape":[4],"data_offsets":[0,16])") ==
        "dtype is not known, expected one of F32 F64 F16 BF16 I8 I16 I32 I64 U8 U16 U32 U64 BOOL, found 'F31'");
  CHECK(about(R"("dtype":"f32","shape":[4],"data_offsets":[0,16])").starts_with("dtype is not known"));
  CHECK(about(R"("dtype":7,"shape":[4],"data_offsets":[0,16])") ==
        "header is not valid JSON at header byte 14, expected the dtype as a string, found '7,\"shape\":[4],\"d'");
  CHECK(about(R"("dtype":"F32","shape":4,"data_offsets":[0,16])") ==
        "header is not valid JSON at header byte 28, expected the shape as an array, found '4,\"data_offsets\"'");
  CHECK(about(R"("dtype":"F32","dtype":"F32")") ==
        "key appears twice at header byte 20, expected unique keys, found '\"dtype\":\"F32\"}}'");
  CHECK(about(R"("dtype":"F32","shape":[-4],"data_offsets":[0,16])") ==
        "shape is not an integer from 0 to 2^63 - 1 at header byte 29, expected such an integer, found "
        "'-4],\"data_offset'");
  CHECK(about(R"("dtype":"F32","shape":[4.0],"data_offsets":[0,16])") ==
        "shape is not an integer from 0 to 2^63 - 1 at header byte 29, expected such an integer, found "
        "'4.0],\"data_offse'");
  CHECK(about(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,16])") ==
        "shape is not an integer from 0 to 2^63 - 1 at header byte 29, expected such an integer, found "
        "'9223372036854775'");
  CHECK(about(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,16])") ==
        "shape is too large, expected fewer than 2^63 bytes, found [4294967296, 4294967296]");
  CHECK(about(R"("dtype":"F64","shape":[2305843009213693954],"data_offsets":[0,16])") ==
        "shape is too large, expected fewer than 2^63 bytes, found [2305843009213693954]");
  std::string ones = "1";
  for (int i = 0; i < 64; ++i) ones += ",1";
  CHECK(
      about("\"shape\":[" + ones + "]").starts_with("shape has too many dimensions at header byte 143, expected at "));
  CHECK(about(R"("dtype":"F32","shape":[5],"data_offsets":[0,16])") ==
        "data_offsets do not fit the shape, expected 20 bytes for f32 [5], found 16 bytes at [0,16]");
  CHECK(about(R"("dtype":"F32","shape":[4],"data_offsets":[0,12])") ==
        "data_offsets do not fit the shape, expected 16 bytes for f32 [4], found 12 bytes at [0,12]");
  CHECK(about(R"("dtype":"F32","shape":[3],"data_offsets":[0,16])") ==
        "data_offsets do not fit the shape, expected 12 bytes for f32 [3], found 16 bytes at [0,16]");
  CHECK(about(R"("dtype":"F32","shape":[4],"data_offsets":[16,0])") ==
        "data_offsets are reversed, expected begin <= end, found [16,0]");
  CHECK(about(R"("dtype":"F32","shape":[5],"data_offsets":[0,20])") ==
        "data is truncated: data_offsets exceed the data section, expected at most 16, found [0,20]");
  CHECK(
      about(R"("dtype":"F32","shape":[4],"data_offsets":[-16,0])").starts_with("data_offsets is not an integer from"));
  CHECK(about(R"("dtype":"F32","shape":[4],"data_offsets":[0])") ==
        "data_offsets has too few values before this at header byte 50, expected [begin, end], found '}}'");
  CHECK(about(R"("dtype":"F32","shape":[4],"data_offsets":[])") ==
        "data_offsets has too few values before this at header byte 49, expected [begin, end], found '}}'");
  CHECK(about(R"("dtype":"F32","shape":[4],"data_offsets":[0,16,16])") ==
        "data_offsets has too many values at header byte 53, expected [begin, end], found '16]}}'");
}

TEST_CASE("the data section is covered exactly once") {
  const auto two = [](std::string_view first, std::string_view second, std::size_t bytes) {
    return complaint(file_of("{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + std::string(first) +
                                 "},\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" + std::string(second) +
                                 "}}",
                             bytes));
  };
  CHECK(two("[0,4]", "[4,8]", 8) == "no error");
  CHECK(two("[4,8]", "[0,4]", 8) == "no error");
  CHECK(two("[0,4]", "[3,7]", 7) ==
        ", tensor 'b': data overlaps that of tensor 'a', expected data_offsets from 4, found 3");
  CHECK(two("[0,4]", "[0,4]", 4) ==
        ", tensor 'b': data overlaps that of tensor 'a', expected data_offsets from 4, found 0");
  CHECK(two("[5,9]", "[0,4]", 9) ==
        ", tensor 'a': bytes before the data belong to no tensor, expected data_offsets from 4, found 5");
  CHECK(two("[1,5]", "[5,9]", 9) ==
        ", tensor 'a': bytes before the data belong to no tensor, expected data_offsets from 0, found 1");
  CHECK(two("[0,4]", "[4,8]", 9) ==
        ": bytes after the last tensor belong to no tensor, expected a data section of 8 bytes, found 9");
  CHECK(complaint(file_of("{}", 1)) ==
        ": bytes after the last tensor belong to no tensor, expected a data section of 0 bytes, found 1");
}

TEST_CASE("truncated anywhere, a file is refused") {
  const std::string whole = read_file(assets + "/digits_cnn.safetensors");
  REQUIRE(read(whole).tensors().size() == 20);
  for (std::size_t size = 0; size < whole.size(); size += size < 1600 ? 1 : 997)
    CHECK(complaint(whole.substr(0, size)) != "no error");
}

TEST_CASE("what a model asks for and the file does not have") {
  const dk::safetensors file(assets + "/digits_cnn.safetensors");
  const auto without_path = [&](const std::string& message) { return message.substr(file.name().size()); };
  CHECK(without_path(error_of([&] { return file.at("conv4.weight").name; })) ==
        ", tensor 'conv4.weight': tensor is missing, found 20 tensors, of which the nearest are "
        "'conv1.weight', 'conv2.weight', 'conv3.weight'");
  CHECK(without_path(error_of([&] { return file.check("fc.bias", dk::f16, {10}).name; })) ==
        ", tensor 'fc.bias': dtype differs, expected f16 [10], found f32 [10]");
  CHECK(without_path(error_of([&] {
          return file.check("fc.weight", dk::f32, {128, 10}).name;
        })) == ", tensor 'fc.weight': shape differs, expected f32 [128, 10], found f32 [10, 128]");
  const std::vector<dk::required_tensor> required{{"fc.weight", dk::f32, {128, 10}},
                                                  {"fc.bias", dk::f32, {10}},
                                                  {"conv1.bias", dk::i64, {16}},
                                                  {"conv4.bias", dk::f32, {16}}};
  CHECK(without_path(error_of([&] { return file.check_all(required), 0; })) ==
        ": 3 of the 4 tensors needed are missing or differ:\n"
        "  'fc.weight': expected f32 [128, 10], found f32 [10, 128]\n"
        "  'conv1.bias': expected i64 [16], found f32 [16]\n"
        "  'conv4.bias': expected f32 [16], found nothing; the nearest name is 'conv2.bias'");
  CHECK_NOTHROW(file.check_all(std::span(required).subspan(1, 1)));
  CHECK(error_of([&] { return read(file_of("{}")).at("x").name; }) ==
        "f, tensor 'x': tensor is missing, found 0 tensors");
}
