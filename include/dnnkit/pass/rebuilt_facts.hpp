// SPDX-License-Identifier: MIT
// What a rule of rebuild() may ask about the graph that is being made, whose nodes behind the present one are not there
// yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"

namespace dnnkit::detail {

class rebuilt_facts {
 public:
  constexpr explicit rebuilt_facts(const graph& old) : old_(old), readers_(old.values.size(), 0) {
    const vector<std::uint8_t> alive = live_nodes(old);
    for (std::size_t k = 0; k < old.nodes.count; ++k)
      for (std::size_t i = 0; alive.items[k] != 0 && i < old.nodes.items[k].inputs.count; ++i)
        if (const value_id v = old.input_of(old.nodes.items[k], i); v != none) ++readers_.items[v];
    for (value_id v : old.outputs) readers_.items[v] += 2;  // as if several read it
  }

  // To be called with each node that the rule is asked about, before anything else.
  constexpr void note_readers(const node& n, const rebuilt_inputs& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const value_id v = old_.input_of(n, i);
      if (v == none || readers_.items[v] == 1) continue;
      resize(is_shared_, inputs.id(i) + 1);
      is_shared_.items[inputs.id(i)] = 1;
    }
  }

  // Is v, which a node reads that the rule was asked about or that it made for its own use, read by that one alone?
  constexpr bool has_one_reader(value_id v) const {
    return static_cast<std::size_t>(v) >= is_shared_.count || is_shared_.items[v] == 0;
  }

  // Does v depend on weights and constants alone (setup_values)?
  constexpr bool is_setup(const graph& now, value_id v) {
    resize(setup_, static_cast<value_id>(now.values.count));
    for (; seen_ < now.values.count; ++seen_) setup_.items[seen_] = is_given(now, now.values.items[seen_]);
    return setup_.items[v] != 0;
  }

 private:
  static constexpr void resize(vector<std::uint8_t>& flags, value_id least) {
    if (flags.count < static_cast<std::size_t>(least)) flags.resize(static_cast<std::size_t>(least), 0);
  }
  constexpr bool is_given(const graph& now, const value& v) const {
    if (v.from == origin::weight || v.from == origin::constant) return is_known(v.type.dims);
    if (v.from == origin::input || !is_known(v.type.dims)) return false;
    const node& n = now.node_at(v.producer);
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      if (const value_id x = now.input_of(n, i); x != none && setup_.items[x] == 0) return false;
    return now.symbols.symbols.empty() || n.op->symbolic_codes(now.attributes_of(n)).empty();
  }

  const graph& old_;
  vector<std::uint32_t> readers_;           // of values of the old graph: live nodes, each as often as it reads it
  vector<std::uint8_t> is_shared_, setup_;  // of values of the new one
  std::size_t seen_ = 0;                    // values of the new graph that setup_ says something of
};

}  // namespace dnnkit::detail
