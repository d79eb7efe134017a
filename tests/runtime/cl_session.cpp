// SPDX-License-Identifier: MIT
// LABELS: opencl no_sanitize
// Sessions on an OpenCL device have the face of those on the processor; what the platform has to say is dnnkit::error.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/cl_session.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dnnkit/inspect/trace.hpp"
#include "dnnkit/weights/memory_weights.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/opencl_model.hpp"

namespace dk = dnnkit;

namespace {

struct model {  // a setup, two kernels, a value in the arena, two outputs
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {2, 3});
    const auto y = dk::relu(dk::matmul(x, g.weight("w", {3, 4}) * 2.0));
    g.output("y", y);
    g.output("p", dk::softmax(y));
  }
};
using net = dk::compile<model, dk::targets::opencl>;
static_assert(net::kernels == 2 && net::plan.setup_steps.size() == 1);
static_assert(!std::is_same_v<net, dk::compile<model>>);
static_assert(dk::opencl::kernel_texts<net>.size() == net::distinct_kernels);

constexpr std::array<float, 6> x{1, 2, 3, -1, 0, 1};
constexpr std::array<float, 12> w{1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, -1};

dk::memory_weights weights() { return {{"w", w}}; }

// What the network gives for these weights, by hand.
void check(std::span<const float> y, std::span<const float> p, float factor) {
  for (std::size_t i = 0; i < 2; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      float product = 0;
      for (std::size_t k = 0; k < 3; ++k) product += x[3 * i + k] * factor * w[4 * k + j];
      CHECK(y[4 * i + j] == doctest::Approx(product < 0 ? 0 : product));
      sum += std::exp(y[4 * i + j]);
    }
    for (std::size_t j = 0; j < 4; ++j) CHECK(p[4 * i + j] == doctest::Approx(std::exp(y[4 * i + j]) / sum));
  }
}

struct counting {
  int begun = 0, ended = 0, most = 100;
  bool before(const dk::plan_view&, std::size_t) { return begun < most && ++begun > 0; }
  void after(const dk::plan_view&, std::size_t) { ++ended; }
};

}  // namespace

TEST_CASE("ranges by position and by name, weights shared and exchanged") {
  std::array<float, 8> y{}, p{};
  const dk::packed_weights<net> packed(weights());
  dk::session<net> s(packed), other(packed);
  static_assert(!noexcept(s.run(x, y, p)));  // the device may fail
  s.run(x, y, p);
  check(y, p, 2);
  std::vector<float> y2(8), p2(8);
  other.run(dk::out<"p">(p2), dk::in<"x">(x), dk::out<"y">(y2));
  check(y2, p2, 2);
  p2.assign(8, 0);
  other.run({{"x", x}}, {{"y", y2}, {"p", p2}});
  check(y2, p2, 2);

  std::array<float, 12> half = w;
  for (float& v : half) v /= 2;
  other.load(dk::memory_weights{{"w", half}});
  other.run(x, y2, p2);
  check(y2, p2, 1);
  s.run(x, y, p);
  check(y, p, 2);

  CHECK(s.arena_bytes() == net::arena_bytes);
  CHECK(s.input_elements(0) == 6);
  CHECK(s.output_elements(1) == 8);
  dk::session<net> moved(std::move(s));
  moved.run(x, y, p);
  CHECK(error_of([&] { return s.run(x, y, p); }) == "session: it has been moved from");
}

TEST_CASE("an observer is told of every kernel, and may stop the run") {
  std::array<float, 8> y{}, p{};
  dk::session<net, counting> s(weights());
  CHECK(s.run(x, y, p));
  CHECK(s.observer().begun == 2);
  CHECK(s.observer().ended == 2);
  s.observer().most = 3;
  CHECK(!s.run(x, y, p));
  CHECK(s.observer().ended == 3);
}

TEST_CASE("what is wrong with arguments and weights") {
  dk::session<net> s(weights());
  std::vector<float> y(8), p(7);
  CHECK(error_of([&] { return s.run(x, y, p); }) ==
        "output 'p': range has the wrong size, expected 8 elements, found 7");
  CHECK(error_of([&] {
          s.bind({{"N", 3}});
          return 0;
        }) == "bind: no such symbol, expected none, found N");
  CHECK(error_of([] {
          return dk::session<net>(dk::memory_weights{{"v", w}});
        }).find("1 of the 1 tensors needed") != std::string::npos);
}

TEST_CASE("a session is on the device of its weights, and goes with them to another's") {
  std::array<float, 8> y{}, p{};
  const dk::packed_weights<net> packed(weights(), dk::cl_device("0"));
  CHECK(packed.tables()->device().name() == dk::cl_devices()[0]);
  dk::session<net> s(packed);
  s.run(x, y, p);
  check(y, p, 2);
  s.load(dk::packed_weights<net>(weights(), dk::cl_device("", dk::cl_copies::pinned)));
  y = {};
  s.run(x, y, p);
  check(y, p, 2);
}

TEST_CASE("kernels' times, by the device's clock, are the trace") {
  std::array<float, 8> y{}, p{};
  dk::session<net, dk::chrome_trace> s(weights());
  const auto begin = dk::chrome_trace::clock::now();
  s.run(x, y, p);
  s.run(x, y, p);
  const auto end = dk::chrome_trace::clock::now();
  check(y, p, 2);
  const auto events = s.observer().events();
  REQUIRE(events.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(events[i].step == i % 2);
    CHECK(events[i].begin >= begin);
    CHECK(events[i].begin < events[i].end);
    CHECK(events[i].end <= end);
    if (i > 0) CHECK(events[i - 1].end <= events[i].begin);
  }
  CHECK(s.observer().json().find("\"operators\":\"MatMul Relu\"") != std::string::npos);
}

TEST_CASE("symbols get values again and again, without other programs; what was bound stays when others cannot be") {
  opencl_model::session s(opencl_model::weights());
  for (const std::int64_t n : {7, 1, 300, 0, 65, 64, 300}) {
    CAPTURE(n);
    s.bind({{"N", n}});
    CHECK(s.output_elements(0) == 4 * n);
    for (int i = 0; i < 2; ++i) {
      opencl_model::data d(static_cast<std::size_t>(n), static_cast<float>(i));
      s.run(d.x, d.y, d.s);
      CHECK(d.is_right());
    }
  }
  opencl_model::data d(300);
  CHECK(error_of([&] {
          s.bind({{"N", -1}});
          return 0;
        }) == "symbol 'N': symbol is out of its bounds, expected 0 to 1073741824, found -1");
  s.run(d.x, d.y, d.s);
  CHECK(d.is_right());
  d = opencl_model::data(12);
  CHECK(error_of([&] { return s.run(d.x, d.y, d.s), 0; }).find("input 'x': range has the wrong size") == 0);
}

struct many_bytes {  // several values alive at a time
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::u8, {dk::sym("N", {1, std::int64_t{1} << 40}), 1000});
    const auto a = dk::trilu(x, {.k = 1}), b = dk::trilu(a, {.upper = false, .k = 500}), c = dk::trilu(b, {.k = 2}),
               d = dk::trilu(c, {.k = 3});
    g.output("y", dk::trilu(a + b + c + d, {.k = 7}));
  }
};

TEST_CASE("no operand lies further behind the beginning of the arena than a kernel can be told") {
  dk::session<dk::compile<many_bytes, dk::targets::opencl>> s(dk::memory_weights{});
  s.bind({{"N", 1}});
  const std::string wrong = error_of([&] { return s.bind({{"N", 2100000}}), true; });
  CHECK(wrong.find(": lies too far behind the beginning of the arena, expected at most 4294967295 elements") !=
        std::string::npos);
  std::vector<std::uint8_t> x(1000, 1), y(1000);
  s.run(x, y);  // as it was bound before
  CHECK(y[7] == 4);
}

TEST_CASE("four sessions in four threads, with weights that they share and with their own") {
  std::optional<dk::packed_weights<opencl_model::net>> shared(opencl_model::weights());
  for (const bool own : {false, true}) {
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        opencl_model::session s = own ? opencl_model::session(opencl_model::weights()) : opencl_model::session(*shared);
        for (int i = 0; i < 10; ++i) {
          const int n = 50 * t + 13 * i;
          s.bind({{"N", n}});
          opencl_model::data d(static_cast<std::size_t>(n), static_cast<float>(i));
          if (i % 2 == 0) s.run(d.x, d.y, d.s);
          else s.start(d.x, d.y, d.s).wait();
          if (d.is_right()) ++right;
        }
      });
    for (std::thread& t : threads) t.join();
    CHECK(right == 40);
    shared.reset();  // so that the program is looked for by all at the same time
  }
}

namespace {

struct long_sums {  // whose work-groups hand sums over to each other
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::matmul(g.input("x", dk::f32, {8, 2048}), g.weight("w", {2048, 8})));
  }
};
using long_net = dk::compile<long_sums, dk::targets::opencl>;
static_assert(dk::opencl::kernel_texts<long_net>[0].work.counters == 1);

}  // namespace

TEST_CASE("sessions whose work-groups hand over sums run beside each other, many times") {
  std::vector<float> of_weights(2048 * 8);
  for (std::size_t i = 0; i < of_weights.size(); ++i) of_weights[i] = static_cast<float>(i % 13) - 6;
  const dk::packed_weights<long_net> packed(dk::memory_weights{{"w", of_weights}});
  std::array<std::thread, 3> threads;
  std::atomic<int> wrong = 0;
  for (std::size_t t = 0; t < threads.size(); ++t)
    threads[t] = std::thread([&, t] {
      dk::session<long_net> s(packed);
      for (std::size_t run = 0; run < 20; ++run) {
        std::vector<float> in(8 * 2048), y(64);
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>((i * (t + 3) + run) % 7) - 3;
        s.run(in, y);
        for (std::size_t m = 0; m < 8; ++m)
          for (std::size_t n = 0; n < 8; ++n) {
            float sum = 0;  // of small whole numbers: exact in any order
            for (std::size_t k = 0; k < 2048; ++k) sum += in[m * 2048 + k] * of_weights[k * 8 + n];
            wrong += y[m * 8 + n] == sum ? 0 : 1;
          }
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}
