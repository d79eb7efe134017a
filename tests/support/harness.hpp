// SPDX-License-Identifier: MIT
// What tests of passes and kernels have in common: random data for a graph, results of the reference evaluator, and how
// far from them a right result in f32 may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/core/element.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/reference/random_data.hpp"
#include "tests/support/is_sanitized.hpp"

namespace harness {

using weight_map = dnnkit::weight_map;

using test_data = dnnkit::random_operands;
using dnnkit::random_data;

// The graph's outputs by the reference evaluator.
std::vector<dnnkit::host_tensor> reference(const dnnkit::graph& g, const test_data& data);

// For each output, how far a right result may be from the reference's (reference/rounding_tolerance.hpp).
std::vector<double> tolerances(const dnnkit::graph& g, const test_data& data,
                               const std::vector<dnnkit::host_tensor>& expected);

// Empty when `found` has the type and shape of `expected` and no element differs by more than the tolerance; else what
// is wrong. A result that is not finite is wrong unless the reference says the same.
std::string difference(const dnnkit::host_tensor& found, const dnnkit::host_tensor& expected, double tolerance);

// A safetensors file of these tensors.
std::vector<std::byte> safetensors_bytes(const weight_map& weights);

// f(T()) with the C++ type of elements of this type.
template <class F> void with_type(dnnkit::dtype type, F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    static_cast<void>(
        ((static_cast<std::size_t>(type) == I ? (f(dnnkit::type_of_dtype<static_cast<dnnkit::dtype>(I)>()), true)
                                              : false) ||
         ...));
  }
  (std::make_index_sequence<dnnkit::dtype_table.size()>{});
}
// Element i of a tensor as it is stored.
template <class T> T stored_element(const dnnkit::host_tensor& t, std::size_t i) {
  if constexpr (std::is_arithmetic_v<T>) return t.get<T>(i);
  else return T(t.get<float>(i));
}

// The graph as text, a line a node, for messages.
std::string describe(const dnnkit::graph& g);

// The seeds to run: first ... first + count - 1, or the one that the environment variable DNNKIT_SEED names;
// DNNKIT_SEEDS is another count.
std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count);

}  // namespace harness
