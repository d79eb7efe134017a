// SPDX-License-Identifier: MIT
// Views: maps from logical coordinates to storage positions. A logical dimension is a list of axes (size, stride),
// outer to inner, so that a reshape stays a strided view wherever its boundaries divide the axes (design: "atoms"); the
// algebra follows CuTe's hierarchical layouts and carries SmartMem's index comprehension (section 3.2).
//
// With at(v, c) the storage position of logical coordinates c, each function below states its law as an equation over
// all legal c; tests/tensor/view.cpp checks the equations over whole domains. A function that cannot keep its law
// returns false and leaves the view as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit {

struct axis {
  dim size, stride;  // stride in elements
  friend constexpr bool operator==(const axis&, const axis&) = default;
};

using axis_list = static_vector<axis, 6>;

struct view {
  static_vector<axis_list, max_rank> dims;
  dim offset = 0;

  constexpr std::size_t rank() const { return dims.size(); }
  friend constexpr bool operator==(const view&, const view&) = default;
};

using int_list = static_vector<std::int64_t, 16>;

class view_algebra {
 public:
  constexpr explicit view_algebra(symbol_table& table) : table_(table) {}

  constexpr symbol_table& table() const { return table_; }

  // Extent of a logical dimension: the product of its axes.
  [[nodiscard]] constexpr dim size(const axis_list& axes) const {
    dim n = 1;
    for (const axis& a : axes) n = table_.mul(n, a.size);
    return n;
  }

  // at(v, c) = sum of c[i] * stride[i], with strides ascending in the storage order `order` (outermost first), and each
  // stored dimension i having room for room[i] >= s[i] elements.
  [[nodiscard]] constexpr view dense(const shape& s, const int_list& order, const shape& room) const {
    view v;
    v.dims.resize(s.size());
    dim stride = 1;
    for (std::size_t k = s.size(); k-- > 0;) {
      const auto i = static_cast<std::size_t>(order[k]);
      v.dims[i].push_back({s[i], stride});
      stride = table_.mul(stride, room[i]);
    }
    return v;
  }
  [[nodiscard]] constexpr view row_major(const shape& s) const {
    int_list order;
    for (std::size_t i = 0; i < s.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
    return dense(s, order, s);
  }

  // at(result, c) = at(v, d) where d[perm[i]] = c[i]
  [[nodiscard]] constexpr bool transpose(view& v, const int_list& perm) const {
    view r{.dims = {}, .offset = v.offset};
    for (std::int64_t p : perm) r.dims.push_back(v.dims[static_cast<std::size_t>(p)]);
    v = r;
    return true;
  }

  // at(result, c) = at(v, unflatten_v(flatten_s(c))), flatten being row-major. The extents' products must agree.
  [[nodiscard]] constexpr bool reshape(view& v, const shape& s) const {
    static_vector<axis, 48> axes;  // innermost first, merged where memory is contiguous
    for (std::size_t i = v.dims.size(); i-- > 0;)
      for (std::size_t k = v.dims[i].size(); k-- > 0;) {
        const axis a = v.dims[i][k];
        if (a.size == dim(1)) continue;
        if (!axes.empty() && !a.stride.is_unknown() && a.stride == table_.mul(axes.back().size, axes.back().stride))
          axes.back().size = table_.mul(axes.back().size, a.size);
        else axes.push_back(a);
      }
    view r{.dims = {}, .offset = v.offset};
    r.dims.resize(s.size());
    std::size_t next = 0;
    for (std::size_t i = s.size(); i-- > 0;) {
      dim wanted = s[i];
      static_vector<axis, 12> inner_first;
      while (!(wanted == dim(1))) {
        if (next == axes.size() || inner_first.size() == axis_list::capacity()) return false;
        axis& a = axes[next];
        if (const dim rest = table_.exact_div(a.size, wanted); !rest.is_unknown()) {
          inner_first.push_back({wanted, a.stride});
          a = {rest, table_.mul(a.stride, wanted)};
          if (rest == dim(1)) ++next;
          wanted = 1;
        } else if (const dim more = table_.exact_div(wanted, a.size); !more.is_unknown()) {
          inner_first.push_back(a);
          wanted = more;
          ++next;
        } else return false;
      }
      if (inner_first.empty()) inner_first.push_back({1, 0});
      for (std::size_t k = inner_first.size(); k-- > 0;) r.dims[i].push_back(inner_first[k]);
    }
    if (next != axes.size()) return false;
    v = r;
    return true;
  }

  // at(result, c) = at(v, c with c[d] replaced by start + step * c[d]), for 0 <= c[d] < count; step > 0
  [[nodiscard]] constexpr bool slice(view& v, std::size_t d, dim start, dim count, std::int64_t step) const {
    axis_list& axes = v.dims[d];
    if (start == dim(0) && step == 1 && count == size(axes)) return true;
    if (axes.size() == 1) {
      v.offset = table_.add(v.offset, table_.mul(start, axes[0].stride));
      axes[0] = {count, table_.mul(axes[0].stride, dim(step))};
      return true;
    }
    dim inner = 1;  // several axes: only whole steps of the outermost one
    for (std::size_t k = 1; k < axes.size(); ++k) inner = table_.mul(inner, axes[k].size);
    const dim outer_start = table_.exact_div(start, inner), outer_count = table_.exact_div(count, inner);
    if (step != 1 || outer_start.is_unknown() || outer_count.is_unknown()) return false;
    v.offset = table_.add(v.offset, table_.mul(outer_start, axes[0].stride));
    axes[0].size = outer_count;
    return true;
  }

  // at(result, c) = at(v, c over the last rank(v) coordinates, 0 where v's extent is 1 and s's is not)
  [[nodiscard]] constexpr bool expand(view& v, const shape& s) const {
    view r{.dims = {}, .offset = v.offset};
    const std::size_t lead = s.size() - v.rank();
    for (std::size_t i = 0; i < s.size(); ++i) {
      const bool given = i >= lead && (size(v.dims[i - lead]) == s[i] || !(size(v.dims[i - lead]) == dim(1)));
      r.dims.push_back(given ? v.dims[i - lead] : axis_list{axis{s[i], 0}});
    }
    v = r;
    return true;
  }

  // at(result, c) = at(v, c modulo v's extents): dimension i repeated repeats[i] times
  [[nodiscard]] constexpr bool tile(view& v, const int_list& repeats) const {
    for (std::size_t i = 0; i < v.rank(); ++i)
      if (repeats[i] != 1 && v.dims[i].size() == axis_list::capacity()) return false;
    for (std::size_t i = 0; i < v.rank(); ++i)
      if (repeats[i] != 1) v.dims[i].insert(0, {repeats[i], 0});
    return true;
  }

 private:
  symbol_table& table_;
};

}  // namespace dnnkit
