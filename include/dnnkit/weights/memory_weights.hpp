// SPDX-License-Identifier: MIT
// Weights that lie in the program's memory, by name: dk::memory_weights{{"fc.weight", w}, {"fc.bias", b}}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/element.hpp"
#include "dnnkit/weights/stored_tensor.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit {

// The elements of one weight, row-major: any contiguous range (vector, array, span) of elements. Nothing is copied.
class named_values {
 public:
  template <class Range> named_values(std::string_view name, Range&& values) : name_(name) {
    static_assert(std::is_lvalue_reference_v<Range> || std::ranges::borrowed_range<Range>,
                  "dnnkit: weights are not copied; give a range that lives on, not a temporary");
    const std::span elements(std::as_const(values));
    constexpr std::optional<dtype> type = dtype_of_type<typename decltype(elements)::value_type>;
    static_assert(type.has_value(),
                  "dnnkit: weights are ranges of float, double, dk::float16, dk::bfloat16, bool or a sized integer");
    type_ = *type;
    data_ = std::as_bytes(elements);
  }

  stored_tensor tensor() const {
    return {name_, type_, {static_cast<std::int64_t>(data_.size() / size_of(type_))}, data_};
  }

 private:
  std::string name_;
  dtype type_ = dtype::f32;
  std::span<const std::byte> data_;
};

// Ranges have no shape, so each takes that of the weight of its name, which must have as many elements. The memory is
// the caller's, and must live as long as what is made of this object (a session reads some weights where they are).
class memory_weights : public weight_file {
 public:
  // Throws dnnkit::error when a name is given twice.
  memory_weights(std::initializer_list<named_values> weights)
      : memory_weights(std::span(weights.begin(), weights.size())) {}
  explicit memory_weights(std::span<const named_values> weights)
      : weight_file(unread{}, "weights in memory", {}, shapes::unknown) {
    std::vector<stored_tensor> tensors;
    for (const named_values& w : weights) tensors.push_back(w.tensor());
    assign(std::move(tensors));
  }
};

}  // namespace dnnkit
