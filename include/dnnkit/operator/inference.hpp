// SPDX-License-Identifier: MIT
// What an operator's shape inference sees and says: input types in, output types or one error sentence out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/text.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/tensor/shape.hpp"

namespace dnnkit {

class inference {
 public:
  constexpr explicit inference(symbol_table& table) : table_(&table) {}

  // --- what the operator sees
  constexpr std::size_t inputs() const { return inputs_.size(); }
  // false for an optional input that was left out
  constexpr bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  // null for an optional input that was left out; i < inputs()
  constexpr const tensor_type* input(std::size_t i) const { return inputs_[i]; }
  constexpr const shape& in(std::size_t i) const { return inputs_[i]->dims; }
  constexpr dtype type(std::size_t i) const { return inputs_[i]->type; }
  constexpr std::size_t rank(std::size_t i) const { return inputs_[i]->dims.count; }
  // "weight" where the operator has said what its inputs are called, else "input 1"
  constexpr text name_of_input(std::size_t i) const {
    std::string_view rest = names_;
    for (std::size_t k = 0; k < i && !rest.empty(); ++k) {
      const std::size_t comma = rest.find(", ");
      rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 2);
    }
    if (rest.empty()) return text("input ") << i;
    return {rest.substr(0, rest.find(','))};
  }
  constexpr extent size(std::size_t i, std::size_t d) const { return {table_, in(i)[d]}; }
  constexpr extent number(std::int64_t n) const { return {table_, dim(n)}; }
  constexpr extent number(dim d) const { return {table_, d}; }
  constexpr extent count(std::size_t i) const { return {table_, element_count(*table_, in(i))}; }
  constexpr symbol_table& table() const { return *table_; }

  // --- what it says
  // An output; fails when an extent of it is negative whatever the symbols are.
  constexpr void out(dtype t, const shape& s) {
    for (std::size_t d = 0; d < s.count; ++d)
      if (is_negative(s.items[d])) {
        text message;
        fail(message << "extent " << d << " of the result is " << table_->print(s.items[d]) << ", which is negative");
        return;
      }
    outputs_.push_back({t, s});
    if (table_->assumptions.count != 0)
      for (dim& d : outputs_.items[outputs_.count - 1].dims) d = table_->settled(d);
  }
  constexpr bool fail(const text& message) {
    if (error_.empty()) error_ = message;
    return false;
  }
  // Each returns false after noting what was wrong.
  constexpr bool require(bool ok, const char* message) { return ok || fail(text(message)); }
  constexpr bool require(bool ok, std::string_view message) { return ok || fail(text(message)); }
  constexpr bool require_rank(std::size_t i, std::size_t least, std::size_t most) {
    if (rank(i) >= least && rank(i) <= most) return true;
    text t = described_rank(i);
    t << ", expected " << least;
    if (most != least) t << " to " << most;
    return fail(t);
  }
  // An extent or a position that an attribute gives: known or symbolic, and not negative whatever the symbols are.
  constexpr bool require_extent(dim d, std::string_view name) {
    if (d.is_known()) return true;
    text t;
    if (d.is_unknown()) return fail(t << name << " is not known, or is -1, which no extent is");
    return !is_negative(d) || fail(t << name << " is " << table_->print(d) << ", which is negative");
  }
  // Fails naming both inputs and both ranks.
  constexpr bool require_same_rank(std::size_t i, std::size_t j) {
    return rank(i) == rank(j) || fail(described_rank(i) << ", but " << described_rank(j));
  }
  // Dimensions that must agree. Expressions that may be equal, and are not the same, are assumed to be.
  constexpr bool require_equal(dim a, const char* name_of_a, dim b, const char* name_of_b) {
    if (a == b || a.is_unknown() || b.is_unknown() || table_->note_equation(a, b)) return true;
    text t;
    return fail(t << name_of_a << " is " << table_->print(a) << ", but " << name_of_b << " is " << table_->print(b));
  }
  // `axis` as a position 0 ... rank-1, negative values counting from the end; fails when outside.
  constexpr bool normalise_axis(std::int64_t& a, std::size_t rank_of_tensor) {
    const auto r = static_cast<std::int64_t>(rank_of_tensor);
    if (a >= -r && a < r) {
      if (a < 0) a += r;
      return true;
    }
    text t;
    return fail(t << "axis " << a << " is outside a tensor of rank " << r);
  }
  // Numpy broadcasting of b into a; fails naming both shapes. Of extents neither of which is known to be 1, and which
  // may be equal, it is assumed that they are.
  constexpr bool broadcast(shape& a, const shape& b) {
    const bool grows = a.count < b.count;
    shape r = grows ? b : a;
    const shape& shorter = grows ? a : b;
    const std::size_t lead = r.count - shorter.count;
    for (std::size_t i = 0; i < shorter.count; ++i) {
      dim& x = r.items[lead + i];
      const dim y = shorter.items[i];
      if (x.code == y.code || y == 1) continue;
      if (x == 1) x = y;
      else if (x.is_unknown() || y.is_unknown()) x = dim::unknown();
      else if (!table_->note_equation(x, y)) {
        text t;
        return fail(t << "shapes " << print(a) << " and " << print(b) << " do not broadcast");
      } else if (!x.is_known()) x = y;
    }
    a = r;
    return true;
  }
  // An output of this element type and the shape that all inputs broadcast to.
  constexpr void out_broadcast(dtype t) {
    shape s = in(0);
    const std::size_t n = inputs();
    for (std::size_t i = 1; i < n; ++i)
      if (!broadcast(s, in(i))) return;
    out(t, s);
  }
  constexpr text print(const shape& s) const { return dnnkit::print(*table_, s); }

  // --- for the graph
  constexpr void add_input(const tensor_type& t) { inputs_.push_back(&t); }  // t must outlive the inference
  void add_input(tensor_type&&) = delete;
  constexpr void add_absent_input() { inputs_.push_back(nullptr); }
  constexpr void call_inputs(std::string_view names) { names_ = names; }  // "x, weight, bias" (operator/operands.hpp)
  constexpr const text& error() const { return error_; }
  constexpr const auto& outputs() const { return outputs_; }
  // What was inferred: null unless it is one output and no error.
  constexpr const tensor_type* output() const {
    return error_.length == 0 && outputs_.count == 1 ? outputs_.items : nullptr;
  }

 private:
  constexpr bool is_negative(dim d) const { return d.is_expression() && table_->range(d).max < 0; }
  // "weight has rank 4 (shape [8, 3, 3, 3])"
  constexpr text described_rank(std::size_t i) const {
    return name_of_input(i) << " has rank " << rank(i) << " (shape " << print(in(i)) << ")";
  }

  symbol_table* table_;
  std::string_view names_;
  vector<const tensor_type*> inputs_;  // null for one left out
  static_vector<tensor_type, 1> outputs_;
  text error_;
};

}  // namespace dnnkit
