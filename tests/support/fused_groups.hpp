// SPDX-License-Identifier: MIT
// Random models, compiled: each a test of its kernels against the reference evaluator.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "tests/support/compiled.hpp"
#include "tests/support/random_graph.hpp"

namespace harness {

// Compiles the random models of `Count` seeds from `First` on, every other one with symbols, and runs each on data from
// two seeds (or from the one that the environment variable DNNKIT_SEED names). There must be `least` different kernels
// in all.
template <std::uint64_t First, std::size_t Count> void check_random_models(std::size_t least) {
  std::size_t kernels = 0;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto check = [&](const compiled_network& network) {
      std::set<std::uint32_t> distinct;
      for (const dnnkit::plan::step& step : network.plan.steps) distinct.insert(step.kernel);
      kernels += distinct.size();
      for (const std::uint64_t seed : seeds(First, 2)) {
        const std::string wrong = compiled_error(network, seed);
        CHECK_MESSAGE(wrong.empty(), wrong << ", data of seed " << seed << "\n" << describe(network.make_graph()));
      }
    };
    (check(compiled<random_model<First + I, I % 2 == 1>>("random_model<" + std::to_string(First + I) +
                                                         (I % 2 == 1 ? ", true>" : ">"))),
     ...);
  }
  (std::make_index_sequence<Count>{});
  MESSAGE(kernels << " different kernels");
  CHECK(kernels >= least);
}

// The same for a model written by hand, with layouts by rules: which kernels it goes over is known.
template <class Model> void check_model(const char* name, std::size_t data_sets = 2) {
  const compiled_network network = compiled_by_rules<Model>(name);
  for (const std::uint64_t seed : seeds(1, data_sets)) {
    const std::string wrong = compiled_error(network, seed);
    CHECK_MESSAGE(wrong.empty(), wrong << ", data of seed " << seed);
  }
}

// Kernels of a model that run element by element, those aside whose loops compilers make vectors of.
template <class Model> constexpr std::size_t scalar_kernels() {
  using net = compile_by_rules<Model>;
  std::size_t n = 0;
  for (const dnnkit::plan::step& s : net::plan.steps) {
    const dnnkit::kernel_choice& choice = net::choices[s.kernel];
    n += choice.tile.lanes == 1 && !choice.left_to_compiler ? 1 : 0;
  }
  return n;
}

}  // namespace harness
