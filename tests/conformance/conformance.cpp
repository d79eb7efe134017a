// SPDX-License-Identifier: MIT
// Runs ONNX's backend tests through the reference evaluator, on graphs as imported or after all rewriting passes, or
// through the plan executor, and compares what is passed with status.txt.
#include <chrono>
#include <cxxopts.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/onnx/import.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/plan_executor.hpp"
#include "tests/conformance/status.hpp"
#include "tests/conformance/test_case.hpp"
#include "tests/support/opencl.hpp"

namespace {

namespace dk = dnnkit;
using dk::conformance::test_case;
using dk::conformance::verdict;

struct result {
  verdict v = verdict::passed;
  std::string reason;
};

// The graph of a model, with the inputs that decide shapes taken from the data set.
dk::onnx::import_result import_with(dk::onnx::file& f,
                                    const std::map<std::string, dk::host_tensor, std::less<>>& given) {
  dk::onnx::import_options options;
  while (true) {
    dk::onnx::import_result imported = dk::onnx::import_model(f, options);
    bool more = false;
    for (const std::string& name : imported.inputs_to_bind)
      if (const auto found = given.find(name); found != given.end()) more |= options.bind.emplace(*found).second;
    if (imported.ok() || !more) return imported;
  }
}

std::string run_set(dk::onnx::file& f, const std::filesystem::path& set, const std::string& executor) {
  const dk::onnx::model& m = f.model();
  std::vector<dk::onnx::value_info> declared;
  for (const dk::onnx::value_info& i : m.graph.inputs) declared.push_back(i);
  const std::vector<dk::host_tensor> given = dk::conformance::read_tensors(set, "input_", declared);
  const std::vector<dk::host_tensor> expected = dk::conformance::read_tensors(set, "output_", m.graph.outputs);
  std::map<std::string, dk::host_tensor, std::less<>> by_name;
  for (std::size_t i = 0; i < given.size(); ++i) by_name.emplace(std::string(declared[i].name), given[i]);
  dk::onnx::import_result imported = import_with(f, by_name);
  if (!imported.ok()) return imported.problems.front().describe();
  if (executor == "passes") imported.graph = dk::cpu::rewritten(std::move(imported.graph));
  std::vector<dk::host_tensor> inputs;
  for (dk::value_id v : imported.graph.inputs) {
    const auto found = by_name.find(imported.graph.name_of(v));
    if (found == by_name.end()) return "no value for input '" + std::string(imported.graph.name_of(v)) + "'";
    inputs.push_back(found->second);
  }
  const dk::weight_source weights = dk::onnx::weights_of(f, imported);
  const std::vector<dk::host_tensor> outputs =
      executor == "plan"     ? dk::execute(dk::plan::view_of(dk::cpu::planned(imported.graph)), inputs, weights)
      : executor == "opencl" ? harness::opencl_outputs(imported.graph, inputs, weights)
                             : dk::evaluate(imported.graph, inputs, weights);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i >= outputs.size()) return "output " + std::to_string(i) + " is missing";
    if (std::string d = dk::conformance::difference(expected[i], outputs[i]); !d.empty())
      return "output " + std::to_string(i) + " " + d;
  }
  return expected.empty() ? "the data set has no output" : "";
}

result run(const test_case& t, const dk::conformance::status_file& status, const std::string& executor) {
  try {
    dk::onnx::file f(t.folder / "model.onnx");
    if (const std::string reason = status.reason_to_skip(f.model()); !reason.empty()) return {verdict::skipped, reason};
    const auto sets = dk::conformance::data_sets(t);
    if (sets.empty()) return {verdict::failed, "no data set"};
    for (const auto& set : sets)
      if (const std::string problem = run_set(f, set, executor); !problem.empty()) return {verdict::failed, problem};
    return {};
  } catch (const std::exception& e) { return {verdict::failed, e.what()}; }
}

std::string quoted(const std::string& s) {
  std::string q = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') q += '\\';
    q += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return q + "\"";
}

int run_all(const cxxopts::ParseResult& arguments) {
  const std::string executor = arguments["executor"].as<std::string>();
  if (executor != "reference" && executor != "passes" && executor != "plan" && executor != "opencl")
    throw dk::error("no such executor", "--executor", "reference, passes, plan or opencl", executor);
  const dk::conformance::status_file status(arguments["status"].as<std::string>());
  const std::regex only(arguments["only"].as<std::string>());
  std::map<std::string, result> results;
  const auto tests = dk::conformance::find_tests(arguments["data"].as<std::string>());
  auto last = std::chrono::steady_clock::now();
  std::size_t done = 0;
  for (const test_case& t : tests) {
    ++done;
    if (!std::regex_search(t.name, only)) continue;
    if (const auto now = std::chrono::steady_clock::now(); now - last > std::chrono::seconds(1)) {
      std::cerr << done << " of " << tests.size() << "\r";
      last = now;
    }
    results.emplace(t.name, run(t, status, executor));
  }
  std::size_t counts[3] = {0, 0, 0}, surprises = 0;
  for (const auto& [name, r] : results) {
    ++counts[static_cast<std::size_t>(r.v)];
    const bool listed = status.lists(name, executor);
    if (r.v != verdict::passed) std::cout << name << ": " << dk::conformance::name(r.v) << ": " << r.reason << "\n";
    if (listed == (r.v == verdict::passed)) {
      ++surprises;
      std::cout << name << ": " << (listed ? "is passed, but listed" : "is not passed, and not listed")
                << " in the status file\n";
    }
  }
  if (arguments.count("json")) {
    std::ofstream out(arguments["json"].as<std::string>());
    for (const auto& [name, r] : results)
      out << "{\"name\": " << quoted(name) << ", \"verdict\": \"" << dk::conformance::name(r.v)
          << "\", \"reason\": " << quoted(r.reason) << "}\n";
  }
  if (surprises) std::cout << surprises << " differences from the status file\n";
  std::cout << counts[0] << " passed, " << counts[1] << " failed, " << counts[2] << " skipped\n";
  return surprises ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("conformance", "Runs ONNX's backend tests.");
  options.add_options()("data", "folder with tests, at any depth below it", cxxopts::value<std::string>())(
      "executor",
      "reference: the graph as imported; passes: after all rewriting passes; plan: the plan, in its buffers; opencl: "
      "its kernels on an OpenCL device",
      cxxopts::value<std::string>()->default_value("reference"))("only", "tests whose names match",
                                                                 cxxopts::value<std::string>()->default_value(""))(
      "json", "file for one JSON object a test", cxxopts::value<std::string>())(
      "status", "list of what is not passed", cxxopts::value<std::string>()->default_value(DNNKIT_CONFORMANCE_STATUS))(
      "help", "this text");
  try {
    const auto arguments = options.parse(argc, argv);
    if (arguments.count("help") || !arguments.count("data")) {
      std::cout << options.help();
      return arguments.count("help") ? 0 : 2;
    }
    return run_all(arguments);
  } catch (const std::exception& e) {
    std::cerr << "conformance: " << e.what() << "\n";
    return 2;
  }
}
