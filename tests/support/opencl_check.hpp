// SPDX-License-Identifier: MIT
// Graphs of random extents on an OpenCL device, as checks of a doctest case.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/opencl.hpp"
#include "tests/support/random_source.hpp"
#include "tests/support/thoroughly.hpp"

namespace harness {

// build(builder, random_source) makes a graph, for `times` seeds, half as many in quick tests, unless the environment
// says otherwise.
void check_on_device(auto build, std::uint64_t times = 2) {
  for (const std::uint64_t seed : seeds(1, is_thorough ? times : (times + 1) / 2)) {
    CAPTURE(seed);
    dnnkit::builder b;
    random_source r(seed);
    build(b, r);
    const dnnkit::graph g = b.value();
    CHECK_MESSAGE(opencl_error(g, seed) == "", describe(g));
  }
}

// Numbers to check something with: `always`, and `more` in a thorough build.
inline std::vector<std::int64_t> numbers(std::initializer_list<std::int64_t> always,
                                         std::initializer_list<std::int64_t> more) {
  std::vector<std::int64_t> all = always;
  if (is_thorough) all.insert(all.end(), more);
  return all;
}

}  // namespace harness
