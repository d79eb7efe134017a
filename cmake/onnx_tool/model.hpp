// SPDX-License-Identifier: MIT
// A model as the commands use it: read, imported, run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#define CXXOPTS_NO_REGEX true  // <regex> takes longer to compile than a command
#define CXXOPTS_VECTOR_DELIMITER \
  '\0'  // --input is given as often as there are inputs; files may have commas in their names
#include <cxxopts.hpp>

#include "cmake/onnx_tool/command.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/onnx/feedbacks.hpp"
#include "dnnkit/onnx/format/read_model.hpp"
#include "dnnkit/onnx/import/result.hpp"
#include "dnnkit/onnx/import_with_inputs.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/reference/host_tensor.hpp"

namespace dnnkit::tool {

using tensors = onnx::input_values;

// The options of a command: `options` with MODEL, for some OTHER besides, --dim, --allow-linked-data and --help added,
// parsed. Nothing when the help was asked for, which is then printed.
enum class models_taken : std::uint8_t { one, one_or_two };
std::optional<cxxopts::ParseResult> parse(cxxopts::Options& options, int argc, char** argv,
                                          models_taken models = models_taken::one);
onnx::linked_data linked_data_of(const cxxopts::ParseResult& arguments);

// --input NAME=FILE.npy, as often as given.
void add_input_option(cxxopts::Options& options);
tensors inputs_of(const cxxopts::ParseResult& arguments);
// --feedback OUTPUT=INPUT, as often as given, of a model that has such an output and input.
void add_feedback_option(cxxopts::Options& options);
std::vector<onnx::feedback_names> feedbacks_of(const cxxopts::ParseResult& arguments, const dnnkit::graph& g);
// The file that --dim L=37 ... and MODEL, or another argument, name. Inputs that decide shapes or branches take their
// values from `given`; a name there that no input has raises dnnkit::error.
struct model {
  std::unique_ptr<onnx::file> file;
  onnx::import_result imported;
};
model load(const cxxopts::ParseResult& arguments, const tensors& given = {},
           onnx::bound_inputs bound = onnx::bound_inputs::deciding, const std::string& argument = "model");
// The same; raises `refused` with all problems when there are any.
model load_supported(const cxxopts::ParseResult& arguments, const tensors& given = {},
                     const std::string& argument = "model", bool says = true);
// The same; raises `refused` with the reason where dnnkit::compile makes no plan of the model. `says`: on standard
// error, which inputs decide what.
model load_compilable(const cxxopts::ParseResult& arguments, const tensors& given = {}, bool says = true);

// Raises `refused` with the reason where dnnkit::compile makes no plan of the model.
void refuse_uncompilable(const model& m);

// The weights of the model's graph that cannot be read: external data that is missing or truncated, elements that are
// not as many as the shape says. The first ten, and how many there are besides. For commands that need more than the
// graph: weights of the others may lie elsewhere.
onnx::import_problems unreadable_weights(model& m);
// Raises `refused` with them where there are any.
void refuse_unreadable_weights(model& m);

// The same for one run. The import takes extents for equal that must broadcast, and for at least 1, and some operators
// need extents that are known: where those of the inputs given are not so, or the model is not supported for any
// extents, it is imported anew for just these. Raises dnnkit::error for an extent out of the bounds that --dim gives.
model load_to_run(const cxxopts::ParseResult& arguments, const tensors& given);

// The graph after all rewriting passes.
dnnkit::graph rewritten(const dnnkit::graph& g);

// Whether --executor says plan; raises dnnkit::error for another word than graph and plan.
bool is_plan(const std::string& executor);
// Whether --passes says on; raises dnnkit::error for another word than on and off, and for off where a plan is to run.
bool is_on(const std::string& passes, bool plans);

// Throws dnnkit::error naming `option` where writing the file `written` would replace the model, its external data, or
// the file of an --input.
void refuse_to_replace_read(const cxxopts::ParseResult& arguments, const model& m, std::string_view option,
                            const std::filesystem::path& written);

// Runs `g`, showing progress, and returns its outputs. `observe` is called with every value as soon as it is known.
std::vector<host_tensor> evaluate(model& m, const dnnkit::graph& g, const tensors& given,
                                  const std::function<void(value_id, const host_tensor&)>& observe = {});

// Runs the plan of `g`, behind all passes, in its own buffers (reference/plan_executor.hpp); raises `refused` with the
// reason where there is none.
std::vector<host_tensor> execute(model& m, const dnnkit::graph& g, const tensors& given);

host_tensor read_npy(const std::filesystem::path& path);
void write_npy(const std::filesystem::path& path, const host_tensor& t);

}  // namespace dnnkit::tool
