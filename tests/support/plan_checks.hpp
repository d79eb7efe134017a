// SPDX-License-Identifier: MIT
// What must hold of every plan, checked from the outside: nothing here calls the code that made it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dnnkit/pass/fusion_plan.hpp"
#include "dnnkit/plan/plan.hpp"

namespace harness {

// Every live node that computes is in a kernel, each kernel finds its operands stored by an earlier one, and every
// output of the graph is stored once. Empty when all is well, else what is wrong.
std::string fusion_error(const dnnkit::graph& g, const dnnkit::fusion_plan& fusion);

// With the symbols' values: layouts are permutations, the caller's buffers are row-major without border, operands and
// tables are in range, no view leaves its buffer, buffers that live at the same time do not overlap in the arena.
std::string plan_error(const dnnkit::plan_draft& plan, const std::vector<std::int64_t>& symbols);

}  // namespace harness
