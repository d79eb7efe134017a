// SPDX-License-Identifier: MIT
// Operators that draw numbers, which the importer says in terms of others: distributions, and what a seed is for.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/onnx/import/converters.hpp"
#include "tests/support/onnx_models.hpp"

using namespace dnnkit;
using namespace onnx_models;
using onnx_models::graph_of;  // not the one of dnnkit/compile.hpp

namespace {

using list = std::vector<double>;

double mean(const list& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

TEST_CASE("random operators: the distribution that their inputs say, the same in each run; without a seed refused") {
  graph_of g;
  g.input("p", f32, {3, 4000}).input("log", f32, {2, 4}).output("b").output("m").output("d").output("kept").output("n");
  g.initializer(reals("ratio", {0.25f}, {})).constant("training", {1});
  const auto seed = real("seed", 3);
  g.node("Bernoulli", {"p"}, {"b"}, {seed, integer("dtype", onnx::data_type_of(i32))});
  g.node("Multinomial", {"log"}, {"m"}, {seed, integer("sample_size", 4000)});
  g.node("Dropout", {"p", "ratio", "training"}, {"d", "kept"}, {integer("seed", 3)});
  g.node("RandomNormalLike", {"p"}, {"n"}, {seed, real("mean", 5), integer("dtype", onnx::data_type_of(f64))});
  const auto m = model_of(g, 22);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  host_tensor p(f32, {3, 4000});
  for (std::size_t i = 0; i < p.count(); ++i) p.reals[i] = i < 4000 ? 0 : i < 8000 ? 1 : 0.25;
  // probabilities 1/2, 0, 1/4, 1/4, but for a constant, and 0, 0, 1, 0
  const double never = -HUGE_VAL;
  const host_tensor logarithms({2, 4}, {std::log(2.f) + 9, never, 9, 9, never, never, 0, never});
  const auto y = run(r, {p, logarithms});
  const auto standard_error = [](double probability) { return std::sqrt(probability * (1 - probability) / 4000); };

  CHECK(y[0].type == i32);
  const auto row = [&](const auto& x, std::ptrdiff_t n) {
    return list(x.begin() + n * 4000, x.begin() + (n + 1) * 4000);
  };
  CHECK(mean(row(y[0].integers, 0)) == 0);
  CHECK(mean(row(y[0].integers, 1)) == 1);
  CHECK(std::fabs(mean(row(y[0].integers, 2)) - 0.25) < 4 * standard_error(0.25));

  CHECK(y[1].type == i32);
  list shares(4);
  for (const double v : row(y[1].integers, 0)) shares.at(static_cast<std::size_t>(v)) += 1 / 4000.0;
  const list expected{0.5, 0, 0.25, 0.25};
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::fabs(shares[i] - expected[i]) <= 4 * standard_error(expected[i]));
  CHECK(row(y[1].integers, 1) == list(4000, 2));

  CHECK(std::fabs(mean(row(y[3].integers, 1)) - 0.75) < 4 * standard_error(0.75));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < p.count(); ++i)
    wrong += y[2].reals[i] != static_cast<double>(y[3].integers[i] ? static_cast<float>(p.reals[i]) / 0.75f : 0);
  CHECK(wrong == 0);
  CHECK(y[4].type == f64);
  CHECK(std::fabs(mean(y[4].reals) - 5) < 4 / std::sqrt(12000.0));
  const auto again = run(r, {p, logarithms});
  for (std::size_t i = 0; i < y.size(); ++i)
    CHECK((again[i].reals == y[i].reals && again[i].integers == y[i].integers));

  graph_of unseeded;
  unseeded.input("x", f32, {2}).output("y").output("z");
  unseeded.node("RandomUniformLike", {"x"}, {"y"}).node("Bernoulli", {"x"}, {"z"});
  const std::string reason =
      ": has no attribute 'seed', and random numbers are those of a seed here: with one, every run of the network "
      "gives "
      "the same\n";
  CHECK(problems(import(unseeded, 22)) == "RandomUniformLike 'y'" + reason + "Bernoulli 'z'" + reason);
  graph_of negative;
  negative.output("y").node("RandomUniform", {}, {"y"}, {seed, integers("shape", {2, -1})});
  CHECK(problems(import(negative, 22)) == "RandomUniform 'y': attribute 'shape' has a negative extent\n");
}

TEST_CASE("random operators: the numbers of a seed, others of another") {
  graph_of g;
  g.input("p", f32, {4, 50}).initializer(reals("ratio", {0.5f}, {})).constant("training", {1});
  std::vector<std::string> names;
  names.reserve(21);  // the graph refers to them
  for (const char* op : {"RandomUniform", "RandomNormal", "RandomUniformLike", "RandomNormalLike", "Bernoulli",
                         "Multinomial", "Dropout"})
    for (const int seed : {3, 3, 4}) {
      const std::string_view of(op);
      names.push_back(of.data() + std::to_string(names.size()));
      const auto given = of == "Dropout" ? integer("seed", seed) : real("seed", static_cast<float>(seed));
      if (of == "Dropout") g.node(op, {"p", "ratio", "training"}, {names.back()}, {given});
      else if (of == "Multinomial") g.node(op, {"p"}, {names.back()}, {given, integer("sample_size", 40)});
      else if (of.ends_with("Like") || of == "Bernoulli") g.node(op, {"p"}, {names.back()}, {given});
      else g.node(op, {}, {names.back()}, {given, integers("shape", {4, 50})});
    }
  for (const std::string& name : names) g.output(name);
  const auto m = model_of(g, 22);
  const auto r = import(m);
  REQUIRE(problems(r) == "");
  host_tensor p(f32, {4, 50});
  for (double& x : p.reals) x = 0.5;
  const auto y = run(r, {p});
  const auto same = [&](std::size_t i, std::size_t j) {
    return y[i].reals == y[j].reals && y[i].integers == y[j].integers;
  };
  for (std::size_t i = 0; i < y.size(); i += 3) {
    CAPTURE(names[i]);
    CHECK(same(i, i + 1));
    CHECK(!same(i, i + 2));
  }
}

}  // namespace
