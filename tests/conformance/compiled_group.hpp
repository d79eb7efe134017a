// SPDX-License-Identifier: MIT
// Several of ONNX's backend tests as one network, so that equal kernels are compiled once: what a generated file
// registers, and how the network is run.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/compile.hpp"
#include "dnnkit/cpu/kernels.hpp"
#include "dnnkit/runtime/aligned_memory.hpp"
#include "dnnkit/runtime/execution.hpp"
#include "dnnkit/runtime/packed_weights.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit::conformance {

// One test of a group: its folder and data set, and the names of the inputs of its part of the network, in order.
struct compiled_test {
  const char *name, *folder, *data_set;
  std::vector<const char*> inputs;
  std::size_t outputs = 0;
};

// The bytes of all outputs, with their types, from those of all inputs.
struct group_output {
  tensor_type type;
  std::vector<std::byte> bytes;
};
using run_function = std::vector<group_output> (*)(const std::vector<std::vector<std::byte>>& inputs,
                                                   weight_file weights);

struct compiled_group {
  std::vector<compiled_test> tests;
  run_function run;
};

inline std::vector<compiled_group>& groups() {
  static std::vector<compiled_group> list;
  return list;
}
struct registration {
  registration(std::vector<compiled_test> tests, run_function run) { groups().push_back({std::move(tests), run}); }
};

template <class Net>
std::vector<group_output> run_group(const std::vector<std::vector<std::byte>>& inputs, weight_file weights) {
  static_assert(Net::is_static);
  const std::span<const cpu::kernel_entry> kernels(cpu::kernel_table<Net>);
  execution e(Net::plan, kernels, std::make_shared<const packed_tables>(Net::plan, kernels, std::move(weights)));
  std::vector<aligned_memory> memory;  // aligned, as std::vector's need not be
  std::vector<std::byte*> from, to;
  for (const auto& bytes : inputs) {
    memory.emplace_back(bytes.size() + 1);
    std::copy(bytes.begin(), bytes.end(), memory.back().data());
    from.push_back(memory.back().data());
  }
  std::vector<group_output> results;
  for (const std::int32_t b : Net::plan.results) {
    const plan::buffer& x = Net::plan.buffers[static_cast<std::size_t>(b)];
    results.push_back({x.type, std::vector<std::byte>(static_cast<std::size_t>(e.elements(b)) * size_of(x.type.type))});
    memory.emplace_back(results.back().bytes.size() + 1);
    to.push_back(memory.back().data());
  }
  no_observer nobody;
  e.run(from.data(), to.data(), parallel_for{}, nobody);
  for (std::size_t i = 0; i < results.size(); ++i)
    std::copy(to[i], to[i] + results[i].bytes.size(), results[i].bytes.begin());
  return results;
}

}  // namespace dnnkit::conformance
