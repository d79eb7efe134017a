// SPDX-License-Identifier: MIT
// Attention as ONNX Runtime's optimiser and its tools for transformers write it (domain com.microsoft): Attention,
// QAttention, MultiHeadAttention, GroupQueryAttention and RotaryEmbedding, in terms of products, masks and Softmax.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "dnnkit/onnx/import/convert_attention.hpp"
#include "dnnkit/onnx/import/convert_microsoft_quantized.hpp"
#include "dnnkit/onnx/import/convert_state.hpp"

namespace dnnkit::onnx::detail {

// Scores of queries [B, heads, S, size] against keys [B, heads, T, size], then what is added to them or forbidden.
class microsoft_scores {
 public:
  microsoft_scores(node_context& c, tensor q, tensor k) : c_(c), p_(c) {
    double scale = static_cast<double>(c.real_attribute("scale", 0));
    if (scale == 0) {
      node_context::require_known({q.size(3)}, "without a scale, the size of a head must be known");
      scale = 1 / std::sqrt(static_cast<double>(q.size(3).value()));
    }
    const tensor root = p_.number(std::sqrt(scale), q.type());
    all = c.apply(op::matmul{}, {p_.mul(q, root), p_.transpose(p_.mul(k, root), {0, 1, 3, 2})});
  }
  tensor all;

  dim rows() const { return all.size(2); }
  dim columns() const { return all.size(3); }
  void add(tensor x) { all = p_.add(all, cast_to(c_, x, all.type())); }
  // Where `allowed` is false, nothing is seen.
  void allow(tensor allowed) { add_where(allowed, -std::numeric_limits<double>::infinity()); }
  // Where it is false, `filter` is added: rows of which nothing is allowed see everything alike.
  void add_where(tensor allowed, double filter) {
    add(c_.apply(op::where{}, {allowed, p_.number(0, all.type()), p_.number(filter, all.type())}));
  }
  // Each query sees the keys up to its own place, which is behind those of the past. Where there are not as many new
  // keys as queries, the last query sees all keys, as in ONNX Runtime.
  void allow_past(dim before) {
    const tensor query = p_.positions(rows(), true);
    tensor allowed = c_.apply(op::less_or_equal{}, {p_.positions(columns(), false), p_.add(query, p_.integer(before))});
    if (!(columns() == c_.table().add(before, rows()))) {
      const tensor last = c_.apply(op::equal{}, {query, p_.integer(c_.table().sub(rows(), dim(1)))});
      allowed = c_.apply(op::logical_or{}, {allowed, last});
    }
    allow(allowed);
  }
  // A mask of 0 and 1 over keys [B, T] or over queries and keys [B, S, T] or [B, 1, most, most], or of each text the
  // number of its keys [B], or of those and the first ones [2 B].
  void add_mask(tensor mask, dim batch, double filter) {
    const tensor none = p_.number(0, mask.type());
    switch (mask.rank()) {
      case 1: {
        const bool both = mask.size(0) == c_.table().mul(batch, dim(2)) && !(mask.size(0) == batch);
        node_context::require(both || mask.size(0) == batch,
                              "a mask of rank 1 must be [batch] or [2 batch]; cumulated lengths are not supported");
        const tensor keys = p_.positions(columns(), false);
        const auto bound = [&](dim first) {
          return p_.reshape(cast_to(c_, p_.part(mask, 0, first, batch), i64), {batch, 1, 1, 1});
        };
        tensor allowed = c_.apply(op::less{}, {keys, bound(0)});
        if (both)
          allowed = c_.apply(op::logical_and{}, {allowed, c_.apply(op::greater_or_equal{}, {keys, bound(batch)})});
        return add_where(allowed, filter);
      }
      case 2:
        return add_where(c_.apply(op::greater{}, {c_.apply(op::unsqueeze{{1, 2}}, {mask}), none}), filter);
      case 3:
        return add_where(c_.apply(op::greater{}, {c_.apply(op::unsqueeze{{1}}, {mask}), none}), filter);
      case 4: {
        const dim before = c_.table().sub(columns(), rows());
        const tensor seen = p_.part(p_.part(mask, 2, before, rows()), 3, 0, columns());
        return add_where(c_.apply(op::greater{}, {seen, none}), filter);
      }
      default:
        node_context::refuse("a mask must be of rank 1 to 4");
    }
  }

 private:
  node_context& c_;
  attention_parts p_;
};

inline double mask_filter(node_context& c) {
  return static_cast<double>(c.real_attribute("mask_filter_value", -10000));
}

// What Attention and QAttention do with the projected input [B, S, q + k + v] and the inputs of these numbers.
struct projected_attention {
  std::size_t mask, past;
  std::optional<std::size_t> bias;
};
inline void attend_to_projection(node_context& c, tensor projected, const projected_attention& at) {
  attention_parts p(c);
  const std::int64_t heads = c.integer("num_heads");
  node_context::require(heads > 0, "attribute 'num_heads' must be positive");
  node_context::require(!c.flag("do_rotary", false), "attribute 'do_rotary' is not supported");
  node_context::require(!c.flag("past_present_share_buffer", false),
                        "attribute 'past_present_share_buffer' is not supported");
  c.ignore("rotary_embedding_dim");
  dim sizes[3];
  if (const auto given = c.integers("qkv_hidden_sizes"); given && !given->empty()) {
    node_context::require(given->size() == 3, "attribute 'qkv_hidden_sizes' must have 3 elements");
    for (std::size_t i = 0; i < 3; ++i) {
      node_context::require((*given)[i] > 0, "attribute 'qkv_hidden_sizes' must be positive");
      sizes[i] = (*given)[i];
    }
  } else {
    for (dim& d : sizes) d = p.exact(projected.size(2), 3, "three");
  }
  tensor part[3];
  dim begin = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    part[i] = p.split_heads(p.part(projected, 2, begin, sizes[i]), heads, "num_heads");
    begin = c.table().add(begin, sizes[i]);
  }
  if (c.has(at.past))
    for (std::size_t i = 1; i < 3; ++i) {
      const tensor past = c.apply(op::squeeze{{0}}, {p.part(c.in(at.past), 0, static_cast<std::int64_t>(i) - 1, 1)});
      part[i] = c.apply(op::concat{2}, {past, part[i]});
    }
  if (c.wants(1)) {
    const auto one_more = [&](tensor t) { return c.apply(op::unsqueeze{{0}}, {t}); };
    c.out(1, c.apply(op::concat{0}, {one_more(part[1]), one_more(part[2])}));
  }
  microsoft_scores scores(c, part[0], part[1]);
  const double filter = mask_filter(c);
  if (c.has(at.mask)) scores.add_mask(c.in(at.mask), projected.size(0), filter);
  if (c.flag("unidirectional", false)) scores.allow_past(c.table().sub(scores.columns(), scores.rows()));
  if (at.bias && c.has(*at.bias)) scores.add(c.in(*at.bias));
  const tensor share = c.apply(op::softmax{-1}, {scores.all});
  c.out(0, p.join_heads(c.apply(op::matmul{}, {share, part[2]})));
}

// Input, weights, optional bias, mask, past keys and values, bias of the scores.
inline void convert_microsoft_attention(node_context& c) {
  node_context::require(!c.has(6), "input 6 (past_sequence_length) is not supported");
  const tensor y = c.apply(op::matmul{}, {c.in(0), c.in(1)});
  attend_to_projection(c, plus_input(c, y, 2), {3, 4, 5});
}
// Input, weights, bias, their scales, optional mask, zero points, past keys and values.
inline void convert_qattention(node_context& c) {
  const tensor y = scaled_product(c, {c.in(0), c.in(1), optional_input(c, 6), optional_input(c, 7)}, c.in(3), c.in(4));
  attend_to_projection(c, plus_input(c, y, 2), {5, 8, std::nullopt});
}

// Queries, keys, values, in several formats, bias, mask of the keys, bias of the scores, past keys and values.
inline void convert_multi_head_attention(node_context& c) {
  attention_parts p(c);
  const std::int64_t heads = c.integer("num_heads");
  node_context::require(heads > 0, "attribute 'num_heads' must be positive");
  node_context::require(!c.has(8), "input 8 (past_sequence_length) is not supported");
  node_context::require(!c.has(9), "input 9 (cache_indirection) is not supported");
  tensor part[3];
  // [B, S, heads, count, size] -> the parts, each [B, S, heads * size]
  const auto unpack = [&](tensor packed, std::size_t first, std::int64_t count) {
    node_context::require(packed.rank() == 5 && packed.size(3) == dim(count), "packed heads must be of rank 5");
    for (std::int64_t i = 0; i < count; ++i)
      part[first + static_cast<std::size_t>(i)] = p.reshape(
          p.part(packed, 3, i, 1), {packed.size(0), packed.size(1), c.table().mul(packed.size(2), packed.size(4))});
  };
  if (!c.has(1)) {
    unpack(c.in(0), 0, 3);
  } else {
    part[0] = c.in(0);
    if (!c.has(2)) unpack(c.in(1), 1, 2);
    else part[1] = c.in(1), part[2] = c.in(2);
  }
  const bool crossed = part[1].rank() == 4;  // keys and values have been projected and split before
  if (c.has(3)) {
    const tensor bias = c.in(3);
    dim begin = 0;
    for (std::size_t i = 0; i < (crossed ? 1U : 3U); ++i) {
      part[i] = p.add(part[i], p.part(bias, 0, begin, part[i].size(2)));
      begin = c.table().add(begin, part[i].size(2));
    }
  }
  for (tensor& t : part)
    if (t.rank() != 4) t = p.split_heads(t, heads, "num_heads");
  for (std::size_t i = 1; i < 3; ++i)
    if (c.has(5 + i)) part[i] = c.apply(op::concat{2}, {c.in(5 + i), part[i]});
  for (std::size_t i = 1; i < 3; ++i)
    if (c.wants(i)) c.out(i, part[i]);
  microsoft_scores scores(c, part[0], part[1]);
  const double filter = mask_filter(c);
  if (c.has(4)) scores.add_mask(c.in(4), part[0].size(0), filter);
  if (c.flag("unidirectional", false)) scores.allow_past(c.has(6) ? c.in(6).size(2) : dim(0));
  if (c.has(5)) scores.add(c.in(5));
  const tensor share = c.apply(op::softmax{-1}, {scores.all});
  if (c.wants(3)) c.out(3, scores.all);
  c.out(0, p.join_heads(c.apply(op::matmul{}, {share, part[2]})));
}

// Input, positions (the first one, or of each element), cosines and sines.
inline void convert_microsoft_rotary_embedding(node_context& c) {
  attention_parts p(c);
  node_context::require(!c.flag("is_packed_batching", false), "attribute 'is_packed_batching' is not supported");
  node_context::require(c.real_attribute("scale", 1) == 1, "attribute 'scale' is not supported");
  const tensor whole = c.in(0), cosines = c.in(2), sines = c.in(3);
  const bool flat = whole.rank() == 3;
  const std::int64_t given = c.integer("rotary_embedding_dim", 0), heads = c.integer("num_heads", 0);
  node_context::require(given == 0 || heads > 0 || !flat, "'rotary_embedding_dim' needs 'num_heads'");
  tensor x = whole;  // [B, S, heads, size]
  if (!flat) {
    x = p.transpose(x, {0, 2, 1, 3});
  } else {
    const dim size = heads > 0 ? p.exact(x.size(2), heads, "num_heads") : c.table().mul(cosines.size(1), dim(2));
    x = p.reshape(x, {x.size(0), x.size(1), p.exact(x.size(2), size, "the size of a head"), size});
  }
  const dim length = x.size(1);
  tensor places = cast_to(c, c.in(1), i64);
  if (places.rank() == 1) places = p.add(p.reshape(places, {1, 1}), p.reshape(p.positions(length, false), {1, length}));
  const tensor y = p.turned(x, c.apply(op::gather{0}, {cosines, places}), c.apply(op::gather{0}, {sines, places}),
                            given == 0 ? x.size(3) : dim(given), c.flag("interleaved", false));
  c.out(0, flat ? p.reshape(y, whole.dims()) : p.transpose(y, {0, 2, 1, 3}));
}

// Queries, keys and values (or all in one), past keys and values, of each text the number of its keys less 1, the most
// of them, cosines, sines, positions, bias of the scores, a score for nothing for each head.
class group_query_attention {
 public:
  explicit group_query_attention(node_context& c) : c_(c), p_(c) {}

  void convert() {
    refuse_what_is_missing();
    const std::int64_t heads = c_.integer("num_heads"), kv_heads = c_.integer("kv_num_heads");
    node_context::require(heads > 0 && kv_heads > 0 && heads % kv_heads == 0,
                          "'num_heads' must be a multiple of 'kv_num_heads'");
    tensor q = c_.in(0), k, v;
    if (c_.has(1)) {
      k = c_.in(1), v = c_.in(2);
    } else {
      const dim size = p_.exact(q.size(2), heads + 2 * kv_heads, "the number of heads");
      const dim of_q = c_.table().mul(size, dim(heads)), of_k = c_.table().mul(size, dim(kv_heads));
      v = p_.part(q, 2, c_.table().add(of_q, of_k), of_k);
      k = p_.part(q, 2, of_q, of_k);
      q = p_.part(q, 2, 0, of_q);
    }
    q = heads_apart(q, heads), k = heads_apart(k, kv_heads), v = heads_apart(v, kv_heads);
    batch_ = q.size(0), rows_ = q.size(1), total_ = c_.extent(6, "total_sequence_length");
    find_places();
    if (c_.flag("do_rotary", false)) {
      q = turned(q), k = turned(k);
    } else {
      c_.ignore("rotary_interleaved");
    }
    q = p_.transpose(q, {0, 2, 1, 3});
    k = with_past(p_.transpose(k, {0, 2, 1, 3}), 3);
    v = with_past(p_.transpose(v, {0, 2, 1, 3}), 4);
    if (c_.wants(1)) c_.out(1, k);
    if (c_.wants(2)) c_.out(2, v);
    if (!(k.size(2) == total_)) {  // what is kept has room for more
      k = p_.part(k, 2, 0, total_);
      v = p_.part(v, 2, 0, total_);
    }
    const tensor share = shares(q, p_.spread_heads(k, q.size(1)), heads);
    c_.out(0, p_.join_heads(c_.apply(op::matmul{}, {share, p_.spread_heads(v, q.size(1))})));
  }

 private:
  void refuse_what_is_missing() {
    constexpr const char* names[] = {"k_scale", "v_scale", "q_norm_weight", "k_norm_weight"};
    for (std::size_t i = 0; i < 4; ++i)
      if (c_.has(12 + i))
        node_context::refuse("input " + std::to_string(12 + i) + " (" + names[i] + ") is not supported");
    for (const char* name : {"k_quant_type", "v_quant_type"}) static_cast<void>(c_.choice(name, {"NONE"}, "NONE"));
    node_context::require(c_.integer("qk_output", 0) == 0, "attribute 'qk_output' is not supported");
    node_context::require(c_.integer("sliding_window_cache", 0) == 0,
                          "attribute 'sliding_window_cache' is not supported");
    for (const char* name : {"qk_norm_epsilon", "kv_cache_bit_width"}) c_.ignore(name);  // of what is refused above
    node_context::require(c_.has(3) == c_.has(4), "past keys and past values belong together");
  }
  // [B, S, heads * size] -> [B, S, heads, size]
  tensor heads_apart(tensor x, std::int64_t heads) {
    return p_.reshape(x, {x.size(0), x.size(1), heads, p_.exact(x.size(2), heads, "the number of heads")});
  }
  // Where the new keys of each text begin and how many there are then; of one text, the extents say it.
  void find_places() {
    const tensor steps = p_.reshape(p_.positions(rows_, false), {1, rows_});
    if (batch_ == dim(1)) {
      first_ = c_.table().sub(total_, rows_);
      places_ = p_.add(steps, p_.integer(*first_));
      lengths_ = p_.reshape(p_.integer(total_), {1, 1});
      return;
    }
    lengths_ = p_.reshape(p_.add(cast_to(c_, c_.in(5), i64), p_.integer(1)), {batch_, 1});
    const tensor begin = c_.apply(op::max{}, {p_.sub(lengths_, p_.integer(rows_)), p_.integer(0)});
    places_ = p_.add(begin, steps);
  }
  tensor turned(tensor x) {  // [B, S, heads, size]
    const tensor places = c_.has(9) ? c_.in(9) : places_;
    const tensor cosine = c_.apply(op::gather{0}, {c_.in(7), places}),
                 sine = c_.apply(op::gather{0}, {c_.in(8), places});
    return p_.turned(x, cosine, sine, c_.table().mul(cosine.size(2), dim(2)), c_.flag("rotary_interleaved", false));
  }
  // The rows of x behind those of input i that the text has; of what is kept beyond, as it was.
  tensor with_past(tensor x, std::size_t i) {
    if (!c_.has(i)) {
      node_context::require(total_ == rows_ || c_.table().note_equation(total_, rows_),
                            "without past keys, 'total_sequence_length' must be the length of the query");
      return x;
    }
    const tensor past = c_.in(i);
    const dim before = past.size(2), all = c_.table().add(before, rows_);
    const bool has_room = total_.is_known() && before.is_known() && total_.value() <= before.value();
    node_context::require(has_room || total_ == all || c_.table().note_equation(total_, all),
                          "'total_sequence_length' must be the number of past keys and that of new ones together");
    if (first_ && !has_room) return c_.apply(op::concat{2}, {past, x});
    if (first_) {
      const dim behind = c_.table().sub(before, total_);
      return c_.apply(op::concat{2}, {p_.part(past, 2, 0, *first_), x, p_.part(past, 2, total_, behind)});
    }
    const tensor room = has_room ? past : c_.apply(op::concat{2}, {past, x});
    const tensor places = p_.reshape(places_, {batch_, 1, rows_, 1});
    return c_.apply(op::scatter_elements{2}, {room, c_.apply(op::expand{x.dims()}, {places}), x});
  }
  tensor shares(tensor q, tensor k, std::int64_t heads) {
    microsoft_scores scores(c_, q, k);
    const dtype type = q.type();
    if (const double cap = static_cast<double>(c_.real_attribute("softcap", 0)); cap != 0)
      scores.all =
          p_.mul(c_.apply(op::tanh{}, {c_.apply(op::div{}, {scores.all, p_.number(cap, type)})}), p_.number(cap, type));
    if (c_.has(10)) scores.add(c_.in(10));
    const dim texts = first_ ? dim(1) : batch_;
    const tensor keys = p_.positions(total_, false), places = p_.reshape(places_, {texts, 1, rows_, 1});
    if (c_.flag("causal", true)) scores.allow(c_.apply(op::less_or_equal{}, {keys, places}));
    else scores.allow(c_.apply(op::less{}, {keys, p_.reshape(lengths_, {texts, 1, 1, 1})}));
    if (const std::int64_t window = c_.integer("local_window_size", -1); window >= 0) {
      node_context::require(window < std::int64_t{1} << 40, "attribute 'local_window_size' is too large");
      scores.allow(c_.apply(op::greater{}, {p_.add(keys, p_.integer(window)), places}));
    }
    const bool smooth = c_.integer("smooth_softmax", -1) > 0;
    if (!c_.has(11) && !smooth) return c_.apply(op::softmax{-1}, {scores.all});
    const tensor nothing = c_.has(11) ? p_.reshape(cast_to(c_, c_.in(11), type), {1, heads, 1, 1}) : p_.number(0, type);
    const tensor column = c_.apply(op::expand{shape{batch_, heads, rows_, 1}}, {nothing});
    const tensor share = c_.apply(op::softmax{-1}, {c_.apply(op::concat{3}, {scores.all, column})});
    return p_.part(share, 3, 0, total_);
  }

  node_context& c_;
  attention_parts p_;
  dim batch_, rows_, total_;
  std::optional<dim> first_;  // where the new keys begin, of one text
  tensor places_, lengths_;   // of each query [B or 1, S]; the number of keys [B or 1, 1]
};
inline void convert_group_query_attention(node_context& c) { group_query_attention(c).convert(); }

}  // namespace dnnkit::onnx::detail
