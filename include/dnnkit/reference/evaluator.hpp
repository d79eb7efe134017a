// SPDX-License-Identifier: MIT
// The reference evaluator: executes any graph, before or after any pass, from the operators' scalar definitions. It is
// what every test compares with: one element at a time, in double, rounded to the element type after each operator.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "dnnkit/graph/branch_assumptions.hpp"
#include "dnnkit/graph/branches.hpp"
#include "dnnkit/graph/builder.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/builtin.hpp"
#include "dnnkit/operator/op_set.hpp"
#include "dnnkit/reference/evaluate_operator.hpp"
#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/reference/symbol_values.hpp"

namespace dnnkit {

// Where the evaluator finds weights: the tensor of a name. weights/host_weights.hpp makes one of a safetensors file.
using weight_source = std::function<host_tensor(std::string_view name)>;

// A weight source over tensors by name, which must outlive it; a missing one raises dnnkit::error.
[[nodiscard]] inline weight_source weights_of(const std::map<std::string, host_tensor, std::less<>>& tensors) {
  return [&tensors](std::string_view name) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) throw error("tensor is missing", "weight '" + std::string(name) + "'");
    return found->second;
  };
}

// For graphs without weights: every request raises dnnkit::error.
inline weight_source no_weights() {
  return [](std::string_view name) -> host_tensor {
    throw error("no weights were given", "weight '" + std::string(name) + "'");
  };
}

// Called with every value as soon as it is known.
using value_observer = std::function<void(value_id, const host_tensor&)>;

// Operators whose inputs are of these kinds only, so that nothing is compiled for others: operators_of<Model> is one.
template <element_kinds Kinds, class... Ops> struct operators_on : op_set<Ops...> {};

namespace detail {

template <class Op, element_kinds Kinds>
void evaluate_node_as(const vector<std::int64_t>& attributes, const operands& o) {
  if constexpr (Op::kind == form::composite || Op::kind == form::constant)
    throw std::logic_error("dnnkit: a form without a scalar definition");
  else evaluate_operator<Kinds>(decode<Op>(attributes.data()), o);
}

// The operator's attributes with every extent that is an expression over symbols replaced by its value.
template <class Op> vector<std::int64_t> known_attributes(const std::int64_t* codes, const symbol_values& symbols) {
  Op op = decode<Op>(codes);
  if constexpr (has_attributes<Op> && !requires { Op::has_numbers; })
    Op::attributes(op, [&](std::string_view, auto& x) {
      using T = std::remove_cvref_t<decltype(x)>;
      if constexpr (std::is_same_v<T, dim>) x = symbols.of(x);
      else if constexpr (std::is_same_v<T, shape>)
        for (dim& d : x) d = symbols.of(d);
    });
  vector<std::int64_t> known;
  encode(op, known);
  return known;
}

template <class Op> void infer_node(const vector<std::int64_t>& attributes, inference& c) {
  infer_of(decode<Op>(attributes.data()), c);
}

struct evaluation_entry {
  void (*evaluate)(const vector<std::int64_t>&, const operands&);
  vector<std::int64_t> (*attributes)(const std::int64_t*, const symbol_values&);
  void (*infer)(const vector<std::int64_t>&, inference&);
};

template <class Set> struct evaluation_table;
template <class... Ops> struct evaluation_table<op_set<Ops...>> { static const evaluation_entry* entries(); };
template <element_kinds Kinds, class... Ops> struct evaluation_table<operators_on<Kinds, Ops...>> {
  static const evaluation_entry* entries();
};

#ifdef DNNKIT_EVALUATOR_ELSEWHERE  // a program of several files may compile the library's own operators in one of them
extern template struct evaluation_table<builtin_set>;
constexpr bool builtin_entries_elsewhere = true;
#else
constexpr bool builtin_entries_elsewhere = false;
#endif

// Files that compile the library's own operators and files that do not are linked together: which of them a function
// is for is part of its type.
template <class Op, element_kinds Kinds, bool BuiltinElsewhere> evaluation_entry evaluation_entry_of() {
  constexpr std::size_t position = BuiltinElsewhere ? builtin_set::find(id_of<Op>) : builtin_set::size;
  if constexpr (position != builtin_set::size) return evaluation_table<builtin_set>::entries()[position];
  else return {&evaluate_node_as<Op, Kinds>, &known_attributes<Op>, &infer_node<Op>};
}
template <class... Ops> const evaluation_entry* evaluation_table<op_set<Ops...>>::entries() {
  static const std::array<evaluation_entry, sizeof...(Ops)> table{
      evaluation_entry_of<Ops, element_kinds::any, builtin_entries_elsewhere>()...};
  return table.data();
}
template <element_kinds Kinds, class... Ops>
const evaluation_entry* evaluation_table<operators_on<Kinds, Ops...>>::entries() {
  static const std::array<evaluation_entry, sizeof...(Ops)> table{
      evaluation_entry_of<Ops, Kinds, builtin_entries_elsewhere>()...};
  return table.data();
}

// One run of one graph.
class evaluation {
 public:
  evaluation(const graph& g, const weight_source& weights, const value_observer& observe, std::size_t operators,
             std::size_t (*find)(operator_id), const evaluation_entry* entries)
      : graph_(g),
        weights_(weights),
        observe_(observe),
        operators_(operators),
        find_(find),
        entries_(entries),
        values_(g.values.size()),
        held_(g.values.size()),
        last_use_(g.values.size(), -1) {}

  std::vector<host_tensor> run(const std::vector<const host_tensor*>& inputs) {
    if (!graph_.error.empty()) throw error("the graph is not legal", "reference evaluator", {}, graph_.error.str());
    bind(inputs);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      for (std::size_t i = 0; i < graph_.nodes[n].inputs.count; ++i)
        if (const value_id v = graph_.input_of(graph_.nodes[n], i); v != none) last_use(v) = static_cast<node_id>(n);
    for (value_id v : graph_.outputs) last_use(v) = static_cast<node_id>(graph_.nodes.size());
    const vector<vector<branch>> branches = branches_of(graph_);
    const vector<std::uint8_t> alive = live_nodes(graph_);  // what no output needs may be of a branch that is not taken
    const bool computes_all = !has_operator<op::combine>(graph_);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if ((computes_all || alive[n] != 0) && is_taken(branches[n])) evaluate(static_cast<node_id>(n));
    std::vector<host_tensor> outputs;
    for (value_id v : graph_.outputs) outputs.push_back(fetch(v));
    return outputs;
  }

 private:
  host_tensor& at(value_id v) { return values_[static_cast<std::size_t>(v)]; }
  node_id& last_use(value_id v) { return last_use_[static_cast<std::size_t>(v)]; }
  std::string where(const node& n) const { return graph_.label_of(n).str(); }

  // f(), whose errors say at which node they are raised.
  template <class F> auto naming(const node& n, F f) const {
    try {
      return f();
    } catch (const error& e) {
      throw error(e.problem(), where(n) + (e.where().empty() ? "" : ", " + e.where()), e.expected(), e.found());
    } catch (const std::bad_alloc&) { throw error("not enough memory", where(n)); }
  }

  void bind(const std::vector<const host_tensor*>& inputs) {
    if (inputs.size() != graph_.inputs.size())
      throw error("number of inputs differs", "reference evaluator", std::to_string(graph_.inputs.size()),
                  std::to_string(inputs.size()));
    symbols_ = symbol_values(graph_.symbols);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      symbols_.bind(graph_.declared_input(i), inputs[i]->dims, input_name(i));
    symbols_.check_assumed();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      check(graph_.at(graph_.inputs[i]).type, *inputs[i], input_name(i));
      held_[static_cast<std::size_t>(graph_.inputs[i])] = inputs[i];
      if (observe_) observe_(graph_.inputs[i], *inputs[i]);
    }
  }
  std::string input_name(std::size_t i) const {
    return "input '" + std::string(graph_.name_of(graph_.inputs[i])) + "'";
  }
  // The tensor has the given element type, and the given extents wherever they are known or follow from the symbols.
  void check(const tensor_type& expected, const host_tensor& t, const std::string& culprit) const {
    const auto text_of = [&] { return std::string(name(expected.type)) + " " + symbols_.print(expected.dims).str(); };
    bool same = expected.type == t.type && expected.dims.size() == t.dims.size();
    for (std::size_t d = 0; same && d < t.dims.size(); ++d)
      same = expected.dims[d].is_unknown() || symbols_.of(expected.dims[d]) == dim(t.dims[d]);
    if (!same) throw error("shape or element type differs", culprit, text_of(), t.describe());
  }

  // The value: an input where the caller has it; a weight or a constant fetched when it is first needed, so that no
  // more of them are held than in use.
  const host_tensor& fetch(value_id v) {
    const host_tensor*& held = held_[static_cast<std::size_t>(v)];
    if (!held) {
      prepare(v);
      held = &at(v);
    }
    return *held;
  }
  void prepare(value_id v) {
    const value& x = graph_.at(v);
    if (x.from == origin::weight) {
      at(v) = weights_(graph_.name_of(v));
      check(x.type, at(v), "weight '" + std::string(graph_.name_of(v)) + "'");
    } else if (x.from == origin::constant) {
      std::vector<std::int64_t> dims;
      for (dim d : x.type.dims) dims.push_back(symbols_.of(d).value());
      host_tensor t(x.type.type, dims);
      const std::size_t count = t.count();
      if (x.data.count != 1 && x.data.count != count)
        throw error("number of elements differs", "constant '" + std::string(graph_.name_of(v)) + "'",
                    std::to_string(count), std::to_string(x.data.count));
      for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t code = graph_.constants[x.data.first + (x.data.count == 1 ? 0 : i)];
        if (t.floating()) t.reals[i] = round_to(t.type, std::bit_cast<double>(code));
        else t.integers[i] = wrap_to(t.type, code);
      }
      at(v) = std::move(t);
    } else return;
    if (observe_) observe_(v, at(v));
  }

  // Whether every one of these branches is taken, as far as their conditions are known.
  bool is_taken(const vector<branch>& branches) {
    for (const branch& b : branches) {
      const host_tensor& condition = fetch(b.condition);
      if (condition.type == boolean && condition.integers.size() == 1 && (condition.integers[0] != 0) != b.when)
        return false;
    }
    return true;
  }
  // What a branch gives; the other one has not been computed.
  void take_branch(node_id id) {
    const node& n = graph_.node_at(id);
    const value_id condition = graph_.input_of(n, 0);
    const value_id taken = graph_.input_of(n, fetch(condition).get<bool>(0) ? 1 : 2);
    host_tensor output = fetch(taken);
    check(graph_.at(n.output).type, output, where(n));
    at(n.output) = std::move(output);
    if (observe_) observe_(n.output, at(n.output));
  }

  void check_assumed(const node& n) const {
    const shape &from = graph_.at(graph_.input_of(n, 0)).type.dims, &to = graph_.at(n.output).type.dims;
    for (std::size_t d = 0; d < to.size(); ++d)
      if (!(from[d] == to[d]) && from[d].is_expression())
        if (std::optional<error> wrong = assumption_error(graph_.symbols, assumption_of(graph_, n, d), symbols_.all()))
          throw std::move(*wrong);
  }

  void evaluate(node_id id) {
    const node& n = graph_.node_at(id);
    if (graph_.is<op::combine>(n)) return take_branch(id);
    if (graph_.is<op::assume_shape>(n)) check_assumed(n);
    std::vector<const host_tensor*> inputs;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id v = graph_.input_of(n, i);
      inputs.push_back(v == none ? nullptr : &fetch(v));
    }
    const std::size_t position = find_(n.op->id);
    if (position == operators_ && !n.op->expand)
      throw error("operator is not in the operator set given to the evaluator", where(n));
    const std::int64_t* codes = graph_.attributes_of(n);
    const vector<std::int64_t> attributes = position == operators_
                                                ? vector<std::int64_t>(codes, codes + n.attributes.count)
                                                : entries_[position].attributes(codes, symbols_);
    host_tensor output = n.op->expand ? expand(n, attributes, inputs) : infer(n, attributes, inputs);
    if (!n.op->expand) naming(n, [&] { entries_[position].evaluate(attributes, {inputs, &output, &symbols_}); });
    check(graph_.at(n.output).type, output, where(n));
    at(n.output) = std::move(output);
    if (observe_) observe_(n.output, at(n.output));
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      if (const value_id v = graph_.input_of(n, i); v != none && last_use(v) == id) at(v) = {};
    if (last_use(n.output) < 0) at(n.output) = {};
  }

  static shape known_shape(const host_tensor& t) {
    shape s;
    for (std::int64_t d : t.dims) s.push_back(d);
    return s;
  }

  static tensor input_of(builder& b, const host_tensor& t) {
    graph& g = b.value();
    g.inputs.push_back(g.add_value({{}, {t.type, known_shape(t)}, origin::input, none, {}}));
    return {&b, g.inputs.back()};
  }

  // The output, still all zeros: its extents from the operator's inference over the extents of the inputs.
  host_tensor infer(const node& n, const vector<std::int64_t>& attributes,
                    const std::vector<const host_tensor*>& inputs) const {
    symbol_table no_symbols;
    inference c(no_symbols);
    std::vector<tensor_type> types(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i]) c.add_input(types[i] = {inputs[i]->type, known_shape(*inputs[i])});
      else c.add_absent_input();
    n.op->infer(attributes.data(), c);
    if (!c.error().empty() || c.outputs().size() != 1)
      throw error("the operator refuses its inputs", where(n), {}, c.error().str());
    std::vector<std::int64_t> dims;
    for (dim d : c.outputs()[0].dims) {
      const bool by_execution = n.op->properties.dynamic == dynamism::edo;  // the operator says when it has computed
      if (!d.is_known() && !by_execution) throw error("shape does not follow from the inputs' shapes", where(n));
      dims.push_back(d.is_known() ? d.value() : 0);
    }
    return naming(n, [&] { return host_tensor(c.outputs()[0].type, dims); });
  }

  // A composite operator: the graph it expands to, evaluated.
  host_tensor expand(const node& n, const vector<std::int64_t>& attributes,
                     const std::vector<const host_tensor*>& inputs) const {
    builder b;
    vector<tensor> arguments;
    std::vector<const host_tensor*> given;
    for (const host_tensor* t : inputs) {
      arguments.push_back(t ? input_of(b, *t) : tensor{});
      if (t) given.push_back(t);
    }
    b.output("", n.op->expand(attributes.data(), arguments));
    if (!b.value().error.empty()) throw error("the operator refuses its inputs", where(n), {}, b.value().error.str());
    return naming(n, [&] { return evaluation(b.value(), weights_, {}, operators_, find_, entries_).run(given)[0]; });
  }

  const graph& graph_;
  const weight_source& weights_;
  const value_observer observe_;
  std::size_t operators_;
  std::size_t (*find_)(operator_id);
  const evaluation_entry* entries_;
  symbol_values symbols_;
  std::vector<host_tensor> values_;
  std::vector<const host_tensor*> held_;  // null until the value is asked for
  std::vector<node_id> last_use_;
};

}  // namespace detail

// The outputs of `g`, in its order, for `inputs` in its order. Symbols take their values from the inputs' shapes.
// Throws dnnkit::error for a wrong number of inputs, a wrong shape or element type, a symbol out of its bounds or with
// two values, a missing weight, and an operator that is not in Set (an op_set, or operators_on).
template <class Set = builtin_set>
std::vector<host_tensor> evaluate(const graph& g, const std::vector<host_tensor>& inputs,
                                  const weight_source& weights = no_weights(), const value_observer& observe = {}) {
  std::vector<const host_tensor*> pointers;
  for (const host_tensor& t : inputs) pointers.push_back(&t);
  return detail::evaluation(g, weights, observe, Set::size, &Set::find, detail::evaluation_table<Set>::entries())
      .run(pointers);
}

// The same with inputs by name; a name the graph does not have raises dnnkit::error too.
template <class Set = builtin_set>
std::vector<host_tensor> evaluate(const graph& g, const std::map<std::string, host_tensor, std::less<>>& inputs,
                                  const weight_source& weights = no_weights(), const value_observer& observe = {}) {
  std::vector<host_tensor> ordered;
  for (value_id v : g.inputs) {
    const auto found = inputs.find(g.name_of(v));
    if (found == inputs.end()) throw error("input is missing", "input '" + std::string(g.name_of(v)) + "'");
    ordered.push_back(found->second);
  }
  for (const auto& [name, t] : inputs) {
    bool known = false;
    for (value_id v : g.inputs) known = known || g.name_of(v) == name;
    if (!known) throw error("the graph has no such input", "input '" + name + "'");
  }
  return evaluate<Set>(g, ordered, weights, observe);
}

}  // namespace dnnkit
