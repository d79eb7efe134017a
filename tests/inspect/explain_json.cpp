// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// explain_json: one JSON text whatever the graph and its names are, with the numbers of the plan.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/inspect/explain_json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/inspect/explain.hpp"
#include "dnnkit/pass/pipeline.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/hostile_names.hpp"
#include "tests/support/joined_models.hpp"
#include "tests/support/json_syntax.hpp"
#include "tests/support/models.hpp"
#include "tests/support/random_graph.hpp"

namespace dk = dnnkit;
using digits = dk::compile<models::digits>;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// The line of `text` that has all of `parts`; empty when none has.
std::string line_with(const std::string& text, std::vector<std::string_view> parts) {
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    std::size_t found = 0;
    for (std::string_view part : parts) found += has(line, part);
    if (found == parts.size()) return line;
  }
  return {};
}

}  // namespace

TEST_CASE("the writer's text is JSON") {
  dk::detail::json_writer j;
  j.object([&] {
    j.member("a", std::string_view("b\"\x1b"));
    j.key("list");
    j.array([&] {
      j.value(-1);
      j.null();
      j.object([] {});
      j.array([] {});
      j.object([&] { j.member("x", 0.5); });
      j.value(true);
    });
    j.text_or_null("none", "");
    j.key("last");
    j.object([&] { j.member("y", std::int64_t{1} << 40); });
  });
  const std::string text = j.take();
  CHECK(json_syntax::valid(text));
  CHECK(has(text, "\"a\": \"b\\\"\\u001b\""));
  CHECK(has(text, "\"y\": 1099511627776"));
}

namespace {

struct two_products {
  static constexpr void build(dk::builder& g) {
    const auto x = dk::transpose(dk::relu(dk::matmul(g.input("x", dk::f32, {8, 16}), g.weight("a", {16, 4}))));
    g.output("y", dk::relu(dk::matmul(x, g.weight("b", {8, 32}))));
  }
};

}  // namespace

TEST_CASE("decisions name the kernels that their operators ended in, and what lies between these") {
  const std::string text = dk::explain_json<dk::compile<two_products>>();
  const std::string second = line_with(text, {"\"setup\": false", "\"name\": \"Relu #2\""});
  const std::string::size_type at = second.find("\"number\": ");
  REQUIRE(at != std::string::npos);
  const std::string number = second.substr(at + 10, second.find(',', at) - at - 10);
  CHECK(line_with(text, {"\"pass\": \"plan fusion\"", "\"applied\": true",
                         "{\"operator\": \"Relu\", \"name\": \"Relu #2\", \"kernel\": " + number + "}"}) != "");
  CHECK(line_with(text, {"\"operator\": \"Relu\", \"name\": \"Relu\", \"kernel\": ", "\"name\": \"MatMul #2\"",
                         "\"between\": [{\"operator\": \"Transpose\", \"name\": \"Transpose\"}]"}) != "");
}

TEST_CASE("parts of a Concat that is no kernel say where in it they lie") {
  dk::builder b;
  harness::joined::branches::build(b);
  const auto plan = dk::default_pipeline::run_logged<dk::targets::avx512>(b.value(), dk::cpu::default_families.table);
  const dk::plan_view view = dk::plan::view_of(plan.plan);
  const std::string text = dk::explain_json(view), prose = dk::explain(view);
  CHECK(json_syntax::valid(text));
  std::size_t parts = 0;
  for (const dk::plan::buffer& part : view.buffers) {
    if (part.layout.within == dk::none) continue;
    const dk::plan::buffer& whole = view.buffers[static_cast<std::size_t>(part.layout.within)];
    ++parts;
    // the last position of all axes lies inside the whole, where first and strides say
    const std::string where = "\"within\": {\"name\": \"" + std::string(view.text_of(whole.name)) +
                              "\", \"offset\": " + std::to_string(whole.offset) +
                              ", \"bytes\": " + std::to_string(whole.elements.value() * 4) +
                              ", \"first\": " + std::to_string(part.offset - whole.offset) + ", \"strides\": [";
    const std::size_t at = text.find(where);
    REQUIRE_MESSAGE(at != std::string::npos, where);
    std::int64_t last = part.offset - whole.offset, inner = 4;
    std::string rest = text.substr(at + where.size());
    for (std::size_t d = 0; d < part.type.dims.size(); ++d) {
      std::size_t end = 0;
      const std::int64_t stride = std::stoll(rest, &end);
      rest = rest.substr(end + (rest[end] == ',' ? 2 : 0));
      inner = std::min(inner, stride);
      last += stride * (part.type.dims[d].value() + part.layout.before[d] + part.layout.after[d] - 1);
    }
    CHECK(inner == 4);
    CHECK(last + 4 <= whole.elements.value() * 4);
  }
  CHECK(parts > 1);
  CHECK(has(prose, " bytes) from its byte "));
  CHECK(has(prose, ", in Concat ("));
}

TEST_CASE("digits: a line for each kernel and decision, and the totals") {
  const std::string text = dk::explain_json<digits>();
  CHECK(json_syntax::valid(text));
  const std::string conv1 = line_with(text, {"\"name\": \"conv1\"", "\"setup\": false"});
  CHECK(has(conv1, "\"operators\": [{\"operator\": \"Conv\", \"name\": \"conv1\"}, {\"operator\": \"Relu\""));
  CHECK(has(conv1, "\"flops\": 20480, \"bytes\": 4992, \"bytes_read\": 896, \"bytes_written\": 4096"));
  CHECK(has(conv1, "\"layout\": \"channels last, halo axis 2: 1+1 axis 3: 1+1\""));
  CHECK(has(conv1, "\"name\": \"x\", \"access\": \"read\""));
  CHECK(has(conv1, "\"type\": \"f32\", \"shape\": [1, 1, 8, 8], \"storage\": \"graph input\", \"offset\": null"));
  CHECK(line_with(text, {"\"verdict\": \"folded\"", "\"operators\": \"BatchNormalization 'bn1'\"",
                         "\"result\": \"Conv 'conv1'\""}) != "");
  CHECK(line_with(text, {"\"pass\": \"plan fusion\"", "\"verdict\": \"not fused\"",
                         "\"reason\": \"one anchor a kernel\"", "\"meaning\": \"an anchor is"}) != "");
  CHECK(line_with(text, {"\"pass\": \"select layouts\"", "\"verdict\": \"halo\"", "\"value\": \"MaxPool\""}) != "");
  CHECK(line_with(text, {"\"pass\": \"make plan\"", "\"what\": \"offset\"", "\"unit\": \"bytes\""}) != "");
  for (const std::string& total : {std::string("\"operators\": 13"), "\"kernels\": " + std::to_string(digits::kernels),
                                   "\"distinct_kernels\": " + std::to_string(digits::distinct_kernels),
                                   "\"arena_bytes\": " + std::to_string(digits::arena_bytes),
                                   std::string("\"intermediate_bytes_as_built\": 46080"),
                                   std::string("\"flops\": 913546"), std::string("\"flops_as_built\": 919040")})
    CHECK_MESSAGE(line_with(text, {total}).size() == total.size() + (total.ends_with("919040") ? 4 : 5), total);
}

TEST_CASE("digits: bytes between kernels, kernels by family, passes left out") {
  const std::string text = dk::explain_json<digits>();
  // convolutions and pools: 4,096 + 8,192 + 2,048 + 2,048 + 512, each of them read once
  CHECK(has(text, "\"intermediate_bytes\": {\"written\": 16896, \"read\": 16896}"));
  CHECK(has(text, "\"passes_left_out\": []"));
  std::size_t kernels = 0;
  const std::string families = line_with(text, {"\"families\": {"});
  for (std::size_t at = 0; (at = families.find("\": ", at + 1)) != families.npos;)
    if (families[at + 3] != '{') kernels += std::stoul(families.substr(at + 3));
  CHECK(kernels == digits::kernels);
}

TEST_CASE("digits: the family of each kernel, what it is expected to take, and what else there was") {
  const std::string text = dk::explain_json<digits>();
  for (const dk::plan::step& s : digits::plan.steps) {
    const dk::kernel_choice& choice = digits::choices[s.kernel];
    const std::string name(digits::plan.text_of(s.name)),
        line = line_with(text, {"\"name\": \"" + name + "\", \"setup\": false"});
    CAPTURE(name);
    CHECK(has(line, "\"family\": \"" + std::string(choice.family) + "\""));
    CHECK(has(line, "\"lanes\": " + std::to_string(choice.tile.lanes)));
    CHECK(has(line, "\"predicted_time\": {\"microseconds\": "));
    CHECK(has(line, "\"reason\": \"" + std::string(choice.reason) + "\""));
    std::size_t alternatives = 0;
    for (std::size_t at = 0; (at = line.find("\"matches\": ", at)) != line.npos; ++at) ++alternatives;
    CHECK(alternatives == choice.alternatives.count);
  }
  CHECK(has(line_with(text, {"\"name\": \"conv1\", \"setup\": false"}), "\"reading\": \"packed once\""));
}

namespace {

struct attention {  // one kernel of three stages
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", dk::f32, {2, 100, 16}), k = g.input("k", dk::f32, {2, 16, 100}),
                     v = g.input("v", dk::f32, {2, 100, 16});
    g.output("y", dk::relu(dk::matmul(dk::softmax(dk::matmul(q, k) * 0.25), v)));
  }
};

}  // namespace

TEST_CASE("a kernel of several stages: each with its operators, the tile, and why") {
  const std::string text = dk::explain_json<dk::compile<attention>>();
  CHECK(json_syntax::valid(text));
  const std::string kernel = line_with(text, {"\"family\": \"attention\""});
  CHECK(has(kernel, "\"stages\": [{\"mapping_type\": \"Many-to-Many\", \"operators\": [{\"operator\": \"MatMul\""));
  CHECK(has(kernel, "{\"mapping_type\": \"Many-to-Many\", \"operators\": [{\"operator\": \"Softmax\""));
  const std::int64_t queries = 2 * dk::targets::native::float_lanes;
  CHECK(has(kernel, "\"positions\": [1, " + std::to_string(queries) + ", null]"));
  CHECK(has(kernel, "\"bytes\": " + std::to_string(queries * 100 * 4) + "}"));
  CHECK(has(kernel, "\"bytes_read\": " + std::to_string(3 * 2 * 100 * 16 * 4)));
  CHECK(has(line_with(text, {"\"pass\": \"join stages\"", "\"operator\": \"Softmax\""}),
            "\"verdict\": \"stages of one kernel\", \"applied\": true"));
  CHECK(has(line_with(text, {"\"pass\": \"join stages\""}), "\"what\": \"one by one\", \"amount\": "));
  CHECK(has(text, "\"kernels\": 1,"));
  CHECK(has(text, "\"arena_bytes\": 0"));
}

TEST_CASE("sizes are expressions, and numbers when the symbols have values") {
  const dk::graph g = dk::graph_of<models::wdsr>();
  const std::string text = dk::explain_json<dk::default_pipeline>(g);
  CHECK(json_syntax::valid(text));
  CHECK(has(text, "\"flops_as_built\": \"181711*H*W\""));
  CHECK(has(text, "\"arena_bytes\": null"));
  CHECK(has(text, "\"shape\": [1, 3, \"2*H\", \"2*W\"]"));
  const std::vector<dk::binding> bindings{{"H", 10}, {"W", 100}};
  const std::string bound = dk::explain_json<dk::default_pipeline>(g, bindings);
  CHECK(json_syntax::valid(bound));
  CHECK(has(bound, "\"flops_as_built\": 181711000"));
  CHECK_FALSE(has(bound, "\"arena_bytes\": null"));
}

TEST_CASE("extents that are taken for equal are said") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {"H"});
  b.output("y", dk::add(x, b.input("z", dk::f32, {"W"})));
  const std::string text = dk::explain_json<dk::default_pipeline>(b.value());
  CHECK(json_syntax::valid(text));
  CHECK(has(text, R"({"left": "H", "relation": "=", "right": "W", "for": "Add"})"));
}

TEST_CASE("the text is JSON for 300 random graphs and for hostile names") {
  for (const std::uint64_t seed : harness::seeds(0, 300)) {
    dk::builder b;
    random_graph(b, seed, {.least_operators = 2, .most_operators = 12, .symbols = seed % 2 == 1}).build();
    const std::string text = dk::explain_json<dk::default_pipeline>(b.value());
    CHECK_MESSAGE(json_syntax::valid(text), "seed " << seed << ": " << text);
  }
  for (const std::string_view name : dk::tests::hostile_names) {
    dk::builder b;
    b.output(name, b.named(name, dk::relu(b.input(name, dk::f32, {2}))) + b.weight(name, {2}));
    const std::string text = dk::explain_json<dk::default_pipeline>(b.value());
    CHECK_MESSAGE(json_syntax::valid(text), text);
    CHECK_MESSAGE(has(text, "\"name\": " + dk::detail::json_string(name)), text);
    for (char c : text) CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
  }
}

TEST_CASE("an operand that is read twice at each of many levels is looked at once at each") {
  dk::builder b;
  dk::tensor x = b.input("x", dk::f32, {4, 6});
  for (int i = 0; i < 27; ++i) x = x + x;
  b.output("y", dk::matmul(x, b.weight("w", {6, 8})));
  const std::string text = dk::explain_json<dk::default_pipeline>(b.value());
  CHECK(has(line_with(text, {"\"name\": \"w\"", "\"read\""}), "packed once"));
}

TEST_CASE("a graph of which no plan can be made, and a plan without a log, are refused") {
  dk::builder b;
  b.output("y", b.input("x", dk::f32, {2, 3}) + b.input("z", dk::f32, {4}));
  CHECK(error_of([&] { return dk::explain_json<dk::default_pipeline>(b.value()); }).find("cannot be planned") !=
        std::string::npos);
  CHECK(error_of([] { return dk::explain_json(digits::plan); }) == "explain_json: the plan was made without a log");
}
