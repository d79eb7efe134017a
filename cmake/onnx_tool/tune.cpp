// SPDX-License-Identifier: MIT
// dnnkit tune: measures what may carry out each of a model's kernels, and in what tiles, on this machine; writes a
// table that the cost model believes (dnnkit/cost/tuned.hpp).
#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "cmake/onnx_tool/command.hpp"
#include "cmake/onnx_tool/model.hpp"
#include "cmake/onnx_tool/traced_program.hpp"
#include "cmake/onnx_tool/tuner.hpp"
#include "dnnkit/weights/replacing_file.hpp"

namespace dnnkit::tool {

namespace {

std::size_t at_least_one(const cxxopts::ParseResult& arguments, const std::string& option) {
  const std::size_t n = arguments[option].as<std::size_t>();
  if (n == 0) throw error("is too few", "--" + option, "at least 1", "0");
  return n;
}

}  // namespace

int tune(int argc, char** argv) {
  cxxopts::Options options(
      "dnnkit tune",
      "Measures what may carry out each kernel of a model, and with what register tiles and blocks, on this machine, "
      "and writes a table for `dnnkit build --tuned` and for models (dnnkit/cost/tuned.hpp). Programs are compiled "
      "that have a candidate of every kernel each; a genetic search, and an estimator that learns from what was "
      "measured, choose the candidates. A table that is there already is gone on from.");
  options.add_options()("o,output", "the header to write", cxxopts::value<std::string>())(
      "isa",
      "the instruction set to tune for, by default this machine's: sse2, avx2, avx512, avx512_vnni or avx512_amx",
      cxxopts::value<std::string>())("generations", "generations of candidates",
                                     cxxopts::value<std::size_t>()->default_value("4"))(
      "population", "programs of a generation", cxxopts::value<std::size_t>()->default_value("3"))(
      "rounds", "runs of each program, of which the least time of a kernel counts",
      cxxopts::value<std::size_t>()->default_value("9"))("seed", "of the search",
                                                         cxxopts::value<std::uint64_t>()->default_value("1"))(
      "core", "number of the processor that programs run on", cxxopts::value<std::size_t>())(
      "include", "folder of the library's headers, by default those beside this program",
      cxxopts::value<std::string>())(
      "flags",
      "flags for the compiler, besides -march=native where no --isa is given; by default those of `dnnkit build`",
      cxxopts::value<std::string>())("j,jobs", "compilers to run at once",
                                     cxxopts::value<std::size_t>()->default_value("1"));
  add_input_option(options);
  const auto arguments = parse(options, argc, argv);
  if (!arguments) return 0;
  if (!arguments->count("output")) throw error("is missing", "--output");
  tune_options o{.generations = at_least_one(*arguments, "generations"),
                 .population = at_least_one(*arguments, "population"),
                 .rounds = at_least_one(*arguments, "rounds"),
                 .jobs = at_least_one(*arguments, "jobs"),
                 .seed = (*arguments)["seed"].as<std::uint64_t>(),
                 .core = {},
                 .header = (*arguments)["output"].as<std::string>()};
  if (arguments->count("core") != 0) o.core = processor_numbered((*arguments)["core"].as<std::size_t>());
  const model m = load_compilable(*arguments, inputs_of(*arguments));
  refuse_to_replace_read(*arguments, m, "--output", o.header);
  { const replacing_file can_be_written(o.header); }
  work_folder folder(fmt::format("{}.{}.work", o.header.string(), getpid()));
  tuner(m, *arguments, o, folder).run();
  return 0;
}

}  // namespace dnnkit::tool
