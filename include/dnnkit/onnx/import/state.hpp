// SPDX-License-Identifier: MIT
// What an import knows while it walks the nodes: the ONNX tensors met so far, by name and scope, and the graph as far
// as it is built.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/graph/builder.hpp"
#include "dnnkit/onnx/format/model.hpp"
#include "dnnkit/onnx/format/narrow_types.hpp"
#include "dnnkit/onnx/format/stored_tensors.hpp"
#include "dnnkit/onnx/import/element_arithmetic.hpp"
#include "dnnkit/onnx/import/known_elements.hpp"
#include "dnnkit/onnx/import/result.hpp"
#include "dnnkit/op/arithmetic.hpp"
#include "dnnkit/op/cast.hpp"
#include "dnnkit/op/comparison.hpp"
#include "dnnkit/op/concat.hpp"
#include "dnnkit/op/dims.hpp"
#include "dnnkit/op/movement.hpp"

namespace dnnkit::onnx {

// Why a node cannot be imported; thrown by converters, and kept as an import_problem.
struct refusal {
  std::string message;
  std::vector<dim> extents = {};  // that would have to be numbers, and are not
};

// Which inputs that may decide shapes a value was computed from: the number of an entry in import_state's table. Values
// do not hold each other, so that a chain of any length is walked and freed without recursion.
using provenance = std::size_t;
inline constexpr provenance no_provenance = 0;

// An ONNX tensor.
struct imported_value {
  std::string name;
  bool understood = false;  // false: it depends on something that could not be imported
  tensor_type type;
  const narrow_type* narrow = nullptr;          // ONNX's type, where `type` only holds its elements
  tensor data;                                  // in the graph, once something reads it there
  const tensor_data* stored = nullptr;          // where the file keeps its elements
  std::shared_ptr<const known_elements> known;  // as far as its elements are known
  provenance from = no_provenance;              // what it was computed from
  bool is_input = false;                        // of the model
  bool is_uniform = false;                      // `known` are the elements of a constant, all of them the same
  std::shared_ptr<const std::vector<std::shared_ptr<imported_value>>> items;  // of a sequence, which is no tensor
};
using value_reference = std::shared_ptr<imported_value>;

// The names of one graph (or function body), and those of the graphs around it.
struct scope {
  std::map<std::string, value_reference, std::less<>> values;
  const scope* outer = nullptr;
  std::map<std::string, const attribute*, std::less<>> function_attributes;  // what ref_attr_name means in a function
  const std::vector<opset_import>* opsets = nullptr;
  std::string prefix;  // of the names of nodes and weights
  std::size_t depth = 0;

  value_reference find(std::string_view name) const {
    for (const scope* s = this; s != nullptr; s = s->outer)
      if (const auto found = s->values.find(name); found != s->values.end()) return found->second;
    return nullptr;
  }
  const attribute* function_attribute(std::string_view name) const {
    for (const scope* s = this; s != nullptr; s = s->outer)
      if (const auto found = s->function_attributes.find(name); found != s->function_attributes.end())
        return found->second;
    return nullptr;
  }
  // The version of a domain's operators; 0 when the model does not import it.
  std::int64_t opset_of(std::string_view domain) const {
    const auto plain = [](std::string_view d) { return d == "ai.onnx" ? std::string_view() : d; };
    for (const opset_import& o : *opsets)
      if (plain(o.domain) == plain(domain)) return o.version;
    return 0;
  }
};

class import_state {
 public:
  import_state(const onnx::model& m, const import_options& o) : model(m), options(o), stored_(m) {}

  const onnx::model& model;
  const import_options& options;
  builder graph;
  import_problems problems;
  std::set<std::string> inputs_to_bind, inputs_that_choose;
  std::map<std::string, const tensor_data*, std::less<>> weights;
  std::map<std::string, value_reference, std::less<>> tensors;

  // A constant of at most this many elements is written into the graph; more are a weight if the file stores them.
  static constexpr std::size_t most_inline = 64;
  // A list of at most this many reals may be scales, one an axis.
  static constexpr std::size_t most_scales = max_rank;

  // Where nodes are appended: the graph, or another one while something is folded.
  builder& target() { return scratch_ == nullptr ? graph : *scratch_; }
  bool folds() const { return scratch_ != nullptr; }
  void set_scratch(builder* b) { scratch_ = b; }

  // The elements of v as far as they are known. Those in the file are read if there are few of them, or if `wanted`;
  // null when nothing is known.
  const known_elements* elements(imported_value& v, bool wanted) {
    if (v.known) return v.known.get();
    if (v.stored == nullptr || !v.understood) return nullptr;
    std::size_t count = 0;
    if (!known_elements::countable(v.type.dims, count)) return nullptr;
    if (!wanted && is_floating(v.type.type) && (count > most_scales || v.type.dims.size() > 1)) return nullptr;
    if (!wanted && count > 1024) return nullptr;
    try {
      v.known = std::make_shared<known_elements>(to_known(options.load(*v.stored)));
    } catch (const error&) {
      if (wanted) throw;
      return nullptr;
    }
    return v.known.get();
  }

  // Makes the elements of v, a constant of the model's own, known if there are several and all are the same: then they
  // are no weight, which a file with other weights may have otherwise, but one number.
  void note_equal_elements(imported_value& v) {
    std::size_t count = 0;
    if (!known_elements::countable(v.type.dims, count) || count < 2) return;
    try {
      auto k = std::make_shared<known_elements>(to_known(options.load(*v.stored)));
      const auto bits = [](const known_element& e) { return std::bit_cast<std::uint64_t>(e.as_real()); };
      for (const known_element& e : k->items)
        if (bits(e) != bits(k->items[0])) return;
      v.known = std::move(k);
      v.is_uniform = true;
    } catch (const error&) {  // what is wrong with it is said when it is read
    }
  }

  // The provenance of an input of the model. Images and the like have none: only integers and short lists decide
  // shapes.
  provenance provenance_of_input(const imported_value& v) {
    std::size_t count = 0;
    const bool list = v.type.dims.size() <= 1 && known_elements::countable(v.type.dims, count) && count <= 2 * max_rank;
    if (is_floating(v.type.type) && !list) return no_provenance;
    origins_.push_back({v.name, {}});
    return origins_.size();
  }
  // That of a value computed from values of these.
  provenance provenance_of(std::vector<provenance> operands) {
    std::sort(operands.begin(), operands.end());
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    if (!operands.empty() && operands.front() == no_provenance) operands.erase(operands.begin());
    if (operands.empty()) return no_provenance;
    if (operands.size() == 1) return operands.front();
    origins_.push_back({{}, std::move(operands)});
    return origins_.size();
  }
  // Notes the inputs of the model whose values would make v's elements known; false when there is none.
  bool wants_bound(const imported_value& v) {
    note_origins(v, &origin_of_values::noted, inputs_to_bind);
    return v.from != no_provenance;
  }
  // The same of v that chooses a branch, where both are imported.
  void note_choice(const imported_value& v) { note_origins(v, &origin_of_values::chooses, inputs_that_choose); }

  // v as a value of the graph: made when it is first asked for. Throws refusal.
  tensor materialise(imported_value& v) {
    if (folds()) {
      const known_elements* k = elements(v, false);
      if (k == nullptr) throw refusal{"an element that should be known is not"};
      return constant(*k);
    }
    if (v.data.present()) return v.data;
    if (v.items) throw refusal{"'" + v.name + "' is a sequence, where a tensor is expected"};
    std::size_t count = 0;
    const bool few =
        known_elements::countable(v.type.dims, count) && count <= (is_floating(v.type.type) ? 1 : most_inline);
    const known_elements* k = v.stored == nullptr || v.is_uniform || few ? elements(v, false) : nullptr;
    if (k != nullptr && !k->is_numeric() && !k->has_unknown() && target().is_in_branch())
      return constant(*k);  // extents are here what the branch needs them to be, and not elsewhere
    if (k != nullptr && !k->has_unknown()) v.data = constant(*k);
    else if (v.stored != nullptr) v.data = weight(v);
    else if (k != nullptr)
      throw refusal{"the values of '" + v.name + "' are used as data, and depend on an extent that is not known"};
    else throw refusal{"'" + v.name + "' has no value"};
    return v.data;
  }

  tensor constant(const known_elements& k) {
    builder& b = target();
    if (!k.is_numeric()) return expressions(k);
    vector<std::int64_t> codes;
    bool uniform = !k.items.empty();
    for (const known_element& e : k.items) uniform = uniform && e == k.items[0];
    for (std::size_t i = 0; i < (uniform ? 1 : k.items.size()); ++i) {
      const known_element& e = k.items[i];
      codes.push_back(is_floating(k.type) ? std::bit_cast<std::int64_t>(e.as_real())
                      : e.is_number()     ? e.number
                                          : static_cast<std::int64_t>(e.real));
    }
    return b.constant_from_codes(codes, k.dims, k.type);
  }

 private:
  struct origin_of_values {
    std::string input;                 // of the model; empty when there are operands
    std::vector<provenance> operands;  // at least two
    bool noted = false;                // these inputs are among those to bind
    bool chooses = false;              // and those that choose
  };
  // Adds the inputs that v was computed from to `inputs`, and marks what has been looked at.
  void note_origins(const imported_value& v, bool origin_of_values::*mark, std::set<std::string>& inputs) {
    std::vector<provenance> open{v.from};
    while (!open.empty()) {
      const provenance p = open.back();
      open.pop_back();
      if (p == no_provenance || std::exchange(origins_[p - 1].*mark, true)) continue;
      const origin_of_values& o = origins_[p - 1];
      if (o.operands.empty()) inputs.insert(o.input);
      open.insert(open.end(), o.operands.begin(), o.operands.end());
    }
  }

  // Elements that are expressions over symbols.
  tensor expressions(const known_elements& k) {
    builder& b = target();
    const element_arithmetic arithmetic(b.value().symbols);
    std::size_t count = 0;
    if (!k.countable(count))
      throw refusal{"values computed from extents, of an extent that is not known, are used as data"};
    if (count > max_rank) throw refusal{"more than 8 values computed from extents are used as data"};
    if (std::any_of(k.items.begin(), k.items.end(), [](const known_element& e) { return e.is_comparison(); }))
      return comparisons(k, count);
    op::dims values, denominators;
    bool fractions = false;
    for (std::size_t i = 0; i < count; ++i) {
      const known_element& e = k.at(i);
      const dim d = e.is_fraction() ? e.expression : arithmetic.to_dim(e);
      if (d.is_unknown()) throw refusal{"a fraction is among values computed from extents"};
      values.values.push_back(d);
      denominators.values.push_back(e.denominator);
      fractions = fractions || e.is_fraction();
    }
    tensor t = b.apply(values, {});
    if (k.type != i64) t = b.apply(op::cast{k.type}, {t});
    if (fractions) t = b.apply(op::div{}, {t, b.apply(op::cast{k.type}, {b.apply(denominators, {})})});
    if (k.dims.size() != 1) t = b.apply(op::reshape{k.dims}, {t});
    return t;
  }

  // Truth values, some of which depend on symbols.
  tensor comparisons(const known_elements& k, std::size_t count) {
    builder& b = target();
    vector<tensor> parts;
    for (std::size_t i = 0; i < count; ++i) {
      const known_element& e = k.at(i);
      if (!e.is_comparison()) {
        parts.push_back(constant({boolean, {1}, {e}}));
        continue;
      }
      const tensor x = b.apply(op::dims{{e.expression}}, {}), y = b.apply(op::dims{{e.denominator}}, {});
      switch (e.compared_by()) {
        case relation::equal:
          parts.push_back(b.apply(op::equal{}, {x, y}));
          break;
        case relation::different:
          parts.push_back(b.apply(op::logical_not{}, {b.apply(op::equal{}, {x, y})}));
          break;
        case relation::less:
          parts.push_back(b.apply(op::less{}, {x, y}));
          break;
        case relation::at_least:
          parts.push_back(b.apply(op::greater_or_equal{}, {x, y}));
      }
    }
    const tensor all = count == 1 ? parts[0] : b.apply(op::concat{0}, parts);
    return k.dims.size() == 1 ? all : b.apply(op::reshape{k.dims}, {all});
  }

  // One weight for each tensor of the file.
  tensor weight(imported_value& v) {
    dnnkit::graph& g = graph.value();
    const std::string& name = stored_.name_of(*v.stored);
    if (name.empty()) throw refusal{"a tensor of the file has no name"};
    const auto [found, is_new] = weights.emplace(name, v.stored);
    if (!is_new && found->second != v.stored) throw refusal{"two tensors of the file are called '" + name + "'"};
    if (is_new) weight_ids_.emplace(name, g.add_value({g.store(name), v.type, origin::weight, none, {}}));
    return {&graph, weight_ids_.find(name)->second};
  }

  stored_tensors stored_;
  builder* scratch_ = nullptr;
  std::map<std::string, value_id, std::less<>> weight_ids_;
  std::vector<origin_of_values> origins_;  // that of provenance p at p - 1
};

}  // namespace dnnkit::onnx
