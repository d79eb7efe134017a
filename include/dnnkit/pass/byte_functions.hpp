// SPDX-License-Identifier: MIT
// Pass: what is computed of one tensor of bytes, element by element, and quantised to bytes again, is looked up: a
// function of a byte has 256 values, which are computed when weights are packed (ONNX Runtime has such tables for
// QLinearSigmoid and its like; here it is any chain of operators, also one that reads the same bytes twice, as Gelu
// does between QuantizeLinear and DequantizeLinear).
//   quantize(f(dequantize(x, s, z)), s', z') = gather(quantize(f(dequantize(0 ... 255, s, z)), s', z'), x)
//   quantize(dequantize(x, s, z), s, z)      = x
//   f(move(x))                               = move(f(x))
// where move is movement, Gather, or MaxPool of what is dequantised.
// (x - z) s / s is a whole number that rounding gives back, as it differs from x - z by less than 1e-4. For targets
// with kernels for bytes (cost/target.hpp). Takes a graph with its composites; guarantees the same function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dnnkit/core/vector.hpp"
#include "dnnkit/graph/rebuild.hpp"
#include "dnnkit/graph/walk.hpp"
#include "dnnkit/op/gather.hpp"
#include "dnnkit/op/pooling.hpp"
#include "dnnkit/op/quantization.hpp"
#include "dnnkit/pass/schedule.hpp"

namespace dnnkit::passes {

struct byte_functions {
  static constexpr std::string_view name = "byte functions";

  template <class Target> static constexpr void run(schedule& s) {
    if (!s.fusion.groups.empty() || !s.layouts.empty() || !s.plan.buffers.empty())
      return s.come_too_late(name, "kernels or layouts of the graph, which it makes anew,");
    if constexpr (requires { requires Target::multiplies_bytes; })
      s.g = rewritten(static_cast<graph&&>(s.g), s.notes());
  }

  static constexpr graph rewritten(graph g, decision_notes notes = {}) {
    if (!has_operator<op::quantize_linear>(g)) return g;
    byte_functions pass(g);
    return rebuild(
        g, [&](builder& b, const node& n, const rebuilt_inputs& inputs) { return pass.replaced(b, n, inputs); },
        [&](const node& n, const graph& now, std::size_t first) {
          const bool is_looked_up =
              now.nodes.count > first && now.nodes.back().op->id == id_of<op::gather> && n.op->id != id_of<op::gather>;
          notes.add({name, is_looked_up ? "looked up" : "bytes",
                     is_looked_up ? "a function of a byte has 256 values"
                                  : "they are dequantised and quantised by one scale"},
                    g, n, now, first);
        });
  }

 private:
  // What a value of the old graph is of a tensor of bytes in the new one.
  enum class computed : std::uint8_t { nothing, itself, dequantised, otherwise };
  struct function_of_bytes {
    computed how = computed::nothing;
    value_id bytes = none;
    value_id scale = none, zero_point = none;  // by which it is dequantised
  };

  constexpr explicit byte_functions(const graph& g)
      : g_(g),
        setup_(setup_values(g)),
        functions_(g.values.size()),
        image_(g.values.size(), none),
        table_(g.values.size(), none) {}

  constexpr tensor replaced(builder& b, const node& n, const rebuilt_inputs& inputs) {
    for (std::size_t i = 0; i < n.inputs.count; ++i)
      if (const value_id v = g_.input_of(n, i); v != none) image_[v] = inputs.id(i);
    if (setup_[n.output] != 0) return {};
    const function_of_bytes of = common_function(n);
    if (of.how == computed::nothing) return {};
    function_of_bytes& made = functions_[n.output];
    if (moves(n) && (!g_.is<op::max_pool>(n) || of.how != computed::otherwise)) {
      made = of;
      made.bytes = moved(b.value(), n, of.bytes);
      return of.how == computed::itself ? tensor{&b, made.bytes} : tensor{};
    }
    const tensor bytes{&b, of.bytes};
    const bool quantises = g_.is<op::quantize_linear>(n), dequantises = g_.is<op::dequantize_linear>(n);
    if (!(n.op->kind == form::elementwise || quantises || dequantises)) return {};
    if (!(g_.at(n.output).type.dims == bytes.dims())) return {};
    if ((quantises || dequantises) && setup_[g_.input_of(n, 0)] != 0) return {};
    made = {computed::otherwise, of.bytes, none, none};
    if (dequantises && of.how == computed::itself) {
      made.how = computed::dequantised;
      made.scale = inputs.id(1);
      made.zero_point = inputs.size() > 2 ? inputs.id(2) : none;
    }
    const dtype type = g_.at(n.output).type.type;
    if (!is_byte(type)) return {};
    if (quantises && of.how == computed::dequantised && type == bytes.type() &&
        is_same_value(b.value(), of.scale, inputs.id(1)) &&
        is_same_value(b.value(), of.zero_point, inputs.size() > 2 ? inputs.id(2) : none)) {
      made.how = computed::itself;
      return bytes;
    }
    const tensor table{&b, table_of(b, n.output)};
    return b.apply(op::gather{}, {table, dnnkit::cast(bytes, {.to = i32})});
  }

  // Are elements of n's output elements of its first input?
  constexpr bool moves(const node& n) const {
    return n.op->kind == form::movement || g_.is<op::max_pool>(n) ||
           (g_.is<op::gather>(n) && setup_[g_.input_of(n, 1)] != 0);
  }

  // Of which bytes, and how, are all inputs computed that a run computes? Beside them there may be single numbers.
  constexpr function_of_bytes common_function(const node& n) const {
    function_of_bytes common;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id v = g_.input_of(n, i);
      if (v == none) continue;
      if (setup_[v] != 0) {
        if (!moves(n) && !is_one(g_.at(v).type.dims)) return {};
        continue;
      }
      const function_of_bytes f = function_of(v);
      if (f.how == computed::nothing || (common.bytes != none && common.bytes != f.bytes)) return {};
      common = f;
    }
    return common;
  }
  constexpr function_of_bytes function_of(value_id v) const {
    if (functions_[v].how != computed::nothing) return functions_[v];
    if (is_byte(g_.at(v).type.type)) return {computed::itself, image_[v], none, none};
    return {};
  }
  static constexpr bool is_one(const shape& s) {
    for (const dim d : s)
      if (!(d == dim(1))) return false;
    return true;
  }

  // n of bytes.
  constexpr value_id moved(graph& now, node n, value_id bytes) const {
    const tensor_type type{now.at(bytes).type.type, g_.at(n.output).type.dims};
    vector<value_id> operands{bytes};
    for (std::size_t i = 1; i < n.inputs.count; ++i)
      operands.push_back(g_.input_of(n, i) == none ? none : image_[g_.input_of(n, i)]);
    return appended(now, n, operands, type);
  }
  static constexpr value_id appended(graph& now, node n, const vector<value_id>& operands, const tensor_type& type) {
    n.inputs = graph::end_of(now.operands, operands.size());
    now.operands.append(operands.begin(), operands.end());
    return now.add_node(n, type);
  }

  // The 256 values of v, a function of bytes, in the order of these without their sign.
  constexpr value_id table_of(builder& b, value_id v) {
    if (function_of(v).how == computed::itself) return all_bytes(b, g_.at(v).type.type);
    if (table_[v] != none) return table_[v];
    const node& n = g_.node_at(g_.at(v).producer);
    if (moves(n)) return table_of(b, g_.input_of(n, 0));
    vector<value_id> operands;
    for (std::size_t i = 0; i < n.inputs.count; ++i) {
      const value_id x = g_.input_of(n, i);
      if (x == none) operands.push_back(none);
      else if (setup_[x] == 0) operands.push_back(table_of(b, x));
      else if (const tensor number{&b, image_[x]}; number.rank() == 0) operands.push_back(number.id());
      else operands.push_back(b.apply(op::reshape{}, {number}).id());
    }
    return table_[v] = appended(b.value(), n, operands, {g_.at(v).type.type, shape{256}});
  }
  constexpr value_id all_bytes(builder& b, dtype type) {
    value_id& all = type == i8 ? all_signed_ : all_unsigned_;
    if (all != none) return all;
    vector<std::int64_t> codes;
    for (std::int64_t i = 0; i < 256; ++i) codes.push_back(type == i8 && i > 127 ? i - 256 : i);
    return all = b.constant_from_codes(codes, shape{256}, type).id();
  }

  const graph& g_;
  vector<std::uint8_t> setup_;
  vector<function_of_bytes> functions_;  // of values of the old graph
  vector<value_id> image_, table_;       // of these, in the new graph
  value_id all_signed_ = none, all_unsigned_ = none;
};

}  // namespace dnnkit::passes
