// SPDX-License-Identifier: MIT
// ONNX's Attention and RotaryEmbedding (opset 23 and later), said in terms of products, masks and Softmax.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

class attention_parts {
 public:
  explicit attention_parts(node_context& c) : c_(c) {}

  tensor reshape(tensor x, const shape& dims) { return c_.apply(op::reshape{dims}, {x}); }
  tensor transpose(tensor x, int_list perm) { return c_.apply(op::transpose{perm}, {x}); }
  tensor part(tensor x, std::int64_t axis, dim begin, dim size) { return c_.apply(op::split{axis, begin, size}, {x}); }
  tensor number(double x, dtype type) { return c_.graph().scalar(x, type); }
  tensor mul(tensor a, tensor b) { return c_.apply(op::mul{}, {a, b}); }
  tensor add(tensor a, tensor b) { return c_.apply(op::add{}, {a, b}); }
  tensor sub(tensor a, tensor b) { return c_.apply(op::sub{}, {a, b}); }
  tensor integer(dim d) { return c_.state.constant(scalar_of(i64, c_.arithmetic.to_element(d))); }
  dim exact(dim a, dim b, const char* what) {
    const dim q = c_.table().exact_div(a, b);
    if (q.is_unknown()) node_context::refuse(std::string(what) + " does not divide the hidden size");
    return q;
  }
  // [B, S, heads * size] -> [B, heads, S, size]
  tensor split_heads(tensor x, std::int64_t heads, const char* what) {
    node_context::require(heads > 0, "an input of rank 3 needs the number of heads");
    return transpose(reshape(x, {x.size(0), x.size(1), heads, exact(x.size(2), heads, what)}), {0, 2, 1, 3});
  }
  tensor join_heads(tensor x) {
    return reshape(transpose(x, {0, 2, 1, 3}), {x.size(0), x.size(2), c_.table().mul(x.size(1), x.size(3))});
  }
  // [B, heads, S, size] -> [B, group * heads, S, size]: each head serves a group of those of the queries
  tensor spread_heads(tensor x, dim heads) {
    if (x.size(1) == heads) return x;
    const dim group = exact(heads, x.size(1), "the number of key heads");
    const tensor apart = c_.apply(op::unsqueeze{{2}}, {x});
    return reshape(c_.apply(op::expand{shape{x.size(0), x.size(1), group, x.size(2), x.size(3)}}, {apart}),
                   {x.size(0), heads, x.size(2), x.size(3)});
  }
  // x [B, S, heads, size], its first `turned` elements of each head as pairs that are turned by angles, whose cosines
  // and sines are [B or 1, S, turned / 2 or more].
  tensor turned(tensor x, tensor cosine, tensor sine, dim turned, bool interleaved) {
    const dim size = x.size(3), half = exact(turned, 2, "two");
    cosine = c_.apply(op::unsqueeze{{2}}, {part(cosine, 2, 0, half)});
    sine = c_.apply(op::unsqueeze{{2}}, {part(sine, 2, 0, half)});
    const tensor front = turned == size ? x : part(x, 3, 0, turned);
    tensor a, b;
    if (interleaved) {
      const tensor pairs = reshape(front, {x.size(0), x.size(1), x.size(2), half, 2});
      a = c_.apply(op::squeeze{{4}}, {part(pairs, 4, 0, 1)});
      b = c_.apply(op::squeeze{{4}}, {part(pairs, 4, 1, 1)});
    } else {
      a = part(front, 3, 0, half);
      b = part(front, 3, half, half);
    }
    const tensor real = sub(mul(cosine, a), mul(sine, b)), imaginary = add(mul(sine, a), mul(cosine, b));
    tensor y;
    if (interleaved) {
      const tensor pairs =
          c_.apply(op::concat{4}, {c_.apply(op::unsqueeze{{4}}, {real}), c_.apply(op::unsqueeze{{4}}, {imaginary})});
      y = reshape(pairs, {x.size(0), x.size(1), x.size(2), turned});
    } else {
      y = c_.apply(op::concat{3}, {real, imaginary});
    }
    return turned == size ? y : c_.apply(op::concat{3}, {y, part(x, 3, turned, c_.table().sub(size, turned))});
  }
  // 0, 1, ... along the last axis, or the one before it
  tensor positions(dim count, bool rows) {
    const tensor list = c_.apply(op::range{count}, {integer(0), integer(1)});
    return rows ? reshape(list, {count, 1}) : list;
  }

 private:
  node_context& c_;
};

// Q, K, V, optional mask, past key, past value, number of valid keys -> Y, present key, present value, scores.
inline void convert_attention(node_context& c) {
  attention_parts p(c);
  const bool flat = c.rank(0) == 3;
  const std::int64_t q_heads = c.integer("q_num_heads", 0), kv_heads = c.integer("kv_num_heads", 0);
  const tensor q = flat ? p.split_heads(c.in(0), q_heads, "q_num_heads") : c.in(0);
  tensor k = flat ? p.split_heads(c.in(1), kv_heads, "kv_num_heads") : c.in(1);
  tensor v = flat ? p.split_heads(c.in(2), kv_heads, "kv_num_heads") : c.in(2);
  const dtype type = q.type();
  const dim rows = q.size(2), past = c.has(4) ? c.dims(4)[2] : dim(0);
  if (c.has(4)) k = c.apply(op::concat{2}, {c.in(4), k});
  if (c.has(5)) v = c.apply(op::concat{2}, {c.in(5), v});
  if (c.wants(1)) c.out(1, k);
  if (c.wants(2)) c.out(2, v);
  const dim columns = k.size(2);
  k = p.spread_heads(k, q.size(1));
  v = p.spread_heads(v, q.size(1));
  double scale = static_cast<double>(c.real_attribute("scale", 0));
  if (scale == 0) {
    node_context::require_known({q.size(3)}, "without a scale, the size of a head must be known");
    scale = 1 / std::sqrt(static_cast<double>(q.size(3).value()));
  }
  const tensor root = p.number(std::sqrt(scale), type);
  tensor scores = c.apply(op::matmul{}, {p.mul(q, root), p.transpose(p.mul(k, root), {0, 1, 3, 2})});
  const std::int64_t mode = c.integer("qk_matmul_output_mode", 0);
  const tensor raw = scores;
  if (const double cap = static_cast<double>(c.real_attribute("softcap", 0)); cap != 0)
    scores = p.mul(c.apply(op::tanh{}, {c.apply(op::div{}, {scores, p.number(cap, type)})}), p.number(cap, type));
  const tensor capped = scores;
  const tensor nothing = p.number(0, type), never = p.number(-std::numeric_limits<double>::infinity(), type);
  const auto allow = [&](tensor allowed) { scores = p.add(scores, c.apply(op::where{}, {allowed, nothing, never})); };
  bool may_be_empty = false;
  if (c.has(3)) {
    tensor mask = c.in(3);
    may_be_empty = true;
    const auto last = static_cast<std::size_t>(mask.rank()) - 1;
    if (!(mask.dims()[last] == columns) && !(mask.dims()[last] == dim(1))) {  // shorter: nothing is seen of the rest
      node_context::require_known({mask.dims()[last], columns}, "the extents of the mask must be known");
      op::pad pad;
      pad.pads = int_list::filled(2 * mask.dims().size(), 0);
      pad.pads[2 * last + 1] = columns.value() - mask.dims()[last].value();
      if (mask.type() != boolean) pad.value = -std::numeric_limits<float>::infinity();
      mask = c.apply(pad, {mask});
    }
    if (mask.type() == boolean) allow(mask);
    else scores = p.add(scores, cast_to(c, mask, type));
  }
  std::optional<tensor> valid;  // [B, 1, 1, 1]
  if (c.has(6)) valid = p.reshape(c.in(6), {c.dims(6)[0], 1, 1, 1});
  const bool causal = c.flag("is_causal", false);
  const std::int64_t left = c.integer("left_window_size", -1), right = c.integer("right_window_size", -1);
  constexpr std::int64_t widest = std::int64_t{1} << 40;
  node_context::require(left >= -1 && left <= widest && right >= -1 && right <= widest,
                        "a window must be of size 0 or more, or -1 for none");
  if (causal || left >= 0 || right >= 0) {  // a query sees keys near its place, in its order or on both sides
    const tensor offset = valid ? p.sub(*valid, p.integer(rows)) : p.integer(past);
    const tensor places = p.add(p.positions(rows, true), offset), keys = p.positions(columns, false);
    if (causal) allow(c.apply(op::less_or_equal{}, {keys, places}));
    else if (right >= 0) allow(c.apply(op::less_or_equal{}, {keys, p.add(places, p.integer(right))}));
    if (left >= 0) allow(c.apply(op::less_or_equal{}, {places, p.add(keys, p.integer(left))}));
    may_be_empty = may_be_empty || left >= 0;  // queries may lie far behind the last key
  }
  if (valid) {
    may_be_empty = true;
    allow(c.apply(op::less{}, {p.positions(columns, false), *valid}));
  }
  const tensor masked = scores;
  dtype precision = type;
  if (c.has_attribute("softmax_precision") && c.integer("softmax_precision") != 0)
    read_attribute(c, "softmax_precision", precision);
  const tensor wide = precision == type ? scores : c.apply(op::cast{precision}, {scores});
  tensor share = c.apply(op::softmax{-1}, {wide});
  if (precision != type) share = c.apply(op::cast{type}, {share});
  if (may_be_empty) {  // rows that see nothing give zeros
    op::reduce_max best;
    best.axes.list = {-1};
    const tensor sees = c.apply(op::greater{}, {c.apply(best, {scores}), never});
    share = c.apply(op::where{}, {sees, share, nothing});
  }
  const tensor y = c.apply(op::matmul{}, {share, v});
  c.out(0, flat ? p.join_heads(y) : y);
  node_context::require(mode >= 0 && mode <= 3, "attribute 'qk_matmul_output_mode' must be 0 to 3");
  if (c.wants(3)) c.out(3, mode == 0 ? raw : mode == 1 ? capped : mode == 2 ? masked : share);
}

// X, cosines, sines, optional positions: pairs of elements turned by angles that grow with the position.
inline void convert_rotary_embedding(node_context& c) {
  attention_parts p(c);
  const bool flat = c.rank(0) == 3;
  const tensor whole = c.in(0);
  tensor x = whole;  // [B, S, heads, size]
  if (flat) {
    const std::int64_t heads = c.integer("num_heads", 0);
    node_context::require(heads > 0, "an input of rank 3 needs the number of heads");
    x = p.reshape(x, {x.size(0), x.size(1), heads, p.exact(x.size(2), heads, "num_heads")});
  } else {
    c.ignore("num_heads");
    x = p.transpose(x, {0, 2, 1, 3});
  }
  const dim size = x.size(3);
  const std::int64_t turned_size = c.integer("rotary_embedding_dim", 0);
  const dim turned = turned_size == 0 ? size : dim(turned_size);
  tensor cosine = c.in(1), sine = c.in(2);
  if (c.has(3)) {
    cosine = c.apply(op::gather{0}, {cosine, c.in(3)});
    sine = c.apply(op::gather{0}, {sine, c.in(3)});
  }
  const tensor y = p.turned(x, cosine, sine, turned, c.flag("interleaved", false));
  c.out(0, flat ? p.reshape(y, whole.dims()) : p.transpose(y, {0, 2, 1, 3}));
}

}  // namespace dnnkit::onnx::detail
