// SPDX-License-Identifier: MIT
// What operators computed on known elements have in common: broadcasting, strides, and where the result goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/onnx/import/node_context.hpp"

namespace dnnkit::onnx {

namespace detail {

// Strides of a row-major tensor of known extents, broadcast to `rank` axes: 0 where it has extent 1 or no axis.
inline std::vector<std::size_t> broadcast_strides(const shape& dims, std::size_t rank) {
  std::vector<std::size_t> strides(rank, 0);
  std::size_t step = 1;
  for (std::size_t d = dims.size(); d-- > 0;) {
    const auto n = static_cast<std::size_t>(dims[d].value());
    if (n != 1) strides[rank - dims.size() + d] = step;
    step *= n;
  }
  return strides;
}

// Calls f(offset of each operand) for every element of `dims` in row-major order.
inline void for_each_offset(const shape& dims, const std::vector<std::vector<std::size_t>>& strides,
                            const std::function<void(const std::vector<std::size_t>&)>& f) {
  std::size_t count = 0;
  if (!known_elements::countable(dims, count)) return;
  std::vector<std::int64_t> at(dims.size(), 0);
  std::vector<std::size_t> offsets(strides.size(), 0);
  for (std::size_t n = 0; n < count; ++n) {
    f(offsets);
    for (std::size_t d = dims.size(); d-- > 0;) {
      const bool wraps = at[d] + 1 == dims[d].value();
      for (std::size_t i = 0; i < strides.size(); ++i)
        if (wraps) offsets[i] -= static_cast<std::size_t>(at[d]) * strides[i][d];
        else offsets[i] += strides[i][d];
      at[d] = wraps ? 0 : at[d] + 1;
      if (!wraps) break;
    }
  }
}

class shape_evaluation {
 public:
  explicit shape_evaluation(node_context& c) : c_(c), a_(c.arithmetic) {}

  // --- element by element, with broadcasting; f takes as many elements as there are inputs
  using function = std::function<known_element(const std::vector<const known_element*>&)>;
  bool elementwise(std::size_t least_inputs, std::optional<dtype> type, const function& f) {
    if (c_.inputs() < least_inputs) return false;  // which the converter says
    std::vector<const known_elements*> x;
    for (std::size_t i = 0; i < c_.inputs(); ++i) x.push_back(c_.known(i));
    shape dims;
    for (const known_elements* k : x) {
      if (k == nullptr) return false;
      if (!broadcast(dims, k->dims)) return false;
    }
    known_elements y{type.value_or(x[0]->type), dims, {}};
    // reals are computed by the operator itself, which rounds as it should
    bool reals = true;
    for (const known_elements* k : x) reals = reals && k->is_numeric();
    if (reals && (is_floating(y.type) || is_floating(x[0]->type))) return false;
    bool uniform = true;
    for (const known_elements* k : x) uniform = uniform && k->items.size() == 1;
    std::vector<const known_element*> arguments(x.size());
    if (uniform) {
      for (std::size_t i = 0; i < x.size(); ++i) arguments[i] = &x[i]->items[0];
      y.items.push_back(wrapped(y.type, f(arguments)));
      return finish(std::move(y), x);
    }
    std::size_t count = 0;
    if (!y.countable(count)) return false;
    std::vector<std::vector<std::size_t>> strides;
    for (const known_elements* k : x) strides.push_back(strides_of(*k, dims.size()));
    for_each_offset(dims, strides, [&](const std::vector<std::size_t>& offsets) {
      for (std::size_t i = 0; i < x.size(); ++i) arguments[i] = &x[i]->items[offsets[i]];
      y.items.push_back(wrapped(y.type, f(arguments)));
    });
    return finish(std::move(y), x);
  }
  bool binary(known_element (element_arithmetic::*f)(const known_element&, const known_element&) const) {
    return elementwise(1, {}, [&](const auto& x) {
      known_element r = *x[0];
      for (std::size_t i = 1; i < x.size(); ++i) r = (a_.*f)(r, *x[i]);
      return r;
    });
  }
  // Input 0 with input 1, or if `swapped` the other way round.
  bool compare(relation is, bool swapped = false) {
    return elementwise(2, boolean, [&](const auto& x) { return a_.compared(*x[swapped], is, *x[!swapped]); });
  }

  // --- elements in another order: element n of the output is that of `source` at offset f(n)
  bool moved(const known_elements& source, const shape& dims) {  // in the same order
    known_elements y{source.type, dims, source.items};
    return finish(std::move(y), {&source});
  }

  // The shape of input i as a list of elements.
  std::vector<known_element> shape_of(std::size_t i) {
    std::vector<known_element> list;
    for (dim d : c_.dims(i)) list.push_back(a_.to_element(d));
    return list;
  }

  // What is partly unknown is only worth keeping when the inputs were, too: otherwise the operator can be a node.
  bool finish(known_elements y, const std::vector<const known_elements*>& from) {
    bool unknown_before = from.empty();
    for (const known_elements* k : from) unknown_before = unknown_before || k->has_unknown();
    if (!unknown_before && y.has_unknown()) return false;
    c_.out(0, std::move(y));
    return true;
  }
  std::vector<std::size_t> strides_of(const known_elements& k, std::size_t rank) const {
    if (k.items.size() == 1) return std::vector<std::size_t>(rank, 0);
    return broadcast_strides(k.dims, rank);
  }
  bool broadcast(shape& dims, const shape& other) {
    inference i(c_.table());
    return i.broadcast(dims, other);
  }
  static known_element wrapped(dtype type, const known_element& e) {
    return e.is_number() && !is_floating(type) ? known_element::of_number(wrap_to(type, e.number)) : e;
  }
  std::size_t axis(std::int64_t a, std::size_t rank) const {
    if (a < 0) a += static_cast<std::int64_t>(rank);
    if (a < 0 || a >= static_cast<std::int64_t>(rank))
      node_context::refuse("axis is outside a tensor of rank " + std::to_string(rank));
    return static_cast<std::size_t>(a);
  }
  node_context& context() { return c_; }
  const element_arithmetic& arithmetic() const { return a_; }

 private:
  node_context& c_;
  const element_arithmetic& a_;
};

}  // namespace detail

}  // namespace dnnkit::onnx
