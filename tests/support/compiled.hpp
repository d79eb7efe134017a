// SPDX-License-Identifier: MIT
// Runs a compiled model on random data and compares it with the reference evaluator: serially, again with what the
// first run left in memory, and on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dnnkit/compile.hpp"
#include "dnnkit/cpu/kernels.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/layouts_by_rules.hpp"

namespace harness {

// A network without its type, so that the check is compiled once and a test instantiates the kernels only.
struct compiled_network {
  std::string name;
  dnnkit::plan_view plan;
  std::span<const dnnkit::cpu::kernel_entry> kernels;
  dnnkit::graph (*make_graph)() = nullptr;  // as the model builds it
};
template <class Net> compiled_network network_of(const std::string& name) {
  return {name, Net::plan, dnnkit::cpu::kernel_table<Net>, &dnnkit::graph_of<typename Net::model>};
}
template <class Model> compiled_network compiled_by_rules(const std::string& name) {
  return network_of<compile_by_rules<Model>>(name);
}
template <class Model> compiled_network compiled(const std::string& name) {
  return network_of<dnnkit::compile<Model>>(name);
}

// Empty when the network does what the reference evaluator says; else what is wrong. Symbols are bound to several
// values one after the other, each run is repeated, and runs on 2 to 4 threads must give the same bits. Reals may
// differ by what rounding explains (tolerances()), and at least by `part` of an output's largest magnitude.
std::string compiled_error(const compiled_network& network, std::uint64_t seed, double part = 0);

}  // namespace harness
