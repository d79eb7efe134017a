// SPDX-License-Identifier: MIT
// Calls of one function that follow each other, each on the result of the one before, as loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dnnkit/source/anti_unification.hpp"
#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/item.hpp"

namespace dnnkit::generation {

// A literal for each gap of a statement outside all functions.
inline body_item with_literals(item x) {
  body_item b{std::move(x), {}, {}};
  for (const slot& s : b.pattern.slots) {
    switch (s.is) {
      case slot::kind::size:
        b.slots.push_back(integer_literal(s.size));
        break;
      case slot::kind::name:
        b.slots.push_back(string_literal(s.text));
        break;
      case slot::kind::real:
        b.slots.push_back(anti_unification::real_code(s));
        break;
      case slot::kind::expression:
        b.slots.push_back(s.text);
        break;
    }
    b.suffixes.emplace_back();
  }
  return b;
}

class loop_maker {
 public:
  loop_maker(const std::vector<item>& items, const std::vector<value_id>& kept) : items_(items) {
    for (const item& x : items)
      for (value_id v : x.operands) ++uses_[v];
    for (value_id v : kept) ++uses_[v];
  }
  std::vector<body_item> run() const {
    std::vector<body_item> list;
    for (std::size_t i = 0; i < items_.size();) {
      std::size_t end = i + 1;
      while (end < items_.size() && follows(end) && is_in_step(i, end)) ++end;
      if (end > i + 2) {
        list.push_back(loop_over(i, end));
        i = end;
      } else list.push_back(with_literals(items_[i++]));
    }
    return list;
  }

 private:
  bool follows(std::size_t i) const {
    const item &x = items_[i], &before = items_[i - 1];
    if (x.function == item::no_function || x.key != before.key || x.operands.empty()) return false;
    if (x.operands[0] != before.outputs[0] || uses_.at(x.operands[0]) != 1) return false;
    for (std::size_t r = 1; r < x.operands.size(); ++r)
      if (x.operands[r] != before.operands[r]) return false;
    return true;
  }
  // Whether what fills the gaps of items [first, i), which are in step, goes on in the same steps with item i.
  bool is_in_step(std::size_t first, std::size_t i) const {
    for (std::size_t k = 0; k < items_[i].slots.size(); ++k)
      if (!code_of(slots(std::max(first + 2, i) - 2, i + 1, k))) return false;
    return true;
  }
  std::vector<slot> slots(std::size_t first, std::size_t end, std::size_t k) const {
    std::vector<slot> values;
    for (std::size_t i = first; i < end; ++i) values.push_back(items_[i].slots[k]);
    return values;
  }
  body_item loop_over(std::size_t first, std::size_t end) const {
    body_item b{items_[first], {}, {}};
    b.pattern.outputs = items_[end - 1].outputs;
    b.pattern.loop_count = end - first;
    b.pattern.node_names.clear();
    for (std::size_t i = first; i < end; ++i)
      b.pattern.node_names.insert(b.pattern.node_names.end(), items_[i].node_names.begin(), items_[i].node_names.end());
    for (std::size_t k = 0; k < items_[first].slots.size(); ++k) {
      b.slots.push_back(code_of(slots(first, end, k)).value());
      b.suffixes.emplace_back();
    }
    return b;
  }
  // Code for a gap by the number of the round i; nothing where no steps are found.
  static std::optional<std::string> code_of(const std::vector<slot>& values) {
    const slot& first = values[0];
    if (first.is == slot::kind::size) {
      std::vector<std::int64_t> numbers;
      for (const slot& s : values) numbers.push_back(s.size);
      return in_steps(numbers);
    }
    if (first.is == slot::kind::name) return name_in_steps(values);
    item one;
    one.slots = {first};
    for (const slot& s : values)
      if (s.real != first.real || s.text != first.text) return std::nullopt;
    return with_literals(one).slots[0];
  }
  // "7", "i", "512 + 9 * i"
  static std::optional<std::string> in_steps(const std::vector<std::int64_t>& x) {
    const std::int64_t step = x[1] - x[0];
    for (std::size_t i = 2; i < x.size(); ++i)
      if (x[i] - x[i - 1] != step) return std::nullopt;
    if (step == 0) return integer_literal(x[0]);
    const std::string i = step == 1 ? "i" : std::to_string(step) + " * i";
    return x[0] == 0 ? i : integer_literal(x[0]) + " + " + i;
  }
  static std::optional<std::string> name_in_steps(const std::vector<slot>& values) {
    std::vector<numbered_name> cut;
    for (const slot& s : values) {
      cut.push_back(cut_at_numbers(s.text));
      if (cut.back().texts != cut[0].texts || s.text.size() > 200) return std::nullopt;
    }
    std::string open = cut[0].texts[0], s;
    for (std::size_t k = 0; k < cut[0].numbers.size(); ++k) {
      std::vector<std::int64_t> numbers;
      for (const numbered_name& n : cut) numbers.push_back(n.numbers[k]);
      const auto code = in_steps(numbers);
      if (!code) return std::nullopt;
      if (code->find('i') == std::string::npos) open += *code;
      else {
        s += s.empty() ? "dk::text(" + (open.empty() ? std::string() : string_literal(open)) + ")"
                       : " << " + string_literal(open);
        s += " << " + *code;
        open.clear();
      }
      open += cut[0].texts[k + 1];
    }
    if (s.empty()) return string_literal(open);
    return open.empty() ? s : s + " << " + string_literal(open);
  }

  const std::vector<item>& items_;
  std::map<value_id, std::size_t> uses_;
};

}  // namespace dnnkit::generation
