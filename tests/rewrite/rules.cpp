// SPDX-License-Identifier: MIT
// Every rule of the library is proved on graphs made of its own left side: variables of random shapes and elements,
// operators with attributes; the rewriter, given this rule alone, must apply it somewhere, and what comes out must be
// what the reference evaluator makes of the left side, within the rule's licence.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/rewrite/rules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "dnnkit/graph/verify.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/rewriter.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/harness.hpp"
#include "tests/support/random_source.hpp"

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

// DNNFusion derives 45 associative, 38 distributive and 66 commutative rules (section 3.4.2, Table 3.4).
static_assert(count_of(law::associative) >= 45);
static_assert(count_of(law::distributive) >= 38);
static_assert(count_of(law::commutative) >= 66);

std::string text_of_page(const std::string& page) {
  std::ifstream file(DNNKIT_ASSETS "/../../" + page);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A graph of a rule's left side.
class left_side {
 public:
  left_side(const rw::rule& r, std::uint64_t seed, bool positive) : rule_(r), random_(seed), positive_(positive) {}

  // An empty graph where the shapes that were drawn do not fit.
  dk::graph make() {
    dk::builder b;
    rw::match m;
    for (std::size_t k = 0; k < rule_.left.terms.size(); ++k)
      if (const rw::term& t = rule_.left.terms[k]; t.is == rw::term::what::variable)
        m.bound.values[t.name] = leaf(b, t, k).id();
    dk::graph old = b.value();
    for (const rw::term& t : rule_.left.terms) {
      if (t.slot != rw::term::no_slot && m.bound.slots[t.slot] == dk::none) m.bound.slots[t.slot] = add(old, *t.op);
      if (t.is == rw::term::what::unary && m.bound.unary == dk::none) m.bound.unary = add(old, unary_with(t.laws));
      if (t.is == rw::term::what::binary && m.bound.binary == dk::none) m.bound.binary = add(old, binary_with(t.laws));
    }
    const dk::node_id like = add(old, dk::info_of<dk::op::identity>);
    old.nodes[like].output = std::max(0, *std::max_element(m.bound.values.begin(), m.bound.values.end()));
    m.nodes.push_back(like);
    m.bound.g = &old;
    dk::graph g = old;
    g.nodes.clear();
    rw::rule same = rule_;
    same.right = same.left;
    const dk::node named = old.nodes[like];
    const dk::value_id y = rw::replacement(g, same, m, named).build([](dk::value_id v) { return v; });
    if (!g.error.empty()) return {};
    g.outputs.push_back(y);
    g.output_names.push_back(g.store("y"));
    return g;
  }

 private:
  // Where is the variable read: as a truth value, or as positions?
  bool is_read_by(std::size_t variable, auto reads) const {
    for (const rw::term& t : rule_.left.terms)
      for (std::size_t i = 0; i < t.inputs; ++i)
        if (t.input[i] == variable && t.is == rw::term::what::operation && reads(t.op->name, i)) return true;
    return false;
  }

  dk::tensor leaf(dk::builder& b, const rw::term& t, std::size_t k) {
    const std::string name = (positive_ ? "variance_" : "") + std::string(1, static_cast<char>('a' + t.name));
    if (is_read_by(k, [](std::string_view op, std::size_t i) { return op == "Gather" && i == 1; }))
      return random_.chance(50) ? b.constant({1, 0}, dk::shape{2}, dk::i64)
                                : b.constant({0, 1, 1, 0, 1, 0, 0, 1, 0}, dk::shape{9}, dk::i64);
    if (t.range == rw::stands_for::number)
      return b.scalar(random_.real(0.25, 2) * (positive_ || random_.chance(70) ? 1 : -1));
    const bool truth = is_read_by(k, [](std::string_view op, std::size_t i) {
      return op == "And" || op == "Or" || op == "Xor" || op == "Not" || (op == "Where" && i == 0);
    });
    dk::shape s;
    const std::size_t rank = random_.below(5);
    for (std::size_t d = 0; d < rank; ++d) s.push_back(random_.pick({1, 2, 4, 4, 4}));
    const dk::dtype type = truth ? dk::dtype::boolean : dk::f32;
    const dk::origin from = t.range == rw::stands_for::tensor ? dk::origin::input : dk::origin::weight;
    dk::graph& g = b.value();
    const dk::value_id id = g.add_value({g.store(name), {type, s}, from, dk::none, {}});
    if (from == dk::origin::input) g.inputs.push_back(id);
    return {&b, id};
  }

  // A node of the operator, with attributes that fit small tensors. It has no operands: it stands for its attributes.
  template <class Op> static dk::node_id add(dk::graph& g, const Op& op) {
    dk::node n{&dk::info_of<Op>, {}, dk::graph::end_of(g.attributes, 0), {}, dk::none};
    dk::encode(op, g.attributes);
    n.attributes.count = static_cast<std::uint32_t>(g.attributes.size()) - n.attributes.first;
    g.nodes.push_back(n);
    return static_cast<dk::node_id>(g.nodes.size() - 1);
  }
  dk::node_id add(dk::graph& g, const dk::op_info& op) {
    if (op.name == "Clip") return add(g, dk::op::clip{.min = -0.5f, .max = 0.5f});
    if (op.name == "Softmax" || op.name == "LogSoftmax")
      return add(g, dk::op::softmax{.axis = random_.pick({-1, 0, 1})});
    if (op.name == "MaxPool") return add(g, dk::op::max_pool{.kernel_shape = {2, 2}, .strides = {2, 2}});
    if (op.name == "AveragePool") return add(g, dk::op::average_pool{.kernel_shape = {2, 2}, .strides = {2, 2}});
    if (op.name == "Slice") return add(g, dk::op::slice{.starts = {0}, .ends = {2}, .axes = {-1}});
    if (op.name == "Gather") return add(g, dk::op::gather{.axis = 0});
    if (op.name == "Expand") return add(g, dk::op::expand{.dims = {2, 4, 4}});
    if (op.name.starts_with("Reduce")) {
      dk::op::reduce_sum sum{.keepdims = random_.chance(70)};
      if (random_.chance(70)) sum.axes.list.push_back(random_.pick({-2, -1, 0, 1}));
      else sum.axes.list = {0, -1};
      return add(g, sum);
    }
    g.nodes.push_back({&op, {}, dk::graph::end_of(g.attributes, 0), {}, dk::none});
    return static_cast<dk::node_id>(g.nodes.size() - 1);
  }
  const dk::op_info& unary_with(dk::algebra laws) {
    if (laws != dk::algebra::none) return random_.chance(50) ? dk::info_of<dk::op::relu> : dk::info_of<dk::op::abs>;
    return random_.pick({&dk::info_of<dk::op::relu>, &dk::info_of<dk::op::exp>, &dk::info_of<dk::op::neg>})[0];
  }
  const dk::op_info& binary_with(dk::algebra laws) {
    if (laws != dk::algebra::none) return random_.chance(50) ? dk::info_of<dk::op::max> : dk::info_of<dk::op::min>;
    return random_.pick({&dk::info_of<dk::op::add>, &dk::info_of<dk::op::mul>})[0];
  }

  const rw::rule& rule_;
  random_source random_;
  bool positive_;
};

// How far the right side may be from the left one: in another order as far as rounding takes it (harness::tolerances).
double allowed_distance(const rw::rule& r, double largest, double rounding) {
  if (r.allowed.kind == licence::exact) return 0;
  return rounding + (r.allowed.kind == licence::approximates ? r.allowed.ulp * 0x1p-23 * largest : 0);
}

// Empty where the two agree wherever the left side is a number.
std::string disagreement(const rw::rule& r, const dk::graph& before, const dk::graph& after, std::uint64_t seed) {
  const harness::test_data data = harness::random_data(before, seed);
  const std::vector<dk::host_tensor> expected = harness::reference(before, data);
  const dk::host_tensor left = expected[0], right = harness::reference(after, data)[0];
  const double rounding = harness::tolerances(before, data, expected)[0];
  if (left.dims != right.dims) return "shapes differ";
  if (left.integers != right.integers) return "truth values differ";
  double largest = 0;
  for (const double x : left.reals) largest = std::max(largest, std::isfinite(x) ? std::abs(x) : 0);
  for (std::size_t i = 0; i < left.reals.size(); ++i) {
    const double x = left.reals[i], y = right.reals[i];
    if (!std::isfinite(x) || x == y) continue;
    if (!(std::abs(x - y) <= allowed_distance(r, largest, rounding)))
      return "element " + std::to_string(i) + ": " + std::to_string(x) + " and " + std::to_string(y);
  }
  return {};
}

// Can the graph be evaluated? A Gather of two elements of one cannot.
bool picks_what_is_there(const dk::graph& g, std::uint64_t seed) {
  try {
    harness::reference(g, harness::random_data(g, seed));
    return true;
  } catch (const dk::error&) { return false; }
}

}  // namespace

TEST_CASE("every rule applies to its left side, and keeps what it means") {
  constexpr std::uint64_t tries = 3000, wanted = 24;
  rw::rules::all.for_each([&](const rw::rule& r) {
    const std::string printed = rw::print(r).str();
    CAPTURE(printed);
    rw::rule_set<1> set{{r}};
    const rw::rule_list alone(set);
    std::uint64_t applied = 0, built = 0;
    for (const std::uint64_t seed : harness::seeds(0, tries)) {
      if (applied == wanted) break;
      CAPTURE(seed);
      const dk::graph g = left_side(r, seed, seed % 2 == 0).make();
      if (g.outputs.empty() || !picks_what_is_there(g, seed)) continue;
      ++built;
      dk::plan::decision_log log;
      const dk::graph after = rw::rewriter(alone, licence::approximates).run(g, dk::plan::decision_notes(log));
      if (log.decisions.empty()) continue;
      ++applied;
      REQUIRE(dk::verify(after).view() == "");
      CHECK(disagreement(r, g, after, seed) == "");
    }
    CAPTURE(built);
    CHECK(applied > 0);
  });
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
  constexpr std::array laws{law::associative, law::distributive, law::commutative, law::identity,
                            law::inverse,     law::idempotent,   law::recognition};
  constexpr std::array names{"associative", "distributive", "commutative", "identities",
                             "inverses",    "idempotent",   "recognitions"};
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

TEST_CASE("docs/rewriting.md lists every rule") {
  const std::string text = text_of_page("docs/rewriting.md");
  std::size_t listed = 0;
  for (std::size_t at = 0; (at = text.find("\n- `", at)) != std::string::npos; ++at) ++listed;
  CHECK(listed == rw::rules::all.size());
  rw::rules::all.for_each([&](const rw::rule& r) {
    std::string line = "\n- `" + rw::print(r).str() + "`";
    if (!r.needs.text.empty()) line += ", if " + rw::print(r.needs).str();
    line += ": " + std::string(text_of(r.allowed.kind));
    if (r.allowed.ulp != 0) line += " (" + std::to_string(r.allowed.ulp) + " ulp)";
    CHECK_MESSAGE(text.find(line + "\n") != std::string::npos, line);
  });
}

TEST_CASE("a rule that is wrong is caught") {
  using namespace rw::names;
  const rw::rule wrong(a * c + b * c == (a - b) * c, rw::reassociates);
  rw::rule_set<1> set{{wrong}};
  std::size_t caught = 0, applied = 0;
  for (std::uint64_t seed = 0; seed < 2000 && applied < 20; ++seed) {
    const dk::graph g = left_side(wrong, seed, true).make();
    if (g.outputs.empty()) continue;
    const dk::graph after = rw::rewriter(set, licence::approximates).run(g, {});
    if (after.nodes.size() == g.nodes.size()) continue;
    ++applied;
    caught += !disagreement(wrong, g, after, seed).empty();
  }
  CHECK(applied == 20);
  CHECK(caught == applied);
}
