// SPDX-License-Identifier: MIT
// Outputs that are the next run's inputs, by their names: what is understood, what is refused, what is generated.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/onnx/feedbacks.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/onnx/generate_files.hpp"
#include "dnnkit/op/builtin.hpp"
#include "tests/support/error_of.hpp"

using namespace dnnkit;

namespace {

graph model() {
  builder b;
  const tensor x = b.input("x", f32, {"N", 2}), h = b.input("h=0", f32, {1, 2}), past = b.input("past", f32, {"P", 2});
  b.output("y", neg(x));
  b.output("h=1", add(h, b.scalar(1)));
  b.output("present", concat({past, h}, {.axis = 0}));
  b.output("largest", arg_max(h, {.axis = 1}));
  return b.value();
}

TEST_CASE("names with an = in them are found") {
  const graph g = model();
  const std::vector<std::string> texts{"h=1=h=0", "present=past"};
  const auto all = onnx::feedbacks_of(g, "--feedback", texts);
  REQUIRE(all.size() == 2);
  CHECK(all[0].output == "h=1");
  CHECK(all[0].input == "h=0");
  REQUIRE(onnx::first_growing(g, all));
  CHECK(onnx::first_growing(g, all)->output == "present");
  CHECK(!onnx::first_growing(g, std::span(all).first(1)));
  const std::string header = onnx::model_header(g, "net", "net.onnx", {}, {}, all);
  CHECK(header.find("#include <dnnkit/runtime/model_session.hpp>\n") != header.npos);
  CHECK(header.find("  using feedbacks = dnnkit::feedback_list<\n      dnnkit::feedback<\"h=1\", \"h=0\">,\n      "
                    "dnnkit::feedback<\"present\", \"past\">>;") != header.npos);
  CHECK(onnx::model_header(g, "net", "net.onnx").find("feedback") == std::string::npos);
}

TEST_CASE("what cannot be fed back is refused by name") {
  const graph g = model();
  const auto refused = [&](std::vector<std::string> texts) {
    return error_of([&] { return onnx::feedbacks_of(g, "--feedback", texts); });
  };
  CHECK(refused({"present"}) == "--feedback: takes OUTPUT=INPUT, found present");
  CHECK(refused({"=past"}) == "--feedback: takes OUTPUT=INPUT, found =past");
  CHECK(refused({"z=past"}) ==
        "--feedback z=past: the model has no output of this name, expected y, h=1, present, largest, found z");
  CHECK(refused({"y=z"}) == "--feedback y=z: the model has no input of this name, expected x, h=0, past, found z");
  CHECK(
      refused({"largest=h=0"}) ==
      "--feedback largest=h=0: they are not of one element type and the same extents, expected h=0: f32 [1, 2], found "
      "largest: i64 [1, 1]");
  CHECK(refused({"present=past", "present=x"}) == "--feedback present=x: the output is fed back twice");
  CHECK(refused({"present=past", "y=past"}) == "--feedback y=past: two outputs are fed back to the input");
}

}  // namespace
