// SPDX-License-Identifier: MIT
// The passes and the writers of kernels that the compiler would run. A unit of its own: it takes as long to compile as
// all else of the generator.
#include "opencl_kernels.hpp"  // which lies beside it in an installed package, too

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/opencl/kernels.hpp"
#include "dnnkit/plan/image_place.hpp"
#include "dnnkit/runtime/stored_data.hpp"

namespace dnnkit::onnx {

namespace {

plan::plan_draft plan_for_opencl(dnnkit::graph g, std::span<const std::string_view> left_out, bool images) {
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

// What a session of a plan whose sizes are known has on the device, of bytes: all but what sums are handed over in.
std::string memory_of(const plan_view& plan) {
  std::size_t known = 0, of_caller = 0, images = 0;
  std::vector<bool> is_read(plan.buffers.size());
  for (const plan::step& s : plan.steps)
    for (const std::int32_t b : plan.numbers_of(s.operands)) is_read[static_cast<std::size_t>(b)] = true;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const plan::buffer& b = plan.buffers[i];
    if (b.where == plan::storage::input || b.where == plan::storage::output) of_caller += detail::bytes_of(b);
    else if (is_read[i] && !is_between_kernels(b.where)) known += detail::bytes_of(b);
  }
  plan::for_each_image(plan.buffers, [&](std::size_t, dtype type, plan::image_size size) {
    images += static_cast<std::size_t>(4 * size.texels()) * size_of(type);
  });
  return "// On the device, in bytes: " + std::to_string(plan.arena_bytes) + " in buffers and " +
         std::to_string(images) + " in images between kernels; " + std::to_string(known) +
         " of weights and what is computed from them; " + std::to_string(of_caller) + " of inputs and outputs.\n";
}

// A sentence for each kernel that there cannot be.
std::vector<std::string> problems_of(dnnkit::graph g, std::span<const std::string_view> left_out) {
  const plan::plan_draft plan = plan_for_opencl(std::move(g), left_out, false);
  if (!plan.error.empty()) return {plan.error.str()};
  std::vector<std::string> problems;
  const plan_view view = view_of(plan);  // which the writers refer to
  for (std::size_t r = 0; r < view.recipes.size(); ++r)
    if (std::string problem = kernel_of(view, r).problem; !problem.empty()) problems.push_back(std::move(problem));
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

std::string texts_for_opencl(dnnkit::graph g, std::span<const std::string_view> left_out, bool images) {
  const plan::plan_draft plan = plan_for_opencl(std::move(g), left_out, images);
  if (!plan.error.empty()) throw error(plan.error.str(), "the plan for OpenCL");
  const plan_view view = view_of(plan);
  std::string all = (view.is_static ? memory_of(view) : "") + std::string(opencl::prelude);
  for (std::size_t r = 0; r < view.recipes.size(); ++r) {
    all += "\n//";
    for (const auto& steps : {view.setup_steps, view.steps})
      for (const plan::step& s : steps)
        if (s.kernel == r) all += ' ' + printable(view.text_of(s.name).empty() ? "(no name)" : view.text_of(s.name));
    const written_kernel k = kernel_of(view, r);
    all += '\n' + (k.problem.empty() ? k.text : "// " + printable(k.problem) + '\n');
  }
  return all;
}

}  // namespace dnnkit::onnx
