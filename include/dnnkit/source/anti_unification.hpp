// SPDX-License-Identifier: MIT
// Anti-unification of the calls of a function: from the contents of one gap in all of them to code that gives each, a
// literal where they agree, a parameter where they do not, or an expression over parameters there are already ("2 *
// width", "n + 3").
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dnnkit/source/escapes.hpp"
#include "dnnkit/source/expression.hpp"
#include "dnnkit/source/identifiers.hpp"
#include "dnnkit/source/literals.hpp"

namespace dnnkit::generation {

// A name cut into text and numbers: "layer.12.bias" is {"layer.", ".bias"} and {12}.
struct numbered_name {
  std::vector<std::string> texts;  // one more than numbers
  std::vector<std::int64_t> numbers;
  friend bool operator==(const numbered_name&, const numbered_name&) = default;
};
inline numbered_name cut_at_numbers(std::string_view name) {
  numbered_name r{{""}, {}};
  const auto digit = [&](std::size_t i) { return i < name.size() && name[i] >= '0' && name[i] <= '9'; };
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    while (digit(end)) ++end;
    const bool number = end > i && end - i <= 9 && (end - i == 1 || name[i] != '0');
    if (!number) {
      end = std::max(end, i + 1);
      r.texts.back() += name.substr(i, end - i);
    } else {
      std::int64_t n = 0;
      for (std::size_t k = i; k < end; ++k) n = 10 * n + (name[k] - '0');
      r.numbers.push_back(n);
      r.texts.emplace_back();
    }
    i = end;
  }
  return r;
}

class anti_unification {
 public:
  // Parameters are called otherwise than what is in `outer`, which the function may use.
  explicit anti_unification(const name_scope& outer) : outer_(outer) {}

  struct variable {
    parameter as;
    std::vector<gap> values;  // by call
    bool of_name = false;     // a number in a weight's name; related to other such numbers only
  };
  // Code for a gap; a weight's name may be two strings, the second one a literal.
  struct code {
    std::string text, suffix;
  };

  // `values`: what fills one gap, by call.
  code add(const std::vector<const gap*>& values) {
    const gap& first = *values[0];
    switch (first.is) {
      case gap::kind::size: {
        std::vector<std::int64_t> numbers;
        for (const gap* s : values) numbers.push_back(s->size);
        return {number(numbers, first.role, first.of_name), {}};
      }
      case gap::kind::name: {
        std::vector<std::string_view> names;
        for (const gap* s : values) names.push_back(s->text);
        return name(names);
      }
      default:
        return {other(values), {}};
    }
  }
  std::size_t size() const { return list_.size(); }  // how many parameters there are so far

  // Sorted as a reader expects them: names, then numbers of names, then sizes.
  std::vector<variable> parameters() const {
    std::vector<variable> sorted = list_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const variable& a, const variable& b) { return rank(a) < rank(b); });
    return sorted;
  }

  static std::string real_code(const gap& s) {
    return s.text == "float" ? float_literal(static_cast<float>(s.real)) : real_literal(s.real);
  }

 private:
  static std::size_t rank(const variable& c) {
    static constexpr std::array<std::string_view, 6> order{"in", "out", "channels", "width", "kernel", "stride"};
    if (c.values[0].is == gap::kind::name) return 0;
    if (c.of_name) return 1;
    for (std::size_t i = 0; i < order.size(); ++i)
      if (c.values[0].role == order[i]) return 2 + i;
    return 2 + order.size();
  }

  std::string number(const std::vector<std::int64_t>& x, const std::string& role, bool of_name) {
    if (std::all_of(x.begin(), x.end(), [&](std::int64_t v) { return v == x[0]; })) return integer_literal(x[0]);
    for (const variable& c : list_)
      if (c.values[0].is == gap::kind::size && c.of_name == of_name)
        if (auto s = related(x, c, of_name)) return *s;
    std::vector<gap> values;
    bool small = true;
    for (std::int64_t v : x) {
      values.push_back({gap::kind::size, v, 0, {}, role, of_name});
      small = small && v == static_cast<std::int32_t>(v);
    }
    return parameter_for(std::move(values), small ? "int" : "std::int64_t", of_name).as.name;
  }
  // x as an expression over the parameter c.
  static std::optional<std::string> related(const std::vector<std::int64_t>& x, const variable& c, bool of_name) {
    std::vector<std::int64_t> p;
    std::set<std::int64_t> different;
    for (const gap& s : c.values) p.push_back(s.size), different.insert(s.size);
    const auto holds = [&](auto f) {
      for (std::size_t i = 0; i < x.size(); ++i)
        if (f(p[i]) != x[i]) return false;
      return true;
    };
    const std::string& n = c.as.name;
    const auto plus = [](std::int64_t d) {
      return d == 0 ? "" : (d < 0 ? " - " : " + ") + std::to_string(d < 0 ? -d : d);
    };
    if (holds([](std::int64_t v) { return v; })) return n;
    const std::int64_t difference = x[0] - p[0];
    if (of_name && holds([&](std::int64_t v) { return v + difference; })) return n + plus(difference);
    if (!of_name && p[0] > 0 && x[0] > 0) {
      const std::int64_t up = x[0] / p[0], down = p[0] / x[0];
      if (up > 1 && holds([&](std::int64_t v) { return v * up; })) return std::to_string(up) + " * " + n;
      if (down > 1 && holds([&](std::int64_t v) { return v % down == 0 ? v / down : -1; }))
        return n + " / " + std::to_string(down);
      if (holds([](std::int64_t v) { return v / 2; })) return n + " / 2";
    }
    if (!of_name && c.values[0].role == "kernel" && holds([](std::int64_t v) { return v / 2; })) return n + " / 2";
    if (different.size() < 3) return std::nullopt;  // any two points lie on a line
    for (std::size_t i = 1; i < x.size(); ++i) {
      if (p[i] == p[0]) continue;
      const std::int64_t factor = (x[i] - x[0]) / (p[i] - p[0]), offset = x[0] - factor * p[0];
      if (factor <= 0 || !holds([&](std::int64_t v) { return factor * v + offset; })) return std::nullopt;
      return (factor == 1 ? "" : std::to_string(factor) + " * ") + n + plus(offset);
    }
    return std::nullopt;
  }

  code name(const std::vector<std::string_view>& x) {
    if (std::all_of(x.begin(), x.end(), [&](std::string_view v) { return v == x[0]; }))
      return {string_literal(x[0]), {}};
    for (const variable& c : list_)
      if (auto suffix = suffix_behind(x, c)) return {c.as.name, *suffix};
    std::vector<numbered_name> cut;
    bool numbered = true;
    for (const std::string_view s : x) {
      numbered = numbered && s.size() < 200;  // what dnnkit::text can hold, generously
      cut.push_back(cut_at_numbers(s));
      numbered = numbered && cut.back().texts == cut[0].texts;
    }
    if (numbered) return {numbered_code(cut), {}};
    const std::size_t common = common_suffix(x);
    std::vector<gap> values;
    for (const std::string_view s : x)
      values.push_back({gap::kind::name, 0, 0, std::string(s.substr(0, s.size() - common)), "name", false});
    return {parameter_for(std::move(values), "std::string_view", false).as.name,
            std::string(x[0].substr(x[0].size() - common))};
  }
  // dk::text("layer.") << i << ".bias"
  std::string numbered_code(const std::vector<numbered_name>& x) {
    const auto& texts = x[0].texts;
    std::string open = texts[0], s;
    for (std::size_t k = 0; k < x[0].numbers.size(); ++k) {
      std::vector<std::int64_t> numbers;
      for (const numbered_name& n : x) numbers.push_back(n.numbers[k]);
      const bool anonymous = texts[k].ends_with("_") || texts[k].ends_with(":") || texts[k].empty();
      const std::string number_code = number(numbers, anonymous ? "n" : "i", true);
      const bool literal = number_code.find_first_not_of("0123456789") == std::string::npos;
      if (literal) open += number_code + texts[k + 1];
      else {
        s += (s.empty()      ? "dk::text(" + (open.empty() ? "" : string_literal(open)) + ")"
              : open.empty() ? ""
                             : " << " + string_literal(open));
        s += " << " + number_code;
        open = texts[k + 1];
      }
    }
    return open.empty() ? s : s + " << " + string_literal(open);
  }
  // The string that stands behind the parameter c in all x.
  static std::optional<std::string> suffix_behind(const std::vector<std::string_view>& x, const variable& c) {
    if (c.values[0].is != gap::kind::name) return std::nullopt;
    std::optional<std::string_view> suffix;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!x[i].starts_with(c.values[i].text)) return std::nullopt;
      const std::string_view rest = x[i].substr(c.values[i].text.size());
      if (suffix && *suffix != rest) return std::nullopt;
      suffix = rest;
    }
    return std::string(*suffix);
  }
  // Characters that all names end in, from a separator on.
  static std::size_t common_suffix(const std::vector<std::string_view>& x) {
    std::size_t n = 0, at_separator = 0;
    while (true) {
      for (const std::string_view s : x)
        if (n + 1 >= s.size() || s[s.size() - 1 - n] != x[0][x[0].size() - 1 - n]) return at_separator;
      const char c = x[0][x[0].size() - 1 - n];
      ++n;
      if (c == '.' || c == '/' || c == '_' || c == ':') at_separator = n;
    }
  }

  std::string other(const std::vector<const gap*>& pointers) {
    std::vector<gap> values;
    for (const gap* s : pointers) values.push_back(*s);
    const bool real = values[0].is == gap::kind::real;
    const auto text = [&](const gap& s) { return real ? real_code(s) : s.text; };
    if (std::all_of(values.begin(), values.end(), [&](const gap& s) { return text(s) == text(values[0]); }))
      return text(values[0]);
    for (const variable& c : list_) {
      bool equal = c.values[0].is == values[0].is;
      for (std::size_t i = 0; i < values.size() && equal; ++i) equal = text(c.values[i]) == text(values[i]);
      if (equal) return c.as.name;
    }
    const std::string type = values[0].role == "elements" ? "std::span<const double>"
                             : values[0].role == "codes"  ? "std::span<const std::int64_t>"
                             : !real                      ? "dk::dim"
                             : values[0].text == "float"  ? "float"
                                                          : "double";
    return parameter_for(values, type, false).as.name;
  }

  const variable& parameter_for(std::vector<gap> values, std::string type, bool of_name) {
    std::string role = identifier(values[0].role.empty() ? "value" : values[0].role, "value");
    if (role.size() == 1 && std::string_view("abcx").find(role[0]) != std::string_view::npos) role = "value_" + role;
    const auto is_taken = [&](const std::string& name) {
      return outer_.contains(name) ||
             std::any_of(list_.begin(), list_.end(), [&](const variable& c) { return c.as.name == name; });
    };
    std::string unique = role;
    for (int i = 2; is_taken(unique); ++i) unique = name_scope::numbered(role, i);
    list_.push_back({{std::move(type), unique}, std::move(values), of_name});
    return list_.back();
  }

  const name_scope& outer_;
  std::vector<variable> list_;
};

}  // namespace dnnkit::generation
