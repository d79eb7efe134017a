// SPDX-License-Identifier: MIT
// C++ spellings: of numbers (which come back as the same bits), of types and enumerators.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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

}  // namespace dnnkit::generation
