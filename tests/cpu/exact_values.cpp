// SPDX-License-Identifier: MIT
// LABELS: no_sanitize slow
// OPTIONS: -O1
// Kernels on the values at which vectors and single elements may part: NaN, infinities, zeros of either sign,
// denormals, what a type cannot hold, ties.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/runtime/session.hpp"
#include "tests/support/fused_groups.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

template <dk::dtype T> using element = dk::type_of_dtype<T>;

template <dk::dtype T> std::vector<element<T>> elements_of(const dk::host_tensor& t) {
  std::vector<element<T>> all(t.count());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if constexpr (dk::is_half(T)) all[i] = element<T>(static_cast<float>(t.reals[i]));
    else if constexpr (dk::is_floating(T)) all[i] = static_cast<element<T>>(t.reals[i]);
    else all[i] = static_cast<element<T>>(t.integers[i]);
  }
  return all;
}

// Each row of `extent` elements begins at another one of `values`, so that each comes into each lane.
dk::host_tensor rows_of(dk::dtype type, std::int64_t rows, std::int64_t extent, const std::vector<double>& values) {
  dk::host_tensor t(type, {rows, extent});
  for (std::size_t i = 0; i < t.count(); ++i) {
    const double x = values[(i + i / static_cast<std::size_t>(extent)) % values.size()];
    if (dk::is_floating(type)) t.reals[i] = dk::round_to(type, x);
    else t.integers[i] = dk::wrap_to(type, dk::truncate(x));
  }
  return t;
}

// Runs the model on one input and compares its outputs, of type Out each, with the reference evaluator's: floats within
// so many of their own units in the last place, and that NaN and infinities are where they must be.
template <class Model, dk::dtype In, dk::dtype Out> void check_values(const dk::host_tensor& x, double units = 0) {
  using net = dk::compile<Model>;
  const std::vector<dk::host_tensor> expected = evaluate(dk::graph_of<Model>(), {x});
  dk::session<net> s;
  const auto all = elements_of<In>(x);
  const auto in = std::make_unique<element<In>[]>(all.size());
  std::copy(all.begin(), all.end(), in.get());
  constexpr std::size_t outputs = net::plan.results.size();
  std::vector<std::unique_ptr<element<Out>[]>> found;
  for (const dk::host_tensor& e : expected) found.push_back(std::make_unique<element<Out>[]>(e.count()));
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    s.run(std::span<const element<In>>(in.get(), all.size()),
          std::span<element<Out>>(found[K].get(), expected[K].count())...);
  }
  (std::make_index_sequence<outputs>{});
  for (std::size_t k = 0; k < outputs; ++k)
    for (std::size_t i = 0; i < expected[k].count(); ++i) {
      CAPTURE(k);
      CAPTURE(i);
      if constexpr (!dk::is_floating(Out)) {
        CHECK(static_cast<std::int64_t>(found[k][i]) == expected[k].integers[i]);
      } else {
        const double e = expected[k].reals[i], f = static_cast<double>(static_cast<float>(found[k][i]));
        const double wide = Out == dk::f64 ? static_cast<double>(found[k][i]) : f;
        const double unit = std::max(std::abs(e), 1.2e-38) * (Out == dk::f64 ? 0x1p-53 : 0x1p-24);
        CHECK_MESSAGE(((std::isnan(e) && std::isnan(wide)) || e == wide || std::abs(e - wide) <= units * unit),
                      wide << ", not " << e);
      }
    }
}

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();
const std::vector<double> reals{
    0,      -0.0, 1,     -1.5,         infinity,      -infinity,    not_a_number, 1e-40,    -1.4e-45, 255.7,
    -129.2, 3e9,  -3e9,  2147483647.0, -2147483648.0, 2147483648.0, 9.3e18,       -9.3e18,  1e30,     65519,
    65520,  -0.3, 0.999, 128,          256,           -128,         4294967295.0, 16777217, 3.5,      -7};
const std::vector<double> integers{0,
                                   1,
                                   -1,
                                   127,
                                   -128,
                                   128,
                                   255,
                                   256,
                                   2147483647.0,
                                   -2147483648.0,
                                   2147483648.0,
                                   -9e18,
                                   9e18,
                                   -7,
                                   3,
                                   9,
                                   16777217,
                                   -9223372036854775808.0,
                                   4294967296.0};

template <dk::dtype From, dk::dtype To> struct cast_to {
  static constexpr void build(dk::builder& g) { g.output("y", dk::cast(g.input("x", From, {31, 37}), {.to = To})); }
};
template <dk::dtype From, dk::dtype... To> void check_casts(const std::vector<double>& values) {
  const dk::host_tensor x = rows_of(From, 31, 37, values);
  (check_values<cast_to<From, To>, From, To>(x), ...);
}

template <dk::dtype Type> struct arithmetic {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", Type, {31, 37}),
                     y = dk::slice(x, {.starts = {-1}, .ends = {-99}, .axes = {0}, .steps = {-1}});
    g.output("sum", x + y);
    g.output("difference", x - y);
    g.output("product", x * y);
    g.output("largest", dk::max(x, y));
    g.output("smallest", dk::min(x, y));
    g.output("size", dk::abs(x));
    g.output("negative", dk::neg(x));
    g.output("chosen", dk::where(dk::less(x, y), x, y));
    g.output("otherwise", dk::where(dk::equal(x, y), x, dk::where(dk::greater_or_equal(x, y), y, x)));
  }
};
template <dk::dtype Type> struct powers {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", Type, {31, 37});
    for (const double e : {2.0, 3.0, 4.0, -1.0, -2.0, 0.5, -0.5, 1.0, 0.0, 5.0, 1.75, -3.0})
      if (dk::is_floating(Type) || (e >= 0 && e == static_cast<double>(static_cast<int>(e))))
        g.output((dk::text("y") << static_cast<std::int64_t>(100 * e)).view(), dk::pow(x, g.scalar(e, Type)));
  }
};
template <dk::dtype Type, std::int64_t Rows, std::int64_t Extent> struct best {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", Type, {Rows, Extent});
    for (const std::int64_t axis : {0, 1})
      for (const bool last : {false, true}) {
        const auto name = [&](const char* what) { return dk::text(what) << axis << (last ? "last" : "first"); };
        g.output(name("largest").view(), dk::arg_max(x, {.axis = axis, .select_last_index = last}));
        g.output(name("smallest").view(), dk::arg_min(x, {.axis = axis, .select_last_index = last}));
      }
  }
};
template <dk::dtype Type, std::int64_t Rows, std::int64_t Extent> struct extremes {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", Type, {Rows, Extent});
    for (const std::int64_t axis : {0, 1}) {
      g.output((dk::text("largest") << axis).view(), dk::reduce_max(x, {.axes = {axis}}));
      g.output((dk::text("smallest") << axis).view(), dk::reduce_min(x, {.axes = {axis}}));
      if (!dk::is_floating(Type)) g.output((dk::text("sum") << axis).view(), dk::reduce_sum(x, {.axes = {axis}}));
      if (!dk::is_floating(Type)) g.output((dk::text("product") << axis).view(), dk::reduce_prod(x, {.axes = {axis}}));
    }
  }
};
template <dk::dtype Type, std::int64_t Extent> struct softmax {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", Type, {13, Extent});
    g.output("along", dk::softmax(x));
    g.output("across", dk::softmax(x, {.axis = 0}));
  }
};
template <bool Filled> struct padded {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::boolean, {9, 45});
    g.output("y", dk::pad(x, {.pads = {1, 2, 0, 5}, .value = Filled ? 1.0f : 0.0f}));
    g.output("given", dk::apply(dk::op::pad{.pads = {0, 3, 2, -4}}, x, g.scalar(Filled ? 1 : 0, dk::boolean)));
    g.output("mirrored", dk::pad(x, {.pads = {1, 2, 3, 4}, .mode = dk::pad_mode::reflect}));
  }
};
static_assert(harness::scalar_kernels<padded<true>>() == 0);

}  // namespace

TEST_CASE("casts of what the other type cannot hold") {
  check_casts<f32, dk::f64, dk::f16, dk::i64, dk::i32, dk::u8, dk::i8, dk::boolean>(reals);
  check_casts<dk::f64, f32, dk::i64, dk::i32, dk::u8>(reals);
  check_casts<dk::f16, dk::i64, dk::f64>(reals);
  check_casts<dk::i64, f32, dk::f64, dk::i32, dk::u8, dk::boolean>(integers);
  check_casts<dk::i32, dk::i64, dk::f64, dk::i8>(integers);
  check_casts<dk::u8, dk::i64, dk::i8>(integers);
  check_casts<dk::boolean, dk::i64, dk::f64>({0, 1, 1, 0, 0, 0, 1});
}

TEST_CASE("integers wrap around, and NaN stays") {
  check_values<arithmetic<f32>, f32, f32>(rows_of(f32, 31, 37, reals));
  check_values<arithmetic<dk::f64>, dk::f64, dk::f64>(rows_of(dk::f64, 31, 37, reals));
  check_values<arithmetic<dk::i64>, dk::i64, dk::i64>(rows_of(dk::i64, 31, 37, integers));
  check_values<arithmetic<dk::i32>, dk::i32, dk::i32>(rows_of(dk::i32, 31, 37, integers));
  check_values<arithmetic<dk::u8>, dk::u8, dk::u8>(rows_of(dk::u8, 31, 37, integers));
  check_values<arithmetic<dk::i8>, dk::i8, dk::i8>(rows_of(dk::i8, 31, 37, integers));
}

TEST_CASE("powers") {
  check_values<powers<f32>, f32, f32>(rows_of(f32, 31, 37, reals), 4);
  check_values<powers<dk::f64>, dk::f64, dk::f64>(rows_of(dk::f64, 31, 37, reals), 4);
  check_values<powers<dk::i64>, dk::i64, dk::i64>(rows_of(dk::i64, 31, 37, integers));
  check_values<powers<dk::u8>, dk::u8, dk::u8>(rows_of(dk::u8, 31, 37, integers));
}

TEST_CASE("the first and the last of the best elements, whatever stands between them") {
  check_values<best<f32, 31, 37>, f32, dk::i64>(rows_of(f32, 31, 37, reals));
  check_values<best<f32, 5, 150>, f32, dk::i64>(rows_of(f32, 5, 150, {not_a_number, 1, 1, -0.0, 0}));
  check_values<best<f32, 40, 40>, f32, dk::i64>(rows_of(f32, 40, 40, {-infinity, -infinity, not_a_number}));
  check_values<best<dk::f64, 31, 37>, dk::f64, dk::i64>(rows_of(dk::f64, 31, 37, reals));
  check_values<best<dk::f16, 31, 37>, dk::f16, dk::i64>(rows_of(dk::f16, 31, 37, reals));
  check_values<best<dk::i64, 31, 37>, dk::i64, dk::i64>(rows_of(dk::i64, 31, 37, integers));
  check_values<best<dk::i32, 70, 133>, dk::i32, dk::i64>(rows_of(dk::i32, 70, 133, integers));
  check_values<best<dk::u8, 70, 133>, dk::u8, dk::i64>(rows_of(dk::u8, 70, 133, integers));
  check_values<best<dk::i8, 1, 7>, dk::i8, dk::i64>(rows_of(dk::i8, 1, 7, integers));
}

TEST_CASE("folds of integers wrap around, and NaN is the extreme") {
  check_values<extremes<f32, 31, 37>, f32, f32>(rows_of(f32, 31, 37, reals));
  check_values<extremes<dk::f64, 31, 37>, dk::f64, dk::f64>(rows_of(dk::f64, 31, 37, reals));
  check_values<extremes<dk::f64, 20, 150>, dk::f64, dk::f64>(rows_of(dk::f64, 20, 150, {-3, -1e300, -7}));
  check_values<extremes<dk::i64, 31, 150>, dk::i64, dk::i64>(rows_of(dk::i64, 31, 150, integers));
  check_values<extremes<dk::i32, 31, 150>, dk::i32, dk::i32>(rows_of(dk::i32, 31, 150, integers));
  check_values<extremes<dk::u8, 31, 150>, dk::u8, dk::u8>(rows_of(dk::u8, 31, 150, integers));
  check_values<extremes<dk::i8, 31, 150>, dk::i8, dk::i8>(rows_of(dk::i8, 31, 150, {-128, -100, -5}));
}

TEST_CASE("Softmax of rows that a kernel keeps, and of such that it does not") {
  // None so far below the largest that its exponential is a denormal: kernels take it for 0.
  const std::vector<double> moderate{7.5, 5, 7, 90, 88.5, -infinity, 4, -90, 15, 89};
  check_values<softmax<f32, 150>, f32, f32>(rows_of(f32, 13, 150, moderate), 200);
  check_values<softmax<f32, 9000>, f32, f32>(rows_of(f32, 13, 9000, moderate), 20000);
  check_values<softmax<f32, 150>, f32, f32>(rows_of(f32, 13, 150, {-1e30, -2e30, -infinity}), 200);
  check_values<softmax<f32, 37>, f32, f32>(rows_of(f32, 13, 37, reals), 200);  // NaN in every row
  check_values<softmax<f32, 37>, f32, f32>(rows_of(f32, 13, 37, {-infinity}), 200);
  check_values<softmax<dk::f64, 150>, dk::f64, dk::f64>(rows_of(dk::f64, 13, 150, moderate), 400);
}

TEST_CASE("truth values around what is padded") {
  check_values<padded<false>, dk::boolean, dk::boolean>(rows_of(dk::boolean, 9, 45, {0, 1, 1, 0, 1, 0, 0}));
  check_values<padded<true>, dk::boolean, dk::boolean>(rows_of(dk::boolean, 9, 45, {0, 1, 1, 0, 1, 0, 0}));
}
