// SPDX-License-Identifier: MIT
// dnnkit build: a model as a program, by way of C++ and the system's compiler.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "cmake/onnx_generator/opencl_kernels.hpp"
#include "cmake/onnx_tool/build.hpp"
#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/compiler.hpp"
#include "cmake/onnx_tool/instruction_sets.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "cmake/onnx_tool/plan_options.hpp"
#include "dnnkit/core/printable.hpp"
#include "dnnkit/cpu/kernel_parts.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/inspect/scalar_kernels.hpp"
#include "dnnkit/onnx/generate_files.hpp"
#include "dnnkit/source/layer_names.hpp"

namespace dnnkit::tool {

namespace {

// Units that one object is made of: the program itself, which has no instruction set of its own, or the kernels of one.
struct group_of_units {
  std::string isa;
  std::vector<std::string> names;
};

// Kernels are compiled apart from the program around them, which needs less optimisation, unless there are so many that
// its compiler would be done long before the others.
onnx::kernel_units units_that_pay(const plan::plan_draft& plan, std::size_t jobs, bool with_program) {
  const std::size_t cost = cpu::compile_cost(view_of(plan));
  if (with_program && onnx::session_takes_kernels(cost, jobs))
    return {1 + onnx::kernel_units_that_pay(cost, jobs - 1), 0};
  const std::size_t units = std::max<std::size_t>(1, onnx::kernel_units_that_pay(cost, jobs));
  return {with_program ? 1 + units : units, 1};
}

// The kernels of one instruction set, as one object.
std::string closed_kernels(const std::string& name, const std::string& isa) { return name + "_kernels_" + isa; }

constexpr std::string_view name_of_program = "main";

// Takes out what a build has written next to the program, and the folder where nobody else has put a file.
void remove_sources(const std::filesystem::path& folder, const std::string& name,
                    const std::vector<group_of_units>& groups) {
  std::vector<std::string> files{name + ".hpp", "compiler.log"};
  for (const group_of_units& group : groups) {
    for (const std::string& unit : group.names)
      for (const char* ending : {".cpp", ".o", ".log"}) files.push_back(unit + ending);
    if (!group.isa.empty())
      for (const char* ending : {".o", ".o.open"}) files.push_back(closed_kernels(name, group.isa) + ending);
  }
  std::error_code not_empty;  // no reason to fail: the program is there
  for (const std::string& file : files) std::filesystem::remove(folder / file, not_empty);
  std::filesystem::remove(folder, not_empty);
}

// The sources of the program, and the names of its units.
std::vector<group_of_units> write_sources(const dnnkit::graph& g, const std::filesystem::path& file,
                                          const std::filesystem::path& folder, onnx::kernel_units units,
                                          const std::vector<std::string>& isas, onnx::linked_data linked,
                                          onnx::program_target target,
                                          const std::vector<onnx::feedback_names>& feedbacks,
                                          const std::vector<std::string_view>& left_out, tuned_table tuned) {
  const std::string name = onnx::model_name(file);
  std::filesystem::create_directories(folder);
  onnx::write_if_changed(folder / (name + ".hpp"),
                         onnx::model_header(g, name, file, units, isas, feedbacks, left_out, target, tuned));
  onnx::write_if_changed(folder / fmt::format("{}.cpp", name_of_program), onnx::program_source(name, file, linked));
  std::vector<group_of_units> groups{{{}, {std::string(name_of_program)}}};
  const auto write = [&](group_of_units& group, std::size_t first) {
    for (std::size_t part = first; part < units.parts; ++part) {
      group.names.push_back(onnx::kernel_unit_name(name, part, group.isa));
      onnx::write_if_changed(folder / (group.names.back() + ".cpp"),
                             onnx::kernel_unit_source(name, part, units.parts, group.isa));
    }
  };
  if (isas.empty()) write(groups[0], 1);
  for (const std::string& isa : isas) write(groups.emplace_back(group_of_units{isa, {}}), 0);
  return groups;
}

std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The kernels of an instruction set as one object, of which nothing but the function that returns them can be seen
// (cpu/kernel_version.hpp): first all units together, then without the names.
std::array<command_line, 2> commands_to_close(const std::vector<std::string>& compiler,
                                              const std::vector<std::string>& objects,
                                              const std::filesystem::path& closed, const std::filesystem::path& log) {
  const char* given = std::getenv("OBJCOPY");
  const std::string open = closed.string() + ".open";
  return {command_line{
              joined(joined(compiler, {"-r", "-nostdlib", "-Wl,--force-group-allocation", "-o", open}), objects), log},
          command_line{{given != nullptr && *given != '\0' ? given : "objcopy", "--wildcard",
                        "--keep-global-symbol=_ZN6dnnkit3cpu10version_ofI*E3getEv", open, closed.string()},
                       log}};
}

// Names the kernels that run element by element; throws refused where they are expected to take more of the time than
// --most-scalar allows.
void name_scalar_kernels(const plan::plan_draft& plan, const cxxopts::ParseResult& arguments, build_says says) {
  const std::vector<scalar_kernels> list = scalar_kernels_of(view_of(plan));
  const std::string text(printable(describe(list), line_feeds::kept));
  if (arguments.count("most-scalar") != 0) {
    const double most = arguments["most-scalar"].as<double>();
    if (!(most >= 0 && most <= 100)) throw error("is no share", "--most-scalar", "0 to 100", fmt::format("{}", most));
    if (100 * share_of(list) > most)
      throw refused(error(text.substr(0, text.find(":\n")), "--most-scalar", fmt::format("at most {} %", most),
                          list.front().operators));
  }
  if (says == build_says::what_it_does) std::cerr << text;
}

// What --target says. Raises dnnkit::error for another word, and beside those of OpenCL for options that are about the
// processor's kernels.
onnx::program_target target_of(const cxxopts::ParseResult& arguments) {
  const std::string name = arguments["target"].as<std::string>();
  if (name == "cpu") return onnx::program_target::cpu;
  if (name != "opencl" && name != "opencl_images")
    throw error("is no target of programs", "--target", "cpu, opencl or opencl_images", name);
  for (const char* option : {"isa", "kernel-parts", "most-scalar", "tuned"})
    if (arguments.count(option) != 0)
      throw error("is for the target cpu", fmt::format("--{}", option), {}, "--target " + name);
  return name == "opencl" ? onnx::program_target::opencl : onnx::program_target::opencl_images;
}

}  // namespace

int build(int argc, char** argv) {
  if (const std::optional<std::string> program = built(argc, argv)) std::cout << printable(*program) << "\n";
  return 0;
}

std::optional<std::string> built(int argc, char** argv, build_says says) {
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  cxxopts::Options options(
      "dnnkit build",
      "Compiles a model to a program that takes --input, --output, --dim, --weights, --threads, --spin, --time and "
      "--trace, with --target opencl --device, --devices and --on-device in place of --threads and --spin, and with "
      "--help to explain them. The compiler is the one that the environment variable CXX names, else c++.");
  options.add_options()("o,output", "the program", cxxopts::value<std::string>())(
      "target",
      "what the program runs on: cpu; or opencl, a device that it chooses when it starts, linked with OpenCL; or "
      "opencl_images, the same with values in the device's images",
      cxxopts::value<std::string>()->default_value("cpu"))(
      "include", "folder of the library's headers, by default those beside this program",
      cxxopts::value<std::string>())(
      "flags", "flags for the compiler",
      cxxopts::value<std::string>()->default_value(
          "-O3 -march=native, or -O3 with --isa, for kernels, and -O1 for a program around them that has none itself, "
          "or whose kernels are OpenCL's"))(
      "isa",
      "instruction sets that the program has kernels for and chooses from when it starts: some of sse2, avx2, avx512, "
      "avx512_vnni, avx512_amx and neon, as in avx2,avx512; the environment variable DNNKIT_ISA of the program names "
      "one",
      cxxopts::value<std::string>())("j,jobs", "compilers to run at once, by default as many as there are processors",
                                     cxxopts::value<std::size_t>()->default_value(std::to_string(processors)))(
      "kernel-parts",
      "units to compile, the program around the kernels being one of them, or, with --isa, units of each set's "
      "kernels; "
      "by default as many as pay and run at once",
      cxxopts::value<std::string>());
  options.add_options()("most-scalar",
                        "refuse a model of which kernels that run element by element are expected to take more than "
                        "so many per cent of the time",
                        cxxopts::value<double>());
  options.add_options()(
      "keep-source", "leave what is compiled, and its objects, in PROGRAM.source, as is done where the compiler fails");
  add_left_out_option(options);
  add_tuned_option(options);
  add_feedback_option(options);
  add_input_option(options);
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return std::nullopt;
  if (!arguments->count("output")) throw error("is missing", "--output");
  using path = std::filesystem::path;
  const path program = (*arguments)["output"].as<std::string>();
  if (!program.has_filename() || is_directory(program))
    throw error("is a folder", "--output", "a file", program.string());
  const onnx::program_target target = target_of(*arguments);
  const bool on_opencl = target != onnx::program_target::cpu;
  std::vector<std::string> isas;
  if (arguments->count("isa") != 0)
    for (const instruction_set& set : sets_named((*arguments)["isa"].as<std::string>())) isas.emplace_back(set.name);
  const std::size_t jobs = (*arguments)["jobs"].as<std::size_t>();
  if (jobs == 0) throw error("is no number of compilers", "--jobs", "at least 1", "0");
  const std::size_t parts =  // 0: as many as pay
      arguments->count("kernel-parts")
          ? onnx::kernel_parts_of("--kernel-parts", (*arguments)["kernel-parts"].as<std::string>())
          : 0;
  const std::vector<std::string_view> left_out = left_out_of(*arguments);
  std::vector<tuned_row> tuned = tuned_rows_of(*arguments);
  model m = load_compilable(*arguments, inputs_of(*arguments), says == build_says::what_it_does);
  refuse_to_replace_read(*arguments, m, "--output", program);
  refuse_unreadable_weights(m);
  const dnnkit::graph& g = m.imported.graph;
  const std::vector<onnx::feedback_names> feedbacks = feedbacks_of(*arguments, g);
  if (const auto growing = onnx::first_growing(g, feedbacks))
    throw error(
        "the state has other extents behind each run, for which no program has memory; `dnnkit generate` writes the "
        "model, whose dnnkit::model_session has reserve()",
        fmt::format("--feedback {}={}", growing->output, growing->input));
  onnx::kernel_units units{std::max<std::size_t>(1, parts)};
  if (on_opencl) {  // whose kernels are texts in the program's one unit
    if (const std::string no = onnx::refusal_of_opencl(with_names_for_logs(m.imported.graph), left_out); !no.empty())
      throw refused(error(no, m.file->name()));
  } else {
    plan_options by{.left_out = left_out, .tuned = tuned};
    const plan::plan_draft plan = logged_plan(m, by);
    name_scalar_kernels(plan, *arguments, says);
    tuned = rows_for_kernels(m, by, isas);
    if (parts == 0) units = units_that_pay(plan, jobs, isas.empty());
  }
  const path include = arguments->count("include") ? path((*arguments)["include"].as<std::string>()) : include_folder();
  const path file = (*arguments)["model"].as<std::string>(), folder = program.string() + ".source";
  const std::vector<group_of_units> groups = write_sources(g, file, folder, units, isas, linked_data_of(*arguments),
                                                           target, feedbacks, left_out, table_of(tuned));

  const path log = folder / "compiler.log";
  std::size_t units_in_all = 0;
  for (const group_of_units& group : groups) units_in_all += group.names.size();
  const std::vector<std::string> compiler = compiler_and_options(log, std::min(jobs, units_in_all));
  const std::string_view processor = isas.empty() && !on_opencl ? " -march=native" : "";
  const std::string flags =
      arguments->count("flags") ? (*arguments)["flags"].as<std::string>() : fmt::format("-O3{}", processor);
  const std::vector<std::string> words = joined(compiler, words_of(flags));
  const bool kernels_apart = (units.parts > 1 && units.first > 0) || !isas.empty() || on_opencl;
  const std::vector<std::string> words_of_program =
      kernels_apart && !arguments->count("flags") ? joined(compiler, words_of(fmt::format("-O1{}", processor))) : words;
  std::vector<command_line> compilations;
  std::vector<std::array<command_line, 2>> closings;
  command_line link{words, log};
  for (const group_of_units& group : groups) {
    std::vector<std::string> objects;
    for (const std::string& unit : group.names) {
      std::vector<std::string> own = unit == name_of_program ? words_of_program : words;
      for (const instruction_set& set : instruction_sets)
        if (set.name == group.isa) own = joined(joined(own, words_of(set.flags)), {"-fno-lto"});
      objects.push_back(absolute(folder / (unit + ".o")).string());  // no option, whatever it begins with
      compilations.push_back({joined(own, {fmt::format("-I{}", include.string()), fmt::format("-I{}", folder.string()),
                                           "-c", absolute(folder / (unit + ".cpp")).string(), "-o", objects.back()}),
                              folder / (unit + ".log")});
    }
    if (!group.isa.empty()) {
      const path closed = absolute(folder / (closed_kernels(onnx::model_name(file), group.isa) + ".o"));
      closings.push_back(commands_to_close(compiler, objects, closed, log));
      objects = {closed.string()};
    }
    link.words = joined(link.words, objects);
  }
  if (on_opencl) link.words.emplace_back("-lOpenCL");
  link.words = joined(link.words, {"-o", absolute(program).string(), "-pthread"});
  if (says == build_says::what_it_does)
    std::cerr << fmt::format("compiling {} in {} unit{}, {} at once\n", printable(file.filename().string()),
                             compilations.size(), compilations.size() == 1 ? "" : "s",
                             std::min(jobs, compilations.size()));
  run_compilers(compilations, jobs, fmt::format("compiling {}", onnx::model_name(file)));
  for (const auto& commands : closings)
    for (const command_line& c : commands) run_compilers({c}, 1, "linking the kernels");
  run_compilers({link}, 1, fmt::format("linking {}", printable(program.string())));
  if (arguments->count("keep-source") == 0) remove_sources(folder, onnx::model_name(file), groups);
  return program.string();
}

}  // namespace dnnkit::tool
