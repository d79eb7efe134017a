// SPDX-License-Identifier: MIT
// Numbers computed from the symbols of a graph, as a tensor: what an imported model's shape arithmetic leaves where its
// result is data (a position, a scale by the length of a sequence).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/function.hpp"

namespace dnnkit {

namespace op {

// No input -> i64 [values.size()], the values of known or symbolic dimensions.
struct dims {
  shape values = {};

  static constexpr std::string_view name = "Dims";
  static constexpr form kind = form::point;
  static constexpr std::size_t inputs = 0;
  static constexpr traits properties{.dynamic = dynamism::isdo};
  static constexpr void attributes(auto& self, auto&& visit) { visit("values", self.values); }

  constexpr void infer(inference& c) const {
    for (dim d : values)
      if (!c.require(!d.is_unknown(), "a value is not known")) return;
    c.out(i64, {static_cast<std::int64_t>(values.size())});
  }
  constexpr std::int64_t at(const auto& c, const coordinates& o) const { return c.value(values[o[0]]); }
  static constexpr dim flops(const inference&) { return 0; }
};

}  // namespace op

}  // namespace dnnkit
