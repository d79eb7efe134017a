// SPDX-License-Identifier: MIT
// Measures pairs of operators fused and apart and prints the table of the profile database for the instruction set that
// it is compiled for, a header of the library: bench_profile >include/dnnkit/cost/profile/avx2.hpp
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bench/profile/pairs.hpp"
#include "dnnkit/cost/profiles.hpp"

namespace {

using bench::profile::result;

std::string_view name_of(dnnkit::mapping m) {
  constexpr std::string_view names[] = {"one_to_one", "reorganize", "shuffle", "one_to_many", "many_to_many"};
  return names[static_cast<std::size_t>(m)];
}

// Of results with one key, the one with the median ratio.
std::vector<result> sorted(std::vector<result> all) {
  std::ranges::stable_sort(all, [](const result& a, const result& b) {
    if (a.key == b.key) return a.ratio < b.ratio;
    return a.key < b.key;
  });
  std::vector<result> one_each;
  for (std::size_t first = 0, last; first < all.size(); first = last) {
    for (last = first; last < all.size() && all[last].key == all[first].key;) ++last;
    one_each.push_back(all[first + (last - first) / 2]);
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

}  // namespace

int main() {
  constexpr dnnkit::measured_profile profile = dnnkit::targets::native::facts.profile;
  static_assert(profile != dnnkit::measured_profile::nothing, "there is no table for this instruction set");
  std::vector<result> results;
  bench::profile::measure_products(results);
  bench::profile::measure_convolutions(results);
  bench::profile::measure_rows(results);
  bench::profile::measure_reductions(results);
  bench::profile::measure_prologues(results);
  return print(profile == dnnkit::measured_profile::avx512 ? "avx512" : "avx2", sorted(std::move(results)));
}
