// SPDX-License-Identifier: MIT
// OPTIONS: -O1
// LABELS: no_sanitize
// Chains between bytes that become tables, compiled: looked up in rows and channels last, of both kinds of bytes,
// moved, and what is added behind a product and quantised again, in its kernel.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <cstddef>
#include <string_view>

#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"

namespace dk = dnnkit;
using dk::f32, dk::i8, dk::u8;
using harness::check_model;

namespace {

struct scale {  // by powers of two, so that no rounding is decided by how a sum is ordered
  dk::tensor unit, zero;
  constexpr scale(dk::builder& g, double u, double z, dk::dtype type = u8)
      : unit(g.scalar(u)), zero(g.scalar(z, type)) {}
  constexpr dk::tensor real(dk::tensor q) const { return dk::dequantize_linear(q, unit, zero); }
  constexpr dk::tensor bytes(dk::tensor x) const { return dk::quantize_linear(x, unit, zero); }
};

struct tables {
  static constexpr void build(dk::builder& g) {
    const scale s(g, 0.0625, 128), t(g, 0.03125, 7, i8);
    const dk::tensor rows = g.input("rows", u8, {3, g.symbol({"N", {1, 200}})});
    g.output("gelu", t.bytes(dk::gelu(s.real(rows))));
    const dk::tensor image = g.input("image", i8, {2, 5, 6, 7});
    const dk::tensor moved = dk::transpose(t.real(image), {.perm = {0, 2, 3, 1}});
    g.output("moved", s.bytes(dk::abs(moved)));
    g.output("turned", t.bytes(moved));
  }
};

struct last {  // a table between convolutions, whose bytes lie channels last
  static constexpr void build(dk::builder& g) {
    const scale s(g, 0.5, 100), t(g, 8, 90), u(g, 4, 3);
    const auto conv = [&](dk::tensor x, const char* name, std::int64_t in) {
      const dk::tensor w = dk::dequantize_linear(g.weight(name, ".weight", {20, in, 3, 3}, i8), g.scalar(0.25));
      return t.bytes(dk::conv(x, w, {.pads = {1, 1, 1, 1}}));
    };
    const dk::tensor y = conv(s.real(g.input("x", u8, {1, 16, 9, 9})), "a", 16);
    const dk::tensor active = u.bytes(dk::relu(t.real(y)) * 0.5);
    g.output("y", conv(u.real(active), "b", 20));
  }
};

struct biased {  // a bias of bytes that is added behind a quantised product, which is quantised before and behind it
  static constexpr void build(dk::builder& g) {
    const scale s(g, 0.5, 100), t(g, 16, 90), u(g, 32, 30);
    const dk::tensor w = dk::dequantize_linear(g.weight("w", {24, 40}, i8), g.scalar(0.25));
    const dk::tensor y = t.bytes(dk::matmul(s.real(g.input("x", u8, {6, 24})), w));
    const dk::tensor bias = dk::dequantize_linear(g.weight("bias", {40}, u8), g.scalar(8), g.scalar(77, u8));
    g.output("y", u.bytes(t.real(y) + bias));
  }
};

template <class Model> constexpr int kernels_of(std::string_view family) {
  using net = dk::compile<Model>;
  int n = 0;
  for (const auto& step : net::plan.steps) n += net::choices[step.kernel].family == family ? 1 : 0;
  return n;
}
static_assert(kernels_of<tables>("byte_lookup") == 2);
static_assert(kernels_of<last>("byte_lookup") == 1 && kernels_of<last>("byte_convolution") == 2);
static_assert(kernels_of<biased>("byte_matrix_product") == 1 && kernels_of<biased>("byte_lookup") == 0);

}  // namespace

TEST_CASE("compiled: tables of bytes") { check_model<tables>("tables"); }
TEST_CASE("compiled: a table between convolutions") { check_model<last>("last"); }
TEST_CASE("compiled: a bias of bytes behind a product") { check_model<biased>("biased"); }
