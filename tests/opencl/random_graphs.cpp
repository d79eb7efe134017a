// SPDX-License-Identifier: MIT
// Random graphs on an OpenCL device against the reference evaluator: as the target plans them, in buffers and in
// images; some with no pass that can be left out, where kernels are many and small; and with stages joined and apart.
// The driver's compiler takes the time: DNNKIT_SEEDS=300 some ten minutes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/opencl.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;

namespace {

// Sources of neighbouring seeds draw the same numbers but for the first: these lie far apart.
dk::graph graph_from(std::uint64_t seed) {
  dk::builder b;
  random_graph(b, seed * 0x2545f4914f6cdd1du,
               {.least_operators = 2,
                .most_operators = 14,
                .symbols = seed % 2 == 1,
                .branches = seed % 4 == 0,
                .chains = true,
                .idioms = true})
      .build();
  return b.value();
}

std::vector<std::string_view> optional_passes() {
  std::vector<std::string_view> names;
  for (const dk::pass_facts& pass : dk::passes_of<dk::default_pipeline>)
    if (pass.needed.empty()) names.push_back(pass.name);
  return names;
}

}  // namespace

TEST_CASE("random graphs compute on a device what the evaluator says") {
  const std::vector<std::uint64_t> seeds = harness::seeds(124, 10);  // the last has stages that can be joined
  const std::vector<std::string_view> optional = optional_passes(), joining{dk::passes::join_stages::name};
  std::map<std::string, std::size_t> refusals;
  std::size_t run = 0, with_symbols = 0, joined = 0, refused = 0, with_images = 0;
  for (const std::uint64_t seed : seeds) {
    std::cerr << "DNNKIT_SEED=" << seed << '\r';  // all that is seen where a kernel or the driver crashes
    const dk::graph g = graph_from(seed);
    const auto check = [&](const std::string& wrong, std::string_view how) {
      CHECK_MESSAGE(wrong.empty(), "DNNKIT_SEED=" << seed << ", " << how << ": " << wrong << "\n"
                                                  << harness::describe(g));
    };
    REQUIRE_MESSAGE(g.error.view() == "", "DNNKIT_SEED=" << seed);
    // Is it run? Else there is no kernel for it.
    const auto runs = [&](std::string_view how, const harness::opencl_planning& planning) {
      if (const std::string why = harness::opencl_refusal(g, planning); !why.empty()) {
        ++refusals[std::string(how) + ": " + why];
        if (why.find("OpenCL") == std::string::npos) check(why, how);
        return false;
      }
      try {
        check(harness::opencl_error(g, seed, planning), how);
      } catch (const dk::error& e) { check(e.what(), how); }
      return true;
    };
    if (runs("as planned", {})) {
      ++run;
      with_symbols += !g.symbols.symbols.empty();
      with_images += harness::values_in_images(g) != 0;
    } else {
      ++refused;
    }
    if (seed % 5 == 0) runs("no pass that can be left out", {.left_out = optional});
    if (harness::opencl_joined(g) == 0) continue;
    joined += runs("stages joined", {.eager = true});
    runs("stages apart", {.left_out = joining});
  }
  for (const auto& [why, count] : refusals) MESSAGE(count << " refused " << why);
  MESSAGE(run << " graphs were run, " << with_symbols << " with symbols, " << joined << " with joined stages, "
              << with_images << " once more with values in images");
  if (seeds.size() >= 10) CHECK(refused * 8 <= seeds.size());
  if (seeds.size() >= 10) CHECK(with_images * 10 >= seeds.size());
  if (seeds.size() >= 100) CHECK(joined * 100 >= seeds.size());
}
