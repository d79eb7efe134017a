// SPDX-License-Identifier: MIT
// A model for two sample rates, made for one of them: its input `rate` is no argument.
#include <array>
#include <dnnkit/runtime/session.hpp>

#include "two_rates.hpp"
#include "two_rates_weights.hpp"

using net = dnnkit::compile<two_rates>;
static_assert(net::plan.inputs.size() == 1);

int main() {
  dnnkit::session<net> session(two_rates_weights());
  const std::array<float, 4> x{1, -2, 3, 0};
  std::array<float, 4> y{};
  session.run(x, y);
  return y == std::array<float, 4>{-1, 2, -3, 0} ? 0 : 1;  // the branch of other rates than 16000
}
