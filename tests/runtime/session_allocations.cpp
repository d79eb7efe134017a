// SPDX-License-Identifier: MIT
// LABELS: no_sanitize alone
// Test that run() allocates nothing, with any loop; the sanitizers replace operator new themselves.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/runtime/session.hpp"
#include "dnnkit/runtime/stateful_session.hpp"
#include "dnnkit/runtime/thread_pool.hpp"
#include "tests/support/harness.hpp"

namespace {
std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> failing = 0;  // number of the allocation that fails, once

void* counted(std::size_t bytes, std::size_t alignment) {
  if (++allocations == failing) throw std::bad_alloc();
  void* p = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t a) {
  return counted(bytes, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t a) {
  return counted(bytes, static_cast<std::size_t>(a));
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace dk = dnnkit;

namespace {

// A kernel of every family: convolutions read in place and staged, products, rows, pools, maps.
constexpr dk::tensor everything(dk::builder& g, dk::tensor x) {
  dk::tensor y = dk::relu(dk::conv(x, g.weight("a", {8, 3, 3, 3}), {.pads = {1, 1, 1, 1}}));
  y = dk::conv(y, g.weight("b", {8, 1, 3, 3}), {.pads = {1, 1, 1, 1}, .group = 8});
  y = dk::max_pool(y, {.kernel_shape = {2, 2}});
  y = dk::softmax(dk::matmul(y, dk::transpose(y * 0.5, {.perm = {0, 1, 3, 2}})));
  y = dk::concat({y, dk::exp(y)}, {.axis = 1});
  return dk::matmul(dk::reduce_mean(y, {.axes = {2}, .keepdims = false}), g.weight("c", {4, 9}));
}
struct fixed {
  static constexpr void build(dk::builder& g) { g.output("y", everything(g, g.input("x", dk::f32, {2, 3, 5, 6}))); }
};
struct sized {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {dk::sym("N", {1, 4}), 3, 5, dk::sym("W", {2, 9})});
    g.output("y", everything(g, x));
  }
};

struct recurrent {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {2, 1, 4}), h = g.input("h", dk::f32, {1, 1, 20});
    const dk::tensor w = g.weight("w", {1, 60, 4}), r = g.weight("r", {1, 60, 20});
    g.output("y", g.apply(dk::op::gru{}, {x, w, r, {}, {}, h}));
    g.output("hn", g.apply(dk::op::gru{.output = 1}, {x, w, r, {}, {}, h}));
  }
};

// All rows that have been seen, and their sum; x is some of them.
struct growing {
  static constexpr void build(dk::builder& g) {
    const dk::tensor past = g.input("past", dk::f32, {dk::sym("P", {0, 100}), 20}), x = g.input("x", dk::f32, {1, 20});
    const dk::tensor all = dk::concat({past, x}, {.axis = 0});
    g.output("y", dk::softmax(dk::matmul(x, dk::transpose(all, {.perm = {1, 0}}))));
    g.output("present", all);
  }
};

template <class Net> std::vector<std::byte> weights_of() {
  return harness::safetensors_bytes(harness::random_data(dk::graph_of<typename Net::model>(), 1).weights);
}

}  // namespace

TEST_CASE("operator new is counted") {
  const std::size_t before = allocations;
  ::operator delete(::operator new(8));
  CHECK(allocations == before + 1);
}

TEST_CASE("run() of a static network allocates nothing") {
  using net = dk::compile<fixed>;
  const std::vector<std::byte> file = weights_of<net>();
  dk::session<net> s(dk::safetensors::from_memory(file, "weights"));
  dk::thread_pool pool(3);
  std::array<float, 180> x{};
  std::array<float, 288> y{};
  const std::size_t before = allocations;
  s.run(x, y);
  s.run(pool, x, y);
  s.run(dk::out<"y">(y), dk::in<"x">(x));
  s.run({{"x", x}}, {{"y", y}});
  s.run(
      [](std::size_t n, dk::loop_body body) {
        for (std::size_t i = 0; i < n; ++i) body(i);
      },
      x, y);
  const std::size_t after = allocations;
  CHECK(after == before);
}

TEST_CASE("run() of a session with state allocates nothing") {
  using net = dk::compile<recurrent>;
  const std::vector<std::byte> file = weights_of<net>();
  dk::stateful_session<dk::session<net>, dk::feedback<"hn", "h">> s(dk::safetensors::from_memory(file, "weights"));
  std::array<float, 8> x{};
  std::array<float, 40> y{};
  std::array<std::byte, 80> saved;
  const std::size_t before = allocations;
  s.run(x, y);
  s.save(saved);
  s.run(dk::out<"y">(y), dk::in<"x">(x));
  s.restore(saved);
  s.reset();
  const std::size_t after = allocations;
  CHECK(after == before);
}

TEST_CASE("run() allocates nothing while a state grows to what is reserved") {
  dk::stateful_session<dk::session<dk::compile<growing>>, dk::feedback<"present", "past">> s;
  s.reserve({{"P", 50}});
  std::array<float, 20> x{};
  std::array<float, 51> y{};
  const std::size_t before = allocations;
  for (std::size_t round = 0; round < 2; ++round) {
    s.reset();
    for (std::size_t n = 1; n <= y.size(); ++n) {
      x[n % 20] += 1;
      s.run(x, std::span(y).first(n));
    }
  }
  const std::size_t after = allocations;
  CHECK(after == before);
}

TEST_CASE("run() of a network with symbols allocates nothing either; the arena is kept while it is enough") {
  using net = dk::compile<sized>;
  const std::vector<std::byte> file = weights_of<net>();
  dk::session<net> s(dk::safetensors::from_memory(file, "weights"));
  dk::thread_pool pool(2);
  for (const std::int64_t width : {9, 4}) {
    s.bind({{"N", 3}, {"W", width}});
    std::vector<float> x(static_cast<std::size_t>(s.input_elements(0))),
        y(static_cast<std::size_t>(s.output_elements(0)));
    const std::size_t before = allocations;
    s.run(x, y);
    s.run(pool, x, y);
    const std::size_t after = allocations;
    CHECK(after == before);
  }
  const std::size_t bytes = s.arena_bytes();
  s.bind({{"N", 1}, {"W", 2}});
  CHECK(s.arena_bytes() == bytes);
}

TEST_CASE("a bind that runs out of memory, wherever it does, leaves what was bound before") {
  using net = dk::compile<sized>;
  const std::vector<std::byte> file = weights_of<net>();
  dk::session<net> s(dk::safetensors::from_memory(file, "weights"));
  s.bind({{"N", 1}, {"W", 2}});
  std::vector<float> x(static_cast<std::size_t>(s.input_elements(0)), 0.5f),
      expected(static_cast<std::size_t>(s.output_elements(0))), y = expected;
  s.run(x, expected);
  const std::size_t bytes = s.arena_bytes();
  std::size_t failures = 0;
  for (bool failed = true; failed;) {
    failing = allocations + failures + 1;
    failed = false;
    try {
      s.bind({{"N", 4}, {"W", 9}});
    } catch (const std::bad_alloc&) { failed = true; } catch (const dk::error&) {
      failed = true;
    }  // the arena
    failing = 0;
    if (!failed) break;
    ++failures;
    CHECK(s.arena_bytes() == bytes);
    y.assign(y.size(), -1);
    s.run(x, y);
    CHECK(y == expected);
  }
  CHECK(failures > 10);
  CHECK(s.arena_bytes() > bytes);
}
