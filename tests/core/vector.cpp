// SPDX-License-Identifier: MIT
// dnnkit::vector against std::vector under random operations, and the lifetimes of its elements.

#include "dnnkit/core/vector.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace dk = dnnkit;

namespace {

// An element that counts how many of its kind are alive, and knows whether it is one of them.
struct counted {
  static inline int alive = 0;
  int number = 0;
  const counted* self = this;

  counted(int n = 0) : number(n) { ++alive; }
  counted(const counted& other) : number(other.number) {
    CHECK(other.self == &other);
    ++alive;
  }
  counted& operator=(const counted& other) {
    CHECK(self == this);
    CHECK(other.self == &other);
    number = other.number;
    return *this;
  }
  ~counted() {
    CHECK(self == this);
    self = nullptr;
    --alive;
  }
  friend bool operator==(const counted& a, const counted& b) { return a.number == b.number; }
};

// No trivial default constructor, but a trivial destructor.
struct with_default {
  int number = 7;
  with_default() = default;
  with_default(int n) : number(n) {}
  friend bool operator==(const with_default&, const with_default&) = default;
};

template <class T> bool same(const dk::vector<T>& a, const std::vector<T>& b) {
  bool equal = a.size() == b.size() && a.empty() == b.empty();
  for (std::size_t i = 0; equal && i < b.size(); ++i) equal = a[i] == b[i];
  return equal;
}

template <class T, class Make> void compare_with_std(std::uint32_t seed, Make make) {
  std::mt19937 random(seed);
  auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  dk::vector<T> a;
  std::vector<T> b;
  for (int round = 0; round < 2000; ++round) {
    const T x = make(static_cast<int>(below(1000)));
    const std::size_t at = b.empty() ? 0 : below(b.size());
    switch (below(13)) {
      case 0:
        a.push_back(x), b.push_back(x);
        break;
      case 1:
        a.push_back(T(x)), b.push_back(T(x));
        break;
      case 2:  // an element of the vector itself, which may have to grow
        if (!b.empty()) a.push_back(a[at]), b.push_back(T(b[at]));
        break;
      case 3:
        if (!b.empty()) a.pop_back(), b.pop_back();
        break;
      case 4: {
        const std::size_t n = below(40);
        a.resize(n, x), b.resize(n, x);
        break;
      }
      case 5: {
        const std::size_t n = below(40);
        a.resize(n), b.resize(n);
        break;
      }
      case 6: {
        const std::vector<T> more(below(12), x);
        a.append(more.begin(), more.end()), b.insert(b.end(), more.begin(), more.end());
        break;
      }
      case 7:
        if (!b.empty())
          a.insert(a.begin() + at, a[b.size() - 1]), b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), T(b.back()));
        break;
      case 8:
        if (!b.empty()) a.erase(a.begin() + at), b.erase(b.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 9: {
        const std::size_t last = at + below(b.size() - at + 1);
        a.erase(a.begin() + at, a.begin() + last);
        b.erase(b.begin() + static_cast<std::ptrdiff_t>(at), b.begin() + static_cast<std::ptrdiff_t>(last));
        break;
      }
      case 10: {
        const dk::vector<T> copy = a;
        dk::vector<T> other{x, x};
        other = copy;
        CHECK(other == a);
        a = static_cast<dk::vector<T>&&>(other);
        break;
      }
      case 11:
        a.reserve(below(60)), b.reserve(0);
        break;
      default:
        if (below(8) == 0) a.clear(), b.clear();
    }
    REQUIRE(same(a, b));
  }
}

}  // namespace

TEST_CASE("random operations leave what std::vector has") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  compare_with_std<int>(seed, [](int n) { return n; });
  compare_with_std<with_default>(seed, [](int n) { return with_default(n); });
  compare_with_std<std::string>(seed, [](int n) { return std::string(static_cast<std::size_t>(n % 40), 'x'); });
  compare_with_std<counted>(seed, [](int n) { return counted(n); });
  CHECK(counted::alive == 0);
}

TEST_CASE("moving hands the elements over") {
  dk::vector<std::string> a{"one", "two"};
  const std::string* const first = a.data();
  dk::vector<std::string> b(static_cast<dk::vector<std::string>&&>(a));
  CHECK(b.data() == first);
  CHECK(a.empty());
  a.push_back("three");
  CHECK(a.size() == 1);
}

// The same in constant expressions, where the compiler itself checks lifetimes and that nothing leaks.
struct holder {
  dk::vector<int> list;
  int number = 3;
};
static_assert([] {
  dk::vector<holder> v;
  for (int i = 0; i < 20; ++i) v.push_back({{i, i + 1}, i});
  v.erase(v.begin() + 3, v.begin() + 5);
  v.insert(v.begin(), v[10]);
  v.resize(v.size() + 2);
  v.pop_back();
  const dk::vector<holder> copy = v;
  return copy.size() == 20 && copy[0].list[1] == 13 && copy[19].number == 3 && copy[19].list.empty() &&
         copy[4].number == 5 && copy[3].number == 2;
}());
