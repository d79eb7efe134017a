// SPDX-License-Identifier: MIT
// Which orders of the contested values take the kernels least time (pass/layout_space.hpp): what each kernel takes with
// every combination of the orders of those that it reads and writes - asked once of kernels alike - as functions of
// their states, of which the least sum is searched (pass/min_sum.hpp). A state is an order, or two of them: then a
// kernel of its own copies the value into the second one, at a price by its bytes, and each reader takes the copy that
// suits it (SmartMem, section 3.2.2: copies where more dimensions are wished for than memory keeps contiguous).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/cost/estimate.hpp"
#include "dnnkit/cost/gpu_estimate.hpp"
#include "dnnkit/cost/target_facts.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/pass/layout_space.hpp"
#include "dnnkit/pass/min_sum.hpp"
#include "dnnkit/pass/schedule.hpp"
#include "dnnkit/pass/structural_equality.hpp"

namespace dnnkit::detail {

// What a kernel takes that reads a value in one order and writes it in another, in blocks that it turns in registers.
constexpr double relayout_cycles(const cpu_facts& facts, double elements, double element_bytes) {
  double interleaved = 0;  // times that each vector of a block is
  for (int n = facts.float_lanes; n > 1; n /= 2) ++interleaved;
  const cost_coefficients& of = facts.costs;
  const double bytes = elements * element_bytes;
  kernel_work work{.cycles = elements / facts.float_lanes * (of.load + interleaved * of.simple / 2 + of.store)};
  work.traffic.add_read(level_of(facts, 2 * bytes), bytes);
  work.traffic.add_written(level_of(facts, bytes), bytes);
  return estimate(facts, work).cycles;
}
// On a GPU, by way of local memory.
constexpr double relayout_cycles(const gpu_facts& facts, double elements, double element_bytes) {
  return estimate(facts, gpu_work{.near = 2 * elements * element_bytes}).cycles;
}
constexpr double relayout_cycles(target_facts facts, double elements, double element_bytes) {
  return facts.are<gpu_facts>() ? relayout_cycles(facts.as<gpu_facts>(), elements, element_bytes)
                                : relayout_cycles(facts.as<cpu_facts>(), elements, element_bytes);
}

// A value that is stored twice.
struct second_layout {
  value_id v = none;
  storage_order order;
  vector<std::uint32_t> readers;  // groups that read it so
};

class layout_problem {
 public:
  static constexpr double no_kernel = 1e12;  // cycles, where no kernel can be made

  // `layouts`: those that the values have without a search, and while costs are asked those that they are asked about.
  constexpr layout_problem(graph& g, const fusion_plan& fusion, const layout_space& space,
                           vector<buffer_layout>& layouts, target_facts facts)
      : g_(g),
        groups_(fusion.groups),
        space_(space),
        layouts_(layouts),
        facts_(facts),
        equality_(g, space.stored, space.setup, layouts),
        scope_of_(fusion.groups.count),
        times_(g.nodes.size(), 0) {}

  // cycles(k): of group number k, as layouts are now.
  constexpr void pose(auto&& cycles) {
    for (std::size_t k = 0; k < groups_.count; ++k) {
      for (node_id n : groups_.items[k].nodes) ++times_.items[n];
      if (groups_.items[k].setup) continue;
      for (value_id v : space_.loads.items[k]) add_to_scope(k, v);
      for (value_id v : groups_.items[k].outputs) add_to_scope(k, v);
      if (!scope_of_.items[k].empty()) find_table(k, cycles);
    }
    const bool may_copy = guard_sets(g_).empty();
    states_.resize(space_.contested());
    for (std::size_t i = 0; i < states_.count; ++i) {
      const value_id v = space_.contested_value(i);
      const std::size_t orders = space_.orders_of(v).count;
      for (std::size_t a = 0; a < orders; ++a) states_.items[i].push_back({a, a, 0});
      if (may_copy) offer_copies(i, orders);
      sum_.add_variable(states_.items[i].count);
    }
    for (const group_table& t : tables_) add_function(t);
    for (std::size_t i = 0; i < states_.count; ++i) add_prices(i);
  }

  // Chooses; then layouts are as chosen.
  constexpr void solve() {
    chosen_ = sum_.solve();
    for (std::size_t i = 0; i < states_.count; ++i)
      layouts_.items[space_.contested_value(i)].order = order_of(i, state(i).stored);
  }
  // The states that solve() chose, of the contested values, and the sum that is least in them.
  constexpr const vector<std::uint8_t>& chosen() const { return chosen_; }
  constexpr const min_sum& sum() const { return sum_; }
  constexpr std::size_t states_of(std::size_t i) const { return states_.items[i].count; }
  // The state of contested value i in which it is stored in one order and, where the other is another, copied into
  // that; states_of(i) where there is none.
  constexpr std::size_t state_of(std::size_t i, const storage_order& stored, const storage_order& copied) const {
    const shape& s = g_.at(space_.contested_value(i)).type.dims;
    std::size_t n = 0;
    while (n < states_.items[i].count && !(is_same_order(s, order_of(i, states_.items[i].items[n].stored), stored) &&
                                           is_same_order(s, order_of(i, states_.items[i].items[n].copied), copied)))
      ++n;
    return n;
  }
  constexpr const storage_order& stored_order(std::size_t i) const { return order_of(i, state(i).stored); }
  constexpr const storage_order& copied_order(std::size_t i) const { return order_of(i, state(i).copied); }

  // The values that are stored a second time.
  constexpr vector<second_layout> copies() const {
    vector<second_layout> found;
    for (std::size_t i = 0; i < states_.count; ++i) {
      const value_state s = state(i);
      if (s.copied == s.stored) continue;
      second_layout copy{space_.contested_value(i), order_of(i, s.copied), {}};
      for (const group_table& t : tables_)
        if (takes_copy(t, i)) copy.readers.push_back(t.group);
      if (!copy.readers.empty()) found.push_back(static_cast<second_layout&&>(copy));
    }
    return found;
  }

  // visit(order, is it stored twice, cycles, is it chosen) for each order of contested value i: what the kernels that
  // read or write it take, all others being as they were chosen. Of states with a copy only for the one chosen.
  constexpr void for_each_choice(std::size_t i, auto visit) const {
    vector<std::uint8_t> states = chosen_;
    const value_state now = state(i);
    for (std::size_t s = 0; s < states_.items[i].count; ++s) {
      const value_state other = states_.items[i].items[s];
      if (other.stored != other.copied && s != chosen_.items[i]) continue;
      states.items[i] = static_cast<std::uint8_t>(s);
      visit(order_of(i, other.stored), other.stored != other.copied, sum_.around(i, states),
            other.stored == now.stored && other.copied == now.copied);
    }
  }

 private:
  // Numbers of orders: in which it is stored, and in which it is copied; equal where there is no copy.
  struct value_state {
    std::size_t stored = 0, copied = 0;
    double price = 0;
  };
  struct group_table {
    std::uint32_t group = 0;
    vector<double> cycles;  // by the orders of the scope's values, those of the last next to each other
  };

  constexpr const storage_order& order_of(std::size_t i, std::size_t number) const {
    return space_.orders_of(space_.contested_value(i)).items[number];
  }
  constexpr const value_state& state(std::size_t i) const { return states_.items[i].items[chosen_.items[i]]; }
  constexpr void add_to_scope(std::size_t k, value_id v) {
    if (!space_.is_contested(v)) return;
    const auto i = static_cast<std::uint32_t>(space_.number_of(v));
    for (std::uint32_t known : scope_of_.items[k])
      if (known == i) return;
    scope_of_.items[k].push_back(i);
  }
  constexpr std::size_t orders(std::uint32_t i) const { return space_.orders_of(space_.contested_value(i)).count; }

  // --- what kernels take
  constexpr void find_table(std::size_t k, auto&& cycles) {
    for (std::size_t t = 0; t < known_.count; ++t) {
      if (next_known_ >= known_.count) next_known_ = 0;
      const std::size_t number = known_.items[next_known_++];
      if (is_alike(tables_.items[number].group, k)) {
        tables_.push_back({static_cast<std::uint32_t>(k), tables_.items[number].cycles});
        return;
      }
    }
    known_.push_back(tables_.count);
    next_known_ = known_.count;
    const vector<std::uint32_t>& scope = scope_of_.items[k];
    group_table t{static_cast<std::uint32_t>(k), {}};
    vector<std::size_t> at(scope.count, 0);
    while (true) {
      for (std::size_t j = 0; j < scope.count; ++j)
        layouts_.items[space_.contested_value(scope.items[j])].order = order_of(scope.items[j], at.items[j]);
      const double c = cycles(k);
      t.cycles.push_back(c);
      std::size_t j = scope.count;
      while (j > 0 && ++at.items[j - 1] == orders(scope.items[j - 1])) at.items[--j] = 0;
      if (j == 0) break;
    }
    for (std::uint32_t i : scope) layouts_.items[space_.contested_value(i)].order = order_of(i, 0);
    tables_.push_back(static_cast<group_table&&>(t));
  }
  // Are two kernels alike, and so the orders of what they read and write?
  constexpr bool is_alike(std::size_t a, std::size_t b) {
    const vector<std::uint32_t>&of_a = scope_of_.items[a], &of_b = scope_of_.items[b];
    if (of_a.count != of_b.count || !equality_.are_equal(groups_.items[a], groups_.items[b])) return false;
    for (std::size_t j = 0; j < of_a.count; ++j) {
      const value_id v = space_.contested_value(of_a.items[j]), w = space_.contested_value(of_b.items[j]);
      if (equality_.counterpart(v) != w || orders(of_a.items[j]) != orders(of_b.items[j])) return false;
      for (std::size_t o = 0; o < orders(of_a.items[j]); ++o)
        if (!is_same_order(g_.at(v).type.dims, order_of(of_a.items[j], o), order_of(of_b.items[j], o))) return false;
    }
    return true;
  }

  // --- second layouts
  // All pairs of orders of which the copy's price is less than its readers can gain, where there are several of these:
  // a single one brings what it reads into its order itself.
  constexpr void offer_copies(std::size_t i, std::size_t count) {
    const value_id v = space_.contested_value(i);
    const double price = relayout_cycles(facts_, typical_elements(g_, g_.at(v).type.dims),
                                         static_cast<double>(size_of(g_.at(v).type.type)));
    vector<std::uint32_t> readers;
    for (std::size_t t = 0; t < tables_.count; ++t)
      if (may_take_copy(tables_.items[t], i)) readers.push_back(static_cast<std::uint32_t>(t));
    if (readers.count < 2) return;
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t b = 0; b < count; ++b) {
        double most = 0;
        for (std::uint32_t t : readers) most += most_saved(tables_.items[t], i, a, b);
        if (most > price) states_.items[i].push_back({a, b, price});
      }
  }
  constexpr bool is_in_scope(const group_table& t, std::size_t i) const {
    for (std::uint32_t j : scope_of_.items[t.group])
      if (j == i) return true;
    return false;
  }
  // Does the group only read the value, by operators that no other kernel computes, too?
  constexpr bool may_take_copy(const group_table& t, std::size_t i) const {
    const fusion_group& group = groups_.items[t.group];
    const value_id v = space_.contested_value(i);
    if (!is_in_scope(t, i)) return false;
    bool reads = false;
    for (value_id load : space_.loads.items[t.group]) reads = reads || load == v;
    if (!reads || contains(group, g_.at(v).producer)) return false;
    for (node_id n : group.nodes)
      for (std::size_t k = 0; k < g_.node_at(n).inputs.count; ++k)
        if (times_.items[n] > 1 && leads_to(g_.input_of(g_.node_at(n), k), v, group)) return false;
    return true;
  }
  // Through movement operators that are part of no kernel.
  constexpr bool leads_to(value_id from, value_id v, const fusion_group& group) const {
    while (from != none && from != v && space_.stored.items[from] == 0 && g_.at(from).producer != none &&
           !contains(group, g_.at(from).producer))
      from = g_.input_of(g_.node_at(g_.at(from).producer), 0);
    return from == v;
  }
  constexpr double most_saved(const group_table& t, std::size_t i, std::size_t a, std::size_t b) const {
    const vector<std::uint32_t>& scope = scope_of_.items[t.group];
    std::size_t step = 1, count = 0;
    for (std::size_t j = scope.count; j-- > 0;) {
      if (scope.items[j] == i) {
        count = orders(scope.items[j]);
        break;
      }
      step *= orders(scope.items[j]);
    }
    double most = 0;
    for (std::size_t at = 0; count != 0 && at < t.cycles.count; ++at)
      if (at / step % count == a)
        if (const double saved = t.cycles.items[at] - t.cycles.items[at + b * step - a * step]; saved > most)
          most = saved;
    return most;
  }

  // --- the sum
  // What group t takes when each of its values that has a copy is read in the better order.
  constexpr void add_function(const group_table& t) {
    const vector<std::uint32_t>& scope = scope_of_.items[t.group];
    min_sum::function f{scope, {}};
    vector<std::size_t> at(scope.count, 0);
    while (true) {
      f.values.push_back(best_reading(t, at).cycles);
      std::size_t j = scope.count;
      while (j > 0 && ++at.items[j - 1] == states_.items[scope.items[j - 1]].count) at.items[--j] = 0;
      if (j == 0) break;
    }
    sum_.add_function(static_cast<min_sum::function&&>(f));
  }
  // The least that group t takes with these states of its values, and which of them it reads in their second order:
  // one bit each.
  struct reading {
    double cycles = 0;
    std::size_t copied = 0;
  };
  constexpr reading best_reading(const group_table& t, const vector<std::size_t>& at) const {
    const vector<std::uint32_t>& scope = scope_of_.items[t.group];
    std::size_t copies = 0;
    for (std::size_t j = 0; j < scope.count; ++j)
      if (const value_state& s = states_.items[scope.items[j]].items[at.items[j]];
          s.stored != s.copied && may_take_copy(t, scope.items[j]))
        copies |= std::size_t{1} << j;
    reading best;
    for (std::size_t choice = 0; choice <= copies; ++choice) {
      if ((choice & ~copies) != 0) continue;
      std::size_t place = 0;
      for (std::size_t j = 0; j < scope.count; ++j) {
        const value_state& s = states_.items[scope.items[j]].items[at.items[j]];
        place = place * orders(scope.items[j]) + ((choice >> j & 1) != 0 ? s.copied : s.stored);
      }
      if (choice == 0 || t.cycles.items[place] < best.cycles) best = {t.cycles.items[place], choice};
    }
    return best;
  }
  constexpr void add_prices(std::size_t i) {
    min_sum::function f{{static_cast<std::uint32_t>(i)}, {}};
    bool any = false;
    for (const value_state& s : states_.items[i]) {
      f.values.push_back(s.price);
      any = any || s.price != 0;
    }
    if (any) sum_.add_function(static_cast<min_sum::function&&>(f));
  }
  // Does group t, as all has been chosen, read contested value i in its second order?
  constexpr bool takes_copy(const group_table& t, std::size_t i) const {
    const vector<std::uint32_t>& scope = scope_of_.items[t.group];
    vector<std::size_t> at;
    std::size_t bit = 0;
    for (std::size_t j = 0; j < scope.count; ++j) {
      at.push_back(chosen_.items[scope.items[j]]);
      if (scope.items[j] == i) bit = std::size_t{1} << j;
    }
    return bit != 0 && (best_reading(t, at).copied & bit) != 0;
  }

  graph& g_;
  const vector<fusion_group>& groups_;
  const layout_space& space_;
  vector<buffer_layout>& layouts_;
  const target_facts facts_;
  structural_equality equality_;
  vector<vector<std::uint32_t>> scope_of_;  // of groups: the numbers of the contested values that they read or write
  vector<std::uint32_t> times_;             // of nodes: so many kernels compute them
  vector<group_table> tables_;
  vector<std::size_t> known_;  // tables of groups that differ from each other
  std::size_t next_known_ = 0;
  vector<vector<value_state>> states_;  // of contested values
  vector<std::uint8_t> chosen_;
  min_sum sum_;
};

}  // namespace dnnkit::detail
