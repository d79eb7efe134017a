// SPDX-License-Identifier: MIT
// LABELS: thread no_sanitize
// OPTIONS: -O1
// Sessions in several threads that share their weights, and sessions whose kernels run on several threads: the same
// bits.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/runtime/session.hpp"
#include "dnnkit/runtime/thread_pool.hpp"
#include "dnnkit/weights/memory_weights.hpp"

namespace dk = dnnkit;

namespace {

struct network {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 3, dk::sym("H", {4, 64}), dk::sym("W", {4, 64})});
    const dk::tensor w = g.weight("a", {16, 3, 3, 3});
    dk::tensor y = dk::relu(dk::conv(x, w / (dk::reduce_l2(w) + 0.1), {.pads = {1, 1, 1, 1}}));
    const dk::tensor skip = y;
    y = dk::relu(dk::conv(y, g.weight("b", {16, 16, 3, 3}), {.pads = {1, 1, 1, 1}}));
    y = dk::conv(y, g.weight("c", {16, 1, 3, 3}), {.pads = {1, 1, 1, 1}, .group = 16}) + skip;
    y = dk::instance_normalization(y, g.weight("s", {16}), g.weight("t", {16}));
    g.output("features", y);
    y = dk::matmul(dk::reduce_mean(y, {.axes = {2, 3}, .keepdims = false}), g.weight("d", {16, 40}));
    g.output("scores", dk::softmax(y));
  }
};
using net = dk::compile<network>;

struct results {
  std::vector<float> features, scores;
  friend bool operator==(const results&, const results&) = default;
};
results run(dk::session<net>& s, std::int64_t height, std::int64_t width, const dk::parallel_for& loop = dk::serial) {
  s.bind({{"H", height}, {"W", width}});
  std::vector<float> x(static_cast<std::size_t>(s.input_elements(0)));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 29 % 31) / 31;
  results r{std::vector<float>(static_cast<std::size_t>(s.output_elements(0))), std::vector<float>(40)};
  s.run(loop, x, r.features, r.scores);
  return r;
}
dk::memory_weights some_weights() {
  static const auto values = [](std::size_t count) {
    std::vector<float> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<float>(i * 37 % 41) / 41 - 0.5F;
    return v;
  };
  static const std::vector<float> a = values(16 * 3 * 9), b = values(16 * 16 * 9), c = values(16 * 9), s = values(16),
                                  t = values(16), d = values(16 * 40);
  return {{"a", a}, {"b", b}, {"c", c}, {"s", s}, {"t", t}, {"d", d}};
}

}  // namespace

TEST_CASE("two sessions share weights in two threads") {
  const dk::packed_weights<net> weights(some_weights());
  dk::session<net> alone(weights);
  const results small = run(alone, 9, 7), large = run(alone, 33, 40);
  dk::session<net> a(weights), b(weights);
  bool same_a = true, same_b = true;
  std::thread first([&] {
    for (int i = 0; i < 20; ++i) same_a = run(a, 9, 7) == small && same_a;
  });
  std::thread second([&] {
    for (int i = 0; i < 5; ++i) same_b = run(b, 33, 40) == large && same_b;
  });
  first.join();
  second.join();
  CHECK(same_a);
  CHECK(same_b);
}

TEST_CASE("sessions made and destroyed in threads, weights last") {
  std::vector<std::thread> threads;
  {
    const dk::packed_weights<net> weights(some_weights());
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([weights, i] {
        dk::session<net> s(weights);
        run(s, 5 + i, 6);
      });
  }
  for (std::thread& t : threads) t.join();
}

TEST_CASE("results do not depend on the number of threads, bit for bit") {
  dk::session<net> s(some_weights());
  const results serial = run(s, 31, 17);
  for (std::size_t threads = 1; threads <= 7; ++threads) {
    CAPTURE(threads);
    dk::thread_pool pool(threads);
    CHECK(run(s, 31, 17, pool) == serial);
  }
}

namespace {

struct sigmoids {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::sigmoid(g.input("x", dk::f32, {dk::sym("N", {1, 1024}), 256})));
  }
};
struct largest_of_three {  // its kernel works in a worker's memory
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {1, 1, dk::sym("N", {1, 1024}), 256});
    g.output("y", dk::max_pool(x, {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}}));
  }
};

template <class Model> void check_sharing() {
  dk::session<dk::compile<Model>> s;
  std::size_t loops = 0, most = 0;
  const auto loop = [&](std::size_t count, dk::loop_body body) {
    ++loops;
    most = std::max(most, count);
    for (std::size_t i = 0; i < count; ++i) body(i);
  };
  const auto run = [&](std::int64_t n) {
    s.bind({{"N", n}});
    const std::vector<float> x(static_cast<std::size_t>(n * 256));
    std::vector<float> y(x.size());
    s.run(loop, x, y);
  };
  run(2);
  CHECK(loops == 0);
  run(256);
  CHECK(loops == 1);
  const std::size_t some = most;
  CHECK(some >= 2);
  run(1024);
  CHECK(loops == 2);
  CHECK(most > some);
  run(3);
  CHECK(loops == 2);
}

}  // namespace

TEST_CASE("what takes no time stays on the thread that calls, what takes some is shared by those whom it keeps busy") {
  check_sharing<sigmoids>();
  check_sharing<largest_of_three>();
}

TEST_CASE("sizes that change within the memory there is change who shares") {
  using network = dk::compile<sigmoids>;
  const auto weights = std::make_shared<const dk::packed_tables>(dk::plan_view(network::plan),
                                                                 dk::cpu::kernels_of<network>(), dk::memory_weights{});
  dk::execution e(network::plan, dk::cpu::kernels_of<network>(), weights);
  const std::array<dk::binding, 1> largest{{{"N", 1024}}};
  e.bind(largest);
  std::size_t loops = 0;
  const auto loop = [&](std::size_t count, dk::loop_body body) {
    ++loops;
    for (std::size_t i = 0; i < count; ++i) body(i);
  };
  std::vector<std::byte> x(1024 * 256 * sizeof(float)), y(x.size());
  const std::array<std::byte*, 1> from{x.data()};
  const std::array<std::byte*, 1> to{y.data()};
  dk::no_observer nobody;
  e.run(from.data(), to.data(), loop, nobody);
  CHECK(loops == 1);
  const std::array<std::int64_t, 1> few{2}, many{1000};
  REQUIRE(e.resize(few));
  e.run(from.data(), to.data(), loop, nobody);
  CHECK(loops == 1);
  REQUIRE(e.resize(many));
  e.run(from.data(), to.data(), loop, nobody);
  CHECK(loops == 2);
}

TEST_CASE("two sessions share a pool one after the other") {
  const dk::packed_weights<net> weights(some_weights());
  dk::session<net> a(weights), b(weights);
  dk::thread_pool pool(3);
  const results first = run(a, 8, 12, pool);
  CHECK(run(b, 8, 12, pool) == first);
  CHECK(run(b, 8, 12) == first);
}
