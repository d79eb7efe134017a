// SPDX-License-Identifier: MIT
// Pass: matrix products with a factor of rank 1 become what has kernels in vectors:
//   row B    = the only row of (row as a matrix of one row) B
//   A column = sum over k of A[..., m, k] column[k], so that A is read where it lies
// and MatMulInteger of such factors becomes that of matrices with one row or column. Products of floats of 16 bits are
// summed up as floats of 32 bits, as MatMul does.
// Takes a graph without composites; guarantees the same function, of integers to the last bit; reassociates sums of
// floats.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/quantization.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct products_of_vectors {
  static constexpr std::string_view name = "products of vectors";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    bool any = false;
    for (std::size_t k = 0; k < g.nodes.count; ++k) any = any || is_of_vectors(g, g.nodes.items[k]);
    if (!any) return g;
    return rebuild(
        g,
        [&](builder&, const node& n, const rebuilt_inputs& in) {
          if (!is_of_vectors(g, n)) return tensor{};
          return g.is<op::matmul>(n) ? product(in[0], in[1]) : product_of_bytes(in);
        },
        [&](const node& n, const graph& now, std::size_t first) {
          notes.add({name, "rewritten", "a factor is a vector, and kernels multiply matrices"}, g, n, now, first);
        });
  }

 private:
  // Zero points of several rows or columns would have to move with these.
  static constexpr bool is_of_vectors(const graph& g, const node& n) {
    const auto rank = [&](std::size_t i) { return g.at(g.input_of(n, i)).type.dims.size(); };
    const auto is_one = [&](std::size_t i) { return n.inputs.count <= i || g.input_of(n, i) == none || rank(i) == 0; };
    if (!g.is<op::matmul>(n) && !(g.is<op::matmul_integer>(n) && is_one(2) && is_one(3))) return false;
    return rank(0) == 1 || rank(1) == 1;
  }

  static constexpr tensor as_row(tensor x) { return unsqueeze(x, {.axes = {0}}); }
  static constexpr tensor as_column(tensor x) { return unsqueeze(x, {.axes = {1}}); }

  static constexpr tensor product(tensor a, tensor b) {
    if (b.rank() > 1) return squeeze(matmul(as_row(a), b), {.axes = {-2}});
    if (is_half(a.type())) return cast(product(cast(a, {.to = f32}), cast(b, {.to = f32})), {.to = a.type()});
    return reduce_sum(a * b, {.axes = {-1}, .keepdims = false});
  }
  static constexpr tensor product_of_bytes(const rebuilt_inputs& in) {
    const bool row = in[0].rank() == 1, column = in[1].rank() == 1;
    const tensor a = row ? as_row(in[0]) : in[0];
    tensor y = a.owner().apply(op::matmul_integer{}, {a, column ? as_column(in[1]) : in[1], in[2], in[3]});
    if (column) y = squeeze(y, {.axes = {-1}});
    return row ? squeeze(y, {.axes = {column ? -1 : -2}}) : y;
  }
};

}  // namespace dnnkit::passes
