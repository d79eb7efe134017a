// SPDX-License-Identifier: MIT
// The graph: flat lists of nodes and values, the same at compile time and at run time (DNNFusion's extended
// computational graph: what an operator is and may do hangs on its op_info).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/operator/op_info.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit {

using value_id = std::int32_t;
using node_id = std::int32_t;
inline constexpr std::int32_t none = -1;

// A stretch of one of the graph's pools.
struct slice_of {
  std::uint32_t first = 0, count = 0;
};

enum class origin : std::uint8_t { input, weight, constant, node };

// Is this the name of a node that has no other than its operator's, perhaps with a number (graph/name_apart.hpp)?
constexpr bool is_name_of_operator(std::string_view name, std::string_view op) {
  return name.starts_with(op) && (name.size() == op.size() || name.substr(op.size()).starts_with(" #"));
}

struct value {
  slice_of name;
  tensor_type type;
  origin from = origin::node;
  node_id producer = none;  // of origin::node
  slice_of data;            // of origin::constant: elements in graph::constants; one element stands for all
};

struct node {
  const op_info* op = &no_operator;
  slice_of name;
  slice_of attributes;  // in graph::attributes
  slice_of inputs;      // in graph::operands; none for an optional input left out
  value_id output = none;
};

struct graph {
  vector<node> nodes;  // in topological order
  vector<value> values;
  vector<value_id> inputs, outputs;
  vector<slice_of> output_names;
  vector<value_id> operands;
  vector<std::int64_t> attributes;
  vector<std::int64_t> constants;  // integers, or the bits of doubles for floating types
  vector<char> characters;
  symbol_table symbols;
  vector<shape> declared_inputs;  // where settle() has replaced symbols in inputs: their extents before that
  bool settled = true;            // no assumption has been made since values were inferred
  text error;                     // the first thing that went wrong while building; empty when nothing did
  text error_place;               // the line of the program where that was, "model.cpp:12"; empty when it is not known
  std::size_t error_reason = 0;   // where in `error` the reason begins, behind the words that say which node
  node_id wrong = none;           // the node that `error` is about

  // The next `count` entries of a pool.
  template <class T> static constexpr slice_of end_of(const vector<T>& pool, std::size_t count) {
    return {static_cast<std::uint32_t>(pool.count), static_cast<std::uint32_t>(count)};
  }

  constexpr std::string_view text_of(slice_of s) const { return {characters.items + s.first, s.count}; }
  constexpr slice_of store(std::string_view s) {
    const char* const from = s.data();
    const std::size_t n = s.size();
    const slice_of r = end_of(characters, n);
    characters.append(from, from + n);
    return r;
  }
  constexpr std::string_view name_of(value_id v) const { return text_of(at(v).name); }

  // "Conv 'conv1'"; "Relu", or "Relu #2", where the node has no other name.
  constexpr text label_of(const node& n) const {
    const std::string_view op = n.op->name, name = text_of(n.name);
    text label = name.empty() || is_name_of_operator(name, op) ? std::string_view() : op;
    if (label.length != 0) return label << " '" << name << "'";
    return name.empty() ? text(op) : text(name);
  }

  constexpr value& at(value_id v) { return values.items[v]; }
  constexpr const value& at(value_id v) const { return values.items[v]; }
  constexpr node& node_at(node_id n) { return nodes.items[n]; }
  constexpr const node& node_at(node_id n) const { return nodes.items[n]; }

  constexpr value_id input_of(const node& n, std::size_t i) const {
    return i < n.inputs.count ? operands.items[n.inputs.first + i] : none;
  }
  constexpr const std::int64_t* attributes_of(const node& n) const { return attributes.items + n.attributes.first; }
  template <class Op> constexpr bool is(const node& n) const { return n.op->id == id_of<Op>; }
  template <class Op> constexpr Op as(const node& n) const { return decode<Op>(attributes_of(n)); }

  constexpr value_id add_value(const value& v) {
    const auto id = static_cast<value_id>(values.count);
    values.push_back(v);
    return id;
  }

  // Appends a node computing `op` with attributes as encoded, infers its output, and returns that output. A wrong
  // input is noted in `error` as "Conv 'conv1' (node 7, weight 'conv1.weight'): what is wrong", and the output's
  // shape is then empty.
  constexpr value_id add_node(const op_info& op, std::string_view name, const vector<std::int64_t>& codes,
                              const vector<value_id>& ins) {
    const node n{&op, store(name), end_of(attributes, codes.size()), end_of(operands, ins.size()), none};
    attributes.append(codes.begin(), codes.end());
    operands.append(ins.begin(), ins.end());
    return add_node(n);
  }
  // The same with everything but the output in the pools already.
  constexpr value_id add_node(const node& n) { return add_node(n, infer(n, static_cast<node_id>(nodes.count))); }
  // The same where the output's type is known.
  constexpr value_id add_node(node n, const tensor_type& type) {
    n.output = add_value({n.name, type, origin::node, static_cast<node_id>(nodes.count), {}});
    nodes.push_back(n);
    return n.output;
  }

  // Gives a node another name, by which an error about it then calls it.
  constexpr void rename(node_id n, slice_of name) {
    node& x = node_at(n);
    x.name = name;
    at(x.output).name = name;
    if (n != wrong) return;
    const text reason = error.view().substr(error_reason);
    error = {};
    refuse(x, n, reason);
  }

  // What the operator's inference sees: its inputs' types.
  constexpr inference inference_of(const node& n) {
    inference c(symbols);
    const value_id* const inputs_of_n = operands.items + n.inputs.first;
    for (std::uint32_t i = 0; i < n.inputs.count; ++i)
      if (const value_id v = inputs_of_n[i]; v == none) c.add_absent_input();
      else c.add_input(values.items[v].type);
    return c;
  }

  // Of node number `k`. What is assumed for its sake is noted with its name.
  constexpr tensor_type infer(const node& n, node_id k) {
    if (error.length != 0) return {};
    inference c = inference_of(n);
    const std::size_t assumed = symbols.assumptions.count;
    n.op->infer(attributes_of(n), c);
    if (symbols.assumptions.count != assumed) name_assumptions(assumed, label_of(n));
    if (const tensor_type* const output = c.output()) return *output;
    refuse(n, k, c.error().empty() ? "shape inference gave no output" : c.error().view());
    return {};
  }

  // Says of the assumptions from number `first` on, where nobody has, what they were made for.
  constexpr void name_assumptions(std::size_t first, std::string_view needed_by) {
    for (std::size_t i = first; i < symbols.assumptions.count; ++i)
      if (assumption& a = symbols.assumptions.items[i]; a.needed_by.empty()) a.needed_by = needed_by;
    settled = settled && first >= symbols.assumptions.count;
  }
  // Infers all values again, with what assumptions replace, also in inputs; drops assumptions that follow from others.
  constexpr void settle() {
    if (settled) return;
    while (!settled) {
      settled = true;
      settle_inputs();
      for (std::size_t k = 0; k < nodes.count; ++k) {
        const node& n = nodes.items[k];
        tensor_type type = infer(n, static_cast<node_id>(k));
        if (error.length != 0) return;
        const shape& said = at(n.output).type.dims;  // may say more
        for (std::size_t d = 0; d < type.dims.count && type.dims.count == said.count; ++d)
          if (type.dims[d].is_unknown()) type.dims[d] = symbols.settled(said[d]);
        at(n.output).type = type;
      }
    }
    symbols.drop_implied();
  }

  // Notes, unless something is wrong already, what is wrong with node number `k`.
  constexpr void refuse(const node& n, node_id k, std::string_view reason) {
    if (error.length != 0) return;
    wrong = k;
    error << label_of(n) << " (node " << k;
    const char* separator = ", weight '";
    for (std::uint32_t i = 0; i < n.inputs.count; ++i)
      if (const value_id v = input_of(n, i); v != none && at(v).from == origin::weight) {
        error << separator << text_of(at(v).name) << "'";
        separator = " and '";
      }
    error << "): ";
    error_reason = error.length;
    error << reason;
  }

  // The extents of input number `i` before symbols were replaced: those that the caller's tensor tells symbols by.
  constexpr const shape& declared_input(std::size_t i) const {
    return declared_inputs.empty() ? at(inputs[i]).type.dims : declared_inputs[i];
  }

  // Which positions of its input number `i` the node reads.
  constexpr footprint footprint_of(const node& n, std::size_t i) {
    inference c = inference_of(n);
    c.out(values[n.output].type.type, values[n.output].type.dims);
    return n.op->reads(attributes_of(n), c, i);
  }

  // Floating-point operations of one run of the node (a multiply-add counts as two).
  constexpr dim flops_of(const node& n) {
    inference c = inference_of(n);
    c.out(values[n.output].type.type, values[n.output].type.dims);
    return n.op->flops(attributes_of(n), c);
  }

 private:
  constexpr void settle_inputs() {
    bool changes = false;
    for (value_id v : inputs)
      for (dim d : at(v).type.dims) changes = changes || !(symbols.settled(d) == d);
    if (!changes) return;
    if (declared_inputs.empty())
      for (value_id v : inputs) declared_inputs.push_back(at(v).type.dims);
    for (value_id v : inputs)
      for (dim& d : at(v).type.dims) d = symbols.settled(d);
  }
};

}  // namespace dnnkit
