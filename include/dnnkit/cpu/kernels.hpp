// SPDX-License-Identifier: MIT
// From recipes to kernels: the family each recipe belongs to, and the table of a network's kernels.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "dnnkit/cpu/concat_kernel.hpp"
#include "dnnkit/cpu/config.hpp"
#include "dnnkit/cpu/convolution_kernel.hpp"
#include "dnnkit/cpu/kernel_family.hpp"
#include "dnnkit/cpu/kernel_parts.hpp"
#include "dnnkit/cpu/map_kernel.hpp"
#include "dnnkit/cpu/optimisation.hpp"
#include "dnnkit/cpu/planar_kernel.hpp"
#include "dnnkit/cpu/point_kernel.hpp"
#include "dnnkit/cpu/pool_kernel.hpp"
#include "dnnkit/cpu/product_kernel.hpp"
#include "dnnkit/cpu/row_kernel.hpp"
#include "dnnkit/cpu/whole_kernel.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Does a convolution run channels first? As its input is stored; when that is neither way, as its output is.
template <class Net, std::size_t R> constexpr bool runs_planar() {
  using facts = convolution_recipe<Net, R>;
  if (!facts::may_be_planar || facts::stored_planar) return facts::may_be_planar;
  return !facts::stored_channels_last && lane_axis<Net, R>() == facts::access::rank - 1;
}

// The kernel of recipe R of a network.
template <class Net, std::size_t R> constexpr const kernel_entry& kernel_of() {
  static_assert(std::is_same_v<typename Net::target, targets::native>,
                "dnnkit: kernels can only be compiled for the target of the compiler's flags");
  constexpr kernel_family family = family_of(Net::plan.recipes[R].anchor);
  if constexpr (family == kernel_family::map) {
    return map_kernel<Net, R>::entry;
  } else if constexpr (family == kernel_family::row) {
    return row_kernel<Net, R>::entry;
  } else if constexpr (family == kernel_family::whole) {
    return whole_kernel<Net, R>::entry;
  } else if constexpr (family == kernel_family::convolution) {
    if constexpr (!convolution_recipe<Net, R>::supported) return point_kernel<Net, R>::entry;
    else if constexpr (runs_planar<Net, R>()) return planar_kernel<Net, R>::entry;
    else return convolution_kernel<Net, R>::entry;
  } else if constexpr (family == kernel_family::product) {
    if constexpr (product_kernel<Net, R>::supported) return product_kernel<Net, R>::entry;
    else return point_kernel<Net, R>::entry;
  } else if constexpr (family == kernel_family::concat) {
    return concat_kernel<Net, R>::entry;
  } else if constexpr (family == kernel_family::pool) {
    if constexpr (pool_kernel<Net, R>::supported) return pool_kernel<Net, R>::entry;
    else return point_kernel<Net, R>::entry;
  } else {
    return point_kernel<Net, R>::entry;
  }
}

// One entry a recipe, all of them compiled here.
template <class Net> inline constexpr auto kernel_table = []<std::size_t... R>(std::index_sequence<R...>) {
  return std::array<kernel_entry, sizeof...(R)>{kernel_of<Net, R>()...};
}
(std::make_index_sequence<Net::plan.recipes.size()>{});

// The entries of one part, compiled here.
template <class Net, std::size_t Part>
inline constexpr auto kernel_table_of_part = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<kernel_entry, sizeof...(I)>{kernel_of<Net, kernel_part<Net, Part>::recipes[I]>()...};
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
