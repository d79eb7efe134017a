// SPDX-License-Identifier: MIT
// FlexAttention (domain ai.onnx.preview) while importing: attention whose scores and shares pass through subgraphs,
// which are inlined.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/onnx/import/control_flow.hpp"
#include "dnnkit/onnx/import/convert_attention.hpp"

namespace dnnkit::onnx::detail {

// What the subgraph of an attribute makes of x; x where there is none, nothing where it could not be imported.
template <class Walk>
std::optional<tensor> modified(Walk& walk, scope& names, node_context& c, std::string_view name, tensor x) {
  if (!c.has_attribute(name)) return x;
  const auto results = walk.run_body(names, body_of(c, name), {value_of(x)}, std::string(name));
  node_context::require(results.size() == 1, "a subgraph must have one output");
  if (!results[0]) return std::nullopt;
  const tensor y = c.state.materialise(*results[0]);
  node_context::require(y.dims() == x.dims() && y.type() == x.type(),
                        "a subgraph must keep the shape and the type of what it is given");
  return y;
}

// Queries, keys and values of rank 4. Walk: as of import_if.
template <class Walk> std::vector<value_reference> import_flex_attention(Walk& walk, scope& names, node_context& c) {
  attention_parts p(c);
  for (std::size_t i = 0; i < 3; ++i) node_context::require(c.rank(i) == 4, "queries, keys and values have rank 4");
  const tensor q = c.in(0), k = p.spread_heads(c.in(1), q.size(1)), v = p.spread_heads(c.in(2), q.size(1));
  double scale = static_cast<double>(c.real_attribute("scale", 0));
  if (!c.has_attribute("scale")) {
    node_context::require_known({q.size(3)}, "without a scale, the size of a head must be known");
    scale = 1 / std::sqrt(static_cast<double>(q.size(3).value()));
  }
  dtype precision = size_of(q.type()) < 4 ? f32 : q.type();
  if (c.has_attribute("softmax_precision")) read_attribute(c, "softmax_precision", precision);
  const tensor root = p.number(std::sqrt(scale), q.type());
  const tensor product = c.apply(op::matmul{}, {p.mul(q, root), p.transpose(p.mul(k, root), {0, 1, 3, 2})});
  const auto scores = modified(walk, names, c, "score_mod", cast_to(c, product, precision));
  if (!scores) return {};
  const auto shares = modified(walk, names, c, "prob_mod", c.apply(op::softmax{-1}, {*scores}));
  if (!shares) return {};
  const tensor y = c.apply(op::matmul{}, {*shares, cast_to(c, v, precision)});
  return {value_of(cast_to(c, y, v.type()))};
}

}  // namespace dnnkit::onnx::detail
