// SPDX-License-Identifier: MIT
// What differs between two compiled networks, such as one model with a rule of the user's and without: kernels, fused
// edges, layouts, memory, work. Read off the logs of both; operators are the same where kind and name are.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/inspect/logged_network.hpp"
#include "dnnkit/inspect/names.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

struct plan_differences {
  // Of something that both have, or one of them: what it is, and what it is in the first and in the second; "-" where
  // it is not there.
  struct difference {
    std::string of, first, second;
    friend bool operator==(const difference&, const difference&) = default;
  };
  std::vector<difference> kernels;  // by their operators: how many compute just these
  std::vector<difference> fusion;   // edges between operators
  std::vector<difference> layouts;  // of stored values, by the operator that computes them
  std::vector<difference> totals;   // kernels, arena, FLOPs

  bool empty() const { return kernels.empty() && fusion.empty() && layouts.empty() && totals.empty(); }
  // A paragraph for each of the lists that is not empty: "what: first | second" a line.
  std::string str() const {
    std::string text;
    for (const auto& [title, list] :
         {std::pair("kernels", &kernels), {"fusion", &fusion}, {"layouts", &layouts}, {"totals", &totals}}) {
      if (list->empty()) continue;
      fmt::format_to(std::back_inserter(text), "{}\n", title);
      for (const difference& d : *list)
        fmt::format_to(std::back_inserter(text), "  {}: {} | {}\n", d.of, d.first, d.second);
    }
    return text;
  }
};

namespace detail {

// One of the two networks as tables by the names of operators.
class comparable_network {
 public:
  using table = std::map<std::string, std::string>;
  using edge = std::pair<std::string, std::string>;

  comparable_network(const plan_view& plan, std::span<const binding> bindings) : net_(plan, "compare_plans", bindings) {
    std::map<std::string, std::size_t> seen;
    for (const logged_node& n : plan.log_nodes) {
      std::string name = describe(plan, n);
      if (const std::size_t number = ++seen[name]; number > 1) name += fmt::format(" #{}", number);
      names_.push_back(std::move(name));
    }
  }

  table kernels() const {
    std::map<std::string, std::size_t> count;
    for (const auto& list : {net_.kernels(), net_.setup_kernels()})
      for (const logged_network::kernel& k : list) {
        std::vector<std::string_view> operators;
        for (node_id n : net_.operators_of(k)) operators.push_back(name_of_node(n));
        ++count[fmt::format("{}{}", k.setup ? "setup: " : "", fmt::join(operators, ", "))];
      }
    table result;
    for (const auto& [operators, n] : count) result.emplace(operators, fmt::format("{}", n));
    return result;
  }

  // Of each edge that something was decided about, that: fused if it was at last, else the first refusal.
  std::map<edge, const decision*> edges() const {
    std::map<edge, const decision*> result;
    for (const decision& d : net_.plan().decisions) {
      if (d.first == none || d.second == none || d.value != none) continue;
      const decision*& known = result[edge(name_of_node(d.first), name_of_node(d.second))];
      if (known == nullptr || d.applied || (!known->asked && !known->applied)) known = &d;
    }
    return result;
  }

  table layouts() const {
    table result;
    for (const logged_value& v : net_.plan().log_values)
      if (v.buffer != none && v.producer != none)
        result.emplace(name_of_node(v.producer), describe(net_.buffer_at(v.buffer).layout));
    return result;
  }

  table totals() {
    dim flops = 0;
    for (const step& s : net_.plan().steps) flops = net_.in_numbers().sum(flops, s.flops);
    return {{"kernels", fmt::format("{}", net_.plan().steps.size())},
            {"kernels to instantiate", fmt::format("{}", net_.plan().recipes.size())},
            {"arena", net_.is_placed() ? grouped(net_.arena_bytes()) + " bytes" : "planned when symbols have values"},
            {"FLOPs", net_.in_numbers().text(flops)}};
  }

 private:
  const std::string& name_of_node(node_id n) const { return names_[static_cast<std::size_t>(n)]; }

  logged_network net_;
  std::vector<std::string> names_;  // of nodes; a number behind those of a name that has been
};

// What the tables have for different keys, and for equal keys differently.
inline std::vector<plan_differences::difference> differences(const comparable_network::table& first,
                                                             const comparable_network::table& second) {
  std::vector<plan_differences::difference> list;
  const auto in = [](const comparable_network::table& t, const std::string& key) {
    const auto found = t.find(key);
    return found == t.end() ? std::string("-") : found->second;
  };
  for (const auto& [key, value] : first)
    if (const std::string other = in(second, key); other != value) list.push_back({key, value, other});
  for (const auto& [key, value] : second)
    if (!first.contains(key)) list.push_back({key, "-", value});
  return list;
}

// Edges that are fused in one of them alone.
inline std::vector<plan_differences::difference> differences(
    const std::map<comparable_network::edge, const decision*>& first,
    const std::map<comparable_network::edge, const decision*>& second) {
  std::vector<plan_differences::difference> list;
  const auto in = [](const auto& edges, const comparable_network::edge& e) {
    const auto found = edges.find(e);
    return found == edges.end() ? nullptr : found->second;
  };
  const auto words = [](const decision* d) {
    return d == nullptr
               ? std::string("-")
               : fmt::format("{}, {}{}", d->verdict, d->reason, d->rule.empty() ? "" : fmt::format(" '{}'", d->rule));
  };
  const auto compare = [&](const comparable_network::edge& e, const decision* a, const decision* b) {
    if ((a != nullptr && a->applied) != (b != nullptr && b->applied))
      list.push_back({fmt::format("{} -> {}", e.first, e.second), words(a), words(b)});
  };
  for (const auto& [e, d] : first) compare(e, d, in(second, e));
  for (const auto& [e, d] : second)
    if (!first.contains(e)) compare(e, nullptr, d);
  return list;
}

}  // namespace detail

// What differs between two plans made with logs. FLOPs are expressions over the symbols, and nothing is said of memory
// that is planned when these have values, unless they are given, the same to both. Throws dnnkit::error when a plan has
// no log, and for a symbol that one of them does not have or that is left out.
[[nodiscard]] inline plan_differences compare_plans(const plan_view& first, const plan_view& second,
                                                    std::span<const binding> bindings = {}) {
  detail::comparable_network a(first, bindings), b(second, bindings);
  return {detail::differences(a.kernels(), b.kernels()), detail::differences(a.edges(), b.edges()),
          detail::differences(a.layouts(), b.layouts()), detail::differences(a.totals(), b.totals())};
}

// The same of A and B, each a dk::compile<...>: compare_plans<A, B>(), compare_plans<A, B>({{"N", 32}}).
template <class A, class B> [[nodiscard]] plan_differences compare_plans(std::initializer_list<binding> bindings = {}) {
  return compare_plans(A::logged_plan(), B::logged_plan(), {bindings.begin(), bindings.size()});
}

}  // namespace dnnkit
