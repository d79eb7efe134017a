// SPDX-License-Identifier: MIT
// Names that try to become more than names, and a model whose every name is taken from a list.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::tests {

using namespace std::string_view_literals;

// clang-format off
inline constexpr std::array hostile_names{
    // out of a comment, out of a literal
    "y\n#include <cstdlib>\nstatic int p = std::system(\"touch injected\");//"sv,
    "y\r#error injected"sv, "y\r\n#error injected\r\n"sv,
    "a comment that goes on \\"sv, "a comment that goes on ?\?/"sv, "\\ "sv,
    "line\u2028#error injected"sv, "line\u2029#error"sv, "next\u0085line"sv, "\v#error\f#error"sv,
    "\"); } }; static int q = std::system(\"touch injected\"); //"sv, "\\\"); }"sv, "\\"sv, "\""sv, "'"sv, "*/ /*"sv,
    "R\"x(raw)x\""sv, ")x\""sv, "?\?/\"); }"sv, "?\?'?\?)"sv, "a?\?/\nb"sv, "u8\"a\" L'b'"sv,
    "%0 {att|intel} $x ; .incbin"sv,
    // bytes that are no text
    "nul\0behind"sv, "\0"sv, "\xff\xfe"sv, "\xe2\x80"sv, "\xed\xa0\x80"sv, "\x7f\x1b[31m"sv, "\u202e desrever"sv,
    // what no identifier may be, or what would be taken for another one
    "class"sv, "while"sv, "g"sv, "dk"sv, "dnnkit"sv, "std"sv, "hostile"sv, "build"sv, "x"sv, "y"sv, "t"sv, "i"sv, "n"sv,
    "a"sv, "b"sv, "c"sv, "in"sv, "out"sv, "name"sv, "width"sv, "kernel"sv, "stride"sv, "elements_1"sv, "elements"sv,
    "linux"sv, "unix"sv, "assert"sv, "NULL"sv, "EOF"sv, "NAN"sv, "INT_MAX"sv, "M_PI"sv, "I"sv, "N"sv, "errno"sv,
    "stdin"sv,
    "__FILE__"sv, "_Bool"sv, "_"sv, "__"sv, "1"sv, "3d"sv, "a__b"sv, "a b"sv, "a_b"sv, "a-b"sv, "a.b"sv, "A.B"sv,
    ""sv, " "sv,
    "/"sv, "//"sv, "/a/b/"sv, "/class/for/"sv, "/conv/x/Conv"sv, "onnx::Conv_1"sv, "::"sv, "a::b"sv,
    "layer.1.layer.2"sv};
// clang-format on

// Some of everything that text is made of, every name from next(): symbols, inputs, weights, nodes in folders, repeated
// blocks, constants of many elements, outputs. Where two names must differ, one of them has a letter in front.
template <class Next> constexpr void build_with_names(builder& g, Next next) {
  const auto other = [&](const char* letter) { return text(letter) << next(); };
  const auto h = g.size({next(), {2, 512}}), w = g.size({other("w").view(), {1, 64}});
  const auto x = g.input(next(), f32, {1, 8, h, w * 2});
  const auto more = g.input(other("m").view(), f32, {1, 8, h, w * 2});
  auto y = x + more;
  for (int i = 0; i < 4; ++i) {
    const text prefix(next());
    const auto layer = [&](tensor t, std::string_view folder, std::string_view last) {
      const builder::name_scope scope(g, (text(folder) << "/" << i << "/" << last).view());
      const auto weight = g.weight((text("w") << prefix).view(), last, {8, 8, 3, 3});
      t = conv(t, weight, g.weight((text("b") << prefix).view(), folder, {8}), {.pads = {1, 1, 1, 1}});
      return relu(reshape(t, {1, 8, h, w * 2}));
    };
    y = layer(y, next(), next()) + y;
    y = layer(y, next(), next()) * sigmoid(y);
  }
  vector<double> many;
  for (int i = 0; i < 40; ++i) many.push_back(i * i * 0.25);
  const auto table = g.constant(many, {1, 8, 5, 1});
  y = reduce_mean(y, {.axes = {2, 3}, .keepdims = true}) * table;
  g.output(next(), y);
  g.output(other("o").view(), gemm(flatten(y), g.weight(other("u").view(), {40, 3}), g.weight(other("v").view(), {3})));
}

}  // namespace dnnkit::tests
