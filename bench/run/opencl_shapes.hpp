// SPDX-License-Identifier: MIT
// Products, convolutions and attention as networks have them, and what they compute, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"

namespace bench {

namespace dk = dnnkit;

// An operator with the extents of its operands.
struct shape {
  std::string name;
  dk::op::conv conv;               // of convolutions
  std::vector<std::int64_t> x, w;  // extents of the operands
  bool is_conv = false, has_bias = true, is_transposed = false;
  bool has_channels_last = false;  // of a convolution's input: those of a pixel side by side
  // Of a product: its first factor is what LayerNormalization makes of x, or of its columns.
  bool is_normalised = false, has_columns = false;
  bool is_attention = false;  // of x, queries, and w, keys, with as many values: heads x tokens x numbers

  std::int64_t depth() const { return has_columns ? x[0] : x.back(); }  // of a product
};

// An input of two to four axes.
inline dk::tensor input(dk::builder& g, const char* name, const std::vector<std::int64_t>& e) {
  if (e.size() == 2) return g.input(name, dk::f32, {e[0], e[1]});
  if (e.size() == 3) return g.input(name, dk::f32, {e[0], e[1], e[2]});
  return g.input(name, dk::f32, {e[0], e[1], e[2], e[3]});
}
inline std::int64_t count(const std::vector<std::int64_t>& list) {
  std::int64_t n = 1;
  for (std::int64_t e : list) n *= e;
  return n;
}

inline dk::graph graph_of(const shape& s) {
  dk::builder g;
  const dk::tensor x = input(g, "x", s.x), w = input(g, "w", s.w);
  dk::tensor y;
  if (s.is_attention) {
    const dk::tensor scores = dk::matmul(x, dk::transpose(w, {.perm = {0, 2, 1}})) * 0.125;
    y = dk::matmul(dk::softmax(scores), input(g, "b", s.w));
  } else if (s.is_conv) {
    const dk::tensor pixels = s.has_channels_last ? dk::transpose(x, {.perm = {0, 3, 1, 2}}) : x;
    y = dk::conv(pixels, w, g.input("b", dk::f32, {s.w[0]}), s.conv);
  } else {
    dk::tensor a = s.has_columns ? dk::transpose(x, {.perm = {1, 0}}) : x;
    if (s.is_normalised)
      a = dk::layer_normalization(a, g.input("scale", dk::f32, {s.w[0]}), g.input("shift", dk::f32, {s.w[0]}));
    y = dk::matmul(a, !s.is_transposed  ? w
                      : s.w.size() == 2 ? dk::transpose(w, {.perm = {1, 0}})
                                        : dk::transpose(w, {.perm = {0, 2, 1}}));
    if (s.has_bias) y = y + g.input("b", dk::f32, {s.is_transposed ? s.w[s.w.size() - 2] : s.w.back()});
  }
  if (s.has_bias) y = dk::relu(y);
  g.output("y", y);
  return g.value();
}

// relu(sum + b) at one element of the result, and how many numbers were summed.
struct reference {
  const shape& s;
  const std::vector<float>&x, &w, &b;

  double product(std::int64_t at) const {
    const std::int64_t k = s.depth(), m = s.has_columns ? s.x[1] : s.x[s.x.size() - 2];
    const std::int64_t n = s.is_transposed ? s.w[s.w.size() - 2] : s.w.back();
    const std::int64_t z = at / (m * n), row = at / n % m, column = at % n;
    const std::int64_t wz = s.w.size() > 2 ? z * k * n : 0;
    double sum = b.empty() ? 0 : static_cast<double>(b[static_cast<std::size_t>(column)]);
    const std::vector<double> a = s.is_normalised ? normalised(row, k, m) : std::vector<double>();
    for (std::int64_t i = 0; i < k; ++i)
      sum += (s.is_normalised ? a[static_cast<std::size_t>(i)]
                              : static_cast<double>(x[static_cast<std::size_t>((z * m + row) * k + i)])) *
             static_cast<double>(w[static_cast<std::size_t>(wz + (s.is_transposed ? column * k + i : i * n + column))]);
    return sum;
  }
  // A row of the first factor, which is normalised with a scale and a shift of 1.
  std::vector<double> normalised(std::int64_t row, std::int64_t k, std::int64_t m) const {
    std::vector<double> a;
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; i < k; ++i)
      a.push_back(static_cast<double>(x[static_cast<std::size_t>(s.has_columns ? i * m + row : row * k + i)]));
    for (double e : a) mean += e / static_cast<double>(k);
    for (double e : a) variance += (e - mean) * (e - mean) / static_cast<double>(k);
    for (double& e : a) e = (e - mean) / std::sqrt(variance + 1e-5) + 1;
    return a;
  }
  // An element of softmax(x w' / 8) b.
  double attention(std::int64_t at) const {
    const std::int64_t queries = s.x[1], keys = s.w[1], depth = s.x[2];
    const std::int64_t head = at / (queries * depth), query = at / depth % queries, column = at % depth;
    std::vector<double> scores;
    for (std::int64_t k = 0; k < keys; ++k) {
      double sum = 0;
      for (std::int64_t i = 0; i < depth; ++i)
        sum += static_cast<double>(x[static_cast<std::size_t>((head * queries + query) * depth + i)]) *
               static_cast<double>(w[static_cast<std::size_t>((head * keys + k) * depth + i)]);
      scores.push_back(sum / 8);
    }
    const double largest = *std::max_element(scores.begin(), scores.end());
    double all = 0, sum = 0;
    for (std::int64_t k = 0; k < keys; ++k) {
      const double weight = std::exp(scores[static_cast<std::size_t>(k)] - largest);
      all += weight;
      sum += weight * static_cast<double>(b[static_cast<std::size_t>((head * keys + k) * depth + column)]);
    }
    return sum / all;
  }
  double convolution(std::int64_t at, std::int64_t ho, std::int64_t wo) const {
    const std::size_t rows = s.has_channels_last ? 1 : 2;
    const std::int64_t h = s.x[rows], width = s.x[rows + 1], kh = s.w[2], kw = s.w[3];
    const std::int64_t channel = at / (ho * wo), oy = at / wo % ho, ox = at % wo;
    const std::int64_t first = channel / (s.w[0] / s.conv.group) * s.w[1];
    double sum = static_cast<double>(b[static_cast<std::size_t>(channel)]);
    for (std::int64_t c = 0; c < s.w[1]; ++c)
      for (std::int64_t ky = 0; ky < kh; ++ky)
        for (std::int64_t kx = 0; kx < kw; ++kx) {
          const std::int64_t iy = oy * s.conv.strides[0] + ky - s.conv.pads[0];
          const std::int64_t ix = ox * s.conv.strides[1] + kx - s.conv.pads[1];
          if (iy < 0 || iy >= h || ix < 0 || ix >= width) continue;
          const std::int64_t from =
              s.has_channels_last ? (iy * width + ix) * s.x[3] + first + c : ((first + c) * h + iy) * width + ix;
          sum += static_cast<double>(x[static_cast<std::size_t>(from)]) *
                 static_cast<double>(w[static_cast<std::size_t>(((channel * s.w[1] + c) * kh + ky) * kw + kx)]);
        }
    return sum;
  }
};

inline std::vector<shape> shapes() {
  std::vector<shape> list;
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    list.push_back(
        {"product " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k), {}, {m, k}, {k, n}});
  };
  const std::int64_t products[][3] = {{128, 768, 768},  {128, 2304, 768}, {128, 3072, 768},   {128, 768, 3072},
                                      {197, 768, 768},  {197, 2304, 768}, {197, 3072, 768},   {197, 768, 3072},
                                      {3136, 384, 96},  {3136, 96, 384},  {784, 768, 192},    {784, 192, 768},
                                      {196, 1536, 384}, {196, 384, 1536}, {49, 3072, 768},    {49, 768, 3072},
                                      {196, 1024, 256}, {196, 256, 1024}, {1024, 1024, 1024}, {4096, 4096, 4096}};
  for (const auto& p : products) product(p[0], p[1], p[2]);
  // On which what tiles cost (opencl/product_tile.hpp) was not fitted.
  const std::int64_t others[][3] = {{384, 768, 3072}, {77, 3072, 768},  {257, 1024, 4096}, {512, 512, 2048},
                                    {300, 256, 2048}, {1500, 384, 384}, {50, 2048, 512},   {577, 768, 768}};
  for (const auto& p : others) product(p[0], p[1], p[2]);
  list.push_back({"scores 12 of 197x197x64", {}, {12, 197, 64}, {12, 197, 64}, false, false, true});
  list.push_back({"values 12 of 197x64x197", {}, {12, 197, 197}, {12, 197, 64}, false, false, false});
  list.push_back({"row 1x1000x2048, weights transposed", {}, {1, 2048}, {1000, 2048}, false, true, true});
  list.push_back({"row 1x3072x768", {}, {1, 768}, {768, 3072}});
  // The logits of a language model.
  list.push_back({"logits 128x50257x768, transposed", {}, {128, 768}, {50257, 768}, false, false, true});
  list.push_back({"logits 128x50257x768", {}, {128, 768}, {768, 50257}, false, false});
  const auto normalised = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool has_columns = false) {
    product(m, n, k);
    shape& s = list.back();
    s.name = (has_columns ? "normalised columns " : "normalised ") + s.name;
    s.is_normalised = true, s.has_columns = has_columns;
    if (has_columns) s.x = {k, m};
  };
  for (const bool has_columns : {false, true})
    for (const std::int64_t size : {56, 28, 14}) normalised(size * size, 4 * 5376 / size, 5376 / size, has_columns);
  const auto attention = [&](std::int64_t heads, std::int64_t queries, std::int64_t keys, std::int64_t depth) {
    shape s{"attention " + std::to_string(heads) + "x" + std::to_string(depth) + ", " +
                (queries == keys ? "" : std::to_string(queries) + " by ") + std::to_string(keys) + " keys",
            {},
            {heads, queries, depth},
            {heads, keys, depth}};
    s.is_attention = true;
    s.has_bias = false;
    list.push_back(s);
  };
  for (std::int64_t keys : {128, 197, 384, 1024}) attention(12, keys, keys, 64);
  attention(8, 4096, 4096, 64);
  attention(12, 1, 1024, 64);
  attention(32, 49, 49, 32);
  attention(8, 1024, 77, 80);
  attention(16, 257, 257, 80);
  attention(8, 512, 512, 128);
  const auto conv = [&](std::int64_t in, std::int64_t size, std::int64_t out, std::int64_t k, std::int64_t stride,
                        std::int64_t group = 1, bool has_channels_last = false) {
    shape s{"conv " + std::to_string(in) + "x" + std::to_string(size) + "x" + std::to_string(size) + "->" +
                std::to_string(out) + " " + std::to_string(k) + "x" + std::to_string(k) + "/" + std::to_string(stride),
            {},
            {1, in, size, size},
            {out, in / group, k, k},
            true};
    if (group != 1) s.name += ", " + std::to_string(group) + " groups";
    s.conv.strides = {stride, stride};
    if (k != stride) s.conv.pads = {k / 2, k / 2, k / 2, k / 2};
    s.conv.group = group;
    if (has_channels_last) {
      s.name += ", channels last";
      s.x = {1, size, size, in};
      s.has_channels_last = true;
    }
    list.push_back(s);
  };
  conv(3, 224, 64, 7, 2);
  conv(64, 56, 64, 1, 1);
  conv(64, 56, 64, 3, 1);
  conv(64, 56, 256, 1, 1);
  conv(256, 56, 64, 1, 1);
  conv(256, 56, 128, 1, 1);
  conv(128, 56, 128, 3, 2);
  conv(256, 56, 512, 1, 2);
  conv(128, 28, 512, 1, 1);
  conv(512, 28, 128, 1, 1);
  conv(128, 28, 128, 3, 1);
  conv(512, 28, 256, 1, 1);
  conv(256, 28, 256, 3, 2);
  conv(512, 28, 1024, 1, 2);
  conv(256, 14, 1024, 1, 1);
  conv(1024, 14, 256, 1, 1);
  conv(256, 14, 256, 3, 1);
  conv(1024, 14, 512, 1, 1);
  conv(512, 14, 512, 3, 2);
  conv(1024, 14, 2048, 1, 2);
  conv(512, 7, 2048, 1, 1);
  conv(2048, 7, 512, 1, 1);
  conv(512, 7, 512, 3, 1);
  for (const bool last : {true, false})
    for (const std::int64_t channels : {96, 192, 384, 768})
      conv(channels, 5376 / channels, channels, 7, 1, channels, last);
  const auto depthwise = [&](std::int64_t channels, std::int64_t size, std::int64_t k, std::int64_t stride) {
    conv(channels, size, channels, k, stride, channels);
  };
  depthwise(32, 112, 3, 1), depthwise(96, 112, 3, 2), depthwise(144, 56, 3, 1), depthwise(192, 28, 3, 1);
  depthwise(384, 14, 3, 1), depthwise(576, 14, 3, 2), depthwise(960, 7, 3, 1), depthwise(240, 28, 5, 1);
  depthwise(672, 14, 5, 1), depthwise(1152, 7, 5, 1);
  conv(3, 224, 96, 4, 4), conv(3, 224, 768, 16, 16);
  for (const bool last : {true, false})
    for (const std::int64_t channels : {96, 192, 384}) conv(channels, 5376 / channels, 2 * channels, 2, 2, 1, last);
  conv(256, 56, 256, 3, 1, 32);
  // 3 x 3 taps: VGG-16's, those of two U-Nets, of YOLOv8n and of a style transfer.
  conv(64, 224, 64, 3, 1), conv(128, 112, 128, 3, 1), conv(256, 56, 256, 3, 1), conv(256, 28, 512, 3, 1);
  conv(512, 28, 512, 3, 1), conv(512, 14, 512, 3, 1), conv(32, 256, 32, 3, 1), conv(64, 128, 64, 3, 1);
  conv(32, 80, 32, 3, 1), conv(64, 40, 64, 3, 1), conv(64, 80, 64, 3, 1), conv(128, 20, 128, 3, 1);
  conv(16, 160, 16, 3, 1), conv(320, 64, 320, 3, 1);
  return list;
}

}  // namespace bench
