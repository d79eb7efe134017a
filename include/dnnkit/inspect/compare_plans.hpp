// SPDX-License-Identifier: MIT
// Two compiled networks beside each other, such as one model with a pass or a rule of the user's and without:
// operators, kernels, work, bytes, memory and time of both, and what differs: kernels, fused edges, layouts. Read off
// the logs of both. Operators are the same where kind and name are: the name that the model gives them, or a number by
// their place in it (graph/name_apart.hpp); of several that a pass made of one, the place among these.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/inspect/json_writer.hpp"
#include "dnnkit/inspect/logged_network.hpp"
#include "dnnkit/inspect/names.hpp"
#include "dnnkit/inspect/plan_figures.hpp"
#include "dnnkit/plan/plan.hpp"

namespace dnnkit {

struct plan_differences {
  // Of something that both have, or one of them: what it is, and what it is in the first and in the second; "-" where
  // it is not there.
  struct difference {
    std::string of, first, second;
    friend bool operator==(const difference&, const difference&) = default;
    bool is_none() const { return first == second; }
  };
  std::vector<difference> totals;    // the figures of both, those that are equal, too
  std::vector<difference> families;  // kernels of a run by what carries them out, equal numbers, too
  std::vector<difference> kernels;   // by their operators: how many compute just these
  std::vector<difference> fusion;    // edges between operators
  std::vector<difference> layouts;   // of stored values, by the operator that computes them

  bool empty() const {
    const auto all_equal = [](const std::vector<difference>& list) {
      return std::all_of(list.begin(), list.end(), [](const difference& d) { return d.is_none(); });
    };
    return all_equal(totals) && all_equal(families) && kernels.empty() && fusion.empty() && layouts.empty();
  }
  // A table of the totals and families, then a paragraph for each of the other lists that is not empty:
  // "what: first | second" a line.
  std::string str() const {
    std::string text;
    const auto row = [&](std::string_view of, std::string_view first, std::string_view second) {
      fmt::format_to(std::back_inserter(text), "{:<31} {:<31} {}\n", of, first, second);
    };
    row("totals", "first", "second");
    for (const difference& d : totals) row(d.of, d.first, d.second);
    for (const difference& d : families) row("kernels of " + d.of, d.first, d.second);
    for (const auto& [title, list] : {std::pair("kernels", &kernels), {"fusion", &fusion}, {"layouts", &layouts}}) {
      if (list->empty()) continue;
      fmt::format_to(std::back_inserter(text), "\n{}\n", title);
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
      if (const std::size_t number = ++seen[name]; number > 1) name += fmt::format(" ({})", number);
      names_.push_back(std::move(name));
    }
    figures_ = figures_of(net_);
  }

  table kernels() const {
    std::map<std::string, std::size_t> count;
    for (const auto& list : {net_.kernels(), net_.setup_kernels()})
      for (const logged_network::kernel& k : list) {
        std::vector<std::string> operators;
        for (node_id n : net_.operators_of(k)) operators.push_back(describe(net_.plan(), net_.node_at(n)));
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

  table families() const {
    table result;
    for (const auto& [family, n] : figures_.families) result.emplace(family, fmt::format("{}", n));
    return result;
  }

  // In an order of their own; the same rows of every network.
  std::vector<std::pair<std::string, std::string>> totals() {
    const sizes& in_numbers = net_.in_numbers();
    const plan_figures& f = figures_;
    return {{"operators as built", f.built ? grouped(f.built->operators) : "-"},
            {"operators behind rewriting", fmt::format("{}", f.rewritten_operators)},
            {"kernels", fmt::format("{}", f.kernels)},
            {"kernels run once, at setup", fmt::format("{}", f.setup_kernels)},
            {"kernels to instantiate", fmt::format("{}", f.distinct_kernels)},
            {"FLOPs", in_numbers.text(f.flops)},
            {"bytes of intermediates written", in_numbers.text(f.intermediates_written)},
            {"bytes of intermediates read", in_numbers.text(f.intermediates_read)},
            {"bytes of the arena", f.arena_bytes ? grouped(*f.arena_bytes) : "planned when symbols have values"},
            {"expected time", f.microseconds ? fmt::format("{:.1f} us", *f.microseconds) : "-"}};
  }
  void write_figures(json_writer& json) { detail::write_figures(json, net_.in_numbers(), figures_); }

 private:
  const std::string& name_of_node(node_id n) const { return names_[static_cast<std::size_t>(n)]; }

  logged_network net_;
  std::vector<std::string> names_;  // of nodes; a number behind those of a name that has been
  plan_figures figures_;
};

// What the tables have for each key, in the order of keys.
inline std::vector<plan_differences::difference> beside(const comparable_network::table& first,
                                                        const comparable_network::table& second) {
  std::map<std::string, plan_differences::difference> rows;
  for (const auto& [key, value] : first) rows[key] = {key, value, "-"};
  for (const auto& [key, value] : second) {
    const auto [row, is_new] = rows.try_emplace(key, plan_differences::difference{key, "-", value});
    if (!is_new) row->second.second = value;
  }
  std::vector<plan_differences::difference> list;
  for (auto& [key, row] : rows) list.push_back(std::move(row));
  return list;
}
// Only what they have for different keys, and for equal keys differently: that of the first network in front.
inline std::vector<plan_differences::difference> differences(const comparable_network::table& first,
                                                             const comparable_network::table& second) {
  std::vector<plan_differences::difference> list = beside(first, second);
  std::erase_if(list, [](const plan_differences::difference& d) { return d.is_none(); });
  std::stable_partition(list.begin(), list.end(), [](const plan_differences::difference& d) { return d.first != "-"; });
  return list;
}
inline std::vector<plan_differences::difference> beside(
    const std::vector<std::pair<std::string, std::string>>& first,
    const std::vector<std::pair<std::string, std::string>>& second) {
  std::vector<plan_differences::difference> list;
  for (std::size_t i = 0; i < first.size(); ++i) list.push_back({first[i].first, first[i].second, second[i].second});
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

inline plan_differences compare(comparable_network& a, comparable_network& b) {
  return {beside(a.totals(), b.totals()), beside(a.families(), b.families()), differences(a.kernels(), b.kernels()),
          differences(a.edges(), b.edges()), differences(a.layouts(), b.layouts())};
}

}  // namespace detail

// Two plans made with logs beside each other. FLOPs and bytes are expressions over the symbols, and nothing is said of
// memory that is planned when these have values, unless they are given, the same to both; the expected time is that of
// one run on one core (cost/coefficients.hpp). Throws dnnkit::error when a plan has no log, and for a symbol that one
// of them does not have or that is left out.
[[nodiscard]] inline plan_differences compare_plans(const plan_view& first, const plan_view& second,
                                                    std::span<const binding> bindings = {}) {
  detail::comparable_network a(first, bindings), b(second, bindings);
  return detail::compare(a, b);
}

// The same of A and B, each a dk::compile<...>: compare_plans<A, B>(), compare_plans<A, B>({{"N", 32}}).
template <class A, class B> [[nodiscard]] plan_differences compare_plans(std::initializer_list<binding> bindings = {}) {
  return compare_plans(A::logged_plan(), B::logged_plan(), {bindings.begin(), bindings.size()});
}

// The same as one JSON object: `first` and `second`, each with the members that `totals` of explain_json has
// (inspect/explain_json.hpp), then the lists `kernels`, `fusion` and `layouts` of what differs, each element with `of`,
// `first` and `second`: numbers of kernels, texts, or null where it is not there.
[[nodiscard]] inline std::string compare_plans_json(const plan_view& first, const plan_view& second,
                                                    std::span<const binding> bindings = {}) {
  detail::comparable_network a(first, bindings), b(second, bindings);
  const plan_differences d = detail::compare(a, b);
  detail::json_writer json;
  const auto write_list = [&](std::string_view title, const std::vector<plan_differences::difference>& list,
                              auto write) {
    json.key(title);
    json.array([&] {
      for (const plan_differences::difference& x : list)
        json.object([&] {
          json.member("of", x.of);
          for (const auto& [name, text] : {std::pair("first", &x.first), {"second", &x.second}}) {
            json.key(name);
            write(*text);
          }
        });
    });
  };
  const auto write_text = [&](const std::string& text) {
    if (text == "-") json.null();
    else json.value(text);
  };
  json.object([&] {
    json.key("first");
    json.object([&] { a.write_figures(json); });
    json.key("second");
    json.object([&] { b.write_figures(json); });
    write_list("kernels", d.kernels, [&](const std::string& text) { json.value(text == "-" ? 0 : std::stoull(text)); });
    write_list("fusion", d.fusion, write_text);
    write_list("layouts", d.layouts, write_text);
  });
  return json.take() + "\n";
}

template <class A, class B> [[nodiscard]] std::string compare_plans_json(std::initializer_list<binding> bindings = {}) {
  return compare_plans_json(A::logged_plan(), B::logged_plan(), {bindings.begin(), bindings.size()});
}

}  // namespace dnnkit
