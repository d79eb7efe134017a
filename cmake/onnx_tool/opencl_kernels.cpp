// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/opencl_kernels.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/opencl/kernels.hpp"

namespace dnnkit::tool {

namespace {

plan::plan_draft plan_for_opencl(dnnkit::graph g, pass_names left_out, bool images) {
  if (images) return cpu::logged_plan<default_pipeline, targets::opencl_in<dnnkit::images>>(std::move(g), left_out);
  return cpu::logged_plan<default_pipeline, targets::opencl>(std::move(g), left_out);
}

// The text of recipe number r, or why there is none.
struct written_kernel {
  std::string text, problem;
};
written_kernel kernel_of(const plan_view& plan, std::size_t r) {
  opencl::source_writer counted(nullptr, 0);  // how long it is
  const opencl::kernel_draft draft = opencl::write_kernel<builtin_set>(plan, r, counted);
  written_kernel k{std::string(counted.size(), ' '), draft.error.str()};
  opencl::source_writer source(k.text.data(), k.text.size());
  static_cast<void>(opencl::write_kernel<builtin_set>(plan, r, source));
  return k;
}

}  // namespace

std::vector<std::string> problems_for_opencl(dnnkit::graph g, pass_names left_out) {
  const plan::plan_draft plan = plan_for_opencl(std::move(g), left_out, false);
  if (!plan.error.empty()) return {plan.error.str()};
  std::vector<std::string> problems;
  const plan_view view = view_of(plan);  // which the writers refer to
  for (std::size_t r = 0; r < view.recipes.size(); ++r)
    if (std::string problem = kernel_of(view, r).problem; !problem.empty()) problems.push_back(std::move(problem));
  return problems;
}

std::string texts_for_opencl(dnnkit::graph g, pass_names left_out, bool images) {
  const plan::plan_draft plan = plan_for_opencl(std::move(g), left_out, images);
  if (!plan.error.empty()) throw error(plan.error.str(), "the plan for OpenCL");
  const plan_view view = view_of(plan);
  std::string all(opencl::prelude);
  for (std::size_t r = 0; r < view.recipes.size(); ++r) {
    all += "\n// ";
    std::size_t runs = 0;
    for (const auto& steps : {view.setup_steps, view.steps})
      for (const plan::step& s : steps)
        if (s.kernel == r) {
          const std::string_view name = view.text_of(s.name);
          all += fmt::format("{}{}", runs++ == 0 ? "" : ", ", name.empty() ? "a kernel without a name" : name);
        }
    const written_kernel k = kernel_of(view, r);
    all += '\n' + (k.problem.empty() ? k.text : "// " + k.problem + '\n');
  }
  return all;
}

}  // namespace dnnkit::tool
