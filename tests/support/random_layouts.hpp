// SPDX-License-Identifier: MIT
// Random graphs of kernels that want their operands in different orders: images that convolutions and pools go over,
// tokens that products and normalisations go over, and the way from the one to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/random_source.hpp"

namespace harness {

class random_layouts {
 public:
  random_layouts(dnnkit::builder& g, std::uint64_t seed) : g_(g), r_(seed * 0x2545f4914f6cdd1du) {}

  void build() {
    const std::int64_t channels = r_.pick({3, 8, 12, 16, 24, 32, 64}), size = r_.pick({6, 8, 14, 16, 24});
    all_.push_back(g_.input("image", dnnkit::f32, {1, channels, size, r_.pick({8, 14, 16, 20})}));
    if (r_.chance(40))
      all_.push_back(g_.input("tokens", dnnkit::f32, {1, r_.pick({12, 32, 49}), r_.pick({16, 24, 64})}));
    for (std::int64_t n = r_.between(3, 16); n > 0; --n) add();
    std::size_t outputs = 0;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (read_.size() <= i || !read_[i]) {
        dnnkit::text name("y");
        name << static_cast<std::int64_t>(outputs++);
        g_.output(name.view(), is_input(all_[i]) ? dnnkit::relu(all_[i]) : all_[i]);
      }
  }

 private:
  using tensor = dnnkit::tensor;

  bool is_input(tensor t) const { return g_.value().at(t.id()).from == dnnkit::origin::input; }
  static std::int64_t extent(tensor t, std::size_t d) { return t.dims()[d].value(); }
  tensor weight(dnnkit::shape_argument s) {
    dnnkit::text name("w");
    name << static_cast<std::int64_t>(weights_++);
    return g_.weight(name.view(), s);
  }
  // One of those before, mostly of the last; `rank` 0: any.
  tensor one_of(std::size_t rank) {
    for (int tries = 0; tries < 30; ++tries) {
      const std::size_t back = r_.chance(60) ? 0 : r_.below(all_.size()), i = all_.size() - 1 - back;
      if (rank != 0 && all_[i].dims().size() != rank) continue;
      read_.resize(all_.size(), false);
      read_[i] = true;
      return all_[i];
    }
    return {};
  }
  void keep(tensor t) { all_.push_back(t); }

  void add() {
    switch (r_.below(14)) {
      case 0:
      case 1:
      case 2:
        return convolve();
      case 3:
        if (const tensor x = one_of(4); x.present())
          keep(r_.chance(50) ? dnnkit::max_pool(x, {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}})
                             : dnnkit::average_pool(x, {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}}));
        return;
      case 4:
        if (const tensor x = one_of(4); x.present())
          keep(dnnkit::transpose(dnnkit::reshape(x, {1, extent(x, 1), extent(x, 2) * extent(x, 3)}),
                                 {.perm = {0, 2, 1}}));
        return;
      case 5:
        if (const tensor x = one_of(3); x.present()) {
          const std::int64_t wide = r_.pick({16, 24, 64});
          keep(dnnkit::matmul(x, weight({extent(x, 2), wide})) + weight({wide}));
        }
        return;
      case 6:
        return normalise();
      case 7:
        if (const tensor x = one_of(0); x.present())
          keep(dnnkit::softmax(x, {.axis = r_.between(1, static_cast<std::int64_t>(x.dims().size()) - 1)}));
        return;
      case 8:
        if (const tensor x = one_of(3); x.present()) keep(dnnkit::transpose(x, {.perm = {0, 2, 1}}));
        return;
      case 9:
        if (const tensor x = one_of(3); x.present())  // scores, and what they weigh
          keep(dnnkit::matmul(dnnkit::softmax(dnnkit::matmul(x, dnnkit::transpose(x, {.perm = {0, 2, 1}}))), x));
        return;
      case 10:
        if (const tensor x = one_of(4); x.present())
          keep(x * dnnkit::sigmoid(dnnkit::reduce_mean(x, {.axes = {2, 3}})));
        return;
      case 11:
        if (const tensor x = one_of(0); x.present())
          keep(dnnkit::reduce_max(x, {.axes = {r_.between(1, static_cast<std::int64_t>(x.dims().size()) - 1)}}));
        return;
      default:
        return combine();
    }
  }
  void convolve() {
    const tensor x = one_of(4);
    if (!x.present()) return;
    const std::int64_t in = extent(x, 1), out = r_.pick({3, 8, 16, 20, 24, 32, 64}), taps = r_.pick({1, 3});
    const bool filters = r_.chance(20);
    if (extent(x, 2) < 3 || extent(x, 3) < 3) return;
    const std::int64_t pad = taps / 2;
    keep(dnnkit::conv(x, weight({filters ? in : out, filters ? 1 : in, taps, taps}),
                      {.strides = dnnkit::int_list{r_.chance(20) ? 2 : 1, 1},
                       .pads = {pad, pad, pad, pad},
                       .group = filters ? in : 1}));
  }
  void normalise() {
    const tensor x = one_of(0);
    if (!x.present()) return;
    const std::int64_t last = extent(x, x.dims().size() - 1), channels = extent(x, 1);
    if (r_.chance(50)) return keep(dnnkit::layer_normalization(x, weight({last}), weight({last})));
    keep(dnnkit::instance_normalization(x, weight({channels}), weight({channels})));
  }
  void combine() {
    const tensor x = one_of(0);
    if (!x.present()) return;
    for (int tries = 0; tries < 6; ++tries)
      if (const tensor y = one_of(0); y.present() && y.id() != x.id() && y.dims() == x.dims()) return keep(x + y);
    keep(dnnkit::relu(x));
  }

  dnnkit::builder& g_;
  random_source r_;
  std::vector<tensor> all_;
  std::vector<bool> read_;
  std::int32_t weights_ = 0;
};

}  // namespace harness
