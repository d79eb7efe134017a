// SPDX-License-Identifier: MIT
// Tests of tensors by name, without a format: a list of the caller's own.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/weight_file.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/weights/safetensors.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

static_assert(std::is_nothrow_move_constructible_v<dk::weight_file> && !std::is_copy_constructible_v<dk::weight_file>);
static_assert(std::is_convertible_v<dk::safetensors, dk::weight_file>);

namespace {

constexpr std::array<float, 3> values{1, 2, 3};

dk::weight_file list() {
  const auto data = std::as_bytes(std::span(values));
  return {"list", {{"b", dk::f32, {3}, data}, {"a", dk::f32, {2}, data.first(8)}}, nullptr, {{"u", "cannot be read"}}};
}

}  // namespace

TEST_CASE("tensors by name") {
  const dk::weight_file file = list();
  CHECK(file.name() == "list");
  CHECK(file.tensors().size() == 2);
  CHECK(file.tensors()[0].name == "b");
  CHECK(&file.at("a") == &file.tensors()[1]);
  CHECK(file.find("c") == nullptr);
  CHECK(file.find("u") == nullptr);
  CHECK(&file.check("b", dk::f32, {3}) == &file.tensors()[0]);
}

TEST_CASE("what is missing or different is an error with its name") {
  const dk::weight_file file = list();
  CHECK(error_of([&] { return &file.at("c"); }) == "list, tensor 'c': tensor is missing, found 2 tensors: 'a', 'b'");
  const dk::weight_file named("named", {{"layer1.conv.weight", dk::f32, {3}, std::as_bytes(std::span(values))},
                                        {"layer2.conv.weight", dk::f32, {3}, std::as_bytes(std::span(values))}});
  CHECK(error_of([&] { return &named.at("layer1.conv.weigth"); }) ==
        "named, tensor 'layer1.conv.weigth': tensor is missing, found 2 tensors, of which the nearest are "
        "'layer1.conv.weight', 'layer2.conv.weight'");
  const dk::required_tensor misspelt[] = {{"layer3.conv.weight", dk::f32, {3}}};
  CHECK(error_of([&] {
          return named.check_all(misspelt), 0;
        }).ends_with("expected f32 [3], found nothing; the nearest name is 'layer1.conv.weight'"));
  const dk::required_tensor another[] = {{"layer1.conv.weight", dk::f32, {3}}, {"layer3.conv.weight", dk::f32, {3}}};
  CHECK(error_of([&] {
          return named.check_all(another), 0;
        }).ends_with("expected f32 [3], found nothing; the nearest name is 'layer2.conv.weight'"));
  CHECK(error_of([&] { return &file.at("u"); }) == "list, tensor 'u': cannot be read");
  CHECK(error_of([&] { return &file.check("b", dk::f16, {3}); }) ==
        "list, tensor 'b': dtype differs, expected f16 [3], found f32 [3]");
  CHECK(error_of([&] {
          return &file.check("b", dk::f32, {1, 3});
        }) == "list, tensor 'b': shape differs, expected f32 [1, 3], found f32 [3]");
  const dk::required_tensor required[] = {
      {"a", dk::f32, {2}}, {"b", dk::f32, {4}}, {"c", dk::i8, {}}, {"u", dk::u8, {}}};
  CHECK(error_of([&] { return file.check_all(required), 0; }) ==
        "list: 3 of the 4 tensors needed are missing or differ:\n"
        "  'b': expected f32 [4], found f32 [3]\n"
        "  'c': expected i8 [], found nothing\n"
        "  'u': expected u8 [], found one that cannot be read: cannot be read");
}

TEST_CASE("a list without tensors, however it is written") {
  CHECK(dk::weight_file("none", {}).tensors().empty());
  CHECK(dk::weight_file("none", std::vector<dk::stored_tensor>{}).find("a") == nullptr);
  static_assert(!std::is_constructible_v<dk::weight_file, std::string, std::nullptr_t>);
}

TEST_CASE("two tensors of one name are refused") {
  CHECK(error_of([] {
          return dk::weight_file("list", {{"x", dk::f32, {0}, {}}, {"x", dk::u8, {0}, {}}});
        }) == "list, tensor 'x': tensor appears twice");
}

TEST_CASE("memory that can do something about it hears what need not be there") {
  struct counting {
    std::array<std::byte, 8> bytes{};
    mutable std::vector<std::size_t> evicted;  // offset and size of each
    void evict(std::span<const std::byte> data) const {
      evicted.push_back(static_cast<std::size_t>(data.data() - bytes.data()));
      evicted.push_back(data.size());
    }
  };
  const auto memory = std::make_shared<const counting>();
  const std::span<const std::byte> data = memory->bytes;
  const dk::weight_file file("list", {{"x", dk::u8, {3}, data.first(3)}, {"y", dk::u8, {5}, data.last(5)}}, memory);
  file.evict(file.at("y"));
  file.evict(file.at("x"));
  CHECK(memory->evicted == std::vector<std::size_t>{3, 5, 0, 3});
  list().evict(list().at("b"));  // the caller's memory
  CHECK(values == std::array<float, 3>{1, 2, 3});
}

TEST_CASE("the memory lives as long as the file, wherever that moves") {
  auto memory = std::make_shared<std::vector<std::byte>>(4);
  const std::weak_ptr<std::vector<std::byte>> watched = memory;
  {
    dk::weight_file first("list", {{"x", dk::u8, {4}, *memory}}, memory);
    memory.reset();
    const dk::weight_file second = std::move(first);
    CHECK(!watched.expired());
    CHECK(second.at("x").data.data() == watched.lock()->data());
  }
  CHECK(watched.expired());
}
