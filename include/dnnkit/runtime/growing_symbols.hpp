// SPDX-License-Identifier: MIT
// Symbols that grow from run to run, because what a run gives out has more elements than what it took in and is the
// next run's input: such as the number of tokens of which a decoder keeps keys and values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/plan/kept_part.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/runtime/binding.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit::detail {

// An output and the input that it is fed back to, numbers of ports; no_port where there is none of that name.
struct fed_ports {
  std::size_t output = no_port, input = no_port;
};

inline bool grows_in_place(const plan_view& plan, fed_ports fed) {
  return plan::grows_in_place(plan, plan.inputs[fed.input], plan.results[fed.output - plan.inputs.size()]);
}

// The next run's `past` is this run's `present`.
struct growth {
  linear_dim past;
  dim present;
};

// One for each symbol that grows. Throws dnnkit::error where the input's extent does not tell the symbol's value, or
// two states tell different ones.
inline std::vector<growth> growths_of(const plan_view& plan, const symbol_table& table,
                                      std::span<const fed_ports> fed) {
  std::vector<growth> all;
  for (const auto [output, input] : fed) {
    const shape &past = buffer_of_port(plan, input).type.dims, &present = buffer_of_port(plan, output).type.dims;
    const auto refuse = [&](std::string why) {
      throw error(std::move(why), name_of_port(plan, output), dnnkit::print(table, past).str(),
                  dnnkit::print(table, present).str());
    };
    if (past.size() != present.size()) refuse("it cannot be the next run's input '" + name_of_port(plan, input) + "'");
    for (std::size_t d = 0; d < past.size(); ++d) {
      if (past[d] == present[d]) continue;
      const std::optional<linear_dim> open = table.linear_of(past[d]);
      if (!open) {
        refuse("no symbol makes the input that it is fed back to as large");
        continue;
      }
      const auto same = std::ranges::find(all, open->symbol, [](const growth& g) { return g.past.symbol; });
      if (same == all.end()) all.push_back({*open, present[d]});
      else if (same->past.factor != open->factor || same->past.offset != open->offset || !(same->present == present[d]))
        refuse("states make symbol '" + table.symbols[open->symbol].name.str() + "' grow in two ways");
    }
  }
  return all;
}

class growing_symbols {
 public:
  growing_symbols() = default;
  // Up to these values of all symbols, and from the least that those that grow may have.
  growing_symbols(std::vector<growth> growths, const plan_view& plan, std::span<const std::int64_t> reserved)
      : growths_(std::move(growths)), most_(reserved.begin(), reserved.end()), first_(most_), now_(most_) {
    for (const growth& g : growths_) first_[g.past.symbol] = plan.symbols[g.past.symbol].limits.min;
    next_ = first_;
  }

  bool is_on() const noexcept { return !growths_.empty(); }
  // Values of all symbols for the next run.
  std::span<const std::int64_t> next() const noexcept { return next_; }
  void set_next(std::size_t symbol, std::int64_t value) { next_[symbol] = value; }

  void begin_again() noexcept {
    for (const growth& g : growths_) next_[g.past.symbol] = first_[g.past.symbol];
  }
  // A run with next() is done.
  void go_on(const symbol_table& table) noexcept {
    std::ranges::copy(next_, now_.begin());
    for (const growth& g : growths_)
      next_[g.past.symbol] =
          g.past.solve(table.evaluate(g.present, now_.data())).value_or(std::numeric_limits<std::int64_t>::max());
  }

  bool has_room() const noexcept {
    return std::ranges::all_of(growths_, [&](const growth& g) { return next_[g.past.symbol] <= most_[g.past.symbol]; });
  }
  // Throws dnnkit::error where there is none, or a value is out of the symbol's bounds.
  void require_room(const plan_view& plan) const {
    for (const growth& g : growths_) {
      const std::size_t s = g.past.symbol;
      if (next_[s] > most_[s])
        throw error("states have grown to what was reserved; to go on, save(), reserve() more and restore()",
                    "symbol '" + plan.symbols[s].name.str() + "'", "at most " + std::to_string(most_[s]),
                    std::to_string(next_[s]));
      check_bounds(plan.symbols[s], next_[s]);
    }
  }

  // Of values that were saved. Throws dnnkit::error for one that the symbol cannot have.
  void require_possible(const plan_view& plan) const {
    for (const growth& g : growths_) {
      const symbol& s = plan.symbols[g.past.symbol];
      if (next_[g.past.symbol] < s.limits.min)
        throw error("what was saved is of another network, or of a session that had not reserved", "state",
                    "a value of symbol '" + s.name.str() + "' in front, " + std::to_string(s.limits.min) + " or more",
                    std::to_string(next_[g.past.symbol]));
    }
  }
  // Of those, too: throws dnnkit::error where more was saved than is reserved.
  void require_reserved(const plan_view& plan) const {
    for (const growth& g : growths_)
      if (const std::size_t s = g.past.symbol; next_[s] > most_[s])
        throw error("more was saved than is reserved; reserve() as much before restore()",
                    "symbol '" + plan.symbols[s].name.str() + "'", "at most " + std::to_string(most_[s]),
                    std::to_string(next_[s]));
  }

  // The next values of those that grow, as they are saved.
  std::size_t saved_values() const noexcept { return growths_.size(); }
  std::int64_t& saved_value(std::size_t i) noexcept { return next_[growths_[i].past.symbol]; }
  std::int64_t saved_value(std::size_t i) const noexcept { return next_[growths_[i].past.symbol]; }

 private:
  std::vector<growth> growths_;
  std::vector<std::int64_t> most_, first_, now_, next_;  // of all symbols
};

}  // namespace dnnkit::detail
