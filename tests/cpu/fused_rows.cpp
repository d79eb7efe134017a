// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Reductions over every subset of axes, in both layouts, and row operators over axes that are not the last.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

constexpr dk::row_axes subset(unsigned bits) {
  dk::row_axes axes;
  for (std::int64_t d = 0; d < 4; ++d)
    if ((bits >> d & 1) != 0) axes.list.push_back(d);
  return axes;
}
// No axis at all: an empty list would mean all of them, so the subset is left out.
template <unsigned First, unsigned Last, bool Symbolic, bool ChannelsLast> struct reductions {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument h = Symbolic ? dk::dim_argument(dk::sym("H", {1, 19})) : dk::dim_argument(5);
    dk::tensor x = g.input("x", f32, {2, 9, h, 18});
    if (ChannelsLast) x = dk::relu(dk::conv(x, g.weight("w", {17, 9, 1, 1})));
    for (unsigned bits = First; bits < Last; ++bits) {
      const bool keep = bits % 2 == 0;
      dk::tensor y = bits % 3 == 0   ? dk::reduce_sum(x, {subset(bits), keep})
                     : bits % 3 == 1 ? dk::reduce_max(x, {subset(bits), keep})
                                     : dk::reduce_l2(x * 0.5, {subset(bits), keep});
      dk::text name("y");
      name << static_cast<std::int64_t>(bits);
      g.output(name.view(), dk::tanh(y));
    }
  }
};

template <bool Symbolic> struct softmaxes {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument l = Symbolic ? dk::dim_argument(dk::sym("L", {1, 40})) : dk::dim_argument(21);
    const dk::tensor x = g.input("x", f32, {3, 20, l});
    g.output("first", dk::softmax(x, {.axis = 0}));
    g.output("middle", dk::softmax(x * 3.0, {.axis = 1}) + 1.0);
    g.output("last", dk::softmax(dk::relu(x)));
    g.output("turned", dk::transpose(dk::softmax(x, {.axis = 1}), {.perm = {2, 0, 1}}));
    g.output("logarithm", dk::log_softmax(x, {.axis = 1}));
    g.output("of turned", dk::softmax(dk::transpose(x, {.perm = {1, 2, 0}})));
    const double inf = std::numeric_limits<double>::infinity();
    const dk::tensor infinities = g.constant({inf, 1, inf, -inf, -inf, -inf}, {3, 2});
    g.output("of infinities", dk::reduce_log_sum_exp(infinities, {.axes = {1}}));
    g.output("total", dk::reduce_log_sum_exp(x, {.axes = {1, 2}, .keepdims = false}));
  }
};

// Rows of several times as many vectors as there are accumulators, of some more, and of a part of one.
template <bool Symbolic> struct long_rows {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument l = Symbolic ? dk::dim_argument(dk::sym("L", {1, 700})) : dk::dim_argument(597);
    const dk::tensor x = g.input("x", f32, {3, l}), d = dk::cast(x * 2.0, {.to = dk::f64});
    g.output("softmax", dk::softmax(x));
    g.output("of a prologue", dk::softmax(dk::tanh(x) * 2.0));
    g.output("logarithm", dk::log_softmax(x));
    g.output("doubles", dk::cast(dk::softmax(d), {.to = f32}));
    g.output("doubles in columns", dk::cast(dk::softmax(d, {.axis = 0}), {.to = f32}));
    g.output("sum", dk::reduce_sum(x, {.axes = {1}}));
    g.output("largest", dk::reduce_max(dk::sigmoid(x), {.axes = {1}}));
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    g.output("no numbers", dk::softmax(x + g.constant({0, nan, -inf}, {3, 1})));
  }
};

// Many rows, of which three are gone over at once where their length is known: of less than a vector, one, some and a
// part of one, more than 64, and more than are gone over so.
template <bool Symbolic> struct many_rows {
  static constexpr void build(dk::builder& g) {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const dk::dim_argument n = Symbolic ? dk::dim_argument(dk::sym("N", {1, 8})) : dk::dim_argument(9);
    for (const std::int64_t length : {5, 16, 197, 1040, 4100}) {
      const auto named = [length](const char* what) {
        dk::text name(what);
        name << length;
        return name;
      };
      const dk::tensor x = g.input(named("x").view(), f32, {n, length});
      g.output(named("softmax").view(), dk::softmax(x * 9.0));
      if (length > 197) continue;
      g.output(named("of a prologue").view(), dk::tanh(dk::softmax(dk::tanh(x) * 2.0)) + x);
      if (!Symbolic)
        g.output(named("no numbers").view(),
                 dk::softmax(x + g.constant({0, nan, -inf, 1000, -1000, 3e38, nan, 0, -inf}, {9, 1})));
    }
    const dk::tensor masked = g.input("masked", f32, {2, 3, n, 40});
    g.output("mask", dk::softmax(dk::where(dk::greater(masked, g.scalar(0.25, f32)), g.scalar(-inf, f32), masked)));
  }
};

template <bool Symbolic> struct normalisations {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument l = Symbolic ? dk::dim_argument(dk::sym("L", {1, 9})) : dk::dim_argument(4);
    const dk::tensor x = g.input("x", f32, {2, l, 6, 19});
    g.output("last", dk::layer_normalization(x, g.weight("a", {19}), g.weight("b", {19})));
    g.output("two", dk::layer_normalization(x, g.weight("c", {6, 19}), g.weight("d", {6, 19}), {.axis = 2}));
    g.output("root", dk::rms_normalization(x + 0.5, g.weight("e", {19}), {.epsilon = 1e-6f}));
    const dk::tensor y = dk::transpose(x, {.perm = {0, 2, 1, 3}});
    g.output("instance", dk::instance_normalization(y, g.weight("f", {6}), g.weight("h", {6})));
    g.output("group", dk::group_normalization(y, g.weight("i", {6}), g.weight("j", {6}), {.num_groups = 2}));
  }
};

struct integers {  // beyond the 24 bits of f32
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::i64, {3, 5}), large = x * g.scalar(1234567890123, dk::i64);
    g.output("sum", dk::reduce_sum(large, {.axes = {1}}));
    g.output("least", dk::reduce_min(large, {.axes = {0}, .keepdims = false}));
    g.output("product", dk::reduce_prod(x, {.axes = {0}}));
    g.output("where", dk::arg_max(large, {.axis = 1}));
    g.output("last", dk::arg_min(x, {.axis = 0, .keepdims = false, .select_last_index = true}));
  }
};

struct small {  // extents of one, scalars, a row of one element
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 1, 6, 1}), s = g.input("s", f32, {});
    g.output("all", dk::reduce_mean(x, {.keepdims = false}) * s);
    g.output("none", dk::reduce_sum(x, {.axes = {0, 1, 3}}));
    g.output("one", dk::softmax(x, {.axis = 3}));
    g.output("row", dk::softmax(x, {.axis = 2}));
    g.output("scalar", dk::reduce_l1(s));
    g.output("normal", dk::layer_normalization(x, g.weight("w", {1}), g.weight("b", {1})));
  }
};

// --- images as convolutions and pools leave them: channels last
constexpr dk::tensor image(dk::builder& g, const char* name, std::int64_t channels, const dk::dim_argument& height) {
  return dk::max_pool(g.input(name, f32, {2, channels, height, 7}), {.kernel_shape = {1, 1}});
}
// Rows of x + y, y needing all of x first, so that no kernel before can compute the sum: it is a prologue of each.
template <std::int64_t Channels, bool Symbolic> struct behind_sum {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = image(g, "x", Channels, Symbolic ? dk::dim_argument(dk::sym("H", {1, 19})) : 5);
    const dk::tensor sum = x + dk::reduce_max(x, {.axes = {2, 3}});
    g.output("pooled", dk::global_average_pool(sum));
    g.output("channels", dk::softmax(sum, {.axis = 1}));
    g.output("width", dk::softmax(sum, {.axis = 3}));
    g.output("image", dk::transpose(x.owner().apply(dk::op::standardize{{2, 3}}, {sum}), {.perm = {0, 2, 3, 1}}));
  }
};

template <std::int64_t Groups, std::int64_t Each, bool Symbolic = false> struct groups {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument h = Symbolic ? dk::dim_argument(dk::sym("H", {1, 19})) : dk::dim_argument(5);
    const dk::tensor x = image(g, "x", Groups * Each, h);
    const dk::tensor grouped = dk::reshape(x, {2, Groups, Each, x.size(2), 7});
    g.output("norm", dk::group_normalization(x, g.weight("a", {Groups * Each}), g.weight("b", {Groups * Each}),
                                             {.num_groups = Groups}));
    g.output("mean", dk::reduce_mean(grouped, {.axes = {2, 3, 4}, .keepdims = false}) * 2.0);
    g.output("most", dk::reduce_max(grouped, {.axes = {2, 4}}));
    g.output("pixel", dk::softmax(grouped, {.axis = 2}));
  }
};

template <bool Symbolic> struct short_rows {  // of less than a vector, and of several short axes
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument h = Symbolic ? dk::dim_argument(dk::sym("H", {1, 19})) : dk::dim_argument(11);
    const dk::tensor x = g.input("x", f32, {3, h, 4}), y = g.input("y", f32, {h, 7, 7});
    g.output("softmax", dk::softmax(x));
    g.output("norm", x.owner().apply(dk::op::standardize{}, {x * 2.0}));
    g.output("mean", dk::reduce_mean(x, {.axes = {2}, .keepdims = false}));
    g.output("planes", dk::reduce_sum(y, {.axes = {1, 2}}));
    g.output("columns", dk::reduce_max(y, {.axes = {0}}));
  }
};

// Rows of pixels of which each continues the one before, whatever the symbols are.
struct planes_of_symbols {
  static constexpr void build(dk::builder& g) {
    const dk::dim h = g.symbol({"H", {1, 9}}), w = g.symbol({"W", {1, 21}});
    const dk::tensor x = g.input("x", f32, {2, 5, h, w}), y = g.input("y", f32, {5, h, w});
    g.output("mean", dk::reduce_mean(x, {.axes = {2, 3}}));
    g.output("largest", dk::reduce_max(x * y + 0.5, {.axes = {2, 3}, .keepdims = false}));
    g.output("above", dk::reduce_sum(dk::relu(x - g.weight("s", {5, 1, 1})), {.axes = {2, 3}}));
  }
};

// Is `expected` what was chosen for all kernels of reductions and row operators?
template <class Model> constexpr bool holds_for_rows(dk::cpu::row_passes::parameter p, int expected) {
  using net = harness::compile_by_rules<Model>;
  for (std::size_t r = 0; r < net::choices.size(); ++r)
    if (dk::cpu::row_passes::carries_out(net::plan.recipes[r].anchor) &&
        net::choices[r].parameters[std::size_t{p}] != expected)
      return false;
  return true;
}

}  // namespace

TEST_CASE("vectors lie along the channels of an image in a prologue, as they do without one") {
  static_assert(holds_for_rows<behind_sum<34, false>>(dk::cpu::row_passes::along, 1));
  check_model<behind_sum<300, true>>("symbolic");
  harness::thoroughly([](auto) { check_model<behind_sum<34, false>>("static"); });
}
TEST_CASE("groups of channels, channels last") {
  static_assert(holds_for_rows<groups<3, 4>>(dk::cpu::row_passes::group, 4));
  check_model<groups<3, 4>>("groups of 4");
  harness::thoroughly([](auto) {
    check_model<groups<2, 17>>("groups of 17");
    check_model<groups<2, 10, true>>("groups of 10");
  });
}
TEST_CASE("planes of any size are one row") {
  static_assert(holds_for_rows<planes_of_symbols>(dk::cpu::row_passes::first_along, 2));
  check_model<planes_of_symbols>("planes");
}
TEST_CASE("short rows") {
  check_model<short_rows<true>>("symbolic");
  harness::thoroughly([](auto) { check_model<short_rows<false>>("static"); });
}
TEST_CASE("reductions over every subset of axes, row-major") {
  check_model<reductions<1, 9, true, false>>("symbolic");
  harness::thoroughly([](auto) { check_model<reductions<1, 16, false, false>>("static"); });
}
TEST_CASE("reductions over every subset of axes, channels last") {
  check_model<reductions<1, 16, true, true>>("symbolic");
  harness::thoroughly([](auto) { check_model<reductions<9, 16, false, true>>("static"); });
}
TEST_CASE("softmax along every axis") {
  check_model<softmaxes<false>>("static");
  harness::thoroughly([](auto) { check_model<softmaxes<true>>("symbolic"); });
}
TEST_CASE("long rows") {
  check_model<long_rows<true>>("symbolic");
  harness::thoroughly([](auto) {
    check_model<many_rows<false>>("many, static");
    check_model<long_rows<false>>("static");
    check_model<many_rows<true>>("many, symbolic", 8);
  });
}
TEST_CASE("normalisations") {
  check_model<normalisations<false>>("static");
  harness::thoroughly([](auto) { check_model<normalisations<true>>("symbolic"); });
}
TEST_CASE("integers") { check_model<integers>("integers"); }
TEST_CASE("small extents") { check_model<small>("small"); }
