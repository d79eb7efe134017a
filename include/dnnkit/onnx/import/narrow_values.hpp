// SPDX-License-Identifier: MIT
// Values of ONNX's types of 8 bits and fewer while they are imported: they are held in wider types (narrow_types.hpp),
// and whatever makes one is rounded to the numbers that the narrow type has.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

#include "dnnkit/onnx/format/narrow_types.hpp"
#include "dnnkit/onnx/import/domains.hpp"
#include "dnnkit/onnx/import/node_context.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx {

enum class scale_rounding { up, down, nearest };  // of powers of two

namespace detail {

// Numbers of a graph as those of a narrow float.
class narrow_rounding {
 public:
  narrow_rounding(node_context& c, const narrow_type& type) : c_(c), type_(type) {}

  // x, f32, to the nearest number, of two the even one. What is larger than the largest is that, if it saturates, else
  // an infinity or, where there is none, NaN; and what is NaN is 0 where there is none of those either.
  tensor rounded(tensor x, bool saturate) {
    const tensor magnitude = c_.apply(op::abs{}, {x}), largest = real(type_.largest());
    const tensor small = where(less(magnitude, real(std::ldexp(1.0, type_.least_exponent()))), rounded_to_steps(x),
                               rounded_in_fraction(c_.apply(op::min{}, {magnitude, real(2 * type_.largest())}), x));
    const bool stays = saturate || type_.top == specials::none;
    tensor beyond = largest;
    if (!stays) beyond = real(type_.top == specials::ieee ? infinity : nan);
    const tensor y = where(less(largest, c_.apply(op::abs{}, {small})), with_sign_of(x, beyond), small);
    return where(c_.apply(op::is_nan{}, {x}), real(type_.top == specials::none ? 0 : nan), y);
  }
  // x, f32, to a power of two; what has none is NaN.
  tensor power_of_two(tensor x, scale_rounding how, bool saturate) {
    const tensor magnitude = c_.apply(op::abs{}, {x}), smallest = real(std::ldexp(1.0, -127));
    const tensor bits = c_.apply(op::bits_of_real{f32}, {magnitude});
    const std::int64_t more = how == scale_rounding::up ? 0x7fffff : how == scale_rounding::nearest ? 0x400000 : 0;
    const tensor high = c_.apply(op::bitwise_and{}, {c_.apply(op::add{}, {bits, whole(more)}), whole(0x7f800000)});
    const tensor y = c_.apply(op::real_of_bits{f32}, {high});
    const tensor fits = where(less(smallest, magnitude), c_.apply(op::max{}, {y, smallest}), smallest);
    const tensor beyond = real(saturate ? type_.largest() : nan);
    const tensor limited = where(less(real(type_.largest()), fits), beyond, fits);
    return where(c_.apply(op::is_nan{}, {x}), real(nan), limited);
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  tensor real(double x) { return c_.graph().scalar(x, f32); }
  tensor whole(std::int64_t x) { return c_.graph().scalar(static_cast<double>(x), i32); }
  tensor less(tensor a, tensor b) { return c_.apply(op::less{}, {a, b}); }
  tensor where(tensor condition, tensor a, tensor b) { return c_.apply(op::where{}, {condition, a, b}); }
  tensor with_sign_of(tensor x, tensor y) { return where(less(x, real(0)), c_.apply(op::neg{}, {y}), y); }

  // Below the smallest 1.fraction, numbers lie at equal distances.
  tensor rounded_to_steps(tensor x) {
    const double steps = std::ldexp(1.0, type_.fraction_bits - type_.least_exponent());
    const tensor n = c_.apply(op::round{}, {c_.apply(op::mul{}, {x, real(steps)})});
    return c_.apply(op::mul{}, {n, real(1 / steps)});
  }
  // The fraction's bits that are kept grow by one where those that are not are more than a half, or that and the last
  // one is 1.
  tensor rounded_in_fraction(tensor magnitude, tensor x) {
    const int lost = 23 - type_.fraction_bits;
    const tensor bits = c_.apply(op::bits_of_real{f32}, {magnitude});
    const tensor last =
        c_.apply(op::bitwise_and{}, {c_.apply(op::bit_shift{shift_direction::right}, {bits, whole(lost)}), whole(1)});
    const tensor half = c_.apply(op::add{}, {last, whole((std::int64_t{1} << (lost - 1)) - 1)});
    const tensor kept =
        c_.apply(op::bitwise_and{}, {c_.apply(op::add{}, {bits, half}), whole(-(std::int64_t{1} << lost))});
    return with_sign_of(x, c_.apply(op::real_of_bits{f32}, {kept}));
  }

  node_context& c_;
  const narrow_type& type_;
};

// x as ONNX casts it to a narrow type, in the type that holds it.
inline tensor cast_to_narrow(node_context& c, tensor x, const narrow_type& to) {
  const bool saturate = c.flag("saturate", true);
  const std::int64_t how = c.choice("round_mode", {"up", "down", "nearest"}, "up");
  if (to.is_real()) {
    const tensor real = x.type() == f32 ? x : c.apply(op::cast{f32}, {x});
    narrow_rounding r(c, to);
    return to.top == specials::scale ? r.power_of_two(real, static_cast<scale_rounding>(how), saturate)
                                     : r.rounded(real, saturate);
  }
  // integers keep their lowest bits; reals lose their fraction first
  const tensor wide = c.apply(op::cast{i32}, {x});
  const auto number = [&](std::int64_t n) { return c.graph().scalar(static_cast<double>(n), i32); };
  const tensor low = c.apply(op::bitwise_and{}, {wide, number((std::int64_t{1} << to.bits) - 1)});
  if (to.held_in == u8) return c.apply(op::cast{u8}, {low});
  const tensor sign = number(std::int64_t{1} << (to.bits - 1));  // (low ^ sign) - sign extends it
  return c.apply(op::cast{i8}, {c.apply(op::sub{}, {c.apply(op::bitwise_xor{}, {low, sign}), sign})});
}

// The narrow type of a node's outputs, null where they have none: what the node says, or that of what it moves.
inline const narrow_type* narrow_type_of_outputs(const scope& names, const onnx::node& n) {
  const auto said = [&](std::string_view attribute_name) -> const narrow_type* {
    const attribute* a = n.find(attribute_name);
    return a == nullptr ? nullptr : narrow_type_of(a->i);
  };
  const auto of_input = [&](std::size_t i) -> const narrow_type* {
    const bool given = i < n.inputs.size() && !n.inputs[i].empty();
    const value_reference v = given ? names.find(n.inputs[i]) : nullptr;
    return v ? v->narrow : nullptr;
  };
  if (!is_onnx(n.domain)) return nullptr;
  if (n.op_type == "Cast") return said("to");
  if (n.op_type == "CastLike") return of_input(1);
  if (n.op_type == "QuantizeLinear")
    return n.inputs.size() > 2 && !n.inputs[2].empty() ? of_input(2) : said("output_dtype");
  if (n.op_type == "Constant" || n.op_type == "ConstantOfShape") {
    const attribute* a = n.find("value");
    return a == nullptr || a->tensors.empty() ? nullptr : narrow_type_of(a->t().data_type);
  }
  constexpr std::string_view moving[] = {"Concat",  "DepthToSpace", "Expand",    "Flatten",      "Gather",
                                         "Pad",     "Reshape",      "Slice",     "SpaceToDepth", "Split",
                                         "Squeeze", "Tile",         "Transpose", "Unsqueeze"};
  return std::ranges::find(moving, n.op_type) == std::end(moving) ? nullptr : of_input(0);
}
inline void mark_narrow(const scope& names, const onnx::node& n, const std::vector<value_reference>& results) {
  if (const narrow_type* const narrow = narrow_type_of_outputs(names, n))
    for (const value_reference& v : results)
      if (v && v->type.type == narrow->held_in) v->narrow = narrow;
}

}  // namespace detail

}  // namespace dnnkit::onnx
