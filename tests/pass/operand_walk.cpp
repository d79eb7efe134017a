// SPDX-License-Identifier: MIT
// What fusion's check accepts is what recipes can be made of, whatever the layouts, and what it does not is refused in
// words.
#include "dnnkit/pass/operand_walk.hpp"

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/pass/make_plan.hpp"
#include "dnnkit/pass/operand_check.hpp"
#include "dnnkit/pass/plan_fusion.hpp"
#include "dnnkit/pass/verify_schedule.hpp"

namespace dk = dnnkit;
using dk::f32;

namespace {

dk::schedule fused(const dk::graph& g) {
  dk::schedule s;
  s.g = g;
  dk::passes::plan_fusion<dk::passes::profile_rule>::run(s);
  return s;
}

std::string error_of_plan(dk::graph& g, const std::vector<dk::plan::fusion_group>& groups) {
  dk::plan::fusion_plan fusion;
  for (const dk::plan::fusion_group& group : groups) fusion.groups.push_back(group);
  return dk::make_plan(g, fusion, dk::row_major_layouts(g)).error.str();
}

dk::tensor reshaped(dk::tensor t, const dk::shape& s) { return t.owner().apply(dk::op::reshape{s}, {t}); }

// Chains of movement and additions behind Softmax, with operands read through other chains; some values are given out.
dk::graph random_epilogue(std::mt19937& random) {
  dk::builder b;
  const auto number = [&](int below) { return std::uniform_int_distribution(0, below - 1)(random); };
  int outputs = 0;
  const auto moved = [&](dk::tensor t) {
    static const std::vector<dk::shape> shapes{{24}, {4, 6}, {3, 8}, {2, 3, 4}, {2, 12}, {6, 2, 2}};
    for (int i = number(4); i > 0; --i) {
      const auto rank = t.rank();
      if (number(2) == 0 || rank == 1) t = reshaped(t, shapes[static_cast<std::size_t>(number(6))]);
      else if (rank == 2) t = dk::transpose(t, {.perm = {1, 0}});
      else t = number(2) == 0 ? dk::transpose(t, {.perm = {1, 2, 0}}) : dk::transpose(t, {.perm = {0, 2, 1}});
      if (number(6) == 0) b.output("moved" + std::to_string(outputs++), t);
    }
    return t;
  };
  dk::tensor y = dk::softmax(moved(b.input("x", f32, {4, 6})));
  for (int i = 1 + number(3); i > 0; --i) {
    y = moved(y);
    const dk::tensor z = b.input("z" + std::to_string(i), f32, {3, 8});
    y = y + reshaped(moved(number(2) == 0 ? dk::relu(z) : z), y.dims());
  }
  b.output("y", y);
  return b.value();
}

// Each value's axes in any order, with room between them.
dk::vector<dk::plan::buffer_layout> random_layouts(const dk::graph& g, std::mt19937& random) {
  dk::vector<dk::plan::buffer_layout> layouts = dk::row_major_layouts(g);
  for (dk::plan::buffer_layout& l : layouts)
    for (std::size_t i = 0; i < l.order.size(); ++i) {
      std::swap(l.order[i], l.order[i + random() % (l.order.size() - i)]);
      l.after[i] = static_cast<std::uint8_t>(random() % 3);
    }
  return layouts;
}

}  // namespace

TEST_CASE("what the check accepts, recipes are made of, whatever the layouts") {
  const unsigned seed = std::random_device()();
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  int undone = 0;
  for (int i = 0; i < 2000; ++i) {
    dk::schedule s = fused(random_epilogue(random));
    REQUIRE(s.g.error.str() == "");
    for (const dk::plan::fusion_group& group : s.fusion.groups)
      undone += group.anchor != dk::none && group.nodes.size() > 2;
    const dk::vector<dk::plan::buffer_layout> layouts = random_layouts(s.g, random);
    REQUIRE(dk::make_plan(s.g, s.fusion, layouts).error.str() == "");
  }
  CHECK(undone > 100);
}

TEST_CASE("movement that another kernel stores is loaded from there, where no view need undo what the anchor's does") {
  dk::builder b;
  const dk::tensor z = b.input("z", f32, {24});
  const dk::tensor turned = dk::transpose(dk::reshape(z, {4, 6}), {.perm = {1, 0}});
  b.output("turned", turned);
  const dk::tensor same = dk::reshape(dk::transpose(turned, {.perm = {1, 0}}), {24});
  b.output("y", dk::reshape(dk::softmax(b.input("x", f32, {3, 8})), {24}) + same);
  dk::schedule s = fused(b.value());
  dk::passes::make_plan::run(s);
  CHECK(s.g.error.str() == "");
  CHECK(dk::verify(s).str() == "");
}

TEST_CASE("kernels that cannot be made are the plan's error") {
  SUBCASE("no view undoes the movement") {
    dk::builder b;
    const dk::tensor y = dk::reshape(dk::softmax(b.input("x", f32, {3, 8})), {24});
    b.output("y", y + dk::reshape(dk::transpose(b.input("z", f32, {6, 4})), {24}));
    dk::graph g = b.value();
    CHECK(error_of_plan(g, {{{0, 1, 2, 3, 4}, {g.outputs[0]}, 0}}) ==
          "the kernel of Softmax that fusion has planned cannot be made: movement behind the anchor that no view can "
          "undo (the anchor could not store its elements in place)");
  }
  SUBCASE("an output beside the anchor") {
    dk::builder b;
    const dk::tensor x = dk::relu(b.input("x", f32, {4, 6}));
    b.output("x", x);
    b.output("y", dk::softmax(x));
    dk::graph g = b.value();
    CHECK(error_of_plan(g, {{{0, 1}, {g.node_at(0).output, g.node_at(1).output}, 1}}) ==
          "the kernel of Softmax that fusion has planned cannot be made: a value beside the anchor's iteration space "
          "is read elsewhere (the kernel would have to store it)");
  }
  SUBCASE("an operand that no kernel stores") {
    dk::builder b;
    b.output("y", dk::softmax(dk::relu(b.input("x", f32, {4, 6}))));
    dk::graph g = b.value();
    CHECK(error_of_plan(g, {{{1}, {g.outputs[0]}, 1}}) ==
          "the kernel of Softmax that fusion has planned cannot be made: an operand that no kernel stores (it would "
          "have to be stored before this one runs)");
  }
  SUBCASE("a value that is computed again and again") {
    dk::builder b;
    dk::tensor y = b.input("x", f32, {3, 3});
    dk::plan::fusion_group all;
    for (dk::node_id n = 0; n < 48; n += 2) {
      y = dk::transpose(y) + y;
      all.nodes.push_back(n);
      all.nodes.push_back(n + 1);
    }
    b.output("y", y);
    dk::graph g = b.value();
    all.outputs = g.outputs;
    CHECK(error_of_plan(g, {all}) ==
          "the kernel of Add that fusion has planned cannot be made: a value that one kernel would compute again and "
          "again (it is read through several views, each of which computes it; 4 are the most)");
  }
}
