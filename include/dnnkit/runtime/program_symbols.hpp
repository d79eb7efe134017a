// SPDX-License-Identifier: MIT
// The values of a program's symbols: those that --dim gives, and those that follow from the extents of its inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dnnkit/core/error.hpp"
#include "dnnkit/runtime/binding.hpp"
#include "dnnkit/tensor/check_assumptions.hpp"
#include "dnnkit/tensor/shape.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit::detail {

class program_symbols {
 public:
  using sizes = std::map<std::string, std::int64_t, std::less<>>;

  // An input as the network has it, and the extents it is given. `where`, `text`: for messages.
  struct input {
    std::string where, text;
    shape dims;
    std::vector<std::int64_t> extents;
  };

  // `given`: by name, of symbols, or of what a symbol is a part of: an imported model that needs H to be a multiple of
  // 16 has the symbol H/16, and both H and H/16 can be given. Throws dnnkit::error for a name that stands for nothing,
  // for values that are out of bounds or contradict each other or an input, and for a symbol that is left without one.
  program_symbols(const symbol_table& table, const sizes& given, const std::vector<input>& inputs)
      : table_(table), inputs_(inputs), found_(table.symbols.size()) {
    for (const auto& [name, value] : given) take(name, value);
    for (const input& i : inputs) take(i);
    take_assumed();
    for (std::size_t k = 0; k < found_.size(); ++k) {
      if (!found_[k].value)
        throw error("has no value, which no input's shape tells (" + inputs_text() + "); give it one by --dim " +
                        name_of(k) + "=NUMBER",
                    symbol_text(k));
      values_.push_back(*found_[k].value);
    }
    for (const input& i : inputs) check(i);
  }

  // In the table's order.
  const std::vector<std::int64_t>& values() const noexcept { return values_; }

 private:
  struct finding {
    std::optional<std::int64_t> value;
    std::string source;
  };

  std::string name_of(std::size_t k) const { return table_.symbols[k].name.str(); }
  std::string symbol_text(std::size_t k) const { return "symbol '" + name_of(k) + "'"; }
  std::string inputs_text() const {
    std::string s;
    for (const input& i : inputs_) (s += s.empty() ? "" : "; ") += i.text;
    return s;
  }

  void set(std::size_t k, std::int64_t value, const std::string& source) {
    finding& f = found_[k];
    if (f.value && *f.value != value)
      throw error("has two values", symbol_text(k), std::to_string(*f.value) + ", from " + f.source,
                  std::to_string(value) + ", from " + source);
    const bounds limits = table_.symbols[k].limits;
    if (value < limits.min || value > limits.max)
      throw error("is out of its bounds", symbol_text(k),
                  std::to_string(limits.min) + " to " + std::to_string(limits.max),
                  std::to_string(value) + ", from " + source);
    if (!f.value) f = {value, source};
  }

  void take(const std::string& name, std::int64_t value) {
    const std::string option = "--dim " + name;
    std::string known;
    for (std::size_t k = 0; k < found_.size(); ++k) {
      if (name_of(k) == name) return set(k, value, option);
      known += (k ? ", " : "") + name_of(k);
    }
    for (std::size_t k = 0; k < found_.size(); ++k)
      if (const std::optional<std::int64_t> n = divisor(name_of(k), name)) {
        if (value % *n != 0)
          throw error("is no extent that the network can have", option, "a multiple of " + std::to_string(*n),
                      std::to_string(value));
        return set(k, value / *n, option);
      }
    throw error("the network has no symbol of this name", option,
                (known.empty() ? "no --dim: it has none at all" : "one of " + known) + " (" + inputs_text() + ")",
                name);
  }

  void take(const input& i) {
    for (std::size_t d = 0; d < i.dims.size(); ++d) {
      const std::optional<linear_dim> x = table_.linear_of(i.dims[d]);
      if (!x) continue;
      const std::optional<std::int64_t> value = x->solve(i.extents[d]);
      if (!value)
        throw error("extent " + std::to_string(d) + " is not of the form it must have", i.where,
                    table_.print(i.dims[d]).str() + " (" + i.text + ")", std::to_string(i.extents[d]));
      set(x->symbol, *value, i.where);
    }
  }

  // Those that assumptions give a value.
  void take_assumed() {
    std::vector<std::optional<std::int64_t>> values;
    for (const finding& f : found_) values.push_back(f.value);
    find_assumed(table_, values);
    for (std::size_t k = 0; k < found_.size(); ++k)
      if (!found_[k].value && values[k]) set(k, *values[k], "what is assumed");
  }

  void check(const input& i) const {
    std::vector<std::int64_t> expected;
    for (dim d : i.dims) expected.push_back(table_.evaluate(d, values_.data()));
    if (expected != i.extents)
      throw error("has another shape than the network's", i.where, shape_text(expected) + " (" + i.text + ")",
                  shape_text(i.extents));
  }

  const symbol_table& table_;
  const std::vector<input>& inputs_;
  std::vector<finding> found_;
  std::vector<std::int64_t> values_;
};

}  // namespace dnnkit::detail
