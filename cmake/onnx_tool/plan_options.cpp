// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/plan_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cmake/onnx_tool/instruction_sets.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
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
    for (const pass_facts& pass : all_passes) names.push_back(pass.name);
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
                        cxxopts::value<std::string>());
  add_left_out_option(options);
}

plan_options plan_options_of(const cxxopts::ParseResult& arguments) {
  plan_options options;
  if (arguments.count("isa") != 0) options.isa = set_named(arguments["isa"].as<std::string>()).name;
  options.left_out = left_out_of(arguments);
  return options;
}

std::vector<std::string_view> passes_to_do_without() {
  std::vector<std::string_view> names;
  for (const pass_facts& pass : all_passes)
    if (pass.needed.empty()) names.push_back(pass.name);
  return names;
}

plan::plan_draft logged_plan(const model& m, const plan_options& options) {
  refuse_uncompilable(m);  // with the names that the file has
  dnnkit::graph g = with_names_of_layers(m.imported.graph);
  plan::plan_draft plan = options.isa.empty() ? cpu::logged_plan(std::move(g), options.left_out)
                                              : set_named(options.isa).logged_plan(std::move(g), options.left_out);
  if (!plan.error.empty())
    throw refused(error(plan.error.str(), options.left_out.empty()
                                              ? m.file->name()
                                              : fmt::format("--without '{}'", fmt::join(options.left_out, "', '"))));
  return plan;
}

}  // namespace dnnkit::tool
