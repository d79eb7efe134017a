// SPDX-License-Identifier: MIT
// The log that a schedule carries from pass to pass: every decision with its reason and the costs it compared
// (plan/decision.hpp). The compiler keeps none for programs that do not print it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/plan/decision.hpp"

namespace dnnkit::plan {

struct decision_log {
  vector<decision> decisions;  // in the order in which they were taken
  vector<compared_cost> costs;
  vector<char> characters;         // what the decisions' slices of text refer to
  vector<std::int32_t> buffer_of;  // of values: the plan's buffer, or none
};

// Where a pass writes its decisions: into a log, or, without one, nowhere.
class decision_notes {
 public:
  constexpr decision_notes() = default;
  constexpr explicit decision_notes(decision_log& log) : log_(&log) {}

  constexpr bool wanted() const { return log_ != nullptr; }
  constexpr decision_log& log() const { return *log_; }

  constexpr void add(decision d, std::initializer_list<compared_cost> compared = {}) const {
    if (!wanted()) return;
    d.costs = graph::end_of(log_->costs, compared.size());
    log_->costs.append(compared.begin(), compared.end());
    log_->decisions.push_back(d);
  }

  constexpr void add(decision d, const vector<compared_cost>& compared) const {
    if (!wanted()) return;
    d.costs = graph::end_of(log_->costs, compared.size());
    log_->costs.append(compared.begin(), compared.end());
    log_->decisions.push_back(d);
  }

  // A rewriting pass replaced node n of `old`: by the nodes of `now` from number `first` on ...
  constexpr void add(decision d, const graph& old, const node& n, const graph& now, std::size_t first) const {
    if (!wanted()) return;
    d.operators = called(old, n);
    d.result = graph::end_of(log_->characters, 0);
    for (std::size_t k = first; k < now.nodes.count; ++k) {
      if (k != first) say(", ");
      say(now.nodes.items[k].op->name);
    }
    end(d.result);
    add(d);
  }
  // The same by a rule, which says what it compared; no nodes came where `result`, which stands for n's output, was
  // there.
  constexpr void add_rewriting(decision d, const graph& old, const node& n, const graph& now, std::size_t first,
                               value_id result, std::string_view rule,
                               std::initializer_list<compared_cost> compared) const {
    if (!wanted()) return;
    d.operators = called(old, n);
    d.result = graph::end_of(log_->characters, 0);
    for (std::size_t k = first; k < now.nodes.count; ++k) {
      if (k != first) say(", ");
      say(now.nodes.items[k].op->name);
    }
    if (first == now.nodes.count) say_value(now, result);
    end(d.result);
    d.by = said(rule);
    add(d, compared);
  }
  // A rule that was not applied at node n, and what it compared, if anything; or nowhere.
  constexpr void add_unapplied(decision d, const graph& g, const node& n, std::string_view rule,
                               const vector<compared_cost>& compared) const {
    if (!wanted()) return;
    d.operators = called(g, n);
    d.by = said(rule);
    add(d, compared);
  }
  constexpr void add_unapplied(decision d, std::string_view rule) const {
    if (!wanted()) return;
    d.operators = said(rule);
    add(d);
  }
  // ... or by what node `into` of `now` computes.
  constexpr void add(decision d, const graph& old, const node& n, const graph& now, const node& into,
                     std::initializer_list<compared_cost> compared = {}) const {
    if (!wanted()) return;
    d.operators = called(old, n);
    d.result = called(now, into);
    add(d, compared);
  }
  // A decision about what is only called something.
  constexpr void add_about(decision d, std::string_view what) const {
    if (!wanted()) return;
    d.operators = said(what);
    add(d);
  }
  // A decision about node n of `g`.
  constexpr void add(decision d, const graph& g, const node& n) const {
    if (!wanted()) return;
    d.operators = called(g, n);
    add(d);
  }

 private:
  constexpr void say(std::string_view s) const {
    for (char c : s) log_->characters.push_back(c);
  }
  constexpr void end(slice_of& s) const { s.count = static_cast<std::uint32_t>(log_->characters.count) - s.first; }
  constexpr slice_of said(std::string_view text) const {
    slice_of s = graph::end_of(log_->characters, 0);
    say(text);
    end(s);
    return s;
  }
  // "Conv 'conv1'", or "Relu #2" when the node has no name of its own
  constexpr slice_of called(const graph& g, const node& n) const {
    slice_of s = graph::end_of(log_->characters, 0);
    say(g.label_of(n));
    end(s);
    return s;
  }
  // The operator that computes it, "input 'x'", or "a constant"
  constexpr void say_value(const graph& g, value_id v) const {
    const value& x = g.at(v);
    if (x.producer != none) say(g.label_of(g.node_at(x.producer)));
    else if (x.from == origin::constant) say("a constant");
    else say_named(x.from == origin::weight ? "weight" : "input", g.text_of(x.name));
  }
  constexpr void say_named(std::string_view what, std::string_view name) const {
    say(what);
    if (name.empty() || name == what) return;
    say(" '");
    say(name);
    say("'");
  }

  decision_log* log_ = nullptr;
};

}  // namespace dnnkit::plan
