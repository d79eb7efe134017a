// SPDX-License-Identifier: MIT
// Tests of tensors' elements: each place and element type, and each contradiction with its message.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/format/tensor_bytes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/error_of.hpp"

namespace dk = dnnkit;
using dk::onnx::external_files;
using dk::onnx::tensor_bytes;
using dk::onnx::tensor_data;

static_assert(std::is_nothrow_move_constructible_v<tensor_bytes> && !std::is_copy_constructible_v<tensor_bytes>);

namespace {

tensor_data of(dk::dtype type, std::vector<std::int64_t> dims) {
  tensor_data t;
  t.name = "t";
  t.data_type = dk::onnx::data_type_of(type);
  t.dims = std::move(dims);
  return t;
}
tensor_bytes read(const tensor_data& t) {
  external_files none;
  return {t, none, "f"};
}
// What reading it raises, and checking it as well.
std::string complaint(const tensor_data& t) {
  external_files none;
  const std::string text = error_of([&] { return read(t); });
  CHECK(text == error_of([&] { return tensor_bytes::check(t, none, "f"), 0; }));
  return text;
}
template <class T> std::vector<T> values(const tensor_bytes& t) { return dk::read_values<T>(t.tensor()); }

tensor_data external(std::string_view location, std::uint64_t offset, std::optional<std::uint64_t> length) {
  tensor_data t = of(dk::f32, {2});
  t.external = {location, offset, length};
  return t;
}

}  // namespace

TEST_CASE("raw elements stay where they are") {
  const float elements[] = {1, 2, 3, 4, 5, 6};
  tensor_data t = of(dk::f32, {2, 3});
  t.raw_data = std::as_bytes(std::span(elements));
  const tensor_bytes b = read(t);
  CHECK(b.tensor().name == "t");
  CHECK(b.tensor().dtype == dk::f32);
  CHECK(b.tensor().shape == std::vector<std::int64_t>{2, 3});
  CHECK(b.data().data() == t.raw_data->data());
  CHECK(!b.copied());
}

TEST_CASE("typed fields become elements of the element type") {
  tensor_data t = of(dk::f32, {2});
  t.float_data = {1.5f, -2};
  CHECK(values<float>(read(t)) == std::vector<float>{1.5f, -2});
  CHECK(read(t).data().data() == std::as_bytes(std::span(t.float_data)).data());  // where they are
  CHECK(!read(t).copied());
  t = of(dk::f64, {1, 2});
  t.double_data = {0.1, 4};
  CHECK(values<double>(read(t)) == std::vector<double>{0.1, 4});
  t = of(dk::i64, {1});
  t.int64_data = {-5'000'000'000};
  CHECK(values<std::int64_t>(read(t)) == std::vector<std::int64_t>{-5'000'000'000});
  t = of(dk::u64, {1});
  t.uint64_data = {~std::uint64_t{0}};
  CHECK(values<std::uint64_t>(read(t)) == std::vector<std::uint64_t>{~std::uint64_t{0}});
  t = of(dk::u32, {1});
  t.uint64_data = {4'294'967'295};
  CHECK(values<std::uint32_t>(read(t)) == std::vector<std::uint32_t>{4'294'967'295});

  const auto from_int32 = [](dk::dtype type, std::int32_t x, auto expected) {
    tensor_data narrow = of(type, {1});
    narrow.int32_data = {x};
    CHECK(values<decltype(expected)>(read(narrow)) == std::vector<decltype(expected)>{expected});
    CHECK(read(narrow).copied() == (type != dk::i32));
  };
  from_int32(dk::i32, -2'147'483'647 - 1, std::int32_t{-2'147'483'647 - 1});
  from_int32(dk::i16, -32'768, std::int16_t{-32'768});
  from_int32(dk::i8, -128, std::int8_t{-128});
  from_int32(dk::u16, 65'535, std::uint16_t{65'535});
  from_int32(dk::u8, 255, std::uint8_t{255});
  from_int32(dk::boolean, 1, std::uint8_t{1});
  from_int32(dk::f16, 0x3c00, std::uint16_t{0x3c00});
  from_int32(dk::bf16, 0x8000, std::uint16_t{0x8000});
}

TEST_CASE("a copy stays in place when its owner moves") {
  tensor_data t = of(dk::i16, {1});
  t.int32_data = {3};
  tensor_bytes first = read(t);
  const tensor_bytes second = std::move(first);
  t.int32_data = {4};
  CHECK(values<std::int16_t>(second) == std::vector<std::int16_t>{3});
}

TEST_CASE("scalars and empty tensors") {
  tensor_data t = of(dk::i32, {});
  t.int32_data = {7};
  CHECK(values<std::int32_t>(read(t)) == std::vector<std::int32_t>{7});
  t.int32_data.clear();
  CHECK(complaint(t) == "f, tensor 't': number of elements differs, expected 1 for i32 [], found 0");
  CHECK(read(of(dk::f32, {3, 0})).data().empty());
  t = of(dk::f32, {0});
  t.raw_data.emplace();
  CHECK(read(t).data().empty());
}

TEST_CASE("bytes that are no bool become one") {
  const std::byte stored[] = {std::byte{0}, std::byte{1}, std::byte{2}, std::byte{255}};
  tensor_data t = of(dk::boolean, {4});
  t.raw_data = stored;
  CHECK(values<std::uint8_t>(read(t)) == std::vector<std::uint8_t>{0, 1, 1, 1});
  t.dims = {2};
  t.raw_data = std::span(stored).first(2);
  CHECK(!read(t).copied());
}

TEST_CASE("elements of 8 bits and fewer are unpacked into a wider type, the lowest bits first") {
  const std::byte stored[] = {std::byte{0x8f}, std::byte{0x07}};
  tensor_data t = of(dk::i8, {3});
  t.data_type = 22;  // INT4
  t.raw_data = stored;
  CHECK(values<std::int8_t>(read(t)) == std::vector<std::int8_t>{-1, -8, 7});
  t.raw_data.reset();
  t.int32_data = {0x8f, 0x07};
  CHECK(values<std::int8_t>(read(t)) == std::vector<std::int8_t>{-1, -8, 7});
  t.data_type = 25;  // UINT2
  t.dims = {2, 4};
  CHECK(values<std::uint8_t>(read(t)) == std::vector<std::uint8_t>{3, 3, 0, 2, 3, 1, 0, 0});
  t.data_type = 17;  // FLOAT8E4M3FN
  t.dims = {2};
  t.int32_data = {0x38, 0xfe};
  CHECK(values<float>(read(t)) == std::vector<float>{1, -448});
  t.dims = {3};
  CHECK(complaint(t) ==
        "f, tensor 't': data does not have the size of the tensor, expected 3 bytes for f32 [3], found 2");
  t.dims = {0};
  t.int32_data.clear();
  CHECK(read(t).data().empty());
}

TEST_CASE("element types that dnnkit does not have are refused by name") {
  tensor_data t = of(dk::f32, {1});
  t.data_type = 8;
  t.string_data = {"x"};
  CHECK(complaint(t) == "f, tensor 't': element type is not supported, found STRING");
  t.data_type = 14;
  CHECK(complaint(t) == "f, tensor 't': element type is not supported, found COMPLEX64");
  t.data_type = 27;
  CHECK(complaint(t) == "f, tensor 't': element type is not supported, found FLOAT6E2M3");
  t.data_type = -3;
  CHECK(complaint(t) == "f, tensor 't': element type is not supported, found type -3");
  t.data_type = 0;
  CHECK(complaint(t) == "f, tensor 't': element type is not supported, found UNDEFINED");
}

TEST_CASE("elements that contradict the dimensions are refused") {
  const std::byte stored[7]{};
  tensor_data t = of(dk::f32, {2});
  t.raw_data = stored;
  CHECK(complaint(t) ==
        "f, tensor 't': data does not have the size of the tensor, expected 8 bytes for f32 [2], found 7");
  t.dims = {-1};
  CHECK(complaint(t) == "f, tensor 't': shape is negative or too large, found [-1]");
  t.dims = {1LL << 32, 1LL << 32};
  CHECK(complaint(t) == "f, tensor 't': shape is negative or too large, found [4294967296, 4294967296]");
  t.dims = {1LL << 62};
  CHECK(complaint(t).find("shape is negative or too large") != std::string::npos);
  t.dims = {0, 1LL << 62, 1LL << 62};
  CHECK(complaint(t).find("shape is negative or too large") != std::string::npos);
  // far more elements than any memory has: refused without asking for it
  t = of(dk::f32, {1LL << 40});
  t.float_data = {1};
  CHECK(complaint(t) ==
        "f, tensor 't': number of elements differs, expected 1099511627776 for f32 [1099511627776], found 1");
  t = of(dk::f32, {1LL << 40});
  CHECK(complaint(t).ends_with("found 0"));
}

TEST_CASE("elements given twice, or in a field of another type, are refused") {
  const std::byte stored[4]{};
  tensor_data t = of(dk::f32, {1});
  t.raw_data = stored;
  t.float_data = {1};
  CHECK(complaint(t) ==
        "f, tensor 't': elements are given twice or in a field of another type, expected FLOAT "
        "elements in one place, found float_data");
  t = of(dk::f32, {1});
  t.double_data = {1};
  CHECK(complaint(t).ends_with("found double_data"));
  t = of(dk::i32, {1});
  t.int64_data = {1};
  CHECK(complaint(t).ends_with("found int64_data"));
  t = of(dk::i64, {1});
  t.int32_data = {1};
  CHECK(complaint(t).ends_with("found int32_data"));
  t = external("x", 0, {});
  t.float_data = {1, 2};
  CHECK(complaint(t).ends_with("found float_data"));
}

TEST_CASE("elements that do not fit the element type are refused") {
  const auto refused = [](dk::dtype type, std::int32_t x) {
    tensor_data t = of(type, {2});
    t.int32_data = {0, x};
    return complaint(t);
  };
  CHECK(refused(dk::u8, 256) == "f, tensor 't': element does not fit the element type, expected u8, found 256 at 1");
  CHECK(refused(dk::u8, -1).ends_with("expected u8, found -1 at 1"));
  CHECK(refused(dk::i8, 128).ends_with("expected i8, found 128 at 1"));
  CHECK(refused(dk::f16, 65'536).ends_with("expected f16, found 65536 at 1"));
  tensor_data t = of(dk::u32, {1});
  t.uint64_data = {1ull << 32};
  CHECK(complaint(t).ends_with("expected u32, found 4294967296 at 0"));
}
