// SPDX-License-Identifier: MIT
// Symbols of a program: given, read off the inputs, or neither; and what is said of values that do not fit.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/program_symbols.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/error_of.hpp"

namespace dk = dnnkit;
using dk::dim;
using dk::detail::program_symbols;

namespace {

using extents = std::vector<std::int64_t>;

// A network with one input "x" of the shape that `dims` makes.
struct network {
  dk::symbol_table table;
  dk::shape dims;

  explicit network(const std::function<dk::shape(dk::symbol_table&)>& make) : dims(make(table)) {}
  extents values(const program_symbols::sizes& given, const extents& x) const {
    const std::vector<program_symbols::input> inputs{{"input 'x'", "x: f32 " + dk::print(table, dims).str(), dims, x}};
    return program_symbols(table, given, inputs).values();
  }
  std::string refusal(const program_symbols::sizes& given, const extents& x) const {
    return error_of([&] { return values(given, x); });
  }
};
dim symbol(dk::symbol_table& t, const char* name) { return t.symbol_named(name, {1, 100}); }

const network plain([](auto& t) { return dk::shape{symbol(t, "N"), 3}; });
const network twice([](auto& t) { return dk::shape{t.mul(symbol(t, "H"), 2), t.add(symbol(t, "H"), 1)}; });
const network half([](auto& t) { return dk::shape{t.floor_div(symbol(t, "H"), dim(2))}; });
const network quarter([](auto& t) { return dk::shape{t.mul(symbol(t, "H/2/2"), 4), symbol(t, "W")}; });
const network fixed([](auto&) { return dk::shape{2, 3}; });

}  // namespace

TEST_CASE("symbols follow from the inputs, and may be given as well") {
  CHECK(plain.values({}, {7, 3}) == extents{7});
  CHECK(plain.values({{"N", 7}}, {7, 3}) == extents{7});
  CHECK(twice.values({}, {14, 8}) == extents{7});
  CHECK(fixed.values({}, {2, 3}) == extents{});
  CHECK(plain.refusal({{"N", 6}}, {7, 3}) ==
        "symbol 'N': has two values, expected 6, from --dim N, found 7, from input 'x'");
}

TEST_CASE("an extent that is a multiple of a symbol") {
  CHECK(twice.refusal({}, {15, 8}) ==
        "input 'x': extent 0 is not of the form it must have, expected 2*H (x: f32 [2*H, H+1]), found 15");
  CHECK(twice.refusal({}, {14, 9}) ==
        "symbol 'H': has two values, expected 7, from input 'x', found 8, from input 'x'");
}

TEST_CASE("an extent that does not tell its symbol: which has to be given, and must fit") {
  CHECK(half.refusal({}, {3}) ==
        "symbol 'H': has no value, which no input's shape tells (x: f32 [floor_div(H, 2)]); give it one by --dim "
        "H=NUMBER");
  CHECK(half.values({{"H", 6}}, {3}) == extents{6});
  CHECK(half.values({{"H", 7}}, {3}) == extents{7});
  CHECK(half.refusal({{"H", 8}}, {3}) ==
        "input 'x': has another shape than the network's, expected [4] (x: f32 [floor_div(H, 2)]), found [3]");
}

TEST_CASE("a symbol that is a part of what the model calls by name") {
  CHECK(quarter.values({}, {12, 5}) == extents{3, 5});
  CHECK(quarter.values({{"H", 12}}, {12, 5}) == extents{3, 5});
  CHECK(quarter.values({{"H/2", 6}}, {12, 5}) == extents{3, 5});
  CHECK(quarter.values({{"H/2/2", 3}, {"H", 12}}, {12, 5}) == extents{3, 5});
  CHECK(quarter.refusal({{"H", 14}}, {12, 5}) ==
        "--dim H: is no extent that the network can have, expected a multiple of 4, found 14");
  CHECK(quarter.refusal({{"H", 16}}, {12, 5}) ==
        "symbol 'H/2/2': has two values, expected 4, from --dim H, found 3, from input 'x'");
}

TEST_CASE("names that stand for nothing, and values out of bounds") {
  CHECK(quarter.refusal({{"L", 3}}, {12, 5}) ==
        "--dim L: the network has no symbol of this name, expected one of H/2/2, W (x: f32 [4*(H/2/2), W]), "
        "found L");
  CHECK(quarter.refusal({{"", 3}}, {12, 5}).find("no symbol of this name") != std::string::npos);
  CHECK(fixed.refusal({{"N", 3}}, {2, 3}) ==
        "--dim N: the network has no symbol of this name, expected no --dim: it has none at all (x: f32 [2, "
        "3]), found N");
  CHECK(plain.refusal({}, {101, 3}) ==
        "symbol 'N': is out of its bounds, expected 1 to 100, found 101, from input 'x'");
  CHECK(plain.refusal({}, {7, 4}) ==
        "input 'x': has another shape than the network's, expected [7, 3] (x: f32 [N, 3]), found [7, 4]");
}
