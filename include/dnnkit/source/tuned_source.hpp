// SPDX-License-Identifier: MIT
// Rows of tables of tuned kernels (cost/tuned.hpp) as C++.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dnnkit/cost/tuned.hpp"
#include "dnnkit/source/escapes.hpp"

namespace dnnkit::generation {

// "{.vectors = 2, .rows = 7}"
inline std::string genes_text(const kernel_genes& genes) {
  std::string s;
  for (const named_gene& g : all_genes)
    if (genes.*g.value != 0)
      s += (s.empty() ? "." : ", .") + std::string(g.name) + " = " + std::to_string(genes.*g.value);
  return "{" + s + "}";
}

// "{0x00000000000000ff, "conv_nhwc", 12.5, {{.vectors = 2}, {.rows = 7}}}"; genes of several stages stand behind
// `line`.
inline std::string tuned_row_text(const tuned_kernel& k, std::string_view line = " ") {
  std::string digits(16, '0');
  std::array<char, 32> number{};
  const auto hexadecimal = std::to_chars(number.begin(), number.end(), k.key, 16);
  const auto length = static_cast<std::size_t>(hexadecimal.ptr - number.data());
  digits.replace(16 - length, length, number.data(), length);
  const auto time = std::to_chars(number.begin(), number.end(), k.microseconds);
  std::string s = "{0x" + digits + ", " + string_literal(k.family) + ", " +
                  std::string(number.data(), static_cast<std::size_t>(time.ptr - number.data()));
  std::size_t stages = tuned_kernel::most_stages;
  while (stages > 0 && k.genes[stages - 1] == kernel_genes{}) --stages;
  if (stages == 0) return s + "}";
  (s += ",") += stages == 1 ? " " : line;
  s += "{";
  for (std::size_t i = 0; i < stages; ++i) s += (i == 0 ? "" : ", ") + genes_text(k.genes[i]);
  return s + "}}";
}

}  // namespace dnnkit::generation
