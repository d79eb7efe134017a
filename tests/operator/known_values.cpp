// SPDX-License-Identifier: MIT
// Operators on known values, against what ONNX Runtime computes of the same.
#include "dnnkit/operator/known_values.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "tests/support/operator_cases.hpp"

TEST_CASE("elements that are known are those that the operator computes") {
  std::string left;
  std::size_t computed = 0;
  for (const std::string& family : operator_cases::families()) {
    const auto found = operator_cases::check_known_values(family);
    computed += found.computed.size();
    for (const std::string& name : found.said)
      if (!found.computed.contains(name)) left += name + " ";
  }
  // An optional input of what computes data; a sum of nothing.
  CHECK(left == "Pad ReduceL1 ");
  CHECK(computed > 30);
}

using dnnkit::known_tensor;
using dnnkit::shape;
static_assert(known_tensor::count_of(shape{}) == 1);
static_assert(known_tensor::count_of({4, 0, 1 << 20}) == 0);
static_assert(known_tensor::count_of({8, 8}) == dnnkit::most_known_values);
static_assert(known_tensor::count_of({8, 9}) > dnnkit::most_known_values);
static_assert(known_tensor::count_of({8, dnnkit::dim::unknown()}) > dnnkit::most_known_values);
static_assert(!known_tensor::may_hold(dnnkit::u64) && !known_tensor::may_hold(dnnkit::f32));
