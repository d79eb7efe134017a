// SPDX-License-Identifier: MIT
// The kernels of a network dealt out to several units of a program, which compilers work on at once.
//
// A model with a member `static constexpr std::size_t kernel_parts = 3` has its kernels compiled in as many parts. Part
// 0 comes with the session, wherever that is used; each other part takes a unit of its own:
//   #include <dnnkit/cpu/kernel_unit.hpp>
//   template struct dnnkit::cpu::kernel_part<dnnkit::compile<my_model>, 1>;
// dnnkit_kernel_units() (cmake/dnnkitOnnx.cmake) and `dnnkit build` write those units.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "dnnkit/cost/target.hpp"
#include "dnnkit/cpu/kernel.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::cpu {

// About how long the compiler takes for a kernel, in tenths of a second (g++ 12 -O3), by its anchor.
constexpr std::size_t compile_cost(const operator_tag& anchor) {
  if (anchor.id == id_of<op::conv> || anchor.id == id_of<op::matmul>) return 4;
  return anchor.kind == form::row || anchor.id == id_of<op::max_pool> || anchor.id == id_of<op::average_pool> ? 2 : 1;
}
inline constexpr std::size_t most_compile_cost = 4;
// What the unit of part 0 has to compile besides kernels, more than the others: a session and the program around it.
inline constexpr std::size_t compile_cost_of_session = 80;

// The part of each recipe: each of the dearest in turn goes to the part with the least to do.
// @post result[r] < parts
template <std::size_t Recipes>
constexpr std::array<std::size_t, Recipes> deal_recipes(std::span<const recipe> recipes, std::size_t parts) {
  std::array<std::size_t, Recipes> part{};
  std::array<std::size_t, Recipes + 1> load{};  // more parts than recipes get nothing
  parts = std::min(parts, Recipes + 1);
  load[0] = compile_cost_of_session;
  for (std::size_t cost = most_compile_cost; cost > 0; --cost)
    for (std::size_t r = 0; r < Recipes; ++r) {
      if (compile_cost(recipes[r].anchor) != cost) continue;
      for (std::size_t p = 0; p < parts; ++p)
        if (load[p] < load[part[r]]) part[r] = p;
      load[part[r]] += cost;
    }
  return part;
}

template <class Net> constexpr std::size_t kernel_parts() {
  if constexpr (requires { Net::model::kernel_parts; }) return Net::model::kernel_parts;
  else return 1;
}
template <class Net>
inline constexpr auto part_of_recipe = deal_recipes<Net::plan.recipes.size()>(Net::plan.recipes, kernel_parts<Net>());

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
