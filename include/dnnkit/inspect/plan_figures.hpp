// SPDX-License-Identifier: MIT
// The figures of a plan, read off the plan and its log: how many operators and kernels, work, bytes, memory, time. All
// printers that say one of them say these. They are of one run, all branches of an If included, but where they say
// more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "dnnkit/inspect/json_writer.hpp"
#include "dnnkit/inspect/logged_network.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit::detail {

struct plan_figures {
  std::vector<std::string_view> passes_left_out;
  std::optional<graph_totals> built;                 // the graph before any pass
  std::size_t rewritten_operators = 0;               // of the graph that kernels are made of
  std::size_t kernels = 0, setup_kernels = 0;        // of a run; before the first
  std::size_t distinct_kernels = 0;                  // of both
  std::map<std::string_view, std::size_t> families;  // how many kernels of a run each carries out
  dim flops = 0;
  dim bytes_moved = 0;                                    // read and written, weights, inputs and outputs included
  dim intermediates_written = 0, intermediates_read = 0;  // bytes of what is neither of these
  std::optional<std::int64_t> arena_bytes;                // nothing while symbols have no values
  std::optional<double> microseconds;  // predicted, on one core or the device; nothing where no kernels were chosen
};

inline plan_figures figures_of(logged_network& net) {
  const plan_view& plan = net.plan();
  sizes& in_numbers = net.in_numbers();
  plan_figures f;
  for (const decision& d : plan.decisions)
    if (d.verdict == not_run) f.passes_left_out.push_back(d.pass);
  if (!plan.totals.empty()) f.built = plan.totals[0];
  f.rewritten_operators = plan.log_nodes.size();
  f.kernels = plan.steps.size();
  f.setup_kernels = plan.setup_steps.size();
  f.distinct_kernels = plan.recipes.size();
  if (net.is_placed()) f.arena_bytes = net.arena_bytes();
  if (!plan.choices.empty()) f.microseconds = 0;
  for (const logged_network::kernel& k : net.kernels()) {
    const auto add = [&](dim& sum, dim more) { sum = in_numbers.sum(sum, more); };
    add(f.flops, k.runs.flops);
    add(f.bytes_moved, k.log.bytes_read);
    add(f.bytes_moved, k.log.bytes_written);
    add(f.intermediates_written, k.log.intermediates_written);
    add(f.intermediates_read, k.log.intermediates_read);
    const kernel_choice* const choice = net.choice_of(k);
    if (choice == nullptr) continue;
    ++f.families[choice->family];
    *f.microseconds += choice->cost.microseconds;
  }
  return f;
}

// A member whose value is a number, the expression over the symbols that it is, or null.
inline void member(json_writer& json, const sizes& in_numbers, std::string_view name, dim d) {
  json.key(name);
  d = in_numbers.value(d);
  if (d.is_known()) json.value(d.value());
  else if (d.is_unknown()) json.null();
  else json.value(in_numbers.text(d));
}

// The members of an object that says them.
inline void write_figures(json_writer& json, const sizes& in_numbers, const plan_figures& f) {
  const auto number_or_null = [&](std::string_view name, const auto& n) {
    json.key(name);
    if (n) json.value(*n);
    else json.null();
  };
  json.key("passes_left_out");
  json.array([&] {
    for (std::string_view pass : f.passes_left_out) json.value(pass);
  });
  number_or_null("operators", f.built ? std::optional(f.built->operators) : std::nullopt);
  json.member("rewritten_operators", f.rewritten_operators);
  json.member("kernels", f.kernels);
  json.member("setup_kernels", f.setup_kernels);
  json.member("distinct_kernels", f.distinct_kernels);
  json.key("families");
  json.object([&] {
    for (const auto& [family, n] : f.families) json.member(family, n);
  });
  number_or_null("arena_bytes", f.arena_bytes);
  json.key("intermediate_bytes");
  json.object([&] {
    member(json, in_numbers, "written", f.intermediates_written);
    member(json, in_numbers, "read", f.intermediates_read);
  });
  member(json, in_numbers, "intermediate_bytes_as_built", f.built ? f.built->bytes_of_intermediates : dim::unknown());
  number_or_null("predicted_microseconds", f.microseconds);
  member(json, in_numbers, "flops", f.flops);
  member(json, in_numbers, "flops_as_built", f.built ? f.built->flops : dim::unknown());
}

}  // namespace dnnkit::detail
