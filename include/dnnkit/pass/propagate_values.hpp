// SPDX-License-Identifier: MIT
// Pass: what follows from constants and extents is computed before the network runs (SoD2, section 4.1). Forward over
// the graph, each small tensor of integers or truth values has the elements that its operator gives, as numbers or as
// expressions over symbols:
//   operators of the class isdo, such as Shape, give what follows from the extents of their inputs
//   Combine(c, a, b)       a or b, where c is known, and what only the other depends on is gone; else what a and b have
//                          in common. Extents that were not known because of it are inferred again.
//   Where(c, a, b)         the same where c is the same everywhere
//   any other              operator/known_values.hpp
// Takes any graph; guarantees the same function, to the last bit, where expressions over symbols fit into the elements
// that they are computed in: they do not wrap around.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/combine.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/dims.hpp"
#include "dnnkit/op/movement.hpp"
#include "dnnkit/operator/known_values.hpp"
#include "dnnkit/pass/decision_log.hpp"

namespace dnnkit {

namespace detail {

// One run of the pass on a graph, which is edited in place and then rebuilt.
class value_propagation {
 public:
  constexpr value_propagation(graph& g, decision_notes notes)
      : g_(g), notes_(notes), number_of_(g.values.size(), not_asked), image_(g.values.size(), none) {}

  // Is there anything that may follow? Most graphs have nothing, and are asked this only.
  static constexpr bool has_source(const graph& g) {
    for (std::size_t k = 0; k < g.nodes.count; ++k) {
      const node& n = g.nodes.items[k];
      if (!n.op->evaluate) continue;
      if (follows_from_shapes(n) && n.inputs.count > 0) return true;
      const bool chooses = n.op->id == id_of<op::combine> || n.op->id == id_of<op::where>;
      std::uint32_t given = 0;
      while (given < n.inputs.count && is_source(g, g.operands.items[n.inputs.first + given])) ++given;
      if (n.inputs.count > 0 && (given == n.inputs.count || (chooses && given > 0))) return true;
    }
    return false;
  }

  constexpr graph run(std::string_view pass) {
    vector<std::uint8_t> retyped(g_.values.size(), 0);
    for (std::size_t k = 0; k < g_.nodes.count; ++k) {
      node& n = g_.nodes.items[k];
      const auto id = static_cast<node_id>(k);
      bool again = false;
      for (std::uint32_t i = n.inputs.first; i < n.inputs.first + n.inputs.count; ++i) {
        value_id& v = g_.operands.items[i];
        if (v == none) continue;
        again = again || retyped[v] != 0;
        if (image_[v] != none) v = image_[v];
      }
      if (again) {
        const tensor_type type = g_.infer(n, id);
        if (g_.error.length != 0) return static_cast<graph&&>(g_);
        retyped[n.output] = type == g_.at(n.output).type ? 0 : 1;
        g_.at(n.output).type = type;
      }
      if (const value_id chosen = chosen_by(n); chosen != none) {
        notes_.add({pass, "left out", "the condition is known"}, g_, n);
        image_[n.output] = chosen;
        retyped[n.output] = g_.at(chosen).type == g_.at(n.output).type ? 0 : 1;
      } else evaluate(n);
    }
    return rebuilt(pass);
  }

 private:
  static constexpr std::int32_t not_asked = -2, not_known = -1;

  static constexpr bool follows_from_shapes(const node& n) { return n.op->properties.dynamic == dynamism::isdo; }

  static constexpr bool is_source(const graph& g, value_id v) {
    if (v == none) return false;
    const value& x = g.values.items[v];
    if (x.from == origin::node) return follows_from_shapes(g.node_at(x.producer));
    return x.from == origin::constant && known_tensor::may_hold(x.type.type) &&
           known_tensor::count_of(x.type.dims) <= most_known_values;
  }

  // The elements of v; null where nothing is known of them.
  constexpr const known_tensor* known(value_id v) {
    if (v == none) return nullptr;
    std::int32_t& number = number_of_[v];
    if (number == not_asked) {
      number = not_known;
      if (g_.at(v).from == origin::constant && is_source(g_, v)) {
        const value& x = g_.at(v);
        known_tensor t{x.type.type, x.type.dims, {}};
        const std::size_t count = known_tensor::count_of(x.type.dims);
        for (std::size_t i = 0; i < count; ++i)
          t.elements.push_back(wrap_to(t.type, g_.constants.items[x.data.first + (x.data.count == 1 ? 0 : i)]));
        keep(v, static_cast<known_tensor&&>(t));
      }
    }
    return number_of_[v] == not_known ? nullptr : &tensors_[number_of_[v]];
  }
  constexpr void keep(value_id v, known_tensor&& t) {
    number_of_[v] = static_cast<std::int32_t>(tensors_.count);
    tensors_.push_back(static_cast<known_tensor&&>(t));
  }

  // The input that the output is, whatever the other inputs are; none where that is not known.
  constexpr value_id chosen_by(const node& n) {
    const bool is_combine = n.op->id == id_of<op::combine>;
    if (!is_combine && n.op->id != id_of<op::where>) return none;
    const known_tensor* const condition = known(g_.input_of(n, 0));
    if (condition == nullptr || condition->elements.empty() || !condition->are_numbers()) return none;
    for (const symbolic_number& e : condition->elements)
      if (e.number() != condition->elements[0].number()) return none;
    const value_id chosen = g_.input_of(n, condition->elements[0].number() != 0 ? 1 : 2);
    return is_combine || g_.at(chosen).type == g_.at(n.output).type ? chosen : none;
  }

  constexpr void evaluate(const node& n) {
    known_tensor y{g_.at(n.output).type.type, g_.at(n.output).type.dims, {}};
    if (!n.op->evaluate || !known_tensor::may_hold(y.type)) return;
    if (known_tensor::count_of(y.dims) > most_known_values) return;
    vector<known_tensor> shapes;
    shapes.reserve(n.inputs.count);
    vector<const known_tensor*> inputs;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id v = g_.input_of(n, i);
      if (v == none) return;
      if (follows_from_shapes(n)) shapes.push_back({g_.at(v).type.type, g_.at(v).type.dims, {}});
      else if (known(v) == nullptr) return;
    }
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      inputs.push_back(follows_from_shapes(n) ? &shapes[i] : known(g_.input_of(n, i)));
    if (n.op->evaluate(g_.attributes_of(n), {g_.symbols, inputs, y})) keep(n.output, static_cast<known_tensor&&>(y));
  }

  // Constants in the place of nodes whose elements are numbers, and one Dims (and what gives it another type or shape)
  // in the place of nodes that compute expressions.
  constexpr graph rebuilt(std::string_view pass) {
    vector<std::uint8_t> expressions(g_.nodes.size(), 0);
    bool changes = false;
    for (std::size_t k = 0; k < g_.nodes.count; ++k) {
      node& n = g_.nodes.items[k];
      changes = changes || image_[n.output] != none;
      if (image_[n.output] != none || number_of_[n.output] < 0) continue;
      const known_tensor& t = tensors_[number_of_[n.output]];
      if (t.are_numbers()) image_[n.output] = constant_of(t);
      else if (is_computed(n) && are_extents(t)) expressions[k] = 1;
      else continue;
      changes = true;
      notes_.add({pass, "computed", "it follows from constants and extents"}, g_, n);
      n.inputs.count = 0;  // so that nothing lives for its sake
    }
    if (!changes) return static_cast<graph&&>(g_);
    const auto replace = [&](vector<value_id>& list) {
      for (std::size_t i = 0; i < list.count; ++i)
        for (value_id& v = list.items[i]; v != none && image_[v] != none;)
          v = image_[v];  // what is chosen may be known
    };
    replace(g_.operands);
    replace(g_.outputs);
    return rebuild(g_, [&](builder& b, const node& n, const rebuilt_inputs&) {
      if (expressions[static_cast<std::size_t>(&n - g_.nodes.items)] == 0) return tensor{};
      const known_tensor& t = tensors_[number_of_[n.output]];
      op::dims values;
      for (const symbolic_number& e : t.elements) values.values.push_back(e.in(b.value().symbols));
      tensor y = b.apply(values, {});
      if (t.type != i64) y = cast(y, {.to = t.type});
      return t.dims.size() == 1 ? y : b.apply(op::reshape{t.dims}, {y});
    });
  }
  constexpr value_id constant_of(const known_tensor& t) {
    const value_id v = g_.add_value({{}, {t.type, t.dims}, origin::constant, none, {}});
    image_.push_back(none);
    number_of_.push_back(not_known);
    bool uniform = !t.elements.empty();
    for (const symbolic_number& e : t.elements) uniform = uniform && e.number() == t.elements[0].number();
    const std::size_t count = uniform ? 1 : t.elements.size();
    g_.at(v).data = graph::end_of(g_.constants, count);
    for (std::size_t i = 0; i < count; ++i) g_.constants.push_back(t.elements[i].number());
    return v;
  }
  // Dims, and movement and a conversion of what was computed from extents, are no work that could be spared.
  static constexpr bool is_computed(const node& n) {
    return n.op->kind != form::movement && n.inputs.count > 0 && n.op->id != id_of<op::cast>;
  }
  // Extents are not negative, and neither is what Dims holds.
  constexpr bool are_extents(const known_tensor& t) {
    for (const symbolic_number& e : t.elements)
      if (e.is_unknown() || g_.symbols.range(e.in(g_.symbols)).min < 0) return false;
    return t.elements.size() <= max_rank;
  }

  graph& g_;
  decision_notes notes_;
  vector<std::int32_t> number_of_;  // by value: where in tensors_ its elements are
  vector<known_tensor> tensors_;
  vector<value_id> image_;  // by value: what takes its place, none where nothing does
};

}  // namespace detail

namespace passes {

struct propagate_values {
  static constexpr std::string_view name = "propagate values";

  static constexpr graph run(graph g, decision_notes notes = {}) {
    if (!detail::value_propagation::has_source(g)) return g;
    return detail::value_propagation(g, notes).run(name);
  }
};

}  // namespace passes

}  // namespace dnnkit
