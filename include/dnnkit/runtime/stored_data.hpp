// SPDX-License-Identifier: MIT
// What is known of a plan's buffers before any kernel runs: the weights to be found in a file, and constants.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/core/small_float.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit::detail {

// Writes one constant element (plan: integers, or the bits of doubles) as the element type it has.
inline void write_element(dtype type, std::int64_t code, std::byte* to) {
  const auto put = [&](auto x) { std::memcpy(to, &x, sizeof x); };
  switch (type) {
    case dtype::f32:
      return put(static_cast<float>(std::bit_cast<double>(code)));
    case dtype::f64:
      return put(std::bit_cast<double>(code));
    case dtype::i8:
    case dtype::u8:
    case dtype::boolean:
      return put(static_cast<std::uint8_t>(code));
    case dtype::i16:
    case dtype::u16:
      return put(static_cast<std::uint16_t>(code));
    case dtype::i32:
    case dtype::u32:
      return put(static_cast<std::uint32_t>(code));
    case dtype::i64:
    case dtype::u64:
      return put(code);
    case dtype::f16:
      return put(float16(static_cast<float>(std::bit_cast<double>(code))));
    case dtype::bf16:
      break;
  }
  return put(bfloat16(static_cast<float>(std::bit_cast<double>(code))));
}

// Bytes of a buffer of known extents.
inline std::size_t bytes_of(const buffer& b) {
  return static_cast<std::size_t>(b.elements.value()) * size_of(b.type.type);
}

// The extents of a weight or of what is computed from weights; dnnkit::error when they are symbolic.
inline std::vector<std::int64_t> extents_of(const plan_view& plan, const buffer& b) {
  std::vector<std::int64_t> e;
  for (dim d : b.type.dims) {
    if (!d.is_known())
      throw error("a weight or what is computed from weights has a symbolic shape", std::string(plan.text_of(b.name)));
    e.push_back(d.value());
  }
  return e;
}

// What the plan needs of a weight file.
inline std::vector<required_tensor> required_weights(const plan_view& plan) {
  std::vector<required_tensor> required;
  for (const buffer& b : plan.buffers)
    if (b.where == storage::weight)
      required.push_back({std::string(plan.text_of(b.name)), b.type.type, extents_of(plan, b)});
  return required;
}

// Writes all elements of a constant.
inline void write_constant(const plan_view& plan, const buffer& b, std::byte* to) {
  const std::size_t each = size_of(b.type.type);
  for (std::size_t e = 0; e < bytes_of(b) / each; ++e)
    write_element(b.type.type, plan.constants[b.data.first + (b.data.count == 1 ? 0 : e)], to + e * each);
}

}  // namespace dnnkit::detail
