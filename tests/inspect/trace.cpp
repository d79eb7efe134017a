// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// The trace observer: what it records, that it does not allocate while a network runs, and the JSON it writes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/inspect/trace.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "dnnkit/graph.hpp"
#include "dnnkit/inspect/explain.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/json_syntax.hpp"
#include "tests/support/temporary_folder.hpp"

namespace dk = dnnkit;

namespace {

// Two kernels, the first under a name that needs care in JSON.
struct two_kernels {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {2, 8});
    const auto s = g.named("a \"sum\"\\\t\x01", dk::reduce_sum(x, {.axes = {1}, .keepdims = true}));
    g.output("y", dk::softmax(x * s, {.axis = 1}));
  }
};
using net = dk::compile<two_kernels>;
struct one_symbol {
  static constexpr void build(dk::builder& g) { g.output("y", dk::relu(g.input("x", dk::f32, {dk::sym{"N"}}))); }
};
using any_length = dk::compile<one_symbol>;
static_assert(net::kernels == 2);

dk::safetensors no_tensors() {
  static constexpr std::string_view file("\2\0\0\0\0\0\0\0{}", 10);
  return dk::safetensors::from_memory(std::as_bytes(std::span(file)), "no tensors");
}

}  // namespace

TEST_CASE("JSON is told from what is not") {  // the test's own tool
  for (const char* good : {"{}", "[]", " [1, -2.5e+3, 0, true, null] ", R"({"a\"\u00e9":{"b":[{}]}})"})
    CHECK_MESSAGE(json_syntax::valid(good), good);
  for (const char* bad : {"", "{", "[1,]", "{\"a\"}", "[01]", "\"\t\"", R"("\x")", "[1] 2", "\"a", "[1.]", "{a:1}"})
    CHECK_MESSAGE(!json_syntax::valid(bad), bad);
}

TEST_CASE("every kernel of every run") {
  dk::session<net, dk::chrome_trace> session(no_tensors());
  const std::array<float, 16> x{};
  std::array<float, 16> y{};
  CHECK(json_syntax::valid(session.observer().json()));  // before anything has run
  static_assert(noexcept(session.run(x, y)));
  for (int run = 0; run < 3; ++run) session.run(x, y);
  const auto events = session.observer().events();
  REQUIRE(events.size() == 6);
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(events[i].step == i % 2);
    CHECK(events[i].begin <= events[i].end);
    if (i > 0) CHECK(events[i - 1].end <= events[i].begin);
  }
  const std::string json = session.observer().json();
  CHECK(json_syntax::valid(json));
  CHECK(json.find(R"("name":"a \"sum\"\\\t\u0001")") != std::string::npos);
  CHECK(json.find(R"("ph":"X")") != std::string::npos);
  CHECK(json.find(R"("operators":"ReduceSum")") != std::string::npos);
  CHECK(json.find(R"("operators":"Mul Softmax")") != std::string::npos);  // as explain lists them
  CHECK(dk::explain<net>().find("operators     Mul, Softmax\n") != std::string::npos);
  CHECK(json.find(R"("ts":0.000)") != std::string::npos);
  session.observer().clear();
  CHECK(session.observer().events().empty());
}

TEST_CASE("FLOPs are numbers under the values that the symbols had in each run") {
  dk::session<any_length, dk::chrome_trace> session(no_tensors());
  std::array<float, 16> x{}, y{};
  for (const std::int64_t n : {4, 16, 7}) {
    if (n == 7) session.observer().clear();
    session.bind({{"N", n}});
    const auto length = static_cast<std::size_t>(n);
    session.run(std::span(x).first(length), std::span(y).first(length));
    if (n != 4) continue;
    CHECK(session.observer().json().find(R"("FLOPs":4)") != std::string::npos);
  }
  session.bind({{"N", 16}});
  const std::string json = session.observer().json();
  CHECK(json_syntax::valid(json));
  CHECK(json.find(R"("FLOPs":7})") != std::string::npos);
  CHECK(json.find("N") == std::string::npos);
}

TEST_CASE("room is taken once; what does not fit is counted") {
  dk::session<net, dk::chrome_trace> session(no_tensors(), dk::chrome_trace(3));
  const std::array<float, 16> x{};
  std::array<float, 16> y{};
  const auto* memory = session.observer().events().data();
  session.run(x, y);
  session.run(x, y);
  session.run(x, y);
  CHECK(session.observer().events().size() == 3);
  CHECK(session.observer().events().data() == memory);
  CHECK(session.observer().lost() == 3);
  CHECK(session.observer().json().find(R"("lost":"3")") != std::string::npos);
}

TEST_CASE("written to a file, or a clear error") {
  const temporary_folder folder;
  dk::session<net, dk::chrome_trace> session(no_tensors());
  const std::array<float, 16> x{};
  std::array<float, 16> y{};
  session.run(x, y);
  session.observer().write(folder / "trace.json");
  CHECK(read_file(folder / "trace.json") == session.observer().json());
  CHECK(error_of([&] { return session.observer().write(folder / "no" / "trace.json"), 0; }) ==
        (folder / "no/trace.json").string() + ": cannot write file (No such file or directory)");
}

TEST_CASE("microseconds") {
  CHECK(dk::detail::microseconds(0) == "0.000");
  CHECK(dk::detail::microseconds(7) == "0.007");
  CHECK(dk::detail::microseconds(1234567) == "1234.567");
}
