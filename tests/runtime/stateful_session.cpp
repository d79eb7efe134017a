// SPDX-License-Identifier: MIT
// LABELS: twice
// Outputs that are the next run's inputs.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/stateful_session.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/runtime/progress.hpp"
#include "tests/support/harness.hpp"

namespace dk = dnnkit;

namespace {

// Two steps of an LSTM of three units at a time, whose state goes on; the ports that are fed back lie between others.
template <bool Symbolic> struct layer {
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument batch = Symbolic ? dk::dim_argument(dk::sym("N", {1, 4})) : dk::dim_argument(1);
    const dk::tensor c = g.input("c", dk::f32, {1, batch, 3}), x = g.input("x", dk::f32, {2, batch, 4}),
                     h = g.input("h", dk::f32, {1, batch, 3});
    const dk::tensor w = g.weight("w", {1, 12, 4}), r = g.weight("r", {1, 12, 3}), b = g.weight("b", {1, 24});
    const auto output = [&](std::int64_t number) {
      return g.apply(dk::op::lstm{.output = number}, {x, w, r, b, {}, h, c});
    };
    g.output("hn", output(1));
    g.output("y", output(0));
    g.output("cn", output(2));
  }
};
// All steps at once.
struct whole_layer {
  static constexpr void build(dk::builder& g) {
    const dk::tensor x = g.input("x", dk::f32, {8, 1, 4});
    const dk::tensor w = g.weight("w", {1, 12, 4}), r = g.weight("r", {1, 12, 3}), b = g.weight("b", {1, 24});
    g.output("y", g.apply(dk::op::lstm{}, {x, w, r, b}));
  }
};

// All rows that have been seen, and their sum.
struct cache {
  static constexpr void build(dk::builder& g) {
    const dk::tensor past = g.input("past", dk::f32, {dk::sym("P", {0, 100}), 2}), x = g.input("x", dk::f32, {1, 2});
    const dk::tensor all = dk::concat({past, x}, {.axis = 0});
    g.output("y", dk::reduce_sum(all, {.axes = {0}, .keepdims = false}));
    g.output("present", all);
  }
};

template <class Net, class Observer = dk::no_observer>
using stream_of = dk::stateful_session<dk::session<Net, Observer>, dk::feedback<"hn", "h">, dk::feedback<"cn", "c">>;
using net = dk::compile<layer<false>>;
using stream = stream_of<net>;

const harness::test_data data = harness::random_data(dk::graph_of<whole_layer>(), 1);
const std::vector<std::byte> file = harness::safetensors_bytes(data.weights);
dk::safetensors weights() { return dk::safetensors::from_memory(file, "weights"); }

std::array<float, 8> part(std::size_t run) {
  std::array<float, 8> x;
  for (std::size_t i = 0; i < 8; ++i) x[i] = static_cast<float>(data.inputs[0].reals[8 * run + i]);
  return x;
}
std::vector<float> expected() {
  const dk::host_tensor y = harness::reference(dk::graph_of<whole_layer>(), data)[0];
  return {y.reals.begin(), y.reals.end()};
}
// The results of runs `first` to 3.
template <class Session> std::vector<float> rest(Session& s, std::size_t first) {
  std::vector<float> all;
  for (std::size_t run = first; run < 4; ++run) {
    std::array<float, 6> y;
    s.run(part(run), y);
    all.insert(all.end(), y.begin(), y.end());
  }
  return all;
}
void check_near(const std::vector<float>& found, std::size_t first) {
  const std::vector<float> all = expected();
  REQUIRE(found.size() == all.size() - first);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(all[first + i]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("four runs that hand on their state are one over all steps") {
  stream s(weights());
  check_near(rest(s, 0), 0);
  s.reset();
  check_near(rest(s, 0), 0);
  static_assert(noexcept(s.run(std::declval<std::array<float, 8>&>(), std::declval<std::array<float, 6>&>())));
}

TEST_CASE("by name, with a loop; the state can be read and written") {
  stream s(weights());
  const auto x = part(0);
  std::array<float, 6> y, again;
  s.run(dk::out<"y">(y), dk::in<"x">(x));
  CHECK(s.state<"h">().size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(s.state<"h">()[i] == y[3 + i]);
  for (float& v : s.state<"h">()) v = 0;
  for (float& v : s.state<"c">()) v = 0;
  s.run(dk::serial, x, again);
  CHECK(y == again);
}

TEST_CASE("a saved state goes on elsewhere; one of another size is refused") {
  stream s(weights()), other(weights());
  std::array<float, 6> y;
  s.run(part(0), y);
  const std::vector<std::byte> saved = s.save();
  CHECK(saved.size() == 24);
  s.run(part(1), y);
  other.restore(saved);
  check_near(rest(other, 1), 6);
  s.restore(saved);
  check_near(rest(s, 1), 6);
  CHECK_THROWS_WITH_AS(s.restore(std::span(saved).first(20)),
                       "state: a saved state is of another size, expected 24 bytes, found 20", dk::error);
}

TEST_CASE("a run that is stopped leaves the state as it was") {
  bool stop = false;
  auto report = dk::progress([&](std::size_t, std::size_t) { return !stop; });
  stream_of<net, decltype(report)> s(weights(), report);
  std::array<float, 6> y;
  CHECK(s.run(part(0), y));
  const std::vector<std::byte> before = s.save();
  stop = true;
  CHECK(!s.run(part(1), y));
  CHECK(s.save() == before);
}

TEST_CASE("with symbols: a state whose size becomes another begins with zeros") {
  stream_of<dk::compile<layer<true>>> s(weights());
  std::array<float, 6> y;
  CHECK_THROWS_AS(s.run(part(0), y), dk::error);
  s.bind({{"N", 1}});
  s.run(part(0), y);
  s.bind({{"N", 1}});
  check_near(rest(s, 1), 6);
  s.bind({{"N", 2}});
  CHECK(s.state_bytes() == 48);
  for (float v : s.state<"c">()) CHECK(v == 0);
  s.bind({{"N", 1}});
  check_near(rest(s, 0), 0);
}

TEST_CASE("a state that grows") {
  dk::stateful_session<dk::session<dk::compile<cache>>, dk::feedback<"present", "past">> s;
  std::array<float, 2> y;
  for (int round = 0; round < 2; ++round) {
    float first = 0, second = 0;
    for (std::int64_t n = 0; n < 40; ++n) {
      CAPTURE(n);
      s.bind({{"P", n}});
      const std::array<float, 2> x{static_cast<float>(n), static_cast<float>(3 * n % 7)};
      first += x[0];
      second += x[1];
      s.run(x, y);
      CHECK(y[0] == first);
      CHECK(y[1] == second);
      CHECK(s.state_bytes() == static_cast<std::size_t>(8 * (n + 1)));
    }
    CHECK_THROWS_WITH_AS(s.run(y, y), "input 'past': range has the wrong size, expected 78 elements, found 80",
                         dk::error);
  }
}
