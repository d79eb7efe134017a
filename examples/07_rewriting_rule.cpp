// SPDX-License-Identifier: MIT
// Example 7: a rule of rewriting, from the idea to the measured effect.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <vector>

#include "dnnkit/graph.hpp"
#include "dnnkit/reference/prove_rules.hpp"

namespace dk = dnnkit;

// A network of which somebody spelled the activation out.
struct model {
  static constexpr void build(dk::builder& g) {
    const auto x = g.input("x", dk::f32, {256, 1000});
    const auto gate = dk::sigmoid(x);
    g.output("y", dk::log(dk::exp(x * gate) * dk::exp(gate)));
  }
};

// The idea: log(e^a e^b) = a + b. The library has log(e^a) = a and e^a e^b = e^(a + b), and finds this on its own; the
// rule says it at once, and says what it does to the elements: a few units in the last place.
using namespace dk::rewrite::names;
inline constexpr auto of_logarithms =
    dk::rewrite::rules_of(dk::rewrite::law::inverse,
                          dk::rewrite::rule(dk::log(dk::exp(a) * dk::exp(b)) == a + b, dk::rewrite::approximates(64)));

// Put beside the library's rules, or in their place.
inline constexpr dk::rewrite::rule_list alone = of_logarithms;
using plain = dk::compile<model, dk::targets::native, dk::without<dk::default_pipeline, dk::passes::default_rules>>;
using ruled =
    dk::compile<model, dk::targets::native,
                dk::replaced<dk::default_pipeline, dk::passes::default_rules, dk::passes::apply_rules<alone>>>;
static_assert(plain::kernels == 1 && ruled::kernels == 1);
static_assert(ruled::choices[0].cost.cycles < plain::choices[0].cost.cycles * 0.7);  // what the compiler expects

// The least microseconds that a run takes.
template <class Net> double run(const std::vector<float>& x, std::vector<float>& y) {
  dk::session<Net> session;
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    session.run(x, y);
    best = std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

int main() try {
  // Is it right? On graphs of its left side, of random shapes and elements.
  for (const dk::rewrite::unproved_rule& wrong : dk::rewrite::prove(alone)) {
    std::cerr << wrong.rule << ": " << wrong.problem << '\n';
    return 1;
  }
  std::vector<float> x(256 * 1000), expected(x.size()), found(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 201) * 0.05f - 5;
  std::cout << "without the rule: " << run<plain>(x, expected) << " us\n";
  std::cout << "with the rule: " << run<ruled>(x, found) << " us\n";
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i])));
  std::cout << "largest difference: " << worst << '\n';
  if (!(worst < 1e-4)) {
    std::cerr << "the rule changes what the network computes\n";
    return 1;
  }
} catch (const dk::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
