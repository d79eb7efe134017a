// SPDX-License-Identifier: MIT
// LABELS: no_sanitize alone
// OPTIONS: -O1
// Kernels that write parts of joined images where the whole has them, and kernels that read them there.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/pass/place_parts.hpp"

#include <cstddef>
#include <string_view>

#include "tests/support/eager_match.hpp"
#include "tests/support/fused_groups.hpp"
#include "tests/support/joined_models.hpp"
#include "tests/support/random_graph.hpp"
#include "tests/support/thoroughly.hpp"

namespace joined = harness::joined;
using harness::check_model;

TEST_CASE("branches") { check_model<joined::branches>("branches"); }
TEST_CASE("branches of images of any height") {
  harness::thoroughly([](auto) { check_model<joined::symbolic_branches>("symbolic_branches", 4); });
}
TEST_CASE("halves of one value") { check_model<joined::halves>("halves"); }
TEST_CASE("pools of pools") { check_model<joined::pyramid>("pyramid"); }
TEST_CASE("joined images that are parts of others") { check_model<joined::nested>("nested"); }
TEST_CASE("parts that lie in another order than they are computed in") { check_model<joined::backwards>("backwards"); }
TEST_CASE("parts of rows") { check_model<joined::rows>("rows"); }
TEST_CASE("what stays a kernel, beside what does not") { check_model<joined::refused>("refused"); }
TEST_CASE("enlarged images beside what they were pooled from") {
  check_model<joined::u_shaped<true>>("u_shaped<true>", 4);
  harness::thoroughly([](auto) { check_model<joined::u_shaped<false>>("u_shaped<false>"); });
}
TEST_CASE("enlarged images that others read, or parts of them") {
  check_model<joined::enlarged_elsewhere>("enlarged_elsewhere");
}
// Runs of channels that vectors do not divide, written where a Concat has them, whatever that takes.
struct eager_conv_nhwc {
  using family = joined::dk::cpu::conv_nhwc;
  static constexpr std::string_view name = "eager conv_nhwc";
  static constexpr bool carries_out(const joined::dk::plan::operator_tag& anchor) {
    return family::carries_out(anchor);
  }
  static constexpr joined::dk::kernel_match match(const joined::dk::kernel_spec& spec,
                                                  const joined::dk::cpu_facts& facts) {
    return harness::eager(family::match(spec, facts));
  }
  template <class Net, std::size_t R> struct kernel : family::template kernel<Net, R> {};
};
struct runs_of_channels {
  static constexpr auto families = joined::dk::family_list<eager_conv_nhwc>{} + joined::dk::cpu::default_families;
  static constexpr void build(joined::dk::builder& g) {
    namespace dk = joined::dk;
    const dk::tensor x = joined::conv(g, g.input("x", dk::f32, {2, 16, 5, 7}), "stem", 16, 3);
    const dk::tensor y = dk::conv(x, g.weight("a", {72, 16, 1, 1}), g.weight("b", {72}));
    const dk::tensor other = joined::conv(g, g.input("z", dk::f32, {2, 16, 10, 14}), "other", 14, 1);
    joined::finish(g, dk::concat({other, dk::depth_to_space(y, {.blocksize = 2})}, {.axis = 1}));
  }
};
static_assert(harness::compile_by_rules<runs_of_channels>::kernels == 5, "the Concat is none");
TEST_CASE("runs of channels") { check_model<runs_of_channels>("runs_of_channels"); }
TEST_CASE("random branches") {
  check_model<random_joined<1>>("random_joined<1>");
  harness::thoroughly([](auto) {
    check_model<random_joined<2>>("random_joined<2>");
    check_model<random_joined<3>>("random_joined<3>");
    check_model<random_joined<4>>("random_joined<4>");
    check_model<random_joined<5>>("random_joined<5>");
    check_model<random_joined<6>>("random_joined<6>");
  });
}
