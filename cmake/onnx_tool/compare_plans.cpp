// SPDX-License-Identifier: MIT
// dnnkit compare-plans: the plans of one model by all passes and without some, or for two targets, or of two models,
// beside each other.
#include "dnnkit/inspect/compare_plans.hpp"

#include <fmt/format.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "cmake/onnx_tool/plan_options.hpp"
#include "dnnkit/core/printable.hpp"

namespace dnnkit::tool {

int compare_plans(int argc, char** argv) {
  cxxopts::Options options(
      "dnnkit compare-plans",
      "Prints two plans beside each other: operators, kernels, FLOPs, bytes of intermediates, memory, expected time, "
      "then the kernels, fused edges and layouts that differ. Of one model, what all passes make of it and what they "
      "do without those named by --without, or without fusion and all others that can be left out; or what they make "
      "of "
      "it for two targets, as with --target cpu,opencl; or of two models.");
  add_input_option(options);
  add_plan_options(options);
  options.add_options()("json", "the same as one JSON object");
  const auto arguments = parse(options, argc, argv, models_taken::one_or_two);
  if (!arguments) return 0;
  const std::vector<plan_options> targets = plan_options_of_targets(*arguments, 2);
  const bool two = arguments->count("other") != 0, two_targets = targets.size() == 2;
  if (two && two_targets)
    throw error("names two targets for one model, which is compared with itself", "--target", {}, "two models");
  plan_options by_all = targets.front(), by_some = targets.back();
  if (!two_targets) by_all.left_out.clear();
  if (two && !by_some.left_out.empty())
    throw error("is for one model, which is compared with itself", "--without", {}, "two models");
  if (by_some.left_out.empty() && !two_targets) by_some.left_out = passes_to_do_without();

  const tensors given = inputs_of(*arguments);
  const model m = load_supported(*arguments, given);
  const plan::plan_draft first = logged_plan(m, by_all);
  const plan::plan_draft second =
      two ? logged_plan(load_supported(*arguments, given, "other"), by_all) : logged_plan(m, by_some);
  if (arguments->count("json") != 0) {
    std::cout << compare_plans_json(view_of(first), view_of(second));
    return 0;
  }
  const auto file = [&](const char* argument) { return printable((*arguments)[argument].as<std::string>()); };
  if (two) fmt::print("first: {}\nsecond: {}\n\n", file("model"), file("other"));
  else if (two_targets) fmt::print("first: for {}\nsecond: for {}\n\n", by_all.target, by_some.target);
  else fmt::print("first: all passes\nsecond: without {}\n\n", fmt::join(by_some.left_out, ", "));
  std::fflush(stdout);
  std::cout << printable(dnnkit::compare_plans(view_of(first), view_of(second)).str(), line_feeds::kept);
  return 0;
}

}  // namespace dnnkit::tool
