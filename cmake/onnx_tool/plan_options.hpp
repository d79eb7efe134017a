// SPDX-License-Identifier: MIT
// Plans that commands show: for which target and instruction set they are made, and by which passes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cmake/onnx_tool/model.hpp"
#include "cmake/onnx_tool/tuned_rows.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::tool {

struct plan_options {
  std::string isa = {};                         // empty: this machine's
  std::vector<std::string_view> left_out = {};  // names of passes of the default pipeline
  std::string target = "cpu";                   // or a device whose facts the library has
  std::vector<tuned_row> tuned = {};            // what was measured of a processor's kernels
};

// --without PASS, as often as given, and the passes that it names. Raises dnnkit::error for a name that is no pass's,
// and for passes that cannot be left out.
void add_left_out_option(cxxopts::Options& options);
std::vector<std::string_view> left_out_of(const cxxopts::ParseResult& arguments);

// That, --isa NAME and --target NAME.
void add_plan_options(cxxopts::Options& options);
// Raises dnnkit::error where they name no instruction set or target, or no pass that can be left out.
plan_options plan_options_of(const cxxopts::ParseResult& arguments);
// The same of each target that --target names, with commas between them: at most `most`, each once.
std::vector<plan_options> plan_options_of_targets(const cxxopts::ParseResult& arguments, std::size_t most);

// All passes without which a plan of every graph can be made.
std::vector<std::string_view> passes_to_do_without();

// The facts of the processor that is planned for.
const cpu_facts& facts_of(const plan_options& options);
// Of the rows of `options.tuned`, those about kernels that the model has for any of these instruction sets; for that of
// `options` where there are none.
std::vector<tuned_row> rows_for_kernels(const model& m, plan_options options, const std::vector<std::string>& isas);

// The plan and log, with layers called as built programs call them. Raises `refused` if compile<> would not accept the
// model, and where the passes that are left make no plan of it.
plan::plan_draft logged_plan(const model& m, const plan_options& options);

}  // namespace dnnkit::tool
