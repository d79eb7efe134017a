// SPDX-License-Identifier: MIT
// C++ spellings: of numbers (which come back as the same bits), of strings, of types and enumerators, of names.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "dnnkit/core/dtype.hpp"

namespace dnnkit::generation {

// The shortest decimal that is read back as x; "1e-05" is written 1e-5.
template <class Real> std::string shortest(Real x) {
  std::array<char, 64> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr;
  std::string s(buffer.data(), end);
  if (const std::size_t e = s.find('e'); e != std::string::npos) {
    std::size_t digit = s[e + 1] == '-' ? e + 2 : e + 1;
    if (s[e + 1] == '+') s.erase(e + 1, 1), digit = e + 1;
    while (s[digit] == '0' && digit + 1 < s.size()) s.erase(digit, 1);
  }
  return s;
}

inline std::string limits_text(std::string_view type, std::string_view member) {
  return "std::numeric_limits<" + std::string(type) + ">::" + std::string(member) + "()";
}

// A constant expression of type double or float with the value x; as short as that allows.
inline std::string real_literal(double x) {
  if (std::isnan(x)) return limits_text("double", "quiet_NaN");
  if (std::isinf(x)) return (x < 0 ? "-" : "") + limits_text("double", "infinity");
  std::string s = shortest(x);
  if (const auto single = static_cast<float>(x); static_cast<double>(single) == x) {
    const std::string f = shortest(single);
    if (f.size() + 1 < s.size() && f.find_first_of(".e") != std::string::npos) return f + "f";
  }
  // a long whole number might not fit an int
  return s.find_first_of(".e") == std::string::npos && s.size() > 9 ? s + ".0" : s;
}

// A constant expression of type float.
inline std::string float_literal(float x) {
  if (std::isnan(x)) return limits_text("float", "quiet_NaN");
  if (std::isinf(x)) return (x < 0 ? "-" : "") + limits_text("float", "infinity");
  const std::string s = shortest(x);
  if (s.find_first_of(".e") != std::string::npos) return s + "f";
  return s.size() > 7 ? s + ".0f" : s;  // a small whole number is exact in any type
}

inline std::string integer_literal(std::int64_t x) {
  return x == std::numeric_limits<std::int64_t>::min() ? "std::numeric_limits<std::int64_t>::min()" : std::to_string(x);
}

inline std::string string_literal(std::string_view s) {
  std::string q = "\"";
  for (char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') q += {'\\', c};
    else if (byte >= 0x20 && byte < 0x7f) q += c;
    else  // three octal digits end by themselves, whatever follows
      q += {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
            static_cast<char>('0' + byte % 8)};
  }
  return q + "\"";
}

// dk::f32, dk::boolean
inline std::string dtype_literal(dtype t) {
  return "dk::" + (t == dtype::boolean ? std::string("boolean") : std::string(name(t)));
}

// What stands behind "V = " or "T = " in the compiler's name of the calling function, in terms of the alias dk.
inline std::string spelling_in(std::string_view function, std::string_view parameter) {
  const std::size_t begin = function.find(parameter) + parameter.size();
  std::string_view s = function.substr(begin);
  s = s.substr(0, s.find_first_of(";]"));
  constexpr std::string_view outer = "dnnkit::";
  return s.starts_with(outer) ? "dk::" + std::string(s.substr(outer.size())) : std::string(s);
}

// The type T as generated code says it: dk::op::conv.
template <class T> std::string type_spelling() { return spelling_in(__PRETTY_FUNCTION__, "T = "); }

template <auto V> std::string enumerator_spelling() { return spelling_in(__PRETTY_FUNCTION__, "V = "); }

// An enumeration's value as generated code says it: dk::op::depth_to_space_mode::crd. Enumerators are 0 to 31.
template <class Enum> std::string enumerator_spelling(Enum e) {
  std::string found = "static_cast<" + type_spelling<Enum>() + ">(" + std::to_string(static_cast<long>(e)) + ")";
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ((e == static_cast<Enum>(I) ? void(found = enumerator_spelling<static_cast<Enum>(I)>()) : void()), ...);
  }
  (std::make_integer_sequence<int, 32>{});
  return found;
}

inline bool is_keyword(const std::string& s) {
  static const std::set<std::string> words{
      "alignas",      "alignof",   "and",         "asm",        "auto",         "bool",          "break",
      "case",         "catch",     "char",        "class",      "concept",      "const",         "consteval",
      "constexpr",    "constinit", "continue",    "decltype",   "default",      "delete",        "do",
      "double",       "else",      "enum",        "explicit",   "export",       "extern",        "false",
      "float",        "for",       "friend",      "goto",       "if",           "inline",        "int",
      "long",         "mutable",   "namespace",   "new",        "noexcept",     "not",           "nullptr",
      "operator",     "or",        "private",     "protected",  "public",       "register",      "requires",
      "return",       "short",     "signed",      "sizeof",     "static",       "struct",        "switch",
      "template",     "this",      "throw",       "true",       "try",          "typedef",       "typeid",
      "typename",     "union",     "unsigned",    "using",      "virtual",      "void",          "volatile",
      "while",        "xor",       "static_cast", "const_cast", "bitand",       "bitor",         "compl",
      "char8_t",      "char16_t",  "char32_t",    "co_await",   "co_return",    "co_yield",      "and_eq",
      "or_eq",        "xor_eq",    "not_eq",      "wchar_t",    "thread_local", "static_assert", "reinterpret_cast",
      "dynamic_cast", "main",      "std",         "dk",         "dnnkit"};
  return words.contains(s);
}

// `s` as an identifier in snake_case: what is none of its characters becomes one underscore; `otherwise` when nothing
// is left.
inline std::string identifier(std::string_view s, std::string_view otherwise) {
  std::string id;
  bool lower_before = false;
  for (char c : s) {
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    if (upper && lower_before) id += '_';
    lower_before = lower || digit;
    if (upper) id += static_cast<char>(c - 'A' + 'a');
    else if (lower || digit) id += c;
    else if (!id.empty() && id.back() != '_') id += '_';
  }
  while (!id.empty() && id.back() == '_') id.pop_back();
  if (id.empty()) id = otherwise;
  if (id[0] >= '0' && id[0] <= '9') id = std::string(otherwise) + "_" + id;
  return is_keyword(id) ? id + "_" : id;
}

}  // namespace dnnkit::generation
