// SPDX-License-Identifier: MIT
// An operator type as a value: one constant record of its name, traits and functions, which a graph's nodes point to.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/op/attributes.hpp"
#include "dnnkit/op/element_types.hpp"
#include "dnnkit/op/inference.hpp"
#include "dnnkit/op/traits.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit {

class tensor;  // a value of a graph under construction (graph/builder.hpp)

// What a movement operator's forward() and backward() see: the algebra, and the logical shapes of its input and output.
struct movement {
  view_algebra& algebra;
  const shape& in;
  const shape& out;
};

namespace detail {
// The address of op_tag<Op> names the operator type without instantiating anything of it.
template <class Op> inline constexpr char op_tag = 0;

template <class Op>
concept has_view = requires(const Op& op, const movement& m, view& v) {
  { op.forward(m, v) } -> std::same_as<bool>;
};
template <class Op>
concept has_inverse_view = requires(const Op& op, const movement& m, view& v) {
  { op.backward(m, v) } -> std::same_as<bool>;
};
template <class Op>
concept has_flops = requires(const Op& op, const inference& c) {
  { op.flops(c) } -> std::convertible_to<dim>;
};
}  // namespace detail

template <class T>
concept operator_type = std::is_aggregate_v<T> && requires {
  { T::name } -> std::convertible_to<std::string_view>;
  { T::kind } -> std::convertible_to<form>;
  { T::properties } -> std::convertible_to<traits>;
};

struct op_info {
  const char* id;
  std::string_view name;
  form kind;
  traits properties;
  void (*infer)(const std::int64_t* attributes, inference&);
  // A view of the input (movement operators) turned into the view of the output, and the view of the output turned into
  // one in the coordinates of the input (bijections only). Null where there is none.
  bool (*forward)(const std::int64_t* attributes, const movement&, view&);
  bool (*backward)(const std::int64_t* attributes, const movement&, view&);
  void (*print)(const std::int64_t* attributes, const symbol_table&, text&);
  dim (*flops)(const std::int64_t* attributes, const inference&);
  // Composite operators: the operator said in terms of simpler ones. Null for the others.
  tensor (*expand)(const std::int64_t* attributes, const vector<tensor>& inputs);
};

namespace detail {
// Every operator's inputs are checked first (op/element_types.hpp). An element-wise operator without an inference of
// its own broadcasts its inputs; Op::result(type), if there is one, turns the element type of the first into the
// output's.
template <class Op> constexpr void infer_of(const Op& op, inference& c) {
  if (!check_inputs<Op>(c)) return;
  if constexpr (requires { op.infer(c); }) op.infer(c);
  else {
    static_assert(Op::kind == form::elementwise, "dnnkit: an operator that is not element-wise needs infer()");
    std::size_t common = 0;
    while (common + 1 < c.inputs() && element_of<Op>(common) != element::common) ++common;
    if constexpr (requires { op.result(f32); }) c.out_broadcast(op.result(c.type(common)));
    else c.out_broadcast(c.type(common));
  }
}

template <class Op> constexpr auto forward_of() -> decltype(op_info::forward) {
  if constexpr (has_view<Op>)
    return [](const std::int64_t* a, const movement& m, view& v) { return decode<Op>(a).forward(m, v); };
  else return nullptr;
}
template <class Op> constexpr auto backward_of() -> decltype(op_info::backward) {
  if constexpr (has_inverse_view<Op>)
    return [](const std::int64_t* a, const movement& m, view& v) { return decode<Op>(a).backward(m, v); };
  else return nullptr;
}
template <class Op> constexpr auto expand_of() -> decltype(op_info::expand) {
  if constexpr (Op::kind == form::composite)
    return [](const std::int64_t* a, const vector<tensor>& inputs) { return decode<Op>(a).expand(inputs); };
  else return nullptr;
}
}  // namespace detail

template <operator_type Op>
inline constexpr op_info info_of{
    .id = &detail::op_tag<Op>,
    .name = Op::name,
    .kind = Op::kind,
    .properties = Op::properties,
    .infer = [](const std::int64_t* a, inference& c) { detail::infer_of(decode<Op>(a), c); },
    .forward = detail::forward_of<Op>(),
    .backward = detail::backward_of<Op>(),
    .print = [](const std::int64_t* a, const symbol_table& t, text& out) { print_attributes(decode<Op>(a), t, out); },
    .flops = [](const std::int64_t* a, const inference& c) -> dim {
      if constexpr (detail::has_flops<Op>) return decode<Op>(a).flops(c);
      else if (Op::kind == form::movement) return 0;
      else return element_count(c.table(), c.outputs()[0].dims);
    },
    .expand = detail::expand_of<Op>()};

}  // namespace dnnkit
