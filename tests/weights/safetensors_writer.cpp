// SPDX-License-Identifier: MIT
// Tests of the safetensors writer: the reference implementation's bytes, random round trips, refusals.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/safetensors_writer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace dk = dnnkit;

static const std::string assets = DNNKIT_ASSETS;

TEST_CASE("files of the reference implementation are reproduced byte for byte") {
  // The reference implementation writes metadata in random order; in these two files it happens to be sorted.
  const temporary_folder folder;
  for (const std::string name : {"/digits.safetensors", "/wdsr_x2.safetensors"}) {
    const dk::safetensors original(assets + name);
    auto shuffled = original.tensors();
    std::ranges::reverse(shuffled);
    dk::save_safetensors(folder / "copy", shuffled, original.metadata());
    CHECK(read_file(folder / "copy") == read_file(assets + name));
  }
}

TEST_CASE("a file with all dtypes, as written by the Python package safetensors 0.8") {
  const std::string header = R"({"__metadata__":{"k":"v"},)"
                             R"("u8":{"dtype":"U64","shape":[],"data_offsets":[0,8]},)"
                             R"("i8":{"dtype":"I64","shape":[1],"data_offsets":[8,16]},)"
                             R"("f8":{"dtype":"F64","shape":[1],"data_offsets":[16,24]},)"
                             R"("e":{"dtype":"F32","shape":[0,2],"data_offsets":[24,24]},)"
                             R"("f4":{"dtype":"F32","shape":[1,3],"data_offsets":[24,36]},)"
                             R"("u4":{"dtype":"U32","shape":[1],"data_offsets":[36,40]},)"
                             R"("i4":{"dtype":"I32","shape":[1],"data_offsets":[40,44]},)"
                             R"("f2":{"dtype":"F16","shape":[1],"data_offsets":[44,46]},)"
                             R"("u2":{"dtype":"U16","shape":[1],"data_offsets":[46,48]},)"
                             R"("i2":{"dtype":"I16","shape":[1],"data_offsets":[48,50]},)"
                             R"("i1":{"dtype":"I8","shape":[1],"data_offsets":[50,51]},)"
                             R"("\"q\n\"":{"dtype":"U8","shape":[1],"data_offsets":[51,52]},)"
                             R"("u1":{"dtype":"U8","shape":[1],"data_offsets":[52,53]},)"
                             R"("b":{"dtype":"BOOL","shape":[2],"data_offsets":[53,55]}}     )";
  const std::array<std::uint64_t, 1> eight{8};
  const std::array<std::int64_t, 1> minus_eight{-8};
  const std::array<double, 1> one_and_a_half{1.5};
  const std::array<float, 3> one_two_three{1, 2, 3};
  const std::array<std::uint32_t, 1> four{4};
  const std::array<std::int32_t, 1> minus_four{-4};
  const std::array<std::uint16_t, 2> half_one_and_two{0x3c00, 2};
  const std::array<std::int16_t, 1> minus_two{-2};
  const std::array<std::uint8_t, 5> small{0xff, 7, 255, 1, 0};
  const auto bytes = [](const auto& values) { return std::as_bytes(std::span(values)); };
  const std::vector<dk::stored_tensor> tensors{{"b", dk::boolean, {2}, bytes(small).subspan(3, 2)},
                                               {"f8", dk::f64, {1}, bytes(one_and_a_half)},
                                               {"f4", dk::f32, {1, 3}, bytes(one_two_three)},
                                               {"f2", dk::f16, {1}, bytes(half_one_and_two).first(2)},
                                               {"i1", dk::i8, {1}, bytes(small).first(1)},
                                               {"u1", dk::u8, {1}, bytes(small).subspan(2, 1)},
                                               {"i2", dk::i16, {1}, bytes(minus_two)},
                                               {"u2", dk::u16, {1}, bytes(half_one_and_two).last(2)},
                                               {"i4", dk::i32, {1}, bytes(minus_four)},
                                               {"u4", dk::u32, {1}, bytes(four)},
                                               {"i8", dk::i64, {1}, bytes(minus_eight)},
                                               {"u8", dk::u64, {}, bytes(eight)},
                                               {"e", dk::f32, {0, 2}, {}},
                                               {"\"q\n\"", dk::u8, {1}, bytes(small).subspan(1, 1)}};
  const std::string_view data(
      "\x08\0\0\0\0\0\0\0\xf8\xff\xff\xff\xff\xff\xff\xff\0\0\0\0\0\0\xf8\x3f\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\x04\0\0"
      "\0"
      "\xfc\xff\xff\xff\0\x3c\x02\0\xfe\xff\xff\x07\xff\x01\0",
      55);
  const temporary_folder folder;
  dk::save_safetensors(folder / "f", tensors, {{"k", "v"}});
  CHECK(read_file(folder / "f") == std::string("\x30\x03\0\0\0\0\0\0", 8) + header + std::string(data));
}

TEST_CASE("bf16 comes before f16, as in the reference implementation") {
  const std::array<std::byte, 2> data{};
  const std::vector<dk::stored_tensor> tensors{{"h", dk::f16, {1}, data}, {"z", dk::bf16, {1}, data}};
  const temporary_folder folder;
  dk::save_safetensors(folder / "f", tensors);
  const dk::safetensors file(folder / "f");
  CHECK(file.tensors()[0].name == "z");
  CHECK(file.tensors()[1].name == "h");
}

TEST_CASE("random tensors come back as they were") {
  const unsigned seed = 20240501;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto up_to = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n)(random); };
  const temporary_folder folder;
  const std::vector<std::string> pieces{"a",        "weight",           ".", "\"", "\\", "\n", "\x01",
                                        "\xc3\xbc", "\xf0\x9f\x98\x80", " "};
  const auto name = [&] {
    std::string text;
    for (std::size_t n = up_to(5); n > 0; --n) text += pieces[up_to(pieces.size() - 1)];
    return text;
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> pool(4096);
    for (std::byte& b : pool) b = static_cast<std::byte>(up_to(255));
    dk::string_map metadata;
    for (std::size_t n = up_to(3); n > 0; --n) metadata[name()] = name();
    std::vector<dk::stored_tensor> tensors;
    for (std::size_t n = up_to(8); n > 0; --n) {
      dk::stored_tensor t{name(), static_cast<dk::dtype>(up_to(dk::dtype_table.size() - 1)), {}, {}};
      if (std::ranges::any_of(tensors, [&](const auto& other) { return other.name == t.name; })) continue;
      for (std::size_t rank = up_to(4); rank > 0; --rank) t.shape.push_back(static_cast<std::int64_t>(up_to(4)));
      const std::size_t size = *dk::detail::dense_bytes(t.dtype, t.shape);
      t.data = std::span(pool).subspan(up_to(pool.size() - size), size);
      tensors.push_back(t);
    }
    dk::save_safetensors(folder / "f", tensors, metadata);
    const dk::safetensors file(folder / "f");
    CHECK(file.metadata() == metadata);
    REQUIRE(file.tensors().size() == tensors.size());
    for (const dk::stored_tensor& t : tensors) {
      const dk::stored_tensor& copy = file.check(t.name, t.dtype, t.shape);
      CHECK(std::ranges::equal(copy.data, t.data));
      CHECK(reinterpret_cast<std::uintptr_t>(copy.data.data()) % dk::size_of(t.dtype) == 0);
    }
    std::ranges::shuffle(tensors, random);
    dk::save_safetensors(folder / "g", tensors, metadata);
    CHECK(read_file(folder / "f") == read_file(folder / "g"));
  }
}

TEST_CASE("what cannot be stored is refused, and an existing file stays") {
  const temporary_folder folder;
  const std::string where = (folder / "f").string();
  write_file(where, "precious");
  std::array<std::byte, 8> data{};
  const auto refusal = [&](std::vector<dk::stored_tensor> tensors, const dk::string_map& metadata = {}) {
    const std::string message = error_of([&] { return dk::save_safetensors(where, tensors, metadata), 0; });
    return message.starts_with(where) ? message.substr(where.size()) : message;
  };
  CHECK(refusal({{"t", dk::f32, {3}, data}}) ==
        ", tensor 't': data does not have the size of the tensor, expected 12 bytes for f32 [3], found 8");
  CHECK(refusal({{"t", dk::f32, {-2}, data}}) == ", tensor 't': shape is negative or too large, found f32 [-2]");
  CHECK(refusal({{"t", dk::f32, {2}, data}, {"t", dk::u8, {8}, data}}) == ", tensor 't': tensor appears twice");
  CHECK(refusal({{"__metadata__", dk::f32, {2}, data}}) == ", tensor '__metadata__': name is reserved");
  CHECK(refusal({{"\xff", dk::f32, {2}, data}}) == ", tensor '\\xff': text is not UTF-8");
  CHECK(refusal({}, {{"k", "\xc3"}}) == ", metadata 'k': text is not UTF-8");
  CHECK(refusal({}, {{"\xc3", "v"}}) == ", metadata: text is not UTF-8");
  CHECK(read_file(where) == "precious");
  CHECK(folder.entries() == 1);
  const dk::stored_tensor good{"t", dk::f32, {2}, data};
  CHECK(error_of([&] { return dk::save_safetensors(folder / "no" / "f", std::span(&good, 1)), 0; }) ==
        (folder / "no/f").string() + ": cannot write file (No such file or directory)");
  CHECK(error_of([&] { return dk::save_safetensors(folder.path(), std::span(&good, 1)), 0; }) ==
        folder.path().string() + ": is a directory, expected a file to write");
  CHECK(error_of([&] { return dk::save_safetensors("/dev/full", std::span(&good, 1)), 0; }) ==
        "/dev/full: cannot write to file (No space left on device)");
  dk::save_safetensors(where, std::span(&good, 1));
  CHECK(dk::safetensors(where).tensors().size() == 1);
}
