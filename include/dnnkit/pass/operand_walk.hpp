// SPDX-License-Identifier: MIT
// How a kernel comes by what it computes with: the walk from each input of its anchor and from each of its outputs down
// to loads, constants, the anchor and the operators in between, movement pulled into index maps on the way (SmartMem,
// section 3.2). Fusion's constraint check (operand_check.hpp) and what writes recipes (recipe_builder.hpp) are the two
// sinks of this walk, so that what the one accepts the other can make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "dnnkit/core/namespaces.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/pass/epilogue.hpp"
#include "dnnkit/pass/fusion_reason.hpp"
#include "dnnkit/pass/index_maps.hpp"

namespace dnnkit::plan {

// What a walk's findings are told to. A sink has a type `operand`, what it makes of a value, and
//   constant(v), anchor()         -> operand
//   load(v, m, input)             -> operand: v, stored before, read through m; `input` as in operand_walk
//   computed(v, n, inputs)        -> operand: v, computed by operator n of these operands
//   passes(v, m)                  v, computed by a movement operator of another kernel, is seen through
//   input(v, operand)             an input of the anchor; v is none where it is left out
//   output(v, m, operand)         stored through m
// `refused`, once it says why there is no such kernel, ends the walk.
struct operand_sink {
  index_maps maps;
  fusion_reason refused = fusion_reason::nothing;

  constexpr explicit operand_sink(graph& g) : maps(g) {}
  constexpr void refuse(fusion_reason reason) {
    if (refused == fusion_reason::nothing) refused = reason;
  }
};

template <class Sink> class operand_walk {
 public:
  using operand = typename Sink::operand;

  // So many times a kernel computes an operator for one reader, an input of the anchor or the outputs, each time in
  // other coordinates: y = transpose(a) + a computes a twice, and k times so the first value 2^k times. From then on
  // storing its result is as cheap.
  static constexpr std::uint32_t most_evaluations = 4;

  // `members`: of the kernel, in topological order. `stored`: by value, is it stored by some kernel? Where that is not
  // known yet, everything that no movement operator computes is taken to be.
  constexpr operand_walk(graph& g, const vector<node_id>& members, node_id anchor, const vector<std::uint8_t>* stored,
                         Sink& sink)
      : g_(g), members_(members), anchor_(anchor), stored_(stored), sink_(sink) {}

  constexpr void run(const vector<value_id>& outputs) {
    if (anchor_ != none) {
      const std::uint32_t inputs = g_.node_at(anchor_).inputs.count;
      for (input_ = 0; input_ < static_cast<std::int32_t>(inputs) && !is_refused(); ++input_) {
        const value_id v = g_.input_of(g_.node_at(anchor_), static_cast<std::size_t>(input_));
        computed_.clear();
        sink_.input(v, v == none ? operand{} : resolve(v, index_maps::identity));
      }
    }
    computed_.clear();
    input_ = none;
    const epilogue behind(g_, members_, anchor_);
    for (std::size_t k = 0; k < outputs.count && !is_refused(); ++k) store(outputs.items[k], behind);
  }

 private:
  constexpr bool is_refused() const { return sink_.refused != fusion_reason::nothing; }
  constexpr operand refuse(fusion_reason reason) {
    sink_.refuse(reason);
    return {};
  }
  constexpr bool is_member(node_id n) const {
    for (std::size_t k = 0; k < members_.count; ++k)
      if (members_.items[k] == n) return true;
    return false;
  }
  constexpr bool is_loaded(value_id v) const {
    const value& x = g_.at(v);
    if (x.from != origin::node) return true;
    return stored_ != nullptr ? stored_->items[v] != 0 : g_.node_at(x.producer).op->kind != form::movement;
  }

  constexpr void store(value_id o, const epilogue& behind) {
    index_map m = index_maps::identity;
    if (anchor_ != none) {
      const std::optional<index_map> found = from_anchor(o, behind);
      if (!found) return sink_.refuse(fusion_reason::beside_anchor);
      m = *found;
    }
    const operand value = resolve(o, m);
    if (!is_refused()) sink_.output(o, m, value);
  }
  // The map from an output's coordinates to those of the anchor, movement in between being undone; none when the output
  // is not computed from the anchor.
  constexpr std::optional<index_map> from_anchor(value_id o, const epilogue& behind) {
    vector<node_id> moved;  // the last first
    for (value_id v = o; g_.at(v).producer != anchor_;) {
      if (!behind.has(v)) return std::nullopt;
      const node_id p = g_.at(v).producer;
      if (g_.node_at(p).op->kind == form::movement) moved.push_back(p);
      v = behind.input_behind(g_.node_at(p));
    }
    index_map m = index_maps::identity;
    while (!moved.empty()) {
      m = sink_.maps.undoing(moved.back(), m);
      moved.pop_back();
    }
    return m;
  }

  // Value v, read through m.
  constexpr operand resolve(value_id v, index_map m) {
    while (true) {
      const value& x = g_.at(v);
      if (x.from == origin::constant && x.data.count == 1) return sink_.constant(v);
      const node_id p = x.producer;
      if (p != none && p == anchor_ && input_ == none) return sink_.anchor();
      const bool member = is_member(p);
      if (!member && is_loaded(v)) return sink_.load(v, m, input_);
      if (g_.node_at(p).op->kind != form::movement)
        return member ? computed(v, p, m) : refuse(fusion_reason::stored_by_none);
      if (!member) sink_.passes(v, m);
      if (is_refused()) return {};
      m = sink_.maps.through(p, m);
      v = g_.input_of(g_.node_at(p), 0);
    }
  }

  // Value v, which member p computes.
  constexpr operand computed(value_id v, node_id p, index_map m) {
    std::uint32_t times = 1;
    for (std::size_t k = 0; k < computed_.count; ++k) {
      const computation& c = computed_.items[k];
      if (c.n != p) continue;
      if (c.m == m) return c.made;
      ++times;
    }
    if (times > most_evaluations) return refuse(fusion_reason::too_many_evaluations);
    const node& n = g_.node_at(p);
    vector<operand> inputs;
    inputs.reserve(n.inputs.count);
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id in = g_.input_of(n, i);
      inputs.push_back(in == none ? operand{} : resolve(in, sink_.maps.broadcast(in, v, m)));
      if (is_refused()) return {};
    }
    computed_.push_back({p, m, sink_.computed(v, n, inputs)});
    return computed_.back().made;
  }

  struct computation {
    node_id n;
    index_map m;
    operand made;
  };

  graph& g_;
  const vector<node_id>& members_;
  const node_id anchor_;
  const vector<std::uint8_t>* const stored_;
  Sink& sink_;
  std::int32_t input_ = none;     // of the anchor, in whose coordinates the walk is; none: in those of the outputs
  vector<computation> computed_;  // in these coordinates
};

}  // namespace dnnkit::plan
