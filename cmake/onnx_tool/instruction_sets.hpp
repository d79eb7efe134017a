// SPDX-License-Identifier: MIT
// The instruction sets that commands take by name: for which programs are built, and plans are made to be looked at.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/cost/target.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::tool {

using pass_names = std::span<const std::string_view>;
// The plan, with its log, that dnnkit::compile of a model with this graph and this table of what was measured makes for
// Target, by all passes but those left out.
template <class Target> plan::plan_draft logged_plan_for(dnnkit::graph g, pass_names left_out, tuned_table tuned);

struct instruction_set {
  std::string_view name, flags;
  plan::plan_draft (*logged_plan)(dnnkit::graph, pass_names left_out, tuned_table tuned);
  const cpu_facts* facts;
};
template <class Target>
inline constexpr instruction_set set_of{Target::name, Target::flags, &logged_plan_for<Target>, &Target::facts};
inline constexpr std::array instruction_sets{set_of<targets::sse2>,       set_of<targets::avx2>,
                                             set_of<targets::avx512>,     set_of<targets::avx512_vnni>,
                                             set_of<targets::avx512_amx>, set_of<targets::neon>};

// "avx2,avx512", the value of --isa, as sets, each once. Raises dnnkit::error for another name, or none.
std::vector<instruction_set> sets_named(const std::string& list);
// The same of one.
instruction_set set_named(const std::string& name);

}  // namespace dnnkit::tool
