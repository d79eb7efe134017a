// SPDX-License-Identifier: MIT
// How far from the exact ones a model lets the results of its kernels be.
#pragma once

#include <cstdint>

namespace dnnkit {

// The largest error of an element that an algorithm may make where it computes sums in another way than as products
// added up, as a part of the output's largest magnitude. A model says its own in a member:
//   static constexpr dk::accuracy accuracy = dk::accuracy::exact_order;  // or dk::accuracy(1e-6)
// Without one, Winograd's convolutions may be used (cpu/families/conv_winograd.hpp, conv_wide_winograd.hpp). What
// rounding makes of sums of products in any order is not bounded by it.
struct accuracy {
  std::int32_t billionths = 3000;

  constexpr accuracy() = default;
  // @pre 0 <= largest_error <= 2
  constexpr explicit accuracy(double largest_error)
      : billionths(static_cast<std::int32_t>(largest_error * 1e9 + 0.5)) {}
  constexpr double largest_error() const { return 1e-9 * billionths; }

  // Products are added up, and nothing else.
  static const accuracy exact_order;

  friend constexpr bool operator==(const accuracy&, const accuracy&) = default;
};
inline constexpr accuracy accuracy::exact_order{0.0};

// A model that says its own.
template <class Model>
concept has_accuracy = requires {
  accuracy{Model::accuracy};
};

// What a model asks for, or what is allowed without that.
template <class Model> constexpr accuracy accuracy_of() {
  if constexpr (has_accuracy<Model>) return accuracy{Model::accuracy};
  else return {};
}

}  // namespace dnnkit
