// SPDX-License-Identifier: MIT
// The kernels of a run that have no vectors but run element by element, those aside whose loops compilers make vectors
// of, and how much of its time they are expected to take.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/core/printable.hpp"
#include "dnnkit/inspect/logged_network.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

// Kernels of the same operators.
struct scalar_kernels {
  std::string operators;  // "Gather, Add"; of one kernel with a name of its own "words: Gather, Add"
  std::size_t count = 0;
  double share = 0;  // of the expected time of a run, 0 to 1
};

namespace detail {

constexpr bool runs_by_element(const kernel_choice& c) { return c.tile.lanes <= 1 && !c.left_to_compiler; }

inline std::vector<scalar_kernels> scalar_kernels_of(const logged_network& net) {
  struct group {
    std::string kinds;
    scalar_kernels kernels;
  };
  std::vector<group> groups;
  double all = 0;
  for (const logged_network::kernel& k : net.kernels()) {
    const kernel_choice* const choice = net.choice_of(k);
    if (choice == nullptr) continue;
    all += choice->cost.microseconds;
    if (!runs_by_element(*choice)) continue;
    std::string kinds;
    for (const node_id n : net.operators_of(k)) (kinds += kinds.empty() ? "" : ", ") += net.node_at(n).op.name;
    const std::string_view name = net.plan().text_of(k.runs.name);
    const bool has_name = !name.empty() && !kinds.starts_with(name);
    const std::string named = has_name ? fmt::format("{}: {}", printable(name), kinds) : kinds;
    auto same = std::ranges::find(groups, kinds, &group::kinds);
    if (same == groups.end()) same = groups.insert(groups.end(), {kinds, {named, 0, 0}});
    else same->kernels.operators = kinds;
    ++same->kernels.count;
    same->kernels.share += choice->cost.microseconds;
  }
  std::vector<scalar_kernels> list;
  for (group& g : groups) {
    if (all > 0) g.kernels.share /= all;
    list.push_back(std::move(g.kernels));
  }
  std::ranges::stable_sort(list, std::greater{}, &scalar_kernels::share);
  return list;
}

}  // namespace detail

// Of a plan with its log, those that take longest first.
[[nodiscard]] inline std::vector<scalar_kernels> scalar_kernels_of(const plan::plan_view& plan) {
  return detail::scalar_kernels_of(detail::logged_network(plan, "scalar_kernels_of"));
}

[[nodiscard]] inline double share_of(const std::vector<scalar_kernels>& list) {
  double share = 0;
  for (const scalar_kernels& k : list) share += k.share;
  return share;
}

// A share of the time in per cent: one digit behind the point, or as many as show that it is not 0.
[[nodiscard]] inline std::string in_per_cent(double share) {
  return 0 < share && share < 0.0005 ? fmt::format("{:.1g} %", 100 * share) : fmt::format("{:.1f} %", 100 * share);
}

// "2 kernels run element by element, 52.9 % of the expected time:" and a line for each kind; empty when there is none.
[[nodiscard]] inline std::string describe(const std::vector<scalar_kernels>& list) {
  if (list.empty()) return {};
  std::size_t count = 0;
  for (const scalar_kernels& k : list) count += k.count;
  std::string text = fmt::format("{} kernel{} element by element, {} of the expected time:\n", count,
                                 count == 1 ? " runs" : "s run", in_per_cent(share_of(list)));
  for (const scalar_kernels& k : list)
    fmt::format_to(std::back_inserter(text), "  {:>7}  {}{}\n", in_per_cent(k.share),
                   k.count == 1 ? "" : fmt::format("{} x ", k.count), k.operators);
  return text;
}

}  // namespace dnnkit
