// SPDX-License-Identifier: MIT
// conformance_compiled: runs ONNX's backend tests that were compiled into this program, and compares what is passed
// with status.txt. Groups run in processes of their own, so that one which crashes fails alone.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cxxopts.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "dnnkit/onnx/format/read_model.hpp"
#include "dnnkit/weights/host_bytes.hpp"
#include "dnnkit/weights/safetensors.hpp"
#include "tests/conformance/compiled_group.hpp"
#include "tests/conformance/status.hpp"
#include "tests/conformance/test_case.hpp"

namespace {

namespace dk = dnnkit;
using dk::conformance::compiled_group;
using dk::conformance::compiled_test;
using dk::conformance::verdict;

struct result {
  verdict v = verdict::failed;
  std::string reason;
};

std::string qualified(const compiled_test& t) {
  const std::string set = t.data_set;
  return std::string(t.name) + (set == "test_data_set_0" ? "" : "." + set);
}

// Does the tensor have the shape that the model declares, as far as that is known?
bool fits(const dk::host_tensor& t, const dk::onnx::value_info& declared) {
  if (!declared.shape) return true;
  if (declared.shape->size() != t.dims.size()) return false;
  for (std::size_t d = 0; d < t.dims.size(); ++d)
    if (const auto& x = (*declared.shape)[d]; x.value && *x.value != t.dims[d]) return false;
  return true;
}

// What each test of the group found wrong; empty: nothing. `weights`: where conformance_sources left the tests'
// weights.
std::vector<std::string> run(const compiled_group& group, const std::filesystem::path& weights_folder) {
  std::vector<std::vector<std::byte>> inputs;
  std::vector<std::vector<dk::host_tensor>> expected;
  std::vector<dk::safetensors> files;  // keep what the weights lie in
  std::vector<std::string> problems(group.tests.size());
  std::size_t number = 0;
  for (const compiled_test& t : group.tests) {
    const std::filesystem::path folder = t.folder, set = folder / t.data_set;
    const dk::onnx::file file(folder / "model.onnx");
    const dk::onnx::graph& g = file.model().graph;
    const auto given = dk::conformance::read_tensors(set, "input_", g.inputs);
    for (const char* wanted : t.inputs)
      for (std::size_t i = 0; i < given.size(); ++i)
        if (g.inputs[i].name == wanted) {
          if (!fits(given[i], g.inputs[i])) problems[number] = "the data has an input of another shape than declared";
          inputs.push_back(dk::element_bytes(given[i]));
        }
    expected.push_back(dk::conformance::read_tensors(set, "output_", g.outputs));
    ++number;
    if (const auto path = weights_folder / (qualified(t) + ".safetensors"); std::filesystem::exists(path))
      files.emplace_back(path);
  }
  std::vector<dk::stored_tensor> weights;
  for (const dk::safetensors& f : files) weights.insert(weights.end(), f.tensors().begin(), f.tensors().end());
  const auto outputs = group.run(inputs, dk::weight_file("the tests' weights", weights));
  std::size_t next = 0;
  for (std::size_t k = 0; k < group.tests.size(); ++k) {
    std::string& problem = problems[k];
    if (expected[k].empty()) problem = "the data set has no output";
    for (std::size_t i = 0; i < group.tests[k].outputs; ++i, ++next) {
      if (i >= expected[k].size() || !problem.empty()) continue;
      std::vector<std::int64_t> dims;
      for (dk::dim d : outputs[next].type.dims) dims.push_back(d.value());
      const dk::host_tensor found = dk::to_host_tensor({"", outputs[next].type.type, dims, outputs[next].bytes});
      if (const std::string d = dk::conformance::difference(expected[k][i], found); !d.empty())
        problem = "output " + std::to_string(i) + " " + d;
    }
  }
  return problems;
}

// One line a test, from a process of its own.
std::vector<std::string> run_apart(const compiled_group& group, const std::filesystem::path& weights) {
  int ends[2];
  if (pipe(ends) != 0) throw dk::error("cannot make a pipe", "conformance_compiled");
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    std::string all;
    try {
      for (std::string p : run(group, weights)) {
        for (char& c : p)
          if (c == '\n') c = ' ';
        all += p + "\n";
      }
    } catch (const std::exception& e) {
      std::string p = e.what();
      for (char& c : p)
        if (c == '\n') c = ' ';
      for (std::size_t i = 0; i < group.tests.size(); ++i) all += p + "\n";
    }
    for (std::size_t at = 0; at < all.size();) {
      const ssize_t n = write(ends[1], all.data() + at, all.size() - at);
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string all;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) all.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  std::vector<std::string> lines;
  std::istringstream in(all);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  lines.resize(group.tests.size(),
               WIFSIGNALED(status) ? "its group died of signal " + std::to_string(WTERMSIG(status)) : "no result");
  return lines;
}

std::string escaped(const std::string& s) {
  std::string q;
  for (const char c : s) {
    if (c == '"' || c == '\\') q += '\\';
    q += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return q;
}

int run_all(const cxxopts::ParseResult& arguments) {
  constexpr const char* executor = "compiled";
  const dk::conformance::status_file status(arguments["status"].as<std::string>());
  const std::regex only(arguments["only"].as<std::string>());
  std::map<std::string, result> results;
  for (const auto& t : dk::conformance::find_tests(arguments["data"].as<std::string>())) {
    if (!std::regex_search(t.name, only)) continue;
    const std::string skipped = status.reason_to_skip(dk::onnx::file(t.folder / "model.onnx").model());
    results[t.name] = skipped.empty() ? result{verdict::failed, "is not compiled"} : result{verdict::skipped, skipped};
  }
  for (const compiled_group& group : dk::conformance::groups()) {
    const bool wanted = std::any_of(group.tests.begin(), group.tests.end(),
                                    [&](const compiled_test& t) { return results.contains(t.name); });
    if (!wanted) continue;
    const std::vector<std::string> problems = run_apart(group, arguments["weights"].as<std::string>());
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const auto found = results.find(group.tests[i].name);
      if (found == results.end()) continue;
      const bool first = found->second.reason == "is not compiled";
      if (first || found->second.v == verdict::passed)
        found->second = problems[i].empty() ? result{verdict::passed, ""} : result{verdict::failed, problems[i]};
    }
  }
  std::size_t counts[3] = {0, 0, 0}, surprises = 0;
  for (const auto& [name, r] : results) {
    ++counts[static_cast<std::size_t>(r.v)];
    if (r.v != verdict::passed) std::cout << name << ": " << dk::conformance::name(r.v) << ": " << r.reason << "\n";
    const bool listed = status.lists(name, executor);
    if (listed == (r.v == verdict::passed)) {
      ++surprises;
      std::cout << name << ": " << (listed ? "is passed, but listed" : "is not passed, and not listed")
                << " in the status file\n";
    }
  }
  if (arguments.count("json")) {
    std::ofstream out(arguments["json"].as<std::string>());
    for (const auto& [name, r] : results)
      out << "{\"name\": \"" << escaped(name) << "\", \"verdict\": \"" << dk::conformance::name(r.v)
          << "\", \"reason\": \"" << escaped(r.reason) << "\"}\n";
  }
  if (surprises) std::cout << surprises << " differences from the status file\n";
  std::cout << counts[0] << " passed, " << counts[1] << " failed, " << counts[2] << " skipped\n";
  return surprises ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  cxxopts::Options options("conformance_compiled", "Runs ONNX's backend tests that are compiled into this program.");
  options.add_options()("data", "folder with tests, at any depth below it", cxxopts::value<std::string>())(
      "executor", "compiled", cxxopts::value<std::string>()->default_value("compiled"))(
      "only", "tests whose names match", cxxopts::value<std::string>()->default_value(""))(
      "json", "file for one JSON object a test", cxxopts::value<std::string>())(
      "status", "list of what is not passed", cxxopts::value<std::string>()->default_value(DNNKIT_CONFORMANCE_STATUS))(
      "weights", "folder with the tests' weights, that of the generated sources",
      cxxopts::value<std::string>()->default_value(DNNKIT_CONFORMANCE_WEIGHTS))("help", "this text");
  try {
    const auto arguments = options.parse(argc, argv);
    if (arguments.count("help") || !arguments.count("data")) {
      std::cout << options.help();
      return arguments.count("help") ? 0 : 2;
    }
    return run_all(arguments);
  } catch (const std::exception& e) {
    std::cerr << "conformance_compiled: " << e.what() << "\n";
    return 2;
  }
}
