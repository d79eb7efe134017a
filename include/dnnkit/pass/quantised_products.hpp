// SPDX-License-Identifier: MIT
// Pass: convolutions and matrix products of dequantised numbers become those of the 8-bit integers they were, as tools
// that quantise models with QuantizeLinear and DequantizeLinear mean them:
//   conv(sx (x - zx), sw (w - zw), b)               = sx sw conv_integer(x, w, zx, zw) + b
//   quantize(conv(sx (x - zx), sw (w - zw), b), sy) = round(sx sw / sy conv_integer(x, w, zx, zw) + b / sy) + zy
//   b of integers, too: sx sw / sy (conv_integer(x, w, zx, zw) + round(b / (sx sw))), as QLinearConv has it
// and so for MatMul and Gemm; scales may be those of output channels. Sums and products element by element, too, in the
// way of ONNX Runtime's QLinearAdd and QLinearMul:
//   quantize(sa (a - za) + sb (b - zb), s) = round(sa / s a + (sb / s b + (z - (sa / s za + sb / s zb))))
//   quantize(sa (a - za) * sb (b - zb), s) = round(sa sb / s ((a - za) (b - zb))) + z
// For targets with kernels for such products (cost/target.hpp). Takes any graph, with its composites; guarantees the
// same function up to rounding: products and sums are reassociated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/quantization.hpp"
#include "dnnkit/pass/schedule.hpp"

namespace dnnkit::passes {

struct quantised_products {
  static constexpr std::string_view name = "quantised products";

  template <class Target> static constexpr void run(schedule& s) {
    if (!s.fusion.groups.empty() || !s.layouts.empty() || !s.plan.buffers.empty())
      return s.come_too_late(name, "kernels or layouts of the graph, which it makes anew,");
    if constexpr (requires { requires Target::multiplies_bytes; })
      s.g = rewritten(static_cast<graph&&>(s.g), s.notes());
  }

  static constexpr graph rewritten(graph g, decision_notes notes = {}) {
    bool any = false;
    for (const node& n : g.nodes) any = any || g.is<op::dequantize_linear>(n);
    if (!any) return g;
    const vector<std::uint8_t> quantised = only_quantised(g);
    return rebuild(
        g,
        [&](builder& b, const node& n, const rebuilt_inputs& inputs) {
          if (g.is<op::quantize_linear>(n)) return quantised_again(b, g.as<op::quantize_linear>(n), inputs);
          if (quantised.items[n.output] != 0) return tensor{};
          vector<value_id> ids;
          for (std::size_t i = 0; i < inputs.size(); ++i) ids.push_back(inputs.id(i));
          const std::optional<product> p = product_of(b, n, g.attributes_of(n), ids);
          return p ? p->real(tensor{}) : tensor{};
        },
        [&](const node& n, const graph& now, std::size_t first) {
          notes.add({name, "computed in integers", "its factors are dequantised"}, g, n, now, first);
        });
  }

 private:
  // A product of integers, and what makes the real numbers of it.
  struct product {
    tensor sum, scale, bias;  // scale in a shape that broadcasts to the sum's, and bias if there is one

    // In units of `unit`, if it is given.
    constexpr tensor real(tensor unit) const {
      const tensor x = dnnkit::cast(sum, {.to = scale.type()});
      if (!unit.present()) return bias.present() ? x * scale + bias : x * scale;
      return bias.present() ? x * (scale / unit) + bias / unit : x * (scale / unit);
    }
  };
  struct dequantised {
    tensor x, scale, zero_point;
    std::int64_t axis = 0;
    constexpr bool has_one_scale() const { return is_one(scale) && (!zero_point.present() || is_one(zero_point)); }
  };
  static constexpr bool is_one(tensor t) {
    for (const dim d : t.dims())
      if (!(d == dim(1))) return false;
    return true;
  }

  // Values that quantisations alone read, which then compute the product themselves.
  static constexpr vector<std::uint8_t> only_quantised(const graph& g) {
    vector<std::uint8_t> only(g.values.size(), 0);
    vector<std::uint8_t> otherwise(g.values.size(), 0);
    for (const node& n : g.nodes)
      for (std::size_t i = 0; i < n.inputs.count; ++i)
        if (const value_id v = g.input_of(n, i); v != none) {
          const bool quantises = g.is<op::quantize_linear>(n) && i == 0 && has_one_unit(g, n);
          (quantises ? only : otherwise).items[v] = 1;
        }
    for (const value_id v : g.outputs) otherwise.items[v] = 1;
    for (std::size_t v = 0; v < only.size(); ++v) only.items[v] = only.items[v] != 0 && otherwise.items[v] == 0 ? 1 : 0;
    return only;
  }
  static constexpr bool has_one_unit(const graph& g, const node& quantise) {
    for (std::size_t i = 1; i < quantise.inputs.count; ++i)
      if (const value_id v = g.input_of(quantise, i); v != none)
        for (const dim d : g.at(v).type.dims)
          if (!(d == dim(1))) return false;
    return true;
  }

  // The tensor behind a DequantizeLinear of bytes.
  static constexpr std::optional<dequantised> bytes_behind(builder& b, value_id v) {
    const graph& g = b.value();
    if (v == none || g.at(v).producer == none) return std::nullopt;
    const node& n = g.node_at(g.at(v).producer);
    if (!g.is<op::dequantize_linear>(n)) return std::nullopt;
    const op::dequantize_linear how = g.as<op::dequantize_linear>(n);
    const auto input = [&](std::size_t i) {
      const value_id x = g.input_of(n, i);
      return x == none ? tensor{} : tensor{&b, x};
    };
    const dequantised d{input(0), input(1), input(2),
                        how.axis < 0 ? how.axis + static_cast<std::int64_t>(g.at(v).type.dims.size()) : how.axis};
    const bool bytes = is_byte(d.x.type());
    if (!bytes || how.block_size != 0 || d.scale.type() != f32) return std::nullopt;
    return d;
  }

  // What node n, with these inputs in the new graph, is a product of.
  static constexpr std::optional<product> product_of(builder& b, node n, const std::int64_t* attributes,
                                                     const vector<value_id>& inputs) {
    const bool conv = n.op->id == id_of<op::conv>, gemm = n.op->id == id_of<op::gemm>;
    if (!conv && !gemm && n.op->id != id_of<op::matmul>) return std::nullopt;
    const auto x = bytes_behind(b, inputs[0]), w = bytes_behind(b, inputs[1]);
    if (!x || !w || !x->has_one_scale()) return std::nullopt;
    const std::size_t rank = w->x.dims().size();
    if (rank < 2 || x->x.dims().size() < 2) return std::nullopt;
    tensor bias = inputs.size() > 2 && inputs[2] != none ? tensor{&b, inputs[2]} : tensor{};
    if (conv) {
      if (!w->has_one_scale() && w->axis != 0) return std::nullopt;
      const op::conv c = decode<op::conv>(attributes);
      const tensor sum = b.apply(op::conv_integer{c.kernel_shape, c.strides, c.pads, c.dilations, c.group},
                                 {x->x, w->x, x->zero_point, w->zero_point});
      if (bias.present()) bias = detail::along_axis(bias, sum, 1);
      return with_bias(sum, detail::along_axis(x->scale, sum, 1) * detail::along_axis(w->scale, sum, 1), bias);
    }
    std::int64_t columns = static_cast<std::int64_t>(rank) - 1;
    tensor second = w->x;
    if (gemm) {
      const op::gemm how = decode<op::gemm>(attributes);
      if (how.alpha != 1 || how.beta != 1 || how.trans_a) return std::nullopt;
      if (how.trans_b) {
        second = dnnkit::transpose(second, {.perm = {1, 0}});
        columns = 0;
      }
    }
    if (!w->has_one_scale() && w->axis != columns) return std::nullopt;
    const tensor sum = b.apply(op::matmul_integer{}, {x->x, second, x->zero_point, w->zero_point});
    return with_bias(sum, detail::along_axis(x->scale, sum, -1) * detail::along_axis(w->scale, sum, -1), bias);
  }

  // A bias that was quantised is added to the sum of integers: quantisers give it the product's own scale, and of other
  // scales what is rounded off is less than one of the products.
  static constexpr product with_bias(tensor sum, tensor scale, tensor bias) {
    if (!bias.present() || !is_dequantised(bias)) return {sum, scale, bias};
    return {sum + dnnkit::cast(dnnkit::round(bias / scale), {.to = i32}), scale, tensor{}};
  }
  static constexpr bool is_dequantised(tensor t) {
    const graph& g = t.owner().value();
    value_id v = unmoved(g, t.id());
    if (g.at(v).producer == none) return false;
    const node& n = g.node_at(g.at(v).producer);
    return g.is<op::dequantize_linear>(n) && g.at(g.input_of(n, 0)).type.type == i32;
  }

  // Of a product that only_quantised() has left as it was, which has one unit for all of it.
  static constexpr tensor quantised_again(builder& b, const op::quantize_linear& how, const rebuilt_inputs& inputs) {
    const graph& g = b.value();
    const value_id v = inputs.id(0);
    if (v == none || g.at(v).producer == none || inputs[1].type() != f32) return {};
    const tensor zero = inputs.size() > 2 ? inputs[2] : tensor{};
    const node n = g.node_at(g.at(v).producer);
    vector<value_id> operands;
    for (std::size_t i = 0; i < n.inputs.count; ++i) operands.push_back(g.input_of(n, i));
    vector<std::int64_t> codes;
    codes.append(g.attributes_of(n), g.attributes_of(n) + n.attributes.count);
    const builder::name_scope as_the_product(b, n.name);
    const dtype to = zero.present() ? zero.type() : how.to;
    if (const tensor of_two = element_wise(b, n, operands, inputs[1], zero, to); of_two.present()) return of_two;
    const std::optional<product> p = product_of(b, n, codes.items, operands);
    if (!p) return {};
    const tensor unit = b.apply(op::reshape{}, {inputs[1]});
    return detail::rounded_to(p->real(unit), zero, to, 1);
  }

  // Scale and zero point, of one element each, as numbers; without a zero point it is 0.
  struct units {
    tensor scale, zero_point;
    constexpr units(tensor s, tensor z) : scale(scalar(s)), zero_point(z.present() ? scalar(z) : z) {}
    static constexpr tensor scalar(tensor t) { return t.owner().apply(op::reshape{}, {t}); }
    constexpr tensor zero_as(dtype type) const {
      return zero_point.present() ? dnnkit::cast(zero_point, {.to = type}) : scale.owner().scalar(0, type);
    }
  };
  // A sum or product, element by element, of two tensors that are dequantised, quantised to bytes again.
  static constexpr tensor element_wise(builder& b, const node& n, const vector<value_id>& operands, tensor scale,
                                       tensor zero, dtype to) {
    if ((n.op->id != id_of<op::add> && n.op->id != id_of<op::mul>) || !is_byte(to)) return {};
    if (!is_one(scale) || (zero.present() && !is_one(zero))) return {};
    const auto left = bytes_behind(b, operands[0]), right = bytes_behind(b, operands[1]);
    if (!left || !right || !left->has_one_scale() || !right->has_one_scale()) return {};
    const units of_left(left->scale, left->zero_point), of_right(right->scale, right->zero_point), y(scale, zero);
    if (n.op->id == id_of<op::mul>) {
      const tensor ratio = of_left.scale * of_right.scale / y.scale;
      const auto centred = [](tensor x, const units& of) { return dnnkit::cast(x, {.to = i32}) - of.zero_as(i32); };
      const tensor whole = centred(left->x, of_left) * centred(right->x, of_right);
      return detail::rounded_to(dnnkit::cast(whole, {.to = f32}) * ratio, y.zero_point, to, 1);
    }
    const tensor by_left = of_left.scale / y.scale, by_right = of_right.scale / y.scale;
    const tensor rest = y.zero_as(f32) - (by_left * of_left.zero_as(f32) + by_right * of_right.zero_as(f32));
    const auto real = [](tensor x) { return dnnkit::cast(x, {.to = f32}); };
    return detail::rounded_to(real(left->x) * by_left + (real(right->x) * by_right + rest), tensor{}, to, 1);
  }
};

}  // namespace dnnkit::passes
