// SPDX-License-Identifier: MIT
// A growing array for graphs and passes, with the members of std::vector they use. Compilers evaluate its members in
// constant expressions several times faster, and in a fraction of the memory, than std::vector's: no allocator, no
// helper functions, and loops over plain pointers.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>

namespace dnnkit {

// T: default constructible and assignable; elements past size() are kept, not destroyed.
template <class T> class vector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  constexpr vector() = default;
  constexpr explicit vector(std::size_t n, const T& x = T{}) { resize(n, x); }
  constexpr vector(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  template <class Iterator>
  requires requires(Iterator i) { *i; }
  constexpr vector(Iterator first, Iterator last) { append(first, last); }
  constexpr vector(const vector& other) { append(other.data_, other.data_ + other.size_); }
  constexpr vector(vector&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  constexpr vector& operator=(const vector& other) {
    if (this == &other) return *this;
    size_ = 0;
    append(other.data_, other.data_ + other.size_);
    return *this;
  }
  constexpr vector& operator=(vector&& other) noexcept {
    T* const data = data_;
    const std::size_t size = size_, capacity = capacity_;
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
    other.data_ = data, other.size_ = size, other.capacity_ = capacity;
    return *this;
  }
  constexpr ~vector() { delete[] data_; }

  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T* data() { return data_; }
  constexpr const T* data() const { return data_; }
  // Any integer is an index, so that numbers of nodes and values need no cast.
  constexpr T& operator[](std::integral auto i) { return data_[i]; }
  constexpr const T& operator[](std::integral auto i) const { return data_[i]; }
  constexpr T& front() { return data_[0]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }

  constexpr void reserve(std::size_t n) {
    if (n > capacity_) move_to(new T[n], n);
  }
  constexpr void push_back(const T& x) {
    if (size_ == capacity_) {
      const std::size_t n = size_ == 0 ? 4 : 2 * size_;
      T* larger = new T[n];
      larger[size_] = x;  // before the elements move, of which x may be one
      move_to(larger, n);
      ++size_;
    } else data_[size_++] = x;
  }
  constexpr void push_back(T&& x) {
    if (size_ == capacity_) {
      T moved = static_cast<T&&>(x);
      reserve(size_ == 0 ? 4 : 2 * size_);
      data_[size_++] = static_cast<T&&>(moved);
    } else data_[size_++] = static_cast<T&&>(x);
  }
  constexpr void pop_back() { --size_; }
  constexpr void clear() { size_ = 0; }
  constexpr void resize(std::size_t n) { resize(n, T{}); }
  constexpr void resize(std::size_t n, const T& x) {
    if (n > capacity_) reserve(n);
    for (; size_ < n; ++size_) data_[size_] = x;
    size_ = n;
  }
  // [first, last) must not lie in this vector.
  template <class Iterator> constexpr void append(Iterator first, Iterator last) {
    const std::size_t n = size_ + static_cast<std::size_t>(last - first);
    if (n > capacity_) reserve(n > 2 * size_ ? n : 2 * size_);
    for (T* to = data_ + size_; first != last; ++first) *to++ = *first;
    size_ = n;
  }
  constexpr void insert(const T* at, const T& x) {
    const auto position = static_cast<std::size_t>(at - data_);
    const T inserted = x;  // x may be an element
    resize(size_ + 1);
    for (std::size_t i = size_ - 1; i > position; --i) data_[i] = static_cast<T&&>(data_[i - 1]);
    data_[position] = inserted;
  }
  constexpr void erase(const T* at) { erase(at, at + 1); }
  constexpr void erase(const T* first, const T* last) {
    std::size_t to = static_cast<std::size_t>(first - data_);
    for (std::size_t from = static_cast<std::size_t>(last - data_); from < size_; ++from)
      data_[to++] = static_cast<T&&>(data_[from]);
    size_ = to;
  }

  friend constexpr bool operator==(const vector& a, const vector& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  constexpr void move_to(T* larger, std::size_t capacity) {
    const std::size_t n = size_ < capacity ? size_ : capacity;  // always size_; g++ 12 warns where it cannot see that
    for (std::size_t i = 0; i < n; ++i) larger[i] = static_cast<T&&>(data_[i]);
    delete[] data_;
    data_ = larger;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace dnnkit
