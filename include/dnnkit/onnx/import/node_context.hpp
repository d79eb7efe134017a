// SPDX-License-Identifier: MIT
// What a converter sees of the ONNX node it converts: attributes, inputs (as tensors, shapes or known elements), and
// where its outputs go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/state.hpp"

namespace dnnkit::onnx {

class node_context {
 public:
  node_context(import_state& s, scope& visible, const onnx::node& n, std::int64_t version)
      : state(s),
        names(visible),
        node(n),
        opset(version),
        arithmetic(s.target().value().symbols),
        outputs_(n.outputs.size()) {
    for (std::string_view name : n.inputs) inputs_.push_back(name.empty() ? nullptr : names.find(name));
  }

  import_state& state;
  scope& names;
  const onnx::node& node;
  const std::int64_t opset;
  element_arithmetic arithmetic;

  [[noreturn]] static void refuse(std::string message) { throw refusal{std::move(message)}; }
  static void require(bool ok, std::string_view message) {
    if (!ok) refuse(std::string(message));
  }
  // Refuses extents that are no numbers; of several that one operator needs, all are given at once.
  static void require_known(std::vector<dim> extents, std::string_view message) {
    for (const dim d : extents)
      if (!d.is_known()) throw refusal{std::string(message), std::move(extents)};
  }

  // --- inputs
  std::size_t inputs() const { return inputs_.size(); }
  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  imported_value& value(std::size_t i) const {
    if (!has(i)) refuse("input " + std::to_string(i) + " is missing");
    return *inputs_[i];
  }
  const value_reference& reference(std::size_t i) const {
    static_cast<void>(value(i));
    return inputs_[i];
  }
  dtype type(std::size_t i) const { return value(i).type.type; }
  const shape& dims(std::size_t i) const { return value(i).type.dims; }
  std::size_t rank(std::size_t i) const { return dims(i).size(); }
  // The input as a tensor of the graph; refuses one left out.
  tensor in(std::size_t i) const { return state.materialise(value(i)); }
  // All of them; tensor{} for those left out.
  std::vector<tensor> all_inputs() const {
    std::vector<tensor> all;
    for (std::size_t i = 0; i < inputs(); ++i) all.push_back(has(i) ? in(i) : tensor{});
    return all;
  }
  // What is known of the input's elements, null when that is nothing.
  const known_elements* known(std::size_t i) const { return has(i) ? state.elements(*inputs_[i], false) : nullptr; }
  // The elements of an input that decides a shape or an attribute.
  const known_elements& elements(std::size_t i, std::string_view what) const {
    const known_elements* k = state.elements(value(i), true);
    if (k != nullptr) return *k;
    const bool bound = state.wants_bound(value(i));
    refuse(std::string(what) + " ('" + value(i).name + "') must be known when the model is imported" +
           (bound ? ": give the values of the inputs it depends on" : ""));
  }
  // The same as a flat list of numbers, of dimensions, as one number, as one dimension.
  std::vector<std::int64_t> numbers(std::size_t i, std::string_view what) const {
    const known_elements& k = elements(i, what);
    std::vector<std::int64_t> list;
    for (std::size_t e = 0; e < count_of(k, what); ++e) {
      const known_element& x = k.at(e);
      if (!x.is_number())
        throw refusal{std::string(what) + " ('" + value(i).name + "') must be a number, not an expression",
                      {arithmetic.to_dim(x)}};
      list.push_back(x.number);
    }
    return list;
  }
  std::vector<dim> extents(std::size_t i, std::string_view what) const {
    const known_elements& k = elements(i, what);
    std::vector<dim> list;
    for (std::size_t e = 0; e < count_of(k, what); ++e) list.push_back(arithmetic.to_dim(k.at(e)));
    return list;
  }
  std::vector<double> reals(std::size_t i, std::string_view what) const {
    const known_elements& k = elements(i, what);
    std::vector<double> list;
    for (std::size_t e = 0; e < count_of(k, what); ++e) {
      if (!k.at(e).is_numeric())
        throw refusal{std::string(what) + " ('" + value(i).name + "') must be a number, not an expression",
                      {arithmetic.to_dim(k.at(e))}};
      list.push_back(k.at(e).as_real());
    }
    return list;
  }
  std::int64_t number(std::size_t i, std::string_view what) const {
    const std::vector<std::int64_t> list = numbers(i, what);
    if (list.size() != 1) refuse(std::string(what) + " must be one number");
    return list[0];
  }
  dim extent(std::size_t i, std::string_view what) const {
    const std::vector<dim> list = extents(i, what);
    if (list.size() != 1) refuse(std::string(what) + " must be one number");
    if (list[0].is_unknown())
      refuse(std::string(what) + " ('" + value(i).name +
             "') must be a number or an expression of sizes, not computed from elements");
    return list[0];
  }
  double real(std::size_t i, std::string_view what) const {
    const std::vector<double> list = reals(i, what);
    if (list.size() != 1) refuse(std::string(what) + " must be one number");
    return list[0];
  }

  // --- attributes; asking for one says that it is understood
  const attribute* find(std::string_view name) {
    understood_.insert(std::string(name));
    const attribute* a = node.find(name);
    if (a == nullptr || a->ref_attr_name.empty()) return a;
    return names.function_attribute(a->ref_attr_name);
  }
  const attribute* find(std::string_view name, attribute_type type) {
    const attribute* a = find(name);
    if (a == nullptr || a->type == type) return a;
    refuse("attribute '" + std::string(name) + "' is of type " + std::string(onnx::name(a->type)) + ", expected " +
           std::string(onnx::name(type)));
  }
  bool has_attribute(std::string_view name) { return find(name) != nullptr; }
  std::int64_t integer(std::string_view name, std::int64_t fallback) {
    const attribute* a = find(name, attribute_type::integer);
    return a ? a->i : fallback;
  }
  std::int64_t integer(std::string_view name) {
    const attribute* a = find(name, attribute_type::integer);
    if (!a) refuse("attribute '" + std::string(name) + "' is missing");
    return a->i;
  }
  bool flag(std::string_view name, bool fallback) { return integer(name, fallback ? 1 : 0) != 0; }
  float real_attribute(std::string_view name, float fallback) {
    const attribute* a = find(name, attribute_type::real);
    return a ? a->f : fallback;
  }
  std::string word(std::string_view name, std::string_view fallback) {
    const attribute* a = find(name, attribute_type::string);
    return std::string(a ? a->s : fallback);
  }
  std::optional<std::vector<std::int64_t>> integers(std::string_view name) {
    const attribute* a = find(name, attribute_type::integers);
    return a ? std::optional(a->ints) : std::nullopt;
  }
  std::optional<std::vector<float>> reals(std::string_view name) {
    const attribute* a = find(name, attribute_type::reals);
    return a ? std::optional(a->floats) : std::nullopt;
  }
  // The number of a word in a list of words; refuses others.
  std::int64_t choice(std::string_view attribute_name, std::initializer_list<std::string_view> words,
                      std::string_view fallback) {
    const std::string chosen = word(attribute_name, fallback);
    std::int64_t i = 0;
    for (std::string_view w : words) {
      if (w == chosen) return i;
      ++i;
    }
    refuse("attribute '" + std::string(attribute_name) + "' is '" + chosen + "', which is not supported");
  }
  // An attribute that does not change the result.
  void ignore(std::string_view name) { static_cast<void>(find(name)); }
  // The first attribute that no converter asked for; empty when all were understood.
  std::string_view not_understood() const {
    for (const attribute& a : node.attributes)
      if (!understood_.contains(a.name)) return a.name;
    return {};
  }

  // --- outputs
  bool wants(std::size_t i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }
  void out(std::size_t i, tensor t) {
    if (i >= outputs_.size()) return;
    auto v = std::make_shared<imported_value>();
    v->understood = true;
    v->type = t.owner().value().at(t.id()).type;
    v->data = t;
    outputs_[i] = std::move(v);
  }
  void out(std::size_t i, known_elements k) {
    if (i >= outputs_.size()) return;
    auto v = std::make_shared<imported_value>();
    v->understood = true;
    v->type = {k.type, k.dims};
    v->known = std::make_shared<known_elements>(std::move(k));
    outputs_[i] = std::move(v);
  }
  // The output is another tensor under a new name.
  void alias(std::size_t i, value_reference v) {
    if (i < outputs_.size()) outputs_[i] = std::move(v);
  }
  const std::vector<value_reference>& results() const { return outputs_; }

  // --- building; nodes take the ONNX node's name
  builder& graph() { return state.target(); }
  symbol_table& table() { return state.target().value().symbols; }
  template <operator_type Op> tensor apply(const Op& op, std::initializer_list<tensor> inputs) {
    const tensor t = graph().apply(op, inputs);
    check();
    return t;
  }
  template <operator_type Op> tensor apply(const Op& op, const std::vector<tensor>& inputs) {
    vector<tensor> list;
    for (tensor t : inputs) list.push_back(t);
    const tensor t = graph().apply(op, list);
    check();
    return t;
  }
  // Refuses what inference refused, and leaves the graph as if it had not.
  void check() {
    dnnkit::graph& g = graph().value();
    if (g.error.empty()) return;
    std::string message(g.error.view().substr(g.error_reason));
    g.error = {};
    refuse(std::move(message));
  }

 private:
  std::size_t count_of(const known_elements& k, std::string_view what) const {
    std::size_t count = 0;
    if (!k.countable(count)) refuse(std::string(what) + " has too many elements");
    if (k.items.size() != count && k.items.size() != 1) refuse(std::string(what) + " is not known");
    return count;
  }

  std::vector<value_reference> inputs_, outputs_;
  std::set<std::string, std::less<>> understood_;
};

}  // namespace dnnkit::onnx
