// SPDX-License-Identifier: MIT
// The devices that plans can be looked at for, though nothing is compiled from these (opencl/planned_families.hpp).
#pragma once

#include <string_view>

#include "cmake/onnx_tool/instruction_sets.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::tool {

struct planned_device {
  std::string_view name;
  plan::plan_draft (*logged_plan)(dnnkit::graph, pass_names left_out);
};

// By the name that --target has for it; null where there is none.
const planned_device* find_device(std::string_view name);

}  // namespace dnnkit::tool
