// SPDX-License-Identifier: MIT
// A vector of at most N elements stored in place, usable in constant expressions and as a frozen value.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>

namespace dnnkit {

template <class T, std::size_t N> struct static_vector {
  using value_type = T;

  constexpr static_vector() = default;
  constexpr static_vector(std::initializer_list<T> list) : static_vector(list.begin(), list.end()) {}
  template <class Iterator> constexpr static_vector(Iterator first, Iterator last) {
    const auto n = static_cast<std::size_t>(last - first);
    if (n > N) throw std::length_error("static_vector: capacity exceeded");
    for (std::size_t i = 0; i < n; ++i) items[i] = first[i];
    count = n;
  }
  // `n` copies of `x`
  static constexpr static_vector filled(std::size_t n, const T& x) {
    static_vector v;
    v.resize(n, x);
    return v;
  }

  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  static constexpr std::size_t capacity() { return N; }

  constexpr T& operator[](std::integral auto i) { return items[i]; }
  constexpr const T& operator[](std::integral auto i) const { return items[i]; }
  constexpr T& back() { return items[count - 1]; }
  constexpr const T& back() const { return items[count - 1]; }
  constexpr T* begin() & { return items; }
  constexpr T* end() & { return items + count; }
  constexpr const T* begin() const& { return items; }
  constexpr const T* end() const& { return items + count; }
  // of a temporary they would point nowhere; `for (T x : temporary())` asks a variable
  void begin() const&& = delete;
  void end() const&& = delete;

  // Throws std::length_error (a compile error in a constant expression) beyond N elements.
  constexpr void push_back(const T& x) {
    if (count == N) throw std::length_error("static_vector: capacity exceeded");
    items[count++] = x;
  }
  constexpr void pop_back() { --count; }
  constexpr void clear() { count = 0; }
  constexpr void resize(std::size_t n, const T& x = T{}) {
    if (n > N) throw std::length_error("static_vector: capacity exceeded");
    for (std::size_t i = count; i < n; ++i) items[i] = x;
    count = n;
  }
  constexpr void insert(std::size_t at, const T& x) {
    push_back(x);
    for (std::size_t i = count - 1; i > at; --i) items[i] = items[i - 1];
    items[at] = x;
  }
  constexpr void erase(std::size_t at) {
    for (std::size_t i = at; i + 1 < count; ++i) items[i] = items[i + 1];
    --count;
  }

  friend constexpr bool operator==(const static_vector& a, const static_vector& b) {
    if (a.count != b.count) return false;
    for (std::size_t i = 0; i < a.count; ++i)
      if (!(a.items[i] == b.items[i])) return false;
    return true;
  }

  T items[N]{};
  std::size_t count = 0;
};

}  // namespace dnnkit
