// SPDX-License-Identifier: MIT
// Building a graph: the builder hands out tensors, and functions on tensors (op/*.hpp) append nodes.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string_view>
#include <type_traits>

#include "dnnkit/core/error.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/branch_extents.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/op/normalization.hpp"

namespace dnnkit {

class builder;

// A value of the graph under construction. Copying it copies the reference, not the data.
class tensor {
 public:
  constexpr tensor() = default;
  constexpr tensor(builder* owner, value_id id) : owner_(owner), id_(id) {}

  // @throws error of tensor{}, which no graph has
  constexpr builder& owner() const {
    if (owner_ == nullptr)
      throw error("there is no tensor (tensor{} stands for an optional input left out)", "tensor{}");
    return *owner_;
  }
  constexpr value_id id() const { return id_; }
  // false for tensor{}, which stands for an optional input left out
  constexpr bool present() const { return id_ != none; }
  constexpr shape dims() const;  // a copy: those in the graph move when nodes are appended
  // Negative axes count from the end; one that is not there is an error of the model.
  constexpr dim size(std::int64_t axis, std::source_location caller = std::source_location::current()) const;
  constexpr std::int64_t rank() const { return static_cast<std::int64_t>(in_graph().dims.size()); }
  constexpr dtype type() const;

 private:
  constexpr const tensor_type& in_graph() const;

  builder* owner_ = nullptr;
  value_id id_ = none;
};

// What v is before it was transposed, reshaped, sliced ...
constexpr value_id unmoved(const graph& g, value_id v) {
  while (v != none && g.at(v).from == origin::node) {
    const node& by = g.node_at(g.at(v).producer);
    if (by.op->kind != form::movement) break;
    v = g.input_of(by, 0);
  }
  return v;
}

// The weight that makes an operator a layer: the first one among its inputs, moved or not, of a convolution, a product,
// a normalisation or an embedding, but not of the addition of a bias; none for other operators.
constexpr value_id layer_weight(const graph& g, const node& n) {
  const bool has_weights = n.op->kind == form::composite || n.op->properties.map == mapping::many_to_many ||
                           n.op->properties.map == mapping::one_to_many;
  if (n.op->kind == form::movement || !has_weights) return none;
  for (std::size_t i = 0; i < n.inputs.count; ++i)
    if (const value_id v = unmoved(g, g.input_of(n, i)); v != none && g.at(v).from == origin::weight) return v;
  return none;
}

// What that layer is called by default: what comes before the last '.' in the weight's name. "layer3.conv2.weight"
// belongs to "layer3.conv2"; "weight" to none.
constexpr slice_of layer_of(const graph& g, const node& n) {
  const value_id v = layer_weight(g, n);
  if (v == none) return {};
  const slice_of name = g.at(v).name;
  for (std::uint32_t length = name.count; length-- > 0;)
    if (g.characters.items[name.first + length] == '.') return {name.first, length};
  return {};
}

class builder {
 public:
  // Room for a graph of a thousand nodes, and of many where g++ evaluates, which takes no time for room: what has to
  // grow is moved element by element.
  constexpr builder() {
    std::size_t nodes = std::size_t{1} << 10;
#ifndef __clang__
    if (std::is_constant_evaluated()) nodes = std::size_t{1} << 14;
#endif
    graph_.nodes.reserve(nodes);
    graph_.values.reserve(2 * nodes);
    graph_.operands.reserve(4 * nodes);
    graph_.attributes.reserve(4 * nodes);
    graph_.constants.reserve(nodes);
    graph_.characters.reserve(32 * nodes);
  }
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;

  // `caller`, here and below: the line of the program, for the error if there is one.
  constexpr tensor input(std::string_view name, dtype type, shape_argument dims,
                         std::source_location caller = std::source_location::current()) {
    const error_line line(graph_, caller);
    const tensor t = leaf(graph_.store(name), {type, to_shape(dims)}, origin::input);
    for (std::size_t i = 0; i < graph_.inputs.count; ++i)
      if (const value_id other = graph_.inputs.items[i]; graph_.name_of(other) == name)
        disagree("input", name, "two inputs have this name", graph_.at(other).type, graph_.at(t.id()).type);
    graph_.inputs.push_back(t.id());
    note_image(graph_.at(t.id()).type.dims);
    if (open_input_ == none && has_unknown(graph_.at(t.id()).type.dims)) {
      open_input_ = t.id();
      line_of_open_input_ = caller;
    }
    return t;
  }
  // Symbols of inputs that have rows and columns of pixels are typically those of a photograph.
  constexpr void note_image(const shape& dims) {
    constexpr std::int64_t of_photograph = 224;
    if (dims.size() < 4) return;
    for (std::size_t axis = 2; axis < dims.size(); ++axis)
      if (const auto i = graph_.symbols.symbol_of(dims[axis])) {
        auto& s = graph_.symbols.symbols.items[*i];
        s.typical = std::clamp(of_photograph, s.limits.min, s.limits.max);
      }
  }
  // What is compiled, rather than evaluated, needs to know each extent of its inputs, as a number or by name: notes the
  // first that is neither.
  constexpr void require_known_inputs() {
    if (open_input_ == none || !graph_.error.empty()) return;
    const error_line line(graph_, line_of_open_input_);
    const shape& dims = graph_.at(open_input_).type.dims;
    std::size_t axis = 0;
    while (!dims[axis].is_unknown()) ++axis;
    graph_.error << "input '" << graph_.name_of(open_input_) << "': extent " << axis
                 << " is not known; name it with dk::sym{\"N\"}";
  }
  // The tensor `prefix + suffix` of the weight file, whose extents are numbers; asking twice gives the same tensor, and
  // must be for the same type.
  constexpr tensor weight(std::string_view prefix, std::string_view suffix, shape_argument dims, dtype type = f32,
                          std::source_location caller = std::source_location::current()) {
    const error_line line(graph_, caller);
    const shape s = to_shape(dims);
    if (!is_known(s) && graph_.error.empty())
      graph_.error << "weight '" << prefix << suffix << "': its shape must be known, not " << print(graph_.symbols, s);
    vector<value_id>& bucket = weights_[bucket_of(prefix, suffix)];
    const std::size_t length = prefix.size() + suffix.size();
    for (std::size_t i = 0; i < bucket.count; ++i)
      if (const slice_of name = graph_.values.items[bucket.items[i]].name;
          name.count == length && is_joined(graph_.text_of(name), prefix, suffix)) {
        const tensor_type &known = graph_.values.items[bucket.items[i]].type, asked{type, s};
        if (known.type != type || !(known.dims == asked.dims))
          disagree("weight", graph_.text_of(name), "it is asked for twice, with different types", known, asked);
        return {this, bucket.items[i]};
      }
    slice_of name = graph_.store(prefix);
    name.count += graph_.store(suffix).count;
    const tensor t = leaf(name, {type, s}, origin::weight);
    bucket.push_back(t.id());
    return t;
  }
  constexpr tensor weight(std::string_view name, shape_argument dims, dtype type = f32,
                          std::source_location caller = std::source_location::current()) {
    return weight(name, "", dims, type, caller);
  }
  // The parameters of a BatchNormalization over `channels`, named as PyTorch does: prefix.weight, .bias, .running_mean,
  // .running_var.
  constexpr batch_norm_parameters<tensor> batch_norm(std::string_view prefix, std::int64_t channels,
                                                     std::source_location caller = std::source_location::current()) {
    return {weight(prefix, ".weight", {channels}, f32, caller), weight(prefix, ".bias", {channels}, f32, caller),
            weight(prefix, ".running_mean", {channels}, f32, caller),
            weight(prefix, ".running_var", {channels}, f32, caller)};
  }
  constexpr void output(std::string_view name, tensor t,
                        std::source_location caller = std::source_location::current()) {
    const error_line line(graph_, caller);
    if (!t.present() || !owns(t)) return refuse("output", name, t);
    for (std::size_t i = 0; i < graph_.outputs.count; ++i)
      if (graph_.text_of(graph_.output_names.items[i]) == name)
        disagree("output", name, "two outputs have this name", graph_.at(graph_.outputs.items[i]).type,
                 graph_.at(t.id()).type);
    graph_.outputs.push_back(t.id());
    graph_.output_names.push_back(graph_.store(name));
  }

  // A constant of rank 0.
  constexpr tensor scalar(double x, dtype type = f32) { return constant(vector<double>{x}, shape{}, type); }
  // A constant of the given shape, elements in row-major order (or one element that stands for all).
  constexpr tensor constant(const vector<double>& elements, const shape& dims, dtype type = f32) {
    vector<std::int64_t> codes;
    for (double e : elements)
      codes.push_back(is_floating(type) ? std::bit_cast<std::int64_t>(e) : static_cast<std::int64_t>(e));
    return constant_from_codes(codes, dims, type);
  }
  constexpr tensor constant_from_codes(const vector<std::int64_t>& codes, const shape& dims, dtype type) {
    if (codes.count != 1 && graph_.error.empty())
      if (!(element_count(graph_.symbols, dims) == dim(static_cast<std::int64_t>(codes.count))))
        graph_.error << "constant: " << codes.count << " elements do not fill the shape "
                     << print(graph_.symbols, dims);
    const tensor t = leaf({}, {type, dims}, origin::constant);
    graph_.at(t.id()).data = graph::end_of(graph_.constants, codes.size());
    graph_.constants.append(codes.begin(), codes.end());
    return t;
  }

  // Appends `op` applied to `inputs`. Its name is that of the innermost name_scope; without one, that of the layer its
  // weights belong to (layer_of); else the operator's own.
  // `caller`: the line of the program that does so, for the error if there is one.
  template <operator_type Op>
  constexpr tensor apply(const Op& op, const vector<tensor>& inputs,
                         std::source_location caller = std::source_location::current()) {
    return apply(op, inputs.data(), inputs.size(), caller);
  }
  template <operator_type Op>
  constexpr tensor apply(const Op& op, std::initializer_list<tensor> inputs,
                         std::source_location caller = std::source_location::current()) {
    return apply(op, inputs.begin(), inputs.size(), caller);
  }
  // Gives the operator that produced `t` this name, and returns t: g.named("head", dk::conv(x, w)). Where several
  // operators made t, one after the other, it is the last of them.
  constexpr tensor named(std::string_view name, tensor t,
                         std::source_location caller = std::source_location::current()) {
    const error_line line(graph_, caller);
    if (!t.present() || !owns(t) || graph_.at(t.id()).from != origin::node) refuse("named", name, t);
    else graph_.rename(graph_.at(t.id()).producer, graph_.store(name));
    return t;
  }

  // While it lives, the operators that its builder appends are given this name, as those are that a pass puts in the
  // place of one.
  class name_scope {
   public:
    constexpr name_scope(builder& g, std::string_view name) : name_scope(g, g.graph_.store(name)) {}
    // of characters that are in the graph already
    constexpr name_scope(builder& g, slice_of name) : builder_(&g), outer_(g.scope_name_) { g.scope_name_ = name; }
    name_scope(const name_scope&) = delete;
    name_scope& operator=(const name_scope&) = delete;
    constexpr ~name_scope() { builder_->scope_name_ = outer_; }

   private:
    builder* builder_;
    slice_of outer_;
  };

  // While it lives, and until it is closed, what is built belongs to one branch of an If (of one within a branch, where
  // another lives): what operators need of extents is assumed of its values alone (graph/branch_extents.hpp).
  class branch_scope {
   public:
    constexpr explicit branch_scope(builder& g) : builder_(&g) { g.branch_.open(g.graph_); }
    branch_scope(const branch_scope&) = delete;
    branch_scope& operator=(const branch_scope&) = delete;
    constexpr ~branch_scope() {
      if (builder_ != nullptr) builder_->branch_.close(builder_->graph_, {});
    }
    // These are the branch's results. What it has assumed.
    constexpr vector<assumption> close(const vector<value_id>& results) {
      builder& g = *builder_;
      builder_ = nullptr;
      return g.branch_.close(g.graph_, results);
    }

   private:
    builder* builder_;
  };
  constexpr bool is_in_branch() const { return branch_.is_open(); }

  // A symbol to compute shapes with: const auto h = g.size("H"); ... {1, 64, h / 2, w / 2}
  constexpr extent size(const sym& s) { return {&graph_.symbols, symbol(s)}; }
  // The same name always means the same symbol; its bounds are given where it is mentioned first, and need not be said
  // again.
  constexpr dim symbol(const sym& s) {
    const std::size_t known = graph_.symbols.symbols.size();
    const dim d = graph_.symbols.symbol_named(s.name, s.limits);
    if (known == graph_.symbols.symbols.size() && !(s.limits == sym::unsaid) && graph_.error.empty())
      for (const dnnkit::symbol& other : graph_.symbols.symbols)
        if (other.name.view() == s.name && !(other.limits == s.limits))
          graph_.error << "symbol '" << s.name << "': it is given the bounds " << other.limits.min << " to "
                       << other.limits.max << ", and then " << s.limits.min << " to " << s.limits.max;
    return d;
  }
  // Takes two extents for equal from here on, and has one in the place of the other in what is computed, where that can
  // be: g.assume(dk::sym{"H"}, h2 * 2, "Concat 'join'"). It is checked when symbols get their values; the error says
  // what it is `needed_by`. Operators that need extents to be equal assume it on their own.
  constexpr void assume(const dim_argument& a, const dim_argument& b, std::string_view needed_by = {},
                        std::source_location caller = std::source_location::current()) {
    assume(a, relation::equal, b, needed_by, caller);
  }
  // The same of other relations, which replace nothing.
  constexpr void assume(const dim_argument& a, relation is, const dim_argument& b, std::string_view needed_by = {},
                        std::source_location caller = std::source_location::current()) {
    const error_line line(graph_, caller);
    const dim x = to_dim(a), y = to_dim(b);
    const std::size_t assumed = graph_.symbols.assumptions.count;
    if (!graph_.symbols.assume(x, is, y, needed_by) && graph_.error.empty())
      graph_.error << "assume: it is never so that " << graph_.symbols.print(x) << " " << sign_of(is) << " "
                   << graph_.symbols.print(y);
    graph_.name_assumptions(assumed, "assume");
  }
  constexpr dim to_dim(const dim_argument& d) {
    if (d.negative != 0 && graph_.error.empty())
      graph_.error << "an extent is " << d.negative << "; only -1, for one that is not known, may be negative";
    return d.is_symbol ? symbol(d.symbol) : d.known;
  }
  constexpr shape to_shape(shape_argument dims) {
    shape s;
    if (dims.size() > max_rank) {
      if (graph_.error.empty()) graph_.error << "a tensor has at most " << max_rank << " axes, not " << dims.size();
      return s;
    }
    for (const dim_argument& d : dims) s.push_back(to_dim(d));
    return s;
  }
  constexpr graph& value() { return graph_; }
  constexpr const graph& value() const { return graph_; }

 private:
  static constexpr std::size_t buckets = 256;
  static constexpr std::size_t bucket_of(std::string_view prefix, std::string_view suffix) {
    return hash_of(suffix, hash_of(prefix, 0));
  }
  // Kept small at every step: GCC makes an object of each large number it comes across.
  static constexpr std::size_t hash_of(std::string_view s, std::size_t hash) {
    const char* const from = s.data();
    const std::size_t n = s.size();
    for (std::size_t i = 0; i < n; ++i) hash = (hash * 31 + static_cast<unsigned char>(from[i])) % buckets;
    return hash;
  }
  static constexpr bool is_joined(std::string_view name, std::string_view prefix, std::string_view suffix) {
    return name.starts_with(prefix) && name.ends_with(suffix);
  }

  // Notes the line of the program as that of an error made while this lives.
  class error_line {
   public:
    constexpr error_line(graph& g, const std::source_location& caller)
        : graph_(g), caller_(caller), was_right_(g.error.length == 0) {}
    error_line(const error_line&) = delete;
    error_line& operator=(const error_line&) = delete;
    constexpr ~error_line() {
      if (!was_right_ || graph_.error.length == 0) return;
      const std::string_view path = caller_.file_name();
      graph_.error_place = path.substr(path.rfind('/') + 1);
      graph_.error_place << ":" << static_cast<std::int64_t>(caller_.line());
    }

   private:
    graph& graph_;
    const std::source_location& caller_;
    bool was_right_;
  };

  friend class tensor;
  constexpr dim refuse_axis(std::int64_t axis, tensor t, const std::source_location& caller) {
    const error_line line(graph_, caller);
    if (graph_.error.empty())
      graph_.error << "size: '" << graph_.name_of(t.id()) << "' has no axis " << axis << ", its rank is " << t.rank();
    return dim::unknown();
  }

  constexpr bool owns(tensor t) const { return &t.owner() == this; }
  // What is wrong with a tensor that cannot be an output, or be named.
  constexpr void refuse(std::string_view what, std::string_view name, tensor t) {
    if (!graph_.error.empty()) return;
    graph_.error << what << " '" << name << "': ";
    if (!t.present()) graph_.error << "there is no tensor (tensor{} stands for an input left out)";
    else if (!owns(t)) graph_.error << "the tensor belongs to another graph";
    else graph_.error << "'" << graph_.name_of(t.id()) << "' is not the output of an operator";
  }

  // "weight 'w': what is wrong: f32 [8, 5] and f32 [4, 10]"
  constexpr void disagree(std::string_view what, std::string_view name, std::string_view problem,
                          const tensor_type& one, const tensor_type& other) {
    if (!graph_.error.empty()) return;
    graph_.error << what << " '" << name << "': " << problem << ": " << dnnkit::name(one.type) << " "
                 << print(graph_.symbols, one.dims) << " and " << dnnkit::name(other.type) << " "
                 << print(graph_.symbols, other.dims);
  }

  constexpr tensor leaf(slice_of name, const tensor_type& type, origin from) {
    return {this, graph_.add_value({name, type, from, none, {}})};
  }

  template <operator_type Op>
  constexpr tensor apply(const Op& op, const tensor* inputs, std::size_t count, const std::source_location& caller) {
    const error_line line(graph_, caller);
    slice_of attributes = graph::end_of(graph_.attributes, 0);
    if (branch_.is_open()) encode(branch_.settled(op, graph_.symbols), graph_.attributes);
    else encode(op, graph_.attributes);
    attributes.count = static_cast<std::uint32_t>(graph_.attributes.size()) - attributes.first;
    node n{&info_of<Op>, {}, attributes, graph::end_of(graph_.operands, count), none};
    std::size_t stranger = count;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_mine = !inputs[i].present() || owns(inputs[i]);
      if (!is_mine && stranger == count) stranger = i;
      graph_.operands.push_back(is_mine ? inputs[i].id() : none);
    }
    n.name = name_of_next(n);
    if (stranger != count)
      graph_.refuse(n, static_cast<node_id>(graph_.nodes.count),
                    text("input ") << stranger << " belongs to another graph");
    return {this, branch_.is_open() ? branch_.add(graph_, n) : graph_.add_node(n)};
  }
  constexpr slice_of name_of_next(const node& n) {
    if (scope_name_.count != 0) return scope_name_;
    if (const slice_of layer = layer_of(graph_, n); layer.count != 0) return layer;
    for (std::size_t i = 0; i < operator_names_.count; ++i)
      if (const named_operator& known = operator_names_.items[i]; known.op == n.op->id) return known.name;
    operator_names_.push_back({n.op->id, graph_.store(n.op->name)});
    return operator_names_.back().name;
  }

  struct named_operator {
    operator_id op = operator_id::none;
    slice_of name;
  };

  graph graph_;
  vector<value_id> weights_[buckets];      // by a hash of their names
  vector<named_operator> operator_names_;  // of operators that have no other
  slice_of scope_name_;
  detail::branch_extents branch_;
  value_id open_input_ = none;  // the first input of which some extent is neither known nor named, and its line
  std::source_location line_of_open_input_;
};

constexpr const tensor_type& tensor::in_graph() const { return owner().value().at(id_).type; }
constexpr shape tensor::dims() const { return in_graph().dims; }
constexpr dtype tensor::type() const { return in_graph().type; }
constexpr dim tensor::size(std::int64_t axis, std::source_location caller) const {
  const std::int64_t from_front = axis < 0 ? axis + rank() : axis;
  if (from_front < 0 || from_front >= rank()) return owner().refuse_axis(axis, *this, caller);
  return in_graph().dims[static_cast<std::size_t>(from_front)];
}

// A tensor and the line of the program where it becomes the operand of a C++ operator, which has no room for a
// defaulted parameter.
struct located_tensor {
  constexpr located_tensor(tensor t, std::source_location line = std::source_location::current())
      : value(t), caller(line) {}
  tensor value;
  std::source_location caller;
};

// Applies an operator of any type, the library's or the user's own.
template <operator_type Op, std::same_as<tensor>... More>
constexpr tensor apply(const Op& op, located_tensor first, More... more) {
  return detail::owner_of({first.value, more...}).apply(op, {first.value, more...}, first.caller);
}

// What is no operator is refused here, and nothing else is said of the model.
template <class Op, std::same_as<tensor>... More>
requires(!operator_type<Op>) constexpr tensor apply(const Op&, tensor first, More...) {
  static_assert(
      operator_type<Op>,
      "dnnkit: an operator type is an aggregate with a name, a kind and properties (docs/add-an-operator.md)");
  first.owner().value().error = said_by_compiler;
  return first;
}

constexpr tensor operator+(located_tensor a, tensor b) { return add(a.value, b, {}, a.caller); }
constexpr tensor operator-(located_tensor a, tensor b) { return sub(a.value, b, {}, a.caller); }
constexpr tensor operator*(located_tensor a, tensor b) { return mul(a.value, b, {}, a.caller); }
constexpr tensor operator/(located_tensor a, tensor b) { return div(a.value, b, {}, a.caller); }
constexpr tensor operator-(located_tensor x) { return neg(x.value, {}, x.caller); }

// A number stands for a constant of the tensor's element type.
constexpr tensor operator+(located_tensor a, double b) { return a + a.value.owner().scalar(b, a.value.type()); }
constexpr tensor operator-(located_tensor a, double b) { return a - a.value.owner().scalar(b, a.value.type()); }
constexpr tensor operator*(located_tensor a, double b) { return a * a.value.owner().scalar(b, a.value.type()); }
constexpr tensor operator/(located_tensor a, double b) { return a / a.value.owner().scalar(b, a.value.type()); }
constexpr tensor operator+(double a, located_tensor b) {
  return located_tensor(b.value.owner().scalar(a, b.value.type()), b.caller) + b.value;
}
constexpr tensor operator-(double a, located_tensor b) {
  return located_tensor(b.value.owner().scalar(a, b.value.type()), b.caller) - b.value;
}
constexpr tensor operator*(double a, located_tensor b) {
  return located_tensor(b.value.owner().scalar(a, b.value.type()), b.caller) * b.value;
}
constexpr tensor operator/(double a, located_tensor b) {
  return located_tensor(b.value.owner().scalar(a, b.value.type()), b.caller) / b.value;
}

}  // namespace dnnkit
