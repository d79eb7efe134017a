// SPDX-License-Identifier: MIT
// Matrix products: ONNX's MatMul (batched, broadcast) and Gemm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/operator/scalar.hpp"

namespace dnnkit {

namespace detail {
inline constexpr traits product{.map = mapping::many_to_many};
}  // namespace detail

namespace op {

// A [..., M, K] x B [..., K, N] -> [..., M, N]; leading axes broadcast; a rank-1 operand is a row (A) or a column (B).
struct matmul {
  static constexpr std::string_view name = "MatMul";
  static constexpr std::string_view operands = "a, b";
  static constexpr form kind = form::point;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties = detail::product;

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 1, max_rank) || !c.require_rank(1, 1, max_rank)) return;
    shape a = c.in(0), b = c.in(1);
    const bool row = a.size() == 1, column = b.size() == 1;
    if (row) a.insert(0, 1);
    if (column) b.push_back(1);
    if (!c.require_equal(a.back(), "the inner extent of A", b[b.size() - 2], "that of B")) return;
    shape s(a.begin(), a.end() - 2);
    if (!c.broadcast(s, shape(b.begin(), b.end() - 2))) return;
    if (!row) s.push_back(a[a.size() - 2]);
    if (!column) s.push_back(b.back());
    c.out(c.type(0), s);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    const std::size_t ra = c.rank(0), rb = c.rank(1), rank = c.rank(input), out = c.outputs()[0].dims.size();
    const std::size_t batch = out - (ra > 1 ? 1 : 0) - (rb > 1 ? 1 : 0);
    footprint f = footprint::all(rank);
    for (std::size_t d = 0; d + 2 < rank; ++d)
      if (!(c.in(input)[d] == dim(1))) f.axes[d] = needs::same(d + batch + 2 - rank);
    if (input == 0 && ra > 1) f.axes[ra - 2] = needs::same(batch);
    if (input == 1 && rb > 1) f.axes[rb - 1] = needs::same(out - 1);
    return f;
  }
  template <class C, class O> constexpr auto at(const C& c, const O& o, auto a, auto b) const {
    using number = coordinate_of<O>;
    const std::size_t ra = c.rank(0), rb = c.rank(1);
    const std::size_t batch = c.out_rank() - (ra > 1 ? 1 : 0) - (rb > 1 ? 1 : 0);
    O i{}, j{};
    for (std::size_t d = 0; d + 2 < ra; ++d) i[d] = select(c.in(0, d) == number(1), number(0), o[d + batch + 2 - ra]);
    for (std::size_t d = 0; d + 2 < rb; ++d) j[d] = select(c.in(1, d) == number(1), number(0), o[d + batch + 2 - rb]);
    if (ra > 1) i[ra - 2] = o[batch];
    if (rb > 1) j[rb - 1] = o[c.out_rank() - 1];
    using sum_type = sum_of<C, decltype(a(i))>;
    auto sum = variable(c, output_element<sum_type>(c, 0));
    for_each(c, c.in(0, ra - 1), [&](const number& k) {
      i[ra - 1] = k;
      j[rb > 1 ? rb - 2 : 0] = k;
      assign(c, sum, plus_product(sum, static_cast<sum_type>(a(i)), static_cast<sum_type>(b(j))));
    });
    return sum;
  }
  constexpr dim flops(const inference& c) const {
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * c.size(0, c.rank(0) - 1) * 2;
  }
};

// alpha A' B' + beta C, where ' is a transposition if trans_a, trans_b say so.
struct gemm {
  float alpha = 1, beta = 1;
  bool trans_a = false, trans_b = false;

  static constexpr std::string_view name = "Gemm";
  static constexpr std::string_view operands = "a, b, c";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 3, optional_inputs = 1;
  static constexpr element_kinds accepts = element_kinds::number;
  static constexpr traits properties = detail::product;
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("alpha", self.alpha);
    visit("beta", self.beta);
    visit("trans_a", self.trans_a);
    visit("trans_b", self.trans_b);
  }

  constexpr void infer(inference& c) const {
    if (!c.require_rank(0, 2, 2) || !c.require_rank(1, 2, 2)) return;
    if (!c.require_equal(c.in(0)[trans_a ? 0 : 1], "the inner extent of A", c.in(1)[trans_b ? 1 : 0], "that of B"))
      return;
    const shape s{c.in(0)[trans_a ? 1 : 0], c.in(1)[trans_b ? 0 : 1]};
    if (c.has(2)) {
      shape whole = s;
      if (!c.broadcast(whole, c.in(2))) return;
      if (!c.require(whole == s, "C does not broadcast to the product's shape")) return;
    }
    c.out(c.type(0), s);
  }
  constexpr dim flops(const inference& c) const {
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * c.size(0, trans_a ? 0 : 1) * 2;
  }
  template <class T> constexpr T expand(const vector<T>& in) const;
};

}  // namespace op

inline constexpr function<op::matmul> matmul;
inline constexpr function<op::gemm> gemm;

template <class T> constexpr T op::gemm::expand(const vector<T>& in) const {
  T y = dnnkit::matmul(trans_a ? dnnkit::transpose(in[0], {.perm = {1, 0}}) : in[0],
                       trans_b ? dnnkit::transpose(in[1], {.perm = {1, 0}}) : in[1]);
  if (alpha != 1) y = y * static_cast<double>(alpha);
  if (in.size() < 3 || !in[2].present() || beta == 0) return y;
  return beta == 1 ? y + in[2] : y + in[2] * static_cast<double>(beta);
}

}  // namespace dnnkit
