// SPDX-License-Identifier: MIT
// Convolutions and matrix products of the reference evaluator as loops over rows of the output. Each element is the sum
// that the operator's scalar definition at() describes, its terms in the same order; only the order in which elements
// take their terms differs, so that the inner loop runs along memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/operator/element_types.hpp"
#include "dnnkit/operator/window.hpp"
#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/reference/symbol_values.hpp"

namespace dnnkit::detail {

// The inputs (null for one left out) and the output, whose type and extents are set; where attributes have expressions,
// what they are computed with.
struct operands {
  std::vector<const host_tensor*> inputs;
  host_tensor* output;
  const symbol_values* symbols = nullptr;
};

// Of kinds of elements that the evaluator is not compiled for.
template <class Op> [[noreturn]] void refuse_element_type(const Op&, const host_tensor& t) {
  throw error("the evaluator is not compiled for this element type", "operator " + std::string(Op::name), {},
              std::string(name(t.type)));
}

// What sums are kept in: double, or for integers, which wrap around, std::uint64_t.
template <class T> const T* terms_of(const host_tensor& t) {
  if constexpr (std::is_same_v<T, double>) return t.reals.data();
  else return reinterpret_cast<const T*>(t.integers.data());  // the same integers without their sign
}

// Conv over three spatial axes; those there are come last. T: see terms_of.
template <class T> class direct_convolution {
 public:
  direct_convolution(const op::conv& op, const operands& o)
      : x_(*o.inputs[0]), weight_(*o.inputs[1]), bias_(o.inputs.size() > 2 ? o.inputs[2] : nullptr), y_(*o.output) {
    const std::size_t axes = x_.dims.size() - 2;
    const window w = op.over([&](std::size_t i) { return weight_.dims[i]; }, axes);
    bool pointwise = true;
    for (std::size_t a = 0; a < axes; ++a) {
      along_[3 - axes + a] = {x_.dims[a + 2], y_.dims[a + 2], w.kernel(a), w.stride(a), w.dilation(a), w.pad_begin(a)};
      pointwise = pointwise && w.kernel(a) == 1 && w.stride(a) == 1 && w.pad_begin(a) == 0 && w.pad_end(a) == 0;
    }
    if (pointwise)  // one long row instead of many
      along_ = {axis{}, axis{}, axis{.in = plane(&axis::in), .out = plane(&axis::out)}};
    depth_ = weight_.dims[1];
    channels_ = y_.dims[1];
    group_ = op.group;
    row_.resize(static_cast<std::size_t>(along_[2].out));
  }

  void run() {
    std::size_t at = 0;
    for (std::int64_t n = 0; n < y_.dims[0]; ++n)
      for (std::int64_t m = 0; m < channels_; ++m)
        for (std::int64_t d = 0; d < along_[0].out; ++d)
          for (std::int64_t h = 0; h < along_[1].out; ++h) {
            std::ranges::fill(row_, bias_ ? terms_of<T>(*bias_)[m] : T{0});
            add_taps(n, m, d, h);
            for (const T sum : row_) y_.set(at++, sum);
          }
  }

 private:
  struct axis {
    std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;

    std::int64_t position(std::int64_t o, std::int64_t k) const { return o * stride + k * dilation - pad; }
    bool inside(std::int64_t o, std::int64_t k) const { return position(o, k) >= 0 && position(o, k) < in; }
  };

  std::int64_t plane(std::int64_t axis::*extent) const {
    return along_[0].*extent * (along_[1].*extent) * (along_[2].*extent);
  }

  void add_taps(std::int64_t n, std::int64_t m, std::int64_t d, std::int64_t h) {
    const auto& [deep, high, wide] = along_;
    const std::int64_t first = m / (channels_ / group_) * depth_, taps = plane(&axis::kernel), size = plane(&axis::in);
    for (std::int64_t i = 0; i < deep.kernel; ++i)
      for (std::int64_t j = 0; j < high.kernel; ++j)
        for (std::int64_t k = 0; k < wide.kernel; ++k) {
          if (!deep.inside(d, i) || !high.inside(h, j)) continue;
          std::int64_t begin = 0, end = wide.out;
          while (begin < end && !wide.inside(begin, k)) ++begin;
          while (end > begin && !wide.inside(end - 1, k)) --end;
          if (begin == end) continue;
          const std::int64_t tap = (i * high.kernel + j) * wide.kernel + k;
          const std::int64_t start =
              (deep.position(d, i) * high.in + high.position(h, j)) * wide.in + wide.position(begin, k);
          for (std::int64_t c = 0; c < depth_; ++c) {
            const T w = terms_of<T>(weight_)[(m * depth_ + c) * taps + tap];
            const T* from = terms_of<T>(x_) + (n * x_.dims[1] + first + c) * size + start;
            T* to = row_.data() + begin;
            if (wide.stride == 1)
              for (std::int64_t o = 0; o < end - begin; ++o) to[o] += from[o] * w;
            else
              for (std::int64_t o = 0; o < end - begin; ++o) to[o] += from[o * wide.stride] * w;
          }
        }
  }

  const host_tensor &x_, &weight_, *bias_;
  host_tensor& y_;
  std::array<axis, 3> along_{};
  std::int64_t depth_ = 0, channels_ = 0, group_ = 1;
  std::vector<T> row_;
};

// C [m, n] = A [m, k] x B [k, n], all row-major: a few rows and a strip of columns at a time, so that what is read of B
// serves several rows and the sums stay near.
template <class T>
void direct_product(const T* a, const T* b, host_tensor& c, std::size_t first, std::int64_t m, std::int64_t k,
                    std::int64_t n) {
  constexpr std::int64_t rows = 4, columns = 512;
  std::array<T, rows * columns> sums;
  for (std::int64_t j = 0; j < n; j += columns)
    for (std::int64_t i = 0; i < m; i += rows) {
      const std::int64_t width = std::min(columns, n - j), height = std::min(rows, m - i);
      sums.fill(0);
      for (std::int64_t p = 0; p < k; ++p)
        for (std::int64_t r = 0; r < height; ++r) {
          const T factor = a[(i + r) * k + p];
          const T* from = b + p * n + j;
          T* to = sums.data() + r * columns;
          for (std::int64_t q = 0; q < width; ++q) to[q] += factor * from[q];
        }
      for (std::int64_t r = 0; r < height; ++r)
        for (std::int64_t q = 0; q < width; ++q)
          c.set(first + static_cast<std::size_t>((i + r) * n + j + q), sums[static_cast<std::size_t>(r * columns + q)]);
    }
}

// MatMul: one product for each set of coordinates of the leading axes.
template <class T> void direct_matmul(const operands& o) {
  const host_tensor &a = *o.inputs[0], &b = *o.inputs[1];
  std::vector<std::int64_t> da = a.dims, db = b.dims;
  if (da.size() == 1) da.insert(da.begin(), 1);
  if (db.size() == 1) db.push_back(1);
  const std::int64_t m = da[da.size() - 2], k = da.back(), n = db.back();
  da.resize(da.size() - 2);
  db.resize(db.size() - 2);
  const std::size_t lead = std::max(da.size(), db.size());
  da.insert(da.begin(), lead - da.size(), 1);
  db.insert(db.begin(), lead - db.size(), 1);
  if (m * n == 0) return;
  const std::size_t products = o.output->count() / static_cast<std::size_t>(m * n);
  for (std::size_t p = 0; p < products; ++p) {
    std::int64_t in_a = 0, in_b = 0, stride_a = 1, stride_b = 1;
    for (std::size_t d = lead, rest = p; d-- > 0;) {
      const std::int64_t extent = std::max(da[d], db[d]);
      const auto at = static_cast<std::int64_t>(rest % static_cast<std::size_t>(extent));
      rest /= static_cast<std::size_t>(extent);
      if (da[d] > 1) in_a += at * stride_a;
      if (db[d] > 1) in_b += at * stride_b;
      stride_a *= da[d];
      stride_b *= db[d];
    }
    direct_product(terms_of<T>(a) + in_a * m * k, terms_of<T>(b) + in_b * k * n, *o.output,
                   p * static_cast<std::size_t>(m * n), m, k, n);
  }
}

// Computes the output of the operators for which there is a direct loop; Kinds: those that inputs may be of.
template <element_kinds Kinds> void evaluate_directly(const op::conv& op, const operands& o) {
  if (o.inputs[0]->floating()) direct_convolution<double>(op, o).run();
  else if constexpr (has(Kinds, element_kinds::integral)) direct_convolution<std::uint64_t>(op, o).run();
  else refuse_element_type(op, *o.inputs[0]);
}
template <element_kinds Kinds> void evaluate_directly(const op::matmul& op, const operands& o) {
  if (o.inputs[0]->floating()) direct_matmul<double>(o);
  else if constexpr (has(Kinds, element_kinds::integral)) direct_matmul<std::uint64_t>(o);
  else refuse_element_type(op, *o.inputs[0]);
}

}  // namespace dnnkit::detail
