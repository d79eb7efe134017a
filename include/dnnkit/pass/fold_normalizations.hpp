// SPDX-License-Identifier: MIT
// Pass: a BatchNormalization of what a convolution computes for it alone goes into the weights and the bias of the
// convolution, which are known before the run. Takes any graph; guarantees nothing: what it leaves, others turn into
// scales and shifts (pass/expand_composites.hpp) and fold as such, at several times the work (pass/fold_scales.hpp), to
// the same graph. Rounds: weights are scaled before they are multiplied.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/normalization.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/rebuilt_facts.hpp"
#include "dnnkit/pass/weighted_product.hpp"

namespace dnnkit {

namespace detail {

class normalization_folding {
 public:
  static constexpr std::string_view name = "fold normalizations into convolutions";

  constexpr normalization_folding(const graph& g, decision_notes notes) : g_(g), notes_(notes), facts_(g) {}

  // The rule for rebuild().
  constexpr tensor replaced(builder& b, const node& n, const rebuilt_inputs& inputs) {
    facts_.note_readers(n, inputs);
    if (!g_.is<op::batch_normalization>(n) || !has_known_parameters(b.value(), inputs)) return {};
    const node_id k = convolution_before(b.value(), inputs.id(0));
    if (k == none) return {};
    const vector<tensor> in = inputs.list();
    const tensor factor = g_.as<op::batch_normalization>(n).factor(in);
    graph& now = b.value();
    const node before = now.node_at(k);
    const builder::name_scope scope(b, before.name);
    weighted_product whole(b, now, before, [&](std::size_t i) { return tensor{&b, now.input_of(before, i)}; });
    const tensor mean = whole.bias.present() ? in[3] - whole.bias : in[3];  // as the convolution has no bias
    whole.bias = b.apply(op::normalizing_shift{}, {in[2], mean, factor});
    whole.scale_weight(adjustment::times, factor);
    const tensor y = whole.result();
    if (notes_.wanted())
      notes_.add({name, "folded", "its numbers are known before the run, and go into the weights and the bias"}, g_, n,
                 now, now.node_at(now.at(y.id()).producer));
    return y;
  }

 private:
  constexpr bool has_known_parameters(const graph& now, const rebuilt_inputs& inputs) {
    for (std::size_t i = 1; i < inputs.size(); ++i)
      if (!facts_.is_setup(now, inputs.id(i))) return false;
    return true;
  }
  // The convolution by weights that computes y for one reader; none where there is no such.
  constexpr node_id convolution_before(const graph& now, value_id y) {
    const node_id k = now.at(y).producer;
    const dtype type = now.at(y).type.type;
    if (k == none || !facts_.has_one_reader(y) || (type != f32 && type != f64)) return none;
    const node& n = now.node_at(k);
    if (!now.is<op::conv>(n) || facts_.is_setup(now, now.input_of(n, 0))) return none;
    const value_id bias = now.input_of(n, 2);
    return facts_.is_setup(now, now.input_of(n, 1)) && (bias == none || facts_.is_setup(now, bias)) ? k : none;
  }

  const graph& g_;
  decision_notes notes_;
  rebuilt_facts facts_;
};

}  // namespace detail

namespace passes {

struct fold_normalizations {
  static constexpr std::string_view name = detail::normalization_folding::name;

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::batch_normalization>(g) || !has_operator<op::conv>(g)) return g;
    detail::normalization_folding folding(g, notes);
    return rebuild(
        g, [&](builder& b, const node& n, const rebuilt_inputs& inputs) { return folding.replaced(b, n, inputs); });
  }
};

}  // namespace passes

}  // namespace dnnkit
