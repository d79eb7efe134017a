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
    images += static_cast<std::size_t>(plan::bytes_of(size, type));
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

// Which kernels of a run recipe r is, numbered as traces number them, and what the operands of the first of them are.
std::string heading_of(const plan_view& plan, std::size_t r) {
  const symbol_table symbols = plan::table_of(plan);
  std::string steps, operands;
  const auto add = [&](const auto& list, bool is_setup) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const plan::step& s = list[i];
      if (s.kernel != r) continue;
      steps += steps.empty() ? "\n// " : ", ";
      steps += is_setup ? "when weights are loaded" : "kernel " + std::to_string(i + 1);
      steps += " '" + printable(plan.text_of(s.name)) + '\'';
      if (!operands.empty()) continue;
      const auto numbers = plan.numbers_of(s.operands);
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        const plan::buffer& b = plan.buffers[static_cast<std::size_t>(numbers[k])];
        operands += "\n//   b" + std::to_string(k) + ": " + std::string(name(b.type.type)) + ' ' +
                    print(symbols, b.type.dims).str() + " '" + printable(plan.text_of(b.name)) + '\'';
      }
    }
  };
  add(plan.setup_steps, true);
  add(plan.steps, false);
  return steps + operands + '\n';
}

// The same text with lines two further in for each brace that is open; no line of what kernels are written as is longer
// than a statement.
std::string indented(std::string_view text) {
  std::string all;
  std::size_t depth = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool closes = line.starts_with('}');
    if (!line.starts_with('#')) all.append(2 * (depth - (closes && depth > 0 ? 1 : 0)), ' ');
    (all += line) += '\n';
    if (line.starts_with("//")) continue;
    for (const char c : line) {
      if (c == '{') ++depth;
      if (c == '}' && depth > 0) --depth;
    }
  }
  return all;
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
    const written_kernel k = kernel_of(view, r);
    all += heading_of(view, r) + (k.problem.empty() ? indented(k.text) : "// " + printable(k.problem) + '\n');
  }
  return all;
}

}  // namespace dnnkit::onnx
