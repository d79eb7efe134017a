// SPDX-License-Identifier: MIT
// Tests of the search for extents that fit: what it finds holds, and it is the smallest and the nearest there is.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/inspect/fitting_extents.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace dnnkit;

namespace {

std::string example_of(const graph& g, const std::vector<assumption>& more = {}) {
  const fitting_extents f(g, more);
  const auto found = f.example();
  return found ? f.print(*found) : "none";
}
std::string nearest_to(const graph& g, const fitting_extents::values& given) {
  const fitting_extents f(g);
  std::string text;
  for (const fitting_extents::change& c : f.nearest(given)) text += (text.empty() ? "" : ", ") + f.print(c);
  return text;
}
// A value of the graph with this extent.
void add_extent(graph& g, dim d) {
  value v;
  v.type.dims.push_back(d);
  g.values.push_back(v);
}

// floor((H-1)/2)+1 = 2 W
struct halved {
  graph g;
  dim h = g.symbols.symbol_named("H", {1, 1000}), w = g.symbols.symbol_named("W", {1, 1000});
  dim left = g.symbols.add(g.symbols.floor_div(g.symbols.add(h, -1), 2), 1), right = g.symbols.mul(w, 2);

  halved() { g.symbols.assume(left, right, "Concat 'c'"); }
};

}  // namespace

TEST_CASE("an example has the least values, and all that is assumed holds for it") {
  halved x;
  CHECK(example_of(x.g) == "H = 3 and W = 1");
  x.g.symbols.assume(x.w, relation::at_least, 10, "Conv 'd'");
  CHECK(example_of(x.g) == "H = 39 and W = 10");
  CHECK(example_of(x.g, {{x.h, 40, relation::equal, {}}}) == "H = 40 and W = 10");
  CHECK(example_of(x.g, {{x.h, 41, relation::equal, {}}}) == "none");  // ceil(41 / 2) is odd
}

TEST_CASE("an example leaves no extent empty where that can be") {
  halved x;
  add_extent(x.g, x.g.symbols.floor_div(x.w, 32));
  CHECK(example_of(x.g) == "H = 127 and W = 32");
  add_extent(x.g, x.g.symbols.floor_div(x.w, 2000));  // never more than 0
  CHECK(example_of(x.g) == "H = 3 and W = 1");
}

TEST_CASE("two symbols that nothing ties together are both found behind many that do not fit") {
  graph g;
  const dim h = g.symbols.symbol_named("H", {1, 100'000}), w = g.symbols.symbol_named("W", {1, 100'000});
  for (const dim d : {h, w}) g.symbols.assume(g.symbols.floor_div(d, 7), relation::at_least, 100, "Conv 'c'");
  CHECK(example_of(g) == "H = 700 and W = 700");
}

TEST_CASE("of one symbol, how far an example reaches") {
  graph g;
  const dim n = g.symbols.symbol_named("n", {1, 100'000});
  g.symbols.assume(g.symbols.floor_div(g.symbols.add(n, 3), 100), 2, "Squeeze");
  CHECK(example_of(g) == "n = 197 to 296");
  graph once;
  once.symbols.assume(once.symbols.mul(once.symbols.symbol_named("n", {1, 1000}), 3), 300, "Squeeze");
  CHECK(example_of(once) == "n = 100");
  graph open;
  const dim m = open.symbols.symbol_named("m", {1, 100'000});
  open.symbols.assume(open.symbols.floor_div(m, 7), relation::at_least, 100, "Conv");
  CHECK(example_of(open) == "m = 700");  // and more, as far as anybody has looked
}

TEST_CASE("what is out of bounds or out of reach is not found") {
  graph g;
  const dim h = g.symbols.symbol_named("H", {1, 10});
  g.symbols.assume(g.symbols.floor_div(h, 2), relation::at_least, 5, "A");
  CHECK(example_of(g) == "H = 10");
  g.symbols.assume(g.symbols.mod(h, 7), 6, "B");
  CHECK(example_of(g) == "none");
  graph far;
  const dim n = far.symbols.symbol_named("n", {1, 1 << 30});
  far.symbols.assume(far.symbols.floor_div(n, 2), relation::at_least, 1 << 20, "A");
  CHECK(example_of(far) == "none");
}

TEST_CASE("a search among too many values is given up") {
  graph g;
  dim product = 1;
  for (const char* name : {"a", "b", "c", "d"})
    product = g.symbols.mul(product, g.symbols.symbol_named(name, {2, 100'000}));
  g.symbols.assume(product, 1'000'003, "Reshape");  // which is prime
  CHECK(example_of(g) == "none");
  CHECK(nearest_to(g, {2, 2, 2, 2}).empty());
}

TEST_CASE("nearest values, one symbol at a time") {
  const halved x;
  CHECK(nearest_to(x.g, {7, 1}) == "W = 2, H = 4");      // of W for 4 = 2 W, and of H for 1 <= ceil(H / 2) = 2
  CHECK(nearest_to(x.g, {5, 1}) == "H = 4");             // ceil(5 / 2) is odd, whatever W is
  CHECK(nearest_to(x.g, {5, 250}) == "H = 999");         // and not 1000
  CHECK(nearest_to(x.g, {1, 600}).empty());              // H would have to be out of bounds
  CHECK(nearest_to(x.g, {5, std::nullopt}) == "H = 4");  // W follows
}

TEST_CASE("plain assumptions need no example") {
  graph g;
  const dim a = g.symbols.symbol_named("a", {1, 100}), b = g.symbols.symbol_named("b", {1, 100});
  g.symbols.assume(a, b, "Add");
  g.symbols.assume(b, relation::different, 1, "Squeeze");
  CHECK(!fitting_extents(g).need_thought());
  CHECK(example_of(g) == "a = 2 and b = 2");
  g.symbols.assume(g.symbols.floor_div(a, 2), relation::at_least, 4, "Conv");
  CHECK(fitting_extents(g).need_thought());
}
