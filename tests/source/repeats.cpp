// SPDX-License-Identifier: MIT
// Models of many nodes: what the generator needs of memory and of steps grows as they do, and what it prints is right.
// LABELS: no_sanitize
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <string_view>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/source/generate.hpp"

namespace dk = dnnkit;

namespace {

std::size_t requested = 0;  // bytes, over the whole run
std::size_t requests = 0;

struct use {
  std::string code;
  std::size_t bytes, requests;
};
use generated(const dk::graph& g) {
  requested = requests = 0;
  std::string code = dk::generation::generate_model(g, "model");
  return {std::move(code), requested, requests};
}

std::size_t lines(const std::string& s, std::string_view what) {
  std::size_t n = 0;
  for (std::size_t at = s.find(what); at != s.npos; at = s.find(what, at + 1)) ++n;
  return n;
}

// Layers that a loop says, layers whose numbers follow no rule, single operators of two kinds in no order.
void append_chain(dk::builder& g, std::size_t nodes) {
  auto y = g.input("x", dk::f32, {1, 4});
  for (std::size_t i = 0; i < nodes; ++i) y = dk::relu(y);
  g.output("y", y);
}
void append_layers(dk::builder& g, std::size_t nodes) {
  std::mt19937 random(1);
  auto y = g.input("x", dk::f32, {1, 4});
  for (std::size_t i = 0; i < nodes / 3; ++i) {
    const dk::text name = dk::text("layer.") << (i < nodes / 6 ? i : 1000 * i + random() % 1000);
    y = dk::matmul(y, g.weight(name.view(), ".weight", {4, 4})) + g.weight(name.view(), ".bias", {4});
    y = dk::relu(y);
  }
  g.output("y", y);
}
void append_mixture(dk::builder& g, std::size_t nodes) {
  std::mt19937 random(1);
  auto y = g.input("x", dk::f32, {1, 4});
  auto z = y;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (random() % 16 == 0) z = y;
    y = random() % 2 != 0 ? dk::tanh(y) : random() % 2 != 0 ? y * z : dk::sigmoid(y);
  }
  g.output("y", y);
}

}  // namespace

void* operator new(std::size_t size) {
  requested += size;
  ++requests;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

TEST_CASE("twice the nodes take about twice the memory and twice the steps") {
  for (const auto append : {append_chain, append_layers, append_mixture}) {
    use of[2];
    for (std::size_t k = 0; k < 2; ++k) {
      dk::builder g;
      append(g, 8000 * (k + 1));
      REQUIRE(g.value().error.str() == "");
      of[k] = generated(g.value());
    }
    MESSAGE(of[0].bytes << " bytes, " << of[0].requests << " requests, " << lines(of[0].code, " = [&](")
                        << " functions; " << of[1].bytes << ", " << of[1].requests << ", "
                        << lines(of[1].code, " = [&]("));
    CHECK(of[1].bytes < 3 * of[0].bytes);
    CHECK(of[1].requests < 3 * of[0].requests);
    CHECK(of[0].bytes < std::size_t{8000} * 200'000);  // of all rounds together
  }
}

TEST_CASE("a chain of 20,000 operators") {
  dk::builder g;
  append_chain(g, 20'000);
  const use u = generated(g.value());
  CHECK(lines(u.code, "dk::relu(") == 20'000);
  CHECK(u.bytes < 400'000'000);
}
