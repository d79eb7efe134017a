// SPDX-License-Identifier: MIT
// dnnkit compare: layer by layer against reference results, or the passes against no passes; or the plan's outputs.
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
#include <system_error>
#include <vector>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/fmt.hpp"
#include "dnnkit/weights/host_weights.hpp"
#include "dnnkit/weights/npy_name.hpp"

namespace dnnkit::tool {

namespace {

// Does the model round to few integers while it runs? Which side such a rounding falls on depends on the last bits of
// the floats before it. (DequantizeLinear rounds nothing, and has a small q.)
bool rounds(const std::vector<onnx::node>& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](const onnx::node& n) {
    for (const std::string_view part : {"QuantizeLinear", "DynamicQuantize", "QLinear", "QGemm", "QAttention"})
      if (n.op_type.find(part) != std::string_view::npos) return true;
    return std::any_of(n.attributes.begin(), n.attributes.end(), [](const onnx::attribute& a) {
      return std::any_of(a.graphs.begin(), a.graphs.end(), [](const onnx::graph& g) { return rounds(g.nodes); });
    });
  });
}
bool rounds(const onnx::model& m) {
  return rounds(m.graph.nodes) ||
         std::any_of(m.functions.begin(), m.functions.end(), [](const onnx::function& f) { return rounds(f.nodes); });
}

// How far apart neighbouring values of a quantised tensor are.
class quantisation_steps {
 public:
  explicit quantisation_steps(onnx::file& file) : file_(file), any_(rounds(file.model())) {}

  bool any() const { return any_; }
  // Of integers of 8 bits it is 1, of what a DequantizeLinear with one scale has left, moved at most, that scale;
  // nothing for other tensors, and where the model does not round. `name` is the tensor's in ONNX.
  std::optional<double> of(std::string_view name, dtype type) {
    if (!any_) return std::nullopt;
    if (type == dtype::u8 || type == dtype::i8) return 1;
    const onnx::node* n = producer_of(name);
    while (n != nullptr && !n->inputs.empty() && std::ranges::find(movements, n->op_type) != std::end(movements))
      n = producer_of(n->inputs[0]);
    if (n == nullptr || n->op_type != "DequantizeLinear" || n->inputs.size() < 2) return std::nullopt;
    const onnx::tensor_data* const scale = stored(n->inputs[1]);
    if (scale == nullptr) return std::nullopt;
    const host_tensor t = to_host_tensor(file_.elements(*scale).tensor());
    return t.count() == 1 && t.get<double>(0) > 0 ? std::optional(t.get<double>(0)) : std::nullopt;
  }

 private:
  static constexpr std::string_view movements[] = {"Flatten", "Identity",  "Reshape",
                                                   "Squeeze", "Transpose", "Unsqueeze"};

  const onnx::node* producer_of(std::string_view name) const {
    for (const onnx::node& n : file_.model().graph.nodes)
      if (std::ranges::find(n.outputs, name) != n.outputs.end()) return &n;
    return nullptr;
  }
  const onnx::tensor_data* stored(std::string_view name) const {
    for (const onnx::tensor_data& t : file_.model().graph.initializers)
      if (t.name == name) return &t;
    const onnx::node* const n = producer_of(name);
    const onnx::attribute* const value = n != nullptr && n->op_type == "Constant" ? n->find("value") : nullptr;
    return value != nullptr && !value->tensors.empty() ? &value->t() : nullptr;
  }

  onnx::file& file_;
  bool any_;
};

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

std::string in_steps(double steps) { return fmt::format("{:.4g} step{}", steps, steps == 1 ? "" : "s"); }

// Reports every comparison in the order of the graph, and remembers the first that deviates: by more than `tolerance`,
// relative to the largest magnitude, and, where it is quantised, by more than `most_steps`.
class report {
 public:
  report(double tolerance, double most_steps, bool verbose)
      : tolerance_(tolerance), most_steps_(most_steps), verbose_(verbose) {}

  // `step`: of a quantised tensor; else nothing.
  void add(const std::string& what, const host_tensor& reference, const host_tensor& found,
           std::optional<double> step) {
    ++compared_;
    const deviation d = between(reference, found);
    // values that are whole multiples of a step, as floats of 32 bits
    const double steps = step ? std::round(d.absolute / *step * 1000) / 1000 : 0;
    std::string line = !d.shapes.empty() ? fmt::format("{}: {}", what, d.shapes)
                                         : fmt::format("{}: largest difference {:g}, {:g} of the largest magnitude",
                                                       what, d.absolute, d.relative);
    if (step && d.shapes.empty()) {
      line += ", " + in_steps(steps);
      worst_steps_ = std::max(worst_steps_.value_or(0), steps);
    }
    if (verbose_) fmt::print("{}\n", printable(line));
    worst_ = std::max(worst_, d.relative);
    const bool is_rounding = step && d.shapes.empty() && steps <= most_steps_;
    if (d.relative > tolerance_ && !is_rounding && !first_) first_ = line;
  }
  int finish() const {
    if (compared_ == 0) throw error("nothing could be compared: no name is in both", "compare");
    if (first_) fmt::print("the first that deviates: {}\n", printable(*first_));
    fmt::print("{} compared, worst {:g} of the largest magnitude, tolerance {:g}", compared_, worst_, tolerance_);
    if (worst_steps_)
      fmt::print("; of what is quantised, worst {}, tolerance {}", in_steps(*worst_steps_), in_steps(most_steps_));
    fmt::print("\n");
    return first_ ? 1 : 0;
  }

 private:
  double tolerance_, most_steps_;
  bool verbose_;
  std::size_t compared_ = 0;
  double worst_ = 0;
  std::optional<double> worst_steps_;
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

enum class executor { graph, passes, plan };

// What of the graph as imported has a name that is left behind the passes, and the outputs of the plan.
int against_import(model& m, const tensors& given, executor by, report r) {
  const dnnkit::graph plain = m.imported.graph;
  quantisation_steps steps(*m.file);
  if (by == executor::plan) {
    const std::vector<host_tensor> references = evaluate(m, plain, given), found = execute(m, plain, given);
    for (std::size_t i = 0; i < found.size(); ++i)
      r.add(describe(plain, plain.outputs[i]), references[i], found[i],
            steps.of(plain.text_of(plain.output_names[i]), found[i].type));
    return r.finish();
  }
  const dnnkit::graph passed = rewritten(plain);
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
      r.add(describe(passed, v), found->second, t, steps.of(passed.name_of(v), t.type));
      references.erase(found);
    }
  });
  return r.finish();
}

// References by the names of ONNX's tensors, of outputs, or in the order of outputs (out_0.npy, out_1.npy, ...). Only
// the graph as imported has the tensors between.
int against_files(model& m, const tensors& given, const std::filesystem::path& folder, executor by, report r) {
  struct reference {
    std::string name;  // of the tensor
    std::filesystem::path path;
  };
  const dnnkit::graph g = by == executor::passes ? rewritten(m.imported.graph) : m.imported.graph;
  std::error_code absent;
  if (!std::filesystem::is_directory(folder, absent)) throw error("is no folder", "--reference", {}, folder.string());
  const auto exists = [&](const std::filesystem::path& path) {  // a name that is too long for a file is none
    return std::filesystem::exists(path, absent);
  };
  std::map<value_id, reference> files;
  if (by == executor::graph)
    for (const auto& [name, v] : m.imported.tensors)
      if (const auto path = folder / npy_name(name); exists(path)) files.insert_or_assign(v, reference{name, path});
  for (std::size_t i = 0; i < g.outputs.size(); ++i) {
    const std::string name(g.text_of(g.output_names[i]));
    for (const std::string& stem : {name, fmt::format("out_{}", i)})
      if (const auto path = folder / npy_name(stem); exists(path))
        files.insert_or_assign(g.outputs[i], reference{name, path});
  }
  if (files.empty())
    throw error(by == executor::graph ? "holds no file named after a tensor of the model"
                                      : "holds no file named after an output of the model",
                folder.string(), "NAME.npy or out_0.npy");
  quantisation_steps steps(*m.file);
  const auto add = [&](value_id v, const host_tensor& t) {
    if (const auto found = files.find(v); found != files.end())
      r.add(fmt::format("{} ({})", describe(g, v), found->second.path.stem().string()), read_npy(found->second.path), t,
            steps.of(found->second.name, t.type));
  };
  if (by == executor::plan) {
    const std::vector<host_tensor> outputs = execute(m, g, given);
    for (std::size_t i = 0; i < outputs.size(); ++i) add(g.outputs[i], outputs[i]);
  } else {
    evaluate(m, g, given, add);
  }
  const int status = r.finish();
  if (status != 0 && steps.any() && by != executor::plan)
    fmt::print(
        "the model is quantised: the side on which a rounding falls may differ between the interpreter and ONNX "
        "Runtime's optimised graph; --executor plan compares what built programs compute\n");
  return status;
}

}  // namespace

int compare(int argc, char** argv) {
  cxxopts::Options options(
      "dnnkit compare",
      "Runs a model layer by layer and names the first node that deviates: from the reference results in a folder "
      "(NAME.npy, named after ONNX's tensors, with %XX for other characters than letters, digits and . _ - ~; "
      "out_0.npy for the first output), or without one, the graph after all passes, or the plan, from the graph as "
      "imported. Of a plan the outputs alone are compared.");
  add_input_option(options);
  options.add_options()("reference", "folder of reference results", cxxopts::value<std::string>())(
      "passes", "on or off: which graph is compared with the reference results; off unless --executor is plan",
      cxxopts::value<std::string>())(
      "executor", "graph: operator by operator; plan: the kernels of the plan that compile<> makes, in its own buffers",
      cxxopts::value<std::string>()->default_value("graph"))(
      "tolerance", "difference that counts as a deviation, relative to the largest magnitude of the tensor",
      cxxopts::value<double>()->default_value("1e-4"))(
      "steps",
      "difference that counts as none all the same in tensors that a quantised model rounds to 8 bits, and in those "
      "dequantised from them, in steps of their scale",
      cxxopts::value<double>()->default_value("1"))("all", "print every comparison");
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  const bool plans = is_plan((*arguments)["executor"].as<std::string>());
  const std::string passes = arguments->count("passes") ? (*arguments)["passes"].as<std::string>()
                             : plans                    ? "on"
                                                        : "off";
  const executor by = is_on(passes, plans) ? plans ? executor::plan : executor::passes : executor::graph;
  const auto most = [&](const char* option) {
    const double x = (*arguments)[option].as<double>();
    if (!(x >= 0)) throw error("is no difference", fmt::format("--{}", option), "at least 0", fmt::format("{}", x));
    return x;
  };
  report r(most("tolerance"), most("steps"), arguments->count("all") != 0);
  const tensors given = inputs_of(*arguments);
  model m = load_to_run(*arguments, given);
  if (!arguments->count("reference")) return against_import(m, given, by, r);
  return against_files(m, given, (*arguments)["reference"].as<std::string>(), by, r);
}

}  // namespace dnnkit::tool
