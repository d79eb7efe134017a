// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/plan_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cmake/onnx_tool/instruction_sets.hpp"
#include "cmake/onnx_tool/planned_devices.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/plan/kernel_key.hpp"
#include "dnnkit/source/layer_names.hpp"

namespace dnnkit::tool {

namespace {

constexpr const auto& all_passes = passes_of<default_pipeline>;

// The pass of this name, in which - and _ may stand for spaces. Raises dnnkit::error where there is none, and for one
// that cannot be left out.
std::string_view pass_to_leave_out(const std::string& name) {
  std::string spaced = name;
  for (char& c : spaced)
    if (c == '-' || c == '_') c = ' ';
  const auto* const found = std::ranges::find(all_passes, spaced, &pass_facts::name);
  if (found == all_passes.end()) {
    std::vector<std::string_view> names;
    for (const pass_facts& pass : all_passes)
      if (pass.needed.empty()) names.push_back(pass.name);
    throw error("is no pass", "--without", fmt::format("one of {}", fmt::join(names, ", ")), name);
  }
  if (!found->needed.empty())
    throw error(fmt::format("the pass '{}' cannot be left out: {}", found->name, found->needed), "--without");
  return found->name;
}

}  // namespace

void add_left_out_option(cxxopts::Options& options) {
  options.add_options()(
      "without", "a pass to leave out, by the name that the log has for it, such as 'join stages' or join-stages",
      cxxopts::value<std::vector<std::string>>());
}

std::vector<std::string_view> left_out_of(const cxxopts::ParseResult& arguments) {
  std::vector<std::string_view> left_out;
  if (arguments.count("without") != 0)
    for (const std::string& name : arguments["without"].as<std::vector<std::string>>())
      left_out.push_back(pass_to_leave_out(name));
  return left_out;
}

void add_plan_options(cxxopts::Options& options) {
  options.add_options()("isa",
                        "the instruction set to plan for, by default this machine's: sse2, avx2, avx512, "
                        "avx512_vnni, avx512_amx or neon",
                        cxxopts::value<std::string>())(
      "target",
      "what to plan for: cpu; opencl, a server's GPU; or opencl_small, two cores behind OpenCL. Plans for OpenCL are "
      "what kernels with local memory would make of the model, and are not compiled",
      cxxopts::value<std::string>()->default_value("cpu"));
  add_left_out_option(options);
  add_tuned_option(options);
}

plan_options plan_options_of(const cxxopts::ParseResult& arguments) {
  return plan_options_of_targets(arguments, 1).front();
}

std::vector<plan_options> plan_options_of_targets(const cxxopts::ParseResult& arguments, std::size_t most) {
  plan_options options;
  if (arguments.count("isa") != 0) options.isa = set_named(arguments["isa"].as<std::string>()).name;
  options.left_out = left_out_of(arguments);
  options.tuned = tuned_rows_of(arguments);
  std::vector<plan_options> of_targets;
  bool any_cpu = false;
  std::istringstream in(arguments["target"].as<std::string>());
  for (std::string name; std::getline(in, name, ',');) {
    const auto is_this = [&](const plan_options& other) { return other.target == name; };
    const bool is_cpu = name == "cpu";
    if ((!is_cpu && find_device(name) == nullptr) || std::ranges::any_of(of_targets, is_this))
      throw error("takes names of targets, each once", "--target", "of cpu, opencl and opencl_small", name);
    any_cpu = any_cpu || is_cpu;
    options.target = name;
    of_targets.push_back(options);
  }
  if (of_targets.empty()) throw error("names no target", "--target");
  if (of_targets.size() > most)
    throw error("takes so many names of targets", "--target", fmt::format("at most {}", most),
                std::to_string(of_targets.size()));
  for (const auto& [option, is_given] :
       {std::pair("--isa", !options.isa.empty()), std::pair("--tuned", arguments.count("tuned") != 0)})
    if (is_given && !any_cpu) throw error("is for the target cpu", option, {}, "--target " + options.target);
  return of_targets;
}

std::vector<std::string_view> passes_to_do_without() {
  std::vector<std::string_view> names;
  for (const pass_facts& pass : all_passes)
    if (pass.needed.empty()) names.push_back(pass.name);
  return names;
}

const cpu_facts& facts_of(const plan_options& options) {
  return options.isa.empty() ? targets::native::facts : *set_named(options.isa).facts;
}
std::vector<tuned_row> rows_for_kernels(const model& m, plan_options options, const std::vector<std::string>& isas) {
  if (options.tuned.empty()) return {};
  std::set<std::uint64_t> keys;
  const auto add_keys = [&] {
    const plan::plan_draft plan = logged_plan(m, options);
    const plan::plan_view view = view_of(plan);
    for (std::size_t r = 0; r < view.recipes.size(); ++r)
      keys.insert(plan::key_of(kernel_spec(view, r), facts_of(options)));
  };
  if (isas.empty()) add_keys();
  for (const std::string& isa : isas) {
    options.isa = isa;
    add_keys();
  }
  std::erase_if(options.tuned, [&](const tuned_row& row) { return !keys.contains(row.key); });
  return std::move(options.tuned);
}

plan::plan_draft logged_plan(const model& m, const plan_options& options) {
  refuse_uncompilable(m);  // with the names that the file has
  dnnkit::graph g = with_names_for_logs(m.imported.graph);
  const planned_device* const device = find_device(options.target);
  const std::vector<tuned_kernel> tuned = table_of(options.tuned);
  plan::plan_draft plan = device != nullptr ? device->logged_plan(std::move(g), options.left_out)
                          : options.isa.empty()
                              ? cpu::logged_plan(std::move(g), options.left_out, tuned)
                              : set_named(options.isa).logged_plan(std::move(g), options.left_out, tuned);
  if (!plan.error.empty())
    throw refused(error(plan.error.str(), options.left_out.empty()
                                              ? m.file->name()
                                              : fmt::format("--without '{}'", fmt::join(options.left_out, "', '"))));
  return plan;
}

}  // namespace dnnkit::tool
