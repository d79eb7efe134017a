// SPDX-License-Identifier: MIT
// LABELS: twice
// Outputs that are the next run's inputs.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/runtime/stateful_session.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dnnkit/op/builtin.hpp"
#include "dnnkit/plan/kept_part.hpp"
#include "dnnkit/reference/evaluator.hpp"
#include "dnnkit/runtime/progress.hpp"
#include "tests/support/error_of.hpp"
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

// A decoder's attention: keys and values of all tokens, which are the outermost axis, or lie inside the heads.
template <bool TokensFirst> struct decoder {
  static constexpr std::int64_t heads = 3, width = 20;
  static constexpr void build(dk::builder& g) {
    const dk::dim_argument tokens = dk::sym("P", {0, 64});
    const auto past = [&](std::string_view name) {
      return TokensFirst ? g.input(name, dk::f32, {tokens, heads, width})
                         : g.input(name, dk::f32, {heads, tokens, width});
    };
    const dk::tensor x = g.input("x", dk::f32, {"T", heads * width}), keys = past("keys"), values = past("values");
    const auto grown = [&](const dk::tensor& all, std::string_view weight, std::string_view name) {
      const dk::tensor rows = dk::matmul(x, g.weight(weight, {heads * width, heads * width}));
      dk::tensor added = dk::reshape(rows, {0, heads, width});
      if (!TokensFirst) added = dk::transpose(added, {.perm = {1, 0, 2}});
      const dk::tensor now = dk::concat({all, added}, {.axis = TokensFirst ? 0 : 1});
      g.output(name, now);
      return TokensFirst ? dk::transpose(now, {.perm = {1, 0, 2}}) : now;
    };
    const dk::tensor k = grown(keys, "k", "keys_now"), v = grown(values, "v", "values_now");
    const dk::tensor q = dk::transpose(dk::reshape(x, {0, heads, width}), {.perm = {1, 0, 2}});
    const dk::tensor seen = dk::softmax(dk::matmul(q, dk::transpose(k, {.perm = {0, 2, 1}})) * 0.2);
    g.output("y", dk::transpose(dk::matmul(seen, v), {.perm = {1, 0, 2}}));
  }
};
template <bool TokensFirst>
using decoder_session = dk::stateful_session<dk::session<dk::compile<decoder<TokensFirst>>>,
                                             dk::feedback<"keys_now", "keys">, dk::feedback<"values_now", "values">>;

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

TEST_CASE("by lists of names; those that are fed back take no range") {
  stream s(weights());
  std::vector<float> all;
  for (std::size_t run = 0; run < 4; ++run) {
    const auto x = part(run);
    std::array<float, 6> y;
    const std::array inputs{dk::input_argument("x", x)};
    const std::array outputs{dk::output_argument("y", y)};
    if (run == 0) s.run({{"x", x}}, {{"y", y}});
    else if (run == 1) s.run(dk::serial, {{"x", x}}, {{"y", y}});
    else if (run == 2) s.run(inputs, outputs);
    else s.run(dk::serial, inputs, outputs);
    all.insert(all.end(), y.begin(), y.end());
  }
  check_near(all, 0);
  const auto x = part(0);
  std::array<float, 6> y;
  std::array<float, 3> h{};
  const auto said = [&](auto inputs, auto outputs) {
    return error_of([&] {
      s.run(std::span<const dk::input_argument>(inputs), std::span<const dk::output_argument>(outputs));
      return 0;
    });
  };
  const dk::input_argument in_x("x", x), in_h("h", h);
  const dk::output_argument out_y("y", y), out_hn("hn", h);
  using ins = std::vector<dk::input_argument>;
  using outs = std::vector<dk::output_argument>;
  CHECK(said(ins{in_x, in_h}, outs{out_y}) == "input 'h': is fed back: run() takes no range for it");
  CHECK(said(ins{in_x}, outs{out_y, out_hn}) == "output 'hn': is fed back: run() takes no range for it");
  CHECK(said(ins{}, outs{out_y}) == "input 'x': no range is given for it");
  CHECK(said(ins{{"u", x}}, outs{out_y}) == "run: no input has this name, expected 'c', 'x', 'h', found 'u'");
}

TEST_CASE("lists of names while a state grows") {
  dk::stateful_session<dk::session<dk::compile<cache>>, dk::feedback<"present", "past">> s;
  const std::array<float, 2> x{1, 10};
  std::array<float, 2> y;
  CHECK(error_of([&] {
          s.run({{"x", x}}, {{"y", y}});
          return 0;
        }) != "no error");
  s.reserve({{"P", 3}});
  for (int run = 1; run <= 4; ++run) {
    s.run({{"x", x}}, {{"y", y}});
    CHECK(y[0] == static_cast<float>(run));
    CHECK(y[1] == static_cast<float>(10 * run));
  }
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
  CHECK_THROWS_WITH_AS(
      s.restore(std::span(saved).first(20)),
      "state: what was saved is of another size: cut off, or of another network, expected 24 bytes, found 20 "
      "bytes",
      dk::error);
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

TEST_CASE("plans in which a state grows in place") {
  constexpr auto grows = []<bool TokensFirst>() {
    constexpr const auto& plan = dk::compile<decoder<TokensFirst>>::plan;
    return dk::plan::grows_in_place(plan, plan.inputs[1], plan.results[0]);
  };
  static_assert(grows.operator()<true>() && !grows.operator()<false>());
}

TEST_CASE_TEMPLATE("a state that grows to what is reserved: the same as with all tokens at once", Session,
                   decoder_session<true>, decoder_session<false>) {
  constexpr std::size_t row = 60, tokens = 24;
  const std::vector<std::byte> bytes =
      harness::safetensors_bytes(harness::random_data(dk::graph_of<decoder<true>>(), 5).weights);
  const auto open = [&] { return dk::safetensors::from_memory(bytes, "weights"); };
  std::vector<float> x(tokens * row);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1013) / 500 - 1;
  const auto token = [&](std::size_t t) { return std::span(x).subspan(t * row, row); };

  // The last token of n sees the same in either way.
  Session s(open()), other(open()), fresh(open());
  s.reserve({{"P", tokens - 1}, {"T", 1}});
  other.reserve({{"P", tokens - 1}, {"T", 1}});
  fresh.reserve({{"P", tokens}, {"T", tokens}});
  std::vector<float> y(row), again(row), all(tokens * row);
  std::vector<std::byte> half;
  for (std::size_t round = 0; round < 2; ++round) {
    for (std::size_t t = 0; t < tokens; ++t) {
      CAPTURE(t);
      if (t == tokens / 2) half = s.save();
      const auto keys = s.template state<"keys">();
      CHECK(keys.size() == t * row);
      s.run(token(t), y);
      CHECK((s.template state<"keys">().data() == keys.data()) == std::is_same_v<Session, decoder_session<true>>);
      fresh.reset();
      fresh.bind_to(std::span(x).first((t + 1) * row));
      const auto results = std::span(all).first((t + 1) * row);
      fresh.run(std::span(x).first((t + 1) * row), results);
      for (std::size_t i = 0; i < row; ++i) CHECK(y[i] == doctest::Approx(results[t * row + i]).epsilon(1e-4));
    }
    CHECK_THROWS_WITH_AS(s.run(token(0), again),
                         "symbol 'P': states have grown to what was reserved; to go on, save(), reserve() more and "
                         "restore(), expected at most 23, found 24",
                         dk::error);
    CHECK(s.template state<"keys">().size() == tokens * row);
    other.restore(half);
    for (std::size_t t = tokens / 2; t < tokens; ++t) other.run(token(t), again);
    CHECK(again == y);
    s.reset();
  }
  // Tokens at once, then one by one.
  fresh.reset();
  fresh.bind_to(std::span(x).first(20 * row));
  fresh.run(std::span(x).first(20 * row), std::span(all).first(20 * row));
  for (std::size_t t = 20; t < tokens; ++t) {
    fresh.bind_to(token(t));
    fresh.run(token(t), again);
  }
  for (std::size_t i = 0; i < row; ++i) CHECK(y[i] == doctest::Approx(again[i]).epsilon(1e-4));
  // bind() goes on with what there is.
  const auto keys = other.template state<"keys">();
  const std::vector<float> held(keys.begin(), keys.end());
  other.bind({{"P", tokens}, {"T", 1}});
  const auto kept = other.template state<"keys">();
  CHECK(std::vector<float>(kept.begin(), kept.end()) == held);
}

TEST_CASE("what cannot be reserved, saved, bound") {
  struct halves {
    static constexpr void build(dk::builder& g) {
      const dk::tensor x = g.input("x", dk::f32, {dk::sym("N", {1, 9}), 2});
      g.output("y", dk::concat({x, x}, {.axis = 1}));
    }
  };
  dk::stateful_session<dk::session<dk::compile<halves>>, dk::feedback<"y", "x">> never;
  CHECK(error_of([&] {
          never.reserve({{"N", 3}});
          return 0;
        }) == "output 'y': no symbol makes the input that it is fed back to as large, expected [N, 2], found [N, 4]");

  using session = dk::stateful_session<dk::session<dk::compile<cache>>, dk::feedback<"present", "past">>;
  session s, smaller;
  std::array<float, 2> x{1, 2}, y;
  s.reserve({{"P", 4}});
  smaller.reserve({{"P", 1}});
  s.run(x, y);
  s.run(x, y);
  const auto saved = s.save();
  CHECK(saved.size() == 8 + 16);
  std::array<std::byte, 3> bytes{};
  const auto restore = [&](session& to, std::span<const std::byte> from) {
    return error_of([&] {
      to.restore(from);
      return 0;
    });
  };
  CHECK(restore(smaller, saved) ==
        "symbol 'P': more was saved than is reserved; reserve() as much before restore(), expected at most 1, found 2");
  CHECK(error_of([&] {
          s.save(std::span(bytes));
          return 0;
        }) == "state: the range to save to is of another size than state_bytes(), expected 24 bytes, found 3 bytes");
  const std::string another_size =
      "state: what was saved is of another size: cut off, of another network, of other values of symbols, or reserve() "
      "was called on one side alone, expected ";
  CHECK(restore(s, std::span(saved).first(20)) == another_size + "24 bytes where P = 2, found 20 bytes");
  CHECK(restore(s, std::span(saved).first(3)) == another_size + "at least 8 bytes, found 3 bytes");
  // Floats where the symbol's value should be: of a session that has not reserved, or of another network.
  const std::array<float, 6> numbers{1, 2, 3, 4, 5, 6}, negative{1, -2, 3, 4, 5, 6};
  CHECK(restore(s, std::as_bytes(std::span(numbers))) ==
        another_size + "9223372036854775807 bytes where P = 4611686019492741120, found 24 bytes");
  CHECK(
      restore(s, std::as_bytes(std::span(negative))) ==
      "state: what was saved is of another network, or of a session that had not reserved, expected a value of symbol "
      "'P' in front, 0 or more, found -4611686017362034688");
  session plain;
  CHECK(restore(plain, saved) == "session: the symbols have no values yet; call bind()");
  plain.bind({{"P", 2}});
  CHECK(restore(plain, saved) == another_size + "16 bytes where P = 2, found 24 bytes");
  CHECK(restore(plain, std::span(saved).last(16)) == "no error");
  CHECK(plain.state<"past">()[3] == 2);
  smaller.run(x, y);
  smaller.run(x, y);
  CHECK(y == std::array<float, 2>{2, 4});
  CHECK(smaller.state_bytes() == 8 + 16);
  CHECK(restore(s, saved) == "no error");
  s.run(x, y);
  CHECK(y == std::array<float, 2>{3, 6});

  // As the message says of states that have grown to what was reserved.
  const std::string grown = error_of([&] { return smaller.run(x, y), 0; });
  CHECK(
      grown ==
      "symbol 'P': states have grown to what was reserved; to go on, save(), reserve() more and restore(), expected at "
      "most 1, found 2");
  const auto kept = smaller.save();
  smaller.reserve({{"P", 9}});
  CHECK(restore(smaller, kept) == "no error");
  smaller.run(x, y);
  CHECK(y == std::array<float, 2>{3, 6});
}
