// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/opencl_kernels.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/opencl/kernels.hpp"

namespace dnnkit::tool {

std::vector<std::string> problems_for_opencl(dnnkit::graph g, pass_names left_out) {
  const plan::plan_draft plan = cpu::logged_plan<default_pipeline, targets::opencl>(std::move(g), left_out);
  if (!plan.error.empty()) return {plan.error.str()};
  std::vector<std::string> problems;
  const plan_view view = view_of(plan);  // which the writers refer to
  for (std::size_t r = 0; r < view.recipes.size(); ++r) {
    opencl::source_writer counted(nullptr, 0);  // the text itself is not wanted
    const opencl::kernel_draft kernel = opencl::write_kernel<builtin_set>(view, r, counted);
    if (!kernel.error.empty()) problems.push_back(kernel.error.str());
  }
  return problems;
}

}  // namespace dnnkit::tool
