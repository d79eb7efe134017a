// SPDX-License-Identifier: MIT
// ONNX's transforms, windows of samples, sampled images and recurrent layers, whose sizes are inputs and whose words
// are lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/convert_attributes.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx {

template <> struct words_of<grid_sample_mode> {
  static constexpr std::string_view list[] = {"bilinear", "nearest", "bicubic"};
};
template <> struct words_of<grid_padding> {
  static constexpr std::string_view list[] = {"zeros", "border", "reflection"};
};
template <> struct words_of<roi_pooling> { static constexpr std::string_view list[] = {"avg", "max"}; };
template <> struct words_of<roi_coordinates> {
  static constexpr std::string_view list[] = {"half_pixel", "output_half_pixel"};
};
template <> struct words_of<recurrent_direction> {
  static constexpr std::string_view list[] = {"forward", "reverse", "bidirectional"};
};
template <> struct words_of<recurrent_activation> {
  static constexpr std::string_view list[] = {
      "Relu",       "Tanh",        "Sigmoid", "Affine",   "LeakyRelu", "ThresholdedRelu",
      "ScaledTanh", "HardSigmoid", "Elu",     "Softsign", "Softplus"};
};

namespace detail {

// The axis is an attribute up to opset 19, an input later.
inline void convert_dft(node_context& c) {
  op::dft dft;
  dft.inverse = c.flag("inverse", false);
  dft.onesided = c.flag("onesided", false);
  if (c.opset < 20) dft.axis = c.integer("axis", 1);
  else dft.axis = c.has(2) ? c.number(2, "the axis") : -2;
  if (c.has(1)) dft.dft_length = c.extent(1, "dft_length");
  c.out(0, c.apply(dft, {c.in(0)}));
}

// Inputs: signal, frame_step, window, frame_length; the window says the length where the last one is left out.
inline void convert_stft(node_context& c) {
  op::stft stft;
  stft.onesided = c.flag("onesided", true);
  stft.frame_step = c.number(1, "frame_step");
  if (c.has(3)) stft.frame_length = c.number(3, "frame_length");
  else {
    node_context::require(c.has(2) && c.rank(2) == 1 && c.dims(2)[0].is_known(), "needs a window or frame_length");
    stft.frame_length = c.dims(2)[0].value();
  }
  c.out(0, c.has(2) ? c.apply(stft, {c.in(0), c.in(2)}) : c.apply(stft, {c.in(0)}));
}

template <class Op> void convert_window(node_context& c) {
  Op window;
  window.size = c.extent(0, "the size");
  window.periodic = c.flag("periodic", true);
  if (c.has_attribute("output_datatype")) read_attribute(c, "output_datatype", window.to);
  c.out(0, c.apply(window, std::vector<tensor>{}));
}

inline void convert_mel_weight_matrix(node_context& c) {
  op::mel_weight_matrix mel;
  mel.num_mel_bins = c.number(0, "num_mel_bins");
  mel.dft_length = c.number(1, "dft_length");
  mel.sample_rate = c.number(2, "sample_rate");
  mel.lower_edge_hertz = static_cast<float>(c.real(3, "lower_edge_hertz"));
  mel.upper_edge_hertz = static_cast<float>(c.real(4, "upper_edge_hertz"));
  if (c.has_attribute("output_datatype")) read_attribute(c, "output_datatype", mel.to);
  c.out(0, c.apply(mel, std::vector<tensor>{}));
}

// Opset 20 calls the modes linear and cubic.
inline void convert_grid_sample(node_context& c) {
  op::grid_sample sample;
  std::string mode = c.word("mode", "bilinear");
  if (mode == "linear" || mode == "cubic") mode = "bi" + mode;
  sample.mode = enumerator<grid_sample_mode>("mode", mode);
  sample.padding_mode = enumerator<grid_padding>("padding_mode", c.word("padding_mode", "zeros"));
  sample.align_corners = c.flag("align_corners", false);
  const tensor x = c.in(0), grid = c.in(1);  // which may be of two types: computed in the wider one
  const dtype wider = size_of(grid.type()) > size_of(x.type()) ? grid.type() : x.type();
  c.out(0, cast_to(c, c.apply(sample, {cast_to(c, x, wider), cast_to(c, grid, wider)}), x.type()));
}

inline void convert_roi_align(node_context& c) {
  op::roi_align align;
  if (c.opset < 16) align.coordinate_transformation_mode = roi_coordinates::output_half_pixel;
  c.out(0, c.apply(attributes_from<op::roi_align>(c, align), c.all_inputs()));
}

inline void convert_einsum(node_context& c) {
  op::einsum sum;
  const std::string equation = c.word("equation", "");
  node_context::require(equation.size() <= sum.equation.capacity(), "the equation is longer than supported");
  for (const char x : equation) sum.equation.push_back(x);
  c.out(0, c.apply(sum, c.all_inputs()));
}

template <class Op> Op recurrent_from(node_context& c) {
  Op layer;
  layer.hidden_size = c.integer("hidden_size", 0);
  layer.direction = enumerator<recurrent_direction>("direction", c.word("direction", "forward"));
  if (const attribute* a = c.find("activations", attribute_type::strings)) {
    node_context::require(a->strings.size() <= layer.activations.capacity(), "has too many activations");
    for (std::string_view word : a->strings)
      layer.activations.push_back(enumerator<recurrent_activation>("activations", word));
  }
  if (const auto list = c.reals("activation_alpha"))
    layer.activation_alpha = list_of<float_list>(*list, "activation_alpha");
  if (const auto list = c.reals("activation_beta"))
    layer.activation_beta = list_of<float_list>(*list, "activation_beta");
  layer.clip = c.real_attribute("clip", 0);
  layer.input_forget = c.flag("input_forget", false);
  layer.linear_before_reset = c.flag("linear_before_reset", false);
  layer.layout = c.integer("layout", 0);
  return layer;
}

// One node for each output that is read.
template <class Op> void out_of_recurrent(node_context& c, Op layer, const std::vector<tensor>& inputs) {
  for (std::size_t i = 0; i < c.node.outputs.size(); ++i) {
    layer.output = static_cast<std::int64_t>(i);
    if (c.wants(i)) c.out(i, c.apply(layer, inputs));
  }
}
template <class Op> void convert_recurrent(node_context& c) {
  if (c.opset < 7) c.ignore("output_sequence");
  out_of_recurrent(c, recurrent_from<Op>(c), given_inputs(c));
}

}  // namespace detail

}  // namespace dnnkit::onnx
