// SPDX-License-Identifier: MIT
// Building graphs: names, weights asked for twice, constants, symbols, and the first error.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/graph/builder.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <iterator>
#include <string>
#include <string_view>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"

using namespace dnnkit;

namespace {

constexpr bool names() {
  builder g;
  const tensor x = g.input("x", f32, {2, sym{"L"}}), a = g.weight("block", ".weight", {2, 1});
  const tensor y = g.named("scale", g.weight("block.weight", {2, 1}) * x);
  const tensor z = relu(y);
  g.output("z", z);
  const graph& v = g.value();
  return a.id() == v.operands[0] && v.name_of(a.id()) == "block.weight" && v.text_of(v.nodes[0].name) == "scale" &&
         v.text_of(v.nodes[1].name) == "Relu" && v.text_of(v.output_names[0]) == "z" && v.outputs[0] == z.id() &&
         v.inputs[0] == x.id() && x.size(-1) == g.symbol({"L"}) && x.rank() == 2 && !tensor{}.present() &&
         v.is<op::mul>(v.nodes[0]) && !v.is<op::add>(v.nodes[0]) && v.error.empty();
}
static_assert(names());

// A name is that of the operator that made the tensor, whatever was appended before it.
constexpr bool named_after_the_fact() {
  builder g;
  const tensor x = g.input("x", f32, {1, 3, 8, 8}), w = g.weight("w", {4, 3, 1, 1});
  const tensor y = g.named("c", conv(x - 0.45, w));
  const graph& v = g.value();
  return v.text_of(v.nodes[0].name) == "Sub" && v.text_of(v.nodes[1].name) == "c" && v.name_of(y.id()) == "c" &&
         v.nodes[1].output == y.id();
}
static_assert(named_after_the_fact());

// What is assumed is in what comes behind it, and in all values once the graph has settled; inputs keep the extents
// that they were declared with beside those that they have.
constexpr bool assumes_once() {
  builder b;
  const extent h = b.size("H"), w = b.size("W");
  const tensor x = b.input("x", f32, {h, 2}), z = relu(b.input("z", f32, {w, 2}));
  b.assume(h, w, "what comes");
  const tensor y = add(x, z);
  b.output("y", y);
  graph g = b.value();
  const bool noted = g.symbols.assumptions.size() == 1 && g.symbols.assumptions[0].needed_by == "what comes" &&
                     g.at(y.id()).type.dims[0] == h.d && g.at(z.id()).type.dims[0] == w.d;
  g.settle();
  return noted && g.at(z.id()).type.dims[0] == h.d && g.at(g.inputs[1]).type.dims[0] == h.d &&
         g.declared_input(1)[0] == w.d && verify(g).empty();
}
static_assert(assumes_once());

// What is no operator's output has its name already.
constexpr text error_of_naming(bool absent) {
  builder g;
  const tensor x = g.input("x", f32, {3});
  const tensor same = g.named("n", absent ? tensor{} : x);
  return !absent && same.id() != x.id() ? text("another tensor") : g.value().error;
}
static_assert(error_of_naming(false) == "named 'n': 'x' is not the output of an operator");
static_assert(error_of_naming(true) == "named 'n': there is no tensor (tensor{} stands for an input left out)");

// A name asked for with another type, or given twice, is an error that says both types.
template <class Build> constexpr text error_of_building(Build build) {
  builder g;
  build(g);
  return g.value().error;
}
static_assert(error_of_building([](builder& g) {
                conv(tensor{}, g.weight("w", {1, 1, 1, 1}));
              }) == "Conv (node 0, weight 'w'): x is left out");
static_assert(error_of_building([](builder& g) { apply(op::add{}, tensor{}, g.input("x", f32, {4})); }) ==
              "Add (node 0): input 0 is left out");
static_assert(error_of_building([](builder& g) {
                g.assume(sym{"H", {1, 4}}, 5);
              }) == "assume: it is never so that H = 5");
static_assert(error_of_building([](builder& g) { g.input("x", f32, {4}).size(1); }) ==
              "size: 'x' has no axis 1, its rank is 1");
static_assert(error_of_building([](builder& g) { g.input("x", f32, {4}).size(-2); }) ==
              "size: 'x' has no axis -2, its rank is 1");
static_assert(error_of_building([](builder& g) {
                g.weight("w", {8, 5});
                g.weight("w", {4, 10});
              }) == "weight 'w': it is asked for twice, with different types: f32 [8, 5] and f32 [4, 10]");
static_assert(error_of_building([](builder& g) {
                g.weight("block", ".w", {8});
                g.weight("block.w", {8}, f16);
              }) == "weight 'block.w': it is asked for twice, with different types: f32 [8] and f16 [8]");
static_assert(error_of_building([](builder& g) {
                g.weight("w", {2, 3}, i8);
                g.weight("w", {2, 3}, i8);
              }).empty());
static_assert(error_of_building([](builder& g) {
                g.input("x", f32, {2, sym{"L"}});
                g.input("x", i64, {3});
              }) == "input 'x': two inputs have this name: f32 [2, L] and i64 [3]");
static_assert(error_of_building([](builder& g) {
                const tensor x = g.input("x", f32, {2});
                g.output("y", x);
                g.output("y", greater(x, g.scalar(0)));
              }) == "output 'y': two outputs have this name: f32 [2] and bool [2]");

static_assert(error_of_building([](builder& g) {
                g.size({"L", {1, 64}});
                g.input("x", f32, {2, sym{"L"}});
                g.input("y", f32, {sym{"L", {1, 64}}, 2});
              }).empty());
static_assert(error_of_building([](builder& g) {
                g.input("x", f32, {2, sym{"L", {1, 64}}});
                g.input("y", f32, {2, sym{"L", {1, 128}}});
              }) == "symbol 'L': it is given the bounds 1 to 64, and then 1 to 128");
static_assert(error_of_building([](builder& g) {
                g.constant({1, 2, 3}, {2});
              }) == "constant: 3 elements do not fill the shape [2]");

// Tensors of two graphs do not meet.
constexpr text error_of_strangers(int where) {
  builder g, other;
  const tensor x = g.input("x", f32, {3}), y = other.input("y", f32, {3});
  if (where == 0) static_cast<void>(x + y);
  if (where == 1) g.output("y", y);
  if (where == 2) g.named("y", y);
  return g.value().error;
}
static_assert(error_of_strangers(0) == "Add (node 0): input 1 belongs to another graph");
static_assert(error_of_strangers(1) == "output 'y': the tensor belongs to another graph");
static_assert(error_of_strangers(2) == "named 'y': the tensor belongs to another graph");

// Layers are called after their weights, moved or not; what only adds or scales is not.
constexpr bool layers_are_named_after_their_weights() {
  builder g;
  const tensor x = g.input("x", f32, {1, 3, 8, 8});
  tensor y = conv(x, g.weight("layer3.conv2.weight", {4, 3, 1, 1}), g.weight("layer3.conv2.bias", {4}));
  y = batch_normalization(y, g.batch_norm("layer3.bn2", 4));
  y = flatten(relu(y));
  y = matmul(y, transpose(g.weight("fc.weight", {5, 256}), {.perm = {1, 0}})) + g.weight("fc.bias", {5});
  y = gemm(y, g.weight("weight", {5, 2}));
  y = gather(g.weight("embedding.table.weight", {7, 2}), g.input("ids", i64, {6}));
  std::string_view expected[] = {"layer3.conv2", "layer3.bn2", "Relu", "Flatten",        "Transpose",
                                 "fc",           "Add",        "Gemm", "embedding.table"};
  const graph& v = g.value();
  bool right = v.nodes.size() == std::size(expected);
  for (std::size_t i = 0; right && i < v.nodes.size(); ++i) right = v.text_of(v.nodes[i].name) == expected[i];
  return right && v.error.empty();
}
static_assert(layers_are_named_after_their_weights());

// The innermost scope names what is appended in it, layers too; named() has the last word.
constexpr bool scopes_name_what_is_appended_in_them() {
  builder g;
  const tensor x = g.input("x", f32, {2, 3});
  {
    const builder::name_scope outer(g, "outer");
    static_cast<void>(matmul(x, g.weight("fc.weight", {3, 3})));
    {
      const builder::name_scope inner(g, "inner");
      static_cast<void>(g.named("mine", relu(relu(x))));
    }
    static_cast<void>(relu(x));
  }
  static_cast<void>(relu(x));
  const graph& v = g.value();
  return v.text_of(v.nodes[0].name) == "outer" && v.text_of(v.nodes[1].name) == "inner" &&
         v.text_of(v.nodes[2].name) == "mine" && v.text_of(v.nodes[3].name) == "outer" &&
         v.text_of(v.nodes[4].name) == "Relu";
}
static_assert(scopes_name_what_is_appended_in_them());

constexpr bool constants() {
  builder g;
  const tensor a = g.scalar(0.5), b = g.constant({1, -2, 3}, {3}, i64), c = g.constant({0}, {4, 4}, boolean);
  const graph& v = g.value();
  const slice_of half = v.at(a.id()).data, list = v.at(b.id()).data;
  return a.rank() == 0 && std::bit_cast<double>(v.constants[half.first]) == 0.5 && list.count == 3 &&
         v.constants[list.first + 1] == -2 && b.type() == i64 && v.at(c.id()).data.count == 1;
}
static_assert(constants());

constexpr bool scalars_take_the_type_of_the_tensor() {
  builder g;
  const tensor x = g.input("x", i64, {3});
  return (2.0 - x * 3.0).type() == i64 && g.value().error.empty();
}
static_assert(scalars_take_the_type_of_the_tensor());

constexpr bool attributes_come_back() {
  builder g;
  const tensor x = g.input("x", f32, {1, 2, 8, 8});
  max_pool(x, {.kernel_shape = {2, 2}, .strides = {2, 1}});
  const auto pool = g.value().as<op::max_pool>(g.value().nodes[0]);
  return pool.kernel_shape == int_list{2, 2} && pool.strides == int_list{2, 1} && pool.pads.empty();
}
static_assert(attributes_come_back());

// The first error stays, under the name that its operator is given; nothing after it is inferred.
constexpr bool first_error() {
  builder g;
  const tensor x = g.input("x", f32, {2});
  const tensor wrong = g.named("first", g.weight("w", {3}) + x);
  g.named("second", wrong + g.weight("v", {5}));
  return g.value().error == "Add 'first' (node 0, weight 'w'): shapes [3] and [2] do not broadcast" &&
         wrong.rank() == 0;
}
static_assert(first_error());

// Sizes are computed with, and written where shapes are.
constexpr bool sizes_are_computed_with() {
  builder g;
  const extent h = g.size({"H", {2, 64}});
  const tensor x = g.input("x", f32, {1, h, h / 2 + 1, h.mod(4), h.min(8), h.max(3)});
  symbol_table& t = g.value().symbols;
  const dim d = g.symbol({"H"});
  return x.size(1) == d && x.size(2) == t.add(t.floor_div(d, 2), 1) && x.size(3) == t.mod(d, 4) &&
         x.size(4) == t.min(d, 8) && x.size(5) == t.max(d, 3) && t.symbols.size() == 1 && t.symbols[0].limits.max == 64;
}
static_assert(sizes_are_computed_with());

// Dimensions asked for before the graph grows are those afterwards, wherever its values have moved.
constexpr bool dims_outlive_further_nodes() {
  builder g;
  const tensor x = g.input("x", f32, {2, sym{"L"}});
  const auto& before = x.dims();
  const tensor_type* place = &g.value().at(x.id()).type;
  tensor y = x;
  while (&g.value().at(x.id()).type == place) y = apply(op::relu{}, y);
  return before == x.dims() && before[0] == dim(2) && y.dims() == before;
}
static_assert(dims_outlive_further_nodes());
// Pointers into a copy that is gone do not compile.
template <class T>
concept has_iterators = requires(T x) {
  static_cast<T&&>(x).begin(), static_cast<T&&>(x).end();
};
static_assert(has_iterators<shape&> && has_iterators<const shape&> && !has_iterators<shape>);

TEST_CASE("a tensor that is not there belongs to no graph") {
  const auto what = [](auto use) -> std::string {
    try {
      use();
    } catch (const error& e) { return e.what(); }
    return "";
  };
  const std::string said = "tensor{}: there is no tensor (tensor{} stands for an optional input left out)";
  CHECK(what([] { apply(op::relu{}, tensor{}); }) == said);
  CHECK(what([] { (void)tensor{}.dims(); }) == said);
  CHECK(what([] { tensor{} + tensor{}; }) == said);
}

}  // namespace
