// SPDX-License-Identifier: MIT
// Formatters of the fmt library: what each type looks like, and that widths are those of texts.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/fmt.hpp"

#include <doctest/doctest.h>

#include <string>

#include "dnnkit/graph/builder.hpp"

namespace dk = dnnkit;

TEST_CASE("element types, extents and shapes") {
  CHECK(fmt::format("{} {} {}", dk::f32, dk::boolean, dk::bf16) == "f32 bool bf16");
  CHECK(fmt::format("{} {}", dk::dim(3), dk::dim::unknown()) == "3 ?");
  CHECK(fmt::format("{}", dk::shape{1, 3, dk::dim::unknown()}) == "[1, 3, ?]");
  CHECK(fmt::format("{}", dk::shape{}) == "[]");
  CHECK(fmt::format("{}, {}, {}", dk::sym{"H"}, dk::sym{"H", {1, 9}}, dk::sym{"N", {0}}) ==
        "H, H from 1 to 9, N from 0");
  CHECK(fmt::format("{}", dk::tensor_type{dk::i64, {2, 5}}) == "i64 [2, 5]");
  CHECK(fmt::format("|{:>6}|{:<6}|{:^9}|", dk::f16, dk::dim(7), dk::shape{2, 3}) == "|   f16|7     | [2, 3]  |");
}

TEST_CASE("expressions are printed by the table they are in") {
  dk::builder g;
  const dk::tensor x = g.input("x", dk::f32, {dk::sym{"N"}, 2 * 8});
  CHECK(fmt::format("{}", print(g.value().symbols, x.dims())) == "[N, 16]");
  CHECK(fmt::format("{}", x.size(0)).starts_with("expression "));
}

TEST_CASE("tensors") {
  CHECK(fmt::format("{}", dk::host_tensor(dk::i32, {2, 3})) == "i32 [2, 3]");
  CHECK(fmt::format("{}", dk::stored_tensor{"fc.weight", dk::f16, {10, 128}, {}}) == "'fc.weight' f16 [10, 128]");
}

TEST_CASE("errors") {
  CHECK(fmt::format("{}", dk::error("shape differs", "tensor 'w'", "[2]", "[3]")) ==
        "tensor 'w': shape differs, expected [2], found [3]");
}
