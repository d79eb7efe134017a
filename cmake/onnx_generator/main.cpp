// SPDX-License-Identifier: MIT
// What dnnkit_add_onnx() runs at build time: an ONNX model becomes a header, and everything that is not supported is
// listed at once. Needs nothing but the library's headers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/printable.hpp"
#include "dnnkit/cpu/kernel_parts.hpp"
#include "dnnkit/cpu/plan_ahead.hpp"
#include "dnnkit/onnx/generate_files.hpp"
#include "dnnkit/onnx/import.hpp"
#include "dnnkit/onnx/import/extent_option.hpp"
#include "dnnkit/onnx/import_with_inputs.hpp"
#include "dnnkit/onnx/onnx_weights.hpp"
#include "dnnkit/source/layer_names.hpp"
#include "opencl_kernels.hpp"  // which lies beside it in an installed package, too

namespace {

namespace dk = dnnkit;

// Writes the units of the kernels (NAME_kernels_1.cpp ..., or of each instruction set NAME_kernels_ISA_0.cpp ...): as
// many sources as `most` parts need, of which those beyond what pays are empty, or exactly `exactly`, if that is given.
// Returns the number of parts; the session is one of them where there are no instruction sets.
std::size_t write_kernel_units(const dk::graph& g, const std::filesystem::path& folder, const std::string& name,
                               std::size_t most, std::size_t exactly, const std::vector<std::string>& isas) {
  const auto parts_that_pay = [&] {
    const std::size_t units = dk::onnx::kernel_units_that_pay(dk::cpu::compile_cost(view_of(dk::cpu::planned(g))),
                                                              isas.empty() ? most - 1 : most);
    return isas.empty() ? 1 + units : std::max<std::size_t>(1, units);
  };
  const std::size_t parts = exactly > 0 ? exactly : parts_that_pay();
  const auto write = [&](std::size_t first, const std::string& isa) {
    for (std::size_t part = first; part < std::max(most, parts); ++part)
      dk::onnx::write_if_changed(folder / (dk::onnx::kernel_unit_name(name, part, isa) + ".cpp"),
                                 dk::onnx::kernel_unit_source(name, part, parts, isa));
  };
  if (isas.empty()) write(1, {});
  for (const std::string& isa : isas) write(0, isa);
  return parts;
}

// MODEL.onnx FOLDER NAME and the options of main().
int generate(int argc, char** argv) {
  const std::filesystem::path model = argv[1], folder = argv[2];
  const std::string name = argv[3];
  bool embed = false;
  std::size_t parts = 0, most_parts = 1;
  std::vector<std::string> isas, fed_back;
  auto linked = dk::onnx::linked_data::refused;
  auto target = dk::onnx::program_target::cpu;
  dk::onnx::import_options options;
  dk::onnx::input_values values;
  for (int i = 4; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--embed") embed = true;
    else if (word == "--allow-linked-data") linked = dk::onnx::linked_data::allowed;
    else if (word == "--opencl") target = dk::onnx::program_target::opencl;
    else if (word == "--opencl_images") target = dk::onnx::program_target::opencl_images;
    else if (word == "--dim" && i + 1 < argc) {
      dk::onnx::set_extent(options, "DIM", argv[++i]);
    } else if ((word == "--kernel-parts" || word == "--most-kernel-parts") && i + 1 < argc) {
      std::size_t& number = word == "--kernel-parts" ? parts : most_parts;
      number = dk::onnx::kernel_parts_of("KERNEL_PARTS", argv[++i]);
    } else if (word == "--isa" && i + 1 < argc) isas.emplace_back(argv[++i]);
    else if (word == "--input" && i + 1 < argc) dk::onnx::read_input_value(values, "INPUT", argv[++i]);
    else if (word == "--feedback" && i + 1 < argc) fed_back.emplace_back(argv[++i]);
    else throw dk::error("is not known", std::string(word));
  }

  dk::onnx::file file(model, linked);
  dk::onnx::refuse_unknown_inputs(file.model(), "INPUT", values);
  dk::onnx::refuse_other_types(file.model(), "INPUT", values);
  dk::onnx::refuse_unknown_extents(file.model(), "DIM", options);
  const dk::onnx::import_result imported = dk::onnx::import_with_inputs(file, options, values);
  if (!imported.ok()) {
    const std::size_t count = imported.problems.size() + imported.problems_left_out;
    std::cerr << model.string() << ": " << count << (count == 1 ? " problem\n" : " problems\n");
    for (const dk::onnx::import_problem& p : imported.problems) std::cerr << "  " << p.describe() << "\n";
    std::cerr << dk::onnx::describe_values_to_give(imported, "INPUT", "DIM");
    if (imported.has_unknown_operators) std::cerr << imported.advice() << "\n";
    return 1;
  }
  std::cerr << dk::onnx::describe_open_inputs(imported.graph, "INPUT", values);
  const bool is_for_opencl = target != dk::onnx::program_target::cpu;
  const std::string problem = is_for_opencl ? dk::onnx::refusal_of_opencl(dk::with_names_for_logs(imported.graph))
                                            : dk::printable(dk::cpu::reason_not_to_compile(imported.graph));
  if (!problem.empty()) {
    std::cerr << model.string() << ": " << problem << "\n";
    return 1;
  }
  const auto feedbacks = dk::onnx::feedbacks_of(imported.graph, "FEEDBACK", fed_back);
  std::filesystem::create_directories(folder);
  if (!is_for_opencl)  // whose kernels are texts in the session's unit
    parts = write_kernel_units(imported.graph, folder, name, most_parts, parts, isas);
  dk::onnx::write_if_changed(folder / (name + ".hpp"),
                             dk::onnx::model_header(imported.graph, name, model, {parts}, isas, feedbacks, {}, target));
  if (embed) {
    const std::filesystem::path weights = folder / (name + ".safetensors");
    dk::onnx::save_weights_of(imported.graph, dk::onnx_weights(model, linked), weights);
    dk::onnx::write_if_changed(folder / (name + "_weights.hpp"), dk::onnx::embedded_weights_header(name));
    dk::onnx::write_if_changed(folder / (name + "_weights.cpp"), dk::onnx::embedded_weights_source(name, weights));
  } else {
    dk::onnx::write_if_changed(folder / (name + "_weights.hpp"), dk::onnx::weights_header(name, model, linked));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: dnnkit_onnx_generator MODEL.onnx FOLDER NAME [--embed] [--allow-linked-data] [--opencl | "
                 "--opencl_images] [--dim "
                 "SYMBOL=NUMBER]... [--input NAME=FILE.npy]... [--isa NAME]... [--feedback OUTPUT=INPUT]... "
                 "[--kernel-parts N | "
                 "--most-kernel-parts N]\n";
    return 2;
  }
  try {
    return generate(argc, argv);
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << "\n";
    return 1;
  }
}
