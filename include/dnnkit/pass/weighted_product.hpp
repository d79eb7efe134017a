// SPDX-License-Identifier: MIT
// A convolution, or a product with a matrix, whose weights are known before the run, and what scales and shifts of its
// operand and of its result make of these.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/convolution.hpp"
#include "dnnkit/op/elementwise.hpp"
#include "dnnkit/op/matmul.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/op/reduction.hpp"

namespace dnnkit::detail {

// What an element-wise operator does to x with t, which does not make it larger.
enum class adjustment : std::uint8_t { none, times, over, plus, minus };  // x * t, x / t, x + t, x - t

constexpr bool is_scale(adjustment a) { return a == adjustment::times || a == adjustment::over; }
constexpr tensor adjusted(adjustment a, tensor x, tensor t) {
  return a == adjustment::times ? x * t : a == adjustment::over ? x / t : a == adjustment::plus ? x + t : x - t;
}
// t in another shape; of what t is itself only the shape changed, it is that in the new one.
constexpr tensor reshaped(tensor t, const shape& s) {
  const graph& g = t.owner().value();
  value_id from = t.id();
  while (g.at(from).producer != none && g.is<op::reshape>(g.node_at(g.at(from).producer)))
    from = g.input_of(g.node_at(g.at(from).producer), 0);
  if (same_shape(g.at(from).type.dims, s)) return {&t.owner(), from};
  return t.owner().apply(op::reshape{s}, {tensor{&t.owner(), from}});
}

// f(x, weight) + bias, f being linear in both. A column is an element of the last axis of a product, an output
// channel of a convolution; a row an element of the axis that is summed over, an input channel. Factors t have rank
// 1, a number each, or rank 0.
struct weighted_product {
  tensor x, weight, bias;
  op::conv attributes;  // of a convolution
  bool convolves = false;

  constexpr weighted_product(builder& b, const graph& g, const node& n, auto input)
      : x(input(0)), weight(input(1)), convolves(g.is<op::conv>(n)), builder_(&b) {
    if (!convolves) return;
    attributes = g.as<op::conv>(n);
    if (n.inputs.count > 2) bias = input(2);
  }

  // The axis of x that rows are of.
  constexpr std::size_t row_axis() const { return convolves ? 1 : static_cast<std::size_t>(x.rank()) - 1; }
  // Is there nothing around x that a shift would have to be added to as well?
  constexpr bool reads_x_alone() const {
    for (std::int64_t p : attributes.pads)
      if (p != 0) return false;
    return true;
  }

  // f(x, weight) + bias := (f(x, weight) + bias) adjusted by t
  constexpr void adjust_columns(adjustment how, tensor t) {
    if (!is_scale(how)) return add_to_bias(how, t);
    scale_weight(how, t);
    if (bias.present()) bias = adjusted(how, bias, t);
  }
  // weight := weight adjusted by t, along columns
  constexpr void scale_weight(adjustment how, tensor t) {
    if (convolves && t.rank() != 0) {
      shape along = shape::filled(weight.dims().size(), 1);
      along[0] = t.size(0);
      weight = adjusted(how, weight, reshaped(t, along));
    } else weight = adjusted(how, weight, t);
  }
  // f(x, weight) := f(x adjusted by t, weight), x being what it was before
  constexpr void adjust_rows(adjustment how, tensor t) {
    if (is_scale(how)) weight = with_rows(how, t);
    else add_to_bias(how, sums_of_columns(with_rows(adjustment::times, t)));
  }

  constexpr tensor result() const {
    if (!convolves) {
      const tensor y = matmul(x, weight);
      return bias.present() ? y + bias : y;
    }
    return bias.present() ? builder_->apply(attributes, {x, weight, bias}) : builder_->apply(attributes, {x, weight});
  }

 private:
  constexpr void add_to_bias(adjustment how, tensor t) {
    if (!bias.present()) {
      const dim columns = weight.size(convolves ? 0 : 1);
      bias = builder_->constant({0.0}, {columns}, weight.type());
    }
    bias = adjusted(how, bias, t);
  }
  // The weight, its rows adjusted by t. Inputs of a convolution's group are t's of that group.
  constexpr tensor with_rows(adjustment how, tensor t) const {
    if (t.rank() == 0) return adjusted(how, weight, t);
    const shape dims = weight.dims();
    if (!convolves) return adjusted(how, weight, reshaped(t, {dims[0], dim(1)}));
    shape in_groups = dims, along = shape::filled(dims.size() + 1, 1);
    in_groups[0] = dim(dims[0].value() / attributes.group);
    in_groups.insert(0, dim(attributes.group));
    along[0] = dim(attributes.group);
    along[2] = dims[1];
    return reshaped(adjusted(how, reshaped(weight, in_groups), reshaped(t, along)), dims);
  }
  constexpr tensor sums_of_columns(tensor products) const {
    op::reduce_sum sum{.keepdims = false};
    if (!convolves) sum.axes.list.push_back(0);
    for (std::int64_t d = 1; convolves && d < products.rank(); ++d) sum.axes.list.push_back(d);
    return builder_->apply(sum, {products});
  }

  builder* builder_;
};

}  // namespace dnnkit::detail
