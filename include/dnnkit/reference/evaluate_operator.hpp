// SPDX-License-Identifier: MIT
// One operator executed from its scalar definition: what form it has decides the loop around it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "dnnkit/operator/access.hpp"
#include "dnnkit/operator/element_types.hpp"
#include "dnnkit/operator/op_info.hpp"
#include "dnnkit/operator/statistics.hpp"
#include "dnnkit/reference/direct_loops.hpp"
#include "dnnkit/reference/host_tensor.hpp"

namespace dnnkit::detail {

// What at() sees; sums of floating-point elements are kept in double.
struct reference_context {
  using real = double;
  struct extents {
    std::size_t rank = 0;
    coordinates size{};
  };
  std::vector<extents> ins;
  extents output;
  const symbol_values* symbols;

  explicit reference_context(const operands& o) : ins(o.inputs.size()), symbols(o.symbols) {
    for (std::size_t i = 0; i < ins.size(); ++i)
      if (o.inputs[i]) ins[i] = of(*o.inputs[i]);
    output = of(*o.output);
  }
  static extents of(const host_tensor& t) {
    extents e{t.dims.size(), {}};
    for (std::size_t d = 0; d < e.rank; ++d) e.size[d] = t.dims[d];
    return e;
  }
  std::size_t rank(std::size_t i) const { return ins[i].rank; }
  std::int64_t in(std::size_t i, std::size_t d) const { return ins[i].size[d]; }
  std::size_t out_rank() const { return output.rank; }
  std::int64_t out(std::size_t d) const { return output.size[d]; }
  std::int64_t value(dim d) const { return d.is_expression() ? symbols->number(d) : d.value(); }
  [[noreturn]] void out_of_range(std::string_view what, std::int64_t x, std::int64_t least, std::int64_t most) const {
    throw error(std::string(what) + " is out of range", {}, std::to_string(least) + " to " + std::to_string(most),
                std::to_string(x));
  }
};

// The elements of a tensor as the evaluator computes with them: double, std::int64_t, std::uint64_t or bool.
template <class T> struct elements_of {
  explicit elements_of(const host_tensor& t) : count(t.count()), rank(t.dims.size()), dense(row_major(t)) {
    if constexpr (std::is_same_v<T, double>) data = t.reals.data();
    else data = t.integers.data();
  }
  elements_of() = default;  // of an input left out
  bool present() const { return data != nullptr; }
  static coordinates row_major(const host_tensor& t) {
    coordinates s{};
    std::int64_t stride = 1;
    for (std::size_t d = t.dims.size(); d-- > 0;) {
      s[d] = stride;
      stride *= t.dims[d];
    }
    return s;
  }
  T operator[](std::integral auto i) const { return static_cast<T>(data[i]); }
  // Throws std::logic_error when an operator's definition reaches outside the tensor.
  T operator()(const coordinates& c) const {
    std::int64_t n = 0;
    switch (rank) {  // a loop over the rank takes more than twice as long
      case 8:
        n += c[7] * dense[7];
        [[fallthrough]];
      case 7:
        n += c[6] * dense[6];
        [[fallthrough]];
      case 6:
        n += c[5] * dense[5];
        [[fallthrough]];
      case 5:
        n += c[4] * dense[4];
        [[fallthrough]];
      case 4:
        n += c[3] * dense[3];
        [[fallthrough]];
      case 3:
        n += c[2] * dense[2];
        [[fallthrough]];
      case 2:
        n += c[1] * dense[1];
        [[fallthrough]];
      case 1:
        n += c[0] * dense[0];
        [[fallthrough]];
      default:
        break;
    }
    if (static_cast<std::uint64_t>(n) >= count) throw std::logic_error("dnnkit: an operator reads outside its input");
    return (*this)[static_cast<std::size_t>(n)];
  }

  const std::conditional_t<std::is_same_v<T, double>, double, std::int64_t>* data = nullptr;
  std::uint64_t count = 0;
  std::size_t rank = 0;
  coordinates dense{};
};

// Element-wise: every input is read at the output's coordinates, along axes of extent 1 again and again.
template <class Op, class... T> void evaluate_elementwise(const Op& op, const operands& o, const elements_of<T>&... x) {
  const reference_context c(o);
  const std::size_t rank = c.out_rank();
  std::array<coordinates, sizeof...(T)> strides{};
  for (std::size_t i = 0; i < sizeof...(T); ++i) {
    const coordinates dense = elements_of<double>::row_major(*o.inputs[i]);
    const std::size_t lead = rank - c.rank(i);
    for (std::size_t d = 0; d < c.rank(i); ++d) strides[i][d + lead] = c.in(i, d) == 1 ? 0 : dense[d];
  }
  const std::size_t count = o.output->count();
  coordinates at{};
  std::array<std::int64_t, sizeof...(T)> position{};
  for (std::size_t n = 0; n < count; ++n) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      o.output->set(n, op.apply(x[static_cast<std::size_t>(position[I])]...));
    }
    (std::index_sequence_for<T...>());
    for (std::size_t d = rank; d-- > 0;) {
      const bool wraps = at[d] + 1 == c.out(d);
      for (std::size_t i = 0; i < sizeof...(T); ++i) position[i] += wraps ? -at[d] * strides[i][d] : strides[i][d];
      at[d] = wraps ? 0 : at[d] + 1;
      if (!wraps) break;
    }
  }
}

// Movement and point operators: at() for every output coordinate.
template <class Op, class... X> void evaluate_at(const Op& op, const operands& o, const X&... x) {
  const reference_context c(o);
  const std::size_t count = o.output->count();
  coordinates at{};
  for (std::size_t n = 0; n < count; ++n) {
    o.output->set(n, op.at(c, at, x...));
    next(at, c.output.size, c.out_rank());
  }
}

// Row r of a tensor and the elements along it: base[r] + along[k].
struct rows {
  std::vector<std::size_t> base, along;

  rows(const host_tensor& t, axis_set axes) {
    const coordinates stride = elements_of<double>::row_major(t);
    base = offsets(t, stride, [&](std::size_t d) { return !axes.has(d); });
    along = offsets(t, stride, [&](std::size_t d) { return axes.has(d); });
  }
  static std::vector<std::size_t> offsets(const host_tensor& t, const coordinates& stride, auto chosen) {
    std::vector<std::size_t> list{0};
    for (std::size_t d = 0; d < t.dims.size(); ++d) {
      if (!chosen(d)) continue;
      std::vector<std::size_t> longer;
      longer.reserve(list.size() * static_cast<std::size_t>(t.dims[d]));
      for (std::size_t first : list)
        for (std::int64_t k = 0; k < t.dims[d]; ++k) longer.push_back(first + static_cast<std::size_t>(k * stride[d]));
      list = std::move(longer);
    }
    return list;
  }
};

// Reductions and row operators: the folds of operator/statistics.hpp along every row, one pass after the other.
template <class Op, class T> void evaluate_rows(const Op& op, const operands& o, const elements_of<T>& x) {
  const host_tensor& in = *o.inputs[0];
  const rows r(in, op.axes(in.dims.size()));
  for (std::size_t row = 0; row < r.base.size(); ++row) {
    const std::size_t base = r.base[row];
    statistics<T, Op::passes> s{};
    [&]<std::size_t... P>(std::index_sequence<P...>) {
      const auto fold = [&](auto p) {
        T sum = op.template start<T>(p);
        for (std::size_t k : r.along) sum = op.template accumulate<T>(p, sum, x[base + k], s);
        s[p] = op.template close<T>(p, sum, static_cast<T>(r.along.size()), s);
      };
      (fold(pass<P>{}), ...);
    }
    (std::make_index_sequence<Op::passes>());
    if constexpr (Op::kind == form::reduction) {
      const T folded = s[Op::passes - 1];
      if constexpr (std::is_same_v<T, std::int64_t>)  // of no element: the neutral one of 64 bits
        o.output->set(row, r.along.empty() ? nearest_to(o.output->type, folded) : folded);
      else o.output->set(row, folded);
    } else
      for (std::size_t k : r.along) o.output->set(base + k, op.template finish<T>(x[base + k], s));
  }
}

// Variadic operators: at() is given one function that reads input i at given coordinates.
template <class T, class Op> void evaluate_variadic(const Op& op, const operands& o) {
  std::vector<elements_of<T>> inputs;
  for (const host_tensor* t : o.inputs) inputs.emplace_back(*t);
  evaluate_at(op, o, [&](std::size_t i, const coordinates& c) { return inputs[i](c); });
}

// What compute() sees of its output, and room to work in.
struct whole_context : reference_context {
  std::vector<double> room;

  explicit whole_context(const operands& o) : reference_context(o) {}
  double* workspace() const { return const_cast<double*>(room.data()); }
};
template <class T> struct whole_output {
  host_tensor& t;

  T load(std::int64_t i) const { return t.get<T>(static_cast<std::size_t>(i)); }
  template <class X> void store(std::int64_t i, X x) const {
    if (static_cast<std::uint64_t>(i) >= t.reals.size() + t.integers.size())
      throw std::logic_error("dnnkit: an operator writes outside its output");
    t.set(static_cast<std::size_t>(i), x);
  }
};

// Whole operators: compute(), once the extents that depend on the inputs' elements are known.
template <class Common, class Op, class... X> void compute_whole(const Op& op, const operands& o, const X&... x) {
  if constexpr (requires(whole_context c) { op.extents(c, x...); }) {
    const coordinates extents = op.extents(whole_context(o), x...);
    std::vector<std::int64_t> dims = o.output->dims;
    for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = extents[d];
    *o.output = host_tensor(o.output->type, dims);
  }
  whole_context c(o);
  if constexpr (requires { op.workspace(c); }) c.room.resize(static_cast<std::size_t>(op.workspace(c)));
  compute_output(op, c, whole_output<Common>{*o.output}, x...);
}
template <class T> elements_of<T> whole_input(const host_tensor* t) {
  return t ? elements_of<T>(*t) : elements_of<T>();
}
template <class Op, std::size_t I, class Common>
using whole_element = std::conditional_t<element_of<Op>(I) == element::logical, bool,
                                         std::conditional_t<holds_integers<Op>(I), std::int64_t, Common>>;
template <class Common, class Op> void evaluate_whole_as(const Op& op, const operands& o) {
  if constexpr (is_variadic<Op>) {
    std::vector<elements_of<Common>> inputs;
    for (const host_tensor* t : o.inputs) inputs.push_back(whole_input<Common>(t));
    compute_whole<Common>(op, o, [&](std::size_t i, const coordinates& c) { return inputs[i](c); });
  } else {
    const auto input = [&](std::size_t i) { return i < o.inputs.size() ? o.inputs[i] : nullptr; };
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      compute_whole<Common>(op, o, whole_input<whole_element<Op, I, Common>>(input(I))...);
    }
    (std::make_index_sequence<most_inputs<Op>()>());
  }
}

template <class Op, class... X> void evaluate_form(const Op& op, const operands& o, const X&... x) {
  if constexpr (Op::kind == form::elementwise) evaluate_elementwise(op, o, x...);
  else if constexpr (Op::kind == form::movement || Op::kind == form::point) evaluate_at(op, o, x...);
  else evaluate_rows(op, o, x...);
}

// Calls f(std::type_identity<T>{}) with the type that elements of `type` are computed with, if the operator accepts it
// and it is among Kinds, those to compile for.
template <element_kinds Kinds, class Op> void with_common_type(const Op& op, const host_tensor& t, auto f) {
  constexpr auto compiled = [](element_kinds kind) { return has(accepts<Op>, kind) && has(Kinds, kind); };
  if (t.floating()) {
    if constexpr (compiled(element_kinds::floating)) return f(std::type_identity<double>{});
  } else if (t.type == u64) {
    if constexpr (compiled(element_kinds::integral)) return f(std::type_identity<std::uint64_t>{});
  } else if (is_integral(t.type)) {
    if constexpr (compiled(element_kinds::integral)) return f(std::type_identity<std::int64_t>{});
  } else if constexpr (compiled(element_kinds::logical)) return f(std::type_identity<bool>{});
  refuse_element_type(op, t);
}

// Chooses, input by input, the type its elements are computed with, and then calls evaluate_form. Common is the type of
// the inputs that share one, void until the first of them.
template <element_kinds Kinds, class Common, class Op, class... X>
void evaluate_typed(const Op& op, const operands& o, const X&... x) {
  constexpr std::size_t i = sizeof...(X);
  if (i == o.inputs.size()) {
    if constexpr (i >= least_inputs<Op>()) return evaluate_form(op, o, x...);
  } else if constexpr (i < most_inputs<Op>()) {
    const host_tensor* t = o.inputs[i];
    if (!t) {
      if constexpr (i >= least_inputs<Op>()) return evaluate_typed<Kinds, Common>(op, o, x..., absent{});
    } else if constexpr (element_of<Op>(i) == element::logical)
      return evaluate_typed<Kinds, Common>(op, o, x..., elements_of<bool>(*t));
    else if constexpr (holds_integers<Op>(i))
      return evaluate_typed<Kinds, Common>(op, o, x..., elements_of<std::int64_t>(*t));
    else if constexpr (!std::is_void_v<Common>)
      return evaluate_typed<Kinds, Common>(op, o, x..., elements_of<Common>(*t));
    else
      return with_common_type<Kinds>(
          op, *t, [&]<class T>(std::type_identity<T>) { evaluate_typed<Kinds, T>(op, o, x..., elements_of<T>(*t)); });
  }
  throw std::logic_error("dnnkit: inputs that the operator does not take");
}

// Chooses the type the inputs of common type are computed with.
template <element_kinds Kinds, class Op> void evaluate_whole(const Op& op, const operands& o) {
  std::size_t common = 0;
  while (common < o.inputs.size() && (element_of<Op>(common) != element::common || !o.inputs[common])) ++common;
  const host_tensor& typed = common < o.inputs.size() ? *o.inputs[common] : *o.output;
  with_common_type<Kinds>(op, typed, [&]<class T>(std::type_identity<T>) { evaluate_whole_as<T>(op, o); });
}

// Computes the output of an operator from its scalar definition; its shape inference has accepted the inputs. Kinds:
// the common type of the inputs is one of these; others are refused (dnnkit::error).
template <element_kinds Kinds, class Op> void evaluate_definition(const Op& op, const operands& o) {
  if constexpr (Op::kind == form::whole) evaluate_whole<Kinds>(op, o);
  else if constexpr (is_variadic<Op>)
    with_common_type<Kinds>(op, *o.inputs[0], [&]<class T>(std::type_identity<T>) { evaluate_variadic<T>(op, o); });
  else evaluate_typed<Kinds, void>(op, o);
}

// The same, by a direct loop where there is one.
template <element_kinds Kinds, class Op> void evaluate_operator(const Op& op, const operands& o) {
  if constexpr (requires { evaluate_directly<Kinds>(op, o); }) evaluate_directly<Kinds>(op, o);
  else evaluate_definition<Kinds>(op, o);
}

}  // namespace dnnkit::detail
