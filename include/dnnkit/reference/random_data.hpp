// SPDX-License-Identifier: MIT
// Random inputs and weights for a graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dnnkit/core/element.hpp"
#include "dnnkit/graph/graph.hpp"
#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/reference/random_source.hpp"

namespace dnnkit {

using weight_map = std::map<std::string, host_tensor, std::less<>>;

struct random_operands {
  std::map<std::string, std::int64_t> symbols;
  std::vector<host_tensor> inputs;
  weight_map weights;
};

namespace detail {
inline host_tensor random_tensor(dtype type, const std::vector<std::int64_t>& dims, std::string_view name,
                                 double largest, random_source& r) {
  host_tensor t(type, dims);
  const bool positive = name.starts_with("variance") || name.ends_with("running_var");
  for (double& x : t.reals) x = round_to(type, positive ? r.real(0.5, 1.5) : r.real(-largest, largest));
  const std::int64_t least = !info(type).is_signed ? 0 : type == i8 ? -128 : -5;
  const std::int64_t most = type == boolean ? 1 : type == u8 ? 255 : type == i8 ? 127 : 5;
  for (std::int64_t& x : t.integers) x = r.between(least, most);
  return t;
}
}  // namespace detail

// Random inputs, weights and values of symbols (within their bounds, up to 8 above the least). Floats lie in
// [-largest, largest), those of tensors named "variance..." or "...running_var" in [0.5, 1.5), bytes in all their
// range, other integers in -5 ... 5, those without a sign in 0 ... 5.
[[nodiscard]] inline random_operands random_data(const graph& g, std::uint64_t seed, double largest = 1) {
  random_source r(seed);
  random_operands data;
  std::vector<std::int64_t> values;
  for (const symbol& s : g.symbols.symbols) {
    values.push_back(r.between(s.limits.min, std::min(s.limits.max, s.limits.min + 8)));
    data.symbols[s.name.str()] = values.back();
  }
  const auto dims_of = [&](const value& v) {
    std::vector<std::int64_t> dims;
    for (dim d : v.type.dims) dims.push_back(g.symbols.evaluate(d, values.data()));
    return dims;
  };
  for (value_id v : g.inputs)
    data.inputs.push_back(detail::random_tensor(g.at(v).type.type, dims_of(g.at(v)), g.name_of(v), largest, r));
  for (std::size_t i = 0; i < g.values.size(); ++i) {
    const value& v = g.values[i];
    if (v.from == origin::weight)
      data.weights[std::string(g.text_of(v.name))] =
          detail::random_tensor(v.type.type, dims_of(v), g.text_of(v.name), largest, r);
  }
  return data;
}

}  // namespace dnnkit
