// SPDX-License-Identifier: MIT
// The evaluator's direct loops give what the operators' scalar definitions give, over random shapes and attributes.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/reference/direct_loops.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/op/activation.hpp"
#include "dnnkit/reference/evaluate_operator.hpp"
#include "tests/support/random_source.hpp"

using namespace dnnkit;

namespace {

constexpr std::uint64_t seed = 20'240'117;

host_tensor random_tensor(random_source& random, dtype type, std::vector<std::int64_t> dims) {
  host_tensor t(type, std::move(dims));
  for (std::size_t i = 0; i < t.count(); ++i)
    if (t.floating()) t.set(i, random.real(-2, 2));
    else t.set(i, random.next());
  return t;
}

// Both ways to compute an output of these extents. In double they may differ by the rounding of a contracted
// multiplication and addition; more than that is another sum.
template <class Op> void check(const Op& op, std::vector<const host_tensor*> inputs, std::vector<std::int64_t> dims) {
  host_tensor direct(inputs[0]->type, dims), defined = direct;
  detail::evaluate_directly<element_kinds::any>(op, {inputs, &direct});
  detail::evaluate_definition<element_kinds::any>(op, {inputs, &defined});
  CHECK(direct.integers == defined.integers);  // exact, whatever wraps around
  REQUIRE(direct.reals.size() == defined.reals.size());
  double worst = 0;
  for (std::size_t i = 0; i < direct.reals.size(); ++i)
    worst = std::max(worst, std::fabs(direct.reals[i] - defined.reals[i]));
  CHECK(worst < (direct.type == f64 ? 1e-12 : 1e-6 * 64));
}

}  // namespace

TEST_CASE("convolutions") {
  INFO("seed ", seed);
  random_source random(seed);
  for (int trial = 0; trial < 300; ++trial) {
    const auto axes = static_cast<std::size_t>(random.between(1, 3));
    const dtype type = random.pick({f64, f32, i32, u64});
    const std::int64_t group = random.between(1, 3), depth = random.between(1, 3), per_group = random.between(1, 3);
    op::conv op{.group = group};
    std::vector<std::int64_t> x{random.between(1, 2), group * depth}, w{group * per_group, depth}, y{x[0], w[0]};
    const bool pointwise = random.chance(20);
    std::vector<std::int64_t> ends;
    for (std::size_t a = 0; a < axes; ++a) {
      const std::int64_t kernel = pointwise ? 1 : random.between(1, 3), stride = pointwise ? 1 : random.between(1, 3),
                         dilation = random.between(1, 2), begin = pointwise ? 0 : random.between(0, 3),
                         end = pointwise ? 0 : random.between(0, 3), reach = (kernel - 1) * dilation + 1;
      const std::int64_t extent = std::max<std::int64_t>(random.between(1, 7), reach - begin - end);
      x.push_back(extent);
      w.push_back(kernel);
      y.push_back((extent + begin + end - reach) / stride + 1);
      op.strides.push_back(stride);
      op.dilations.push_back(dilation);
      op.pads.push_back(begin);
      ends.push_back(end);
    }
    for (const std::int64_t end : ends) op.pads.push_back(end);
    const host_tensor input = random_tensor(random, type, x), weight = random_tensor(random, type, w),
                      bias = random_tensor(random, type, {w[0]});
    CAPTURE(trial);
    check(op, {&input, &weight}, y);
    check(op, {&input, &weight, nullptr}, y);
    check(op, {&input, &weight, &bias}, y);
  }
}

TEST_CASE("matrix products") {
  INFO("seed ", seed);
  random_source random(seed + 1);
  for (int trial = 0; trial < 300; ++trial) {
    const dtype type = random.pick({f64, f32, i32, u64});
    const std::int64_t m = random.between(0, 9), k = random.between(0, 9);
    const std::int64_t n = random.chance(10) ? random.between(510, 1030) : random.between(0, 9);
    const auto lead = static_cast<std::size_t>(random.between(0, 3));
    std::vector<std::int64_t> a, b, y;
    for (std::size_t d = 0; d < lead; ++d) {
      const std::int64_t extent = random.between(1, 3);
      const bool once_a = random.chance(25), once_b = random.chance(25);
      a.push_back(once_a ? 1 : extent);
      b.push_back(once_b ? 1 : extent);
      y.push_back(std::max(a.back(), b.back()));
    }
    if (random.chance(30)) a.erase(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(random.below(lead + 1)));
    else b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(random.below(lead + 1)));
    for (std::size_t d = 0; d < lead; ++d) {
      const auto extent = [&](const std::vector<std::int64_t>& of) {
        return d + of.size() >= lead ? of[d + of.size() - lead] : 1;
      };
      y[d] = std::max(extent(a), extent(b));
    }
    const bool row = a.empty() && random.chance(30), column = b.empty() && random.chance(30);
    if (!row) a.push_back(m), y.push_back(m);
    a.push_back(k);
    b.push_back(k);
    if (!column) b.push_back(n), y.push_back(n);
    const host_tensor left = random_tensor(random, type, a), right = random_tensor(random, type, b);
    CAPTURE(trial);
    check(op::matmul{}, {&left, &right}, y);
  }
}

template <class Op>
concept has_direct_loop = requires(const Op& op, detail::operands o) {
  detail::evaluate_directly<element_kinds::any>(op, o);
};
static_assert(has_direct_loop<op::conv> && has_direct_loop<op::matmul> && !has_direct_loop<op::relu>);

TEST_CASE("elements of kinds that are not compiled for are refused") {
  const host_tensor a(i32, {2, 2});
  host_tensor y(i32, {2, 2});
  const detail::operands o{{&a, &a}, &y};
  CHECK_THROWS_WITH_AS(detail::evaluate_directly<element_kinds::floating>(op::matmul{}, o),
                       doctest::Contains("operator MatMul: the evaluator is not compiled for this element type"),
                       error);
  CHECK_THROWS_WITH_AS(detail::evaluate_operator<element_kinds::floating>(op::add{}, o),
                       doctest::Contains("operator Add: the evaluator is not compiled for this element type"), error);
}
