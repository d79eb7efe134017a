// SPDX-License-Identifier: MIT
// Pass: a transposed convolution becomes an ordinary one. Output position s q + r (s: the stride) sums x[q - t] times
// w[s t + r] over t, so each remainder r is a convolution of its own with a flipped kernel of ceil(kernel / s) taps;
// all of them are one convolution with the remainders as channels, whose output is then only moved. Takes a graph
// without composites; guarantees the same function of finite elements, up to the order of sums (where no tap reaches,
// the sum is one of elements times 0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/expand.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/pad.hpp"
#include "dnnkit/op/slice.hpp"
#include "dnnkit/op/transposed_convolution.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit::passes {

struct lower_transposed_convolution {
  static constexpr std::string_view name = "lower transposed convolutions";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!has_operator<op::conv_transpose>(g)) return g;
    const auto setup = setup_values(g);
    auto is_setup = [&](value_id v) { return v == none || setup[static_cast<std::size_t>(v)] != 0; };
    return rebuild(
        g,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          if (!g.is<op::conv_transpose>(n) || !is_setup(g.input_of(n, 1)) || !is_setup(g.input_of(n, 2)))
            return tensor{};
          const op::conv_transpose c = g.as<op::conv_transpose>(n);
          if (c.group != 1 || !is_floating(inputs[0].type())) return tensor{};
          for (std::int64_t d : c.dilations)
            if (d != 1) return tensor{};
          return convolved(b, c, inputs);
        },
        [&](const node& n, const graph& now, std::size_t first) {
          notes.add({name, "lowered", "one convolution has a channel for each remainder of the stride"}, g, n, now,
                    first);
        });
  }

 private:
  static constexpr tensor convolved(builder& b, const op::conv_transpose& c, const rebuilt_inputs& inputs) {
    const tensor x = inputs[0], weight = inputs[1];
    const std::size_t axes = x.dims().size() - 2;
    const window w = c.over([&](std::size_t i) { return weight.dims()[i].value(); }, axes);
    int_list taps;  // of each remainder's kernel
    std::int64_t remainders = 1;
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t more = c.output_padding.empty() ? 0 : c.output_padding[i];
      const std::int64_t beyond = more > w.pad_end(i) ? more - w.pad_end(i) : 0;
      taps.push_back((w.kernel(i) + beyond + w.stride(i) - 1) / w.stride(i));
      remainders *= w.stride(i);
    }

    vector<tensor> operands{x, weight_of(b, weight, w, taps)};
    if (inputs.size() > 2 && inputs[2].present()) operands.push_back(b.apply(op::tile{{remainders}}, {inputs[2]}));
    op::conv convolution;
    for (int side = 0; side < 2; ++side)
      for (std::size_t i = 0; i < axes; ++i) convolution.pads.push_back(taps[i] - 1);
    const dim channels = weight.dims()[1];
    const tensor y = b.apply(convolution, operands);
    return cropped(b, interleaved(b, y, w, channels), c, w, taps);
  }

  // W [C, M, kernel...] as [remainders... M, C, taps...], taps in reverse.
  static constexpr tensor weight_of(builder& b, tensor weight, const window& w, const int_list& taps) {
    const std::size_t axes = taps.size();
    op::pad longer{int_list::filled(2 * (axes + 2), 0)};
    op::slice reversed;
    op::transpose order;
    bool pads = false, reverses = false;
    shape split{weight.dims()[0], weight.dims()[1]}, merged;
    dim channels = weight.dims()[1];
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t missing = taps[i] * w.stride(i) - w.kernel(i);
      longer.pads[axes + 4 + i] = missing;
      pads = pads || missing > 0;
      split.push_back(taps[i]);
      split.push_back(w.stride(i));
      channels = b.value().symbols.mul(channels, w.stride(i));
      if (taps[i] > 1) {
        reverses = true;
        reversed.starts.push_back(-1);
        reversed.ends.push_back(std::numeric_limits<std::int32_t>::min());
        reversed.steps.push_back(-1);
        reversed.axes.push_back(static_cast<std::int64_t>(2 + 2 * i));
      }
      order.perm.push_back(static_cast<std::int64_t>(3 + 2 * i));
    }
    order.perm.push_back(1);
    order.perm.push_back(0);
    merged.push_back(channels);
    merged.push_back(weight.dims()[0]);
    for (std::size_t i = 0; i < axes; ++i) {
      order.perm.push_back(static_cast<std::int64_t>(2 + 2 * i));
      merged.push_back(taps[i]);
    }
    if (pads) weight = b.apply(longer, {weight});
    weight = b.apply(op::reshape{split}, {weight});
    if (reverses) weight = b.apply(reversed, {weight});
    return b.apply(op::reshape{merged}, {b.apply(order, {weight})});
  }

  // [N, remainders... M, positions...] as [N, M, stride * position + remainder ...].
  static constexpr tensor interleaved(builder& b, tensor y, const window& w, dim channels) {
    const std::size_t axes = y.dims().size() - 2;
    shape split{y.dims()[0]}, merged{y.dims()[0], channels};
    op::transpose order{{0, static_cast<std::int64_t>(axes + 1)}};
    for (std::size_t i = 0; i < axes; ++i) split.push_back(w.stride(i));
    split.push_back(channels);
    for (std::size_t i = 0; i < axes; ++i) {
      split.push_back(y.dims()[i + 2]);
      merged.push_back(b.value().symbols.mul(y.dims()[i + 2], w.stride(i)));
      order.perm.push_back(static_cast<std::int64_t>(axes + 2 + i));
      order.perm.push_back(static_cast<std::int64_t>(1 + i));
    }
    return b.apply(op::reshape{merged}, {b.apply(order, {b.apply(op::reshape{split}, {y})})});
  }

  // Without what the pads take away, and without what taps beyond the kernel added.
  static constexpr tensor cropped(builder& b, tensor y, const op::conv_transpose& c, const window& w,
                                  const int_list& taps) {
    op::slice crop;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const std::int64_t more = c.output_padding.empty() ? 0 : c.output_padding[i];
      const std::int64_t behind = taps[i] * w.stride(i) - w.kernel(i) - more + w.pad_end(i);
      if (w.pad_begin(i) == 0 && behind == 0) continue;
      crop.axes.push_back(static_cast<std::int64_t>(i + 2));
      crop.starts.push_back(w.pad_begin(i));
      crop.ends.push_back(behind == 0 ? std::numeric_limits<std::int32_t>::max() : -behind);
    }
    return crop.axes.empty() ? y : b.apply(crop, {y});
  }
};

}  // namespace dnnkit::passes
