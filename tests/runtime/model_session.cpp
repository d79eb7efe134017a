// SPDX-License-Identifier: MIT
// The session that a model asks for, and a program around one with states: its runs, one behind the other.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/model_session.hpp"

#include <doctest/doctest.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "dnnkit/graph.hpp"
#include "dnnkit/runtime/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

namespace dk = dnnkit;

struct stateless {
  static constexpr void build(dk::builder& g) { g.output("y", -g.input("x", dk::f32, {2})); }
};
static_assert(std::same_as<dk::model_session<stateless>, dk::session<dk::compile<stateless>>>);

// What is added up goes on from run to run, scaled; the scale is an input of its own.
struct sums {
  using feedbacks = dk::feedback_list<dk::feedback<"total", "before">>;
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {dk::sym{"N", {1, 8}}, 2}), scale = g.input("scale", dk::f32, {});
    const auto total = g.input("before", dk::f32, {1, 2}) + dk::reduce_sum(x, {.axes = {0}, .keepdims = true}) * scale;
    g.output("total", dk::identity(total));
    g.output("y", -total);
  }
};
using net = dk::compile<sums>;
static_assert(
    std::same_as<dk::model_session<sums>, dk::stateful_session<dk::session<net>, dk::feedback<"total", "before">>>);
static_assert(std::same_as<dk::model_session<sums, dk::chrome_trace>,
                           dk::stateful_session<dk::session<net, dk::chrome_trace>, dk::feedback<"total", "before">>>);

struct growing {
  using feedbacks = dk::feedback_list<dk::feedback<"all", "past">>;
  static constexpr void build(dk::builder& g) {
    const auto past = g.input("past", dk::f32, {dk::sym{"P", {0, 8}}, 2}), x = g.input("x", dk::f32, {1, 2});
    const auto all = dk::concat({past, x}, {.axis = 0});
    g.output("all", dk::identity(all));
    g.output("y", dk::reduce_sum(all, {.axes = {0}}));
  }
};

struct files {
  temporary_folder folder;

  files() {
    save("three.npy", {3, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400});
    save("one.npy", {2, 2}, {1, 2, 3, 4});
    save("scale.npy", {}, {2});
    save("scales.npy", {3}, {1, 2, 3});
    save("two_scales.npy", {2}, {1, 2});
    save("none.npy", {0, 2, 2}, {});
    save("before.npy", {1, 2}, {1000, 2000});
  }
  std::string operator()(const std::string& name) const { return (folder / name).string(); }

 private:
  void save(const char* name, std::vector<std::int64_t> shape, const std::vector<float>& x) const {
    dk::save_npy(folder / name, {name, dk::f32, std::move(shape), std::as_bytes(std::span(x))});
  }
};
const files in_folder;

struct outcome {
  int status = 0;
  std::string out, err;
};
template <class Net = net> outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  std::ostringstream out, err;
  auto* const cout = std::cout.rdbuf(out.rdbuf());
  auto* const cerr = std::cerr.rdbuf(err.rdbuf());
  const int status = dk::run_program<Net>(static_cast<int>(words.size()), argv.data(),
                                          {"none", [](const std::filesystem::path& path) -> dk::weight_file {
                                             return dk::weight_file(path.string(), std::vector<dk::stored_tensor>{});
                                           }});
  std::cout.rdbuf(cout);
  std::cerr.rdbuf(cerr);
  return {status, out.str(), err.str()};
}
std::string input(const std::string& name, const std::string& file) { return name + "=" + in_folder(file); }
std::vector<float> written(const std::string& name, const std::vector<std::int64_t>& shape) {
  const dk::npy file(in_folder("results/" + name));
  CHECK(file.tensor().shape == shape);
  std::vector<float> x(file.tensor().data.size() / sizeof(float));
  std::memcpy(x.data(), file.tensor().data.data(), file.tensor().data.size());
  return x;
}

TEST_CASE("a session with the state that the model names") {
  dk::model_session<sums> s;
  s.bind({{"N", 1}});
  std::array<float, 2> y{};
  const std::array<float, 1> scale{2};
  s.run(std::array<float, 2>{1, 2}, scale, y);
  s.run(std::array<float, 2>{3, 4}, scale, y);
  CHECK(y == std::array<float, 2>{-8, -12});
}

TEST_CASE("an axis in front of an input is that of the runs") {
  const std::string output = in_folder("results");
  const outcome o =
      run({"--input", input("x", "three.npy"), "--input", input("scale", "scale.npy"), "--output", output});
  CHECK(o.err == "");
  CHECK(o.status == 0);
  CHECK(written("y.npy", {3, 1, 2}) == std::vector<float>{-8, -12, -88, -132, -888, -1332});
  CHECK(written("total.npy", {1, 2}) == std::vector<float>{888, 1332});

  CHECK(run({"--input", input("x", "three.npy"), "--input", input("scale", "scales.npy"), "--input",
             input("before", "before.npy"), "--output", output, "--time", "2", "--trace", in_folder("trace.json")})
            .err == "");
  CHECK(written("y.npy", {3, 1, 2}) == std::vector<float>{-1004, -2006, -1084, -2126, -2284, -3926});
  CHECK(written("total.npy", {1, 2}) == std::vector<float>{2284, 3926});
}

TEST_CASE("without that axis there is one run") {
  const outcome o = run({"--input", input("x", "one.npy"), "--input", input("scale", "scale.npy"), "--input",
                         input("before", "before.npy"), "--output", in_folder("results")});
  CHECK(o.err == "");
  CHECK(written("y.npy", {1, 2}) == std::vector<float>{-1008, -2012});
}

TEST_CASE("help says what goes on, and what is wrong is said") {
  const outcome help = run({"--help"});
  CHECK(help.out.find("  state  total is the next run's before\n") != help.out.npos);
  CHECK(help.out.find("with one axis more in front") != help.out.npos);
  CHECK(help.out.find("--trace take all these runs for one") != help.out.npos);
  const auto fails = [](std::vector<std::string> words, const std::string& what) {
    const outcome o = run(std::move(words));
    CHECK(o.status == 2);
    CHECK_MESSAGE(o.err.find(what) != o.err.npos, o.err);
  };
  const std::string x = input("x", "three.npy"), scale = input("scale", "scale.npy");
  fails({"--input", x, "--input", input("scale", "two_scales.npy")},
        "two_scales.npy: the axis in front of the input's says another number of runs, expected 3, found 2");
  fails({"--input", input("x", "none.npy"), "--input", scale}, "expected at least 1, found 0");
  fails({"--input", x}, "--input scale: no value is given for this input");
  fails({"--input", x, "--input", scale, "--input", input("before", "three.npy")},
        "has another element type or rank than the input");
  fails({"--input", x, "--input", scale, "--input", input("before", "one.npy")},
        "has another shape than the network's");
}

TEST_CASE("no program has memory for states that grow") {
  const outcome o = run<dk::compile<growing>>({"--input", input("x", "one.npy")});
  CHECK(o.status == 1);
  CHECK(o.err.find("all: f32 [P+1, 2]: the state has other extents behind each run") == 0);
  CHECK(o.err.find("reserve()") != o.err.npos);
}

}  // namespace
