// SPDX-License-Identifier: MIT
// OPTIONS: -O1
// LABELS: no_sanitize
// Groups around matrix products: attention, batches, computed second operands, movement on every side.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/runtime/aligned_memory.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

constexpr dk::tensor linear(dk::builder& g, dk::tensor x, const char* name, std::int64_t out) {
  return dk::matmul(x, g.weight(name, ".weight", {x.size(-1), out})) + g.weight(name, ".bias", {out});
}

struct fixed_length {
  static constexpr dk::tensor tokens(dk::builder& g, std::int64_t width) { return g.input("x", f32, {2, 5, width}); }
};
struct any_length {
  static constexpr dk::tensor tokens(dk::builder& g, std::int64_t width) {
    return g.input("x", f32, {dk::sym("B", {1, 3}), dk::sym("L", {1, 20}), width});
  }
};

template <class Size> struct attention {  // heads split off by Reshape and Transpose, a mask, a residual
  static constexpr void build(dk::builder& g) {
    constexpr std::int64_t heads = 3, width = 24;
    const dk::tensor x = Size::tokens(g, width);
    const dk::tensor y = dk::layer_normalization(x, g.weight("n", {width}), g.weight("m", {width}));
    auto split = [&](const char* name, const dk::int_list& perm) {
      const dk::tensor t = dk::reshape(linear(g, y, name, width), {x.size(0), x.size(1), heads, width / heads});
      return dk::transpose(t, {.perm = perm});
    };
    const dk::tensor q = split("q", {0, 2, 1, 3});
    const dk::tensor k = split("k", {0, 2, 3, 1});
    const dk::tensor v = split("v", {0, 2, 1, 3});
    const dk::tensor scores = dk::softmax(dk::matmul(q, k) * 0.35);
    const dk::tensor heads_out = dk::transpose(dk::matmul(scores, v), {.perm = {0, 2, 1, 3}});
    g.output("y", x + linear(g, dk::reshape(heads_out, {x.size(0), x.size(1), width}), "o", width));
  }
};

// Parts of all rows, of which each continues the one before, and of some: kernels that differ in nothing else.
struct parts_of_rows {
  static constexpr void build(dk::builder& g) {
    const dk::dim n = g.symbol({"N", {1, 3}});
    const dk::tensor x = g.input("x", f32, {n, dk::sym("L", {1, 20}), 18});
    const dk::tensor y = g.input("y", f32, {n, dk::sym("M", {3, 9}), 18});
    const dk::tensor all = dk::slice(x, {.starts = {0}, .ends = {16}, .axes = {2}});
    const dk::tensor some = dk::slice(y, {.starts = {0, 0}, .ends = {-2, 16}, .axes = {1, 2}});
    g.output("all", linear(g, all, "a", 24));
    g.output("some", linear(g, some, "b", 24));
  }
};
static_assert(harness::compile_by_rules<parts_of_rows>::distinct_kernels == 2);

template <class Size> struct perceptron {  // a transformer's other half
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = Size::tokens(g, 16);
    const dk::tensor y = dk::rms_normalization(x, g.weight("n", {16}));
    const dk::tensor gate = dk::silu(dk::matmul(y, g.weight("a", {16, 40})));
    const dk::tensor up = dk::matmul(y, g.weight("b", {16, 40}));
    g.output("y", x + dk::matmul(gate * up, g.weight("c", {40, 16})));
  }
};

template <bool Symbolic> struct batches {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument m = Symbolic ? dk::dim_argument(dk::sym("M", {1, 9})) : dk::dim_argument(3);
    const dk::tensor a = g.input("a", f32, {2, 3, m, 7}), b = g.input("b", f32, {3, 7, 5});
    const dk::tensor c = g.input("c", f32, {2, 1, 7, 4}), d = g.input("d", f32, {7, 18});
    g.output("same", dk::matmul(a, b));
    g.output("broadcast", dk::relu(dk::matmul(a, c)));
    g.output("one", dk::matmul(a, d) + g.weight("w", {18}));
    g.output("prologues", dk::matmul(dk::tanh(a), dk::exp(b) * 0.5));
    g.output("weights", dk::matmul(a, g.weight("v", {3, 7, 6})));
    g.output("gram", dk::matmul(a, dk::transpose(a, {.perm = {0, 1, 3, 2}})));
  }
};

template <class Size> struct vectors {  // operands of rank 1, products of one row or column
  static constexpr void build(dk::builder& g) {
    const auto [k, n] = Size::extents();
    const dk::tensor a = g.input("a", f32, {k}), b = g.input("b", f32, {k, n}), c = g.input("c", f32, {2, 3, k});
    g.output("row", dk::matmul(a, b));
    g.output("rows", dk::relu(dk::matmul(a, g.input("d", f32, {2, k, 19}))));
    g.output("dot", dk::matmul(a, a));
    g.output("columns", dk::matmul(c, a) + 1.0);
    g.output("turned", dk::matmul(dk::transpose(b), dk::tanh(a)));
    g.output("outer", dk::matmul(dk::unsqueeze(a, {.axes = {1}}), dk::unsqueeze(a, {.axes = {0}})));
  }
};
struct known_vectors {
  static constexpr std::array<dk::dim_argument, 2> extents() { return {21, 20}; }
};
struct vectors_of_symbols {
  static constexpr std::array<dk::dim_argument, 2> extents() { return {dk::sym("K", {1, 40}), dk::sym("N", {1, 40})}; }
};
struct vectors_and_weights {
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", f32, {9}), b = g.input("b", f32, {9, 4});
    g.output("column", dk::matmul(b, g.weight("w", {4, 1})));
    g.output("weighted", dk::matmul(a, g.weight("v", {9, 33})));
    g.output("by a vector", dk::matmul(b, g.weight("u", {4})));
    g.output("of weights", dk::matmul(g.weight("t", {33, 9}), a));
  }
};

// Few rows, by matrices whose rows are read where they lie: whole vectors of columns and parts of such, K of more and
// of less than is added at a time.
template <dk::dtype Type, bool Symbolic> struct few_rows {
  static constexpr void build(dk::builder& g) {
    const auto in = [&](const char* name, std::initializer_list<dk::dim_argument> dims) {
      return dk::cast(g.input(name, f32, dims), {.to = Type});
    };
    const auto out = [&](const char* name, dk::tensor t) { g.output(name, dk::cast(t, {.to = f32})); };
    const dk::dim_argument n = Symbolic ? dk::dim_argument(dk::sym("N", {1, 700})) : dk::dim_argument(600);
    const dk::dim_argument k = Symbolic ? dk::dim_argument(dk::sym("K", {1, 40})) : dk::dim_argument(21);
    const dk::tensor a = in("a", {1, k}), c = in("c", {n}), b = dk::relu(in("b", {k, n})) + c;
    const dk::tensor d = in("d", {2, 2, k}), e = in("e", {3, 5, 7}), f = in("f", {3, 7, 67}), h = in("h", {3, 1, k}),
                     l = in("l", {1, k, 35}), p = in("p", {7, 4}), q = in("q", {7, 33});
    const auto stored = [&](dk::tensor t) { return dk::cum_sum(t); };  // it takes a kernel of its own
    out("row", dk::matmul(a, stored(b)) * 2.0);
    out("rows", dk::matmul(d, stored(b)) + c);
    out("batches", dk::relu(dk::matmul(e, stored(f))));
    out("one B", dk::matmul(h, stored(l)));
    out("a part", dk::matmul(a, dk::slice(stored(b), {.starts = {0}, .ends = {1}, .axes = {1}})));
    out("computed", dk::matmul(a, dk::abs(b)));  // packed in vectors
    out("turned", dk::matmul(dk::transpose(stored(p)), stored(q)));
  }
};

struct gemms {
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", f32, {7, 6}), b = g.input("b", f32, {6, 11}), c = g.input("c", f32, {7, 1});
    g.output("plain", dk::gemm(a, b));
    g.output("scaled", dk::gemm(a, b, c, {.alpha = 0.5f, .beta = 2}));
    g.output("turned", dk::gemm(a, g.weight("w", {11, 7}), g.weight("v", {11}), {.trans_a = true, .trans_b = true}));
    g.output("none", dk::gemm(a, g.weight("u", {6, 3}), c, {.beta = 0}));
  }
};

// Rows of A that lie elsewhere than one behind the other; K in another order; a product read through movement.
struct movement {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 6, 4, 5});
    auto product = [&](dk::tensor t, const char* name) { return dk::matmul(t, g.weight(name, {t.size(-1), 17})); };
    g.output(
        "windows",
        product(dk::reshape(dk::transpose(dk::reshape(x, {2, 3, 2, 4, 5}), {.perm = {1, 0, 2, 3, 4}}), {12, 20}), "a"));
    g.output("channels", product(dk::reshape(dk::transpose(x, {.perm = {0, 2, 3, 1}}), {40, 6}), "b"));
    g.output("flat", product(dk::flatten(dk::relu(x)), "c"));
    g.output("sliced", product(dk::slice(x, {.starts = {1}, .ends = {4}, .axes = {3}}), "d"));
    g.output("backwards", product(dk::slice(x, {.starts = {-1}, .ends = {-9}, .axes = {3}, .steps = {-1}}), "e"));
    g.output("tiled", product(dk::tile(x, {.repeats = {1, 1, 1, 2}}), "f"));
    g.output("turned", dk::relu(dk::transpose(product(x, "g"), {.perm = {3, 1, 0, 2}})));
    g.output("merged", dk::reshape(product(x, "h"), {12, 68}) * 2.0);
  }
};

struct long_reduction {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {70, 2100});
    g.output("y", dk::relu(dk::matmul(x, g.weight("w", {2100, 40}))));
  }
};
struct long_reductions {  // a prologue, batches whose second operand is computed, a length known when it runs
  static constexpr void build(dk::builder& g) {
    const dk::tensor a = g.input("a", f32, {2, 17, 1600}), b = g.input("b", f32, {2, 1600, 20});
    const dk::dim_argument length = dk::sym("L", {1530, 1550});
    const dk::tensor c = g.input("c", f32, {9, length}), d = g.input("d", f32, {length, 5});
    g.output("prologue", dk::matmul(dk::tanh(a), g.weight("w", {1600, 33})));
    g.output("batches", dk::matmul(a, dk::exp(b)));
    g.output("symbolic", dk::matmul(c, d));
  }
};

// Computed before the first run.
struct setup_product {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {4, 8});
    const dk::tensor w = dk::matmul(g.weight("u", {8, 3}), g.weight("v", {3, 12}));
    g.output("y", dk::matmul(x, w) + dk::reduce_sum(w, {.axes = {0}, .keepdims = false}));
  }
};

}  // namespace

TEST_CASE("attention") {
  check_model<attention<any_length>>("symbolic");
  harness::thoroughly([](auto) { check_model<attention<fixed_length>>("static"); });
}
TEST_CASE("parts of rows") { check_model<parts_of_rows>("parts of rows"); }
TEST_CASE("gated perceptron") {
  check_model<perceptron<fixed_length>>("static");
  harness::thoroughly([](auto) { check_model<perceptron<any_length>>("symbolic"); });
}
TEST_CASE("batches, broadcast and computed operands") {
  check_model<batches<true>>("symbolic");
  harness::thoroughly([](auto) { check_model<batches<false>>("static"); });
}
TEST_CASE("few rows") {
  check_model<few_rows<dk::f32, true>>("few_rows<dnnkit::f32, true>");
  harness::thoroughly([](auto) {
    check_model<few_rows<dk::i32, true>>("few_rows<dnnkit::i32, true>");
    check_model<few_rows<dk::f32, false>>("few_rows<dnnkit::f32, false>");
    check_model<few_rows<dk::f64, false>>("few_rows<dnnkit::f64, false>");
  });
}
TEST_CASE("vectors") {
  check_model<vectors<vectors_of_symbols>>("vectors<vectors_of_symbols>");
  check_model<vectors_and_weights>("vectors_and_weights");
  CHECK(harness::scalar_kernels<vectors<known_vectors>>() == 0);
  CHECK(harness::scalar_kernels<vectors<vectors_of_symbols>>() == 0);
  CHECK(harness::scalar_kernels<vectors_and_weights>() == 0);
  harness::thoroughly([](auto) { check_model<vectors<known_vectors>>("vectors<known_vectors>"); });
}
TEST_CASE("Gemm") { check_model<gemms>("gemms"); }
TEST_CASE("movement around products") { check_model<movement>("movement"); }
TEST_CASE("long reductions") {
  check_model<long_reductions>("computed operands", 1);
  harness::thoroughly([](auto) { check_model<long_reduction>("operands in memory", 1); });
}
TEST_CASE("a network computes long reductions in blocks, whose sums are in its scratch memory") {
  const dk::cpu::kernel_entry kernel = harness::compiled<long_reduction>("long").kernels[0];
  constexpr std::size_t rows = 70, length = 2100, columns = 40;
  std::vector<float> x(rows * length), w(length * columns), y(rows * columns);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 7) - 2.0F;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 5) - 1.0F;
  std::byte* operands[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(w.data()),
                           reinterpret_cast<std::byte*>(y.data())};
  dk::cpu::kernel_call call{.operands = operands};
  const bool has_scratch = kernel.scratch_bytes != nullptr;
  REQUIRE(has_scratch);
  REQUIRE(kernel.scratch_bytes(call) >= static_cast<std::int64_t>(rows * columns * sizeof(float)));
  const dk::aligned_memory packed(static_cast<std::size_t>(kernel.packed_bytes));
  std::vector<float> scratch(static_cast<std::size_t>(kernel.scratch_bytes(call)) / sizeof(float), -0.5F);
  call.packed = packed.data();
  call.scratch = reinterpret_cast<std::byte*>(scratch.data());
  kernel.pack(call);
  kernel.run(call, 0, kernel.units(call));
  CHECK(std::count(scratch.begin(), scratch.end(), -0.5F) <= static_cast<std::ptrdiff_t>(scratch.size() - y.size()));
  std::size_t wrong = 0;  // sums of small integers are exact
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < length; ++k) sum += x[i * length + k] * w[k * columns + j];
      if (y[i * columns + j] != std::max(sum, 0.0F)) ++wrong;
    }
  CHECK(wrong == 0);
}
TEST_CASE("a product of weights") { check_model<setup_product>("setup"); }
