// SPDX-License-Identifier: MIT
// Chains of operators between bytes and bytes become tables, or nothing, and compute the same.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/byte_functions.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/separate_outputs.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;
using dk::f32, dk::i8, dk::u8;

namespace {

struct outcome {
  int gathers = 0, quantisations = 0, dequantisations = 0;
  bool same = false;
};

// Of a model with an input of bytes, all of which occur.
template <class Build> outcome of(dk::dtype bytes, Build build) {
  dk::builder b;
  const dk::tensor q = b.input("q", bytes, {2, 4, 8, 8});
  build(b, q);
  const dk::graph after = dk::passes::separate_outputs::run(dk::passes::byte_functions::rewritten(b.value()));
  REQUIRE(b.value().error.view() == "");
  REQUIRE(dk::verify(after).view() == "");
  dk::host_tensor x(bytes, {2, 4, 8, 8});
  for (std::size_t i = 0; i < x.integers.size(); ++i)
    x.integers[i] = static_cast<std::int64_t>(i % 256) - (bytes == i8 ? 128 : 0);
  const auto expected = evaluate(b.value(), {x}), found = evaluate(after, {x});
  outcome o;
  o.same = true;
  for (std::size_t k = 0; k < expected.size(); ++k)
    o.same = o.same && expected[k].integers == found[k].integers && expected[k].reals == found[k].reals;
  for (const dk::node& y : after.nodes) {
    o.gathers += y.op->name == "Gather" ? 1 : 0;
    o.quantisations += y.op->name == "QuantizeLinear" ? 1 : 0;
    o.dequantisations += y.op->name == "DequantizeLinear" ? 1 : 0;
  }
  return o;
}

struct scale {
  dk::tensor unit, zero;
  dk::tensor real(dk::tensor q) const { return dk::dequantize_linear(q, unit, zero); }
  dk::tensor bytes(dk::tensor x) const { return dk::quantize_linear(x, unit, zero); }
};
scale scale_of(dk::builder& b, double unit, double zero, dk::dtype type = u8) {
  return {b.scalar(unit), b.scalar(zero, type)};
}

}  // namespace

TEST_CASE("a chain of operators between bytes and bytes is a table, of both kinds of bytes") {
  for (const dk::dtype type : {u8, i8}) {
    const outcome o = of(type, [&](dk::builder& b, dk::tensor q) {
      const scale s = scale_of(b, 0.04, 11, type), t = scale_of(b, 0.02, 3, u8);
      b.output("y", t.bytes(dk::erf(s.real(q) / b.scalar(1.25)) + b.scalar(1)));
    });
    CHECK(o.same);
    CHECK(o.gathers == 1);
    CHECK(o.quantisations == 1);  // of the table
  }
}

TEST_CASE("bytes that several operators read, and that are quantised on the way, are looked up once") {
  const outcome o = of(u8, [](dk::builder& b, dk::tensor q) {
    const scale s = scale_of(b, 0.04, 100), t = scale_of(b, 0.01, 128), u = scale_of(b, 0.03, 10);
    const dk::tensor half = t.bytes(dk::sigmoid(s.real(q)));
    b.output("y", u.bytes(s.real(q) * t.real(half)));
  });
  CHECK(o.same);
  CHECK(o.gathers == 1);
}

TEST_CASE("what is dequantised and quantised by one scale is moved as bytes") {
  const outcome o = of(u8, [](dk::builder& b, dk::tensor q) {
    const scale s = scale_of(b, 0.04, 100), alike = scale_of(b, 0.04, 100);  // constants of their own
    const dk::tensor turned = alike.bytes(dk::transpose(s.real(q), {.perm = {0, 2, 3, 1}}));
    const dk::tensor flat = s.bytes(dk::reshape(s.real(turned), {2, 64, 4}));
    b.output("y", flat);
    b.output("picked", s.bytes(dk::gather(s.real(q), b.constant({3, 0}, {2}, dk::i64), {.axis = 1})));
    b.output("largest", s.bytes(dk::max_pool(s.real(q), {.kernel_shape = {2, 2}, .pads = {1, 1, 0, 0}})));
  });
  CHECK(o.same);
  CHECK(o.gathers == 1);  // of bytes
  CHECK(o.quantisations == 0);
  CHECK(o.dequantisations == 0);
}

TEST_CASE("another scale alone, or another zero point alone, makes other bytes") {
  for (const auto& [unit, zero] : {std::pair(0.08, 100.0), std::pair(0.04, 101.0)}) {
    CAPTURE(unit);
    const outcome o = of(u8, [&](dk::builder& b, dk::tensor q) {
      b.output("y", scale_of(b, unit, zero).bytes(scale_of(b, 0.04, 100).real(q)));
    });
    CHECK(o.same);
    CHECK(o.gathers == 1);
  }
}

TEST_CASE("bytes that are moved between two scales are moved, and looked up") {
  const outcome o = of(u8, [](dk::builder& b, dk::tensor q) {
    const scale s = scale_of(b, 0.04, 100), t = scale_of(b, 0.05, 90);
    const dk::tensor x = dk::transpose(s.real(q), {.perm = {0, 2, 3, 1}});
    b.output("y", t.bytes(dk::relu(x)));
    b.output("real", x);
  });
  CHECK(o.same);
  CHECK(o.gathers == 1);
}

TEST_CASE("what is computed of something else besides is no function of a byte") {
  const outcome o = of(u8, [](dk::builder& b, dk::tensor q) {
    const scale s = scale_of(b, 0.04, 100), t = scale_of(b, 0.05, 90);
    const dk::tensor x = s.real(q);
    b.output("channels", t.bytes(x * b.constant({1, 2, 3, 4}, {4, 1, 1})));
    b.output("sums", t.bytes(dk::reduce_sum(x, {.axes = {1}})));
    b.output("other", t.bytes(x + dk::reduce_sum(x, {.axes = {2}})));
  });
  CHECK(o.gathers == 0);
}
