// SPDX-License-Identifier: MIT
// Every rule of the library is proved on graphs made of its own left side: variables of random shapes and elements,
// operators with attributes; the rewriter, given this rule alone, must apply it somewhere, and what comes out must be
// what the reference evaluator makes of the left side, within the rule's licence.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/rewrite/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/rewriter.hpp"
#include "dnnkit/reference/prove_rules.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;
namespace rw = dk::rewrite;
using rw::law;
using rw::licence;

namespace {

constexpr std::size_t count_of(law from, licence allowed) {
  std::size_t count = 0;
  rw::rules::all.for_each([&](const rw::rule& r) { count += r.from == from && r.allowed.kind == allowed; });
  return count;
}
constexpr std::size_t count_of(law from) {
  return count_of(from, licence::exact) + count_of(from, licence::reassociates) + count_of(from, licence::approximates);
}

// DNNFusion derives 45 associative, 38 distributive and 66 commutative rules (section 3.4.2, Table 3.4); those of
// operators that keep products are associative there.
static_assert(count_of(law::associative) + count_of(law::homomorphic) >= 45);
static_assert(count_of(law::distributive) >= 38);
static_assert(count_of(law::commutative) >= 66);

std::string text_of_page(const std::string& page) {
  std::ifstream file(DNNKIT_ASSETS "/../../" + page);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

TEST_CASE("every rule applies to its left side, and keeps what it means") {
  const char* const seed = std::getenv("DNNKIT_SEED");
  rw::proof_effort effort;
  if (seed != nullptr) effort = {.places = 1, .graphs = 1, .first_seed = std::strtoull(seed, nullptr, 10)};
  for (const rw::unproved_rule& wrong : rw::prove(rw::rules::all, effort)) {
    CAPTURE(wrong.seed);
    FAIL_CHECK(wrong.rule << ": " << wrong.problem);
  }
}

TEST_CASE("axes of a sum are not taken for those of an operand of lower rank") {
  constexpr rw::rule_list all = rw::rules::all;
  const auto check = [&](const dk::builder& b) {
    const dk::graph g = b.value(), after = rw::rewriter(all, licence::approximates).run(g, {});
    REQUIRE(dk::verify(after).view() == "");
    const harness::test_data data = harness::random_data(g, 1);
    const auto expected = harness::reference(g, data);
    CHECK(harness::difference(harness::reference(after, data)[0], expected[0],
                              harness::tolerances(g, data, expected)[0]) == "");
  };
  for (const std::int64_t axis : {-2, 0}) {
    dk::builder b;
    b.output("y",
             b.apply(dk::op::reduce_sum{.axes = {axis}}, {b.input("a", dk::f32, {2}) * b.input("c", dk::f32, {1, 2})}));
    check(b);
  }
  dk::builder means;
  const dk::tensor a = means.input("a", dk::f32, {4, 3});
  means.output("y", means.apply(dk::op::reduce_mean{.axes = {0, 1}}, {a * means.input("c", dk::f32, {1, 1, 3})}));
  check(means);
  dk::builder greatest;
  const dk::tensor x = greatest.input("x", dk::f32, {1, 3, 2, 2});
  greatest.output("y", greatest.apply(dk::op::reduce_max{.axes = {0}}, {x + greatest.weight("b", {3, 1, 1})}));
  check(greatest);
}

TEST_CASE("docs/rewriting.md counts the rules by law and licence") {
  const std::string text = text_of_page("docs/rewriting.md");
  constexpr std::array laws{law::associative, law::homomorphic, law::distributive, law::commutative,
                            law::identity,    law::inverse,     law::idempotent,   law::recognition};
  constexpr std::array names{"associative", "homomorphic", "distributive", "commutative",
                             "identities",  "inverses",    "idempotent",   "recognitions"};
  constexpr std::array licences{licence::exact, licence::reassociates, licence::approximates};
  std::array<std::size_t, 4> all{};
  std::string table;
  const auto row = [&](const std::string& name, const std::array<std::size_t, 4>& counts) {
    const std::string line = "| " + name + " | " + std::to_string(counts[0]) + " | " + std::to_string(counts[1]) +
                             " | " + std::to_string(counts[2]) + " | " + std::to_string(counts[3]) + " |";
    CHECK_MESSAGE(text.find("\n" + line + "\n") != std::string::npos, line);
    table += line + "\n";
  };
  for (std::size_t i = 0; i < laws.size(); ++i) {
    std::array<std::size_t, 4> counts{};
    for (std::size_t j = 0; j < licences.size(); ++j) counts[3] += counts[j] = count_of(laws[i], licences[j]);
    for (std::size_t j = 0; j < counts.size(); ++j) all[j] += counts[j];
    row(names[i], counts);
  }
  row("all", all);
  CHECK(all[3] == rw::rules::all.size());
  MESSAGE("| law | exact | reassociates | approximates | together |\n" << table);
  for (const std::string page : {"README.md", "docs/papers.md"})
    CHECK_MESSAGE(text_of_page(page).find(std::to_string(all[3])) != std::string::npos, page);
}

TEST_CASE("rules are printed with what decides") {
  using namespace rw::names;
  const auto printed = [](const rw::rule& r) { return rw::print(r).str(); };
  CHECK(printed({projection(projection(a)) == projection(a), rw::exact}) == "f(f(a)) = f(a), f a projection");
  CHECK(printed({joined_selection(a, joined_selection(a, b)) == joined_selection(a, b), rw::exact}) ==
        "g(a, g(a, b)) = g(a, b), g idempotent and associative");
  CHECK(printed({dk::slice(f(a))[p] == f(dk::slice(a)[p]), rw::exact}) == "Slice(f(a))[p] = f(Slice(a)[p])");
  CHECK(printed({a * dk::sigmoid(a * 1.702) == dk::swish(a, {.alpha = 1.702f}), rw::approximates(2)}) ==
        "a * Sigmoid(a * 1.702) = Swish(a, alpha=1.702)");
  CHECK(printed({dk::clip(a, {.min = 0, .max = 6}) == dk::relu(a), rw::exact}) == "Clip(a, min=0 max=6) = Relu(a)");
  CHECK(rw::print(rw::approximates(4)) == "approximates (4 ulp)");
  CHECK(rw::print(rw::reassociates) == "reassociates");
}

TEST_CASE("docs/rewriting.md lists every rule") {
  const std::string text = text_of_page("docs/rewriting.md");
  std::size_t listed = 0;
  for (std::size_t at = 0; (at = text.find("\n- `", at)) != std::string::npos; ++at) ++listed;
  CHECK(listed == rw::rules::all.size());
  rw::rules::all.for_each([&](const rw::rule& r) {
    std::string line = "\n- `" + rw::print(r).str() + "`";
    if (!r.needs.text.empty()) line += ", if " + rw::print(r.needs).str();
    line += ": " + rw::print(r.allowed).str();
    CHECK_MESSAGE(text.find(line + "\n") != std::string::npos, line);
  });
}

TEST_CASE("a rule that is wrong is caught") {
  using namespace rw::names;
  const auto problems = [](const rw::rule& r) {
    const rw::rule_set<1> set{{r}};
    const std::vector<rw::unproved_rule> found = rw::prove(set);
    return found.empty() ? std::string("none") : found[0].problem;
  };
  const auto differs = [&](const rw::rule& r) { return problems(r).starts_with("element "); };
  CHECK(differs({a * c + b * c == (a - b) * c, rw::reassociates}));
  CHECK(differs({dk::tanh(a) == a, rw::exact}));
  CHECK(differs({dk::sigmoid(a) * 1.0 == dk::silu(a), rw::approximates(64)}));
  CHECK(differs({dk::max(a, dk::abs(a)) == dk::relu(a), rw::exact}));                     // of numbers below 0
  CHECK(differs({dk::clip(a, {.min = 0, .max = 4}) * b == dk::relu(a * b), rw::exact}));  // and of those above 4
  CHECK(differs({a * u * v == a * (u * v), rw::exact}));                                  // but for the licence
  CHECK(differs({dk::relu(dk::leaky_relu(a)[p]) == dk::relu(a), rw::exact}));             // where alpha is negative
  CHECK(problems({a * a - b * b == (a - b) * (a + b), rw::reassociates}).starts_with("it was applied to none of "));
  CHECK(differs({dk::tanh(a) == dk::transpose(a), rw::exact}));  // of the shapes that this keeps
  CHECK(problems({dk::max(a, b) - dk::min(a, b) == dk::abs(a - b), rw::exact}) == "none");
}
