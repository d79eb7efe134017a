// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Joined tensors: along the axis vectors run in, and across it; with what is computed before and behind.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;
using harness::check_model;

namespace {

constexpr dk::tensor stored(dk::builder& g, dk::tensor x, const char* name, std::int64_t channels) {
  return dk::conv(x, g.weight(name, {channels, x.size(1), 3, 3}), {.pads = {1, 1, 1, 1}});
}

template <std::int64_t Joined> struct images {  // channels last: axis 1 is the contiguous one
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {1, 3, dk::sym("H", {1, 9}), 6});
    const dk::tensor a = stored(g, x, "a", 21), b = stored(g, x, "b", Joined == 1 ? 40 : 21);
    const dk::tensor c = dk::relu(b * g.weight("s", {b.size(1), 1, 1}));
    const dk::tensor y = dk::concat({a, c, dk::sigmoid(a), b}, {.axis = Joined});
    g.output("y", stored(g, y, "y", 5));
    g.output("z", dk::max_pool(dk::relu(y) + 1.0, {.kernel_shape = {1, 1}}));
  }
};
struct rows {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {dk::sym("A", {1, 5}), dk::sym("B", {0, 40})}),
                     y = g.input("y", f32, {dk::sym("A", {1, 5}), 19});
    g.output("last", dk::exp(dk::concat({x, y, dk::neg(x)}, {.axis = -1})));
    g.output("first", dk::concat({x, x * 2.0}, {.axis = 0}));
    g.output("turned",
             dk::concat({dk::transpose(x, {.perm = {1, 0}}), dk::transpose(y, {.perm = {1, 0}})}, {.axis = 0}));
    g.output("larger", dk::concat({dk::greater(x, g.scalar(0)), dk::less(y, g.scalar(0))}, {.axis = 1}));
    g.output("counts", dk::concat({dk::cast(x, {.to = dk::i64}), dk::cast(y, {.to = dk::i64})}, {.axis = 1}));
  }
};

// Every other row and column of an image in channels of their own, as detectors' first layers have it, before a
// convolution; and more channels than a vector has lanes, with a tail.
template <std::int64_t Channels> struct focus {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {dk::sym("N", {1, 3}), Channels, 10, 38});
    const auto part = [&](std::int64_t row, std::int64_t column) {
      return dk::slice(x, {.starts = {row, column}, .ends = {1'000, 1'000}, .axes = {2, 3}, .steps = {2, 2}});
    };
    const dk::tensor y = dk::concat({part(0, 0), dk::abs(part(1, 0)), part(0, 1), part(1, 1)}, {.axis = 1});
    g.output("y", stored(g, dk::relu(y) + g.weight("b", {4 * Channels, 1, 1}), "y", 32));
  }
};
// Windows of an image put together again, and then rolled: no strided view says where a row lies, but its channels
// follow each other.
template <std::int64_t Channels> struct rolled {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {6, 16, Channels});
    const dk::tensor apart = dk::reshape(dk::relu(x), {1, 2, 3, 4, 4, Channels});
    const dk::tensor image = dk::reshape(dk::transpose(apart, {.perm = {0, 1, 3, 2, 4, 5}}), {1, 8, 12, Channels});
    const auto roll = [](dk::tensor t, std::int64_t axis, std::int64_t by) {
      return dk::concat(
          {dk::narrow(t, axis, t.size(axis).value() - by, by), dk::narrow(t, axis, 0, t.size(axis).value() - by)},
          {.axis = axis});
    };
    g.output("y", roll(roll(image, 1, 3), 2, 5) * 2.0);
    g.output("z", dk::concat({dk::narrow(image, 2, 3, 7), dk::narrow(image, 2, 1, 4)}, {.axis = 3 - 1}));
  }
};
template <class Model> constexpr bool turns_blocks() {
  using net = dk::compile<Model>;
  for (const dk::kernel_choice& c : net::choices)
    if (c.family == "concat_parts" && c.parameters.size() == 1) return true;
  return false;
}

TEST_CASE("images") {
  check_model<images<1>>("channels");
  harness::thoroughly([](auto) { check_model<images<2>>("rows"); });
}
TEST_CASE("blocks that are turned in registers") {
  check_model<focus<5>>("20 channels");
  if (dk::cpu::float_lanes >= 8) {  // of fewer, gathers and scattered stores take less
    CHECK(turns_blocks<focus<3>>());
    CHECK(turns_blocks<focus<5>>());
  }
  harness::thoroughly([](auto) { check_model<focus<3>>("12 channels"); });
}
TEST_CASE("windows of an image, put together again and rolled") {
  check_model<rolled<37>>("vectors of channels");
  harness::thoroughly([](auto) { check_model<rolled<3>>("few channels"); });
}
TEST_CASE("matrices") { check_model<rows>("matrices"); }

}  // namespace
