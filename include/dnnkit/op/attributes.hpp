// SPDX-License-Identifier: MIT
// Operators as values: the attributes of an operator struct, written to and read from a flat list of integers, and
// printed. An operator lists its attributes once, in a static member template attributes(self, visit).
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/core/text.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit {

using float_list = static_vector<float, 8>;

namespace detail {

template <class T> inline constexpr bool is_list = false;
template <class T, std::size_t N> inline constexpr bool is_list<static_vector<T, N>> = true;

template <class T> constexpr std::int64_t to_code(const T& x) {
  if constexpr (std::same_as<T, float>) return std::bit_cast<std::int32_t>(x);
  else if constexpr (std::same_as<T, dim>) return x.code;
  else return static_cast<std::int64_t>(x);
}
template <class T> constexpr T from_code(std::int64_t code) {
  if constexpr (std::same_as<T, float>) return std::bit_cast<float>(static_cast<std::int32_t>(code));
  else if constexpr (std::same_as<T, dim>) return dim::of_code(code);
  else return static_cast<T>(code);
}

struct ignore_attribute {
  template <class T> constexpr void operator()(std::string_view, const T&) const {}
};

template <class Op>
concept has_attributes = requires(Op& op) {
  Op::attributes(op, ignore_attribute{});
};

constexpr void print_value(text& t, const symbol_table& table, dim d) { t << table.print(d); }
constexpr void print_value(text& t, const symbol_table&, dtype type) { t << dnnkit::name(type); }
constexpr void print_value(text& t, const symbol_table&, bool b) { t << (b ? "true" : "false"); }
constexpr void print_value(text& t, const symbol_table&, float x) {
  // three significant decimals are enough to recognise an attribute
  const bool negative = x < 0;
  double v = negative ? -static_cast<double>(x) : static_cast<double>(x);
  int exponent = 0;
  if (!(v < 1e300)) {
    t << (negative ? "-inf" : v > 0 ? "inf" : "nan");
    return;
  }
  if (v != 0)
    while (v < 1 && exponent > -60) v *= 10, --exponent;
  while (v >= 10000) v /= 10, ++exponent;
  auto thousandths = static_cast<std::int64_t>(v * 1000 + 0.5);
  t << (negative ? "-" : "") << thousandths / 1000;
  thousandths %= 1000;
  if (thousandths != 0) {
    t << "." << thousandths / 100 << thousandths / 10 % 10 << thousandths % 10;
    while (t.chars[t.length - 1] == '0') --t.length;
  }
  if (exponent != 0) t << "e" << exponent;
}
template <class T>
requires std::integral<T> || std::is_enum_v<T>
constexpr void print_value(text& t, const symbol_table&, T x) { t << static_cast<std::int64_t>(x); }

}  // namespace detail

template <class Op> constexpr void encode(const Op& op, vector<std::int64_t>& codes) {
  if constexpr (detail::has_attributes<Op>)
    Op::attributes(op, [&](std::string_view, const auto& x) {
      using T = std::remove_cvref_t<decltype(x)>;
      if constexpr (detail::is_list<T>) {
        codes.push_back(static_cast<std::int64_t>(x.size()));
        for (const auto& e : x) codes.push_back(detail::to_code(e));
      } else codes.push_back(detail::to_code(x));
    });
}

template <class Op> constexpr Op decode(const std::int64_t* codes) {
  Op op{};
  if constexpr (detail::has_attributes<Op>)
    Op::attributes(op, [&](std::string_view, auto& x) {
      using T = std::remove_cvref_t<decltype(x)>;
      if constexpr (detail::is_list<T>) {
        x.clear();
        for (std::int64_t n = *codes++; n > 0; --n) x.push_back(detail::from_code<typename T::value_type>(*codes++));
      } else x = detail::from_code<T>(*codes++);
    });
  return op;
}

// "kernel_shape=[3, 3] group=1"
template <class Op> constexpr void print_attributes(const Op& op, const symbol_table& table, text& t) {
  if constexpr (detail::has_attributes<Op>) {
    bool first = true;
    Op::attributes(op, [&](std::string_view name, const auto& x) {
      t << (first ? "" : " ") << name << "=";
      first = false;
      if constexpr (detail::is_list<std::remove_cvref_t<decltype(x)>>) {
        t << "[";
        for (std::size_t i = 0; i < x.size(); ++i) {
          t << (i ? ", " : "");
          detail::print_value(t, table, x[i]);
        }
        t << "]";
      } else detail::print_value(t, table, x);
    });
  }
}

}  // namespace dnnkit
