// SPDX-License-Identifier: MIT
#include "cmake/onnx_tool/instruction_sets.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"

namespace dnnkit::tool {

template <class Target> plan::plan_draft logged_plan_for(dnnkit::graph g, pass_names left_out, tuned_table tuned) {
  return cpu::logged_plan<default_pipeline, Target>(std::move(g), left_out, tuned);
}
template plan::plan_draft logged_plan_for<targets::sse2>(dnnkit::graph, pass_names, tuned_table);
template plan::plan_draft logged_plan_for<targets::avx2>(dnnkit::graph, pass_names, tuned_table);
template plan::plan_draft logged_plan_for<targets::avx512>(dnnkit::graph, pass_names, tuned_table);
template plan::plan_draft logged_plan_for<targets::avx512_vnni>(dnnkit::graph, pass_names, tuned_table);
template plan::plan_draft logged_plan_for<targets::avx512_amx>(dnnkit::graph, pass_names, tuned_table);
template plan::plan_draft logged_plan_for<targets::neon>(dnnkit::graph, pass_names, tuned_table);

namespace {
constexpr std::string_view all_names = "sse2, avx2, avx512, avx512_vnni, avx512_amx and neon";
}

std::vector<instruction_set> sets_named(const std::string& list) {
  std::vector<instruction_set> sets;
  std::istringstream in(list);
  for (std::string name; std::getline(in, name, ',');) {
    const auto is_this = [&](const instruction_set& set) { return set.name == name; };
    const auto found = std::ranges::find_if(instruction_sets, is_this);
    if (found == instruction_sets.end() || std::ranges::any_of(sets, is_this))
      throw error("takes names of instruction sets, each once", "--isa", "of " + std::string(all_names), name);
    sets.push_back(*found);
  }
  if (sets.empty()) throw error("names no instruction set", "--isa");
  return sets;
}

instruction_set set_named(const std::string& name) {
  const std::vector<instruction_set> sets = sets_named(name);
  if (sets.size() > 1)
    throw error("takes the name of one instruction set", "--isa", "one of " + std::string(all_names), name);
  return sets[0];
}

}  // namespace dnnkit::tool
