// SPDX-License-Identifier: MIT
// A growing array for graphs and passes, with the members of std::vector they use. Compilers evaluate its members in
// constant expressions several times faster, and in a fraction of the memory, than std::vector's: no allocator objects,
// no helper functions, and loops that count, which take GCC half the time of loops that walk pointers. What planning
// does most reads `items` and `count` themselves: v.items[i] takes GCC a third of the time of v[i].
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>  // std::allocator and std::construct_at, in a fraction of the lines of <memory>
#include <type_traits>

namespace dnnkit {

template <class T> class vector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  constexpr vector() = default;
  constexpr explicit vector(std::size_t n) { resize(n); }
  constexpr vector(std::size_t n, const T& x) { resize(n, x); }
  constexpr vector(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  template <class Iterator>
  requires requires(Iterator i) { *i; }
  constexpr vector(Iterator first, Iterator last) { append(first, last); }
  constexpr vector(const vector& other) { append(other.items, other.items + other.count); }
  constexpr vector(vector&& other) noexcept : items(other.items), count(other.count), room(other.room) {
    other.items = nullptr;
    other.count = other.room = 0;
  }
  constexpr vector& operator=(const vector& other) {
    if (this == &other) return *this;
    clear();
    append(other.items, other.items + other.count);
    return *this;
  }
  constexpr vector& operator=(vector&& other) noexcept {
    T* const data = items;
    const std::size_t size = count, capacity = room;
    items = other.items, count = other.count, room = other.room;
    other.items = data, other.count = size, other.room = capacity;
    return *this;
  }
  constexpr ~vector() {
    if constexpr (is_simple) delete[] items;
    else if (items != nullptr) release();
  }

  constexpr std::size_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr T* data() { return items; }
  constexpr const T* data() const { return items; }
  // Any integer is an index, so that numbers of nodes and values need no cast.
  constexpr T& operator[](std::integral auto i) { return items[i]; }
  constexpr const T& operator[](std::integral auto i) const { return items[i]; }
  constexpr T& front() { return items[0]; }
  constexpr const T& front() const { return items[0]; }
  constexpr T& back() { return items[count - 1]; }
  constexpr const T& back() const { return items[count - 1]; }
  constexpr T* begin() { return items; }
  constexpr T* end() { return items + count; }
  constexpr const T* begin() const { return items; }
  constexpr const T* end() const { return items + count; }

  constexpr void reserve(std::size_t n) {
    if (n > room) move_to(allocate(n), n);
  }
  constexpr void push_back(const T& x) {
    if (count == room) grow(x);
    else if constexpr (is_simple) items[count] = x;
    else std::construct_at(items + count, x);
    ++count;
  }
  constexpr void push_back(T&& x) {
    if (count == room) grow(static_cast<T&&>(x));
    else if constexpr (is_simple) items[count] = x;
    else std::construct_at(items + count, static_cast<T&&>(x));
    ++count;
  }
  constexpr void pop_back() { shrink(count - 1); }
  constexpr void clear() {
    if constexpr (std::is_trivially_destructible_v<T>) count = 0;
    else shrink(0);
  }
  constexpr void resize(std::size_t n) {
    if (n > count) resize(n, T{});
    else shrink(n);
  }
  constexpr void resize(std::size_t n, const T& x) {
    if (n > room) reserve(n > 2 * count ? n : 2 * count);
    T* const to = items;
    for (std::size_t i = count; i < n; ++i)
      if constexpr (is_simple) to[i] = x;
      else std::construct_at(to + i, x);
    if constexpr (std::is_trivially_destructible_v<T>) count = n;
    else if (n < count) shrink(n);
    else count = n;
  }
  // [first, last) must not lie in this vector.
  template <class Iterator> constexpr void append(Iterator first, Iterator last) {
    const auto n = static_cast<std::size_t>(last - first);
    if (count + n > room) reserve(count + n > 2 * count ? count + n : 2 * count);
    T* const to = items + count;
    for (std::size_t i = 0; i < n; ++i, ++first)
      if constexpr (is_simple) to[i] = *first;
      else std::construct_at(to + i, *first);
    count += n;
  }
  constexpr void insert(const T* at, const T& x) {
    const auto position = static_cast<std::size_t>(at - items);
    T inserted = x;  // x may be an element
    push_back(inserted);
    for (std::size_t i = count - 1; i > position; --i) items[i] = static_cast<T&&>(items[i - 1]);
    items[position] = static_cast<T&&>(inserted);
  }
  constexpr void erase(const T* at) { erase(at, at + 1); }
  constexpr void erase(const T* first, const T* last) {
    if (first == last) return;
    std::size_t to = static_cast<std::size_t>(first - items);
    for (std::size_t from = static_cast<std::size_t>(last - items); from < count; ++from)
      items[to++] = static_cast<T&&>(items[from]);
    shrink(to);
  }

  friend constexpr bool operator==(const vector& a, const vector& b) {
    if (a.count != b.count) return false;
    for (std::size_t i = 0; i < a.count; ++i)
      if (!(a.items[i] == b.items[i])) return false;
    return true;
  }

  T* items = nullptr;
  std::size_t count = 0;  // of elements; to be changed by the functions above

 private:
  // Arrays of these cost the constant evaluator nothing until elements are assigned to; of others, only the elements in
  // use are constructed, which spares it the constructors of the room to grow.
  static constexpr bool is_simple = std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>;
  static constexpr std::size_t first_room = 8;

  static constexpr T* allocate(std::size_t n) {
    if constexpr (is_simple) return new T[n];
    else return std::allocator<T>().allocate(n);
  }
  constexpr void release() {
    if constexpr (is_simple) delete[] items;
    else {
      shrink(0);
      std::allocator<T>().deallocate(items, room);
    }
  }
  constexpr void shrink(std::size_t n) {
    if constexpr (!std::is_trivially_destructible_v<T>)
      for (std::size_t i = n; i < count; ++i) std::destroy_at(items + i);
    count = n;
  }

  // Makes room, and puts x, which may be an element, behind the last element.
  template <class X> constexpr void grow(X&& x) {
    const std::size_t n = count == 0 ? first_room : 2 * count;
    T* const larger = allocate(n);
    if constexpr (is_simple) larger[count] = x;
    else std::construct_at(larger + count, static_cast<X&&>(x));
    if (count != 0) return move_to(larger, n);
    items = larger;
    room = n;
  }
  constexpr void move_to(T* larger, std::size_t capacity) {
    const std::size_t n = count < capacity ? count : capacity;  // always count; g++ 12 warns where it cannot see that
    T* const from = items;
    for (std::size_t i = 0; i < n; ++i)
      if constexpr (is_simple) larger[i] = from[i];
      else std::construct_at(larger + i, static_cast<T&&>(from[i]));
    if (from != nullptr) release();
    count = n;
    items = larger;
    room = capacity;
  }

  std::size_t room = 0;  // elements there is memory for
};

}  // namespace dnnkit
