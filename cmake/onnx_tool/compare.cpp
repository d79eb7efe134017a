// SPDX-License-Identifier: MIT
// dnnkit compare: layer by layer against reference results, or the passes against no passes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/weights/npy_name.hpp"

namespace dnnkit::tool {

namespace {

struct deviation {
  double absolute = 0, relative = 0;  // relative to the largest magnitude of the reference
  std::string shapes;                 // not empty: they cannot be compared
};

deviation between(const host_tensor& reference, const host_tensor& found) {
  deviation d;
  if (reference.dims != found.dims || reference.floating() != found.floating()) {
    d.shapes = fmt::format("is {}, the reference {}", found, reference);
    d.relative = 1;
    return d;
  }
  double largest = 0;
  for (std::size_t i = 0; i < reference.count(); ++i) {
    const double x = reference.get<double>(i), y = found.get<double>(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double distance = std::fabs(x - y);
    d.absolute = std::isnan(distance) ? HUGE_VAL : std::max(d.absolute, distance);
  }
  for (std::size_t i = 0; i < reference.count(); ++i)
    if (const double x = std::fabs(reference.get<double>(i)); std::isfinite(x)) largest = std::max(largest, x);
  d.relative = d.absolute == 0 ? 0 : largest == 0 ? HUGE_VAL : d.absolute / largest;
  return d;
}

// Reports every comparison in the order of the graph, and remembers the first that deviates.
class report {
 public:
  explicit report(double tolerance, bool verbose) : tolerance_(tolerance), verbose_(verbose) {}

  void add(const std::string& what, const host_tensor& reference, const host_tensor& found) {
    ++compared_;
    const deviation d = between(reference, found);
    const std::string line =
        !d.shapes.empty()
            ? fmt::format("{}: {}", what, d.shapes)
            : fmt::format("{}: largest difference {:g}, {:g} of the largest magnitude", what, d.absolute, d.relative);
    if (verbose_) fmt::print("{}\n", printable(line));
    worst_ = std::max(worst_, d.relative);
    if (d.relative > tolerance_ && !first_) first_ = line;
  }
  int finish() const {
    if (compared_ == 0) throw error("nothing could be compared: no name is in both", "compare");
    if (first_) fmt::print("the first that deviates: {}\n", printable(*first_));
    fmt::print("{} compared, worst {:g} of the largest magnitude, tolerance {:g}\n", compared_, worst_, tolerance_);
    return first_ ? 1 : 0;
  }

 private:
  double tolerance_;
  bool verbose_;
  std::size_t compared_ = 0;
  double worst_ = 0;
  std::optional<std::string> first_;
};

std::string describe(const dnnkit::graph& g, value_id v) {
  const value& x = g.at(v);
  return x.from == origin::node ? fmt::format("{} '{}'", g.node_at(x.producer).op->name, g.name_of(v))
                                : fmt::format("'{}'", g.name_of(v));
}

// Names that only one node has.
std::map<std::string_view, value_id> unique_names(const dnnkit::graph& g) {
  std::map<std::string_view, value_id> names;
  std::set<std::string_view> twice;
  for (const node& n : g.nodes)
    if (!names.emplace(g.text_of(n.name), n.output).second) twice.insert(g.text_of(n.name));
  for (std::string_view name : twice) names.erase(name);
  return names;
}

int against_passes(model& m, const tensors& given, report r) {
  const dnnkit::graph plain = m.imported.graph, passed = rewritten(plain);
  const auto names = unique_names(plain), kept = unique_names(passed);
  std::map<std::string, host_tensor, std::less<>> references;
  evaluate(m, plain, given, [&](value_id v, const host_tensor& t) {
    if (const auto found = names.find(plain.name_of(v));
        found != names.end() && found->second == v && kept.contains(plain.name_of(v)))
      references.insert_or_assign(std::string(plain.name_of(v)), t);
  });
  evaluate(m, passed, given, [&](value_id v, const host_tensor& t) {
    const auto mine = kept.find(passed.name_of(v));
    if (mine == kept.end() || mine->second != v) return;
    if (const auto found = references.find(passed.name_of(v));
        found != references.end() && found->second.dims == t.dims) {
      r.add(describe(passed, v), found->second, t);
      references.erase(found);
    }
  });
  return r.finish();
}

// References by the names of ONNX's tensors, of outputs, or in the order of outputs (out_0.npy, out_1.npy, ...).
int against_files(model& m, const tensors& given, const std::filesystem::path& folder, bool passes, report r) {
  const dnnkit::graph g = passes ? rewritten(m.imported.graph) : m.imported.graph;
  std::map<value_id, std::pair<std::string, std::filesystem::path>> files;
  if (!passes)
    for (const auto& [name, v] : m.imported.tensors)
      if (const auto path = folder / npy_name(name); std::filesystem::exists(path))
        files.insert_or_assign(v, std::pair(name, path));
  for (std::size_t i = 0; i < g.outputs.size(); ++i)
    for (const std::string& name : {std::string(g.text_of(g.output_names[i])), fmt::format("out_{}", i)})
      if (const auto path = folder / npy_name(name); std::filesystem::exists(path))
        files.insert_or_assign(g.outputs[i], std::pair(name, path));
  if (files.empty())
    throw error("holds no file named after a tensor of the model", folder.string(), "NAME.npy or out_0.npy");
  evaluate(m, g, given, [&](value_id v, const host_tensor& t) {
    if (const auto found = files.find(v); found != files.end())
      r.add(fmt::format("{} ({})", describe(g, v), found->second.first), read_npy(found->second.second), t);
  });
  return r.finish();
}

}  // namespace

int compare(int argc, char** argv) {
  cxxopts::Options options(
      "dnnkit compare",
      "Runs a model layer by layer and names the first node that deviates: from the reference results in a folder "
      "(NAME.npy, named after ONNX's tensors, with %XX for other characters than letters, digits and . _ - ~; "
      "out_0.npy for the first "
      "output), or without one, the graph after all passes from the graph as imported.");
  add_input_option(options);
  options.add_options()("reference", "folder of reference results", cxxopts::value<std::string>())(
      "passes", "on or off: which graph is compared with the reference results",
      cxxopts::value<std::string>()->default_value("off"))(
      "tolerance", "difference that counts as a deviation, relative to the largest magnitude of the tensor",
      cxxopts::value<double>()->default_value("1e-4"))("all", "print every comparison");
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  const tensors given = inputs_of(*arguments);
  model m = load_to_run(*arguments, given);
  report r((*arguments)["tolerance"].as<double>(), arguments->count("all") != 0);
  if (!arguments->count("reference")) return against_passes(m, given, r);
  return against_files(m, given, (*arguments)["reference"].as<std::string>(),
                       (*arguments)["passes"].as<std::string>() == "on", r);
}

}  // namespace dnnkit::tool
