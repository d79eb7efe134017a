// SPDX-License-Identifier: MIT
// Pass: a Mul or Add by one number per output channel, computed from weights alone, moves into the weight and bias of
// the convolution before it (BatchNormalization folded into Conv). Takes a graph without composites; guarantees the
// same function up to rounding: products are reassociated, (w x) s = (w s) x.
#pragma once

#include <cstddef>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct fold_into_convolution {
  static constexpr std::string_view name = "fold scales into convolutions";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::conv>(g)) return g;
    const auto users = users_of_values(g);
    const auto setup = setup_values(g);
    auto is_setup = [&](value_id v) { return v != none && setup[static_cast<std::size_t>(v)] != 0; };
    return rebuild(g, [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
      const bool scales = g.is<op::mul>(n), shifts = g.is<op::add>(n);
      if (!scales && !shifts) return tensor{};
      for (std::size_t side = 0; side < 2; ++side) {
        const value_id x = g.input_of(n, side), factor = g.input_of(n, 1 - side);
        if (g.at(x).producer == none || is_setup(x) || !is_setup(factor)) continue;
        if (users[static_cast<std::size_t>(x)].size() != 1 || is_output(g, x)) continue;
        const tensor y = inputs[side];
        const graph& now = b.value();
        const node_id producer = now.at(y.id()).producer;
        if (producer == none || !now.is<op::conv>(now.node_at(producer))) continue;
        if (!one_number_per_channel(y, inputs[1 - side])) continue;
        notes.add({name, "folded",
                   scales ? "it multiplies each channel by a number known before the run, which goes into the weights"
                          : "it adds a number known before the run to each channel, which goes into the bias"},
                  g, n, now, now.node_at(producer));
        return folded(b, producer, inputs[1 - side], scales);
      }
      return tensor{};
    });
  }

 private:
  // t broadcasts to y and varies along y's channel axis at most.
  static constexpr bool one_number_per_channel(tensor y, tensor t) {
    if (t.rank() > y.rank()) return false;
    for (std::int64_t i = 0; i < t.rank(); ++i)
      if (i + y.rank() - t.rank() != 1 && !(t.size(i) == dim(1))) return false;
    return true;
  }

  static constexpr tensor folded(builder& b, node_id convolution, tensor factor, bool scales) {
    const node n = b.value().node_at(convolution);
    const builder::name_scope scope(b, n.name);
    auto input = [&](std::size_t i) { return tensor{&b, b.value().input_of(n, i)}; };
    const op::conv attributes = b.value().as<op::conv>(n);
    const tensor x = input(0), weight = input(1), bias = input(2);
    auto reshaped = [&](const shape& s) { return b.apply(op::reshape{s}, {factor}); };
    const dim length = element_count(b.value().symbols, factor.dims());
    const tensor per_channel = reshaped({length});
    if (!scales) {
      const tensor sum =
          bias.present() ? bias + per_channel : per_channel + b.constant({0.0}, shape{weight.size(0)}, weight.type());
      return b.apply(attributes, {x, weight, sum});
    }
    shape along_outputs = shape::filled(weight.dims().size(), 1);
    along_outputs[0] = length;
    const tensor scaled = weight * reshaped(along_outputs);
    if (!bias.present()) return b.apply(attributes, {x, scaled});
    return b.apply(attributes, {x, scaled, bias * per_channel});
  }
};

}  // namespace dnnkit::passes
