// SPDX-License-Identifier: MIT
// Lines of code: indentation, and line breaks where a statement is too long, aligned as clang-format does it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dnnkit::generation {

inline constexpr std::size_t line_width = 120;

// One statement as lines no longer than line_width where it has places to break: behind a comma, before an operator or
// `<<`, the outermost brackets first.
inline std::string broken(std::string rest, std::size_t indent) {
  std::string result;
  std::vector<std::size_t> open;  // columns behind the brackets that are open where `rest` begins
  std::string line(indent, ' ');
  line += rest;
  while (line.size() > line_width) {
    std::vector<std::size_t> stack = open;
    std::size_t best = 0, best_depth = static_cast<std::size_t>(-1);
    std::vector<std::size_t> best_stack;
    bool in_string = false;
    for (std::size_t i = 0; i < line_width; ++i) {
      const char c = line[i];
      if (in_string) {
        if (c == '\\') ++i;
        else if (c == '"') in_string = false;
        continue;
      }
      if (c == '"') in_string = true;
      else if (c == '(' || c == '{' || c == '[') stack.push_back(i + 1);
      else if ((c == ')' || c == '}' || c == ']') && !stack.empty()) stack.pop_back();
      const auto behind = [&](std::string_view what) { return i >= 2 && line.compare(i - 2, 3, what) == 0; };
      const bool at_equals = behind(" = ");
      const bool breakable =
          c == ' ' && i > indent &&
          (line[i - 1] == ',' || line.compare(i, 4, " << ") == 0 || behind(" + ") || behind(" * ") || at_equals);
      if (breakable && stack.size() + (at_equals ? 2 : 0) <= best_depth &&
          i > (open.empty() ? indent : open.back()) + 8)
        best = i, best_depth = stack.size() + (at_equals ? 2 : 0), best_stack = stack;
    }
    if (best == 0) break;
    result += line.substr(0, best) + "\n";
    const std::size_t column = best_stack.empty() ? indent + 4 : best_stack.back();
    line = std::string(column, ' ') + line.substr(best + 1);
    open = best_stack;
    if (open.empty()) open.push_back(column);
  }
  return result + line + "\n";
}

}  // namespace dnnkit::generation
