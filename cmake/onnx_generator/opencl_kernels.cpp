// SPDX-License-Identifier: MIT
// The passes and the writers of kernels that the compiler would run. A unit of its own: it takes as long to compile as
// all else of the generator.
#include "opencl_kernels.hpp"  // which lies beside it in an installed package, too

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/printable.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/opencl/kernels.hpp"

namespace dnnkit::onnx {

namespace {

// A sentence for each kernel that there cannot be.
std::vector<std::string> problems_of(dnnkit::graph g, std::span<const std::string_view> left_out) {
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

}  // namespace

std::string refusal_of_opencl(dnnkit::graph g, std::span<const std::string_view> left_out) {
  constexpr std::size_t most = 10;
  const std::vector<std::string> problems = problems_of(std::move(g), left_out);
  if (problems.empty()) return {};
  std::string all = "the target opencl has no kernels for this model:";
  for (std::size_t i = 0; i < std::min(most, problems.size()); ++i) all += "\n  " + printable(problems[i]);
  if (problems.size() > most) all += "\n  and " + std::to_string(problems.size() - most) + " more";
  return all;
}

}  // namespace dnnkit::onnx
