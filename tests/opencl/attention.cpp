// SPDX-License-Identifier: MIT
// Attention as one OpenCL kernel: in which cases there is one, what it computes with masks, heads and lengths of all
// kinds, against the reference evaluator, and with tiles of all shapes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/opencl/attention.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/opencl.hpp"
#include "tests/support/opencl_check.hpp"

namespace dk = dnnkit;
namespace cl = dnnkit::opencl;
using dk::f32;
using dk::tensor;

namespace {

dk::plan::plan_draft plan_of(auto build) {
  dk::builder g;
  build(g);
  return dk::default_pipeline::run<dk::targets::opencl>(g.value()).plan;
}
std::size_t kernels(auto build) { return plan_of(build).steps.size(); }

tensor scores(tensor q, tensor k) { return dk::matmul(q, dk::transpose(k, {.perm = {0, 1, 3, 2}})) * 0.2; }

// softmax(0.2 Q K') V
struct heads {
  std::int64_t count, queries, keys, depth, width;

  void operator()(dk::builder& g) const {
    (*this)(g, [](tensor x) { return x; });
  }
  void operator()(dk::builder& g, auto masked) const {
    const tensor q = g.input("q", f32, {1, count, queries, depth}), k = g.input("k", f32, {1, count, keys, depth}),
                 v = g.input("v", f32, {1, count, keys, width});
    g.output("y", dk::matmul(dk::softmax(masked(scores(q, k))), v));
  }
};

// Checks that build(builder, source of random numbers) is one kernel, and what it computes.
void check_one(auto build, std::uint64_t times = 1) {
  harness::check_on_device(
      [&](dk::builder& g, random_source& r) {
        build(g, r);
        CHECK(dk::default_pipeline::run<dk::targets::opencl>(g.value()).plan.steps.size() == 1);
      },
      times);
}

// In the compiler.
struct model {
  static constexpr void build(dk::builder& g) {
    const tensor x = g.input("x", f32, {1, 2, 40, 32});
    const tensor s = dk::matmul(x, dk::transpose(x, {.perm = {0, 1, 3, 2}})) + g.weight("mask", {40, 40});
    g.output("y", dk::matmul(dk::softmax(s), x));
  }
};
using net = dk::compile<model, dk::targets::opencl>;
static_assert(net::kernels == 1 && net::arena_bytes == 0);
static_assert(cl::kernel_texts<net>.size() == 1);

}  // namespace

TEST_CASE("attention is one kernel: heads of 32, 64, 80 and 128 numbers, odd lengths, one and many keys") {
  for (const std::int64_t depth : harness::numbers({32, 128}, {64, 80})) {
    CAPTURE(depth);
    check_one([&](dk::builder& g, random_source& r) {
      heads{r.between(1, 3), r.between(2, 40), r.between(2, 150), depth, depth}(g);
    });
  }
  check_one([](dk::builder& g, random_source&) { heads{2, 197, 197, 64, 64}(g); });
  check_one([](dk::builder& g, random_source&) { heads{1, 9, 700, 32, 32}(g); });  // several tiles a slice
  check_one([](dk::builder& g, random_source& r) { heads{3, 1, r.between(5, 300), 64, 64}(g); });
  check_one([](dk::builder& g, random_source& r) { heads{2, r.between(2, 9), 1, 32, 16}(g); });
  check_one([](dk::builder& g, random_source& r) {  // nothing is a multiple of four
    heads{2, r.between(2, 70), r.between(2, 70), r.between(5, 67), r.between(5, 67)}(g);
  });
}

TEST_CASE("attention is one kernel: an infinity among the last key's values is one, whatever tiles go beyond it") {
  for (const std::int64_t keys : harness::numbers({5, 130}, {33, 70})) {
    dk::builder g;
    const tensor q = g.input("q", f32, {1, 2, 17, 8}), k = g.input("k", f32, {1, 2, 8, keys});
    const tensor infinite = dk::exp(dk::abs(g.input("l", f32, {1, 2, 1, 8})) + 1000.0);
    const tensor v = dk::concat({g.input("v", f32, {1, 2, keys - 1, 8}), infinite}, {.axis = 2});
    g.output("y", dk::matmul(dk::softmax(dk::matmul(q, k)), v));
    CAPTURE(keys);
    CHECK(dk::default_pipeline::run<dk::targets::opencl>(g.value()).plan.steps.size() == 2);  // the values, attention
    CHECK(harness::opencl_error(g.value(), 1) == "");
  }
}

TEST_CASE("attention is one kernel of 16-bit floats, too, of all or of some operands") {
  using dk::f16;
  for (const std::int64_t depth : {32, 27})
    check_one([&](dk::builder& g, random_source& r) {
      const std::int64_t queries = r.between(2, 40), keys = r.between(2, 90);
      const tensor q = g.input("q", f16, {1, 2, queries, depth}), k = g.input("k", f16, {1, 2, keys, depth});
      g.output("y", dk::matmul(dk::softmax(scores(q, k)), g.input("v", f16, {1, 2, keys, depth})));
    });
  check_one([](dk::builder& g, random_source& r) {
    const std::int64_t keys = r.between(9, 90);
    const tensor q = g.input("q", f32, {1, 2, 20, 32}), k = dk::cast(g.input("k", f16, {1, 2, keys, 32}), {.to = f32});
    g.output("y", dk::matmul(dk::softmax(scores(q, k)), g.input("v", f32, {1, 2, keys, 32})));
  });
}

TEST_CASE("attention is one kernel: masks that are added, conditions, causal ones, and a function of the scores") {
  check_one([](dk::builder& g, random_source& r) {
    const heads h{2, r.between(2, 50), r.between(2, 90), 32, 20};
    h(g, [&](tensor x) {
      return x + g.input("each key", f32, {1, 1, 1, h.keys}) + g.weight("each pair", {2, h.queries, h.keys});
    });
  });
  check_one([](dk::builder& g, random_source& r) {
    const heads h{2, r.between(2, 50), r.between(2, 90), 16, 64};
    const tensor seen = g.input("seen", dk::boolean, {h.queries, h.keys});
    h(g, [&](tensor x) { return dk::where(seen, x, g.constant({-1e9}, {})); });
  });
  check_one([](dk::builder& g, random_source& r) {
    const heads h{2, r.between(2, 50), r.between(2, 90), 16, 16};
    h(g, [&](tensor x) { return dk::tanh(x * 0.1) * 30.0; });
  });
  constexpr std::int64_t n = 70;
  check_one([](dk::builder& g, random_source&) {
    dk::vector<double> mask;
    for (std::int64_t q = 0; q < n; ++q)
      for (std::int64_t k = 0; k < n; ++k) mask.push_back(k > q ? -std::numeric_limits<double>::infinity() : 0.0);
    const heads h{2, n, n, 64, 64};
    h(g, [&](tensor x) { return x + g.constant(mask, {n, n}); });
  });
  check_one([](dk::builder& g, random_source&) {  // the first keys are hidden, tiles of them whole, and a whole row
    dk::vector<double> mask;
    for (std::int64_t q = 0; q < 8; ++q)
      for (std::int64_t k = 0; k < n; ++k) mask.push_back(k < 40 || q == 5 ? -3.4028234663852886e38 : 0.0);
    const heads h{2, 8, n, 16, 16};
    h(g, [&](tensor x) { return x + g.constant(mask, {8, n}); });
  });
}

TEST_CASE("attention is one kernel: heads of one tensor, shared keys, keys and values stored the other way") {
  check_one([](dk::builder& g, random_source& r) {
    const std::int64_t t = r.between(5, 40), h = r.between(1, 3), d = 4 * r.between(2, 9);
    const tensor qkv = g.input("qkv", f32, {2, t, 3, h, d});
    const auto head = [&](std::int64_t i) {
      const tensor one =
          dk::reshape(dk::slice(qkv, {.starts = {i}, .ends = {i + 1}, .axes = {2}, .steps = {1}}), {2, t, h, d});
      return dk::transpose(one, {.perm = {0, 2, 1, 3}});
    };
    const tensor y = dk::matmul(dk::softmax(scores(head(0), head(1))), head(2));
    g.output("y", dk::reshape(dk::transpose(y, {.perm = {0, 2, 1, 3}}), {2, t, h * d}) + g.weight("b", {h * d}));
  });
  check_one([](dk::builder& g, random_source& r) {  // as many queries share keys
    const std::int64_t t = r.between(5, 40), k = r.between(5, 40);
    const tensor q = g.input("q", f32, {6, t, 32});
    const auto shared = [&](const char* name) {
      return dk::reshape(dk::expand(g.input(name, f32, {2, 1, k, 32}), {2, 3, k, 32}), {6, k, 32});
    };
    const tensor s = dk::matmul(q * 0.3, dk::transpose(shared("k"), {.perm = {0, 2, 1}}));
    g.output("y", dk::matmul(dk::softmax(s), shared("v")));
  });
  check_one([](dk::builder& g, random_source& r) {
    const std::int64_t k = 4 * r.between(2, 30);
    const tensor q = g.input("q", f32, {3, 21, 24}), v = g.input("v", f32, {3, 20, k});
    const tensor s = dk::matmul(q, g.input("k", f32, {3, 24, k}));
    g.output("y", dk::relu(dk::matmul(dk::softmax(s), dk::transpose(v, {.perm = {0, 2, 1}}))));
  });
  check_one([](dk::builder& g, random_source&) {  // one head of keys for all, the result stored by queries
    const tensor q = g.input("q", f32, {4, 45, 8});
    const tensor s = dk::softmax(dk::matmul(q, g.input("k", f32, {8, 64})));
    g.output("y", dk::transpose(dk::matmul(s, g.input("v", f32, {64, 16})), {.perm = {0, 2, 1}}));
  });
}

TEST_CASE("what is no attention, and what local memory has no room for, is three kernels") {
  CHECK(kernels(heads{12, 128, 128, 64, 64}) == 1);
  CHECK(kernels(heads{1, 4096, 4096, 512, 512}) == 3);
  const auto of_vectors = [](auto weighted) {
    return [weighted](dk::builder& g) {
      const tensor q = g.input("q", f32, {2, 40, 32}), k = g.input("k", f32, {2, 32, 40}),
                   v = g.input("v", f32, {2, 40, 8});
      g.output("y", dk::matmul(weighted(dk::matmul(q, k)), v));
    };
  };
  CHECK(kernels(of_vectors([](tensor s) { return dk::softmax(s); })) == 1);
  CHECK(kernels(of_vectors([](tensor s) { return dk::softmax(s, {.axis = 1}); })) == 3);
  CHECK(kernels(of_vectors([](tensor s) { return dk::softmax(s) * 0.5 + 0.25; })) == 3);
  CHECK(kernels(of_vectors([](tensor s) { return dk::transpose(dk::softmax(s), {.perm = {0, 2, 1}}); })) == 3);
  CHECK(kernels([](dk::builder& g) {
          const dk::sym n("N", {1, 80});
          const tensor q = g.input("q", f32, {2, n, 32}), k = g.input("k", f32, {2, n, 32});
          g.output("y", dk::matmul(dk::softmax(dk::matmul(q, dk::transpose(k, {.perm = {0, 2, 1}}))), k));
        }) == 3);
}

TEST_CASE("the log says that stages are joined, and what else they would take") {
  dk::builder g;
  heads{12, 128, 128, 64, 64}(g);
  const dk::schedule s = dk::default_pipeline::run_logged<dk::targets::opencl>(g.value());
  std::size_t joined = 0;
  for (const dk::plan::decision& d : dk::plan::view_of(s.plan).decisions)
    if (d.pass == dk::passes::join_stages::name && d.applied) joined += d.costs.count == 2 ? 1 : 0;
  CHECK(joined == 2);
  CHECK(cl::kernel_texts<net>[0].source.find("attention of 2 heads, 40 queries, 40 keys") == 3);
}

TEST_CASE("tiles of all shapes compute the same, and have room in local memory") {
  const heads h{1, 19, 75, 20, 12};
  dk::builder g;
  h(g, [&](tensor x) { return x + g.input("mask", f32, {19, 75}); });
  const cl::attention_extents x{1, 19, 75, 20, 12};
  std::size_t n = 0;
  cl::for_attention_tiles(x, {}, [&](const cl::attention_tile& t) {
    CHECK(t.local(x) * 4 <= 48 << 10);
    const std::size_t number = n++;
    if (number % 11 != 0 || (number % 2 == 0 && !harness::is_thorough)) return;  // a device's compiler takes its time
    const std::string tile = std::to_string(t.bq) + "x" + std::to_string(t.bk) + " " + std::to_string(t.tm) + "x" +
                             std::to_string(t.tn) + " s" + std::to_string(t.slices) + " k" + std::to_string(t.step) +
                             " b" + std::to_string(t.buffers);
    CAPTURE(tile);
    CHECK(harness::opencl_error(g.value(), 1, t) == "");
  });
  CHECK(n > 40);
}
