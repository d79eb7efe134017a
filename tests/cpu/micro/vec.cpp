// SPDX-License-Identifier: MIT
// Vectors against a scalar loop, lane by lane: operators, comparisons, selection, partial access, conversions.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <dnnkit/cpu/micro/vec.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "../reference.hpp"

using namespace dnnkit::cpu;

namespace {

template <class T, int N> vec<T, N> random_vec() {
  vec<T, N> v;
  for (int i = 0; i < N; ++i) v.set(i, static_cast<T>(reference::pick(-50, 50)));
  return v;
}

// f(vector operands) equals g(scalar operands) in every lane.
template <class T, int N, class F, class G> void lanewise_equal(F f, G g) {
  int wrong = 0;
  for (int round = 0; round < 20; ++round) {
    const auto a = random_vec<T, N>(), b = random_vec<T, N>();
    const auto r = f(a, b);
    for (int i = 0; i < N; ++i) wrong += r[i] == g(a[i], b[i]) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

template <class T, int N> void check_operators() {
  using V = vec<T, N>;
  lanewise_equal<T, N>([](V a, V b) { return a + b; }, [](T a, T b) { return static_cast<T>(a + b); });
  lanewise_equal<T, N>([](V a, V b) { return a - b * T(3); }, [](T a, T b) { return static_cast<T>(a - b * 3); });
  lanewise_equal<T, N>([](V a, V b) { return a * b; }, [](T a, T b) { return static_cast<T>(a * b); });
  lanewise_equal<T, N>([](V a, V b) { return a / (b * b + T(1)); },
                       [](T a, T b) { return static_cast<T>(a / (b * b + T(1))); });
  lanewise_equal<T, N>([](V a, V b) { return fma(a, b, a); }, [](T a, T b) { return static_cast<T>(a * b + a); });
  lanewise_equal<T, N>([](V a, V) { return -a; }, [](T a, T) { return static_cast<T>(-a); });
  lanewise_equal<T, N>([](V a, V) { return abs(a); }, [](T a, T) { return static_cast<T>(a < 0 ? -a : a); });
  lanewise_equal<T, N>([](V a, V b) { return min(a, b); }, [](T a, T b) { return std::min(a, b); });
  lanewise_equal<T, N>([](V a, V b) { return max(a, b); }, [](T a, T b) { return std::max(a, b); });
  lanewise_equal<T, N>([](V a, V b) { return a < b; }, [](T a, T b) { return a < b ? -1 : 0; });
  lanewise_equal<T, N>([](V a, V b) { return a <= b; }, [](T a, T b) { return a <= b ? -1 : 0; });
  lanewise_equal<T, N>([](V a, V b) { return a > b; }, [](T a, T b) { return a > b ? -1 : 0; });
  lanewise_equal<T, N>([](V a, V b) { return a >= b; }, [](T a, T b) { return a >= b ? -1 : 0; });
  lanewise_equal<T, N>([](V a, V b) { return a == b; }, [](T a, T b) { return a == b ? -1 : 0; });
  lanewise_equal<T, N>([](V a, V b) { return a != b; }, [](T a, T b) { return a != b ? -1 : 0; });
  lanewise_equal<T, N>([](V a, V b) { return select(a < b, a, b + T(1)); },
                       [](T a, T b) { return static_cast<T>(a < b ? a : b + T(1)); });

  const auto a = random_vec<T, N>();
  T sum = 0, low = a[0], high = a[0];
  for (int i = 0; i < N; ++i) sum = static_cast<T>(sum + a[i]), low = std::min(low, a[i]), high = std::max(high, a[i]);
  CHECK(reduce_add(a) == sum);
  CHECK(reduce_min(a) == low);
  CHECK(reduce_max(a) == high);
  CHECK(V::iota(T(3))[N - 1] == T(3 + N - 1));
}

// Loads and stores of every count of lanes; the memory ends where the lanes end.
template <class T, int N> void check_access() {
  using V = vec<T, N>;
  for (int n = 0; n <= N; ++n) {
    const auto count = static_cast<std::size_t>(n);
    const std::unique_ptr<T[]> from(new T[count]), to(new T[count]);
    for (int i = 0; i < n; ++i) from[static_cast<std::size_t>(i)] = static_cast<T>(i + 1);
    const V v = V::load(from.get(), n);
    for (int i = 0; i < N; ++i) CHECK(v[i] == (i < n ? T(i + 1) : T(0)));
    (v * T(2)).store(to.get(), n);
    for (int i = 0; i < n; ++i) CHECK(to[static_cast<std::size_t>(i)] == T(2 * (i + 1)));
  }
  const std::unique_ptr<T[]> strided(new T[(N - 1) * 3 + 1]());
  V::iota(T(1)).scatter(strided.get(), 3);
  const V all = V::gather(strided.get(), 3), some = V::gather(strided.get(), 3, N - 1);
  for (int i = 0; i < N; ++i) {
    CHECK(all[i] == T(i + 1));
    CHECK(some[i] == (i < N - 1 ? T(i + 1) : T(0)));
  }
  const std::unique_ptr<T[]> pairs(new T[(N - 1) * 2 + 1]());
  V::iota(T(1)).scatter(pairs.get(), 2);
  const V other = V::gather(pairs.get(), 2);
  for (int i = 0; i < N; ++i) CHECK(other[i] == T(i + 1));
}

}  // namespace

TEST_CASE("operators") {
  check_operators<float, float_lanes>();
  check_operators<std::int32_t, float_lanes>();
  check_operators<double, float_lanes / 2>();
  check_operators<std::int64_t, float_lanes / 2>();
}

TEST_CASE("loads and stores") {
  check_access<float, float_lanes>();
  check_access<std::int32_t, float_lanes>();
  check_access<double, float_lanes / 2>();
  check_access<std::int64_t, float_lanes / 2>();
}

TEST_CASE("not a number: minimum and maximum keep the first argument, comparisons are false") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(max(float_vec(nan), float_vec(0.0f))[0]));
  CHECK(max(float_vec(0.0f), float_vec(nan))[0] == 0.0f);
  CHECK(std::isnan(min(float_vec(nan), float_vec(0.0f))[0]));
  CHECK(min(float_vec(0.0f), float_vec(nan))[0] == 0.0f);
  CHECK(!any(float_vec(nan) == float_vec(nan)));
  CHECK(all(float_vec(nan) != float_vec(nan)));
  CHECK(std::signbit(float_vec(-0.0f)[0]));
  CHECK(!std::signbit(abs(float_vec(-0.0f))[0]));
}

TEST_CASE("integers: bits, shifts, wrapping") {
  using I = vec<std::int32_t, float_lanes>;
  CHECK((I(6) & I(3))[0] == 2);
  CHECK((I(6) | I(3))[0] == 7);
  CHECK((I(6) ^ I(3))[0] == 5);
  CHECK((~I(0))[0] == -1);
  CHECK((I(-8) >> 1)[0] == -4);
  CHECK((I(3) << 2)[0] == 12);
  CHECK((I(std::numeric_limits<std::int32_t>::max()) + I(1))[0] == std::numeric_limits<std::int32_t>::min());
  I one(0);
  one.set(float_lanes - 1, -1);
  CHECK(any(one));
  CHECK(!all(one));
  CHECK(all(~I(0)));
}

TEST_CASE("conversions") {
  CHECK(convert<std::int32_t>(float_vec(-2.75f))[0] == -2);
  CHECK(convert<float>(vec<std::int32_t, float_lanes>(7))[float_lanes - 1] == 7.0f);
  CHECK(convert<double>(vec<float, float_lanes / 2>(0.5f))[0] == 0.5);
  CHECK(bit_cast<vec<std::int32_t, float_lanes>>(float_vec(1.0f))[0] == 0x3f800000);
}
