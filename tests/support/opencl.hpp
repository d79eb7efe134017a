// SPDX-License-Identifier: MIT
// Runs graphs on an OpenCL device and compares them with the reference evaluator. The plan and the kernels are made at
// run time by the functions that the compiler calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/graph/graph.hpp"
#include "dnnkit/opencl/attention_tile.hpp"
#include "dnnkit/opencl/product_tile.hpp"
#include "dnnkit/opencl/winograd_tile.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace harness {

// How a graph becomes a plan, if not as a network's does.
struct opencl_planning {
  std::span<const std::string_view> left_out{};  // passes
  bool eager = false;                            // all stages are joined that have a kernel, whatever that gains
  bool images = false;                           // values are in images that can be
};

// Why there are no OpenCL kernels for a graph; empty when there are.
std::string opencl_refusal(const dnnkit::graph& g, const opencl_planning& how = {});
// How many of its kernels are joined stages when all are joined that can be.
std::size_t opencl_joined(const dnnkit::graph& g);

// Are these words in the text of one of its kernels?
bool opencl_says(const dnnkit::graph& g, std::string_view words);

// How many values a graph has in images, where the target keeps them so.
std::size_t values_in_images(const dnnkit::graph& g);

// Empty when the graph, on random data, gives on the device what the reference evaluator says, in two runs; else what
// is wrong, a refusal included. With values in images, too, if the graph has any that can be.
std::string opencl_error(const dnnkit::graph& g, std::uint64_t seed, const opencl_planning& how = {});
// The same with attention in this tile.
std::string opencl_error(const dnnkit::graph& g, std::uint64_t seed, const dnnkit::opencl::attention_tile& tile);
// The same with all products and convolutions that are in tiles in this tile; convolutions have stages as they choose.
std::string opencl_error(const dnnkit::graph& g, std::uint64_t seed, const dnnkit::opencl::product_tile& tile);
// The same with all convolutions, which have 3 x 3 taps, by Winograd's algorithm in this tile.
std::string opencl_error(const dnnkit::graph& g, std::uint64_t seed, const dnnkit::opencl::winograd_tile& tile);

// The outputs of a graph that has kernels and no symbols, computed on the device.
std::vector<dnnkit::host_tensor> opencl_outputs(const dnnkit::graph& g, const std::vector<dnnkit::host_tensor>& inputs,
                                                const dnnkit::weight_source& weights);

}  // namespace harness
