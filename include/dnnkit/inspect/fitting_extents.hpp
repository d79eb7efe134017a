// SPDX-License-Identifier: MIT
// Values of symbols for which what a graph assumes of its extents holds: an example, and the nearest to given ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/graph/graph.hpp"
#include "dnnkit/tensor/check_assumptions.hpp"
#include "dnnkit/tensor/dim.hpp"

namespace dnnkit {

// Tries small values in a fixed order, within the symbols' bounds, and gives up after `most_evaluations`: that nothing
// is found does not say that nothing fits. The graph must outlive it.
class fitting_extents {
 public:
  static constexpr std::size_t most_evaluations = 500'000;
  static constexpr std::int64_t farthest = 4096;  // of a symbol from the least it may be, or from the value given
  using values =
      std::vector<std::optional<std::int64_t>>;  // of symbols, by number; nothing of one that does not matter
  struct change {
    std::size_t symbol;
    std::int64_t value;
  };

  // What `g` assumes, and what only some branches of it do besides: `more`.
  explicit fitting_extents(const graph& g, const std::vector<assumption>& more = {}) : table_(g.symbols) {
    for (const assumption& a : table_.assumptions) assumed_.push_back(check_of(a));
    for (const assumption& a : more) assumed_.push_back(check_of(a));
    for (const check& c : assumed_) mentioned_.insert(c.symbols.begin(), c.symbols.end());
    std::set<std::size_t> seen;
    const auto note = [&](const shape& dims, std::vector<check>& to) {
      for (const dim d : dims)
        if (d.is_expression() && seen.insert(d.expression()).second)
          to.push_back(check_of({d, 0, relation::at_least, {}}));
    };
    for (std::size_t i = 0; i < g.inputs.size(); ++i) note(g.declared_input(i), ends_);
    for (const value_id v : g.outputs) note(g.at(v).type.dims, ends_);
    for (const value& v : g.values) note(v.type.dims, inner_);
  }

  // Does an assumption relate more than a symbol or a number to another, so that it takes thought what fits?
  bool need_thought() const {
    return std::any_of(assumed_.begin(), assumed_.end(), [&](const check& c) {
      const auto is_plain = [&](dim d) { return d.is_known() || table_.symbol_of(d); };
      return !is_plain(c.of.left) || !is_plain(c.of.right);
    });
  }

  // Values of the symbols that assumptions mention for which all of these hold; where there are such values, no extent
  // in the graph is below 1, else none of its inputs and outputs is negative.
  std::optional<values> example() const {
    for (const bool everywhere : {true, false}) {
      search s{*this, everywhere ? 1 : 0, everywhere, values(table_.symbols.size()), most_evaluations};
      for (std::int64_t reach = 8; reach <= farthest; reach *= 8)
        if (s.complete(reach)) return s.found;
    }
    return std::nullopt;
  }

  // Where one symbol decides: how far `example`, whose value it is, may be exceeded, all values between fitting too.
  // Nothing where several symbols decide, and where no end was found.
  std::optional<std::int64_t> last_beside(const values& example) const {
    if (mentioned_.size() != 1) return std::nullopt;
    const std::size_t symbol = *mentioned_.begin();
    const auto fits = [&](std::int64_t value, bool everywhere) {
      search s{*this, everywhere ? 1 : 0, everywhere, values(example.size()), most_evaluations};
      s.found[symbol] = value;
      return s.follows();
    };
    const std::int64_t first = *example[symbol];
    const bool everywhere = fits(first, true);
    for (std::int64_t x = first; x - first < farthest; ++x)
      if (!fits(x + 1, everywhere)) return x;
    return std::nullopt;
  }

  // Of `given`, what inputs' shapes say: for each symbol that could alone have another value so that all holds, the
  // nearest one, that which is nearest to the given value first.
  std::vector<change> nearest(const values& given) const {
    std::vector<change> changes;
    std::size_t left = most_evaluations;
    const auto distance = [&](const change& c) { return std::abs(c.value - *given[c.symbol]); };
    for (const std::size_t i : mentioned_) {
      if (!given[i]) continue;
      for (std::int64_t d = 1; d <= farthest && left > 0 && (changes.empty() || changes.back().symbol != i); ++d)
        for (const std::int64_t step : {d, -d}) {
          search s{*this, 0, true, given, left};
          s.found[i] = *given[i] + step;
          const bool fits = s.follows() && s.is_complete();
          left = s.left;
          if (fits) {
            changes.push_back({i, *given[i] + step});
            break;
          }
        }
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [&](const change& a, const change& b) { return distance(a) < distance(b); });
    return changes;
  }

  // "H = 3 and W = 1", or "H = 192 to 703" of an example beside which others fit.
  std::string print(const values& example) const {
    std::string text;
    for (const std::size_t i : mentioned_)
      if (example[i]) text += (text.empty() ? "" : " and ") + print(change{i, *example[i]});
    const std::optional<std::int64_t> last = last_beside(example);
    return last && *last != *example[*mentioned_.begin()] ? text + " to " + std::to_string(*last) : text;
  }
  std::string print(const change& c) const {
    return table_.symbols[c.symbol].name.str() + " = " + std::to_string(c.value);
  }

 private:
  struct check {
    assumption of;
    std::vector<std::size_t> symbols;
  };
  check check_of(const assumption& a) const {
    check c{a, {}};
    for (std::size_t i = 0; i < table_.symbols.size(); ++i)
      if (table_.uses(a.left, i) || table_.uses(a.right, i)) c.symbols.push_back(i);
    return c;
  }

  // Symbols get values one after the other; as soon as those of a condition have theirs, it is looked at.
  struct search {
    const fitting_extents& of;
    std::int64_t least_extent;
    bool everywhere;  // do extents within the graph matter?
    values found;
    std::size_t left;  // evaluations

    // Gives symbols the values that follow from the others'; false where a condition does not hold then.
    bool follows() {
      detail::find_assumed(of.table_, found);
      left -= std::min(left, of.assumed_.size());
      std::vector<std::int64_t> numbers;
      for (std::size_t i = 0; i < found.size(); ++i) {
        const bounds& limits = of.table_.symbols[i].limits;
        if (found[i] && (*found[i] < limits.min || *found[i] > limits.max)) return false;
        numbers.push_back(found[i].value_or(0));
      }
      const auto hold = [&](const std::vector<check>& checks, std::int64_t least) {
        return std::all_of(checks.begin(), checks.end(), [&](const check& c) {
          if (!std::all_of(c.symbols.begin(), c.symbols.end(), [&](std::size_t i) { return found[i].has_value(); }))
            return true;
          left -= left > 0 ? 1 : 0;
          const std::int64_t a = of.table_.evaluate(c.of.left, numbers.data());
          return holds(a, c.of.is, of.table_.evaluate(c.of.right, numbers.data()) + least);
        });
      };
      return hold(of.assumed_, 0) && hold(of.ends_, least_extent) && (!everywhere || hold(of.inner_, least_extent));
    }
    bool is_complete() const {
      return std::all_of(of.mentioned_.begin(), of.mentioned_.end(),
                         [&](std::size_t i) { return found[i].has_value(); });
    }
    // Gives the symbols that have none values up to `reach` above their least ones.
    bool complete(std::int64_t reach) {
      const std::set<std::size_t>& all = of.mentioned_;
      const auto open = std::find_if(all.begin(), all.end(), [&](std::size_t i) { return !found[i]; });
      if (open == all.end()) return true;
      const bounds& limits = of.table_.symbols[*open].limits;
      const values before = found;
      for (std::int64_t x = limits.min; x - limits.min < reach && x <= limits.max && left > 0; ++x) {
        found = before;
        found[*open] = x;
        if (follows() && complete(reach)) return true;
      }
      found = before;
      return false;
    }
  };

  const symbol_table& table_;
  std::vector<check> assumed_, ends_, inner_;  // the others: extents of inputs and outputs, and within the graph
  std::set<std::size_t> mentioned_;            // symbols that assumptions mention
};

}  // namespace dnnkit
