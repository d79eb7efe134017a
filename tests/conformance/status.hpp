// SPDX-License-Identifier: MIT
// The list of tests that are not passed, and of the operators and types that are not supported (status.txt).
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/onnx/format/model.hpp"

namespace dnnkit::conformance {

enum class verdict { passed, failed, skipped };
constexpr std::string_view name(verdict v) {
  return v == verdict::passed ? "passed" : v == verdict::failed ? "failed" : "skipped";
}

// What status.txt says, a line each:
//   operator NAME reason     a model with this operator is skipped
//   type NAME reason         a model with an input, output or initialiser of this element type or kind is skipped
//   test NAME reason         this test is not passed, by any executor
//   test NAME@EXECUTOR reason   not by this one, nor, if that is `plan`, by `compiled` and `opencl`, which have plans
//   test NAME@open reason       not by those that import the model with open extents, all but `compiled`
class status_file {
 public:
  status_file() = default;
  explicit status_file(const std::filesystem::path& path) {
    std::ifstream in(path);
    if (!in) throw error("file cannot be read", path.string());
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
      std::istringstream words(line);
      std::string kind, what, reason;
      if (!(words >> kind) || kind[0] == '#') continue;
      words >> what >> std::ws;
      std::getline(words, reason);
      if (what.empty() || reason.empty() || (kind != "operator" && kind != "type" && kind != "test"))
        throw error("line is not `operator|type|test NAME reason`", path.string() + ":" + std::to_string(number), {},
                    line);
      auto& list = kind == "operator" ? operators_ : kind == "type" ? types_ : tests_;
      if (!list.emplace(what, reason).second)
        throw error("named twice", path.string() + ":" + std::to_string(number), {}, what);
    }
  }

  // Why models with such an operator or type are skipped; empty for others.
  std::string reason_to_skip(const onnx::model& m) const {
    std::set<std::string> used;
    collect(m.graph, used);
    for (const onnx::function& f : m.functions)
      for (const onnx::node& n : f.nodes) collect(n, used);
    for (const std::string& key : used) {
      const bool type = key.starts_with("type ");
      const auto& list = type ? types_ : operators_;
      if (const auto found = list.find(type ? key.substr(5) : key); found != list.end())
        return (type ? "type " : "operator ") + found->first + ": " + found->second;
    }
    return {};
  }
  bool lists(const std::string& test, const std::string& executor) const {
    return tests_.contains(test) || tests_.contains(test + "@" + executor) ||
           ((executor == "compiled" || executor == "opencl") && tests_.contains(test + "@plan")) ||
           (executor != "compiled" && tests_.contains(test + "@open"));
  }
  // Tests that are said not to be passed by `executor`.
  std::vector<std::string> listed(const std::string& executor) const {
    std::vector<std::string> names;
    for (const auto& [key, reason] : tests_) {
      const std::size_t at = key.find('@');
      if (const std::string name = key.substr(0, at); lists(name, executor)) names.push_back(name);
    }
    return names;
  }

 private:
  static void collect(const onnx::node& n, std::set<std::string>& used) {
    used.insert(std::string(n.op_type));
    for (const onnx::attribute& a : n.attributes) {
      for (const onnx::graph& g : a.graphs) collect(g, used);
      for (const onnx::tensor_data& t : a.tensors) used.insert("type " + onnx::data_type_name(t.data_type));
    }
  }
  static void collect(const onnx::value_info& v, std::set<std::string>& used) {
    if (v.kind == onnx::value_kind::tensor) used.insert("type " + onnx::data_type_name(v.data_type));
    else used.insert("type " + std::string(onnx::name(v.kind)));
  }
  static void collect(const onnx::graph& g, std::set<std::string>& used) {
    for (const onnx::node& n : g.nodes) collect(n, used);
    for (const onnx::tensor_data& t : g.initializers) used.insert("type " + onnx::data_type_name(t.data_type));
    for (const onnx::value_info& v : g.inputs) collect(v, used);
    for (const onnx::value_info& v : g.outputs) collect(v, used);
  }

  std::map<std::string, std::string, std::less<>> operators_, types_, tests_;
};

}  // namespace dnnkit::conformance
