// SPDX-License-Identifier: MIT
// LABELS: no_sanitize alone
// Test that a traced run allocates nothing; the sanitizers replace operator new themselves.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <string_view>

#include "dnnkit/graph.hpp"
#include "dnnkit/inspect/trace.hpp"
#include "dnnkit/runtime/progress.hpp"

// Allocations by any thread are counted. Not inlined, or GCC takes the pairs for mismatched.
static std::atomic<int> allocations{0};
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace dk = dnnkit;

struct softmax {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::softmax(g.input("x", dk::f32, {2, 8}), {.axis = 1}));
  }
};
using net = dk::compile<softmax>;

static dk::safetensors no_tensors() {
  static constexpr std::string_view file("\2\0\0\0\0\0\0\0{}", 10);
  return dk::safetensors::from_memory(std::as_bytes(std::span(file)), "no tensors");
}

TEST_CASE("observers do not allocate while a network runs") {
  const int at_first = allocations;
  dk::session<net, dk::chrome_trace> traced(no_tensors());
  CHECK(allocations > at_first);  // the count works
  std::size_t kernels = 0;
  auto bar = dk::progress([&](std::size_t done, std::size_t) { kernels += done; });
  dk::session<net, decltype(bar)> watched(no_tensors(), bar);
  const std::array<float, 16> x{};
  std::array<float, 16> y{};
  const int before = allocations;
  for (int i = 0; i < 100; ++i) {
    traced.run(x, y);
    watched.run(x, y);
  }
  CHECK(allocations == before);
  CHECK(traced.observer().events().size() == 100);
  CHECK(kernels == 100);
}
