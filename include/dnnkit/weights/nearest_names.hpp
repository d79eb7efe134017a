// SPDX-License-Identifier: MIT
// The names most like one that was not found: by how many characters must be inserted, removed or replaced
// (Levenshtein's distance), or because one of the two is the other behind a prefix, as "model.fc.weight" is
// "fc.weight".
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace dnnkit::detail {

// edit_distance(a, b) == edit_distance(b, a), 0 only of equal texts, at most the length of the longer one; most + 1 of
// all that are further apart than `most`.
inline std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t most) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > most) return most + 1;
  std::vector<std::size_t> row(a.size() + 1);  // row[i]: from the first i characters of a to those of b seen so far
  for (std::size_t i = 0; i <= a.size(); ++i) row[i] = i;
  for (std::size_t j = 1; j <= b.size(); ++j) {
    std::size_t diagonal = std::exchange(row[0], j), least = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[i];
      row[i] = std::min({row[i] + 1, row[i - 1] + 1, replaced});
      least = std::min(least, row[i]);
    }
    if (least > most) return most + 1;
  }
  return std::min(row[a.size()], most + 1);
}

// Is `longer` the other name behind a prefix that ends in a dot?
inline bool is_prefixed(std::string_view longer, std::string_view name) {
  return longer.size() > name.size() && longer.ends_with(name) && longer[longer.size() - name.size() - 1] == '.';
}

// How many characters two names of layers have in common at their end, a dot in front: 7 of "conv1.weight" and
// "fc.weight".
inline std::size_t common_ending(std::string_view a, std::string_view b) {
  std::size_t common = 0;
  for (std::size_t n = 1; n <= std::min(a.size(), b.size()) && a[a.size() - n] == b[b.size() - n]; ++n)
    if (a[a.size() - n] == '.') common = n;
  return common;
}

// At most `count` of `names`, the nearest first and in their order among equals; none that is not like `wanted`. What
// makes names alike is what stands before an ending that both have: of that at most a third, or two characters of at
// least four, may be edited.
inline std::vector<std::string_view> nearest_names(std::string_view wanted, std::span<const std::string_view> names,
                                                   std::size_t count) {
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const std::string_view name : names) {
    const bool prefixed = !wanted.empty() && (is_prefixed(name, wanted) || is_prefixed(wanted, name));
    const std::size_t ending = common_ending(wanted, name), length = wanted.size() - ending;
    const std::size_t most = std::max(length / 3, std::min<std::size_t>(length / 2, 2));
    const std::size_t distance = prefixed ? 1 : edit_distance(wanted, name, most);
    if (prefixed || distance <= most) near.emplace_back(distance, name);
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
  if (near.size() > count) near.resize(count);
  std::vector<std::string_view> nearest;
  for (const auto& [distance, name] : near) nearest.push_back(name);
  return nearest;
}

}  // namespace dnnkit::detail
