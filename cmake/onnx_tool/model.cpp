// SPDX-License-Identifier: MIT
// Reading, importing and running models for the commands.
#include "cmake/onnx_tool/model.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <string_view>
#include <utility>

#include "dnnkit/core/printable.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/inspect/fitting_extents.hpp"
#include "dnnkit/onnx/import.hpp"
#include "dnnkit/onnx/import/extent_option.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/reference/plan_executor.hpp"
#include "dnnkit/reference/symbol_values.hpp"
#include "dnnkit/weights/host_bytes.hpp"
#include "dnnkit/weights/npy.hpp"
#include "dnnkit/weights/replacing_file.hpp"

namespace dnnkit::tool {

namespace {

std::vector<std::string> list(const cxxopts::ParseResult& arguments, const char* option) {
  return arguments.count(option) ? arguments[option].as<std::vector<std::string>>() : std::vector<std::string>{};
}

// What --dim says.
onnx::import_options extents_given(const cxxopts::ParseResult& arguments) {
  onnx::import_options options;
  for (const std::string& s : list(arguments, "dim")) onnx::set_extent(options, "--dim", s);
  return options;
}

void refuse_unsupported(const model& m) {
  try {
    static_cast<void>(m.imported.value());
  } catch (const error& problems) {
    std::string hints = onnx::describe_values_to_give(m.imported, "--input", "--dim");
    if (hints.empty()) throw refused(problems);
    hints.pop_back();  // the line feed
    throw refused(error(problems.problem() + "\n" + hints, problems.where()));
  }
}

// Is it `value` that could not be read?
bool unread(const cxxopts::exceptions::incorrect_argument_type& e, std::string_view value) {
  const std::string quoted = cxxopts::exceptions::incorrect_argument_type(std::string(value)).what();
  return quoted == e.what();
}

}  // namespace

std::optional<cxxopts::ParseResult> parse(cxxopts::Options& options, int argc, char** argv, models_taken models) {
  options.add_options()("model", "the model", cxxopts::value<std::string>())(
      "dim", "value of a symbolic dimension, NAME=NUMBER, or bounds, NAME=FIRST..LAST",
      cxxopts::value<std::vector<std::string>>())(
      "allow-linked-data", "read external data behind links out of the model's folder, and with several hard links")(
      "help", "this text");
  const bool two = models == models_taken::one_or_two;
  if (two) options.add_options()("other", "another model", cxxopts::value<std::string>());
  options.parse_positional(two ? std::vector<std::string>{"model", "other"} : std::vector<std::string>{"model"});
  options.positional_help(two ? "MODEL.onnx [OTHER.onnx]" : "MODEL.onnx");
  cxxopts::ParseResult arguments = [&] {
    try {
      return options.parse(argc, argv);
    } catch (const cxxopts::exceptions::incorrect_argument_type& e) {  // which does not say of which option
      for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i - 1], value = argv[i];
        const std::size_t begin = value.starts_with("--") ? value.find('=') : std::string_view::npos;
        if (begin != std::string_view::npos && unread(e, value.substr(begin + 1)))
          throw error("is no number", std::string(value.substr(0, begin)), {}, std::string(value.substr(begin + 1)));
        if (option.starts_with("-") && unread(e, value))
          throw error("is no number", std::string(option), {}, std::string(value));
      }
      throw;
    }
  }();
  if (arguments.count("help")) {
    std::cout << options.help();
    return std::nullopt;
  }
  if (!arguments.count("model")) throw error("no model was named", "command line", "MODEL.onnx");
  if (const std::vector<std::string>& more = arguments.unmatched(); !more.empty())
    throw error(two ? "takes one or two models" : "takes one model", "command line", {},
                fmt::format("'{}' as well", more.front()));
  return arguments;
}

void add_input_option(cxxopts::Options& options) {
  options.add_options()("input", "value of an input, NAME=FILE.npy", cxxopts::value<std::vector<std::string>>());
}
tensors inputs_of(const cxxopts::ParseResult& arguments) {
  tensors given;
  for (const std::string& s : list(arguments, "input")) onnx::read_input_value(given, "--input", s);
  return given;
}

void add_feedback_option(cxxopts::Options& options) {
  options.add_options()("feedback", "an output that is the next run's input, OUTPUT=INPUT",
                        cxxopts::value<std::vector<std::string>>());
}
std::vector<onnx::feedback_names> feedbacks_of(const cxxopts::ParseResult& arguments, const dnnkit::graph& g) {
  return onnx::feedbacks_of(g, "--feedback", list(arguments, "feedback"));
}

onnx::linked_data linked_data_of(const cxxopts::ParseResult& arguments) {
  return arguments.count("allow-linked-data") ? onnx::linked_data::allowed : onnx::linked_data::refused;
}

namespace {

// Do these inputs have the extents of those of `g`, for some values of its symbols?
bool fits(const dnnkit::graph& g, const tensors& given) {
  symbol_values values(g.symbols);
  try {
    for (std::size_t i = 0; i < g.inputs.size(); ++i)
      if (const auto found = given.find(g.name_of(g.inputs[i])); found != given.end())
        values.bind(g.declared_input(i), found->second.dims, {});
    values.check_assumed();
    for (std::size_t i = 0; i < g.inputs.size(); ++i)
      if (const auto found = given.find(g.name_of(g.inputs[i])); found != given.end())
        for (std::size_t d = 0; d < found->second.dims.size(); ++d)
          if (const dim x = g.declared_input(i)[d]; !x.is_unknown() && !(values.of(x) == dim(found->second.dims[d])))
            return false;
  } catch (const error&) { return false; }
  return true;
}

// Throws dnnkit::error for an extent of the inputs given that is out of the bounds that `options` has for it.
void refuse_out_of_bounds(const onnx::model& m, const onnx::import_options& options, const tensors& given) {
  for (const onnx::value_info& i : m.graph.inputs) {
    const auto found = given.find(i.name);
    if (found == given.end() || !i.shape || found->second.dims.size() != i.shape->size()) continue;
    for (std::size_t d = 0; d < i.shape->size(); ++d) {
      const auto range = options.ranges.find(onnx::name_of_extent(i, d));
      const std::int64_t extent = found->second.dims[d];
      if (range != options.ranges.end() && (extent < range->second.min || extent > range->second.max))
        throw error(fmt::format("input {} is out of these bounds", dnnkit::detail::quoted(i.name)),
                    fmt::format("--dim {}", range->first),
                    fmt::format("{} to {}", range->second.min, range->second.max), fmt::format("{}", extent));
    }
  }
}

// `options` and the extents of the inputs given, by the names that the model has for them; nothing where ranks differ
// or one name would have two values.
std::optional<onnx::import_options> with_extents_of(const onnx::model& m, onnx::import_options options,
                                                    const tensors& given) {
  for (const onnx::value_info& i : m.graph.inputs) {
    const auto found = given.find(i.name);
    if (found == given.end() || !i.shape) continue;
    const std::vector<std::int64_t>& dims = found->second.dims;
    if (dims.size() != i.shape->size()) return std::nullopt;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (!onnx::is_number((*i.shape)[d]))
        if (options.sizes.emplace(onnx::name_of_extent(i, d), dims[d]).first->second != dims[d]) return std::nullopt;
  }
  return options;
}

}  // namespace

onnx::import_problems unreadable_weights(model& m) {
  constexpr std::size_t most = 10;  // one file that is missing may have had hundreds
  onnx::import_problems problems;
  for (const auto& [name, data] : m.imported.weights) try {
      m.file->check(*data);
    } catch (const error& e) {
      if (problems.first.size() < most) problems.add({{}, {}, e.what()});
      else ++problems.left_out;
    }
  return problems;
}
void refuse_unreadable_weights(model& m) {
  const onnx::import_problems problems = unreadable_weights(m);
  if (problems.first.empty()) return;
  std::string all;
  for (const onnx::import_problem& p : problems.first) all += "\n  " + p.describe();
  if (problems.left_out > 0) all += fmt::format("\n  and {} more", problems.left_out);
  throw refused(error("weights cannot be read:" + all, m.file->name()));
}
model load(const cxxopts::ParseResult& arguments, const tensors& given, onnx::bound_inputs bound,
           const std::string& argument) {
  model m{std::make_unique<onnx::file>(arguments[argument].as<std::string>(), linked_data_of(arguments)), {}};
  const onnx::import_options extents = extents_given(arguments);
  onnx::refuse_unknown_inputs(m.file->model(), "--input", given);
  onnx::refuse_other_types(m.file->model(), "--input", given);
  onnx::refuse_unknown_extents(m.file->model(), "--dim", extents);
  m.imported = onnx::import_with_inputs(*m.file, extents, given, bound);
  return m;
}
model load_supported(const cxxopts::ParseResult& arguments, const tensors& given, const std::string& argument,
                     bool says) {
  model m = load(arguments, given, onnx::bound_inputs::deciding, argument);
  refuse_unsupported(m);
  if (says) std::cerr << onnx::describe_open_inputs(m.imported.graph, "--input", given);
  return m;
}
model load_to_run(const cxxopts::ParseResult& arguments, const tensors& given) {
  constexpr auto bound = onnx::bound_inputs::needed;
  model m = load(arguments, given, bound);
  refuse_out_of_bounds(m.file->model(), extents_given(arguments), given);
  if (!m.imported.ok() || !fits(m.imported.graph, given))
    if (auto options = with_extents_of(m.file->model(), extents_given(arguments), given))
      if (onnx::import_result imported = onnx::import_with_inputs(*m.file, std::move(*options), given, bound);
          imported.ok())
        m.imported = std::move(imported);
  refuse_unsupported(m);
  refuse_unreadable_weights(m);
  return m;
}
model load_compilable(const cxxopts::ParseResult& arguments, const tensors& given, bool says) {
  model m = load_supported(arguments, given, "model", says);
  refuse_uncompilable(m);
  return m;
}
void refuse_uncompilable(const model& m) {
  if (const std::string reason = cpu::reason_not_to_compile(m.imported.graph); !reason.empty())
    throw refused(error(reason, m.file->name()));
}
dnnkit::graph rewritten(const dnnkit::graph& g) { return cpu::rewritten(g); }

namespace {

// `e`, and what would be right instead.
error with_hint(const error& e, const std::string& hint) {
  return {e.problem(), e.where(), e.expected(), fmt::format("{}; {}", e.found(), hint)};
}

// "36 or 40 would fit": the extents next to `found` of the form that `declared` has; empty where it is of that form.
std::string nearest_extents(const symbol_table& symbols, dim declared, std::int64_t found) {
  const std::optional<linear_dim> x = symbols.linear_of(declared);
  if (!x || x->solve(found)) return {};
  const bounds& limits = symbols.symbols[x->symbol].limits;
  const std::int64_t below = detail::floor_quotient(found - x->offset, x->factor);
  std::vector<std::int64_t> fitting;
  for (const std::int64_t n : {below, below + 1})
    if (n >= limits.min && n <= limits.max) fitting.push_back(n * x->factor + x->offset);
  return fitting.empty() ? "" : fmt::format("{} would fit", fmt::join(fitting, " or "));
}

// Raises the error of extents that do not fit their inputs or what `g` assumes, with those that would.
void refuse_misfits(const dnnkit::graph& g, const std::vector<host_tensor>& inputs) {
  symbol_values values(g.symbols);
  fitting_extents::values given(g.symbols.symbols.size());
  for (std::size_t i = 0; i < g.inputs.size(); ++i) {
    const shape& declared = g.declared_input(i);
    const std::vector<std::int64_t>& dims = inputs[i].dims;
    for (std::size_t d = 0; d < dims.size() && d < declared.size(); ++d)
      if (const auto x = g.symbols.linear_of(declared[d])) given[x->symbol] = x->solve(dims[d]);
    try {
      values.bind(declared, dims, fmt::format("input '{}'", g.name_of(g.inputs[i])));
    } catch (const error& misfit) {
      for (std::size_t d = 0; d < dims.size() && d < declared.size(); ++d)
        if (const std::string hint = nearest_extents(g.symbols, declared[d], dims[d]); !hint.empty())
          throw with_hint(misfit, hint);
      throw;
    }
  }
  try {
    values.check_assumed();
  } catch (const error& misfit) {
    const fitting_extents fitting(g);
    std::vector<std::string> others;
    for (const fitting_extents::change& c : fitting.nearest(given)) others.push_back(fitting.print(c));
    if (!others.empty()) throw with_hint(misfit, fmt::format("{} would fit", fmt::join(others, " or ")));
    if (const auto example = fitting.example())
      throw with_hint(misfit, fmt::format("for example {} would fit", fitting.print(*example)));
    throw;
  }
}

// The values of the inputs of `g`, in its order.
std::vector<host_tensor> values_of_inputs(const dnnkit::graph& g, const tensors& given) {
  std::vector<host_tensor> inputs;
  for (value_id v : g.inputs) {
    const auto found = given.find(g.name_of(v));
    if (found == given.end())
      throw error("no value was given", fmt::format("input '{}'", g.name_of(v)), "--input NAME=FILE.npy");
    inputs.push_back(found->second);
  }
  refuse_misfits(g, inputs);
  return inputs;
}

}  // namespace

void refuse_to_replace_read(const cxxopts::ParseResult& arguments, const model& m, std::string_view option,
                            const std::filesystem::path& written) {
  const std::filesystem::path path = arguments["model"].as<std::string>();
  refuse_to_replace(option, written, "the model", path);
  for (const auto& [name, data] : m.imported.weights)
    if (data->external)
      refuse_to_replace(option, written, "external data of the model", path.parent_path() / data->external->location);
  for (const std::string& s : list(arguments, "input"))
    refuse_to_replace(option, written, fmt::format("the file of --input {}", s.substr(0, s.rfind('='))),
                      s.substr(s.rfind('=') + 1));
}

bool is_plan(const std::string& executor) {
  if (executor != "graph" && executor != "plan")
    throw error("is neither of them", "--executor", "graph or plan", executor);
  return executor == "plan";
}
bool is_on(const std::string& passes, bool plans) {
  if (passes != "on" && passes != "off") throw error("is neither on nor off", "--passes", "on or off", passes);
  if (plans && passes == "off")
    throw error("a plan is made behind the passes", "--executor plan", "--passes on", "off");
  return passes == "on";
}

std::vector<host_tensor> execute(model& m, const dnnkit::graph& g, const tensors& given) {
  const plan::plan_draft plan = cpu::planned(g);
  if (!plan.error.empty()) throw refused(error(plan.error.str(), "--executor plan"));
  return dnnkit::execute(view_of(plan), values_of_inputs(g, given), onnx::weights_of(*m.file, m.imported));
}

std::vector<host_tensor> evaluate(model& m, const dnnkit::graph& g, const tensors& given,
                                  const std::function<void(value_id, const host_tensor&)>& observe) {
  const std::vector<host_tensor> inputs = values_of_inputs(g, given);
  std::size_t done = 0;
  bool shown = false;
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  auto last = std::chrono::steady_clock::now();
  const auto progress = [&](value_id v, const host_tensor& t) {
    if (observe) observe(v, t);
    if (g.at(v).from != origin::node) return;
    ++done;
    const auto now = std::chrono::steady_clock::now();
    if (!is_terminal || now - last < std::chrono::seconds(1)) return;
    std::cerr << "\rnode " << done << " of " << g.nodes.size() << std::flush;
    last = now;
    shown = true;
  };
  std::vector<host_tensor> outputs = dnnkit::evaluate(g, inputs, onnx::weights_of(*m.file, m.imported), progress);
  if (shown) std::cerr << "\r" << std::string(40, ' ') << "\r";
  return outputs;
}

host_tensor read_npy(const std::filesystem::path& path) { return to_host_tensor(npy(path).tensor()); }
void write_npy(const std::filesystem::path& path, const host_tensor& t) {
  const std::vector<std::byte> bytes = element_bytes(t);
  stored_tensor s;
  s.dtype = t.type;
  s.shape = t.dims;
  s.data = bytes;
  save_npy(path, s);
}

}  // namespace dnnkit::tool
