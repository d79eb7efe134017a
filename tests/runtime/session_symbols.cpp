// SPDX-License-Identifier: MIT
// Symbols of sessions: which values they take, what is checked of them, and extents of which nothing is left.
#include "dnnkit/runtime/session.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/session_networks.hpp"

namespace dk = dnnkit;
using dk::f32;
using namespace harness::session_networks;

TEST_CASE("symbols take their values, and others after that") {
  const prepared<sized_net> p;
  dk::session<sized_net> s(p.weights());
  for (const auto& [h, w] : {std::pair{7, 9}, {40, 30}, {5, 2}, {12, 3}, {7, 9}}) {
    CAPTURE(h);
    s.bind({{"W", w}, {"H", h}});
    const dk::host_tensor x = picture(h, w);
    std::vector<float> y(static_cast<std::size_t>(s.output_elements(0)));
    CHECK(y.size() == static_cast<std::size_t>(2 * (h - 4) * w));
    s.run(floats(x), y);
    check_near(y, p.expected(x, 0));
  }
}

TEST_CASE("values of symbols that cannot be") {
  const prepared<sized_net> p;
  dk::session<sized_net> s(p.weights());
  std::vector<float> in(3 * 6 * 4), y(2 * 2 * 4);
  CHECK(error_of([&] { return s.run(in, y); }) == "session: the symbols have no values yet; call bind()");
  CHECK(error_of([&] { return s.output_elements(0); }).find("call bind()") != std::string::npos);
  s.bind({{"H", 6}, {"W", 4}});
  s.run(in, y);
  const auto bind = [&](std::initializer_list<dk::binding> b) {
    return error_of([&] {
      s.bind(b);
      return 0;
    });
  };
  CHECK(bind({{"H", 41}, {"W", 4}}) == "symbol 'H': symbol is out of its bounds, expected 1 to 40, found 41");
  CHECK(bind({{"H", 6}, {"W", 1}}) == "symbol 'W': symbol is out of its bounds, expected 2 to 30, found 1");
  CHECK(bind({{"H", -1}, {"W", 4}}) == "symbol 'H': symbol is out of its bounds, expected 1 to 40, found -1");
  CHECK(bind({{"H", 6}}) ==
        "symbol 'W': symbol is not given a value, as by bind({{\"W\", NUMBER}, ...}), expected 2 to 30");
  CHECK(bind({}) == "symbol 'H': symbol is not given a value, as by bind({{\"H\", NUMBER}, ...}), expected 1 to 40");
  CHECK(bind({{"H", 6}, {"W", 4}, {"D", 1}}) == "bind: no such symbol, expected H, W, found D");
  CHECK(bind({{"H", 6}, {"W", 4}, {"H", 7}}) == "symbol 'H': symbol is given two values");
  CHECK(bind({{"H", 3}, {"W", 4}}) != "no error");
  s.run(in, y);  // what was bound before stays
  CHECK(error_of([&] { return s.run(std::vector<float>(3 * 6 * 5), y); }) ==
        "input 'picture': range has the wrong size, expected 72 elements, found 90");
}

namespace {
struct of_two_rows {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {"H", 2}), z = g.input("z", f32, {"W", 2});
    g.output("y", dk::add(dk::relu(x), z));
  }
};
}  // namespace

TEST_CASE("extents that are assumed to be equal are checked when symbols are bound") {
  using net = dk::compile<of_two_rows>;
  static_assert(net::kernels == 1);
  dk::session<net> s;
  const std::vector<float> x{1, -2, 3, 4}, z{10, 20, 30, 40};
  std::vector<float> y(4);
  s.bind({{"H", 2}, {"W", 2}});
  s.run(x, z, y);
  CHECK(y == std::vector<float>{11, 20, 33, 44});
  s.bind({{"H", 1}});  // and so W is
  CHECK(s.input_elements(1) == 2);
  s.bind({{"W", 1}});
  CHECK(s.input_elements(0) == 2);
  s.bind_to(x, z);
  CHECK(s.output_elements(0) == 4);
  const std::string differ = "Add: extents that it needs to be equal differ, expected H = 2, found W = 3";
  CHECK(error_of([&] { return s.bind({{"H", 2}, {"W", 3}}), 0; }) == differ);
  CHECK(error_of([&] { return s.bind_to(x, std::vector<float>(6)), 0; }) == differ);
  const dk::graph g = dk::graph_of<of_two_rows>();
  CHECK(error_of([&] {
          return dk::evaluate(g, std::vector{dk::host_tensor(f32, {2, 2}), dk::host_tensor(f32, {3, 2})});
        }) == differ);
  s.run(x, z, y);  // what was bound before stays
  CHECK(y == std::vector<float>{11, 20, 33, 44});
}

// As imported models have them: an extent that must be a multiple of 4, and one that does not tell its symbol.
namespace {
struct of_quarters {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::relu(g.input("x", f32, {g.size({"height/2/2", {1, 10}}) * 4 + 1, 2})));
  }
};
struct of_halves {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {g.size("N"), g.size("H") / 2}), z = g.input("z", f32, {g.size("H") - 1});
    g.output("y", dk::relu(x));
    g.output("w", dk::relu(z));
  }
};
struct of_two_symbols {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", f32, {"N", "M"}))); }
};
}  // namespace

TEST_CASE("a symbol that is a part of what the model calls by name") {
  dk::session<dk::compile<of_quarters>> s;
  const auto bind = [&](std::initializer_list<dk::binding> b) { return error_of([&] { return s.bind(b), 0; }); };
  for (const auto& b : {dk::binding{"height/2/2", 3}, {"height/2", 6}, {"height", 12}}) {
    CHECK(bind({b}) == "no error");
    CHECK(s.input_elements(0) == 26);
    s.bind({{"height", 4}});
    CHECK(s.input_elements(0) == 10);
  }
  CHECK(bind({{"height", 14}}) ==
        "bind, 'height': is no extent that the network can have, expected a multiple of 4, found 14");
  CHECK(bind({{"height", 44}}) == "symbol 'height/2/2': symbol is out of its bounds, expected 1 to 10, found 11");
  CHECK(bind({{"height", 12}, {"height/2", 6}}) == "symbol 'height/2/2': symbol is given two values");
  for (const char* name : {"heigh", "height/", "height/2/2/2"})
    CHECK(bind({{name, 8}}) == "bind: no such symbol, expected height/2/2, found " + std::string(name));
  s.bind_to(std::vector<float>(2 * 13));
  CHECK(s.input_elements(0) == 26);
  CHECK(error_of([&] { return s.bind_to(std::vector<float>(2 * 14)), 0; }) ==
        "input 'x': range has an extent that no value of symbol 'height/2/2' gives, expected [4*(height/2/2)+1, 2], "
        "found [28]");
}

TEST_CASE("extents that do not tell their symbols") {
  dk::session<dk::compile<of_halves>> s;
  const std::vector<float> x(12), z(12);
  s.bind_to(x, z);  // H is 13, and so N is 2
  CHECK(s.output_elements(0) == 12);
  dk::session<dk::compile<of_two_symbols>> flat;
  CHECK(error_of([&] { return flat.bind_to(x), 0; }) ==
        "symbol 'N': the inputs' sizes do not say its value; call bind({{\"N\", NUMBER}, ...}) with the values of all "
        "symbols, found input 'x' [N, M]");
}

namespace {
// An extent that Reshape infers, of which nothing but what is bound tells that it is whole.
struct in_sixes {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {dk::sym("N"), 3}), y = dk::reshape(x, {-1, 6});
    g.output("y", y);
    g.output("sums", dk::reduce_sum(dk::relu(y), {.axes = {0}, .keepdims = false}));
  }
};
}  // namespace
TEST_CASE("an extent that Reshape infers") {
  dk::session<dk::compile<in_sixes>> s;
  std::vector<float> x(12), y(12);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  std::array<float, 6> sums{};
  s.bind({{"N", 4}});
  s.run(x, y, sums);
  CHECK(y == x);
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == x[i] + x[i + 6]);
  CHECK(error_of([&] {
          s.bind({{"N", 3}});
          return 0;
        }).find("N = 3") != std::string::npos);
}

TEST_CASE("where a window no longer fits, the operator and the symbol are named") {
  const prepared<sized_net> p;
  dk::session<sized_net> s(p.weights());
  const auto bind = [&](std::int64_t height) {
    return error_of([&] {
      s.bind({{"H", height}, {"W", 4}});
      return 0;
    });
  };
  CHECK(bind(3) ==
        "Conv 'valid', tensor 'y': an extent would be negative: what is computed does not fit its input, expected "
        "H-4 of 0 or more, found -1 where H = 3");
  CHECK(bind(4) == "no error");
}

TEST_CASE("a result without elements") {
  const prepared<sized_net> p;
  dk::session<sized_net> s(p.weights());
  s.bind({{"H", 4}, {"W", 5}});
  CHECK(s.output_elements(0) == 0);
  std::vector<float> y;
  s.run(std::vector<float>(60), y);
}

TEST_CASE("tensors that no memory holds: what was bound before stays") {
  const prepared<dk::compile<fixed>> p;
  dk::session<dk::compile<huge>> s(p.weights());
  s.bind({{"A", 2}, {"B", 3}});
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  std::vector<float> before(6), y(6);
  s.run(x, before);
  const std::size_t bytes = s.arena_bytes();
  const auto bind = [&](std::int64_t a, std::int64_t b) {
    return error_of([&] {
      s.bind({{"A", a}, {"B", b}});
      return 0;
    });
  };
  CHECK(bind(2'000'000'000, 2'000'000'000).find("too large for any memory, found f32 [2000000000, 2000000000]") !=
        std::string::npos);
#ifndef __SANITIZE_ADDRESS__                                  // which ends a program that asks for so much
  const std::string no_memory = bind(20'000'000, 2'000'000);  // 160 TB, more than a process can address
  CHECK_MESSAGE(no_memory.starts_with("arena: not enough memory for 160000"), no_memory);
  CHECK_MESSAGE(no_memory.ends_with("f32 [20000000, 2000000]"), no_memory);
#endif
  CHECK(s.input_elements(0) == 6);
  CHECK(s.arena_bytes() == bytes);
  s.run(x, y);
  CHECK(y == before);
}

namespace {
struct with_borders {
  static constexpr void build(dk::builder& g) {
    constexpr std::int64_t most = 2'000'000'000;
    const dk::tensor x = g.input("x", f32, {1, 4, dk::sym("H", {0, most}), dk::sym("W", {0, most})});
    const dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {8, 4, 3, 3}), {.pads = {1, 1, 1, 1}}));
    g.output("y", dk::conv(y, g.weight("b", {8, 8, 3, 3}), {.pads = {1, 1, 1, 1}}));
  }
};
struct of_borders {  // a second convolution that reads nothing but what surrounds its input
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 4, dk::sym("H", {0, 9}), 5});
    const dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {8, 4, 1, 1})));
    g.output("y", dk::conv(y, g.weight("b", {8, 8, 3, 3}), g.weight("c", {8}), {.pads = {2, 2, 2, 2}}));
  }
};
}  // namespace

TEST_CASE("an empty tensor takes no memory, whatever its other extents") {
  const prepared<dk::compile<with_borders>> p;
  dk::session<dk::compile<with_borders>> s(p.weights());
  for (const auto& [h, w] : {std::pair{0, 2'000'000'000}, {2'000'000'000, 0}, {0, 0}}) {
    s.bind({{"H", h}, {"W", w}});
    CHECK(s.output_elements(0) == 0);
    CHECK(s.arena_bytes() <= 64);
    s.run(std::vector<float>(), std::vector<float>());
  }
}

TEST_CASE("a tensor that is empty but for its border is read") {
  using net = dk::compile<of_borders>;
  const prepared<net> p;
  dk::session<net> s(p.weights());
  for (const std::int64_t h : {3, 0, 1}) {
    s.bind({{"H", h}});
    const dk::host_tensor x(f32, {1, 4, h, 5});
    std::vector<float> y(static_cast<std::size_t>(s.output_elements(0)), -1);
    CHECK(y.size() == static_cast<std::size_t>(8 * (h + 2) * 7));
    s.run(floats(x), y);
    if (h != 0) {
      check_near(y, p.expected(x, 0));
      continue;
    }
    std::vector<float> biases;  // all there is to sum
    for (const double bias : p.data.weights.at("c").reals) biases.insert(biases.end(), 2 * 7, static_cast<float>(bias));
    check_near(y, biases);
  }
}
