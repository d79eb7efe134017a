// SPDX-License-Identifier: MIT
// Operators that only move elements and are bijections: Reshape and its kin, Transpose, DepthToSpace, SpaceToDepth.
// Each is an index map (SmartMem, section 3.2): forward() turns a view of the input into the view of the output,
// backward() the other way round, and at() says the same for one element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/op/access.hpp"
#include "dnnkit/op/function.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits reorganize{.map = mapping::reorganize, .layout = layout_class::ild_fixed};
inline constexpr traits shuffle{.map = mapping::shuffle, .layout = layout_class::ild_fixed};

// at() of every operator that keeps the row-major order of the elements
template <class C, class X>
constexpr auto reorganized(const C& c, const coordinates& o, X x) {
  const std::int64_t n = linear_index(o, [&](std::size_t d) { return c.out(d); }, c.out_rank());
  return x(coordinates_of(n, [&](std::size_t d) { return c.in(0, d); }, c.rank(0)));
}
}  // namespace detail

namespace op {

// The new shape is an attribute: known or symbolic extents, at most one -1 (inferred); a 0 copies the input's extent.
struct reshape {
  shape dims = {};

  static constexpr std::string_view name = "Reshape";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::reorganize;
  static constexpr void attributes(auto& self, auto&& visit) { visit("shape", self.dims); }

  constexpr void infer(inference& c) const {
    shape s = dims;
    extent rest = c.count(0);
    std::size_t inferred = max_rank;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (s[i] == dim(0)) {
        if (!c.require(i < c.rank(0), "a 0 in the shape copies an extent the input does not have")) return;
        s[i] = c.in(0)[i];
      }
      if (s[i].is_unknown()) {
        if (!c.require(inferred == max_rank, "more than one -1 in the shape")) return;
        inferred = i;
      }
    }
    const dim whole = rest;
    for (dim d : s)
      if (!d.is_unknown()) rest.d = c.table().exact_div(rest.d, d);
    if (inferred < max_rank) s[inferred] = rest.d;
    if (rest.d.is_unknown() || (inferred == max_rank && !(rest.d == dim(1)))) {
      text t;
      c.fail(t << c.print(c.in(0)) << " has " << c.table().print(whole) << " elements, which do not fit shape "
               << c.print(dims));
      return;
    }
    c.out(c.type(0), s);
  }
  static constexpr bool forward(const movement& m, view& v) { return m.algebra.reshape(v, m.out); }
  static constexpr bool backward(const movement& m, view& v) { return m.algebra.reshape(v, m.in); }
  static constexpr auto at(const auto& c, const coordinates& o, auto x) { return detail::reorganized(c, o, x); }
};

struct flatten {
  std::int64_t axis = 1;

  static constexpr std::string_view name = "Flatten";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::reorganize;
  static constexpr void attributes(auto& self, auto&& visit) { visit("axis", self.axis); }

  constexpr void infer(inference& c) const {
    std::int64_t split = axis;
    if (split != static_cast<std::int64_t>(c.rank(0)) && !c.normalise_axis(split, c.rank(0))) return;
    extent outer = c.number(1), inner = c.number(1);
    for (std::size_t i = 0; i < c.rank(0); ++i)
      if (static_cast<std::int64_t>(i) < split) outer = outer * c.size(0, i);
      else inner = inner * c.size(0, i);
    c.out(c.type(0), {outer, inner});
  }
  static constexpr bool forward(const movement& m, view& v) { return m.algebra.reshape(v, m.out); }
  static constexpr bool backward(const movement& m, view& v) { return m.algebra.reshape(v, m.in); }
  static constexpr auto at(const auto& c, const coordinates& o, auto x) { return detail::reorganized(c, o, x); }
};

// Output axis i is input axis perm[i]; an empty perm reverses the axes.
struct transpose {
  int_list perm = {};

  static constexpr std::string_view name = "Transpose";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::shuffle;
  static constexpr void attributes(auto& self, auto&& visit) { visit("perm", self.perm); }

  constexpr int_list order(std::size_t rank) const {
    int_list p = perm;
    if (p.empty())
      for (std::size_t i = rank; i-- > 0;) p.push_back(static_cast<std::int64_t>(i));
    return p;
  }
  constexpr void infer(inference& c) const {
    const int_list p = order(c.rank(0));
    if (!c.require(p.size() == c.rank(0), "perm must name every axis of the input once")) return;
    shape s;
    for (std::size_t i = 0; i < p.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (!c.require(p[i] != p[j], "perm names an axis twice")) return;
      if (!c.require(p[i] >= 0 && p[i] < static_cast<std::int64_t>(p.size()), "perm names an axis the input lacks"))
        return;
      s.push_back(c.in(0)[static_cast<std::size_t>(p[i])]);
    }
    c.out(c.type(0), s);
  }
  constexpr bool forward(const movement& m, view& v) const { return m.algebra.transpose(v, order(m.in.size())); }
  constexpr bool backward(const movement& m, view& v) const {
    const int_list p = order(m.in.size());
    int_list inverse = p;
    for (std::size_t i = 0; i < p.size(); ++i) inverse[static_cast<std::size_t>(p[i])] = static_cast<std::int64_t>(i);
    return m.algebra.transpose(v, inverse);
  }
  constexpr auto at(const auto& c, const coordinates& o, auto x) const {
    const int_list p = order(c.rank(0));
    coordinates i{};
    for (std::size_t d = 0; d < p.size(); ++d) i[static_cast<std::size_t>(p[d])] = o[d];
    return x(i);
  }
};

enum class depth_to_space_mode : std::int64_t { dcr, crd };

struct depth_to_space {
  std::int64_t blocksize = 1;
  depth_to_space_mode mode = depth_to_space_mode::dcr;

  static constexpr std::string_view name = "DepthToSpace";
  static constexpr form kind = form::movement;
  static constexpr traits properties = detail::shuffle;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("blocksize", self.blocksize);
    visit("mode", self.mode);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 4, 4)) return;
    if (!c.require(blocksize > 0, "blocksize must be positive")) return;
    const dim depth = c.table().exact_div(c.in(0)[1], dim(blocksize * blocksize));
    if (!c.require(!depth.is_unknown(), "blocksize squared does not divide the channels")) return;
    c.out(c.type(0), {c.in(0)[0], depth, c.size(0, 2) * blocksize, c.size(0, 3) * blocksize});
  }
  // NCHW -> the six axes of the block reshape, and the order of n, c, y, by, x, bx among them
  constexpr shape blocks(const shape& in, const shape& out) const {
    if (mode == depth_to_space_mode::dcr) return {in[0], blocksize, blocksize, out[1], in[2], in[3]};
    return {in[0], out[1], blocksize, blocksize, in[2], in[3]};
  }
  constexpr int_list interleave() const {
    if (mode == depth_to_space_mode::dcr) return {0, 3, 4, 1, 5, 2};
    return {0, 1, 4, 2, 5, 3};
  }
  constexpr bool forward(const movement& m, view& v) const {
    const view before = v;
    if (m.algebra.reshape(v, blocks(m.in, m.out)) && m.algebra.transpose(v, interleave()) &&
        m.algebra.reshape(v, m.out))
      return true;
    v = before;
    return false;
  }
  constexpr bool backward(const movement& m, view& v) const {
    const view before = v;
    const int_list p = interleave();
    int_list inverse = p;
    for (std::size_t i = 0; i < p.size(); ++i) inverse[static_cast<std::size_t>(p[i])] = static_cast<std::int64_t>(i);
    const shape b = blocks(m.in, m.out);
    shape interleaved;
    for (std::int64_t i : p) interleaved.push_back(b[static_cast<std::size_t>(i)]);
    if (m.algebra.reshape(v, interleaved) && m.algebra.transpose(v, inverse) && m.algebra.reshape(v, m.in)) return true;
    v = before;
    return false;
  }
  constexpr auto at(const auto& c, const coordinates& o, auto x) const {
    const std::int64_t by = o[2] % blocksize, bx = o[3] % blocksize;
    const std::int64_t channel = mode == depth_to_space_mode::dcr ? (by * blocksize + bx) * c.out(1) + o[1]
                                                                  : (o[1] * blocksize + by) * blocksize + bx;
    return x(coordinates{o[0], channel, o[2] / blocksize, o[3] / blocksize});
  }
};

}  // namespace op

inline constexpr function<op::flatten> flatten;
inline constexpr function<op::transpose> transpose;
inline constexpr function<op::depth_to_space> depth_to_space;

template <graph_tensor T>
constexpr T reshape(T x, shape_argument dims) {
  return x.owner().apply(op::reshape{x.owner().to_shape(dims)}, {x});
}

}  // namespace dnnkit
