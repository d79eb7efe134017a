// SPDX-License-Identifier: MIT
// Views evaluated one coordinate at a time: what at(view, c) of tensor/view.hpp means.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "dnnkit/tensor/view.hpp"

namespace positions {

using dnnkit::axis;
using dnnkit::dim;
using dnnkit::shape;
using dnnkit::symbol_table;
using dnnkit::view;
using index_list = std::vector<std::int64_t>;

// Extents as numbers, for the given values of the symbols.
inline index_list extents(const symbol_table& t, const shape& s, const index_list& values) {
  index_list e;
  for (dim d : s) e.push_back(t.evaluate(d, values.data()));
  return e;
}
inline shape to_shape(const index_list& e) {
  shape s;
  for (std::int64_t d : e) s.push_back(d);
  return s;
}

inline std::int64_t position(const symbol_table& t, const view& v, const index_list& c, const index_list& values = {}) {
  std::int64_t p = t.evaluate(v.offset, values.data());
  for (std::size_t i = 0; i < v.rank(); ++i) {
    std::int64_t rest = c[i];
    for (std::size_t k = v.dims[i].size(); k-- > 0;) {
      const axis& a = v.dims[i][k];
      const std::int64_t size = t.evaluate(a.size, values.data());
      p += (k == 0 ? rest : rest % size) * t.evaluate(a.stride, values.data());
      rest /= size;
    }
  }
  return p;
}

// Calls f(c) for all coordinates of a tensor, in row-major order.
template <class F> void for_each(const index_list& e, F f) {
  for (std::int64_t d : e)
    if (d == 0) return;
  index_list c(e.size());
  while (true) {
    f(c);
    std::size_t i = e.size();
    while (i > 0 && ++c[i - 1] == e[i - 1]) c[--i] = 0;
    if (i == 0) return;
  }
}

inline std::int64_t flat(const index_list& c, const index_list& e) {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < e.size(); ++i) n = n * e[i] + c[i];
  return n;
}
inline index_list unflat(std::int64_t n, const index_list& e) {
  index_list c(e.size());
  for (std::size_t i = e.size(); i-- > 0; n /= e[i]) c[i] = n % e[i];
  return c;
}

class generator {
 public:
  explicit generator(unsigned seed) : random_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<unsigned>(high - low + 1));
  }
  dnnkit::int_list permutation(std::size_t n) {
    dnnkit::int_list p;
    for (std::size_t i = 0; i < n; ++i) p.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = n; i > 1; --i) {
      const auto j = static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1));
      const std::int64_t swap = p[i - 1];
      p[i - 1] = p[j];
      p[j] = swap;
    }
    return p;
  }
  index_list shape_of(std::int64_t least_rank, std::int64_t most_rank, std::int64_t largest = 4) {
    index_list e;
    for (std::int64_t r = between(least_rank, most_rank); r > 0; --r) e.push_back(between(1, largest));
    return e;
  }

 private:
  std::mt19937 random_;
};

}  // namespace positions
