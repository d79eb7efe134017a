// SPDX-License-Identifier: MIT
// Quantised arithmetic with ONNX's exact integer semantics: MatMulInteger and ConvInteger, which kernels know, and
// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, QLinearMatMul, QLinearConv, said in terms of these, casts
// and arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/expand.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/reduction.hpp"
#include "dnnkit/op/slice.hpp"

namespace dnnkit {

namespace detail {

struct integer_range {
  double least, most;
};
constexpr integer_range range_of(dtype t) {
  switch (t) {
    case i8:
      return {-128, 127};
    case u8:
      return {0, 255};
    case i16:
      return {-32768, 32767};
    case u16:
      return {0, 65535};
    default:
      return {-2147483648.0, 2147483647.0};
  }
}
constexpr bool is_quantised(dtype t) { return t == i8 || t == u8 || t == i16 || t == u16; }

// A parameter of one element, or of one for each position of `axis`, in a shape that broadcasts to x; one of blocks, of
// x's rank, does already.
template <class T> constexpr T along_axis(T parameter, T x, std::int64_t axis) {
  const dim count = element_count(x.owner().value().symbols, parameter.dims());
  if (count == dim(1)) return parameter.rank() == 0 ? parameter : x.owner().apply(op::reshape{}, {parameter});
  if (parameter.rank() > 1) return parameter;
  shape s{count};
  for (std::int64_t d = (axis < 0 ? axis + x.rank() : axis) + 1; d < x.rank(); ++d) s.push_back(1);
  return x.owner().apply(op::reshape{s}, {parameter});
}

// A parameter with one element for `block` positions of x along `axis`, each repeated as often; block 0: as it is.
template <class T> constexpr T for_blocks(T parameter, T x, std::int64_t axis, std::int64_t block) {
  if (block == 0 || !parameter.present()) return parameter;
  auto& owner = x.owner();
  const std::size_t along = axis_position(axis, x.dims().size());
  shape one_more = parameter.dims(), repeated = parameter.dims();
  const std::int64_t wanted = x.dims()[along].value();
  if (block > wanted) block = wanted;  // one block, of which the rest is nowhere
  const std::int64_t count = repeated[along].value() * block;
  one_more.insert(along + 1, block);
  repeated[along] = count;
  const T apart = dnnkit::unsqueeze(parameter, {.axes = {static_cast<std::int64_t>(along) + 1}});
  const T all = owner.apply(op::reshape{repeated}, {owner.apply(op::expand{one_more}, {apart})});
  if (count == wanted) return all;
  return dnnkit::slice(all, {.starts = {0}, .ends = {wanted}, .axes = {static_cast<std::int64_t>(along)}});
}
// Input i has one element for `block` positions of input 0 along `axis`, and as many as that elsewhere.
constexpr bool require_blocks(inference& c, std::size_t i, std::int64_t axis, std::int64_t block) {
  if (!c.has(i)) return true;
  if (!c.normalise_axis(axis, c.rank(0)) || !c.require_same_rank(0, i)) return false;
  for (std::size_t d = 0; d < c.rank(0); ++d) {
    dim expected = c.in(0)[d];
    if (d == static_cast<std::size_t>(axis)) {
      if (!c.require(expected.is_known() && c.in(i)[d].is_known(), "blocks need known extents")) return false;
      expected = expected.value() / block + (expected.value() % block != 0);
    }
    if (!c.require_equal(c.in(i)[d], "an extent of the scales or zero points", expected, "the number of blocks"))
      return false;
  }
  return true;
}

// What steps of a quantised type are counted in beside reals of type `real`: 16-bit floats hold those of 8 bits
// exactly.
constexpr dtype counting_type(dtype real, dtype quantised) {
  return is_half(real) && size_of(quantised) > 1 ? f32 : real;
}
// saturate(round(x) + zero point); halves go to the even neighbour
template <class T> constexpr T rounded_to(T x, T zero_point, dtype to, std::int64_t axis) {
  const integer_range range = range_of(to);
  const dtype type = counting_type(x.type(), to);
  T y = dnnkit::round(x);
  if (type != x.type()) y = dnnkit::cast(y, {.to = type});
  if (zero_point.present()) y = y + dnnkit::cast(along_axis(zero_point, x, axis), {.to = type});
  auto& owner = x.owner();
  y = dnnkit::min(dnnkit::max(y, owner.scalar(range.least, type)), owner.scalar(range.most, type));
  return dnnkit::cast(y, {.to = to});
}
// saturate(round(x / scale) + zero point)
template <class T> constexpr T quantised(T x, T scale, T zero_point, dtype to, std::int64_t axis) {
  return rounded_to(x / along_axis(scale, x, axis), zero_point, to, axis);
}
// x - zero point as i32; per position of `axis` where the zero point says so
template <class T> constexpr T centred(T x, T zero_point, std::int64_t axis) {
  const T wide = dnnkit::cast(x, {.to = i32});
  return zero_point.present() ? wide - dnnkit::cast(along_axis(zero_point, x, axis), {.to = i32}) : wide;
}
// Of bytes with 32 bits, of more with 64: differences do not overflow.
template <class T> constexpr auto widened(T x) {
  if constexpr (!std::integral<T>) return x;
  else return static_cast<std::conditional_t<(sizeof(T) < sizeof(std::int64_t)), std::int32_t, std::int64_t>>(x);
}
// The same of an element at a time: x(coordinates), less the zero point (input `number`) of position i of `axis`.
template <class C, class X, class Z>
constexpr auto centred_elements(const C& c, X x, Z zero_point, std::size_t number, std::size_t axis) {
  const auto count = [&] {
    if constexpr (is_present<Z>) return input_count(c, number);
    else return absent{};
  }();
  return [=]<class O>(const O& i) {
    using position = coordinate_of<O>;
    const auto n = widened(x(i));
    if constexpr (is_present<Z>) {
      const position of_axis = select(count == position(1), position(0), i[axis]);
      return n - widened(zero_point(O{of_axis}));
    } else {
      return n;
    }
  };
}
template <class T> constexpr T input_or_none(const vector<T>& in, std::size_t i) { return i < in.size() ? in[i] : T{}; }

// Input i has one element, or one for each position of `axis` of input x.
constexpr bool require_parameter(inference& c, std::size_t i, std::size_t x, std::int64_t axis) {
  if (!c.has(i)) return true;
  const dim count = c.count(i);
  if (count == dim(1)) return true;
  return c.normalise_axis(axis, c.rank(x)) && c.require_rank(i, 1, 1) &&
         c.require_equal(count, "the number of scales or zero points", c.in(x)[static_cast<std::size_t>(axis)],
                         "the extent of the axis");
}
// Inputs 1 and 2, the scale and the zero point of input 0: as above, or with one element a block.
constexpr bool require_parameters(inference& c, std::int64_t axis, std::int64_t block) {
  if (!c.require(block >= 0, "the size of a block is negative")) return false;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}})
    if (block > 0 ? !require_blocks(c, i, axis, block) : !require_parameter(c, i, 0, axis)) return false;
  return true;
}
// What is read of such an input for a position of output axis `of`.
constexpr footprint reads_parameter(const inference& c, std::size_t i, std::size_t of) {
  footprint f = footprint::all(c.rank(i));
  if (c.rank(i) == 1 && !(c.in(i)[0] == dim(1))) f.axes[0] = needs::same(of);
  return f;
}
constexpr bool require_quantised(inference& c, std::size_t i) {
  return c.require(is_quantised(c.type(i)), "quantised elements must be i8, u8, i16 or u16");
}
inline constexpr traits quantised_product{.map = mapping::many_to_many};

template <std::size_t N> constexpr std::array<element, N> all_own() {
  std::array<element, N> types{};
  for (element& e : types) e = element::own;
  return types;
}
template <std::size_t N> inline constexpr std::array<element, N> own_types = all_own<N>();

// The output's shape is that of `op` (MatMul, Conv) of inputs a and b.
template <class Op> constexpr void infer_product(inference& c, const Op& op, std::size_t a, std::size_t b, dtype type) {
  const tensor_type left{i32, c.in(a)}, right{i32, c.in(b)};
  inference inner(c.table());
  inner.add_input(left);
  inner.add_input(right);
  op.infer(inner);
  if (!inner.error().empty()) c.fail(inner.error());
  else c.out(type, inner.outputs()[0].dims);
}

}  // namespace detail

namespace op {

// x, scale, optional zero point (which gives the output's type; else `to` does); one for all, or one for each position
// of `axis`, or for block_size positions. x is divided in the scale's type.
struct quantize_linear {
  std::int64_t axis = 1;
  dtype to = u8;
  std::int64_t block_size = 0;

  static constexpr std::string_view name = "QuantizeLinear";
  static constexpr std::string_view operands = "x, scale, zero_point";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 3, optional_inputs = 1;
  static constexpr std::array<element, 3> elements = detail::own_types<3>;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("to", self.to);
    visit("block_size", self.block_size);
  }
  constexpr void infer(inference& c) const {
    if (!detail::require_parameters(c, axis, block_size)) return;
    const dtype type = c.has(2) ? c.type(2) : to;
    if (c.require(detail::is_quantised(type), "quantised elements must be i8, u8, i16 or u16")) c.out(type, c.in(0));
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const T x = in[0].type() == in[1].type() ? in[0] : dnnkit::cast(in[0], {.to = in[1].type()});
    const T scale = detail::for_blocks(in[1], x, axis, block_size);
    const T zero_point = detail::for_blocks(detail::input_or_none(in, 2), x, axis, block_size);
    return detail::quantised(x, scale, zero_point, zero_point.present() ? zero_point.type() : to, axis);
  }
};

// (x - zero point) * scale
struct dequantize_linear {
  std::int64_t axis = 1, block_size = 0;

  static constexpr std::string_view name = "DequantizeLinear";
  static constexpr std::string_view operands = "x, scale, zero_point";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 3, optional_inputs = 1;
  static constexpr std::array<element, 3> elements = detail::own_types<3>;
  static constexpr traits properties{};
  static constexpr void attributes(auto& self, auto&& visit) {
    visit("axis", self.axis);
    visit("block_size", self.block_size);
  }
  constexpr void infer(inference& c) const {
    if (!c.require(is_integral(c.type(0)), "quantised elements must be integers")) return;
    if (!detail::require_parameters(c, axis, block_size)) return;
    c.out(c.type(1), c.in(0));
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const T zero_point = detail::for_blocks(detail::input_or_none(in, 2), in[0], axis, block_size);
    const T scale = detail::for_blocks(in[1], in[0], axis, block_size);
    const T centred = detail::centred(in[0], zero_point, axis);
    const dtype real = in[1].type(), type = detail::counting_type(real, in[0].type());
    const T wide = type == real ? scale : dnnkit::cast(scale, {.to = type});
    const T y = dnnkit::cast(centred, {.to = type}) * detail::along_axis(wide, in[0], axis);
    return type == real ? y : dnnkit::cast(y, {.to = real});
  }
};

// x (f32) quantised to u8 over the range of its elements and 0; output: 0 those elements, 1 the scale, 2 the zero
// point.
struct dynamic_quantize_linear {
  std::int64_t output = 0;

  static constexpr std::string_view name = "DynamicQuantizeLinear";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 1;
  static constexpr element_kinds accepts = element_kinds::floating;
  static constexpr traits properties{.map = mapping::many_to_many};
  static constexpr void attributes(auto& self, auto&& visit) { visit("output", self.output); }
  constexpr void infer(inference& c) const {
    if (output == 0) c.out(u8, c.in(0));
    else c.out(output == 1 ? c.type(0) : u8, {});
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const T x = in[0], zero = x.owner().scalar(0, x.type()), most = x.owner().scalar(255, x.type());
    const T low = dnnkit::min(dnnkit::reduce_min(x, {.keepdims = false}), zero);
    const T high = dnnkit::max(dnnkit::reduce_max(x, {.keepdims = false}), zero);
    const T range = (high - low) / most;
    const T scale = dnnkit::where(dnnkit::equal(range, zero), x.owner().scalar(1, x.type()), range);
    if (output == 1) return scale;
    const T position = dnnkit::min(dnnkit::max(dnnkit::round(zero - low / scale), zero), most);
    if (output == 2) return dnnkit::cast(position, {.to = u8});
    const T y = dnnkit::min(dnnkit::max(dnnkit::round(x / scale) + position, zero), most);
    return dnnkit::cast(y, {.to = u8});
  }
};

// A, B, optional zero points of A (one, or one a row) and of B (one, or one a column) -> the product as i32.
struct matmul_integer {
  static constexpr std::string_view name = "MatMulInteger";
  static constexpr std::string_view operands = "a, b, a_zero_point, b_zero_point";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 4, optional_inputs = 2;
  static constexpr element_kinds accepts = element_kinds::integral;
  static constexpr std::array<element, 4> elements = detail::own_types<4>;
  static constexpr traits properties = detail::quantised_product;

  static constexpr void infer(inference& c) {
    if (!detail::require_quantised(c, 0) || !detail::require_quantised(c, 1)) return;
    if (detail::require_parameter(c, 2, 0, -2) && detail::require_parameter(c, 3, 1, -1))
      detail::infer_product(c, matmul{}, 0, 1, i32);
  }
  static constexpr footprint reads(const inference& c, std::size_t input) {
    if (input < 2) return matmul{}.reads(c, input);
    const std::size_t rank = c.outputs()[0].dims.size(), behind = input == 2 && c.rank(1) > 1 ? 2 : 1;
    return detail::reads_parameter(c, input, rank - behind);
  }
  template <class C, class A, class B, class Za = absent, class Zb = absent>
  constexpr auto at(const C& c, const auto& o, A a, B b, Za a_zero = {}, Zb b_zero = {}) const {
    return matmul{}.at(c, o, detail::centred_elements(c, a, a_zero, 2, c.rank(0) < 2 ? 0 : c.rank(0) - 2),
                       detail::centred_elements(c, b, b_zero, 3, c.rank(1) - 1));
  }
  constexpr dim flops(const inference& c) const { return matmul{}.flops(c); }
};

// X, W, optional zero points of X (one) and of W (one, or one an output channel) -> the convolution as i32. Around X
// lies its zero point.
struct conv_integer {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};
  std::int64_t group = 1;

  static constexpr std::string_view name = "ConvInteger";
  static constexpr std::string_view operands = "x, weight, x_zero_point, weight_zero_point";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 4, optional_inputs = 2;
  static constexpr element_kinds accepts = element_kinds::integral;
  static constexpr std::array<element, 4> elements = detail::own_types<4>;
  static constexpr traits properties{.map = mapping::many_to_many, .contiguous_axis = 1};
  static constexpr void attributes(auto& self, auto&& visit) { conv::attributes(self, visit); }

  // The same of any numbers.
  constexpr conv plain() const { return {kernel_shape, strides, pads, dilations, group}; }

  constexpr void infer(inference& c) const {
    if (!detail::require_quantised(c, 0) || !detail::require_quantised(c, 1)) return;
    if (detail::require_parameter(c, 2, 0, 1) && detail::require_parameter(c, 3, 1, 0))
      detail::infer_product(c, plain(), 0, 1, i32);
  }
  constexpr footprint reads(const inference& c, std::size_t input) const {
    return input < 2 ? plain().reads(c, input) : detail::reads_parameter(c, input, 1);
  }
  template <class C, class X, class W, class Zx = absent, class Zw = absent>
  constexpr auto at(const C& c, const auto& o, X x, W weight, Zx x_zero = {}, Zw weight_zero = {}) const {
    return plain().at(c, o, detail::centred_elements(c, x, x_zero, 2, 1),
                      detail::centred_elements(c, weight, weight_zero, 3, 0));
  }
  constexpr dim flops(const inference& c) const {
    extent products = c.number(1);
    for (std::size_t i = 1; i < c.rank(1); ++i) products = products * c.size(1, i);
    return extent{&c.table(), element_count(c.table(), c.outputs()[0].dims)} * products * 2;
  }
};

// a, its scale and zero point, b, its scale and zero point, scale and zero point of the product -> the product.
struct qlinear_matmul {
  static constexpr std::string_view name = "QLinearMatMul";
  static constexpr std::string_view operands =
      "a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 8;
  static constexpr std::array<element, 8> elements = detail::own_types<8>;
  static constexpr traits properties = detail::quantised_product;

  static constexpr void infer(inference& c) {
    if (!detail::require_quantised(c, 0) || !detail::require_quantised(c, 3) || !detail::require_quantised(c, 7))
      return;
    for (std::size_t i = 1; i <= 2; ++i)
      if (!detail::require_parameter(c, i, 0, -2) || !detail::require_parameter(c, i + 3, 3, -1)) return;
    detail::infer_product(c, matmul{}, 0, 3, c.type(7));
  }
  template <class T> static constexpr T expand(const vector<T>& in) {
    const T product = in[0].owner().apply(matmul_integer{}, {in[0], in[3], in[2], in[5]});
    // one number for each column, as ONNX Runtime has it, or each element
    const T scale = detail::along_axis(in[1], in[0], -2) * detail::along_axis(in[4], in[3], -1);
    const T units = scale / detail::along_axis(in[6], product, -2);
    return detail::rounded_to(dnnkit::cast(product, {.to = in[1].type()}) * units, in[7], in[7].type(), -2);
  }
};

// x, its scale and zero point, w, its scales and zero points (one, or one an output channel), scale and zero point of
// the result, optional bias (i32, in units of x's scale times w's) -> the convolution.
struct qlinear_conv {
  int_list kernel_shape = {}, strides = {}, pads = {}, dilations = {};
  std::int64_t group = 1;

  static constexpr std::string_view name = "QLinearConv";
  static constexpr std::string_view operands =
      "x, x_scale, x_zero_point, weight, weight_scale, weight_zero_point, y_scale, y_zero_point, bias";
  static constexpr form kind = form::composite;
  static constexpr std::size_t inputs = 9, optional_inputs = 1;
  static constexpr std::array<element, 9> elements = detail::own_types<9>;
  static constexpr traits properties = detail::quantised_product;
  static constexpr void attributes(auto& self, auto&& visit) { conv::attributes(self, visit); }

  constexpr void infer(inference& c) const {
    if (!detail::require_quantised(c, 0) || !detail::require_quantised(c, 3) || !detail::require_quantised(c, 7))
      return;
    for (std::size_t i = 1; i <= 2; ++i)
      if (!detail::require_parameter(c, i + 3, 3, 0)) return;
    detail::infer_product(c, conv{kernel_shape, strides, pads, dilations, group}, 0, 3, c.type(7));
  }
  template <class T> constexpr T expand(const vector<T>& in) const {
    const conv_integer attributes{kernel_shape, strides, pads, dilations, group};
    T sum = in[0].owner().apply(attributes, {in[0], in[3], in[2], in[5]});
    if (const T bias = detail::input_or_none(in, 8); bias.present()) sum = sum + detail::along_axis(bias, sum, 1);
    const T scale = detail::along_axis(in[4], sum, 1) * detail::along_axis(in[1], sum, 1);
    const T units = scale / detail::along_axis(in[6], sum, 1);  // for each channel, as ONNX Runtime has it
    return detail::rounded_to(dnnkit::cast(sum, {.to = in[1].type()}) * units, in[7], in[7].type(), 1);
  }
};

}  // namespace op

inline constexpr function<op::quantize_linear> quantize_linear;
inline constexpr function<op::dequantize_linear> dequantize_linear;
inline constexpr function<op::dynamic_quantize_linear> dynamic_quantize_linear;

}  // namespace dnnkit
