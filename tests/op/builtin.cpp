// SPDX-License-Identifier: MIT
// The list of operators: each is listed once, has ONNX's name, and has cases with results from elsewhere.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/builtin.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "dnnkit/graph/builder.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

template <class Set> struct names_of;
template <class... Ops> struct names_of<op_set<Ops...>> {
  static std::set<std::string> all() { return {std::string(Ops::name)...}; }
};

struct mine {
  static constexpr std::string_view name = "Mine";
  static constexpr form kind = form::elementwise;
  static constexpr traits properties{};
  template <class T> static constexpr T apply(T x) { return x; }
};
static_assert(info_of<mine>.name == "Mine" && info_of<mine>.kind == form::elementwise);
constexpr auto more = builtin_ops + op_set<mine>{};
static_assert(builtin_set::find(id_of<mine>) == builtin_set::size);
static_assert(more.find(id_of<mine>) == builtin_set::size);
static_assert(more.distinct && !decltype(more + op_set<mine>{})::distinct);
static_assert(std::is_same_v<decltype(more)::at<builtin_set::size>, mine>);
static_assert(builtin_set::find(id_of<builtin_set::at<7>>) == 7);

TEST_CASE("every operator is listed once and has cases") {
  const std::set<std::string> names = names_of<builtin_set>::all();
  CHECK(names.size() == builtin_set::size);
  CHECK(names == operator_cases::names_in_all_families());
}

}  // namespace
