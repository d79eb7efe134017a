// SPDX-License-Identifier: MIT
// A program around a network: what it reads and writes, and what it says of wrong arguments.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/program.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/graph.hpp"
#include "dnnkit/weights/safetensors_writer.hpp"
#include "tests/support/json_syntax.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

namespace dk = dnnkit;

struct model {  // y = 2 x + w, z = the number of each row's largest element
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {dk::sym{"N", {1, 8}}, 3});
    const auto twice = g.constant({2, 0, 0, 0, 2, 0, 0, 0, 2}, {3, 3});  // a product reads x element by element
    const auto y = dk::matmul(x, twice) + g.weight("w", {3});
    g.output("deep/y", y);
    g.output("z", dk::arg_max(y, {.axis = 1, .keepdims = false}));
  }
};
using net = dk::compile<model>;

// The folder where the programs find their files and leave what they write.
struct files {
  temporary_folder folder;

  files() {
    const std::array<float, 3> w{1, 0, -1};
    const std::array tensors{dk::stored_tensor{"w", dk::f32, {3}, std::as_bytes(std::span(w))}};
    dk::save_safetensors(folder / "w.safetensors", tensors);
    save<float>("x.npy", dk::f32, {2, 3}, {1, 2, 3, 6, 5, 4});
    save<float>("long.npy", dk::f32, {9, 3}, std::vector<float>(27));
    save<float>("wide.npy", dk::f32, {2, 4}, std::vector<float>(8));
    save<double>("double.npy", dk::f64, {2, 3}, std::vector<double>(6));
  }
  std::string operator()(std::string_view name) const { return (folder / name).string(); }

 private:
  template <class T>
  void save(const char* name, dk::dtype type, std::vector<std::int64_t> shape, const std::vector<T>& x) const {
    dk::save_npy(folder / name, {name, type, shape, std::as_bytes(std::span(x))});
  }
};
const files in_folder;

// "x=NAME": an input, of that file.
std::string input(std::string_view name) { return "x=" + in_folder(name); }

struct outcome {
  int status = 0;
  std::string out, err;
};
outcome run(std::vector<std::string> words, bool with_weights = true) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  std::ostringstream out, err;
  auto* const cout = std::cout.rdbuf(out.rdbuf());
  auto* const cerr = std::cerr.rdbuf(err.rdbuf());
  const int status = dk::run_program<net>(
      static_cast<int>(words.size()), argv.data(),
      {in_folder(with_weights ? "w.safetensors" : "missing.safetensors"),
       [](const std::filesystem::path& path) -> dk::weight_file { return dk::safetensors(path); }});
  std::cout.rdbuf(cout);
  std::cerr.rdbuf(cerr);
  return {status, out.str(), err.str()};
}

}  // namespace

TEST_CASE("outputs are written; symbols follow from the inputs") {
  const outcome o = run({"--input", input("x.npy"), "--output", in_folder("results"), "--threads=2"});
  CHECK(o.err == "");
  CHECK(o.status == 0);
  const dk::npy y(in_folder("results/deep%2Fy.npy")), z(in_folder("results/z.npy"));
  CHECK(y.tensor().shape == std::vector<std::int64_t>{2, 3});
  const std::array<float, 6> expected{3, 4, 5, 13, 10, 7};
  CHECK(std::memcmp(y.tensor().data.data(), expected.data(), sizeof expected) == 0);
  const std::array<std::int64_t, 2> largest{2, 0};
  CHECK(z.tensor().dtype == dk::i64);
  CHECK(std::memcmp(z.tensor().data.data(), largest.data(), sizeof largest) == 0);
}

// Without the spaces that NumPy writes, elements lie at no multiple of their size.
TEST_CASE("an input whose elements lie anywhere in its file") {
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  {
    std::ofstream file(in_folder("anywhere.npy"), std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size()) << '\0' << header;
    const std::array<float, 6> x{1, 2, 3, 6, 5, 4};
    file.write(reinterpret_cast<const char*>(x.data()), sizeof(x));
  }
  static_assert((10 + sizeof("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n") - 1) % 4 != 0);
  CHECK(run({"--input", input("anywhere.npy"), "--output", in_folder("anywhere")}).status == 0);
  CHECK(run({"--input", input("x.npy"), "--output", in_folder("somewhere")}).status == 0);
  const dk::npy a(in_folder("anywhere/z.npy")), b(in_folder("somewhere/z.npy"));
  CHECK(std::ranges::equal(a.tensor().data, b.tensor().data));
}

TEST_CASE("who asks for nothing is told how outputs are written") {
  const outcome o = run({"--input", input("x.npy")});
  CHECK(o.status == 0);
  CHECK(o.out == "");
  CHECK(o.err == "nothing is written; --output FOLDER writes deep/y: f32 [2, 3], z: i64 [2]\n");
  CHECK(run({"--input", input("x.npy"), "--time", "1"}).err == "");
}

TEST_CASE("what is read is not replaced") {
  const outcome trace = run({"--input", input("x.npy"), "--trace", in_folder("x.npy")});
  CHECK(trace.err ==
        "--trace: would replace the file of --input x, expected another file, found " + in_folder("x.npy") + "\n");
  std::filesystem::create_directory(in_folder("linked"));
  std::filesystem::create_symlink(in_folder("w.safetensors"), in_folder("linked/z.npy"));
  const outcome output = run({"--input", input("x.npy"), "--output", in_folder("linked")});
  CHECK(output.err ==
        "--output: would replace the weights, expected another file, found " + in_folder("linked/z.npy") + "\n");
  CHECK(!std::filesystem::exists(in_folder("linked/deep%2Fy.npy")));
}

TEST_CASE("the median time is the last line") {
  const outcome o = run({"--input", input("x.npy"), "--time", "3", "--dim", "N=2"});
  CHECK(o.status == 0);
  CHECK(std::stod(o.out) >= 0);
}

TEST_CASE("a trace has every kernel once") {
  const outcome o = run({"--input", input("x.npy"), "--trace", in_folder("trace.json")});
  CHECK(o.err == "");
  CHECK(o.status == 0);
  const std::string json = read_file(in_folder("trace.json"));
  CHECK(json_syntax::valid(json));
  std::size_t events = 0;
  for (std::size_t at = json.find("\"kernel\":"); at != json.npos; at = json.find("\"kernel\":", at + 1)) ++events;
  CHECK(events == net::kernels);
  CHECK(run({"--input", input("x.npy"), "--trace", in_folder("no/such/folder/trace.json")}).status == 2);
}

TEST_CASE("help names inputs, outputs and kernels") {
  const outcome o = run({"--help"});
  CHECK(o.status == 0);
  CHECK(o.out.find("x: f32 [N, 3]") != o.out.npos);
  CHECK(o.out.find("deep/y: f32 [N, 3]") != o.out.npos);
  CHECK(o.out.find("where to write each output; without it none is written") != o.out.npos);
  CHECK(o.out.find(std::to_string(net::kernels) + " kernels") != o.out.npos);
}

TEST_CASE("what is wrong is said, and the status is 2") {
  const auto fails = [](std::vector<std::string> words, const std::string& what) {
    const outcome o = run(std::move(words));
    CHECK(o.status == 2);
    CHECK_MESSAGE(o.err.find(what) != o.err.npos, o.err);
  };
  fails({}, "--input x: no value is given for this input, expected x: f32 [N, 3]");
  fails({"--input", "y=" + in_folder("x.npy")},
        "--input y: the network has no input of this name, expected one of\n  input  x");
  fails({"--explain"}, "--explain: is no option of this program");
  fails({"--input", input("x.npy"), "--input", "u=" + in_folder("x.npy")}, "--input u");
  fails({"--input", input("x.npy"), "--input", input("x.npy")}, "given twice");
  fails({"--input", input("wide.npy")}, "wide.npy");
  fails({"--input", input("double.npy")}, "double.npy");
  fails({"--input", input("long.npy")}, "N");
  fails({"--input", input("none.npy")}, "none.npy");
  fails({"--input", input("x.npy"), "--dim", "N=3"}, "3, from --dim N");
  fails({"--input", input("x.npy"), "--dim", "M=3"}, "one of N (x: f32 [N, 3]), found M\n");
  fails({"--dim", "foo"}, "--dim: is no assignment, expected NAME=NUMBER, found foo\n");
  fails({"--dim", "N=2..4"}, "--dim N: is no number it takes, expected at least 0, found 2..4\n");
  fails({"--input", "x.npy"}, "--input: is no assignment, expected NAME=FILE.npy, found x.npy\n");
  fails({"--input", input("x.npy"), "--time", "0"}, "--time");
  fails({"--input", input("x.npy"), "--threads", "none"}, "--threads");
  fails({"--input", input("x.npy"), "--spin", "-1"}, "--spin");
  fails({"--input", input("x.npy"), "--spin", "1000001"}, "time to spin is out of range");
  fails({"--input"}, "--input");
  fails({"--speed", "3"}, "--speed");
  CHECK(run({"--input", input("x.npy")}, false).status == 2);
}
