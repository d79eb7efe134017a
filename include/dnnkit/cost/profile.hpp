// SPDX-License-Identifier: MIT
// The profile database (DNNFusion, section 3.4.3): what yellow cells of the mapping table were measured to take in one
// kernel, beside the time of two. A table for each instruction set that was measured; bench/profile writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/operator/traits.hpp"

namespace dnnkit {

// Which table speaks of a target (cpu_facts): that of the instruction set it was measured on; nothing: there is none,
// and the cost model decides.
enum class measured_profile : std::uint8_t { nothing, avx2, avx512 };

namespace plan {

// In what order the second operator goes over the elements of what the first computes, which is stored as the first
// wants it: channels last behind a convolution or pool, else row-major.
enum class element_order : std::uint8_t {
  along,  // those that lie next to each other follow each other
  across  // they are some elements apart
};
constexpr std::string_view text_of(element_order order) { return order == element_order::along ? "along" : "across"; }

// What is alike: two operators, with what is between them; of a block, the first is the one that the block has its
// mapping type of, its anchor, say.
struct profile_key {
  std::string_view first, second;  // their names
  mapping from{}, through{};       // of the first, and the type furthest from One-to-One between it and the second
  element_order order{};           //
  std::int8_t size = 0;            // size_class_of() the elements that lie between them

  // In the order of the table.
  friend constexpr bool operator<(const profile_key& a, const profile_key& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second != b.second) return a.second < b.second;
    return a.number() < b.number();
  }
  friend constexpr bool operator==(const profile_key&, const profile_key&) = default;

 private:
  constexpr int number() const {
    return ((static_cast<int>(from) * 8 + static_cast<int>(through)) * 2 + static_cast<int>(order)) * 64 + size;
  }
};

// Sizes are alike within a factor of 4: class k has 4^k elements and more.
// @post size_class_of(4 * n) == size_class_of(n) + 1 for n >= 1
constexpr std::int8_t size_class_of(double elements) {
  std::int8_t k = 0;
  for (; elements >= 4; elements /= 4) ++k;
  return k;
}

struct profile_entry {
  profile_key key;
  double ratio = 1;  // the time of one kernel by that of two
};
using profile_table = std::span<const profile_entry>;

// Do keys rise from entry to entry? That is what look-up relies on.
constexpr bool is_sorted(profile_table table) {
  for (std::size_t k = 1; k < table.size(); ++k)
    if (!(table[k - 1].key < table[k].key)) return false;
  return true;
}

// The ratio of a key, by binary search; nothing where it was not measured.
constexpr std::optional<double> find(profile_table table, const profile_key& key) {
  std::size_t first = 0, last = table.size();
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (table[middle].key < key) first = middle + 1;
    else last = middle;
  }
  if (first < table.size() && table[first].key == key) return table[first].ratio;
  return std::nullopt;
}

}  // namespace plan
}  // namespace dnnkit
