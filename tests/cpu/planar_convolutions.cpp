// SPDX-License-Identifier: MIT
// LABELS: no_sanitize
// OPTIONS: -O1
// Groups around convolutions whose vectors run along rows, against the reference evaluator: of input that is stored as
// planes, that is brought to planes first, and that is brought to them row by row, from channels that lie next to each
// other; sizes known and symbolic, channels and pixels that fill no vector, borders, steps, prologues and epilogues.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "dnnkit/compile.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/eager_match.hpp"
#include "tests/support/thoroughly.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

// Takes all convolutions that it can, whatever they cost.
struct eager_planes {
  static constexpr std::string_view name = "eager planes";
  static constexpr bool carries_out(const dk::plan::operator_tag& anchor) {
    return dk::cpu::conv_nchw::carries_out(anchor);
  }
  static constexpr dk::kernel_match match(const dk::kernel_spec& spec, const dk::cpu_facts& facts) {
    return harness::eager(dk::cpu::conv_nchw::match(spec, facts));
  }
  template <class Net, std::size_t R> struct kernel : dk::cpu::conv_nchw::kernel<Net, R> {};
};

struct window_of {
  std::int64_t height, width;
};
constexpr dk::tensor convolution(dk::builder& g, dk::tensor x, std::string_view name, std::int64_t out, window_of taps,
                                 dk::op::conv a = {}) {
  const std::int64_t in = x.size(1).value() / a.group;
  return dk::conv(x, g.weight(name, ".weight", {out, in, taps.height, taps.width}), g.weight(name, ".bias", {out}), a);
}

// `Channels` next to each other, as a kernel in steps of two leaves them, are read by windows of one row and of three.
template <std::int64_t Channels, bool Symbolic> struct heads {
  static constexpr auto families = dk::family_list<eager_planes>{} + dk::cpu::default_families;
  static constexpr void build(dk::builder& g) {
    const dk::tensor image = Symbolic ? g.input("x", f32, {2, 3, dk::sym("H", {3, 37}), dk::sym("W", {3, 77})})
                                      : g.input("x", f32, {2, 3, 23, 64});
    const dk::tensor x =
        dk::relu(convolution(g, image, "stem", Channels, {3, 3}, {.strides = {2, 2}, .pads = {1, 1, 1, 1}}));
    g.output("points", convolution(g, x, "points", 21, {1, 1}));
    g.output("rows", dk::silu(convolution(g, x, "rows", 5, {1, 3}, {.pads = {0, 2, 0, 1}})));
    g.output("some rows", convolution(g, x, "some", 3, {1, 2}, {.strides = {2, 1}}));
    g.output("gated", convolution(g, x * dk::reduce_mean(x, {.axes = {2, 3}}), "gated", 7, {1, 1}));
    g.output("squares", convolution(g, x, "squares", 6, {3, 3}, {.pads = {1, 1, 1, 1}}));
    g.output("columns", convolution(g, x, "columns", 4, {2, 1}, {.pads = {0, 0, 1, 0}}));
  }
};
// Planes, from the caller's memory.
struct of_planes {
  static constexpr auto families = dk::family_list<eager_planes>{} + dk::cpu::default_families;
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", f32, {2, 4, 11, 19});
    g.output("points", convolution(g, x, "points", 9, {1, 1}));
    g.output("squares", dk::relu(convolution(g, x, "squares", 6, {3, 3}, {.pads = {1, 1, 1, 1}, .group = 2})));
  }
};

template <class Model> struct planes_of {
  using net = harness::compile_by_rules<Model>;
  static constexpr bool is_one(std::uint32_t number) { return net::choices[number].family == eager_planes::name; }
  // Kernels of the family.
  static constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (const dk::plan::step& s : net::plan.steps) n += is_one(s.kernel) ? 1 : 0;
    return n;
  }();
  // Those of them that bring their input to planes row by row.
  static constexpr std::size_t that_turn_rows = []<std::size_t... R>(std::index_sequence<R...>) {
    return (std::size_t{0} + ... + [] {
      if constexpr (is_one(R)) return eager_planes::kernel<net, R>::turns_rows ? std::size_t{1} : 0;
      else return std::size_t{0};
    }());
  }
  (std::make_index_sequence<net::plan.recipes.size()>());
};
static_assert(planes_of<heads<19, true>>::count == 6 && planes_of<heads<19, true>>::that_turn_rows == 4);
static_assert(planes_of<of_planes>::count == 2 && planes_of<of_planes>::that_turn_rows == 0);

template <class Model> void check(const char* name) {
  const harness::compiled_network network = harness::compiled_by_rules<Model>(name);
  for (const std::uint64_t seed : harness::seeds(1, 3)) {
    const std::string wrong = harness::compiled_error(network, seed, 2e-6);
    CHECK_MESSAGE(wrong.empty(), wrong << ", data of seed " << seed);
  }
}

}  // namespace

TEST_CASE("channels that lie next to each other, brought to planes") {
  check<heads<19, true>>("symbolic");
  harness::thoroughly([](auto) {
    static_assert(planes_of<heads<32, false>>::count == 6 && planes_of<heads<32, false>>::that_turn_rows == 4);
    check<heads<32, false>>("known");
  });
}
TEST_CASE("planes") { check<of_planes>("planes"); }
