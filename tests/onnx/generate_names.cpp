// SPDX-License-Identifier: MIT
// Whatever a file's names say, what is generated is a model: nothing of them becomes code.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/onnx/generate_files.hpp"
#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "tests/support/cpp_tokens.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/hostile_names.hpp"

namespace dk = dnnkit;

namespace {

// The headers of the model whose names are `names`, over and over.
std::string header_of(const std::vector<std::string>& names, const std::string& name, const std::string& path) {
  dk::builder g;
  std::size_t i = 0;
  dk::tests::build_with_names(g, [&] { return std::string_view(names[i++ % names.size()]); });
  REQUIRE(g.value().error.str() == "");
  return dk::onnx::model_header(g.value(), name, path);
}

// The string literals behind `call(`, which are that function's first argument.
std::vector<std::string> first_arguments(const std::string& code, const std::string& function) {
  std::vector<std::string> list;
  const auto tokens = cpp::lexer::run(code);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i)
    if (tokens[i].text == function && tokens[i + 1].text == "(")
      for (std::size_t k = i + 2; k < tokens.size(); ++k)
        if (tokens[k].is == cpp::token::kind::string) {
          list.push_back(tokens[k].text);
          break;
        }
  return list;
}

const std::vector<std::string> all_names(dk::tests::hostile_names.begin(), dk::tests::hostile_names.end());

}  // namespace

TEST_CASE("a number of units is 1 to 1000") {
  CHECK(dk::onnx::kernel_parts_of("KERNEL_PARTS", "1") == 1);
  CHECK(dk::onnx::kernel_parts_of("KERNEL_PARTS", "1000") == 1000);
  const auto said_of = [](const char* text) {
    return error_of([&] { static_cast<void>(dk::onnx::kernel_parts_of("KERNEL_PARTS", text)); });
  };
  for (const char* wrong : {"-2", "0", "zero", "2.5", "", "2 ", "+2"})
    CHECK(said_of(wrong) == "KERNEL_PARTS: is no number of units, expected at least 1" +
                                (*wrong != '\0' ? ", found " + std::string(wrong) : ""));
  for (const char* wrong : {"1001", "99999999999999999999999"})
    CHECK(said_of(wrong) == "KERNEL_PARTS: is no number of units, expected at most 1000, found " + std::string(wrong));
}

TEST_CASE("where kernels cost much, the session's unit has its share of them") {
  CHECK(!dk::onnx::session_takes_kernels(199, 2));
  CHECK(dk::onnx::session_takes_kernels(200, 2));
  CHECK(!dk::onnx::session_takes_kernels(1000, 1));
  dk::builder g;
  g.output("y", dk::relu(g.input("x", dk::f32, {3})));
  const auto has = [&](dk::onnx::kernel_units units, const char* member) {
    return dk::onnx::model_header(g.value(), "net", "net.onnx", units).find(member) != std::string::npos;
  };
  CHECK(has({2, 0}, "kernel_parts = 2;"));
  CHECK(has({2, 0}, "first_kernel_part = 0;"));
  CHECK(!has({2}, "first_kernel_part"));
  CHECK(!has({}, "kernel_part"));
}

TEST_CASE("units of kernels say that they are, before they include anything") {
  const std::string unit = dk::onnx::kernel_unit_source("net", 1, 2);
  CHECK(unit.find("#define DNNKIT_ONLY_KERNELS") < unit.find("#include"));
}

TEST_CASE("passes that are left out are said in the model") {
  dk::builder g;
  g.output("y", dk::relu(g.input("x", dk::f32, {3})));
  const std::vector<std::string_view> left_out{"apply rules", "join stages"};
  CHECK(
      dk::onnx::model_header(g.value(), "net", "net.onnx", {}, {}, {}, left_out)
          .find(
              "using pipeline = dnnkit::without_called<dnnkit::default_pipeline, \"apply rules\", \"join stages\">;") !=
      std::string::npos);
  CHECK(dk::onnx::model_header(g.value(), "net", "net.onnx").find("pipeline") == std::string::npos);
}

TEST_CASE("a model for OpenCL says so, and includes what runs it") {
  dk::builder g;
  g.output("y", dk::relu(g.input("x", dk::f32, {3})));
  const std::string header =
      dk::onnx::model_header(g.value(), "net", "net.onnx", {}, {}, {}, {}, dk::onnx::program_target::opencl);
  CHECK(header.find("#include <dnnkit/opencl.hpp>\n") != std::string::npos);
  CHECK(header.find("struct net {\n  using target = dnnkit::targets::opencl;") != std::string::npos);
  const std::string of_images =
      dk::onnx::model_header(g.value(), "net", "net.onnx", {}, {}, {}, {}, dk::onnx::program_target::opencl_images);
  CHECK(of_images.find("using target = dnnkit::targets::opencl_in<dnnkit::images>;") != std::string::npos);
  const std::string of_cpu = dk::onnx::model_header(g.value(), "net", "net.onnx");
  CHECK(of_cpu.find("#include <dnnkit/graph.hpp>\n") != std::string::npos);
  CHECK(of_cpu.find("opencl") == std::string::npos);
}

TEST_CASE("a model of hostile names is one struct") {
  for (const std::string& name : all_names) {
    CAPTURE(name);
    const std::string code = header_of({name}, "hostile", "models/" + name + ".onnx");
    CHECK_MESSAGE(cpp::model_check::run(code, "hostile") == "", code);
    CHECK(first_arguments(code, "output") == std::vector<std::string>{name, "o" + name});
    CHECK(first_arguments(code, "input") == std::vector<std::string>{name, "m" + name});
  }
  const unsigned seed = std::random_device{}();
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> names;
    for (int i = 0; i < 30; ++i) names.push_back(all_names[random() % all_names.size()]);
    const std::string code = header_of(names, "hostile", names[0]);
    CHECK_MESSAGE(cpp::model_check::run(code, "hostile") == "", code);
  }
}

TEST_CASE("the check finds what would be a way out") {
  const std::string code = header_of({"plain"}, "model", "model.onnx");
  CHECK(cpp::model_check::run(code, "model") == "");
  const auto with = [&](std::string_view what, std::string_view in_place_of) {
    std::string changed = code;
    const std::size_t at = changed.find(in_place_of);
    REQUIRE(at != std::string::npos);
    return cpp::model_check::run(changed.replace(at, in_place_of.size(), what), "model");
  };
  CHECK(with("output y\n#include <cstdlib>\n", "output") != "");
  CHECK(with("output y\nstatic int p = std::system(\"\");\n", "output") != "");
  CHECK(with("output y \\\n", "output plain: f32 [1, 8, 5, 1]\n") != "");
  CHECK(with("output y ?\?/\n", "output plain: f32 [1, 8, 5, 1]\n") != "");
  CHECK(with("output \xe2\x80\xa8", "output") != "");
  CHECK(with("g.output(\"a\" R\"(", "g.output(") != "");
  CHECK(with("} int p; {", "const auto") != "");
  CHECK(cpp::model_check::run(code + "int p;\n", "model") != "");
  CHECK(with("std::system(\"\"); const auto", "const auto") != "");
  CHECK(with("other(\"\"); const auto", "const auto") != "");
}

TEST_CASE("the other files hold names and paths as literals") {
  for (const std::string& name : all_names) {
    if (name.find('\0') != std::string::npos) continue;  // no path has one
    const std::filesystem::path path = "/models/" + name + "/model.onnx";
    for (const std::string& code : {dk::onnx::weights_header("model", path), dk::onnx::program_source("model", path),
                                    dk::onnx::embedded_weights_source("model", path)}) {
      const auto tokens = cpp::lexer::run(code);
      CHECK(tokens == cpp::lexer::run(cpp::with_trigraphs(code)));
      std::size_t directives = 0, found = 0;
      std::string assembly;
      for (const cpp::token& t : tokens) {
        directives += t.is == cpp::token::kind::directive;
        if (t.is == cpp::token::kind::string && t.text.ends_with('\n')) assembly += t.text;
        found += t.is == cpp::token::kind::string && t.text == path.string();
      }
      CHECK(directives <= 4);
      if (assembly.empty()) CHECK(found == 1);
      else {  // seven statements, the path in the fourth of them, whose escapes are those of C++ too
        std::vector<std::string> lines;
        for (std::istringstream text(assembly); std::getline(text, assembly);) lines.push_back(assembly);
        REQUIRE(lines.size() == 7);
        const auto statement = cpp::lexer::run(lines[3]);
        CHECK((statement.size() == 3 && statement[1].text == "incbin" && statement[2].text == path.string()));
      }
    }
  }
}

TEST_CASE("text of each kind") {
  using namespace dk::generation;
  CHECK(string_literal("a\"\\\n") == "\"a\\\"\\\\\\012\"");
  CHECK(string_literal(std::string_view("a\0b", 3)) == "std::string_view(\"a\\000b\", 3)");
  CHECK(string_literal("a?\?/b") == "\"a?\\?/b\"");
  CHECK(character_literal('\'') == "'\\''");
  CHECK(comment_text("plain: 16*H/16, \"x\"") == "plain: 16*H/16, \"x\"");
  CHECK(comment_text("a\nb\\") == "a<U+000A>b<U+005C>");
  CHECK(comment_text("\u2028\U0001f600\xff\xe2\x80") == "<U+2028><U+1F600><0xFF><0xE2><0x80>");
  CHECK(assembly_string("a\"b\\\n") == "\"a\\042b\\134\\012\"");
}

TEST_CASE("names that may not be, and names for them") {
  using namespace dk::generation;
  for (const char* wrong :
       {"", "_x", "3d", "a__b", "class", "dk", "std", "linux", "a-b", "log", "build", "size_t", "a\n"})
    CHECK_MESSAGE(!is_type_name(wrong), wrong);
  for (const char* right : {"resnet50", "swin_t", "ResNet50", "model_3d", "N"})
    CHECK_MESSAGE(is_type_name(right), right);
  for (const std::string& name : all_names) CHECK_MESSAGE(is_type_name(type_name(name, "model")), name);
  CHECK(dk::onnx::model_name("models/ResNet50.onnx") == "res_net50");
  CHECK(dk::onnx::model_name("My-net.v2.onnx") == "my_net_v2");
  CHECK(dk::onnx::model_name("log.onnx") == "log_model");
  CHECK_THROWS_AS(header_of({"plain"}, "class", "class.onnx"), dk::error);

  name_scope scope{"g"};
  CHECK(scope.add("a") == "a");
  CHECK(scope.add("a") == "a_2");
  CHECK(scope.add("a") == "a_3");
  CHECK(scope.add("g") == "g_2");
  CHECK(scope.add("a_2") == "a_2_2");
  CHECK(scope.add("class_") == "class_");
  CHECK(scope.add("class_") == "class_2");
}
