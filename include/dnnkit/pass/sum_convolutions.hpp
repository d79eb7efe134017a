// SPDX-License-Identifier: MIT
// Pass: convolutions of one tensor that are summed up become one, whose weight is the sum of theirs:
//   conv(x, v) + conv(x, w) + rest = conv(x, v + w with zeros around it) + rest
// where the window of one lies within that of the other, as in networks trained with parallel branches (RepVGG, Ding
// et al. 2021, section 3.3: 3x3 and 1x1). The weights are summed up when a session is made. Nothing moves past a
// value that others read.
// Takes a graph without composites; guarantees the same function where all numbers are finite, up to rounding: sums are
// reassociated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/pad.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/rebuilt_facts.hpp"

namespace dnnkit {

namespace detail {

class convolution_sums {
 public:
  static constexpr std::string_view name = "sum convolutions";

  constexpr convolution_sums(const graph& g, decision_notes notes) : g_(g), notes_(notes), facts_(g) {}

  // The rule for rebuild().
  constexpr tensor replaced(builder& b, const node& n, const rebuilt_inputs& inputs) {
    facts_.note_readers(n, inputs);
    if (!g_.is<op::add>(n) || !is_floating(g_.at(n.output).type.type)) return {};
    terms_.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i) add_terms(b.value(), inputs.id(i), g_.at(n.output).type.dims);
    bool any = false;
    for (std::size_t i = 0; i < terms_.count; ++i)
      for (std::size_t j = i + 1; j < terms_.count; ++j) {
        tensor sum = sum_of(b, terms_.items[i], terms_.items[j]);
        if (!sum.present()) sum = sum_of(b, terms_.items[j], terms_.items[i]);
        if (!sum.present()) continue;
        notes_.add({name, "summed", "convolutions of one tensor are one with the sum of their weights"}, g_, n,
                   b.value(), b.value().node_at(b.value().at(sum.id()).producer));
        terms_.items[i] = sum.id();
        terms_.erase(terms_.begin() + j--);
        any = true;
      }
    if (!any) return {};
    tensor y{&b, terms_.items[0]};
    for (std::size_t i = 1; i < terms_.count; ++i) y = y + tensor{&b, terms_.items[i]};
    return y;
  }

 private:
  // What v is the sum of, as far as sums are of its shape and nobody else reads them.
  constexpr void add_terms(const graph& now, value_id v, const shape& dims) {
    const node_id p = now.at(v).producer;
    const bool is_sum = p != none && facts_.has_one_reader(v) && now.is<op::add>(now.node_at(p)) &&
                        same_shape(now.at(v).type.dims, dims);
    for (std::size_t i = 0; is_sum && i < 2; ++i) add_terms(now, now.input_of(now.node_at(p), i), dims);
    if (!is_sum) terms_.push_back(v);
  }
  // The convolution that computes v for this sum alone, with weights known before the run.
  constexpr const node* convolution_of(const graph& now, value_id v) {
    const node_id p = now.at(v).producer;
    if (p == none || !facts_.has_one_reader(v) || !now.is<op::conv>(now.node_at(p))) return nullptr;
    const node& n = now.node_at(p);
    const value_id bias = now.input_of(n, 2);
    const bool known = facts_.is_setup(now, now.input_of(n, 1)) && (bias == none || facts_.is_setup(now, bias));
    return known ? &n : nullptr;
  }

  // v + w, when both are such convolutions and the window of w lies within that of v; else tensor{}.
  constexpr tensor sum_of(builder& b, value_id v, value_id w) {
    const graph& now = b.value();
    const node *const of_v = convolution_of(now, v), *const of_w = convolution_of(now, w);
    if (of_v == nullptr || of_w == nullptr || now.input_of(*of_v, 0) != now.input_of(*of_w, 0)) return {};
    if (!same_shape(now.at(v).type.dims, now.at(w).type.dims)) return {};
    const op::conv wide = now.as<op::conv>(*of_v), narrow = now.as<op::conv>(*of_w);
    const auto input = [&](const node& n, std::size_t i) { return tensor{&b, now.input_of(n, i)}; };
    const tensor x = input(*of_v, 0), weight = input(*of_v, 1), other = input(*of_w, 1), bias = input(*of_v, 2),
                 other_bias = input(*of_w, 2);
    const int_list around = zeros_around(wide, narrow, weight.dims(), other.dims());
    if (around.empty()) return {};
    const builder::name_scope scope(b, of_v->name);
    const tensor sum = weight + (same_shape(weight.dims(), other.dims()) ? other : b.apply(op::pad{around}, {other}));
    if (!bias.present() && !other_bias.present()) return b.apply(wide, {x, sum});
    const bool both = bias.present() && other_bias.present();
    return b.apply(wide, {x, sum, both ? bias + other_bias : bias.present() ? bias : other_bias});
  }
  // The zeros around the narrow window, as Pad counts them, that make it one of the wide one's; empty when none do.
  static constexpr int_list zeros_around(const op::conv& wide, const op::conv& narrow, const shape& weight,
                                         const shape& other) {
    const std::size_t axes = weight.size() - 2;
    const window of_wide = wide.over([&](std::size_t i) { return weight[i].value(); }, axes),
                 of_narrow = narrow.over([&](std::size_t i) { return other[i].value(); }, axes);
    if (wide.group != narrow.group || !(weight[0] == other[0]) || !(weight[1] == other[1])) return {};
    int_list before{0, 0}, after{0, 0};
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t step = of_wide.dilation(i), shift = of_wide.pad_begin(i) - of_narrow.pad_begin(i);
      if (of_wide.stride(i) != of_narrow.stride(i) || shift < 0 || shift % step != 0) return {};
      if (of_narrow.kernel(i) != 1 && of_narrow.dilation(i) != step) return {};
      before.push_back(shift / step);
      after.push_back(of_wide.kernel(i) - of_narrow.kernel(i) - shift / step);
      if (after.back() < 0) return {};
    }
    for (std::int64_t zeros : after) before.push_back(zeros);
    return before;
  }

  const graph& g_;
  decision_notes notes_;
  rebuilt_facts facts_;
  vector<value_id> terms_;
};

}  // namespace detail

namespace passes {

struct sum_convolutions {
  static constexpr std::string_view name = detail::convolution_sums::name;

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::add>(g) || !may_have_sums(g)) return g;
    detail::convolution_sums sums(g, notes);
    return rebuild(
        g, [&](builder& b, const node& n, const rebuilt_inputs& inputs) { return sums.replaced(b, n, inputs); });
  }

 private:
  // Do two convolutions read one tensor?
  static constexpr bool may_have_sums(const graph& g) {
    const vector<std::uint8_t> alive = live_nodes(g);
    vector<std::uint8_t> is_convolved(g.values.count, 0);
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node& n = g.nodes.items[k];
      if (alive.items[k] == 0 || n.op->id != id_of<op::conv>) continue;
      std::uint8_t& seen = is_convolved.items[g.input_of(n, 0)];
      if (seen != 0) return true;
      seen = 1;
    }
    return false;
  }
};

}  // namespace passes

}  // namespace dnnkit
