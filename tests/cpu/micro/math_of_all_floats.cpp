// SPDX-License-Identifier: MIT
// LABELS: slow no_sanitize
// The functions that activations and softmax are made of, of every float that is not so small that they are nearly
// linear (tests/cpu/micro/math.cpp has some of those), against double.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/math.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>

#include "float_errors.hpp"

using namespace dnnkit::cpu;

namespace {

constexpr int N = float_lanes;

// The largest error(f(x), exact(x), x) for all floats x from 2^-27 up to `limit`, of a sign; prints where it is.
template <class F, class G, class Error>
double largest_error(const char* name, bool negative, float limit, F f, G exact, Error error) {
  const std::uint32_t sign = negative ? 0x80000000U : 0U;
  double largest = 0;
  float at = 0;
  for (std::uint32_t bits = std::bit_cast<std::uint32_t>(0x1p-27f); bits <= std::bit_cast<std::uint32_t>(limit);
       bits += N) {
    float x[N], y[N];
    for (int i = 0; i < N; ++i) x[i] = std::bit_cast<float>((bits + static_cast<std::uint32_t>(i)) | sign);
    f(vec<float, N>::load(x)).store(y);
    for (int i = 0; i < N; ++i) {
      if (!(std::abs(x[i]) <= limit)) continue;
      const auto of = static_cast<double>(x[i]);
      if (const double e = error(y[i], exact(of), of); !(e <= largest)) largest = e, at = x[i];
    }
  }
  std::printf("%-24s %c %.3g at %.9g\n", name, negative ? '-' : '+', largest, static_cast<double>(at));
  return largest;
}

constexpr bool by_table = dnnkit::cpu::detail::power_by_table<N>::is_there;
constexpr auto in_ulps = [](float got, double want, double) { return reference::ulps(got, want); };
constexpr auto in_scale = [](float got, double want, double of) { return reference::difference(got, want, of); };

}  // namespace

TEST_CASE("exp") {
  const auto f = [](auto x) { return exp(x); };
  const auto exact = [](double x) { return std::exp(x); };
  CHECK(largest_error("exp", false, 90.0f, f, exact, in_ulps) <= 1.01);
  CHECK(largest_error("exp", true, 106.0f, f, exact, in_ulps) <= 1.01);
  const auto of_nonpositive = [](auto x) { return exp_of_nonpositive(x); };
  for (const float largest : {1.0f, 10.0f, 87.0f})
    CHECK(largest_error("exp_of_nonpositive", true, largest, of_nonpositive, exact, in_ulps) <=
          (by_table ? 1.8 + 0.05 * static_cast<double>(largest) : 1.3));
}

TEST_CASE("sigmoid, and what it is multiplied by") {
  const auto below_zero = [](float largest) { return by_table ? 3.4 + 0.04 * static_cast<double>(largest) : 2.5; };
  const auto f = [](auto x) { return sigmoid(x); };
  const auto exact = [](double x) { return 1 / (1 + std::exp(-x)); };
  CHECK(largest_error("sigmoid", false, 90.0f, f, exact, in_ulps) <= 2.5);
  for (const float largest : {1.0f, 10.0f, 87.3f})
    CHECK(largest_error("sigmoid", true, largest, f, exact, in_ulps) <= below_zero(largest));
  const auto g = [](auto x) { return times_sigmoid(x, 1); };
  const auto product = [](double x) { return x / (1 + std::exp(-x)); };
  CHECK(largest_error("times_sigmoid", false, 90.0f, g, product, in_ulps) <= 2.5);
  for (const float largest : {1.0f, 10.0f, 87.0f})
    CHECK(largest_error("times_sigmoid", true, largest, g, product, in_ulps) <= below_zero(largest));
  CHECK(largest_error("times_sigmoid", true, 1e6f, g, product, in_scale) <= 2e-7);
}

TEST_CASE("products with the normal distribution") {
  const auto f = [](auto x) { return times_normal_cdf(x); };
  const auto exact = [](double x) { return 0.5 * x * std::erfc(-x * 0.70710678118654752); };
  const auto g = [](auto x) { return times_normal_cdf_by_tanh(x); };
  const auto by_tanh = [](double x) { return x / (1 + std::exp(-1.5957691216057307 * (x + 0.044715 * x * x * x))); };
  for (const bool negative : {false, true}) {
    CHECK(largest_error("times_normal_cdf", negative, 64.0f, f, exact, in_scale) <= 2e-7);
    CHECK(largest_error("by tanh", negative, 64.0f, g, by_tanh, in_scale) <= 2e-7);
  }
}

TEST_CASE("tanh, erf") {
  for (const bool negative : {false, true}) {
    CHECK(largest_error(
              "tanh", negative, 20.0f, [](auto x) { return tanh(x); }, [](double x) { return std::tanh(x); },
              in_ulps) <= 2);
    CHECK(largest_error(
              "erf", negative, 8.0f, [](auto x) { return erf(x); }, [](double x) { return std::erf(x); }, in_ulps) <=
          3);
  }
}
