// SPDX-License-Identifier: MIT
// The kernels of a network dealt out to several units of a program, which compilers work on at once.
//
// A model with a member `static constexpr std::size_t kernel_parts = 3` is compiled in as many parts. Part 0 is the
// session, wherever that is used, which then has no kernels to compile and can do with less optimisation; each other
// part takes a unit of its own:
//   #include <dnnkit/cpu/kernel_unit.hpp>
//   template struct dnnkit::cpu::kernel_part<dnnkit::compile<my_model>, 1>;
// With a member `static constexpr std::size_t first_kernel_part = 0` part 0 has its share of the kernels, too.
// dnnkit_kernel_units() (cmake/dnnkitOnnx.cmake) and `dnnkit build` write those units. One whose model's header has no
// sessions may define DNNKIT_ONLY_KERNELS first, and is compiled without the headers of sessions (graph.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>

#include "dnnkit/cost/target.hpp"
#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::cpu {

// About how long the compiler takes for a stage of a kernel, in tenths of a second (g++ 12 -O3), by its anchor.
constexpr std::size_t compile_cost(const operator_tag& anchor) {
  if (anchor.id == id_of<op::conv> || anchor.id == id_of<op::matmul> || anchor.id == id_of<op::conv_integer> ||
      anchor.id == id_of<op::matmul_integer>)
    return 4;
  if (anchor.id == id_of<op::lstm> || anchor.id == id_of<op::gru> || anchor.id == id_of<op::rnn> ||
      anchor.id == id_of<op::dynamic_quantize_lstm>)
    return 8;
  return anchor.kind == form::row || anchor.id == id_of<op::max_pool> || anchor.id == id_of<op::average_pool> ? 2 : 1;
}
// For a kernel, and for all kernels of a plan.
constexpr std::size_t compile_cost(const plan_view& plan, const recipe& r) {
  std::size_t cost = 0;
  for (std::size_t i = 0; i < plan_view::stages_of(r); ++i) cost += compile_cost(plan.stage_of(r, i).anchor);
  return cost;
}
constexpr std::size_t compile_cost(const plan_view& plan) {
  std::size_t cost = 0;
  for (const recipe& r : plan.recipes) cost += compile_cost(plan, r);
  return cost;
}

// By how much it takes longer for a session and a program around it than for a unit of kernels.
inline constexpr std::size_t compile_cost_of_session = 90;

// The part of each kernel, by what they cost, out of `first` to `parts` - 1, the first of which costs so much already:
// each of the dearest in turn goes to the part with the least to do.
// @pre first < parts
// @post first <= result[r] < parts
template <std::size_t Kernels>
constexpr std::array<std::size_t, Kernels> deal_kernels(const std::array<std::size_t, Kernels>& costs,
                                                        std::size_t first, std::size_t parts,
                                                        std::size_t cost_of_first = 0) {
  std::array<std::size_t, Kernels> part{};
  std::array<std::size_t, Kernels + 1> load{cost_of_first};  // more parts than kernels get nothing
  const std::size_t used = std::min(parts - first, Kernels);
  std::size_t cost = 0;
  for (std::size_t c : costs) cost = std::max(cost, c);
  for (; cost > 0; --cost)
    for (std::size_t r = 0; r < Kernels; ++r) {
      if (costs[r] != cost) continue;
      std::size_t least = 0;
      for (std::size_t p = 1; p < used; ++p)
        if (load[p] < load[least]) least = p;
      load[least] += cost;
      part[r] = first + least;
    }
  return part;
}

template <class Net> constexpr std::size_t kernel_parts() {
  if constexpr (requires { Net::model::kernel_parts; }) return Net::model::kernel_parts;
  else return 1;
}
// Is Net one of several versions of its model (cpu/kernel_version.hpp)? Its part 0 has no session.
template <class Net>
concept is_version = requires {
  typename Net::model::target;
}
&&!std::is_same_v<typename Net::model::target, typename Net::target>;

// The first part that has kernels.
template <class Net> constexpr std::size_t first_kernel_part() {
  if constexpr (kernel_parts<Net>() == 1 || is_version<Net>) return 0;
  else if constexpr (requires { Net::model::first_kernel_part; }) return Net::model::first_kernel_part;
  else return 1;
}

template <class Net> constexpr std::array<std::size_t, Net::plan.recipes.size()> deal_recipes() {
  std::array<std::size_t, Net::plan.recipes.size()> costs{};
  for (std::size_t r = 0; r < costs.size(); ++r) costs[r] = compile_cost(Net::plan, Net::plan.recipes[r]);
  constexpr std::size_t first = first_kernel_part<Net>(), parts = kernel_parts<Net>();
  static_assert(first < parts, "dnnkit: the model's member first_kernel_part says that no part has kernels");
  return deal_kernels(costs, first, parts, first == 0 && !is_version<Net> ? compile_cost_of_session : 0);
}
template <class Net> inline constexpr auto part_of_recipe = deal_recipes<Net>();

template <class Net, std::size_t Part> struct kernel_part {
  static_assert(Part < kernel_parts<Net>(), "dnnkit: the model's member kernel_parts says that there is no such part");

  // The recipes of this part, in order.
  static constexpr auto recipes = [] {
    constexpr std::size_t size =
        static_cast<std::size_t>(std::count(part_of_recipe<Net>.begin(), part_of_recipe<Net>.end(), Part));
    std::array<std::size_t, size> of_part{};
    std::size_t n = 0;
    for (std::size_t r = 0; r < part_of_recipe<Net>.size(); ++r)
      if (part_of_recipe<Net>[r] == Part) of_part[n++] = r;
    return of_part;
  }();

  // Their kernels, compiled in the unit that has the explicit instantiation (cpu/kernel_unit.hpp).
  static std::span<const kernel_entry> entries() noexcept;
};

}  // namespace dnnkit::cpu
