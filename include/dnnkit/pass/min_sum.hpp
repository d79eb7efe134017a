// SPDX-License-Identifier: MIT
// The least sum of functions that depend on a few variables each, where a variable is in one of a few states: how
// layouts are selected, a variable being a stored value, its states the orders it may have, a function what a kernel
// takes (the Partitioned Boolean Quadratic Problem of SmartMem, section 3.2.2, with kernels of more than two operands).
//
// First, states that another one beats whatever the others are in are left out (the dead-end elimination of Desmet and
// Goldstein): where one state beats all others no search is left. What is left falls into partitions that no function
// joins. In each of them, variables are eliminated one by one, the one first whose neighbours have the fewest states
// together (nonserial dynamic programming, Bertele and Brioschi): on a chain that is dynamic programming, and so it is
// on whatever is joined by few variables at a time. Where a table would be too large, the graph is cut: a variable is
// held in the state that suits its neighbours best, and in the end is looked at again with all others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"

namespace dnnkit::detail {

class min_sum {
 public:
  static constexpr std::size_t largest_table = 1024;  // entries; more take the compiler too long

  // values: one for each combination of states, those of the last variable next to each other.
  struct function {
    vector<std::uint32_t> of;
    vector<double> values;
  };

  // A variable with so many states; returns its number. State 0 is the one that is kept among equals.
  constexpr std::uint32_t add_variable(std::size_t states) {
    alive_.push_back(vector<std::uint8_t>(states, 1));
    uses_.push_back({});
    return static_cast<std::uint32_t>(alive_.count - 1);
  }
  constexpr void add_function(function f) {
    for (std::uint32_t v : f.of) uses_.items[v].push_back(static_cast<std::uint32_t>(functions_.count));
    functions_.push_back(static_cast<function&&>(f));
  }

  constexpr const vector<function>& functions() const { return functions_; }

  constexpr double total(const vector<std::uint8_t>& states) const {
    double sum = 0;
    for (std::size_t f = 0; f < functions_.count; ++f) sum += value(functions_.items[f], states);
    return sum;
  }

  // Of the functions of one variable.
  constexpr double around(std::size_t v, const vector<std::uint8_t>& states) const {
    double sum = 0;
    for (std::uint32_t f : uses_.items[v]) sum += value(functions_.items[f], states);
    return sum;
  }

  // The state of each variable. @post total() of it is the least, if is_exact()
  constexpr vector<std::uint8_t> solve() {
    states_ = vector<std::uint8_t>(alive_.count, 0);
    while (drops_states()) {}
    for (std::size_t v = 0; v < alive_.count; ++v) states_.items[v] = first_of(v);
    exact_ = true;
    searched_ = false;
    vector<std::uint8_t> open(alive_.count, 0);
    for (std::size_t v = 0; v < alive_.count; ++v) open.items[v] = states_of(v) > 1 ? 1 : 0;
    for (std::size_t v = 0; v < alive_.count; ++v)
      if (open.items[v] != 0) eliminate(partition_of(static_cast<std::uint32_t>(v), open), open);
    return states_;
  }
  constexpr bool is_exact() const { return exact_; }
  // Was there anything to search, once states that others beat were left out?
  constexpr bool is_searched() const { return searched_; }

 private:
  constexpr std::size_t place(const function& f, const vector<std::uint8_t>& states) const {
    std::size_t i = 0;
    for (std::size_t k = 0; k < f.of.count; ++k)
      i = i * alive_.items[f.of.items[k]].count + states.items[f.of.items[k]];
    return i;
  }
  constexpr double value(const function& f, const vector<std::uint8_t>& states) const {
    return f.values.items[place(f, states)];
  }
  constexpr bool depends(const function& f, std::size_t v) const {
    for (std::size_t k = 0; k < f.of.count; ++k)
      if (f.of.items[k] == v) return true;
    return false;
  }
  constexpr std::size_t states_of(std::size_t v) const {
    std::size_t n = 0;
    for (std::uint8_t is_alive : alive_.items[v]) n += is_alive;
    return n;
  }
  constexpr std::uint8_t first_of(std::size_t v) const { return next_of(v, 0); }
  constexpr std::uint8_t next_of(std::size_t v, std::size_t from) const {
    while (from < alive_.items[v].count && alive_.items[v].items[from] == 0) ++from;
    return static_cast<std::uint8_t>(from);
  }
  // The next combination of states of these variables; false behind the last one.
  constexpr bool advance(const vector<std::uint32_t>& of, vector<std::uint8_t>& states) const {
    for (std::size_t k = of.count; k-- > 0;) {
      const std::uint32_t v = of.items[k];
      states.items[v] = next_of(v, std::size_t{states.items[v]} + 1);
      if (states.items[v] < alive_.items[v].count) return true;
      states.items[v] = first_of(v);
    }
    return false;
  }
  constexpr void begin(const vector<std::uint32_t>& of, vector<std::uint8_t>& states) const {
    for (std::uint32_t v : of) states.items[v] = first_of(v);
  }

  // --- dead ends
  constexpr bool drops_states() {
    bool any = false;
    for (std::size_t v = 0; v < alive_.count; ++v)
      for (std::size_t worse = alive_.items[v].count; worse-- > 0;)
        for (std::size_t better = 0; better < alive_.items[v].count && alive_.items[v].items[worse] != 0; ++better)
          if (better != worse && alive_.items[v].items[better] != 0 && beats(v, better, worse)) {
            alive_.items[v].items[worse] = 0;
            any = true;
          }
    return any;
  }
  // Does the sum not grow by going from one state to the other, whatever the states of the others? Of equals the first
  // beats the other.
  constexpr bool beats(std::size_t v, std::size_t better, std::size_t worse) {
    double most = 0;
    for (std::uint32_t f : uses_.items[v]) most += most_gained(functions_.items[f], v, worse, better);
    return most < 0 || (most <= 0 && better < worse);
  }
  // The most that f grows by from one state of v to another.
  constexpr double most_gained(const function& f, std::size_t v, std::size_t from, std::size_t to) {
    vector<std::uint32_t> others;
    for (std::uint32_t o : f.of)
      if (o != v) others.push_back(o);
    begin(others, states_);
    bool any = false;
    double most = 0;
    do {
      states_.items[v] = static_cast<std::uint8_t>(to);
      const double now = value(f, states_);
      states_.items[v] = static_cast<std::uint8_t>(from);
      const double more = now - value(f, states_);
      if (!any || more > most) most = more;
      any = true;
    } while (advance(others, states_));
    return most;
  }

  // --- elimination
  struct eliminated {
    std::size_t v = 0;
    vector<std::uint32_t> of;   // decided later, which decide the best state
    vector<std::uint8_t> best;  // for each combination of theirs
  };

  // The variables that functions join v to, as far as more than one of their states is left.
  constexpr vector<std::uint32_t> partition_of(std::uint32_t v, const vector<std::uint8_t>& open) const {
    vector<std::uint32_t> found{v};
    vector<std::uint8_t> known(alive_.count, 0);
    known.items[v] = 1;
    for (std::size_t i = 0; i < found.count; ++i)
      for (std::uint32_t f : uses_.items[found.items[i]])
        for (std::uint32_t o : functions_.items[f].of)
          if (open.items[o] != 0 && known.items[o] == 0) {
            known.items[o] = 1;
            found.push_back(o);
          }
    return found;
  }

  constexpr void eliminate(const vector<std::uint32_t>& partition, vector<std::uint8_t>& open) {
    searched_ = true;
    vector<function> left;
    vector<std::uint8_t> known(functions_.count, 0);
    for (std::uint32_t v : partition)
      for (std::uint32_t f : uses_.items[v])
        if (known.items[f]++ == 0) left.push_back(functions_.items[f]);
    vector<eliminated> order;
    held_.clear();
    while (true) {
      std::size_t next = alive_.count, least = 0;
      for (std::uint32_t v : partition)
        if (open.items[v] != 0)
          if (const std::size_t size = table_behind(left, v, open); next == alive_.count || size < least) {
            next = v;
            least = size;
          }
      if (next == alive_.count) break;
      if (least <= largest_table) {
        order.push_back(take_out(left, next, open));
      } else {
        next = most_joined(left, partition, open);
        hold(next);
      }
      open.items[next] = 0;
    }
    for (std::size_t k = order.count; k-- > 0;) {
      const eliminated& e = order.items[k];
      std::size_t i = 0;
      for (std::uint32_t o : e.of) i = i * alive_.items[o].count + states_.items[o];
      states_.items[e.v] = e.best.items[i];
    }
    exact_ = exact_ && held_.empty();
    if (!held_.empty()) improve(partition);
  }
  // The variables that have not been decided and share a function with v.
  constexpr vector<std::uint32_t> neighbours(const vector<function>& left, std::size_t v,
                                             const vector<std::uint8_t>& open) const {
    vector<std::uint32_t> found;
    for (const function& f : left)
      if (depends(f, v))
        for (std::uint32_t o : f.of) {
          bool known = o == v || open.items[o] == 0;
          for (std::uint32_t other : found) known = known || other == o;
          if (!known) found.push_back(o);
        }
    return found;
  }
  constexpr std::size_t table_behind(const vector<function>& left, std::size_t v,
                                     const vector<std::uint8_t>& open) const {
    std::size_t size = 1;
    for (std::uint32_t o : neighbours(left, v, open)) {
      size *= alive_.items[o].count;
      if (size > largest_table) break;
    }
    return size;
  }
  // In place of the functions of v, one of its neighbours: the least of their sum.
  constexpr eliminated take_out(vector<function>& left, std::size_t v, const vector<std::uint8_t>& open) {
    eliminated e{v, neighbours(left, v, open), {}};
    vector<function> kept, taken;
    for (function& f : left) (depends(f, v) ? taken : kept).push_back(static_cast<function&&>(f));
    function least{e.of, {}};
    std::size_t size = 1;
    for (std::uint32_t o : e.of) size *= alive_.items[o].count;
    least.values.resize(size, 0);
    e.best.resize(size, first_of(v));
    begin(e.of, states_);
    do {
      bool any = false;
      const std::size_t at = place(least, states_);
      for (std::size_t s = first_of(v); s < alive_.items[v].count; s = next_of(v, s + 1)) {
        states_.items[v] = static_cast<std::uint8_t>(s);
        double sum = 0;
        for (const function& f : taken) sum += value(f, states_);
        if (any && sum >= least.values.items[at]) continue;
        least.values.items[at] = sum;
        e.best.items[at] = static_cast<std::uint8_t>(s);
        any = true;
      }
    } while (advance(e.of, states_));
    kept.push_back(static_cast<function&&>(least));
    left = static_cast<vector<function>&&>(kept);
    return e;
  }

  // --- cuts
  constexpr std::size_t most_joined(const vector<function>& left, const vector<std::uint32_t>& partition,
                                    const vector<std::uint8_t>& open) const {
    std::size_t best = alive_.count, most = 0;
    for (std::uint32_t v : partition)
      if (open.items[v] != 0)
        if (const std::size_t n = neighbours(left, v, open).count; best == alive_.count || n > most) {
          best = v;
          most = n;
        }
    return best;
  }
  // In the state of the least sum of what its functions are on average.
  constexpr void hold(std::size_t v) {
    double least = 0;
    std::uint8_t best = first_of(v);
    for (std::size_t s = first_of(v); s < alive_.items[v].count; s = next_of(v, s + 1)) {
      double sum = 0;
      for (std::uint32_t f : uses_.items[v]) sum += average(functions_.items[f], v, s);
      if (s == first_of(v) || sum < least) {
        least = sum;
        best = static_cast<std::uint8_t>(s);
      }
    }
    states_.items[v] = best;
    for (std::size_t s = 0; s < alive_.items[v].count; ++s) alive_.items[v].items[s] = s == best ? 1 : 0;
    held_.push_back(static_cast<std::uint32_t>(v));
  }
  constexpr double average(const function& f, std::size_t v, std::size_t state) {
    vector<std::uint32_t> others;
    for (std::uint32_t o : f.of)
      if (o != v) others.push_back(o);
    begin(others, states_);
    states_.items[v] = static_cast<std::uint8_t>(state);
    double sum = 0, n = 0;
    do {
      sum += value(f, states_);
      ++n;
    } while (advance(others, states_));
    return sum / n;
  }
  // Changes one variable at a time, as long as the sum falls.
  constexpr void improve(const vector<std::uint32_t>& partition) {
    for (std::uint32_t v : held_)
      for (std::uint8_t& is_alive : alive_.items[v]) is_alive = 1;
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::uint32_t v : partition) {
        std::uint8_t best = states_.items[v];
        double least = around(v, states_);
        for (std::size_t s = first_of(v); s < alive_.items[v].count; s = next_of(v, s + 1)) {
          const std::uint8_t before = states_.items[v];
          states_.items[v] = static_cast<std::uint8_t>(s);
          if (const double sum = around(v, states_); sum < least) {
            least = sum;
            best = static_cast<std::uint8_t>(s);
            goes_on = true;
          }
          states_.items[v] = before;
        }
        states_.items[v] = best;
      }
    }
  }
  vector<vector<std::uint8_t>> alive_;  // of variables, of each state: is it in question?
  vector<function> functions_;
  vector<vector<std::uint32_t>> uses_;  // of variables: the functions that depend on them
  vector<std::uint8_t> states_;
  vector<std::uint32_t> held_;
  bool exact_ = true, searched_ = false;
};

}  // namespace dnnkit::detail
