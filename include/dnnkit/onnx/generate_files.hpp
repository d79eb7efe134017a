// SPDX-License-Identifier: MIT
// The files that an ONNX model becomes: a header with the model, one that opens its weights, a program around both.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/cost/tuned.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/onnx/feedbacks.hpp"
#include "dnnkit/onnx/format/external_files.hpp"
#include "dnnkit/onnx/import/result.hpp"
#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/generate.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/source/tuned_source.hpp"
#include "dnnkit/weights/mapped_file.hpp"
#include "dnnkit/weights/replacing_file.hpp"
#include "dnnkit/weights/safetensors_writer.hpp"
#include "dnnkit/weights/weight_file.hpp"

namespace dnnkit::onnx {

namespace detail {

inline std::string signature_lines(const dnnkit::graph& g) {
  std::string s;
  const auto add = [&](const char* word, std::string_view name, value_id v) {
    s += std::string("// ") + word + " " + generation::comment_text(name) + ": " +
         std::string(dnnkit::name(g.at(v).type.type)) + " " +
         generation::comment_text(print(g.symbols, g.at(v).type.dims)) + "\n";
  };
  for (value_id v : g.inputs) add("input ", g.name_of(v), v);
  for (std::size_t i = 0; i < g.outputs.size(); ++i) add("output", g.text_of(g.output_names[i]), g.outputs[i]);
  return s;
}

// "102.2 MB", or "1.5 kB" and "220 bytes" of less.
inline std::string size_text(double bytes) {
  if (bytes < 1e3) return std::to_string(static_cast<long>(bytes)) + " bytes";
  const bool is_large = bytes >= 1e6;
  const auto tenths = static_cast<long>(bytes / (is_large ? 1e5 : 1e2) + 0.5);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + (is_large ? " MB" : " kB");
}

// "122 operators, 108 weights (102.2 MB)" of the live part of a graph.
inline std::string size_line(const dnnkit::graph& g) {
  const auto alive = live_nodes(g);
  std::size_t operators = 0;
  std::set<value_id> weights;
  double bytes = 0;
  for (std::size_t k = 0; k < g.nodes.size(); ++k) {
    if (alive[k] == 0) continue;
    ++operators;
    for (std::size_t i = 0; i < g.nodes[k].inputs.count; ++i) {
      const value_id v = g.input_of(g.nodes[k], i);
      if (v == none || g.at(v).from != origin::weight || !weights.insert(v).second) continue;
      double n = static_cast<double>(size_of(g.at(v).type.type));
      for (dim d : g.at(v).type.dims) n *= static_cast<double>(d.value());
      bytes += n;
    }
  }
  return std::to_string(operators) + " operators, " + std::to_string(weights.size()) + " weights (" + size_text(bytes) +
         ")";
}

inline std::string target_called(const std::string& isa) { return "dnnkit::targets::" + isa; }

// Does `code` name `what`, outside string literals and comments?
inline bool names(std::string_view code, std::string_view what) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i] == '"')
      for (++i; i < code.size() && code[i] != '"'; ++i) i += code[i] == '\\';
    else if (code.substr(i, 2) == "//") i = std::min(code.find('\n', i), code.size());
    else if (code.substr(i, what.size()) == what) return true;
  }
  return false;
}

}  // namespace detail

// A legal name for the model in the file at `path`: my_net_v2 for models/My-net.v2.onnx. dnnkit_model_name() of
// cmake/dnnkitOnnx.cmake gives the same.
inline std::string model_name(const std::filesystem::path& path) {
  return generation::type_name(path.stem().string(), "model");
}

// In how many units it pays to compile kernels apart from the session, at most `most`; `cost`: theirs
// (cpu::compile_cost). A unit has the headers and the plan to compile again.
constexpr std::size_t kernel_units_that_pay(std::size_t cost, std::size_t most) {
  constexpr std::size_t cost_of_a_unit = 120;
  return std::min(cost / cost_of_a_unit, most);
}

// Where kernels cost so much (cpu::compile_cost), compilers that run at once are done earlier when the session's has
// its share of them (docs/measurements/compile-time.md).
constexpr bool session_takes_kernels(std::size_t cost, std::size_t compilers) {
  constexpr std::size_t cost_of_many = 200;
  return compilers > 1 && cost >= cost_of_many;
}

// Units that the kernels of a network are compiled in (dnnkit/cpu/kernel_parts.hpp).
struct kernel_units {
  std::size_t parts = 1;  // without instruction sets to choose from, the session's is one of them,
  std::size_t first = 1;  // and has kernels if this is 0
};

// The number of units that a command line asks for, 1 to 1000; `option` is named in errors. Throws dnnkit::error for
// other text. dnnkit_add_onnx checks the same (dnnkit_require_parts() of cmake/dnnkitOnnx.cmake).
inline std::size_t kernel_parts_of(std::string_view option, std::string_view text) {
  constexpr std::size_t most = 1000;
  std::size_t n = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool is_number = end == text.data() + text.size() && failure != std::errc::invalid_argument;
  if (!is_number || (failure == std::errc() && n == 0))
    throw error("is no number of units", std::string(option), "at least 1", std::string(text));
  if (failure != std::errc() || n > most)
    throw error("is no number of units", std::string(option), "at most " + std::to_string(most), std::string(text));
  return n;
}

// What dnnkit::compile<NAME> makes a network for: the processor, or an OpenCL device.
enum class program_target : std::uint8_t { cpu, opencl, opencl_images };

// NAME.hpp: the struct NAME, ready for dnnkit::compile<NAME>, which is a network for `target`; with several units of
// kernels, or the names of instruction sets that the program chooses from, both the processor's, a program needs these
// units. With feedbacks, the model names them for dnnkit::model_session; with passes left out, by their names, its
// pipeline; with what was measured of its kernels, that table.
// Includes all that it uses, and leaves no other name behind. Throws dnnkit::error when `name` cannot be that of a type
// (generation::is_type_name), which the functions below take for granted. Whatever else comes from the model and its
// path is text, of which nothing can become code.
inline std::string model_header(const dnnkit::graph& g, const std::string& name, const std::filesystem::path& source,
                                kernel_units units = {}, std::span<const std::string> isas = {},
                                std::span<const feedback_names> feedbacks = {},
                                std::span<const std::string_view> left_out = {},
                                program_target target = program_target::cpu, tuned_table tuned = {}) {
  const bool is_for_opencl = target != program_target::cpu;
  std::string code = generation::generate_model(g, name), members;
  if (is_for_opencl)
    members += std::string("  using target = dnnkit::targets::opencl") +
               (target == program_target::opencl ? "" : "_in<dnnkit::images>") + ";  // see dnnkit/opencl.hpp\n";
  if (!isas.empty()) {
    members += "  using target = dnnkit::targets::one_of<";
    for (const std::string& isa : isas) members += (&isa == &isas[0] ? "" : ", ") + detail::target_called(isa);
    members += ">;  // see dnnkit/runtime/versions.hpp\n";
  }
  if (!left_out.empty()) {
    members += "  using pipeline = dnnkit::without_called<dnnkit::default_pipeline";
    for (std::string_view pass : left_out) members += ", " + generation::string_literal(pass);
    members += ">;  // see dnnkit/pass/pipeline.hpp\n";
  }
  if (!tuned.empty()) {
    members += "  static constexpr dnnkit::tuned_kernel tuned[] = {  // see dnnkit/cost/tuned.hpp\n";
    for (const tuned_kernel& k : tuned) members += "      " + generation::tuned_row_text(k) + ",\n";
    members += "  };\n";
  }
  if (!feedbacks.empty()) {
    members += "  using feedbacks = dnnkit::feedback_list<";  // one a line, as there may be many
    for (const feedback_names& f : feedbacks)
      members += std::string(&f == &feedbacks[0] ? "" : ",") + "\n      dnnkit::feedback<" +
                 generation::string_literal(f.output) + ", " + generation::string_literal(f.input) + ">";
    members += ">;  // see dnnkit/runtime/model_session.hpp\n";
  }
  if (units.parts > 1)
    members += "  static constexpr std::size_t kernel_parts = " + std::to_string(units.parts) +
               ";  // units that compile the kernels: see dnnkit/cpu/kernel_parts.hpp\n";
  if (units.parts > 1 && units.first == 0)
    members += "  static constexpr std::size_t first_kernel_part = 0;  // the session's unit compiles some, too\n";
  const std::string head = "struct " + name + " {\n";
  if (!members.empty()) code.insert(code.find(head) + head.size(), members + "\n");
  std::string s = "// " + name + ", generated by dnnkit from " + generation::comment_text(source.filename().string()) +
                  ": " + detail::size_line(g) + ". May be edited.\n" + detail::signature_lines(g) + "#pragma once\n\n";
  const auto needs = [&](const char* what) { return detail::names(code, what); };
  if (needs("std::array")) s += "#include <array>\n";
  if (needs("std::size_t")) s += "#include <cstddef>\n";
  if (needs("std::int64_t")) s += "#include <cstdint>\n";
  if (needs("std::numeric_limits")) s += "#include <limits>\n";
  if (needs("std::span")) s += "#include <span>\n";
  if (needs("std::string_view")) s += "#include <string_view>\n";
  if (s.back() == '\n' && !s.ends_with("\n\n")) s += "\n";
  s += is_for_opencl ? "#include <dnnkit/opencl.hpp>\n" : "#include <dnnkit/graph.hpp>\n";
  if (!feedbacks.empty()) s += "#include <dnnkit/runtime/model_session.hpp>\n";
  return s + "\n" + code;
}

// The unit that compiles one part of the kernels, for the instruction set called `isa` if there is one; empty where
// there are fewer parts. Part 0 has a unit for instruction sets only: elsewhere it is the session's.
inline std::string kernel_unit_source(const std::string& name, std::size_t part, std::size_t kernel_parts,
                                      const std::string& isa = {}) {
  const std::string number = std::to_string(part);
  const std::string head =
      "// Part " + number + " of the kernels of " + name + (isa.empty() ? "" : " for " + isa) + ", generated by dnnkit";
  if (part >= kernel_parts) return head + ": they have fewer.\n";
  const std::string net = "dnnkit::compile<" + name + (isa.empty() ? "" : ", " + detail::target_called(isa)) + ">";
  return head + ".\n#define DNNKIT_ONLY_KERNELS  // see dnnkit/graph.hpp\n" +
         "#include <dnnkit/cpu/kernel_unit.hpp>\n\n" + "#include \"" + name + ".hpp\"\n\n" +
         "template struct dnnkit::cpu::" + (part == 0 ? "version_of<" + net : "kernel_part<" + net + ", " + number) +
         ">;\n";
}
// NAME_kernels_PART.cpp or NAME_kernels_ISA_PART.cpp, without .cpp.
inline std::string kernel_unit_name(const std::string& name, std::size_t part, const std::string& isa = {}) {
  return name + "_kernels_" + (isa.empty() ? "" : isa + "_") + std::to_string(part);
}

namespace detail {
// What onnx_weights takes behind the path.
inline std::string linked_argument(linked_data linked) {
  return linked == linked_data::allowed ? ", dnnkit::onnx::linked_data::allowed" : "";
}
}  // namespace detail

// NAME_weights.hpp: a function NAME_weights() for sessions, which maps the .onnx file and its external data.
inline std::string weights_header(const std::string& name, const std::filesystem::path& model,
                                  linked_data linked = linked_data::refused) {
  return "// Opens the weights of " + name +
         ", generated by dnnkit.\n#pragma once\n\n#include "
         "<dnnkit/onnx/onnx_weights.hpp>\n\ninline dnnkit::weight_file " +
         name + "_weights() { return dnnkit::onnx_weights(" +
         generation::string_literal(std::filesystem::absolute(model).string()) + detail::linked_argument(linked) +
         "); }\n";
}

// The same for weights that are part of the program: NAME_weights.cpp holds them.
inline std::string embedded_weights_header(const std::string& name) {
  return "// The weights of " + name +
         ", which are part of the program; generated by dnnkit.\n#pragma once\n\n#include "
         "<dnnkit/weights/safetensors.hpp>\n\ndnnkit::weight_file " +
         name + "_weights();\n";
}
inline std::string embedded_weights_source(const std::string& name, const std::filesystem::path& file) {
  const std::string begin = name + "_weights_begin", end = name + "_weights_end";
  std::string assembly;
  for (const std::string& line : {std::string(".pushsection .rodata"), std::string(".balign 64"), begin + ":",
                                  ".incbin " + generation::assembly_string(std::filesystem::absolute(file).string()),
                                  end + ":", std::string(".byte 0"), std::string(".popsection")}) {
    std::string literal = generation::string_literal(line);
    assembly += "\n    " + literal.insert(literal.size() - 1, "\\n");
  }
  return "// The weights of " + name + " as data of the program; generated by dnnkit.\n#include \"" + name +
         "_weights.hpp\"\n\n#include <cstddef>\n\nasm(" + assembly + ");\n\nextern \"C\" const std::byte " + begin +
         "[], " + end + "[];\n\ndnnkit::weight_file " + name +
         "_weights() {\n  return dnnkit::safetensors::from_memory({" + begin + ", " + end + "}, \"weights of " + name +
         "\");\n}\n";
}
// The weights that `g` reads, as one file.
inline void save_weights_of(const dnnkit::graph& g, const weight_file& from, const std::filesystem::path& to) {
  std::vector<stored_tensor> tensors;
  std::set<std::string_view> saved;
  for (std::size_t v = 0; v < g.values.size(); ++v)
    if (g.values[v].from == origin::weight && saved.insert(g.text_of(g.values[v].name)).second)
      tensors.push_back(from.at(g.text_of(g.values[v].name)));
  save_safetensors(to, tensors);
}

// A main() that takes and writes .npy files (runtime/program.hpp), for the target of the header.
inline std::string program_source(const std::string& name, const std::filesystem::path& model,
                                  linked_data linked = linked_data::refused) {
  return "// A program around " + name +
         ", generated by dnnkit.\n#include <dnnkit/onnx/onnx_weights.hpp>\n#include <dnnkit/runtime/program.hpp>\n\n"
         "#include \"" +
         name +
         ".hpp\"\n\nnamespace dk = dnnkit;\n\nint main(int argc, char** argv) {\n"
         "  return dk::run_program<dk::compile<" +
         name + ">>(argc, argv, {" + generation::string_literal(std::filesystem::absolute(model).string()) +
         ", [](const std::filesystem::path& path) -> dk::weight_file { return dk::onnx_weights(path" +
         detail::linked_argument(linked) + "); }});\n}\n";
}

// Writes `text`, leaving a file alone that says the same already, so that nothing is compiled anew.
inline void write_if_changed(const std::filesystem::path& path, const std::string& text) {
  if (std::filesystem::exists(path) && std::filesystem::file_size(path) == text.size()) {
    const mapped_file old(path);
    const auto bytes = old.bytes();
    if (std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == text) return;
  }
  replacing_file file(path);
  file.write(std::as_bytes(std::span(text)));
  file.commit();
}

}  // namespace dnnkit::onnx
