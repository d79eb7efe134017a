// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Kernels that move elements between orders of axes: every size of element, axes that follow each other in both orders
// and such that do not, parts of tensors, extents that are symbols.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

template <dk::dtype Type> struct orders {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", Type, {2, 19, 21, 37});
    g.output("channels last", dk::transpose(x, {.perm = {0, 2, 3, 1}}));
    g.output("channels first", dk::transpose(x, {.perm = {0, 3, 1, 2}}));
    g.output("reversed", dk::transpose(x));
    g.output("last two", dk::transpose(x, {.perm = {0, 1, 3, 2}}));
    g.output("inside out", dk::transpose(x, {.perm = {3, 0, 2, 1}}));
    const dk::tensor part = dk::slice(x, {.starts = {3, 2}, .ends = {17, 36}, .axes = {1, 3}});
    g.output("of a part", dk::transpose(part, {.perm = {0, 3, 2, 1}}));
    const dk::tensor heads = dk::transpose(dk::reshape(x, {38, 3, 7, 37}), {.perm = {1, 3, 0, 2}});
    g.output("of parts", dk::reshape(heads, {3, 37, 266}));
    g.output("few", dk::transpose(g.input("y", Type, {5, 2, 40}), {.perm = {0, 2, 1}}));
    g.output("some", dk::transpose(g.input("z", Type, {50, 9}), {.perm = {1, 0}}));
    g.output("wide", dk::transpose(g.input("w", Type, {20, 1000}), {.perm = {1, 0}}));
  }
};
template <dk::dtype Type> struct symbols {
  static constexpr void build(dk::builder& g) {
    const dk::dim n = g.symbol({"N", {.min = 1, .max = 5}}), l = g.symbol({"L", {.min = 2, .max = 70}});
    const dk::tensor x = g.input("x", Type, {n, 18, l});
    g.output("turned", dk::transpose(x, {.perm = {0, 2, 1}}));
    g.output("outside", dk::transpose(x, {.perm = {2, 0, 1}}));
    g.output("both", dk::transpose(g.input("y", Type, {l, 4, l}), {.perm = {2, 1, 0}}));
    g.output("channels last", dk::transpose(g.input("z", Type, {n, 9, l, n}), {.perm = {0, 2, 3, 1}}));
  }
};

static_assert(harness::scalar_kernels<symbols<dk::u8>>() == 0);
static_assert(harness::scalar_kernels<symbols<dk::boolean>>() == 0);
static_assert(harness::scalar_kernels<symbols<dk::i32>>() == 0);

TEST_CASE("orders of axes") {
  check_model<orders<dk::u8>>("u8");
  check_model<orders<f32>>("f32");
  harness::thoroughly([](auto) {
    check_model<orders<dk::boolean>>("bool");
    check_model<orders<dk::f16>>("f16");
    check_model<orders<dk::i32>>("i32");
    check_model<orders<dk::i64>>("i64");
  });
}
TEST_CASE("extents that are symbols") {
  check_model<symbols<dk::u16>>("u16");
  harness::thoroughly([](auto) {
    check_model<symbols<dk::i8>>("i8");
    check_model<symbols<f32>>("f32");
    check_model<symbols<dk::f64>>("f64");
  });
}

}  // namespace
