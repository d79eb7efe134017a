// SPDX-License-Identifier: MIT
// From recipes and what was chosen for them to kernels: the table of a network's kernels.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/families.hpp"
#include "dnnkit/cpu/kernel_parts.hpp"
#include "dnnkit/cpu/micro/config.hpp"
#include "dnnkit/cpu/optimisation.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Has a family been chosen for each recipe?
template <class Net> struct are_kernels_chosen {
  static constexpr bool value = Net::choices.size() >= Net::plan.recipes.size();
  static_assert(value, "dnnkit: no kernels have been chosen: the pipeline lacks the pass choose_kernels");
};

// The kernel of recipe R of a network: of the family that was chosen.
template <class Net, std::size_t R> constexpr kernel_entry kernel_of_recipe() {
  static_assert(std::is_same_v<typename Net::target, targets::native>,
                "dnnkit: kernels can only be compiled for the target of the compiler's flags");
  if constexpr (are_kernels_chosen<Net>::value) {
    using family = typename Net::families::template at<Net::choices[R].number>;
    constexpr bool has_kernel = requires { typename family::template kernel<Net, R>; };
    static_assert(has_kernel,
                  "dnnkit: a family of kernels has a template kernel<Net, R> (dnnkit/plan/kernel_family.hpp)");
    if constexpr (has_kernel) {
      kernel_entry e = entry_of<typename family::template kernel<Net, R>>();
      e.cycles_an_element = static_cast<float>(Net::choices[R].cost.cycles / kernel_spec(Net::plan, R).elements());
      return e;
    }
  }
  return {};
}

// One entry a recipe, all of them compiled here.
template <class Net> inline constexpr auto kernel_table = []<std::size_t... R>(std::index_sequence<R...>) {
  return std::array<kernel_entry, sizeof...(R)>{kernel_of_recipe<Net, R>()...};
}
(std::make_index_sequence<Net::plan.recipes.size()>{});

// The entries of one part, compiled here.
template <class Net, std::size_t Part>
inline constexpr auto kernel_table_of_part = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<kernel_entry, sizeof...(I)>{kernel_of_recipe<Net, kernel_part<Net, Part>::recipes[I]>()...};
}
(std::make_index_sequence<kernel_part<Net, Part>::recipes.size()>{});

// One entry a recipe, wherever they are compiled.
template <class Net> std::span<const kernel_entry> kernels_of() noexcept {
  if constexpr (kernel_parts<Net>() == 1) {
    return kernel_table<Net>;
  } else {
    static const auto table = []<std::size_t... Part>(std::index_sequence<Part...>) {
      std::array<kernel_entry, Net::plan.recipes.size()> all{};
      const auto place = [&](const auto& recipes, std::span<const kernel_entry> entries) {
        for (std::size_t i = 0; i < recipes.size(); ++i) all[recipes[i]] = entries[i];
      };
      place(kernel_part<Net, 0>::recipes, kernel_table_of_part<Net, 0>);
      (place(kernel_part<Net, Part + 1>::recipes, kernel_part<Net, Part + 1>::entries()), ...);
      return all;
    }
    (std::make_index_sequence<kernel_parts<Net>() - 1>{});
    return table;
  }
}

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
