// SPDX-License-Identifier: MIT
// The search of PatDNN's section 2.5.5: a genetic algorithm makes candidates of those that were measured, and what is
// expected of them, learnt from all measurements, says which are worth measuring. It proposes any number at once and
// waits for none, so that one program can measure a candidate of each of a network's kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace dnnkit::tool {

using genome = std::vector<std::int32_t>;

// What is searched. Gene 0 is the family, whose others are: genes that it has not are 0.
struct search_space {
  std::vector<genome> starts;                     // measured first, in this order
  std::vector<std::vector<std::int32_t>> values;  // that each gene may have, rising; of gene 0, that of each start
  // The genome of the same candidate that stands for all that are spelt otherwise; nothing where there is no candidate.
  std::function<std::optional<genome>(const genome&)> standing_for;
};

class genetic_search {
 public:
  // What is expected of candidates before they are measured, in any unit; one number for all where nothing is known.
  using expectation = std::function<double(const genome&)>;

  struct individual {
    genome genes;
    double time = std::numeric_limits<double>::infinity();
  };

  genetic_search(search_space space, std::uint64_t seed) : space_(std::move(space)), random_(seed) {}

  // Up to `most` candidates that were not proposed before: the starts, then the children of what was measured. Fewer
  // where the space has no others, or none was found.
  std::vector<genome> propose(std::size_t most, const expectation& expected) {
    std::vector<genome> chosen;
    while (chosen.size() < most && next_start_ < space_.starts.size())
      if (const genome& start = space_.starts[next_start_++]; seen_.insert(start).second) chosen.push_back(start);
    if (chosen.size() == most || measured_.empty()) return chosen;
    std::vector<std::pair<double, genome>> children;
    for (std::size_t tries = 0; tries < tries_for_each * most; ++tries) {
      const individual& first = parent();
      const std::optional<genome> child = space_.standing_for(child_of(first.genes, parent().genes));
      if (!child || seen_.contains(*child)) continue;
      const auto is_this = [&](const auto& other) { return other.second == *child; };
      if (std::ranges::any_of(children, is_this)) continue;
      // As much more or less than its parent took as is expected of the two.
      children.emplace_back(first.time * expected(*child) / expected(first.genes), *child);
    }
    // One in five is taken whatever is expected of it: what was learnt may be wrong.
    while (chosen.size() < most && !children.empty()) {
      const auto by_time = [](const auto& a, const auto& b) { return a.first < b.first; };
      const auto next = below(5) == 0 ? children.begin() + static_cast<std::ptrdiff_t>(below(children.size()))
                                      : std::min_element(children.begin(), children.end(), by_time);
      seen_.insert(next->second);
      chosen.push_back(std::move(next->second));
      children.erase(next);
    }
    return chosen;
  }

  // Says what a candidate took. Of several measurements of one, the last counts.
  void learn(const genome& g, double time) {
    const auto known = std::ranges::find(measured_, g, &individual::genes);
    if (known != measured_.end()) known->time = time;
    else measured_.push_back({g, time});
  }

  const std::vector<individual>& measured() const { return measured_; }
  // The one that took least time; of equals the first that was measured. @pre something was measured
  const individual& best() const { return *std::ranges::min_element(measured_, {}, &individual::time); }

 private:
  static constexpr std::size_t tries_for_each = 24, parents = 6;
  static constexpr double far_behind = 1.5;

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  // One of the best of a family: half of the time of the best family, else of any that is not far behind, so that one
  // whose first tiles were chosen badly gets its turns. The better of two of them.
  const individual& parent() {
    std::vector<const individual*> all;
    for (const individual& i : measured_) all.push_back(&i);
    std::ranges::stable_sort(all, {}, &individual::time);
    std::vector<std::int32_t> families;
    for (const individual* i : all)
      if (i->time <= far_behind * all[0]->time && std::ranges::find(families, i->genes[0]) == families.end())
        families.push_back(i->genes[0]);
    const std::int32_t family = families[below(2) == 0 ? 0 : below(families.size())];
    std::erase_if(all, [&](const individual* i) { return i->genes[0] != family; });
    const std::size_t n = std::min(parents, all.size());
    return *all[std::min(below(n), below(n))];
  }
  genome child_of(genome child, const genome& other) {
    if (child[0] == other[0])
      for (std::size_t i = 1; i < child.size(); ++i)
        if (below(2) == 0) child[i] = other[i];
    mutate(child);
    if (below(3) == 0) mutate(child);
    return child;
  }
  // Another value for one of its genes: the next one, or any.
  void mutate(genome& g) {
    std::vector<std::size_t> mutable_genes;
    for (std::size_t i = 1; i < g.size(); ++i)
      if (g[i] != 0 && space_.values[i].size() > 1) mutable_genes.push_back(i);
    if (mutable_genes.empty()) return;
    const std::size_t i = mutable_genes[below(mutable_genes.size())];
    const std::vector<std::int32_t>& values = space_.values[i];
    const auto here = static_cast<std::size_t>(std::ranges::lower_bound(values, g[i]) - values.begin());
    std::size_t there = below(values.size());
    if (below(3) != 0) there = below(2) == 0 && here > 0 ? here - 1 : here + 1;
    g[i] = values[std::min(there, values.size() - 1)];
  }

  search_space space_;
  std::mt19937_64 random_;
  std::size_t next_start_ = 0;
  std::set<genome> seen_;
  std::vector<individual> measured_;
};

}  // namespace dnnkit::tool
