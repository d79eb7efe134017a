// SPDX-License-Identifier: MIT
// Arguments of run(): by position, by names the compiler knows and by names it does not, of any type with data() and
// size().
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/run_argument.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/graph.hpp"
#include "tests/support/error_of.hpp"

namespace dk = dnnkit;

namespace {

struct fixed {
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", dk::f32, {2, 3}), b = g.input("b", dk::f32, {2, 3});
    g.output("difference", a - b);
    g.output("a", dk::cast(b, {.to = dk::i32}));  // an output may be called as an input is
  }
};
struct sized {
  static constexpr void build(dk::builder& g) {
    const dk::tensor ids = g.input("ids", dk::i64, {2, dk::sym{"L", {1, 9}}});
    const dk::tensor mask = g.input("mask", dk::f32, {2, dk::sym{"L", {1, 9}}});
    g.output("y", dk::cast(ids, {.to = dk::f32}) * mask);
  }
};
using fixed_session = dk::session<dk::compile<fixed>>;
using sized_session = dk::session<dk::compile<sized>>;

// A container such as Qt's: sizes are int, and std::span does not take it.
template <class T> struct plain_list {
  std::vector<T> items;
  T* data() { return items.data(); }
  const T* data() const { return items.data(); }
  int size() const { return static_cast<int>(items.size()); }
};

const std::array<float, 6> a{1, 2, 3, 4, 5, 6}, b{6, 5, 4, 3, 2, 1}, difference{-5, -3, -1, 1, 3, 5};

}  // namespace

TEST_CASE("names that the compiler knows, in any order") {
  fixed_session s;
  std::array<float, 6> y{};
  std::array<std::int32_t, 6> n{};
  static_assert(noexcept(s.run(dk::out<"a">(n), dk::in<"b">(b), dk::out<"difference">(y), dk::in<"a">(a))));
  s.run(dk::out<"a">(n), dk::in<"b">(b), dk::out<"difference">(y), dk::in<"a">(a));
  CHECK(y == difference);
  CHECK(n[0] == 6);

  std::vector<float> v(6);
  static_assert(!noexcept(s.run(dk::out<"a">(n), dk::in<"b">(b), dk::out<"difference">(v), dk::in<"a">(a))));
  s.run(dk::serial, dk::in<"a">(a), dk::in<"b">(std::span(b)), dk::out<"difference">(v), dk::out<"a">(n));
  CHECK(v[5] == 5);
  v.pop_back();
  CHECK(error_of([&] { return s.run(dk::out<"a">(n), dk::in<"b">(b), dk::out<"difference">(v), dk::in<"a">(a)); }) ==
        "output 'difference': range has the wrong size, expected 6 elements, found 5");
}

TEST_CASE("names that are known when the program runs") {
  fixed_session s;
  std::array<float, 6> y{};
  std::vector<std::int32_t> n(6);
  s.run({{"b", b}, {"a", a}}, {{"difference", y}, {"a", n}});
  CHECK(y == difference);
  dk::thread_pool pool(2);
  const std::string minuend = "a";
  s.run(pool, {{minuend, b}, {"b", a}}, {{"a", n}, {"difference", y}});
  CHECK(y[0] == 5);
  const std::vector<dk::input_argument> inputs{{"a", a}, {"b", b}};
  std::vector<dk::output_argument> outputs{{"difference", y}, {"a", n}};
  s.run(inputs, outputs);
  s.run(pool, std::span(inputs), std::span(outputs));
  CHECK(y == difference);
}

TEST_CASE("names and ranges that are wrong") {
  fixed_session s;
  std::array<float, 6> y{};
  std::array<std::int32_t, 6> n{};
  using inputs = std::vector<dk::input_argument>;
  using outputs = std::vector<dk::output_argument>;
  const auto run = [&](const inputs& i, const outputs& o) { return error_of([&] { return s.run(i, o); }); };
  const inputs in{{"a", a}, {"b", b}};
  const outputs out{{"difference", y}, {"a", n}};
  CHECK(run(in, out) == "no error");
  CHECK(run({{"a", a}, {"c", b}}, out) == "run: no input has this name, expected 'a', 'b', found 'c'");
  CHECK(run({{"a", a}, {"a", b}}, out) == "input 'a': it is given two ranges");
  CHECK(run({{"a", a}}, out) == "input 'b': no range is given for it");
  CHECK(run(in, {{"difference", y}}) == "output 'a': no range is given for it");
  CHECK(run(in, {{"b", y}}) == "run: no output has this name, expected 'difference', 'a', found 'b'");
  CHECK(run({{"a", n}, {"b", b}}, out) == "input 'a': range has another element type, expected f32, found i32");
  CHECK(run({{"a", std::span(a).first(2)}, {"b", b}}, out) ==
        "input 'a': range has the wrong size, expected 6 elements, found 2");
  CHECK(run({{"a", y}, {"b", b}}, out) == "input 'a' and output 'difference': ranges share memory");
  sized_session unbound;
  CHECK(error_of([&] {
          return unbound.run({{"ids", y}}, {});
        }) == "session: the symbols have no values yet; call bind()");
}

TEST_CASE("anything with data() and size()") {
  sized_session s;
  const plain_list<std::int64_t> ids{{1, 2, 3, 4}};
  const std::vector<long long> same(ids.items.begin(), ids.items.end());
  const float mask[] = {1, 0, 1, 0};
  plain_list<float> y{std::vector<float>(4)};
  s.bind_to(ids, mask);
  s.run(ids, mask, y);
  CHECK(y.items == std::vector<float>{1, 0, 3, 0});
  s.run(same, std::span(mask), y);
  s.run(dk::in<"mask">(mask), dk::out<"y">(y), dk::in<"ids">(ids));
  s.run({{"mask", mask}, {"ids", same}}, {{"y", y}});
  y.items.pop_back();
  CHECK(error_of([&] { return s.run(ids, mask, y); }) ==
        "output 'y': range has the wrong size, expected 4 elements, found 3");
}

TEST_CASE("sizes that no value of a symbol gives, or two of them") {
  sized_session s;
  const std::vector<std::int64_t> ids(8);
  CHECK(error_of([&] { return s.bind_to(std::vector<std::int64_t>(5), a), 0; }) ==
        "input 'ids': range has an extent that no value of symbol 'L' gives, expected [2, L], found [5]");
  std::vector<float> y(8);
  s.bind_to(ids, y);
  CHECK(error_of([&] { return s.bind_to(ids, a), 0; }) ==
        "input 'mask': range has the wrong size, expected 8 elements, found 6");
  CHECK(error_of([&] { return s.bind_to(std::vector<std::int64_t>(6), y), 0; }) ==
        "input 'mask': range has the wrong size, expected 6 elements, found 8");
  CHECK(s.output_elements(0) == 8);  // as before
}
