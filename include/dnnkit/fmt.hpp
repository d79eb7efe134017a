// SPDX-License-Identifier: MIT
// Formatters of the fmt library for what dnnkit's functions take and give: fmt::format("{} {}", x.dtype, dims). Widths
// and alignment are those of texts. Programs that include this link to dnnkit::inspect, or to fmt by themselves.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/error.hpp"
#include "dnnkit/core/text.hpp"
#include "dnnkit/reference/host_tensor.hpp"
#include "dnnkit/tensor/shape.hpp"
#include "dnnkit/weights/stored_tensor.hpp"

namespace dnnkit::detail {

inline std::string_view text_of(dtype type) { return name(type); }
inline std::string_view text_of(const text& t) { return t.view(); }
inline std::string_view text_of(const error& e) { return e.what(); }

// 3, "?" for one that is not known; an expression over symbols takes a symbol table to print: print(table, shape).
inline std::string text_of(dim d) {
  if (d.is_known()) return std::to_string(d.value());
  return d.is_unknown() ? "?" : "expression " + std::to_string(d.expression());
}
// "H", with its bounds where it has others than every symbol has: "H from 1 to 2160"
inline std::string text_of(const sym& s) {
  std::string t(s.name);
  if (s.limits != sym{}.limits) t += " from " + std::to_string(s.limits.min);
  if (s.limits.max != sym{}.limits.max) t += " to " + std::to_string(s.limits.max);
  return t;
}
// "[1, 3, ?]"
inline std::string text_of(const shape& s) {
  std::string t = "[";
  for (std::size_t i = 0; i < s.size(); ++i) (t += i == 0 ? "" : ", ") += text_of(s[i]);
  return t + "]";
}
// "f32 [1, 3, ?]"
inline std::string text_of(const tensor_type& t) { return std::string(name(t.type)) + " " + text_of(t.dims); }
// "f32 [16, 3, 3, 3]"
inline std::string text_of(const host_tensor& t) { return t.describe(); }
// "'conv1.weight' f32 [16, 3, 3, 3]", as errors name it
inline std::string text_of(const stored_tensor& t) {
  return dnnkit::detail::quoted(t.name) + " " + tensor_text(t.dtype, t.shape);
}

// A formatter that formats text_of(x).
template <class T> struct text_formatter : fmt::formatter<std::string_view> {
  template <class Context> auto format(const T& x, Context& c) const {
    return fmt::formatter<std::string_view>::format(text_of(x), c);
  }
};

}  // namespace dnnkit::detail

template <> struct fmt::formatter<dnnkit::dtype> : dnnkit::detail::text_formatter<dnnkit::dtype> {};
template <> struct fmt::formatter<dnnkit::text> : dnnkit::detail::text_formatter<dnnkit::text> {};
template <> struct fmt::formatter<dnnkit::error> : dnnkit::detail::text_formatter<dnnkit::error> {};
template <> struct fmt::formatter<dnnkit::dim> : dnnkit::detail::text_formatter<dnnkit::dim> {};
template <> struct fmt::formatter<dnnkit::sym> : dnnkit::detail::text_formatter<dnnkit::sym> {};
template <> struct fmt::formatter<dnnkit::shape> : dnnkit::detail::text_formatter<dnnkit::shape> {};
template <> struct fmt::formatter<dnnkit::tensor_type> : dnnkit::detail::text_formatter<dnnkit::tensor_type> {};
template <> struct fmt::formatter<dnnkit::host_tensor> : dnnkit::detail::text_formatter<dnnkit::host_tensor> {};
template <> struct fmt::formatter<dnnkit::stored_tensor> : dnnkit::detail::text_formatter<dnnkit::stored_tensor> {};
