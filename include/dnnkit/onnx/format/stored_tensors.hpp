// SPDX-License-Identifier: MIT
// Every tensor that a model stores, under a name that no other one has: what imported graphs call their weights, and by
// which onnx_weights finds them.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/onnx/format/model.hpp"

namespace dnnkit::onnx {

// Initialisers have their own names, values of Constant nodes those of the nodes' outputs, other attributes
// "<output>.<attribute>". Graphs inside others and functions may repeat names: the first tensor in the order of the
// file keeps the name, the following ones are called "name#2", "name#3" and so on. A name given twice in one and the
// same graph is an error in the file; it is listed with both tensors.
class stored_tensors {
 public:
  struct entry {
    std::string name;
    const tensor_data* data;
  };

  explicit stored_tensors(const model& m) {
    add(m.graph);
    for (const function& f : m.functions) {
      names_of_graph here;
      for (const attribute& a : f.default_attributes) {
        for (const tensor_data& t : a.tensors) add(here, std::string(f.name) + "." + std::string(a.name), t);
        for (const graph& inner : a.graphs) add(inner);
      }
      add(here, f.nodes);
    }
  }

  const std::vector<entry>& entries() const { return entries_; }
  // The name of a tensor of the model.
  const std::string& name_of(const tensor_data& t) const { return entries_[places_.at(&t)].name; }

 private:
  using names_of_graph = std::map<std::string, std::string, std::less<>>;  // as in the file, and as entered

  void add(const graph& g) {
    names_of_graph here;
    for (const tensor_data& t : g.initializers) add(here, std::string(t.name), t);
    add(here, g.nodes);
  }
  void add(names_of_graph& here, const std::vector<node>& nodes) {
    for (const node& n : nodes) {
      const std::string output(n.outputs.empty() ? n.name : n.outputs.front());
      for (const attribute& a : n.attributes) {
        const bool constant = n.op_type == "Constant" && a.name == "value";
        for (const tensor_data& t : a.tensors) add(here, constant ? output : output + "." + std::string(a.name), t);
        for (const graph& inner : a.graphs) add(inner);
      }
    }
  }
  void add(names_of_graph& here, const std::string& name, const tensor_data& t) {
    const auto [in_graph, is_new] = here.emplace(name, name);
    if (is_new) {
      std::size_t& uses = uses_[name];
      do ++uses, in_graph->second = uses == 1 ? name : name + "#" + std::to_string(uses);
      while (!taken_.insert(in_graph->second).second);
    }
    places_.emplace(&t, entries_.size());
    entries_.push_back({in_graph->second, &t});
  }

  std::vector<entry> entries_;
  std::map<const tensor_data*, std::size_t> places_;
  std::set<std::string, std::less<>> taken_;
  std::map<std::string, std::size_t, std::less<>> uses_;
};

}  // namespace dnnkit::onnx
