// SPDX-License-Identifier: MIT
// Sessions: what a caller sees of them, and every way to use them wrongly.
#include "dnnkit/runtime/session.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

struct fixed {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 3, 6, 5});
    dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {8, 3, 3, 3}), g.weight("b", {8}), {.pads = {1, 1, 1, 1}}));
    y = dk::conv(y, g.weight("c", {2, 8, 3, 3}), {.pads = {1, 1, 1, 1}});
    g.output("y", y);
    g.output("sum", dk::reduce_sum(y, {.keepdims = false}));
  }
};
struct sized {  // no smaller than the second window: 5 rows without padding
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("picture", f32, {1, 3, dk::sym("H", {1, 40}), dk::sym("W", {2, 30})});
    const dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {8, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
    g.output("y", dk::conv(y, g.weight("c", {2, 8, 5, 1})));
  }
};
struct huge {
  static constexpr void build(dk::builder& g) {
    constexpr std::int64_t most = 2'000'000'000;
    const dk::tensor x = g.input("x", f32, {dk::sym("A", {1, most}), dk::sym("B", {1, most})});
    g.output("y", dk::softmax(dk::softmax(x), {.axis = 0}));
  }
};
using fixed_net = dk::compile<fixed>;
using sized_net = dk::compile<sized>;

template <class Net> struct prepared {
  dk::graph graph = dk::graph_of<typename Net::model>();
  harness::test_data data = harness::random_data(graph, 1);
  std::vector<std::byte> file = harness::safetensors_bytes(data.weights);

  dk::safetensors weights() const { return dk::safetensors::from_memory(file, "weights"); }
  // Result k for an input of these extents.
  std::vector<float> expected(const dk::host_tensor& x, std::size_t k) const {
    const dk::host_tensor y = dk::evaluate(graph, {x}, dk::weights_of(data.weights))[k];
    return {y.reals.begin(), y.reals.end()};
  }
};

dk::host_tensor picture(std::int64_t height, std::int64_t width) {
  dk::host_tensor x(f32, {1, 3, height, width});
  for (std::size_t i = 0; i < x.reals.size(); ++i)
    x.reals[i] = dk::round_to(f32, static_cast<double>(i * 37 % 19) / 7 - 1);
  return x;
}
std::vector<float> floats(const dk::host_tensor& x) { return {x.reals.begin(), x.reals.end()}; }

void check_near(std::span<const float> found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-4));
}

}  // namespace

TEST_CASE("arrays, vectors and spans") {
  const prepared<fixed_net> p;
  dk::session<fixed_net> s(p.weights());
  const dk::host_tensor x = picture(6, 5);
  const std::vector<float> in = floats(x);
  std::array<float, 60> y{};
  float sum[1] = {};
  std::array<float, 90> in_array{};
  std::copy(in.begin(), in.end(), in_array.begin());
  CHECK(s.run(in_array, y, sum));
  check_near(y, p.expected(x, 0));
  check_near(sum, p.expected(x, 1));

  std::vector<float> y_again(60);
  float one = 0;
  CHECK(s.run(in, y_again, std::span(&one, 1)));
  CHECK(std::vector<float>(y.begin(), y.end()) == y_again);
  CHECK(one == sum[0]);
  CHECK(s.run(std::span<const float, 90>(in_array), std::span<float, 60>(y), std::span<float, 1>(sum)));

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
  for (const char* part : {"'a': expected f32 [8,3,3,3], found nothing", "'b': expected f32 [8], found f32 [9]",
                           "'c': expected f32 [2,8,3,3], found i64 [2,8,3,3]"})
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
    CHECK(s.run(floats(x), y));
    check_near(y, p.expected(x, 0));
  }
}

TEST_CASE("values of symbols that cannot be") {
  const prepared<sized_net> p;
  dk::session<sized_net> s(p.weights());
  std::vector<float> in(3 * 6 * 4), y(2 * 2 * 4);
  CHECK(error_of([&] { return s.run(in, y); }) == "run: the symbols have no values yet; call bind()");
  CHECK(error_of([&] { return s.output_elements(0); }).find("call bind()") != std::string::npos);
  s.bind({{"H", 6}, {"W", 4}});
  CHECK(s.run(in, y));
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
  CHECK(bind({{"H", 3}, {"W", 4}}) == "tensor 'y': an extent would be negative, found -1");
  CHECK_MESSAGE(s.run(in, y), "what was bound before stays");
  CHECK(error_of([&] { return s.run(std::vector<float>(3 * 6 * 5), y); }) ==
        "input 'picture': range has the wrong size, expected 72 elements, found 90");
}

TEST_CASE("a result without elements") {
  const prepared<sized_net> p;
  dk::session<sized_net> s(p.weights());
  s.bind({{"H", 4}, {"W", 5}});
  CHECK(s.output_elements(0) == 0);
  std::vector<float> y;
  CHECK(s.run(std::vector<float>(60), y));
}

TEST_CASE("tensors that no memory holds") {
  const prepared<dk::compile<fixed>> p;
  dk::session<dk::compile<huge>> s(p.weights());
  const std::string message = error_of([&] {
    s.bind({{"A", 2'000'000'000}, {"B", 2'000'000'000}});
    return 0;
  });
  CHECK(message.find("too large for any memory") != std::string::npos);
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
  CHECK(a.run(floats(picture(5, 6)), y));
  CHECK(b.run(floats(picture(9, 2)), z));
  check_near(y, p.expected(picture(5, 6), 0));
  check_near(z, p.expected(picture(9, 2), 0));
}

TEST_CASE("a session that is moved goes on") {
  const prepared<fixed_net> p;
  dk::session<fixed_net> first(p.weights());
  dk::session<fixed_net> s = std::move(first);
  const dk::host_tensor x = picture(6, 5);
  std::vector<float> y(60), sum(1);
  CHECK(s.run(floats(x), y, sum));
  check_near(y, p.expected(x, 0));
}

TEST_CASE("a caller's loop is used, whatever it does with the order") {
  const prepared<fixed_net> p;
  dk::session<fixed_net> s(p.weights());
  const std::vector<float> in = floats(picture(6, 5));
  std::vector<float> y(60), sum(1), y_backwards(60), sum_backwards(1);
  CHECK(s.run(in, y, sum));
  std::size_t bodies = 0;
  const auto backwards = [&](std::size_t count, dk::loop_body body) {
    while (count-- > 0) {
      body(count);
      ++bodies;
    }
  };
  CHECK(s.run(backwards, in, y_backwards, sum_backwards));
  CHECK(bodies > 0);
  CHECK(y == y_backwards);
  CHECK(sum == sum_backwards);
}
