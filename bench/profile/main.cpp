// SPDX-License-Identifier: MIT
// Measures pairs of operators fused and apart and prints the table of the profile database for the instruction set that
// it is compiled for, a header of the library: bench_profile >include/dnnkit/cost/profile/avx2.hpp
// bench_profile differences: of the table that there is, the entries by which fusion decides otherwise than by the cost
// model, as a Markdown table.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/profile/pairs.hpp"
#include "dnnkit/cost/profiles.hpp"

namespace {

using bench::profile::result;

std::string_view name_of(dnnkit::mapping m) {
  constexpr std::string_view names[] = {"one_to_one", "reorganize", "shuffle", "one_to_many", "many_to_many"};
  return names[static_cast<std::size_t>(m)];
}

// In the order of the table: of results with one key the median; none where they do not agree on what takes less time,
// since the cost model may decide that as well.
std::vector<result> sorted(std::vector<result> all) {
  std::ranges::stable_sort(all, [](const result& a, const result& b) {
    if (a.key == b.key) return a.ratio < b.ratio;
    return a.key < b.key;
  });
  const auto is_one_kernel = [](const result& r) {
    return dnnkit::plan::edge_answer{dnnkit::plan::answered_by::measurement, r.ratio, 1}.pays();
  };
  std::vector<result> one_each;
  for (std::size_t first = 0, last; first < all.size(); first = last) {
    for (last = first; last < all.size() && all[last].key == all[first].key;) ++last;
    if (is_one_kernel(all[first]) == is_one_kernel(all[last - 1])) one_each.push_back(all[first + (last - first) / 2]);
  }
  return one_each;
}

int print(std::string_view set, const std::vector<result>& results) {
  std::printf(R"(// SPDX-License-Identifier: MIT
// Written by bench/profile/run.sh, which measured it.
#pragma once

#include "dnnkit/cost/profile.hpp"

namespace dnnkit::plan::profiles {

namespace detail {
using enum mapping;
using enum element_order;
inline constexpr profile_entry measured_on_%s[] = {
)",
              std::string(set).c_str());
  for (const result& r : results)
    std::printf("    {{\"%s\", \"%s\", %s, %s, %s, %d}, %.3f},\n", std::string(r.key.first).c_str(),
                std::string(r.key.second).c_str(), std::string(name_of(r.key.from)).c_str(),
                std::string(name_of(r.key.through)).c_str(), std::string(text_of(r.key.order)).c_str(), r.key.size,
                r.ratio);
  std::printf(R"(};
}  // namespace detail

inline constexpr profile_table %s = detail::measured_on_%s;

}  // namespace dnnkit::plan::profiles
)",
              std::string(set).c_str(), std::string(set).c_str());
  return 0;
}

void measure(std::vector<result>& results) {
  bench::profile::measure_products(results);
  bench::profile::measure_convolutions(results);
  bench::profile::measure_rows(results);
  bench::profile::measure_reductions(results);
  bench::profile::measure_prologues(results);
}

// `gained`: how much less time what is decided takes than what the cost model would have decided.
int print_differences(const std::vector<result>& results) {
  std::printf(
      "| first | second | types | elements | 4^k of them, k | measured: one kernel by two | cost model: one, two "
      "| decided | gained |\n|---|---|---|---|---:|---:|---:|---|---:|\n");
  std::size_t differ = 0;
  for (const result& r : results) {
    const dnnkit::plan::edge_answer measured{dnnkit::plan::answered_by::measurement, 100 * r.ratio, 100};
    if (measured.pays() == r.model.pays()) continue;
    ++differ;
    const auto text = [](std::string_view s) { return std::string(s); };
    const double gained = measured.pays() ? 1 - r.ratio : 1 - 1 / r.ratio;
    std::printf("| %s | %s | %s, %s | %s | %d | %.2f | %.0f, %.0f | %s | %.0f %% |\n", text(r.key.first).c_str(),
                text(r.key.second).c_str(), text(name_of(r.key.from)).c_str(), text(name_of(r.key.through)).c_str(),
                text(text_of(r.key.order)).c_str(), r.key.size, r.ratio, r.model.fused, r.model.apart,
                measured.pays() ? "one" : "two", 100 * gained);
  }
  std::printf("\n%zu of %zu entries\n", differ, results.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr dnnkit::measured_profile profile = dnnkit::targets::native::facts.profile;
  static_assert(profile != dnnkit::measured_profile::nothing, "there is no table for this instruction set");
  std::vector<result> results;
  if (argc > 1 && std::string_view(argv[1]) == "differences") {
    bench::profile::is_measuring = false;
    measure(results);
    return print_differences(sorted(std::move(results)));
  }
  std::vector<std::vector<char>> between;  // so that networks lie elsewhere in each round
  for (std::size_t round = 0; round < 3; ++round) {
    measure(results);
    between.emplace_back(4160 * (round + 1));
  }
  return print(profile == dnnkit::measured_profile::avx512 ? "avx512" : "avx2", sorted(std::move(results)));
}
