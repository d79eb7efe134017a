// SPDX-License-Identifier: MIT
// operators_of: exactly the operators of a model and of what its composites expand to; its own op_set is used.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/reference/operators_of.hpp"

#include <doctest/doctest.h>

#include <type_traits>

#include "dnnkit/reference/evaluator.hpp"

namespace dk = dnnkit;

namespace {

struct plain {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {2, 3});
    g.output("y", dk::relu(x * x));
  }
};
// in the order of the library's list, each once
static_assert(
    std::is_same_v<dk::operators_of<plain>, dk::operators_on<dk::element_kinds::floating, dk::op::mul, dk::op::relu>>);

struct halve {
  static constexpr std::string_view name = "Halve";
  static constexpr dk::form kind = dk::form::elementwise;
  static constexpr dk::traits properties{};
  template <class T> static constexpr T apply(T x) { return x * T(0.5f); }
};
struct with_own {
  static constexpr auto ops = dk::builtin_ops + dk::op_set<halve>{};
  static constexpr void build(dk::builder& g) {
    g.output("y", dk::relu(dk::apply(halve{}, g.input("x", dk::f32, {2}))));
  }
};
static_assert(
    std::is_same_v<dk::operators_of<with_own>, dk::operators_on<dk::element_kinds::floating, dk::op::relu, halve>>);

struct mixed {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::i64, {2});
    g.output("y", dk::cast(x + x, {.to = dk::f32}));
  }
};
static_assert(
    std::is_same_v<dk::operators_of<mixed>, dk::operators_on<dk::element_kinds::number, dk::op::add, dk::op::cast>>);

struct composite {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {2, 3});
    g.output("y", dk::gemm(x, g.constant({1, 2, 3, 4, 5, 6}, {3, 2}), g.constant({10, 20}, {2})));
  }
};
using gemm_set = dk::operators_of<composite>;
static_assert(gemm_set::find(dk::id_of<dk::op::matmul>) < gemm_set::size);
static_assert(gemm_set::find(dk::id_of<dk::op::gemm>) == gemm_set::size);

}  // namespace

TEST_CASE("they are enough to evaluate the model") {
  dk::host_tensor x(dk::f32, {2, 3});
  x.reals = {1, 0, 0, 0, 1, -1};
  const auto y = dk::evaluate<gemm_set>(dk::graph_of<composite>(), {x});
  CHECK(y[0].reals == decltype(y[0].reals){11, 22, 8, 18});
  dk::host_tensor two(dk::f32, {2});
  two.reals = {-4, 4};
  CHECK(dk::evaluate<dk::operators_of<with_own>>(dk::graph_of<with_own>(), {two})[0].reals ==
        decltype(two.reals){0, 2});
}
