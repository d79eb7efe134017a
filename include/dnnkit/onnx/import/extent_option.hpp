// SPDX-License-Identifier: MIT
// What a command line says of a symbolic extent: NAME=NUMBER, or NAME=FIRST..LAST, which leaves it a symbol.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dnnkit/core/error.hpp"
#include "dnnkit/onnx/import/result.hpp"

namespace dnnkit::onnx {

// Notes it; `option` is named in errors. Throws dnnkit::error where it says something else, or has a name that was
// given before.
inline void set_extent(import_options& options, std::string_view option, std::string_view assignment) {
  const auto refuse = [&](std::string_view name) {
    throw error("is no extent", std::string(option) + (name.empty() ? "" : " ") + std::string(name),
                "NAME=NUMBER or NAME=FIRST..LAST", std::string(assignment));
  };
  const std::size_t equals = assignment.rfind('=');
  if (equals == assignment.npos || equals == 0) return refuse({});
  const std::string name(assignment.substr(0, equals));
  if (options.sizes.contains(name) || options.ranges.contains(name))
    throw error("is given twice", std::string(option) + " " + name);
  const auto number = [](std::string_view text) -> std::optional<std::int64_t> {
    std::int64_t n = -1;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (failure != std::errc() || end != text.data() + text.size() || n < 0) return std::nullopt;
    return n;
  };
  const std::string_view value = assignment.substr(equals + 1);
  const std::size_t dots = value.find("..");
  if (dots == value.npos) {
    const auto n = number(value);
    if (!n) return refuse(name);
    options.sizes[name] = *n;
    return;
  }
  const auto first = number(value.substr(0, dots)), last = number(value.substr(dots + 2));
  if (!first || !last || *first > *last || *last > bounds{}.max) return refuse(name);
  options.ranges[name] = bounds{*first, *last};
}

}  // namespace dnnkit::onnx
