// SPDX-License-Identifier: MIT
// Lists of commands: what is carried out, in which order, under which conditions.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/runtime/command.hpp"

namespace dk = dnnkit;
using dk::detail::begin_step;
using dk::detail::end_step;
using dk::detail::skip_unless;

namespace {

// Two kinds of work of a made-up target, which writes down what it does.
struct small {
  int number;
};
struct large {
  int number;
};
struct writer {
  std::string& text;
  void operator()(const small& w) const { text += "s" + std::to_string(w.number) + " "; }
  void operator()(const large& w) const { text += "l" + std::to_string(w.number) + " "; }
};
using list = dk::detail::command_list<small, large>;
using commands = std::vector<dk::detail::command<small, large>>;

struct witness {
  std::string& text;
  std::size_t last = 1000;
  bool before(const dk::plan_view&, std::size_t step) {
    text += "(" + std::to_string(step) + " ";
    return step < last;
  }
  void after(const dk::plan_view&, std::size_t) { text += ") "; }
};

std::string carried_out(const commands& c, std::size_t last = 1000) {
  std::string text;
  witness w{text, last};
  CHECK(dk::detail::carry_out(c, dk::plan_view(), w, writer{text}) == (last == 1000));
  return text;
}

struct silent {
  void operator()(const small&) const noexcept {}
  void operator()(const large&) const noexcept {}
};
static_assert(noexcept(dk::detail::carry_out(commands(), dk::plan_view(), std::declval<dk::no_observer&>(), silent())));
static_assert(!noexcept(dk::detail::carry_out(commands(), dk::plan_view(), std::declval<witness&>(), silent())));

}  // namespace

TEST_CASE("commands are carried out in order, and an observer is told of steps and can stop between them") {
  list l;
  l.add(small{7});
  for (std::size_t i = 0; i < 2; ++i) {
    l.add(begin_step{i});
    l.add(large{static_cast<int>(i)});
    l.add(small{static_cast<int>(i)});
    l.add(end_step{i});
  }
  const commands c = l.finished();
  CHECK(carried_out(c) == "s7 (0 l0 s0 ) (1 l1 s1 ) ");
  CHECK(carried_out(c, 1) == "s7 (0 l0 s0 ) (1 ");
}

TEST_CASE("steps that follow each other under the same conditions share one question") {
  std::array<std::byte, 2> values{};
  const std::array<std::byte*, 2> slots{&values[0], &values[1]};
  const auto is = [&](std::size_t i, bool needed) { return skip_unless{&slots[i], needed}; };
  list l;
  for (const int step : {0, 1, 2}) {
    l.enter(std::array{is(0, true)});
    l.add(small{step});
  }
  l.enter(std::array{is(0, true), is(1, false)});
  l.add(small{3});
  l.enter(std::array{is(1, false)});
  l.add(small{4});
  const commands c = l.finished();
  CHECK(c.size() == 5 + 3);
  CHECK(carried_out(c) == "s4 ");
  values[0] = std::byte{1};
  CHECK(carried_out(c) == "s0 s1 s2 s3 s4 ");
  values[1] = std::byte{1};
  CHECK(carried_out(c) == "s0 s1 s2 ");
}

TEST_CASE("whatever the conditions, a step runs exactly where all of its own hold") {
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::array<std::byte, 3> values{};
    // As in a session the pointers are not known when the list is made.
    std::array<std::byte*, 3> slots{};
    std::vector<std::vector<skip_unless>> conditions(random() % 12);
    list l;
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      if (i > 0 && random() % 2 == 0) conditions[i] = conditions[i - 1];
      if (random() % 2 == 0)
        conditions[i].erase(conditions[i].end() - static_cast<std::ptrdiff_t>(random() % (conditions[i].size() + 1)),
                            conditions[i].end());
      while (random() % 3 == 0) conditions[i].push_back({&slots[random() % 3], random() % 2 == 0});
      l.enter(conditions[i]);
      l.add(begin_step{i});
      l.add(end_step{i});
    }
    const commands c = l.finished();
    for (std::size_t i = 0; i < 3; ++i) slots[i] = &values[i];
    for (unsigned bits = 0; bits < 8; ++bits) {
      for (std::size_t i = 0; i < 3; ++i) values[i] = std::byte{static_cast<unsigned char>(bits >> i & 1U)};
      std::string expected;
      for (std::size_t i = 0; i < conditions.size(); ++i) {
        bool holds = true;
        for (const skip_unless& s : conditions[i]) holds = holds && (**s.condition != std::byte{0}) == s.needed;
        if (holds) expected += "(" + std::to_string(i) + " ) ";
      }
      CHECK(carried_out(c) == expected);
    }
  }
}
