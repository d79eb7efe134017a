// SPDX-License-Identifier: MIT
// An operator type as a value: one constant record of its name, traits and functions, which a graph's nodes point to.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/operator/attributes.hpp"
#include "dnnkit/operator/element_types.hpp"
#include "dnnkit/operator/footprint.hpp"
#include "dnnkit/operator/inference.hpp"
#include "dnnkit/operator/known_values.hpp"
#include "dnnkit/operator/traits.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit {

class tensor;  // a value of a graph under construction (graph/builder.hpp)

// What a movement operator's forward() and backward() see: the algebra, and the logical shapes of its input and output.
struct movement {
  view_algebra& algebra;
  const shape& in;
  const shape& out;
};

// Which operator type this is: a hash of the type's name as the compiler spells it. (Addresses would name types without
// collisions, but comparing them is no constant expression under -fsanitize=null; op_set refuses collisions.)
enum class operator_id : std::uint64_t { none };

namespace detail {
// A function's name as the compiler spells it, of which the type's is the part that differs.
struct spelling {
  const char* chars;
  std::size_t length;
};
template <class T> constexpr spelling spelt() { return {__PRETTY_FUNCTION__, sizeof __PRETTY_FUNCTION__ - 1}; }
inline constexpr std::size_t where_types_begin =
    std::string_view(spelt<void>().chars, spelt<void>().length).find("void");

template <class Op> constexpr operator_id hash_of_name() {
  constexpr spelling name = spelt<Op>();
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (std::size_t i = where_types_begin; i < name.length; ++i)
    hash = (hash ^ static_cast<unsigned char>(name.chars[i])) * 0x100000001b3;
  return operator_id{hash};
}
template <class Op> struct id_holder { static constexpr operator_id value = hash_of_name<Op>(); };
}  // namespace detail

// A reference: GCC 13 reads a value where it is named in an inline function, before it has what computes it.
template <class Op> inline constexpr const operator_id& id_of = detail::id_holder<Op>::value;

namespace detail {

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

// A function that an operator may lack. (Comparing the address of an inline function with null is no constant
// expression under -fsanitize=null either.)
template <class Signature> struct optional_function;
template <class Result, class... Arguments> struct optional_function<Result(Arguments...)> {
  Result (*call)(Arguments...) = nullptr;
  bool present = false;

  constexpr optional_function() = default;
  constexpr optional_function(Result (*f)(Arguments...)) : call(f), present(true) {}
  constexpr explicit operator bool() const { return present; }
  constexpr Result operator()(Arguments... arguments) const { return call(arguments...); }
};

// What operators that work in passes over rows (operator/statistics.hpp) say of an input of some rank.
struct row_walk {
  axis_set axes;            // that a row runs over
  std::uint8_t passes = 0;  // 0: the operator has no rows
};

struct op_info {
  operator_id id = operator_id::none;
  std::string_view name;
  form kind{};
  traits properties;
  void (*infer)(const std::int64_t* attributes, inference&) = nullptr;
  // A view of the input (movement operators) turned into the view of the output, and the view of the output turned into
  // one in the coordinates of the input (bijections only).
  optional_function<bool(const std::int64_t*attributes, const movement&, view&)> forward, backward;
  void (*print)(const std::int64_t* attributes, const symbol_table&, text&) = nullptr;
  dim (*flops)(const std::int64_t* attributes, const inference&) = nullptr;
  vector<std::size_t> (*symbolic_codes)(const std::int64_t* attributes) = nullptr;
  // What of an input that is there the output needs; the inference knows the output's type.
  footprint (*reads)(const std::int64_t* attributes, const inference&, std::size_t input) = nullptr;
  row_walk (*rows)(const std::int64_t* attributes, std::size_t rank) = nullptr;
  // The output's elements where those of the inputs are known before the network runs; false where they are not.
  optional_function<bool(const std::int64_t* attributes, const known_operands&)> evaluate;
  // Composite operators: the operator said in terms of simpler ones.
  optional_function<tensor(const std::int64_t* attributes, const vector<tensor>& inputs)> expand;
};

namespace detail {
// Every operator's inputs are checked first (operator/element_types.hpp). An element-wise operator without an inference
// of its own broadcasts its inputs; Op::result(type), if there is one, turns the element type of the first into the
// output's.
template <class Op> constexpr void infer_of(const Op& op, inference& c) {
  if constexpr (requires { Op::operands; }) c.call_inputs(Op::operands);
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

// Of an operator that does not say its cost: none to move elements, one operation for each element that a pass over
// rows reads, one for each element of the output.
template <class Op> constexpr dim usual_flops(const inference& c) {
  if (Op::kind == form::movement) return 0;
  const extent written{&c.table(), element_count(c.table(), c.outputs()[0].dims)};
  if constexpr (Op::kind == form::reduction || Op::kind == form::row) {
    const extent read = c.count(0) * static_cast<std::int64_t>(Op::passes);
    return Op::kind == form::row ? read + written : read;
  } else return written;
}

template <class Op> constexpr auto forward_of() -> decltype(op_info::forward) {
  if constexpr (has_view<Op>)
    return +[](const std::int64_t* a, const movement& m, view& v) { return decode<Op>(a).forward(m, v); };
  else return {};
}
template <class Op> constexpr auto backward_of() -> decltype(op_info::backward) {
  if constexpr (has_inverse_view<Op>)
    return +[](const std::int64_t* a, const movement& m, view& v) { return decode<Op>(a).backward(m, v); };
  else return {};
}
template <class Op> constexpr auto expand_of() -> decltype(op_info::expand) {
  if constexpr (Op::kind == form::composite)
    return +[](const std::int64_t* a, const vector<tensor>& inputs) { return decode<Op>(a).expand(inputs); };
  else return {};
}
template <class Op> constexpr auto evaluate_of() -> decltype(op_info::evaluate) {
  if constexpr (is_computed_on_known_values<Op>())
    return +[](const std::int64_t* a, const known_operands& o) { return evaluate_known(decode<Op>(a), o); };
  else return {};
}
}  // namespace detail

template <operator_type Op>
inline constexpr op_info info_of{
    .id = id_of<Op>,
    .name = Op::name,
    .kind = Op::kind,
    .properties = Op::properties,
    .infer = [](const std::int64_t* a, inference& c) { detail::infer_of(decode<Op>(a), c); },
    .forward = detail::forward_of<Op>(),
    .backward = detail::backward_of<Op>(),
    .print = [](const std::int64_t* a, const symbol_table& t, text& out) { print_attributes(decode<Op>(a), t, out); },
    .flops = [](const std::int64_t* a, const inference& c) -> dim {
      if constexpr (detail::has_flops<Op>) return decode<Op>(a).flops(c);
      else return detail::usual_flops<Op>(c);
    },
    .symbolic_codes = [](const std::int64_t* a) { return dnnkit::symbolic_codes(decode<Op>(a)); },
    .reads = [](const std::int64_t* a, const inference& c,
                std::size_t input) { return detail::reads_of(decode<Op>(a), c, input); },
    .rows = [](const std::int64_t* a, std::size_t rank) -> row_walk {
      if constexpr (requires { Op::passes; }) return {decode<Op>(a).axes(rank), std::uint8_t{Op::passes}};
      else return {};
    },
    .evaluate = detail::evaluate_of<Op>(),
    .expand = detail::expand_of<Op>()};

// Stands where there is no operator, so that no table holds a null pointer.
inline constexpr op_info no_operator{};

}  // namespace dnnkit
