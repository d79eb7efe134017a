// SPDX-License-Identifier: MIT
// What kernels were measured to take, and in which tiles (PatDNN, section 2.5.5): tables that `dnnkit tune` writes, and
// that the cost model believes where it would estimate. A model says its own in a member:
//   static constexpr dk::tuned_table tuned = dk::tuned::zen4;  // of dnnkit/cost/tuned/zen4.hpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "dnnkit/core/text.hpp"

namespace dnnkit {

// What may be said of a kernel, or of one of its stages, from outside; of what is 0, its family decides. Families
// answer with what their kernel has of it (kernel_choice::genes), 0 for what it does not have.
struct kernel_genes {
  std::int32_t vectors = 0;    // of a register tile, at the most
  std::int32_t rows = 0;       // of a register tile, at the most
  std::int32_t block = 0;      // rows of a product, or tiles of Winograd's, that all panels of weights pass at once
  std::int32_t depth = 0;      // steps of a reduction that a register tile takes in one go
  std::int32_t outputs = 0;    // of a tile of Winograd's, along an axis
  std::int32_t positions = 0;  // of a tile of stages; that of the last one

  friend constexpr bool operator==(const kernel_genes&, const kernel_genes&) = default;
};

struct named_gene {
  std::string_view name;
  std::int32_t kernel_genes::*value;
};
inline constexpr std::array all_genes{
    named_gene{"vectors", &kernel_genes::vectors}, named_gene{"rows", &kernel_genes::rows},
    named_gene{"block", &kernel_genes::block},     named_gene{"depth", &kernel_genes::depth},
    named_gene{"outputs", &kernel_genes::outputs}, named_gene{"positions", &kernel_genes::positions}};

// Does a kernel that has `given` have all that was asked for?
constexpr bool grants(const kernel_genes& given, const kernel_genes& asked) {
  for (const named_gene& g : all_genes)
    if (asked.*g.value != 0 && asked.*g.value != given.*g.value) return false;
  return true;
}

// A kernel of one family that was measured.
struct tuned_kernel {
  static constexpr std::size_t most_stages = 4;

  std::uint64_t key = 0;  // plan/kernel_key.hpp
  std::string_view family;
  double microseconds = 0;               // 0: not measured; the kernel is to be of this family all the same
  kernel_genes genes[most_stages] = {};  // of each stage

  constexpr bool is_forced() const { return microseconds == 0; }
  // In the order of a table.
  friend constexpr bool operator<(const tuned_kernel& a, const tuned_kernel& b) {
    return a.key != b.key ? a.key < b.key : a.family < b.family;
  }
};
using tuned_table = std::span<const tuned_kernel>;

namespace detail {
constexpr std::string_view fault_of(const tuned_kernel& k) {
  if (k.family.empty()) return "names no family";
  if (!(k.microseconds >= 0 && k.microseconds <= std::numeric_limits<double>::max()))
    return "was measured to take no number of microseconds";
  for (const kernel_genes& of_stage : k.genes)
    for (const named_gene& g : all_genes)
      if (of_stage.*g.value < 0) return "has a negative number of vectors, rows or the like";
  return {};
}
}  // namespace detail

// What is wrong with a table, on which look-up relies; empty when nothing is.
constexpr text fault_of(tuned_table table) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::string_view fault = detail::fault_of(table[i]);
    if (fault.empty() && i > 0 && !(table[i - 1] < table[i])) fault = "does not come behind the one before it";
    if (fault.empty()) continue;
    return text("the table of tuned kernels is wrong: entry ")
           << i << ", of family '" << table[i].family << "', " << fault;
  }
  return {};
}

// The entries of a key, by binary search.
constexpr tuned_table find(tuned_table table, std::uint64_t key) {
  const auto first_from = [&](std::uint64_t least) {
    std::size_t first = 0, last = table.size();
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      if (table[middle].key < least) first = middle + 1;
      else last = middle;
    }
    return first;
  };
  const std::size_t first = first_from(key);
  std::size_t behind = first;
  while (behind < table.size() && table[behind].key == key) ++behind;
  return table.subspan(first, behind - first);
}

// The table that a model says; none where it says none.
template <class Model> constexpr tuned_table tuned_of() {
  if constexpr (requires { tuned_table{Model::tuned}; }) return Model::tuned;
  else return {};
}

}  // namespace dnnkit
