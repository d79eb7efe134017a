// SPDX-License-Identifier: MIT
// Pass: a BatchNormalization of what a convolution computes for it alone goes into the weights and the bias of the
// convolution, which are known before the run. Takes any graph; guarantees nothing: what it leaves, others turn into
// scales and shifts (pass/expand_composites.hpp) and fold as such, at several times the work (pass/fold_scales.hpp), to
// the same kernels of a run. Rounds: weights are scaled before they are multiplied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/normalization.hpp"
#include "dnnkit/pass/decision_log.hpp"
#include "dnnkit/pass/weighted_product.hpp"

namespace dnnkit {

namespace detail {

class normalization_folding {
 public:
  static constexpr std::string_view name = "fold normalizations into convolutions";

  constexpr normalization_folding(const graph& g, decision_notes notes)
      : g_(g), notes_(notes), setup_(setup_values(g)), stays_(live_nodes(g)), users_(g) {
    for (std::size_t k = 0; k < g.nodes.count; ++k)
      if (stays_.items[k] != 0 && g.is<op::batch_normalization>(g.nodes.items[k]))
        if (const node_id convolution = convolution_before(g.nodes.items[k]); convolution != none)
          stays_.items[convolution] = 0;
  }

  // The nodes that rebuild() is to ask about, and its rule.
  constexpr const vector<std::uint8_t>& stays() const { return stays_; }
  constexpr tensor replaced(builder& b, const node& n, const rebuilt_inputs& inputs) const {
    if (!g_.is<op::batch_normalization>(n)) return {};
    const node_id before = g_.at(g_.input_of(n, 0)).producer;
    if (before == none || stays_.items[before] != 0) return {};
    const node& convolution = g_.node_at(before);
    const vector<tensor> in = inputs.list();
    const tensor factor = g_.as<op::batch_normalization>(n).factor(b, in);
    const builder::name_scope scope(b, convolution.name);
    weighted_product whole(b, g_, convolution,
                           [&](std::size_t i) { return inputs.image_of(g_.input_of(convolution, i)); });
    const tensor mean = whole.bias.present() ? in[3] - whole.bias : in[3];  // as the convolution has no bias
    whole.bias = b.apply(op::normalizing_shift{}, {in[2], mean, factor});
    whole.scale_weight(adjustment::times, factor);
    const tensor y = whole.result();
    if (notes_.wanted())
      notes_.add({name, "folded", "its numbers are known before the run, and go into the weights and the bias"}, g_, n,
                 b.value(), b.value().node_at(b.value().at(y.id()).producer));
    return y;
  }

 private:
  constexpr bool is_setup(value_id v) const { return setup_.items[v] != 0; }
  // The convolution by weights that computes what n normalises by numbers known before the run, for n alone; none where
  // there is no such.
  constexpr node_id convolution_before(const node& n) const {
    for (std::size_t i = 1; i < n.inputs.count; ++i)
      if (!is_setup(g_.input_of(n, i))) return none;
    const value_id y = g_.input_of(n, 0);
    const node_id k = g_.at(y).producer;
    const dtype type = g_.at(y).type.type;
    if (k == none || users_[y].size() != 1 || is_output(g_, y) || (type != f32 && type != f64)) return none;
    const node& convolution = g_.node_at(k);
    if (!g_.is<op::conv>(convolution) || is_setup(g_.input_of(convolution, 0))) return none;
    const value_id bias = g_.input_of(convolution, 2);
    return is_setup(g_.input_of(convolution, 1)) && (bias == none || is_setup(bias)) ? k : none;
  }

  const graph& g_;
  decision_notes notes_;
  vector<std::uint8_t> setup_, stays_;  // of values; of nodes, the convolutions that are taken in being none of them
  value_users users_;
};

}  // namespace detail

namespace passes {

struct fold_normalizations {
  static constexpr std::string_view name = detail::normalization_folding::name;

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::batch_normalization>(g) || !has_operator<op::conv>(g)) return g;
    const detail::normalization_folding folding(g, notes);
    return rebuild(
        g, folding.stays(),
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) { return folding.replaced(b, n, inputs); },
        [](const node&, const graph&, std::size_t) {});
  }
};

}  // namespace passes

}  // namespace dnnkit
