// SPDX-License-Identifier: MIT
// If, Loop and Scan while importing: a branch that is known to be taken is inlined, of one that is not both sides
// become nodes joined by Combine (SoD2, section 4.1), and loops whose number of rounds is known are unrolled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/convert_movement.hpp"
#include "dnnkit/onnx/import/node_context.hpp"
#include "dnnkit/onnx/import/state.hpp"
#include "dnnkit/op/builtin.hpp"

namespace dnnkit::onnx::detail {

inline constexpr std::size_t most_rounds_of_a_loop = 4096;

inline value_reference known_value(known_elements k) {
  auto v = std::make_shared<imported_value>();
  v->understood = true;
  v->type = {k.type, k.dims};
  v->known = std::make_shared<known_elements>(std::move(k));
  return v;
}
inline value_reference value_of(tensor t) {
  auto v = std::make_shared<imported_value>();
  v->understood = true;
  v->type = t.owner().value().at(t.id()).type;
  v->data = t;
  return v;
}

// The subgraph of an attribute.
inline const onnx::graph& body_of(node_context& c, std::string_view name) {
  const attribute* a = c.find(name, attribute_type::graph);
  if (a == nullptr || a->graphs.size() != 1)
    node_context::refuse("attribute '" + std::string(name) + "' holds no graph");
  return a->g();
}

// Whatever branch is taken, these are the elements.
inline bool are_same(const known_elements& a, const known_elements& b) {
  std::size_t count = 0;
  if (!(a.dims == b.dims) || !a.countable(count) || a.has_unknown()) return false;
  for (std::size_t i = 0; i < count; ++i)
    if (!(a.at(i) == b.at(i))) return false;
  return true;
}

// Can a Combine choose between the values of two branches?
inline bool are_joinable(const std::vector<value_reference>& a, const std::vector<value_reference>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (a[i] && b[i] && (a[i]->type.type != b[i]->type.type || a[i]->type.dims.size() != b[i]->type.dims.size()))
      return false;
  return true;
}

// What both branches need holds whichever is taken.
inline void note_common(symbol_table& table, const vector<assumption>& a, const vector<assumption>& b) {
  for (const assumption& x : a)
    for (const assumption& y : b)
      if (x.is == relation::equal && y.is == x.is && x.left == y.left && x.right == y.right)
        static_cast<void>(table.note_equation(x.left, x.right));
}

// The results of one branch, whose extents are its own; `needed` are the assumptions that it makes.
template <class Walk>
std::vector<value_reference> run_branch(Walk& walk, scope& names, node_context& c, const onnx::graph& body,
                                        vector<assumption>& needed) {
  builder::branch_scope own(c.graph());
  std::vector<value_reference> results = walk.run_body(names, body, {}, "");
  vector<value_id> values;
  for (const value_reference& r : results)
    if (r && r->data.present()) values.push_back(r->data.id());
  needed = own.close(values);
  return results;
}

// Walk: imports the nodes of a body, walk.run_body(scope, body, arguments), and gives its outputs; null for those that
// could not be imported.
//
// Where a condition that is not known compares extents, and one branch alone can be imported or what they give cannot
// be joined, one is chosen and the condition assumed: walk.choose() notes it for the next walk, which finds it at once,
// so that the other branch leaves nothing behind. The branch for extents that are equal is the first choice: exporters
// write a squeeze so.
template <class Walk> std::vector<value_reference> import_if(Walk& walk, scope& names, node_context& c) {
  const onnx::graph& taken = body_of(c, "then_branch");
  const onnx::graph& other = body_of(c, "else_branch");
  const known_elements* condition = c.known(0);
  const known_element* const decided =
      condition != nullptr && condition->items.size() == 1 ? &condition->items[0] : nullptr;
  if (decided != nullptr && decided->is_number())
    return walk.run_body(names, decided->number != 0 ? taken : other, {}, "");
  const bool compares = decided != nullptr && decided->is_comparison();
  if (compares)
    if (const std::optional<bool> chosen = walk.choice_at(names, c.node)) {
      const relation is = *chosen ? decided->compared_by() : opposite(decided->compared_by());
      const bool possible = is == relation::equal ? c.table().note_equation(decided->expression, decided->denominator)
                                                  : c.table().assume(decided->expression, is, decided->denominator);
      node_context::require(possible, "the branch that can be imported is never taken");
      return walk.run_body(names, *chosen ? taken : other, {}, "");
    }
  c.state.note_choice(c.value(0));
  const tensor decides = c.in(0);
  const std::size_t failures = walk.failures();
  vector<assumption> needed_by_first, needed_by_second;
  const auto a = run_branch(walk, names, c, taken, needed_by_first);
  const std::size_t failures_of_first = walk.failures() - failures;
  const auto b = run_branch(walk, names, c, other, needed_by_second);
  const bool first_fails = failures_of_first != 0, second_fails = walk.failures() != failures + failures_of_first;
  if (compares && (first_fails != second_fails || !are_joinable(a, b))) {
    const bool equal_is_first = decided->compared_by() != relation::different;
    const bool choice = first_fails != second_fails ? second_fails : equal_is_first;
    walk.choose(names, c.node, choice);
    return choice ? a : b;
  }
  note_common(c.table(), needed_by_first, needed_by_second);
  if (!needed_by_first.empty() || !needed_by_second.empty() || walk.failures() != failures)
    c.state.wants_bound(c.value(0));  // with it, only what one of the branches needs is asked for
  std::vector<value_reference> results;
  for (std::size_t i = 0; i < c.node.outputs.size(); ++i) {
    if (i >= a.size() || i >= b.size()) node_context::refuse("has more outputs than its branches");
    if (!a[i] || !b[i]) {
      results.push_back(nullptr);
      continue;
    }
    const tensor x = c.state.materialise(*a[i]), y = c.state.materialise(*b[i]);
    const known_elements* const known_of[] = {c.state.elements(*a[i], false), c.state.elements(*b[i], false)};
    if (x.type() != y.type() || x.dims().size() != y.dims().size())
      node_context::refuse(std::string("branches that give tensors of different types or ranks are not supported") +
                           (c.state.wants_bound(c.value(0)) ? ": give the values of the inputs that decide" : ""));
    tensor one = decides;
    if (one.rank() > x.rank()) one = c.apply(op::reshape{shape{}}, {one});
    results.push_back(value_of(c.apply(op::combine{}, {one, x, y})));
    if (known_of[0] != nullptr && known_of[1] != nullptr && are_same(*known_of[0], *known_of[1]))
      results.back()->known = std::make_shared<known_elements>(*known_of[0]);
  }
  return results;
}

// No value: that which one of the shape would be part of.
inline value_reference stacked_none(node_context& c, const value_reference& one) {
  const tensor row = c.apply(op::unsqueeze{{0}}, {c.state.materialise(*one)});
  return value_of(c.apply(op::split{0, 0, 0}, {row}));
}

// The values of all rounds, one behind the other along a new axis.
inline value_reference stacked(node_context& c, const std::vector<value_reference>& rounds, std::int64_t axis = 0) {
  if (rounds.empty()) node_context::refuse("a loop without any round has outputs of unknown shape");
  if (axis != 0) {
    const std::int64_t rank = c.state.materialise(*rounds[0]).rank() + 1;
    node_context::require(axis >= -rank && axis < rank, "scan_output_axes names an axis the output lacks");
    std::vector<tensor> parts;
    for (const value_reference& v : rounds) parts.push_back(c.apply(op::unsqueeze{{axis}}, {c.state.materialise(*v)}));
    return value_of(parts.size() == 1 ? parts[0] : c.apply(op::concat{axis}, parts));
  }
  bool known = true;
  for (const value_reference& v : rounds) {
    const known_elements* k = c.state.elements(*v, false);
    std::size_t count = 0;
    known = known && k != nullptr && k->countable(count) && k->dims == c.state.elements(*rounds[0], false)->dims;
  }
  if (known) {
    known_elements all{rounds[0]->type.type, rounds[0]->known->dims, {}};
    all.dims.insert(0, static_cast<std::int64_t>(rounds.size()));
    for (const value_reference& v : rounds) {
      std::size_t count = 0;
      v->known->countable(count);
      for (std::size_t i = 0; i < count; ++i) all.items.push_back(v->known->at(i));
    }
    return known_value(std::move(all));
  }
  std::vector<tensor> rows;
  for (const value_reference& v : rounds) rows.push_back(c.apply(op::unsqueeze{{0}}, {c.state.materialise(*v)}));
  return value_of(rows.size() == 1 ? rows[0] : c.apply(op::concat{0}, rows));
}

// Inputs: number of rounds, condition, carried values; body: round, condition, carried -> condition, carried, scanned.
template <class Walk> std::vector<value_reference> import_loop(Walk& walk, scope& names, node_context& c) {
  const onnx::graph& body = body_of(c, "body");
  std::optional<std::int64_t> rounds;
  if (c.has(0)) rounds = c.number(0, "the number of rounds");
  const std::size_t carried = c.inputs() > 2 ? c.inputs() - 2 : 0;
  node_context::require(body.inputs.size() == carried + 2 && body.outputs.size() > carried,
                        "the body's inputs or outputs do not fit the loop's");
  const std::size_t scanned = body.outputs.size() - carried - 1;
  value_reference condition = c.has(1) ? c.reference(1) : known_value(scalar_of(boolean, known_element::of_number(1)));
  std::vector<value_reference> state;
  for (std::size_t i = 0; i < carried; ++i) state.push_back(c.reference(i + 2));
  std::vector<std::vector<value_reference>> scans(scanned);
  for (std::int64_t round = 0; !rounds || round < *rounds; ++round) {
    const known_elements* go_on = c.state.elements(*condition, false);
    if (go_on == nullptr || go_on->items.size() != 1 || !go_on->items[0].is_number()) {
      c.state.wants_bound(*condition);
      node_context::refuse("a loop whose number of rounds is only known when the model runs is not supported");
    }
    if (go_on->items[0].number == 0) break;
    node_context::require(static_cast<std::size_t>(round) < most_rounds_of_a_loop,
                          "a loop of that many rounds is not supported");
    std::vector<value_reference> arguments{known_value(scalar_of(i64, known_element::of_number(round))), condition};
    arguments.insert(arguments.end(), state.begin(), state.end());
    const auto results = walk.run_body(names, body, arguments, std::to_string(round));
    for (const value_reference& v : results)
      if (!v) return {};
    condition = results[0];
    for (std::size_t i = 0; i < carried; ++i) state[i] = results[i + 1];
    for (std::size_t i = 0; i < scanned; ++i) scans[i].push_back(results[carried + 1 + i]);
  }
  std::vector<value_reference> once;  // what a round would give, where there is none
  if (scanned > 0 && scans[0].empty()) {
    std::vector<value_reference> arguments{known_value(scalar_of(i64, known_element::of_number(0))), condition};
    arguments.insert(arguments.end(), state.begin(), state.end());
    once = walk.run_body(names, body, arguments, "0");
    for (const value_reference& v : once)
      if (!v) return {};
  }
  for (std::size_t i = 0; i < scanned && state.size() < c.node.outputs.size(); ++i)
    state.push_back(once.empty() ? stacked(c, scans[i]) : stacked_none(c, once[carried + 1 + i]));
  return state;
}

// What a Scan asks for: how many of its values are read slice by slice, carried and stacked, and in which order.
struct scan_form {
  const onnx::graph& body;
  std::size_t read, carried, scanned;
  std::vector<std::int64_t> axes, directions, output_axes, output_directions;
};

// All rounds over the tensors to read, which begin with the values carried: body: carried, slices -> carried, scanned.
template <class Walk>
std::vector<value_reference> scan_rounds(Walk& walk, scope& names, node_context& c, const scan_form& form,
                                         std::vector<value_reference> state, const std::vector<tensor>& inputs,
                                         const std::string& prefix) {
  std::vector<std::vector<value_reference>> scans(form.scanned);
  const auto along = [&](std::size_t i) {
    const std::int64_t rank = inputs[i].rank(), a = form.axes[i] < 0 ? form.axes[i] + rank : form.axes[i];
    node_context::require(a >= 0 && a < rank, "scan_input_axes names an axis the input lacks");
    return a;
  };
  const dim length = inputs[0].size(along(0));
  constexpr std::string_view too_long = "a scan over an extent that is not known, or too long, is not supported";
  node_context::require_known({length}, too_long);
  node_context::require(length.value() <= static_cast<std::int64_t>(most_rounds_of_a_loop), too_long);
  for (std::int64_t round = 0; round < length.value(); ++round) {
    std::vector<value_reference> arguments = state;
    for (std::size_t i = 0; i < form.read; ++i) {
      node_context::require(inputs[i].size(along(i)) == length, "the extents to scan differ");
      const std::int64_t at = form.directions[i] != 0 ? length.value() - 1 - round : round;
      const tensor slice = c.apply(op::split{along(i), at, 1}, {inputs[i]});
      arguments.push_back(value_of(c.apply(op::squeeze{{along(i)}}, {slice})));
    }
    const auto results = walk.run_body(names, form.body, arguments, prefix + std::to_string(round));
    for (const value_reference& v : results)
      if (!v) return {};
    for (std::size_t i = 0; i < form.carried; ++i) state[i] = results[i];
    for (std::size_t i = 0; i < form.scanned; ++i) {
      auto& all = scans[i];
      all.insert(form.output_directions[i] != 0 ? all.begin() : all.end(), results[form.carried + i]);
    }
  }
  for (std::size_t i = 0; i < form.scanned && state.size() < c.node.outputs.size(); ++i)
    state.push_back(stacked(c, scans[i], form.output_axes[i]));
  return state;
}

// Opset 8: every value has a batch axis in front, and each element of the batch is scanned on its own.
template <class Walk>
std::vector<value_reference> scan_batch(Walk& walk, scope& names, node_context& c, const scan_form& form,
                                        std::size_t first) {
  const auto most = static_cast<std::int64_t>(most_rounds_of_a_loop);
  constexpr std::string_view too_large = "a scan over a batch that is not known, empty or too large is not supported";
  node_context::require(c.rank(first) > 0, too_large);
  node_context::require_known({c.dims(first)[0]}, too_large);
  node_context::require(c.dims(first)[0].value() > 0 && c.dims(first)[0].value() <= most, too_large);
  const std::int64_t batch = c.dims(first)[0].value();
  std::vector<std::vector<value_reference>> results;  // of each output
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto element = [&](std::size_t i) {
      node_context::require(c.rank(i) > 0 && c.dims(i)[0] == dim(batch), "the extents of the batch differ");
      return c.apply(op::squeeze{{0}}, {c.apply(op::split{0, b, 1}, {c.in(i)})});
    };
    std::vector<value_reference> state;
    for (std::size_t i = 0; i < form.carried; ++i) state.push_back(value_of(element(first + i)));
    std::vector<tensor> inputs;
    for (std::size_t i = 0; i < form.read; ++i) inputs.push_back(element(first + form.carried + i));
    const auto one = scan_rounds(walk, names, c, form, std::move(state), inputs, std::to_string(b) + "/");
    if (one.empty()) return {};
    results.resize(one.size());
    for (std::size_t i = 0; i < one.size(); ++i) results[i].push_back(one[i]);
  }
  std::vector<value_reference> all;
  for (const auto& list : results) all.push_back(stacked(c, list));
  return all;
}

// Inputs: carried values, then tensors that are read slice by slice (opset 8: behind one that tells lengths).
template <class Walk> std::vector<value_reference> import_scan(Walk& walk, scope& names, node_context& c) {
  const bool batched = c.opset < 9;
  const std::size_t first = batched ? 1 : 0;
  const onnx::graph& body = body_of(c, "body");
  const std::int64_t count = c.integer("num_scan_inputs");
  node_context::require(count > 0 && c.inputs() >= first && static_cast<std::size_t>(count) <= c.inputs() - first &&
                            body.inputs.size() == c.inputs() - first,
                        "the body's inputs do not fit the scan's");
  const auto read = static_cast<std::size_t>(count), carried = c.inputs() - first - read;
  node_context::require(body.outputs.size() >= carried, "the body has too few outputs");
  const std::size_t scanned = body.outputs.size() - carried;
  const auto list = [&](std::string_view name, std::size_t n) {
    const auto given = c.integers(name).value_or(std::vector<std::int64_t>(n, 0));
    node_context::require(given.size() == n, "a list of axes or directions has the wrong length");
    return given;
  };
  if (batched) {
    node_context::require(!c.has(0), "sequences of different lengths are not supported");
    const std::vector<std::int64_t> front(read, 0), forward(scanned, 0);
    const scan_form form{body, read, carried, scanned, front, list("directions", read), forward, forward};
    return scan_batch(walk, names, c, form, first);
  }
  const scan_form form{body,
                       read,
                       carried,
                       scanned,
                       list("scan_input_axes", read),
                       list("scan_input_directions", read),
                       list("scan_output_axes", scanned),
                       list("scan_output_directions", scanned)};
  std::vector<value_reference> state;
  for (std::size_t i = 0; i < carried; ++i) state.push_back(c.reference(i));
  std::vector<tensor> inputs;
  for (std::size_t i = 0; i < read; ++i) inputs.push_back(c.in(carried + i));
  return scan_rounds(walk, names, c, form, std::move(state), inputs, "");
}

}  // namespace dnnkit::onnx::detail
