// SPDX-License-Identifier: MIT
// The values of a plan's symbols, read off the extents of ranges for its inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/plan/plan.hpp"
#include "dnnkit/runtime/binding.hpp"
#include "dnnkit/runtime/run_argument.hpp"

namespace dnnkit::detail {

// Each extent of a range is an equation: it is the product of one or more of the input's (run_argument.hpp). One all of
// whose factors are known but one, which is linear in a symbol, gives that symbol its value; repeated until nothing
// more is learnt.
class extents_to_symbols {
 public:
  extents_to_symbols(const plan_view& plan, const symbol_table& table)
      : plan_(plan), table_(table), values_(plan.symbols.size()) {}

  // Throws dnnkit::error naming the input when an extent is not what it should be, or a symbol that none of them gives
  // a value.
  std::vector<binding> solve(std::span<const extent_list> inputs) {
    for (bool learnt = true; learnt;) {
      learnt = false;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        for (std::size_t k = 0; k < inputs[i].size(); ++k) learnt = learn(i, inputs[i], k) || learnt;
    }
    find_assumed(table_, values_);
    std::vector<binding> bindings;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i])
        throw error("the inputs' sizes do not say its value; call bind({{\"" + plan_.symbols[i].name.str() +
                        "\", NUMBER}, ...}) with the values of all symbols",
                    "symbol '" + plan_.symbols[i].name.str() + "'", {}, declared_inputs());
      bindings.push_back({plan_.symbols[i].name.view(), *values_[i]});
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      static_vector<std::int64_t, max_rank> dims;
      for (dim d : plan_.declared_input(i)) dims.push_back(*value_of(d));
      check_extents(plan_, i, dims, inputs[i]);
    }
    return bindings;
  }

 private:
  // "input 'x' [N, M], input 'z' [4]"
  std::string declared_inputs() const {
    std::string s;
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i)
      s += (i ? ", " : "") + name_of_port(plan_, i) + " " + dnnkit::print(table_, plan_.declared_input(i)).str();
    return s;
  }
  bool learn(std::size_t input, const extent_list& found, std::size_t k) {
    const shape& dims = plan_.declared_input(input);
    if (found.size() > dims.size() + 1)
      throw error("range has too many extents", name_of_port(plan_, input), "at most " + std::to_string(dims.size()),
                  std::to_string(found.size()));
    const std::size_t leading = dims.size() + 1 - found.size();
    const std::size_t first = k == 0 ? 0 : leading + k - 1, end = k == 0 ? leading : first + 1;
    std::int64_t known = 1;
    std::optional<linear_dim> open;
    for (std::size_t d = first; d < end; ++d) {
      if (const std::optional<std::int64_t> value = value_of(dims[d])) {
        known = saturating_mul(known, *value);
        continue;
      }
      if (open) return false;  // two that are not known
      open = table_.linear_of(dims[d]);
      if (!open) return false;
    }
    if (!open) return false;
    const bool divides = known != 0 && found[k] % known == 0;
    const std::optional<std::int64_t> value = divides ? open->solve(found[k] / known) : std::nullopt;
    if (!value)
      throw error("range has an extent that no value of symbol '" + plan_.symbols[open->symbol].name.str() + "' gives",
                  name_of_port(plan_, input), dnnkit::print(table_, dims).str(), text_of(found));
    values_[open->symbol] = value;
    return true;
  }

  // When all symbols in it are known.
  std::optional<std::int64_t> value_of(dim d) const { return detail::value_of(table_, d, values_); }

  const plan_view& plan_;
  const symbol_table& table_;
  std::vector<std::optional<std::int64_t>> values_;
};

}  // namespace dnnkit::detail
