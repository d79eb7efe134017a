// SPDX-License-Identifier: MIT
// The folds of reductions and row operators: cut anywhere and merged, they give what one fold gives.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/operator/statistics.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "dnnkit/op/builtin.hpp"

using namespace dnnkit;

namespace {

static_assert(axes_of({0, -1}, 3).bits == 0b101 && axes_of({}, 3).bits == 0b111 && row_axes{-2}(4).has(2));

template <class Op> void check(const Op& op, std::mt19937& random) {
  std::uniform_real_distribution<double> real(0.1, 2);
  std::vector<double> row(1 + random() % 12);
  for (double& x : row) x = real(random);
  const std::size_t cut = random() % (row.size() + 1);
  statistics<double, Op::passes> s{};
  [&]<std::size_t... P>(std::index_sequence<P...>) {
    const auto fold = [&](auto p) {
      const auto over = [&](std::size_t first, std::size_t last) {
        double sum = op.template start<double>(p);
        for (std::size_t i = first; i < last; ++i) sum = op.template accumulate<double>(p, sum, row[i], s);
        return sum;
      };
      const double whole = over(0, row.size()),
                   merged = op.template merge<double>(p, over(0, cut), over(cut, row.size()));
      CHECK(merged == doctest::Approx(whole).epsilon(1e-12));
      CHECK(op.template merge<double>(p, op.template start<double>(p), whole) == whole);  // start is neutral
      s[p] = op.template close<double>(p, whole, static_cast<double>(row.size()), s);
    };
    (fold(pass<P>{}), ...);
  }
  (std::make_index_sequence<Op::passes>());
}

template <class... Ops> int check_all(op_set<Ops...>, std::mt19937& random) {
  int checked = 0;
  const auto one = [&]<class Op>(const Op& op) {
    if constexpr (Op::kind == form::reduction || Op::kind == form::row) {
      check(op, random);
      ++checked;
    }
  };
  (one(Ops{}), ...);
  return checked;
}

TEST_CASE("merge joins partial folds, of every operator with statistics") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) CHECK(check_all(builtin_ops, random) == 14);
}

}  // namespace
