// SPDX-License-Identifier: MIT
// What a family matches, at a cost that no other has: it then carries out all that it can, in small graphs, too.
#pragma once

#include "dnnkit/plan/kernel_family.hpp"

namespace harness {

constexpr dnnkit::kernel_match eager(const dnnkit::kernel_match& match) {
  if (!match) return match;
  dnnkit::kernel_choice c = *match;
  c.cost.cycles = 1;
  return c;
}

}  // namespace harness
