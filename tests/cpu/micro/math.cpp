// SPDX-License-Identifier: MIT
// Elementary functions on vectors against std:: in double: the largest error in units in the last place is printed and
// bounded.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/trigonometry.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "../reference.hpp"
#include "float_errors.hpp"
#include "tests/support/is_sanitized.hpp"

using namespace dnnkit::cpu;

namespace {

constexpr int N = float_lanes;
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

float from_bits(std::uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

using reference::ulps;

struct worst {
  double error = 0;
  float at = 0, at_y = 0;
  void see(double e, float x, float y = 0) {
    if (!(e <= error)) error = e, at = x, at_y = y;
  }
};

const float special[] = {0.0f,
                         -0.0f,
                         inf,
                         -inf,
                         nan,
                         1.0f,
                         -1.0f,
                         0.5f,
                         -0.5f,
                         1.5f,
                         -2.5f,
                         2.5f,
                         1e-45f,
                         -1e-45f,
                         1e-40f,
                         -1e-40f,
                         1.17549435e-38f,
                         3.40282347e38f,
                         -3.40282347e38f,
                         88.72284f,
                         88.7f,
                         89.5f,
                         -87.3f,
                         -87.5f,
                         -103.9f,
                         -104.5f,
                         0.625f,
                         4.0f,
                         3.9f,
                         -4.1f,
                         9.0f,
                         -9.1f,
                         8388607.5f,
                         8388608.0f,
                         16777216.0f,
                         1e10f,
                         2.0f,
                         3.0f,
                         -3.0f};

// Every 2,999th float of [-high, high] of all magnitudes, numbers spread evenly there, and the special values.
template <class F, class G> double largest_error(const char* name, float low, float high, F f, G exact) {
  worst w;
  std::vector<float> batch;
  const auto flush = [&] {
    float out[N];
    batch.resize(N, 1.0f);
    f(vec<float, N>::load(batch.data())).store(out);
    for (int i = 0; i < N; ++i)
      w.see(ulps(out[i], exact(static_cast<double>(batch[static_cast<std::size_t>(i)]))),
            batch[static_cast<std::size_t>(i)]);
    batch.clear();
  };
  const auto take = [&](float x) {
    if (x < low || x > high) return;  // a NaN is taken
    batch.push_back(x);
    if (batch.size() == N) flush();
  };
  for (const float x : special) take(x);
  constexpr std::size_t each = harness::is_sanitized ? 10 : 1;  // of so many
  for (std::uint64_t bits = static_cast<std::uint64_t>(reference::pick(0, 2998)); bits < 0x100000000ULL;
       bits += 2999 * each)
    take(from_bits(static_cast<std::uint32_t>(bits)));
  const float limit = std::min(high, 200.0f), start = std::max(low, -200.0f);
  for (const float u : reference::values(400'000 / each)) take(start + (limit - start) * (u * 0.5f + 0.5f));
  for (const float u : reference::values(200'000 / each)) take(1.0f + u * 0.5f);
  flush();
  std::printf("%-10s %.2f ulp at %.9g\n", name, w.error, static_cast<double>(w.at));
  return w.error;
}

}  // namespace

TEST_CASE("exp, log, sqrt") {
  using std::exp, std::log, std::sqrt;
  CHECK(largest_error(
            "exp", -inf, inf, [](auto x) { return exp(x); }, [](double x) { return std::exp(x); }) <= 1.01);
  CHECK(largest_error(
            "log", -inf, inf, [](auto x) { return log(x); }, [](double x) { return std::log(x); }) <= 1);
  CHECK(largest_error(
            "sqrt", -inf, inf, [](auto x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }) <= 0.5);
}

// Whether a multiply-add rounds once: 1 / 3 in floats times 3 is 1, and 2^-25 above it before it is rounded.
bool fuses_multiply_adds() {
  const volatile float third = 1.0f / 3.0f;
  float out[N];
  fma(vec<float, N>(third), vec<float, N>(3.0f), vec<float, N>(-1.0f)).store(out);
  return out[0] != 0;
}

struct bounds {
  double fused, not_fused;
};

// What an error is to be at most: with powers from a table and without, with fused multiply-adds and without.
double bound(bounds by_table, bounds by_polynomial) {
  const bounds those = detail::power_by_table<N>::is_there ? by_table : by_polynomial;
  return fuses_multiply_adds() ? those.fused : those.not_fused;
}

TEST_CASE("exp of what is not positive") {
  const auto f = [](auto x) { return exp_of_nonpositive(x); };
  const auto exact = [](double x) { return std::exp(x); };
  CHECK(largest_error("exp <= 0", -87.0f, 0.0f, f, exact) <= bound({6.2, 6.4}, {1.3, 1.3}));
  CHECK(largest_error("exp <= 0", -10.0f, 0.0f, f, exact) <= bound({2.3, 2.5}, {1.3, 1.3}));
  CHECK(largest_error("exp <= 0", -1.0f, 0.0f, f, exact) <= bound({1.85, 2.05}, {1.3, 1.3}));
  float out[N];
  for (const float x : {-inf, -3.4e38f, -1000.0f, -104.1f}) {
    f(vec<float, N>(x)).store(out);
    CHECK(out[N - 1] == 0.0f);
  }
  for (const float x : {-103.0f, -95.0f, -88.5f, -87.9f, -87.6f, -87.5f, -87.4f}) {  // denormals, or zero for them
    f(vec<float, N>(x)).store(out);
    CHECK(std::abs(static_cast<double>(out[0]) - std::exp(static_cast<double>(x))) <= 1.2e-38);
  }
  f(vec<float, N>(NAN)).store(out);
  CHECK(std::isnan(out[0]));
  f(vec<float, N>(-0.0f)).store(out);
  CHECK(out[0] == 1.0f);
}

TEST_CASE("exp of doubles that are not positive") {
  using doubles = vec<double, N / 2>;
  double worst = 0, out[N / 2];
  for (int round = 0; round < 20'000; ++round) {
    const std::vector<float> u = reference::values(N / 2);
    double x[N / 2];
    for (std::size_t i = 0; i < N / 2; ++i)
      x[i] = -std::abs(static_cast<double>(u[i])) * (round % 2 == 0 ? 708.0 : round % 4 == 1 ? 1.0 : 1e-5);
    exp_of_nonpositive(doubles::load(x)).store(out);
    for (std::size_t i = 0; i < N / 2; ++i) {
      const long double exact = std::exp(static_cast<long double>(x[i]));
      const double spacing = std::ldexp(1.0, std::ilogb(static_cast<double>(exact)) - 52);
      worst = std::max(worst, std::abs(static_cast<double>((static_cast<long double>(out[i]) - exact))) / spacing);
    }
  }
  std::printf("exp <= 0 of doubles %.2f ulp\n", worst);
  CHECK(worst <= 1.3);  // without fused multiply-adds; 1.1 with them
  for (const double x : {-HUGE_VAL, -1e300, -746.0, -745.0, -709.0, -708.8}) {  // denormals, or zero for them
    exp_of_nonpositive(doubles(x)).store(out);
    CHECK(std::abs(out[N / 2 - 1] - std::exp(x)) <= 2.3e-308);
  }
  exp_of_nonpositive(doubles(NAN)).store(out);
  CHECK(std::isnan(out[0]));
  exp_of_nonpositive(doubles(-0.0)).store(out);
  CHECK(out[0] == 1.0);
}

TEST_CASE("tanh, sigmoid, erf") {
  using std::erf, std::tanh;
  CHECK(largest_error(
            "tanh", -inf, inf, [](auto x) { return tanh(x); }, [](double x) { return std::tanh(x); }) <= 2);
  const auto f = [](auto x) { return sigmoid(x); };
  const auto exact = [](double x) { return 1 / (1 + std::exp(-x)); };
  CHECK(largest_error("sigmoid", -87.3f, inf, f, exact) <= bound({6.9, 6.9}, {2.5, 2.5}));
  CHECK(largest_error("sigmoid", -10.0f, inf, f, exact) <= bound({3.8, 3.8}, {2.5, 2.5}));
  for (const float x : {-inf, -3.4e38f, -1000.0f, -104.0f, -88.0f, -87.31f}) {  // denormals, or next to them
    float out[N];
    sigmoid(vec<float, N>(x)).store(out);
    CHECK(out[N - 1] == 0.0f);
  }
  const auto g = [](auto x) { return times_sigmoid(x, 1); };
  const auto product = [](double x) { return x / (1 + std::exp(-x)); };
  CHECK(largest_error("x sigmoid", -87.0f, inf, g, product) <= bound({6.9, 6.9}, {2.5, 2.5}));
  CHECK(largest_error("x sigmoid", -10.0f, inf, g, product) <= bound({3.8, 3.8}, {2.5, 2.5}));
  // 1.7 x is rounded, by half a unit: of the result, up to 25.5 / 2 units
  CHECK(largest_error(
            "x sigmoid(1.7 x)", -15.0f, inf, [](auto x) { return times_sigmoid(x, 1.702f); },
            [](double x) { return x / (1 + std::exp(-static_cast<double>(1.702f) * x)); }) <= 20);
  CHECK(largest_error(
            "erf", -inf, inf, [](auto x) { return erf(x); }, [](double x) { return std::erf(x); }) <= 3);
}

namespace {

// The largest |f(x) - exact(x)| / max(1, |x|) for x in [-limit, limit].
template <class F, class G> double largest_difference(float limit, F f, G exact) {
  double largest = 0;
  for (std::int64_t at = 0; at < 400'000; at += N) {
    const std::vector<float> u = reference::values(N);
    float x[N], out[N];
    for (int i = 0; i < N; ++i) x[i] = u[static_cast<std::size_t>(i)] * (at / N % 2 == 0 ? limit : 4.0f);
    f(vec<float, N>::load(x)).store(out);
    for (int i = 0; i < N; ++i) {
      const auto of = static_cast<double>(x[i]);
      largest = std::max(largest, reference::difference(out[i], exact(of), of));
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("products with the normal distribution") {
  const auto f = [](auto x) { return times_normal_cdf(x); };
  const auto g = [](auto x) { return times_normal_cdf_by_tanh(x); };
  const double a = largest_difference(50, f, [](double x) { return 0.5 * x * std::erfc(-x * 0.70710678118654752); });
  const double b = largest_difference(
      50, g, [](double x) { return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x))); });
  std::printf("x Phi(x): %.2g, by tanh %.2g\n", a, b);
  CHECK(a <= 2e-7);
  CHECK(b <= 2e-7);
}

// What is not among the numbers that such a function is made for.
TEST_CASE("activations that are x where it is large, 0 where -x is, and x / 2 close to 0") {
  using floats = vec<float, N>;
  for (const auto& f : {std::function<floats(floats)>([](floats x) { return times_normal_cdf(x); }),
                        std::function<floats(floats)>([](floats x) { return times_normal_cdf_by_tanh(x); }),
                        std::function<floats(floats)>([](floats x) { return times_sigmoid(x, 1); })}) {
    const auto of = [&](float x) {
      float out[N];
      f(floats(x)).store(out);
      return out[N - 1];
    };
    for (const float x : {inf, 3.4e38f, 1e30f, 200.0f}) CHECK(of(x) == x);
    CHECK(std::isnan(of(NAN)));
    for (const float x : {-inf, -3.4e38f, -1e30f, -1e6f, -90.0f}) CHECK(std::abs(of(x)) <= 1e-30f);
    for (const float x : {0.0f, -0.0f}) CHECK(of(x) == 0.0f);
    for (const float x : {1e-45f, -1e-45f, 1e-40f, -3e-39f, 1.2e-38f, -1e-30f})
      CHECK(std::abs(of(x) - x * 0.5f) <= std::max(1.5e-45f, std::abs(x) * 1.5e-7f));
  }
}

TEST_CASE("sin, cos, tan") {
  using std::cos, std::sin, std::tan;
  CHECK(largest_error(
            "sin", -inf, inf, [](auto x) { return sin(x); }, [](double x) { return std::sin(x); }) <= 2);
  CHECK(largest_error(
            "cos", -inf, inf, [](auto x) { return cos(x); }, [](double x) { return std::cos(x); }) <= 2);
  CHECK(largest_error(
            "tan", -1e6f, 1e6f, [](auto x) { return tan(x); }, [](double x) { return std::tan(x); }) <= 4);
}

TEST_CASE("rounding is exact") {
  using std::ceil, std::floor, std::nearbyint, std::trunc;
  CHECK(largest_error(
            "floor", -inf, inf, [](auto x) { return floor(x); }, [](double x) { return std::floor(x); }) == 0);
  CHECK(largest_error(
            "ceil", -inf, inf, [](auto x) { return ceil(x); }, [](double x) { return std::ceil(x); }) == 0);
  CHECK(largest_error(
            "trunc", -inf, inf, [](auto x) { return trunc(x); }, [](double x) { return std::trunc(x); }) == 0);
  CHECK(largest_error(
            "nearbyint", -inf, inf, [](auto x) { return nearbyint(x); }, [](double x) { return std::nearbyint(x); }) ==
        0);
}

TEST_CASE("pow") {
  using std::pow;
  worst w;
  const auto check = [&](const std::vector<float>& xs, const std::vector<float>& ys) {
    for (std::size_t at = 0; at + N <= xs.size(); at += N) {
      float out[N];
      pow(vec<float, N>::load(&xs[at]), vec<float, N>::load(&ys[at])).store(out);
      for (std::size_t i = 0; i < N; ++i)
        w.see(ulps(out[i], std::pow(static_cast<double>(xs[at + i]), static_cast<double>(ys[at + i]))), xs[at + i],
              ys[at + i]);
    }
  };
  std::vector<float> xs, ys;
  for (const float x : special)
    for (const float y : special) xs.push_back(x), ys.push_back(y);
  xs.resize(xs.size() / N * N + N, 2.0f), ys.resize(xs.size(), 0.5f);
  check(xs, ys);
  xs = reference::values(400'000), ys = reference::values(400'000);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (i % 4 == 0) xs[i] = std::abs(xs[i]) * 100, ys[i] *= 20;
    if (i % 4 == 1) xs[i] = 1 + xs[i] * 0.01f, ys[i] *= 9000;
    if (i % 4 == 2) xs[i] *= 50, ys[i] = std::nearbyint(ys[i] * 20);
    if (i % 4 == 3) xs[i] = std::exp(xs[i] * 100);
  }
  check(xs, ys);
  std::printf("%-10s %.2f ulp at %.9g, %.9g\n", "pow", w.error, static_cast<double>(w.at), static_cast<double>(w.at_y));
  CHECK(w.error <= 1.5);
}

TEST_CASE("the library's functions, lane by lane") {
  using std::atan, std::sinh;
  float out[N];
  atan(vec<float, N>(0.75f)).store(out);
  CHECK(out[N - 1] == std::atan(0.75f));
  sinh(vec<float, N>(-0.5f)).store(out);
  CHECK(out[0] == std::sinh(-0.5f));
}
