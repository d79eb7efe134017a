// SPDX-License-Identifier: MIT
// TfIdfVectorizer: shapes and values.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/op/text_features.hpp"

#include <doctest/doctest.h>

#include "dnnkit/reference/evaluator.hpp"
#include "tests/support/inferred.hpp"
#include "tests/support/operator_cases.hpp"

using namespace dnnkit;

namespace {

// One sequence of one number and one of two, with as many numbers left out as there may be.
std::vector<double> found(std::vector<std::int64_t> counts, std::vector<std::int64_t> indexes) {
  builder g;
  const tensor x = g.input("x", i64, {4}), a = g.input("counts", i64, {2}), b = g.input("indexes", i64, {2});
  const tensor pool = g.input("pool", i64, {3});
  const op::tf_idf_vectorizer how{.max_gram_length = 2, .max_skip_count = std::int64_t{1} << 62, .size = 2};
  g.output("y", apply(how, x, a, b, pool));
  return evaluate(
             g.value(),
             std::vector{host_tensor::of_integers(i64, {4}, {5, 6, 7, 7}), host_tensor::of_integers(i64, {2}, counts),
                         host_tensor::of_integers(i64, {2}, indexes), host_tensor::of_integers(i64, {3}, {7, 5, 7})})[0]
      .reals;
}

TEST_CASE("numbers left out are no more than the text has; counts and indexes outside raise errors") {
  CHECK(found({0, 1}, {1, 0}) == std::vector<double>{2, 2});
  CHECK_THROWS_WITH_AS(found({0, 9}, {1, 0}), "TfIdfVectorizer: ngram count is out of range, expected 0 to 3, found 9",
                       error);
  CHECK_THROWS_AS(found({-1, 1}, {1, 0}), error);
  CHECK_THROWS_AS(found({0, 3}, {1, 0}), error);  // three sequences, of which two have a place
  CHECK_THROWS_AS(found({0, 1}, {2, 0}), error);
}

TEST_CASE("text_features: results from elsewhere, with known and with symbolic extents") {
  const auto outcome = operator_cases::run("text_features");
  CHECK(outcome.cases >= 10);
  CHECK(outcome.symbolic_graphs >= 4);
}

}  // namespace
