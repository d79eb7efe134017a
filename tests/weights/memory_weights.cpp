// SPDX-License-Identifier: MIT
// Weights in memory: element types, shapes that are taken on, names given twice.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/weights/memory_weights.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

TEST_CASE("ranges by name, with the shape that is asked for") {
  const std::vector<float> w(6);
  const std::array<std::int64_t, 2> n{1, 2};
  const bool one[] = {true};
  const std::array<dk::float16, 1> half{};
  const dk::memory_weights file{{"w", w}, {"n", n}, {"one", one}, {"half", half}};
  CHECK(file.tensors().size() == 4);
  CHECK(file.at("w").data.data() == std::as_bytes(std::span(w)).data());
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{6}, {2, 3}, {1, 6, 1}})
    CHECK(&file.check("w", dk::f32, shape) == &file.at("w"));
  CHECK(file.at("n").dtype == dk::i64);
  CHECK(file.at("half").dtype == dk::f16);
  CHECK(file.check("one", dk::boolean, {}).data.size() == 1);  // one element of rank 0
  CHECK(error_of([&] {
          return &file.check("w", dk::f32, {2, 4});
        }) == "weights in memory, tensor 'w': shape differs, expected f32 [2, 4], found f32 [6]");
  CHECK(error_of([&] { return &file.check("n", dk::i32, {2}); }) ==
        "weights in memory, tensor 'n': dtype differs, expected i32 [2], found i64 [2]");
}

TEST_CASE("a list made at run time, and a name given twice") {
  const std::vector<float> w(6);
  std::vector<dk::named_values> list{{"a", w}};
  CHECK(dk::memory_weights(list).find("a") != nullptr);
  list.emplace_back("a", std::span(w).first(2));  // a span may be a temporary
  CHECK(error_of([&] { return dk::memory_weights(list).tensors().size(); }) ==
        "weights in memory, tensor 'a': tensor appears twice");
}
