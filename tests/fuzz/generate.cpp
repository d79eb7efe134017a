// SPDX-License-Identifier: MIT
// libFuzzer target of the generator: a model whose names are the input, cut at 0xfe, becomes one struct and nothing
// else, with those names in it.
#include "dnnkit/onnx/generate_files.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/cpp_tokens.hpp"
#include "tests/support/hostile_names.hpp"

namespace dk = dnnkit;

static void require(bool condition, const std::string& what, const std::string& code) {
  if (condition) return;
  std::fputs((what + "\n" + code).c_str(), stderr);
  std::abort();
}

static bool has(const std::vector<cpp::token>& tokens, std::string_view text) {
  for (const cpp::token& t : tokens)
    if (t.is == cpp::token::kind::string && t.text == text) return true;
  return false;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
  std::vector<std::string> names(1);
  for (std::size_t i = 0; i < size; ++i)
    if (input[i] == 0xfe) names.emplace_back();
    else names.back() += static_cast<char>(input[i]);
  std::size_t next = 0;
  dk::builder g;
  dk::tests::build_with_names(g, [&] { return std::string_view(names[next++ % names.size()]); });
  if (!g.value().error.empty()) return 0;

  const std::string name = dk::generation::type_name(names[0], "model");
  const std::string code = dk::onnx::model_header(g.value(), name, names[0]);
  const std::string wrong = cpp::model_check::run(code, name);
  require(wrong.empty(), wrong, code);
  const auto tokens = cpp::lexer::run(code);
  for (std::size_t i = 0; i < g.value().outputs.size(); ++i)
    require(has(tokens, g.value().text_of(g.value().output_names[i])), "an output's name is not there", code);

  const std::string path = "/" + names.back().substr(0, names.back().find('\0'));
  for (const std::string& file : {dk::onnx::weights_header(name, path), dk::onnx::program_source(name, path)}) {
    const auto there = cpp::lexer::run(file);
    require(there == cpp::lexer::run(cpp::with_trigraphs(file)), "trigraphs change the meaning", file);
    require(has(there, path), "the path is not there", file);
  }
  cpp::lexer::run(dk::onnx::embedded_weights_source(name, path));
  return 0;
}
