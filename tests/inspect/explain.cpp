// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// explain: names, counts, sizes and reasons of both example networks, against numbers worked out by hand.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/inspect/explain.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/support/models.hpp"
#include "tests/support/rearranged.hpp"

namespace dk = dnnkit;
using harness::movement_goes_along;
using harness::movement_stays_out;
using harness::rearranged;
using digits = dk::compile<models::digits>;
using wdsr = dk::compile<models::wdsr>;

namespace {

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// The paragraph that starts with `title`.
std::string block(const std::string& text, const std::string& title) {
  const std::size_t begin =
      text.find("\n" + title) == std::string::npos ? text.find(title) : text.find("\n" + title) + 1;
  REQUIRE(begin != std::string::npos);
  return text.substr(begin, text.find("\n\n", begin) - begin);
}

// "1,234 FLOPs" -> 1234, the number in front of `unit`.
std::int64_t number_before(const std::string& text, const std::string& unit) {
  std::size_t end = text.find(" " + unit), begin = end;
  REQUIRE(end != std::string::npos);
  while (begin > 0 && (std::isdigit(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == ',')) --begin;
  std::string n = text.substr(begin, end - begin);
  std::erase(n, ',');
  return std::stoll(n);
}

// The words of a line of the totals: label, graph as built, compiled.
std::vector<std::string> total(const std::string& text, const std::string& label) {
  std::istringstream line(text.substr(text.find("\n" + label) + 1 + label.size()));
  std::string l, word;
  std::getline(line, l);
  std::istringstream words(l);
  std::vector<std::string> list;
  while (words >> word) list.push_back(word);
  return list;
}

using pair = std::vector<std::string>;

}  // namespace

TEST_CASE("digits: each kernel with its operators, place, cost and reasons") {
  const std::string text = dk::explain<digits>();
  CHECK(count(text, "\nkernel ") + text.starts_with("kernel ") == digits::kernels);
  CHECK(count(text, "\nsetup: ") == digits::plan.setup_steps.size());

  const std::string first = block(text, "kernel 1: conv1");
  CHECK(has(first, "operators     Conv 'conv1', Relu\n"));
  CHECK(has(first, "mapping type  Many-to-Many\n"));
  CHECK(has(first, "reads         x: f32 [1, 1, 8, 8], graph input\n"));
  CHECK(has(first, "halo axis 2: 1+1 axis 3: 1+1"));
  // 16 channels of 10x10 with the halo, 8x8 without; 3x3 multiply-adds, a bias and one maximum for each of the latter
  CHECK(has(first, "(6,400 bytes)"));
  CHECK(has(first, "cost          20,480 FLOPs, 896 bytes read, 4,096 bytes written"));
  CHECK(has(first, "fused         Conv 'conv1' -> Relu: predecessor"));

  const std::string second = block(text, "kernel 2: conv2");
  CHECK(has(second, "not fused     Relu -> Conv 'conv2': one anchor a kernel"));
  CHECK(has(second, "cost          591,872 FLOPs"));

  const std::string last = block(text, "kernel 6: fc");
  CHECK(has(last, "operators     MatMul 'fc', Add 'fc'\n"));
  CHECK(has(last, "views         Flatten, Transpose 'fc'\n"));  // of the activations and of the weight
  CHECK(has(last, "writes        y: f32 [1, 10], graph output\n"));
  CHECK(has(last, "not fused     Relu 'MaxPool #2' -> Flatten -> MatMul 'fc': one anchor a kernel"));

  const std::string pool = block(text, "kernel 5: MaxPool #2");  // its Relu is computed behind it, of fewer elements
  CHECK(has(pool, "operators     MaxPool #2, Relu 'MaxPool #2'\n"));
  CHECK(has(pool, "Conv 'conv3' -> MaxPool #2: mapping types (Many-to-Many -> Many-to-Many)"));
}

TEST_CASE("digits: the family of each kernel, and what it and others are expected to take") {
  const std::string text = dk::explain<digits>();
  double microseconds = 0;
  for (std::size_t k = 0; k < digits::plan.steps.size(); ++k) {
    const dk::kernel_choice& choice = digits::choices[digits::plan.steps[k].kernel];
    const std::string kernel = block(text, "kernel " + std::to_string(k + 1) + ": ");
    CHECK(has(kernel, fmt::format("\n  family        {}: {}\n", choice.family, choice.reason)));
    CHECK(has(kernel, fmt::format("\n  expected      {:.1f} us", choice.cost.microseconds)));
    microseconds += choice.cost.microseconds;
  }
  CHECK(has(block(text, "kernel 1: conv1"), " us (conv_n"));  // the other order of a convolution's elements
  CHECK(total(text, "expected time") == pair{fmt::format("{:.1f}", microseconds), "us"});
}

namespace {

struct attention {  // one kernel of three stages
  static constexpr void build(dk::builder& g) {
    const dk::tensor q = g.input("q", dk::f32, {dk::sym{"N"}, 100, 16}),
                     k = g.input("k", dk::f32, {dk::sym{"N"}, 16, 100});
    g.output("y", dk::matmul(dk::softmax(dk::matmul(q, k) * 0.25), q));
  }
};

}  // namespace

TEST_CASE("which anchors are stages of one kernel, and why") {
  using net = dk::compile<attention>;
  const std::string joined = dk::explain<net>();
  CHECK(count(joined, "\n  joined        ") == 2);
  CHECK(has(joined,
            "  joined        MatMul -> Softmax: what one hands to the other stays with the worker, tile by tile ("
            "one kernel "));
  CHECK(has(joined, " cycles, one by one "));
  CHECK(has(joined, "\n  family        attention: "));
  CHECK(has(joined, " us, symbols taken for 64\n"));
  using apart = dk::compile<attention, dk::targets::native, dk::without<dk::default_pipeline, dk::passes::join_stages>>;
  CHECK(count(dk::explain<apart>(), "joined") == 0);
}

TEST_CASE("the reasons are explained, those that were used and no others") {
  const std::string text = dk::explain<digits>();
  CHECK(has(text, "\none anchor a kernel: an anchor is an operator that is neither element-wise nor movement\n"));
  CHECK(has(text, "\nmapping types: DNNFusion's Table 3.3 forbids the pair of mapping types\n"));
  CHECK(count(text, "\npredecessor: ") == 1);
  CHECK_FALSE(has(text, "\nbroadcast behind the anchor: "));
}

namespace {

// An embedding of three of a thousand words, and ten of a hundred numbers.
struct picking {
  static constexpr void build(dk::builder& g) {
    const dk::tensor ids = g.input("ids", dk::i64, {3}), x = g.input("x", dk::f32, {100});
    g.output("words", dk::gather(g.weight("table", {1000, 16}), ids));
    g.output("part", dk::exp(dk::narrow(x, 0, 20, 10)));
  }
};

struct picking_columns {
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::gather(g.input("x", dk::f32, {4, 30}), g.input("ids", dk::i64, {30}), {.axis = 1}));
  }
};
struct picking_each {  // an element, wherever it lies, for each index
  static constexpr void build(dk::builder& g) {
    const dk::tensor ids = g.input("ids", dk::i64, {30}), x = g.input("x", dk::f32, {100});
    g.output("picked", dk::gather_elements(x, ids));
    g.output("part", dk::exp(dk::narrow(x, 0, 20, 10)));
  }
};

}  // namespace

TEST_CASE("a rule that refused is named") {
  using apart =
      dk::compile<rearranged, dk::targets::native, dk::pipeline_with_rules<movement_goes_along, movement_stays_out>>;
  CHECK(has(dk::explain<apart>(), "not fused     Conv -> DepthToSpace -> Sub: rule 'movement stays out' (one kernel "));
}

TEST_CASE("of what is picked from a table, as much is counted as is read") {
  const std::string text = dk::explain<dk::compile<picking>>();
  CHECK(has(text, " 216 bytes read, 192 bytes written"));  // three indices of 8 bytes and 48 elements
  CHECK(has(text, " 40 bytes read, 40 bytes written"));
  CHECK(total(text, "bytes moved") == pair{"568", "488"});  // as built, the part is stored and read again
}

TEST_CASE("kernels without vectors are named last, with their share of the expected time") {
  const std::string text = dk::explain<dk::compile<picking_each>>();
  const std::size_t last = text.rfind("\n1 kernel runs element by element, ");
  REQUIRE(last != std::string::npos);
  CHECK(text.ends_with(" %  GatherElements\n"));
  const double share = std::stod(text.substr(last + 35));
  CHECK(share > 1);
  CHECK(share < 99);  // Exp has vectors
  CHECK_FALSE(has(dk::explain<digits>(), " element by element, "));
  // and why
  CHECK(has(text,
            "  family        by_point: the operator's definition, element by element\n"
            "  no vectors    no other family carries out the operator\n"));
  CHECK(has(dk::explain<dk::compile<picking_columns>>(),
            "  no vectors    byte_lookup: it is no table of 256 bytes that is looked up by bytes\n"));
  CHECK_FALSE(has(dk::explain<digits>(), "  no vectors "));
}

TEST_CASE("digits: totals") {
  const std::string text = dk::explain<digits>();
  CHECK(total(text, "operators, kernels") == pair{"13", "6"});
  // convolutions 18,432 + 589,824 + 294,912 and their biases 1,024 + 2,048 + 512, pools 2,048 + 512, fully connected
  // 2,560; element-wise 2 x (1,024 + 2,048 + 512) before and 1,024 + 512 + 128 after, where two Relus stand behind the
  // pools; the bias of the last layer is an Add of its own
  CHECK(total(text, "FLOPs") == pair{"919,040", "913,546"});
  CHECK(total(text, "bytes moved")[1] == "95,440");
  // 3 x 4,096 + 3 x 8,192 + 2,048 + 3 x 2,048 + 512 + 512
  // convolutions and pools: 4,096 + 8,192 + 2,048 + 2,048 + 512, each of them read once
  CHECK(total(text, "bytes of intermediates written") == pair{"46,080", "16,896"});
  CHECK(total(text, "bytes of intermediates read") == pair{"16,896"});
  CHECK(total(text, "bytes of the arena") == pair{dk::detail::grouped(digits::arena_bytes)});
  CHECK(total(text, "kernels run once, at setup") == pair{std::to_string(digits::plan.setup_steps.size())});
  CHECK(total(text, "kernels to instantiate") == pair{std::to_string(digits::distinct_kernels)});
}

TEST_CASE("totals are the sums of the kernels") {
  const std::string text = dk::explain<wdsr>({{"H", 7}, {"W", 13}});
  std::int64_t flops = 0, moved = 0;
  for (std::size_t k = 1; k <= wdsr::kernels; ++k) {
    const std::string kernel = block(text, "kernel " + std::to_string(k) + ": ");
    flops += number_before(kernel, "FLOPs");
    moved += number_before(kernel, "bytes read") + number_before(kernel, "bytes written");
  }
  CHECK(total(text, "FLOPs")[1] == dk::detail::grouped(flops));
  CHECK(total(text, "bytes moved")[1] == dk::detail::grouped(moved));
}

TEST_CASE("wdsr: sizes are expressions, and numbers when the symbols have values") {
  const std::string text = dk::explain<wdsr>();
  CHECK(count(text, "\nkernel ") + text.starts_with("kernel ") == wdsr::kernels);
  for (const char* name : {"head", "body.0.0", "body.7.3", "skip", "tail"})
    CHECK(has(text, "Conv '" + std::string(name) + "'"));
  CHECK(has(text, "f32 [1, 24, H, W], arena"));
  CHECK(has(text, "f32 [1, 3, 2*H, 2*W], graph output"));
  CHECK(has(text, "DepthToSpace"));
  CHECK(wdsr::kernels <= 20);  // of which one copies where lanes are left empty by 3 channels
  CHECK(total(text, "operators, kernels") == pair{"48", std::to_string(wdsr::kernels)});
  // a pixel: head 1,296, eight times 6,912 + 144 + 5,760 + 8,640 + 24, tail 5,184, skip 1,800, biases 24 + 8 x 188 + 12
  // + 12, Sub 3, and 12 for each of Add, Add and Clip; the Sub is computed by both of its readers
  CHECK(total(text, "FLOPs") == pair{"181711*H*W", "181714*H*W"});
  CHECK(has(text, "planned when the symbols have values"));

  const std::string bound = dk::explain<wdsr>({{"H", 10}, {"W", 100}});
  CHECK(total(bound, "FLOPs") == pair{"181,711,000", "181,714,000"});
  CHECK(has(bound, "f32 [1, 3, 20, 200], graph output"));
  CHECK_FALSE(has(bound, "H"));  // no symbol is left
}

TEST_CASE("values of symbols are checked") {
  CHECK(error_of([] { return dk::explain<wdsr>({{"H", 10}}); }) == "symbol 'W': symbol is not given a value");
  CHECK(error_of([] { return dk::explain<digits>({{"L", 10}}); }) == "bind: no such symbol, expected none, found L");
}

TEST_CASE("extents that are taken for equal are said") {
  dk::builder b;
  const dk::tensor x = b.input("x", dk::f32, {"H"});
  b.output("y", dk::add(x, b.input("z", dk::f32, {"W"})));
  CHECK(has(dk::explain<dk::default_pipeline>(b.value()), "assumed: H = W, for Add\n"));
  const std::vector<dk::binding> equal{{"H", 10}}, differing{{"H", 10}, {"W", 11}};
  CHECK(has(dk::explain<dk::default_pipeline>(b.value(), equal), "assumed: H = W, for Add\n"));
  CHECK(has(error_of([&] { return dk::explain<dk::default_pipeline>(b.value(), differing); }), "expected H = 10"));
}

TEST_CASE("numbers in groups of three digits") {
  using dk::detail::grouped;
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-999) == "-999");
  CHECK(grouped(-123456) == "-123,456");
  CHECK(grouped(1234567) == "1,234,567");
}

TEST_CASE("layouts in words") {
  dk::plan::buffer_layout l{{0, 2, 3, 1}, {0, 0, 1, 2}, {0, 0, 0, 2}, {}};
  CHECK(dk::detail::describe(l) == "channels last, halo axis 2: 1+0 axis 3: 2+2");
  l = {{0, 1, 2}, {0, 0, 0}, {0, 0, 0}, {}};
  CHECK(dk::detail::describe(l) == "row-major");
  l.order = {1, 0, 2};
  CHECK(dk::detail::describe(l) == "order 1 0 2");
}
