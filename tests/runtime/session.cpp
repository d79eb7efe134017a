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

namespace {
struct by_indices {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {4, 3}), at = g.input("at", dk::i64, {4, 3});
    g.output("rows", dk::gather(x, dk::reshape(dk::narrow(at, 1, 0, 1), {4})));
    g.output("elements", dk::gather_elements(x, at));
    g.output("replaced", dk::scatter_elements(x, at, x * 0.0 - 1.0));
  }
};
}  // namespace
TEST_CASE("for an index that lies outside stands the first or the last element") {
  dk::session<dk::compile<by_indices>> s;
  constexpr std::int64_t far = std::int64_t{1} << 62;
  constexpr std::array<std::int64_t, 12> at{4, -5, far, -far, 100'000, 3, 0, -1, -4, -100'000, 1, 5};
  std::array<float, 12> x{}, rows{}, elements{}, replaced{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  s.run(x, at, rows, elements, replaced);
  const auto row_of = [](std::int64_t i) {
    return static_cast<std::size_t>(i < -3 ? 0 : i < 0 ? i + 4 : i > 3 ? 3 : i);
  };
  std::array<float, 12> expected = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(rows[i] == x[3 * row_of(at[i / 3 * 3]) + i % 3]);
    CHECK(elements[i] == x[3 * row_of(at[i]) + i % 3]);
    expected[3 * row_of(at[i]) + i % 3] = -1;
  }
  CHECK(replaced == expected);
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

namespace {

struct much_to_do {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = dk::sigmoid(g.input("x", f32, {64, 2048}));
    g.output("y", x);
    g.output("sum", dk::reduce_sum(x));
  }
};

}  // namespace

TEST_CASE("a caller's loop is used, whatever it does with the order") {
  dk::session<dk::compile<much_to_do>> s;
  std::vector<float> in(64 * 2048), y(in.size()), sum(1), y_backwards(in.size()), sum_backwards(1);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 37) - 18;
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
