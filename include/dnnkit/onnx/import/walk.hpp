// SPDX-License-Identifier: MIT
// One walk over a model's nodes in order: what only computes shapes is computed, the rest is converted; everything that
// cannot be is listed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/control_flow.hpp"
#include "dnnkit/onnx/import/converters.hpp"
#include "dnnkit/onnx/import/flex_attention.hpp"
#include "dnnkit/onnx/import/narrow_values.hpp"
#include "dnnkit/onnx/import/node_context.hpp"
#include "dnnkit/onnx/import/node_order.hpp"
#include "dnnkit/onnx/import/shape_arithmetic.hpp"
#include "dnnkit/onnx/import/solve_symbols.hpp"
#include "dnnkit/onnx/import/state.hpp"
#include "dnnkit/reference/evaluator.hpp"

namespace dnnkit::onnx {

namespace detail {

// Which branches were chosen of Ifs whose conditions symbols decide, by the names of the nodes.
using branch_choices = std::map<std::string, bool>;

// One walk over a model, with what is known of its symbols so far.
class import_walk {
 public:
  // Extents that must be equal are noted as equations, or else assumed to be.
  import_walk(const onnx::model& m, const import_options& options, const symbol_solutions& solutions,
              branch_choices& choices, bool assumes)
      : state_(m, options), solutions_(solutions), choices_(choices) {
    state_.graph.value().symbols.collects_equations = !assumes;
  }

  void run() {
    check_model();
    scope top;
    top.opsets = &state_.model.opset_imports;
    add_inputs(top);
    add_initializers(top, state_.model.graph);
    import_nodes(top, state_.model.graph.nodes);
    add_outputs(top);
  }

  import_state& state() { return state_; }
  // Were branches chosen? Then what is in the graph may depend on others, and a further walk is needed.
  bool has_chosen() const { return has_chosen_; }

  static std::vector<std::string_view> operators() {
    std::vector<std::string_view> names = converted_operators();
    names.insert(names.end(), std::begin(control_flow), std::end(control_flow));
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  static constexpr std::int64_t least_opset = 1, most_opset = 28;
  static constexpr std::int64_t most_extent = std::int64_t{1} << 40;
  static constexpr std::size_t most_nodes = 200'000;  // with functions inlined, and rounds of loops
  static constexpr std::size_t most_depth = 32;       // of functions and subgraphs in each other

  // A node of a function or of a loop's body, which is met many times, says the same once.
  void report(const onnx::node& n, const scope& names, std::string message, const std::vector<dim>& extents = {}) {
    message += text_of_open(extents);
    if (!said_.emplace(&n, message).second) ++failures_;
    else
      report(names.prefix + std::string(name_of(n)), std::string(n.op_type), std::move(message),
             inputs_extents_behind(extents));
  }
  void report(std::string node, std::string type, std::string message, std::vector<std::string> extents = {}) {
    ++failures_;
    state_.problems.add({std::move(node), std::move(type), std::move(message), std::move(extents)});
  }
  // ", found 2*H and W" of the extents that are expressions.
  std::string text_of_open(const std::vector<dim>& extents) {
    std::string text;
    for (const dim d : extents)
      if (d.is_expression())
        text += (text.empty() ? ", found " : " and ") + state_.graph.value().symbols.print(d).str();
    return text;
  }
  // The names of extents of inputs that decide these: of each symbol the one called so, else the first that has it.
  std::vector<std::string> inputs_extents_behind(const std::vector<dim>& extents) {
    symbol_table& table = state_.graph.value().symbols;
    const auto has = [&](dim d, std::size_t s) { return d.is_expression() && table.uses(d, s); };
    std::vector<std::string> names;
    for (std::size_t s = 0; s < table.symbols.size(); ++s) {
      if (std::none_of(extents.begin(), extents.end(), [&](dim d) { return has(d, s); })) continue;
      std::string deciding;
      for (const value_info& i : state_.model.graph.inputs)
        for (std::size_t d = 0; i.shape && d < i.shape->size(); ++d) {
          if (is_number((*i.shape)[d])) continue;
          const std::string name = name_of_extent(i, d);
          if (state_.options.sizes.contains(name) || !has(solutions_.of(table, name), s)) continue;
          if (deciding.empty() || name == table.symbols[s].name.view()) deciding = name;
        }
      if (!deciding.empty() && std::find(names.begin(), names.end(), deciding) == names.end())
        names.push_back(deciding);
    }
    return names;
  }
  static std::string_view name_of(const onnx::node& n) {
    if (!n.name.empty()) return n.name;
    for (std::string_view o : n.outputs)
      if (!o.empty()) return o;
    return n.op_type;
  }

  void check_model() {
    const std::int64_t opset = state_.model.opset();
    if (opset == 0 && std::any_of(state_.model.graph.nodes.begin(), state_.model.graph.nodes.end(),
                                  [](const onnx::node& n) { return is_onnx(n.domain); }))
      report("", "", "the model imports no version of ONNX's operators");
    else if (opset != 0 && (opset < least_opset || opset > most_opset))
      report("", "",
             "opset " + std::to_string(opset) + " is not supported, only " + std::to_string(least_opset) + " to " +
                 std::to_string(most_opset));
  }

  // --- leaves
  bool define(scope& names, std::string_view name, value_reference v, const std::string& what) {
    if (v->name.empty()) v->name = std::string(name);
    if (!names.values.emplace(std::string(name), v).second) {
      report(std::string(name), what, "the name is defined twice");
      return false;
    }
    return true;
  }

  void add_inputs(scope& names) {
    std::set<std::string_view> stored;  // up to IR version 3, initialisers are inputs too
    for (const tensor_data& t : state_.model.graph.initializers) stored.insert(t.name);
    for (const value_info& i : state_.model.graph.inputs) {
      if (stored.contains(i.name)) continue;
      auto v = std::make_shared<imported_value>();
      v->name = std::string(i.name);
      v->is_input = true;
      try {
        v->type = type_of(i);
        v->narrow = narrow_type_of(i.data_type);
        add_input(*v);
      } catch (const refusal& r) { report(std::string(i.name), "input", r.message); } catch (const error& e) {
        report(std::string(i.name), "input", e.what());
      }
      define(names, i.name, v, "input");
    }
  }
  void add_input(imported_value& v) {
    dnnkit::graph& g = state_.graph.value();
    if (const auto bound = state_.options.bind.find(v.name); bound != state_.options.bind.end()) {
      const host_tensor& t = bound->second;
      bool fits = t.type == v.type.type && t.dims.size() == v.type.dims.size();
      for (std::size_t d = 0; fits && d < t.dims.size(); ++d)
        fits = !v.type.dims[d].is_known() || v.type.dims[d] == dim(t.dims[d]);
      if (!fits)
        throw refusal{"the value given is " + t.describe() + ", the model says " +
                      std::string(dnnkit::name(v.type.type)) + " " + dnnkit::print(g.symbols, v.type.dims).str()};
      v.known = std::make_shared<known_elements>(to_known(t));
      v.type.dims = v.known->dims;
    } else {
      const value_id id = g.add_value({g.store(v.name), v.type, origin::input, none, {}});
      g.inputs.push_back(id);
      v.data = tensor(&state_.graph, id);
    }
    v.understood = true;
    v.from = state_.provenance_of_input(v);
  }
  // A declared type; every dimension that is no number is a symbol.
  tensor_type type_of(const value_info& i) {
    if (i.kind != value_kind::tensor)
      throw refusal{"is no tensor but of kind " + std::string(onnx::name(i.kind)) + ", which is not supported"};
    const auto type = dtype_of(i.data_type);
    if (!type) throw refusal{"element type " + data_type_name(i.data_type) + " is not supported"};
    if (!i.shape) throw refusal{"has no shape, not even a rank"};
    if (i.shape->size() > max_rank) throw refusal{"a rank above 8 is not supported"};
    tensor_type t{*type, {}};
    for (std::size_t d = 0; d < i.shape->size(); ++d) {
      const dimension& x = (*i.shape)[d];
      if (is_number(x)) {
        if (*x.value < 0) throw refusal{"an extent is negative"};
        if (*x.value > most_extent) throw refusal{"an extent is too large"};
        t.dims.push_back(*x.value);
        continue;
      }
      const std::string name = name_of_extent(i, d);
      constexpr std::size_t longest_name = 200;
      if (name.size() > longest_name) throw refusal{"the name of an extent is too long"};
      if (const auto size = state_.options.sizes.find(name); size != state_.options.sizes.end()) {
        if (size->second < 0 || size->second > most_extent)
          throw refusal{"the value given for '" + name + "' is negative or too large"};
        t.dims.push_back(size->second);
      } else {
        symbol_table& symbols = state_.graph.value().symbols;
        if (!solutions_.has(name)) set_bounds(symbols, name, x.value == 0);
        t.dims.push_back(solutions_.of(symbols, name));
        if (t.dims.back().is_unknown()) throw refusal{"extent '" + name + "': the model has too many symbols"};
      }
    }
    return t;
  }

  // Those that were asked for; an extent that is declared as 0 may be 0, any other is 1 and more.
  void set_bounds(symbol_table& symbols, const std::string& name, bool may_be_0) {
    if (const auto range = state_.options.ranges.find(name); range != state_.options.ranges.end())
      static_cast<void>(symbols.symbol_named(name, range->second));
    else if (may_be_0) static_cast<void>(symbols.symbol_named(name, {}));
  }

  void add_initializers(scope& names, const onnx::graph& g) {
    for (std::string_view name : g.sparse_initializers) {
      report(std::string(name), "initializer", "sparse tensors are not supported");
      define(names, name, std::make_shared<imported_value>(), "initializer");
    }
    for (const tensor_data& t : g.initializers) {
      auto v = std::make_shared<imported_value>();
      v->name = names.prefix + std::string(t.name);
      v->stored = &t;
      const auto type = dtype_of(t.data_type);
      if (!type) report(v->name, "initializer", "element type " + data_type_name(t.data_type) + " is not supported");
      else if (t.dims.size() > max_rank) report(v->name, "initializer", "a rank above 8 is not supported");
      else if (std::any_of(t.dims.begin(), t.dims.end(), [](std::int64_t d) { return d < 0 || d > most_extent; }))
        report(v->name, "initializer", "an extent is negative or too large");
      else {
        v->type.type = *type;
        v->narrow = narrow_type_of(t.data_type);
        for (std::int64_t d : t.dims) v->type.dims.push_back(d);
        v->understood = true;
      }
      define(names, t.name, v, "initializer");
    }
  }

  void add_outputs(scope& names) {
    std::set<std::string_view> outputs;
    for (const value_info& o : state_.model.graph.outputs) {
      if (!outputs.insert(o.name).second) {
        report(std::string(o.name), "output", "the name is given twice");
        continue;
      }
      const value_reference v = names.find(o.name);
      if (!v) {
        report(std::string(o.name), "output", "no node computes it");
        continue;
      }
      if (!v->understood) continue;
      try {
        tensor t = state_.materialise(*v);
        if (state_.graph.value().at(t.id()).from != origin::node) {
          t = state_.graph.named(o.name, state_.graph.apply(op::identity{}, {t}));
        }
        state_.graph.output(o.name, t);
      } catch (const refusal& r) { report(std::string(o.name), "output", r.message); }
    }
    if (state_.model.graph.outputs.empty()) report("", "", "the model has no output");
  }

  // --- nodes
  void import_nodes(scope& names, const std::vector<onnx::node>& nodes) {
    for (std::size_t i : node_order(nodes)) import_node(names, nodes[i]);
  }

  // Counts what takes time and memory.
  bool are_too_many(std::size_t more) { return (nodes_ += more) > most_nodes; }
  static std::string too_many() {
    return "the model has too many nodes: more than " + std::to_string(most_nodes) +
           ", with functions inlined and loops unrolled";
  }

  void import_node(scope& names, const onnx::node& n) {
    const std::size_t failures = failures_, assumed = state_.graph.value().symbols.assumptions.size();
    std::vector<value_reference> results;
    if (are_too_many(1)) {
      if (!std::exchange(said_too_many_, true)) report(n, names, too_many());
      return;
    }
    try {
      results = convert(names, n);
    } catch (const refusal& r) { report(n, names, r.message, r.extents); } catch (const error& e) {
      report(n, names, e.what());
    } catch (const std::length_error&) {
      report(n, names, "a list is longer than supported");
    } catch (const std::invalid_argument&) { report(n, names, "an extent is negative"); }
    state_.graph.value().name_assumptions(assumed, text(n.op_type)
                                                       << " '" << (names.prefix + std::string(name_of(n))) << "'");
    if (failures_ != failures) results.clear();
    mark_narrow(names, n, results);
    results.resize(n.outputs.size());
    for (std::size_t i = 0; i < n.outputs.size(); ++i) {
      if (n.outputs[i].empty()) continue;
      value_reference v = results[i] ? results[i] : std::make_shared<imported_value>();
      if (v->name.empty()) v->name = names.prefix + std::string(n.outputs[i]);
      if (v->understood && v->from == no_provenance && !v->is_input && !v->known && v->stored == nullptr) {
        std::vector<provenance> operands;
        for (std::string_view input : n.inputs)
          if (!input.empty()) operands.push_back(names.find(input)->from);
        v->from = state_.provenance_of(std::move(operands));
      }
      if (define(names, n.outputs[i], v, std::string(n.op_type)) && v->understood && !v->items)
        state_.tensors.insert_or_assign(names.prefix + std::string(n.outputs[i]), v);
    }
  }

  std::vector<value_reference> convert(scope& names, const onnx::node& n) {
    for (std::string_view i : n.inputs)
      if (!i.empty() && !names.find(i)) throw refusal{"input '" + std::string(i) + "' is computed by no earlier node"};
    if (const onnx::function* f = function_of(n)) return inline_function(names, n, *f);
    const converter converts = converter_of(n.domain, n.op_type);
    const bool controls = has_subgraphs(n);
    if (converts == nullptr && !controls) {
      state_.problems.has_unknown_operators = true;
      throw refusal{reason_not_to_convert(n.domain)};
    }
    for (std::string_view i : n.inputs)
      if (!i.empty() && !names.find(i)->understood) return {};
    if (controls) return import_control_flow(names, n);

    const std::int64_t opset = names.opset_of(n.domain);
    if (is_onnx(n.domain)) {
      node_context c(state_, names, n, opset);
      if (evaluate_on_known_elements(c)) return finished(c);
      if (std::optional<std::vector<value_reference>> folded = fold(names, n, opset, converts)) return *folded;
    }
    node_context c(state_, names, n, opset);
    const builder::name_scope name(state_.graph, names.prefix + std::string(name_of(n)));
    converts(c);
    return finished(c);
  }
  // The outputs, once nothing is left that was not understood.
  static std::vector<value_reference> finished(node_context& c) {
    if (const std::string_view name = c.not_understood(); !name.empty())
      node_context::refuse("attribute '" + std::string(name) + "' is not supported");
    for (std::size_t i = 0; i < c.node.outputs.size(); ++i)
      if (c.wants(i) && !c.results()[i]) node_context::refuse("output " + std::to_string(i) + " is not supported");
    return c.results();
  }

  static bool is_one_of(std::span<const std::string_view> operators, std::string_view type) {
    return std::find(operators.begin(), operators.end(), type) != operators.end();
  }

  // A node whose inputs are all known numbers, and whose outputs are small, is computed by the reference evaluator.
  std::optional<std::vector<value_reference>> fold(scope& names, const onnx::node& n, std::int64_t opset,
                                                   converter converts) {
    if (n.inputs.empty() || n.op_type == "Constant" || is_one_of(with_unbounded_work, n.op_type)) return std::nullopt;
    for (std::string_view i : n.inputs) {
      if (i.empty()) continue;
      const known_elements* k = state_.elements(*names.find(i), false);
      std::size_t count = 0;
      if (k == nullptr || !k->is_numeric() || !k->countable(count)) return std::nullopt;
    }
    builder scratch;
    struct leave {
      import_state& s;
      ~leave() { s.set_scratch(nullptr); }
    } guard{state_};
    state_.set_scratch(&scratch);
    node_context c(state_, names, n, opset);
    const builder::name_scope name(scratch, name_of(n));
    converts(c);
    std::vector<value_reference> results = finished(c);
    std::vector<std::size_t> computed;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i] || !results[i]->data.present() || &results[i]->data.owner() != &scratch) continue;
      std::size_t count = 0;
      if (!is_one_of(selecting, n.op_type) && !known_elements::countable(results[i]->type.dims, count))
        return std::nullopt;
      scratch.output(std::to_string(i), results[i]->data);
      computed.push_back(i);
    }
    if (computed.empty()) return results;
    const std::vector<host_tensor> values = evaluate(scratch.value(), std::vector<host_tensor>{});
    for (std::size_t k = 0; k < computed.size(); ++k) {
      auto v = std::make_shared<imported_value>();
      v->understood = true;
      v->known = std::make_shared<known_elements>(to_known(values[k]));
      v->type = {v->known->type, v->known->dims};
      results[computed[k]] = v;
    }
    return results;
  }

  // --- functions and branches
  const onnx::function* function_of(const onnx::node& n) const {
    if (is_onnx(n.domain) && converter_of(n.domain, n.op_type) != nullptr) return nullptr;
    for (const onnx::function& f : state_.model.functions)
      if (f.name == n.op_type && f.overload == n.overload &&
          (f.domain == n.domain || (is_onnx(f.domain) && is_onnx(n.domain))))
        return &f;
    return nullptr;
  }

  // What a function has a problem with is looked at once, not at every call.
  std::vector<value_reference> inline_function(scope& names, const onnx::node& n, const onnx::function& f) {
    if (failed_.contains(&f)) return ++failures_, std::vector<value_reference>{};
    if (names.depth >= most_depth) throw refusal{"functions are nested too deeply, or call themselves"};
    scope inner;
    inner.opsets = &f.opset_imports;
    inner.depth = names.depth + 1;
    inner.prefix = names.prefix + std::string(name_of(n)) + "/";
    for (const attribute& a : f.default_attributes) inner.function_attributes.insert_or_assign(std::string(a.name), &a);
    for (const attribute& a : n.attributes) {
      if (a.ref_attr_name.empty()) inner.function_attributes.insert_or_assign(std::string(a.name), &a);
      else if (const attribute* given = names.function_attribute(a.ref_attr_name))
        inner.function_attributes.insert_or_assign(std::string(a.name), given);
    }
    if (n.inputs.size() > f.inputs.size()) throw refusal{"has more inputs than its function"};
    for (std::size_t i = 0; i < f.inputs.size() && i < n.inputs.size(); ++i)
      if (!n.inputs[i].empty()) define(inner, f.inputs[i], names.find(n.inputs[i]), "function");
    const std::size_t failures = failures_;
    import_nodes(inner, f.nodes);
    if (failures_ != failures) failed_.insert(&f);
    return taken(inner, f.outputs, n.outputs.size());
  }

  // --- control flow
  std::vector<value_reference> import_control_flow(scope& names, const onnx::node& n) {
    node_context c(state_, names, n, names.opset_of(n.domain));
    if (names.depth >= most_depth) throw refusal{"subgraphs are nested too deeply"};
    const builder::name_scope name(state_.graph, names.prefix + std::string(name_of(n)));
    if (n.op_type == "If") return import_if(*this, names, c);
    if (n.op_type == "FlexAttention") return import_flex_attention(*this, names, c);
    return n.op_type == "Loop" ? import_loop(*this, names, c) : import_scan(*this, names, c);
  }

 public:
  std::optional<bool> choice_at(const scope& names, const onnx::node& n) const {
    const auto found = choices_.find(names.prefix + std::string(name_of(n)));
    return found == choices_.end() ? std::nullopt : std::optional(found->second);
  }
  void choose(const scope& names, const onnx::node& n, bool taken) {
    choices_.insert_or_assign(names.prefix + std::string(name_of(n)), taken);
    has_chosen_ = true;
  }
  std::size_t failures() const { return failures_; }

  // One pass through a body that sees `names`; `round` tells the names of its nodes from those of other passes.
  std::vector<value_reference> run_body(const scope& names, const onnx::graph& body,
                                        const std::vector<value_reference>& arguments, const std::string& round) {
    if (are_too_many(1 + body.initializers.size())) {
      said_too_many_ = true;
      throw refusal{too_many()};
    }
    scope inner;
    inner.outer = &names;
    inner.opsets = names.opsets;
    inner.depth = names.depth + 1;
    inner.prefix = round.empty() ? names.prefix : names.prefix + round + "/";
    if (body.inputs.size() != arguments.size()) throw refusal{"a body has another number of inputs than it is given"};
    for (std::size_t i = 0; i < arguments.size(); ++i) define(inner, body.inputs[i].name, arguments[i], "body");
    add_initializers(inner, body);
    // What no result needs is neither computed nor checked: what it needs of extents is not assumed either.
    const std::vector<bool> needed = needed_nodes(body.nodes, body.outputs);
    for (std::size_t i : node_order(body.nodes))
      if (needed[i]) import_node(inner, body.nodes[i]);
    name_list outputs;
    for (const value_info& o : body.outputs) outputs.push_back(o.name);
    return taken(inner, outputs, outputs.size());
  }

 private:
  static std::vector<value_reference> taken(const scope& inner, const name_list& outputs, std::size_t wanted) {
    if (wanted > outputs.size()) throw refusal{"has more outputs than its body"};
    std::vector<value_reference> results;
    for (std::size_t i = 0; i < wanted; ++i) {
      const value_reference v = inner.find(outputs[i]);
      if (!v) throw refusal{"output '" + std::string(outputs[i]) + "' is computed by no node of its body"};
      results.push_back(v->understood ? v : nullptr);
    }
    return results;
  }

  import_state state_;
  solved_symbols solutions_;
  branch_choices& choices_;
  bool has_chosen_ = false;
  std::size_t nodes_ = 0;
  std::size_t failures_ = 0;  // problems that were met, whether they were said or not
  std::set<std::pair<const onnx::node*, std::string>> said_;
  std::set<const onnx::function*> failed_;
  bool said_too_many_ = false;
};

}  // namespace detail

}  // namespace dnnkit::onnx
