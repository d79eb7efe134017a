// SPDX-License-Identifier: MIT
// verify(): a legal graph passes, and each rule, broken by hand, is reported by the sentence that names it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/graph/verify.hpp"

#include <doctest/doctest.h>

#include <string>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/expand_composites.hpp"

using namespace dnnkit;

namespace {

constexpr void build(builder& g) {
  const tensor x = g.input("x", f32, {1, 3, sym{"H", {1, 512}}, 8});
  tensor y = conv(x, g.weight("w", {4, 3, 3, 3}), g.weight("b", {4}), {.pads = {1, 1, 1, 1}});
  y = relu(batch_normalization(y, g.batch_norm("bn", 4)));
  g.output("y", y * 2.0 + g.constant({1, 2, 3, 4, 5, 6, 7, 8}, {8}));
}
constexpr text verified(auto damage) {
  builder g;
  build(g);
  damage(g.value());
  return verify(g.value());
}

static_assert(verified([](graph&) {}).empty());
static_assert(verified([](graph& g) { g = passes::expand_composites::run(g); }).empty());

// What a builder lets through but a graph must not have.
constexpr text built(auto make) {
  builder g;
  make(g);
  return verify(g.value());
}
static_assert(built([](builder& g) { static_cast<void>(g.input("x", f32, {1})); }) == "the graph has no output");
static_assert(built([](builder& g) {
                const tensor a = g.input("x", f32, {1}), b = g.input("z", f32, {1});
                g.output("y", a + b);
                g.value().at(b.id()).name = g.value().at(a.id()).name;
              }) == "input 'x': two inputs have this name");
static_assert(built([](builder& g) {
                const tensor x = g.input("x", f32, {1});
                g.output("y", x);
                g.output("z", relu(x));
                g.value().output_names[1] = g.value().output_names[0];
              }) == "output 'y': two outputs have this name");
static_assert(built([](builder& g) { g.output("y", relu(g.input("x", f32, {-1}))); }) ==
              "input 'x': an extent is neither known nor symbolic");
static_assert(built([](builder& g) {
                g.output("y", relu(g.input("x", f32, {sym{"H", {4, 2}}})));
              }) == "symbol 'H': its bounds are not 0 <= min <= max");
static_assert(built([](builder& g) { g.output("y", expand(g.input("x", f32, {1}), {sym{"N"}})); }) ==
              "symbol 'N': it is no extent of any input");
static_assert(built([](builder& g) { g.output("y", g.weight("w", {sym{"N"}}) + g.input("x", f32, {sym{"N"}})); }) ==
              "weight 'w': its shape must be known, not [N]");
static_assert(built([](builder& g) {
                const tensor c = g.constant({1, 2}, {2});
                g.output("y", g.input("x", f32, {2}) + c);
                g.value().at(c.id()).data.count = 0;
              }) == "constant '': its elements do not fit its shape");
static_assert(built([](builder& g) {
                const tensor x = g.input("x", f32, {sym{"N", {1, 9}}});
                g.output("y", x + g.constant({1}, x.dims()));
              }) == "");
static_assert(built([](builder& g) {
                const tensor x = g.input("x", f32, {sym{"N", {1, 9}}});
                g.output("y", x + g.constant({1, 2}, x.dims()));
              }) == "constant: 2 elements do not fill the shape [N]");
static_assert(built([](builder& g) { g.output("y", g.input("x", f32, {2}) + g.input("z", f32, {3})); }) ==
              "Add (node 0): shapes [2] and [3] do not broadcast");

std::string after(auto damage) { return verified(damage).str(); }
value& value_from(graph& g, origin from) {
  for (value& v : g.values)
    if (v.from == from) return v;
  throw std::logic_error("no such value");
}

TEST_CASE("damage to a legal graph is reported") {
  CHECK(after([](graph& g) { g.nodes[0].op = &no_operator; }) == "a node has no operator");
  CHECK(after([](graph& g) {
          g.nodes[0].name = {1u << 20, 3};
        }) == "node 'Conv': its name lies outside the graph's characters");
  CHECK(after([](graph& g) { g.nodes[0].attributes.count = 1u << 20; }) ==
        "Conv: its attributes or inputs lie outside the graph's");
  CHECK(after([](graph& g) { g.nodes[0].inputs.first = 1u << 20; }) ==
        "Conv: its attributes or inputs lie outside the graph's");
  CHECK(after([](graph& g) { g.operands[0] = 1000; }) == "Conv: input 0 does not exist");
  CHECK(after([](graph& g) { g.operands[0] = g.nodes[1].output; }) ==
        "Conv: input 0 is computed by a node that does not come before it");
  CHECK(after([](graph& g) { std::swap(g.nodes[0], g.nodes[1]); }).find("no node has it for an output") !=
        std::string::npos);
  CHECK(after([](graph& g) { g.nodes[1].output = g.nodes[0].output; }) == "value 'bn': no node has it for an output");
  CHECK(after([](graph& g) { g.at(g.nodes[0].output).producer = 1; }) == "value 'Conv': no node has it for an output");
  CHECK(after([](graph& g) {
          value_from(g, origin::weight).producer = 0;
        }).find("it has a producer it must not have") != std::string::npos);
  CHECK(after([](graph& g) { g.values[0].name.first = 1u << 20; }) ==
        "a value's name lies outside the graph's characters");
  CHECK(after([](graph& g) { g.values[0].type.dims[0] = dim::of_expression(999); }) ==
        "value 'x': its shape refers to an expression that does not exist");
  CHECK(after([](graph& g) { g.inputs[0] = g.nodes[0].output; }) ==
        "the list of inputs names a value that is not an input");
  CHECK(after([](graph& g) { g.inputs.clear(); }) == "an input is missing from the list of inputs");
  CHECK(after([](graph& g) { g.outputs[0] = 1000; }) == "the list of outputs names a value that does not exist");
  CHECK(after([](graph& g) { g.output_names.clear(); }) == "outputs and their names differ in number");
  CHECK(after([](graph& g) { value_from(g, origin::weight).name.count = 0; }) == "a weight has no name");
  CHECK(after([](graph& g) { value_from(g, origin::constant).data.first = 1u << 20; }) ==
        "constant '': its data lies outside the graph's");
  CHECK(after([](graph& g) { g.symbols.symbols[0].name = {}; }) == "a symbol has no name");
  CHECK(after([](graph& g) { g.symbols.symbols.push_back(g.symbols.symbols[0]); }) ==
        "symbol 'H': two symbols have this name");
  CHECK(after([](graph& g) {
          g.symbols.atoms.push_back({atom_kind::min, dim::of_expression(99), 1});
        }) == "an expression refers to a symbol or dimension that does not exist");
  CHECK(
      after([](graph& g) {
        const dim self = dim::of_expression(g.symbols.polynomials.size());
        g.symbols.polynomials.push_back(polynomial{monomial{1, {static_cast<std::uint16_t>(g.symbols.atoms.size())}}});
        g.symbols.atoms.push_back({atom_kind::min, self, 1});
      }) == "an expression refers to itself");
  CHECK(after([](graph& g) {
          g.symbols.polynomials.push_back(polynomial{monomial{1, {7}}});
        }) == "an expression refers to an atom that does not exist");
  CHECK(after([](graph& g) { g.at(g.nodes[0].output).type.dims[1] = 5; }) ==
        "Conv: its output is said to be f32 [1, 5, H, 8], but is f32 [1, 4, H, 8]");
  CHECK(after([](graph& g) { g.at(g.nodes[0].output).type.type = f64; }) ==
        "Conv: its output is said to be f64 [1, 4, H, 8], but is f32 [1, 4, H, 8]");
}

}  // namespace
