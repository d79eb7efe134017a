// SPDX-License-Identifier: MIT
// Operators of random graphs that a kernel has one of: convolutions, pools, products, reductions, normalisations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/random_movement.hpp"

class random_anchors : protected random_movement {
 protected:
  using random_movement::random_movement;

  // A window that fits x; none where the least extent is not known to be positive.
  constexpr dnnkit::window window_for(tensor x, std::int64_t widest) {
    dnnkit::window w;
    const std::size_t axes = rank(x) - 2;
    for (std::size_t i = 0; i < axes; ++i) {
      const std::int64_t room = least(x.dims()[i + 2]);
      if (room < 1) return {};
      const std::int64_t k = r_.between(1, room < widest ? room : widest);
      w.kernel_shape.push_back(k);
      w.strides.push_back(r_.chance(70) ? 1 : 2);
      w.dilations.push_back(k > 1 && (k - 1) * 2 + 1 <= room && r_.chance(20) ? 2 : 1);
    }
    for (std::size_t i = 0; i < 2 * axes; ++i)
      w.pads.push_back(w.kernel_shape[i % axes] > 1 ? r_.between(0, w.kernel_shape[i % axes] / 2) : 0);
    return w;
  }
  constexpr void convolve(const entry& e) {
    if (!e.t.present() || !e.t.dims()[1].is_known()) return;
    const tensor x = e.t;
    const std::int64_t channels = x.dims()[1].value();
    const dnnkit::window w = window_for(x, 3);
    if (w.kernel_shape.empty()) return;
    const bool depthwise = r_.chance(15), grouped = !depthwise && channels % 2 == 0 && r_.chance(20);
    const std::int64_t group = depthwise ? channels : grouped ? 2 : 1;
    const std::int64_t outputs = depthwise ? channels * (r_.chance(80) ? 1 : 2)
                                 : grouped ? r_.pick({2, 8, 16, 20})
                                           : r_.pick({1, 3, 4, 8, 12, 16, 24});
    if (channels < 1 || most_count(x.dims()) / channels * outputs > 2 * most_elements) return;
    if (r_.chance(12)) {
      shape kernel{channels, outputs % group == 0 ? outputs / group : 1};
      for (std::int64_t k : w.kernel_shape) kernel.push_back(k);
      dnnkit::int_list strides = w.strides;
      return add(dnnkit::conv_transpose(x, parameter(kernel), {.strides = strides, .group = group}));
    }
    shape kernel{outputs, channels / group};
    for (std::int64_t k : w.kernel_shape) kernel.push_back(k);
    const dnnkit::op::conv a{.strides = w.strides, .pads = w.pads, .dilations = w.dilations, .group = group};
    const tensor filter = parameter(kernel), bias = r_.chance(60) ? parameter({outputs}) : tensor{};
    tensor y = bias.present() ? dnnkit::conv(x, filter, bias, a) : dnnkit::conv(x, filter, a);
    if (r_.chance(40)) {
      const tensor scale = weight({outputs}), shift = weight({outputs}), mean = weight({outputs});
      y = dnnkit::batch_normalization(y, scale, shift, mean, weight({outputs}, "variance"));
    }
    if (r_.chance(40)) y = dnnkit::relu(y);
    if (y.dims() == x.dims() && r_.chance(60)) y = y + x;
    add(y);
  }
  constexpr void pool(const entry& e) {
    if (!e.t.present()) return;
    const dnnkit::window w = window_for(e.t, 3);
    if (w.kernel_shape.empty()) return;
    switch (r_.below(5)) {
      case 0:
      case 1:
        return add(dnnkit::max_pool(e.t, {w.kernel_shape, w.strides, w.pads, w.dilations, r_.chance(20)}), e.exact);
      case 2:
        return add(dnnkit::average_pool(e.t, {w.kernel_shape, w.strides, w.pads, w.dilations, false, r_.chance(50)}));
      case 3:
        return add(dnnkit::global_average_pool(e.t));
      default:
        return add(dnnkit::global_max_pool(e.t), e.exact);
    }
  }

  // Convolutions and pools, each of what the one before computes.
  constexpr void chain() {
    const std::size_t before = count_;
    convolve(any(dnnkit::f32, 4, 5));
    if (count_ == before) return;
    for (std::int64_t n = r_.between(1, 3); n-- > 0;) {
      const entry last = known_[count_ - 1];
      if (r_.chance(70)) convolve(last);
      else pool(last);
    }
  }

  constexpr void multiply() {
    const entry e = any(dnnkit::f32, 1, 4);
    if (!e.t.present() || !e.t.size(-1).is_known()) return;
    const tensor x = e.t;
    const std::int64_t inner = x.size(-1).value(), outputs = r_.pick({1, 5, 8, 16, 19, 32});
    if (inner < 1 || most_count(x.dims()) / inner * outputs > 2 * most_elements) return;
    if (rank(x) == 2 && r_.chance(40)) {
      const bool transposed = r_.chance(60);
      const shape s = transposed ? shape{outputs, inner} : shape{inner, outputs};
      const tensor b = parameter(s), c = parameter({outputs});
      const float alpha = r_.chance(70) ? 1.0f : 0.5f;
      return add(dnnkit::gemm(x, b, c, {.alpha = alpha, .trans_b = transposed}));
    }
    if (r_.chance(40))  // a product of computed values
      for (int tries = 0; tries < 6; ++tries) {
        const entry f = any(dnnkit::f32, 2, 4);
        if (!f.t.present() || rank(f.t) > rank(x) || rank(x) < 2) continue;
        tensor y = f.t;
        if (!(y.size(-2) == x.size(-1))) {
          if (!(y.size(-1) == x.size(-1))) continue;
          dnnkit::int_list perm;
          for (std::int64_t d = 0; d + 2 < y.rank(); ++d) perm.push_back(d);
          perm.push_back(y.rank() - 1);
          perm.push_back(y.rank() - 2);
          y = dnnkit::transpose(y, {.perm = perm});
        }
        bool fits = true;
        for (std::int64_t d = 3; d <= y.rank(); ++d) fits = fits && (y.size(-d) == x.size(-d) || y.size(-d) == dim(1));
        if (!fits || most_count(x.dims()) / inner * most(y.size(-1)) > 2 * most_elements) continue;
        return add(dnnkit::matmul(x, y) * 0.25);
      }
    shape s{inner, outputs};
    if (rank(x) > 2 && x.size(0).is_known() && r_.chance(25)) {
      s.insert(0, rank(x) == 3 ? x.size(0) : dim(1));
      if (rank(x) == 4) s.insert(0, x.size(0));
    }
    if (rank(x) == 1 || r_.chance(10)) s = r_.chance(50) ? shape{inner} : shape{inner, outputs};
    tensor y = dnnkit::matmul(x, parameter(s));
    if (s.size() > 1 && r_.chance(50)) y = y + parameter({outputs});
    add(y);
  }

  constexpr void reduce() {
    const entry e = any();
    if (!e.t.present()) return;
    const tensor x = e.t;
    const std::size_t n = rank(x);
    dnnkit::row_axes axes;
    for (std::size_t d = 0; d < n; ++d)
      if (r_.chance(50))
        axes.list.push_back(static_cast<std::int64_t>(d) - (r_.chance(30) ? static_cast<std::int64_t>(n) : 0));
    const bool keep = r_.chance(60);
    switch (r_.below(e.exact && n > 0 ? 10 : 9)) {
      case 0:
        return add(dnnkit::reduce_sum(x, {axes, keep}));
      case 1:
        return add(dnnkit::reduce_mean(x, {axes, keep}));
      case 2:
        return add(dnnkit::reduce_max(x, {axes, keep}), e.exact);
      case 3:
        return add(dnnkit::reduce_min(x, {axes, keep}), e.exact);
      case 4:
        return add(dnnkit::reduce_l1(x, {axes, keep}));
      case 5:
        return add(dnnkit::reduce_l2(x, {axes, keep}));
      case 6:
        return add(dnnkit::reduce_sum_square(x, {axes, keep}));
      case 7:
        return add(dnnkit::reduce_log_sum_exp(x, {axes, keep}));
      case 8:
        return add(dnnkit::reduce_prod(dnnkit::tanh(x), {axes, keep}));
      default: {
        const auto axis = static_cast<std::int64_t>(r_.below(n));
        return add(r_.chance(50) ? dnnkit::arg_max(x, {axis, keep, r_.chance(30)}) : dnnkit::arg_min(x, {axis, keep}),
                   true);
      }
    }
  }

  constexpr void normalise() {
    const entry e = any(dnnkit::f32, 1);
    if (!e.t.present()) return;
    const tensor x = e.t;
    const std::size_t n = rank(x);
    const auto axis = static_cast<std::int64_t>(r_.below(n));
    const bool channels = n >= 3 && x.size(1).is_known();
    switch (r_.below(8)) {
      case 0:
      case 1:
        return add(dnnkit::softmax(x, {r_.chance(60) ? -1 : axis}));
      case 2:
        return add(dnnkit::log_softmax(x, {axis}));
      case 3:
      case 4: {
        shape s;
        const std::int64_t from = n > 1 && r_.chance(25) ? -2 : -1;
        for (std::int64_t d = from; d < 0; ++d) s.push_back(x.size(d).is_known() ? x.size(d) : dim(1));
        const tensor scale = parameter(s), shift = parameter(s);
        return add(dnnkit::layer_normalization(x, scale, shift, {.axis = from, .epsilon = 0.01f}));
      }
      case 5: {
        const shape s{x.size(-1).is_known() ? x.size(-1) : dim(1)};
        return add(dnnkit::rms_normalization(x, parameter(s), {.epsilon = 0.01f}));
      }
      default: {
        if (!channels) return;
        const tensor scale = parameter({x.size(1)}), shift = parameter({x.size(1)});
        if (r_.chance(50)) return add(dnnkit::instance_normalization(x, scale, shift, {.epsilon = 0.01f}));
        const std::int64_t groups = x.size(1).value() % 2 == 0 ? 2 : 1;
        return add(dnnkit::group_normalization(x, scale, shift, {.num_groups = groups, .epsilon = 0.01f}));
      }
    }
  }
};
