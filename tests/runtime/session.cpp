// SPDX-License-Identifier: MIT
// Sessions: what a caller sees of them, and every way to use them wrongly.
#include "dnnkit/runtime/session.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/weights/memory_weights.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/last_words.hpp"
#include "tests/support/session_networks.hpp"

namespace dk = dnnkit;
using dk::f32;
using namespace harness::session_networks;
using harness::last_words;

TEST_CASE("arrays, vectors and spans") {
  const prepared<fixed_net> p;
  dk::session<fixed_net> s(p.weights());
  const dk::host_tensor x = picture(6, 5);
  const std::vector<float> in = floats(x);
  std::array<float, 60> y{};
  float sum[1] = {};
  std::array<float, 90> in_array{};
  std::copy(in.begin(), in.end(), in_array.begin());
  s.run(in_array, y, sum);
  check_near(y, p.expected(x, 0));
  check_near(sum, p.expected(x, 1));

  std::vector<float> y_again(60);
  float one = 0;
  s.run(in, y_again, std::span(&one, 1));
  CHECK(std::vector<float>(y.begin(), y.end()) == y_again);
  CHECK(one == sum[0]);
  s.run(std::span<const float, 90>(in_array), std::span<float, 60>(y), std::span<float, 1>(sum));

  CHECK(s.input_elements(0) == 90);
  CHECK(s.output_elements(0) == 60);
  CHECK(s.output_elements(1) == 1);
  CHECK(s.arena_bytes() >= static_cast<std::size_t>(fixed_net::arena_bytes));
}

TEST_CASE("only sizes that the types know make run() noexcept") {
  using session = dk::session<fixed_net>;
  using in = std::array<float, 90>;
  using out = std::array<float, 60>;
  using one = std::array<float, 1>;
  static_assert(
      noexcept(std::declval<session&>().run(std::declval<in&>(), std::declval<out&>(), std::declval<one&>())));
  static_assert(noexcept(
      std::declval<session&>().run(dk::serial, std::declval<const in&>(), std::declval<out&>(), std::declval<one&>())));
  static_assert(!noexcept(
      std::declval<session&>().run(std::declval<std::vector<float>&>(), std::declval<out&>(), std::declval<one&>())));
  static_assert(!noexcept(std::declval<dk::session<sized_net>&>().run(std::declval<in&>(), std::declval<out&>())));
}

TEST_CASE("ranges of the wrong size") {
  const prepared<fixed_net> p;
  dk::session<fixed_net> s(p.weights());
  std::vector<float> in(90), y(60), sum(1), shorter(89), longer(61), none;
  CHECK(error_of([&] { return s.run(shorter, y, sum); }) ==
        "input 'x': range has the wrong size, expected 90 elements, found 89");
  CHECK(error_of([&] { return s.run(in, longer, sum); }) ==
        "output 'y': range has the wrong size, expected 60 elements, found 61");
  CHECK(error_of([&] { return s.run(in, y, none); }) ==
        "output 'sum': range has the wrong size, expected 1 elements, found 0");
  CHECK(error_of([&] { return s.run(in, y, sum); }) == "no error");
}

TEST_CASE("weights that are missing or differ are all listed") {
  prepared<fixed_net> p;
  p.data.weights.erase("a");
  p.data.weights["b"] = dk::host_tensor(f32, {9});
  p.data.weights["c"] = dk::host_tensor(dk::i64, {2, 8, 3, 3});
  p.file = harness::safetensors_bytes(p.data.weights);
  const std::string message = error_of([&] { return dk::session<fixed_net>(p.weights()).arena_bytes(); });
  CHECK(message.find("weights: 3 of the 3 tensors needed are missing or differ") != std::string::npos);
  for (const char* part : {"'a': expected f32 [8, 3, 3, 3], found nothing", "'b': expected f32 [8], found f32 [9]",
                           "'c': expected f32 [2, 8, 3, 3], found i64 [2, 8, 3, 3]"})
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
}

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
  CHECK(bind({{"H", 6}}) == "symbol 'W': symbol is not given a value, expected 2 to 30");
  CHECK(bind({}) == "symbol 'H': symbol is not given a value, expected 1 to 40");
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

TEST_CASE("outputs share memory with nothing") {
  const prepared<fixed_net> p;
  dk::session<fixed_net> s(p.weights());
  std::vector<float> memory(200), sum(1);
  const std::span<float> all = memory;
  const std::span<float> in = all.first(90);
  CHECK(error_of([&] { return s.run(in, all.subspan(89, 60), sum); }) ==
        "input 'x' and output 'y': ranges share memory");
  CHECK(error_of([&] { return s.run(in, all.subspan(100, 60), all.subspan(159, 1)); }) ==
        "output 'y' and output 'sum': ranges share memory");
  CHECK(error_of([&] { return s.run(in, all.subspan(90, 60), all.subspan(150, 1)); }) == "no error");
}

namespace {
struct in_place {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {4});
    g.output("y", dk::softmax(x));
  }
};
}  // namespace

TEST_CASE("what a noexcept run cannot raise ends the program, with the message") {
  using net = dk::compile<in_place>;
  const prepared<net> p;
  dk::session<net> s(p.weights());
  std::array<float, 4> x{}, y{};
  static_assert(noexcept(s.run(x, x)));
  CHECK(last_words([&] { s.run(x, x); }) == "input 'x' and output 'y': ranges share memory");
  const dk::session<net> other = std::move(s);
  CHECK(last_words([&] { s.run(x, y); }) == "session: it has been moved from");
}

namespace {
struct stop_before {
  std::size_t step;
  std::vector<std::size_t> started{}, finished{};
  bool before(const dk::plan_view&, std::size_t i) noexcept {
    started.push_back(i);
    return i != step;
  }
  void after(const dk::plan_view&, std::size_t i) noexcept { finished.push_back(i); }
};
// Only where a run can be stopped there is something to be told.
static_assert(std::is_void_v<dk::session<fixed_net>::run_result>);
static_assert(std::is_same_v<dk::session<fixed_net, stop_before>::run_result, bool>);
}  // namespace

TEST_CASE("an observer sees every kernel and can stop the run before any") {
  const prepared<fixed_net> p;
  std::vector<float> in(90, 1.0f), y(60), sum(1);
  for (std::size_t stop = 0; stop <= fixed_net::kernels; ++stop) {
    CAPTURE(stop);
    dk::session<fixed_net, stop_before> s(p.weights(), stop_before{stop});
    CHECK(s.run(in, y, sum) == (stop == fixed_net::kernels));
    const stop_before& seen = s.observer();
    REQUIRE(seen.finished.size() == stop);
    for (std::size_t i = 0; i < stop; ++i) CHECK((seen.started[i] == i && seen.finished[i] == i));
    s.observer().step = fixed_net::kernels;  // the same session goes on as if nothing had happened
    CHECK(s.run(in, y, sum));
    check_near(y, p.expected(
                      [] {
                        dk::host_tensor x(f32, {1, 3, 6, 5});
                        x.reals.assign(90, 1.0);
                        return x;
                      }(),
                      0));
  }
}

TEST_CASE("sessions share packed weights") {
  const prepared<sized_net> p;
  const dk::packed_weights<sized_net> weights(p.weights());
  dk::session<sized_net> a(weights), b(weights);
  CHECK(weights.tables().use_count() == 3);
  a.bind({{"H", 5}, {"W", 6}});
  b.bind({{"H", 9}, {"W", 2}});
  std::vector<float> y(12), z(20);
  a.run(floats(picture(5, 6)), y);
  b.run(floats(picture(9, 2)), z);
  check_near(y, p.expected(picture(5, 6), 0));
  check_near(z, p.expected(picture(9, 2), 0));
}

TEST_CASE("a session that is moved goes on") {
  const prepared<fixed_net> p;
  dk::session<fixed_net> first(p.weights());
  dk::session<fixed_net> s = std::move(first);
  const dk::host_tensor x = picture(6, 5);
  std::vector<float> y(60), sum(1);
  s.run(floats(x), y, sum);
  check_near(y, p.expected(x, 0));
}

TEST_CASE("a session that has been moved from says so until it is given another") {
  const prepared<fixed_net> p;
  dk::session<fixed_net> s(p.weights());
  dk::session<fixed_net> other = std::move(s);
  std::vector<float> x(90), y(60), sum(1);
  const std::string message = "session: it has been moved from";
  CHECK(error_of([&] { return s.run(x, y, sum); }) == message);
  CHECK(error_of([&] { return s.input_elements(0); }) == message);
  CHECK(error_of([&] { return s.output_elements(1); }) == message);
  CHECK(error_of([&] { return s.bind({}), 0; }) == message);
  CHECK(s.arena_bytes() == 0);
  s = std::move(other);
  s.run(x, y, sum);

  const prepared<sized_net> q;
  dk::packed_weights<sized_net> weights(q.weights());
  const dk::packed_weights<sized_net> taken = std::move(weights);
  CHECK(error_of([&] { return dk::session<sized_net>(weights).arena_bytes(); }) ==
        "packed weights: they have been moved from");
  dk::session<sized_net> dynamic(taken);
  dynamic.bind({{"H", 9}, {"W", 9}});
  const dk::session<sized_net> moved = std::move(dynamic);
  CHECK(error_of([&] { return dynamic.bind({{"H", 9}, {"W", 9}}), 0; }) == message);
  CHECK(error_of([&] { return dynamic.run(x, y); }) == message);
}

TEST_CASE("a network without weights needs no file") {
  using net = dk::compile<in_place>;
  dk::session<net> s;
  const std::array<float, 4> x{};
  std::array<float, 4> y{};
  s.run(x, y);
  CHECK(y == std::array<float, 4>{0.25f, 0.25f, 0.25f, 0.25f});
  dk::session<net, stop_before> watched(stop_before{0});
  CHECK_FALSE(watched.run(x, y));
  CHECK(watched.observer().started.size() == 1);
}

TEST_CASE("weights from memory, by name") {
  const prepared<fixed_net> p;
  std::vector<float> a, b;
  std::array<float, 144> c;
  for (double v : p.data.weights.at("a").reals) a.push_back(static_cast<float>(v));
  for (double v : p.data.weights.at("b").reals) b.push_back(static_cast<float>(v));
  std::copy_n(p.data.weights.at("c").reals.begin(), c.size(), c.begin());
  dk::session<fixed_net> s(dk::memory_weights{{"a", a}, {"b", b}, {"c", std::span<const float>(c)}});
  const dk::host_tensor x = picture(6, 5);
  std::vector<float> y(60), sum(1);
  s.run(floats(x), y, sum);
  check_near(y, p.expected(x, 0));

  b.pop_back();
  const std::vector<double> doubles(216);
  const std::string message = error_of([&] {
    return dk::session<fixed_net>(dk::memory_weights{{"a", doubles}, {"b", b}}).arena_bytes();
  });
  for (const char* part : {"weights in memory: 3 of the 3 tensors", "'a': expected f32 [8, 3, 3, 3], found f64 [216]",
                           "'b': expected f32 [8], found f32 [7]", "'c': expected f32 [2, 8, 3, 3], found nothing"})
    CHECK_MESSAGE(message.find(part) != std::string::npos, message);
}

TEST_CASE("weights are loaded into a live session; symbols keep their values") {
  prepared<sized_net> p;
  const dk::packed_weights<sized_net> first(p.weights());
  dk::session<sized_net> s(first), other(first);
  s.bind({{"H", 7}, {"W", 9}});
  const std::vector<float> x = floats(picture(7, 9));
  std::vector<float> y(54);
  s.run(x, y);
  check_near(y, p.expected(picture(7, 9), 0));

  for (auto& [name, tensor] : p.data.weights)
    for (double& v : tensor.reals) v = dk::round_to(f32, 0.5 - v);
  const std::vector<std::byte> changed = harness::safetensors_bytes(p.data.weights);
  s.load(dk::safetensors::from_memory(changed, "changed"));
  s.run(x, y);
  check_near(y, p.expected(picture(7, 9), 0));

  const std::vector<float> before = y;
  CHECK(error_of([&] { return s.load(dk::weight_file("none", {})), 0; }).starts_with("none: 2 of the 2 tensors"));
  s.run(x, y);
  CHECK(y == before);

  other.load(dk::packed_weights<sized_net>(dk::safetensors::from_memory(changed, "changed")));  // before any bind()
  other.bind({{"H", 7}, {"W", 9}});
  other.run(x, y);
  CHECK(y == before);
  const dk::session<sized_net> taken = std::move(s);
  CHECK(error_of([&] { return s.load(first), 0; }) == "session: it has been moved from");
}

namespace {
struct throws_before {
  std::size_t step;
  void before(const dk::plan_view&, std::size_t i) const {
    if (i == step) throw std::runtime_error("enough");
  }
  static void after(const dk::plan_view&, std::size_t) {}
};
}  // namespace

TEST_CASE("what an observer throws leaves run, which can be called again") {
  const prepared<fixed_net> p;
  std::array<float, 90> x{};
  std::array<float, 60> y{};
  std::array<float, 1> sum{};
  dk::session<fixed_net, throws_before> s(p.weights(), throws_before{1});
  static_assert(!noexcept(s.run(x, y, sum)));
  CHECK_THROWS_WITH_AS(s.run(x, y, sum), "enough", std::runtime_error);
  s.observer().step = 99;
  s.run(x, y, sum);
}

namespace {
struct calls_before {
  const std::function<void()>* call;
  void before(const dk::plan_view&, std::size_t) const { (*call)(); }
  static void after(const dk::plan_view&, std::size_t) {}
};
}  // namespace

TEST_CASE("an observer cannot change the session that is running") {
  using session = dk::session<sized_net, calls_before>;
  const prepared<sized_net> p;
  std::function<void()> call = [] {};
  session s(p.weights(), calls_before{&call});
  s.bind({{"H", 5}, {"W", 6}});
  const std::vector<float> x = floats(picture(5, 6));
  std::vector<float> y(12);
  const auto refusal = [&](auto&& called) {
    call = called;
    return error_of([&] { s.run(x, y); });
  };
  const std::string under_way = " while a run is under way (by its observer)";
  CHECK(refusal([&] { s.bind({{"H", 40}, {"W", 30}}); }) == "session: bind() is called" + under_way);
  CHECK(refusal([&] { s.load(p.weights()); }) == "session: load() is called" + under_way);
  CHECK(refusal([&] { s.run(x, y); }) == "session: run() is called" + under_way);
  CHECK(refusal([&] { s.run({{"picture", x}}, {{"y", y}}); }) == "session: run() is called" + under_way);
  call = [&] { const session other = std::move(s); };
  CHECK(last_words([&] { s.run(x, y); }) == "session: it is moved" + under_way);
  call = [] {};
  s.run(x, y);  // as if nothing had happened
  check_near(y, p.expected(picture(5, 6), 0));
}

TEST_CASE("a caller's loop is used, whatever it does with the order") {
  const prepared<fixed_net> p;
  dk::session<fixed_net> s(p.weights());
  const std::vector<float> in = floats(picture(6, 5));
  std::vector<float> y(60), sum(1), y_backwards(60), sum_backwards(1);
  s.run(in, y, sum);
  std::size_t bodies = 0;
  const auto backwards = [&](std::size_t count, dk::loop_body body) {
    while (count-- > 0) {
      body(count);
      ++bodies;
    }
  };
  s.run(backwards, in, y_backwards, sum_backwards);
  CHECK(bodies > 0);
  CHECK(y == y_backwards);
  CHECK(sum == sum_backwards);
}
