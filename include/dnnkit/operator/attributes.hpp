// SPDX-License-Identifier: MIT
// Operators as values: the attributes of an operator struct, written to and read from a flat list of integers, and
// printed. An operator lists its attributes once, in a static member template attributes(self, visit).
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "dnnkit/core/dtype.hpp"
#include "dnnkit/core/static_vector.hpp"
#include "dnnkit/core/text.hpp"
#include "dnnkit/core/vector.hpp"
#include "dnnkit/tensor/view.hpp"

namespace dnnkit {

using float_list = static_vector<float, 16>;
using attribute_text = static_vector<char, 64>;

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
// Six significant digits: 0.2, 1e-5, -1234.5.
constexpr void print_value(text& t, const symbol_table&, float x) {
  double v = x < 0 ? -static_cast<double>(x) : static_cast<double>(x);
  t << (x < 0 ? "-" : "");
  if (!(v <= static_cast<double>(std::numeric_limits<float>::max()))) {
    t << (v > 0 ? "inf" : "nan");
    return;
  }
  int exponent = 0;  // v = digits * 10^(exponent - 5)
  for (; v >= 10; ++exponent) v /= 10;
  for (; v != 0 && v < 1; --exponent) v *= 10;
  auto digits = static_cast<std::int64_t>(v * 1e5 + 0.5);
  if (digits >= 1'000'000) digits /= 10, ++exponent;
  int count = 6;
  for (; count > 1 && digits % 10 == 0; --count) digits /= 10;
  const bool scientific = exponent < -4 || exponent > 6;
  const int whole = scientific ? 1 : exponent + 1;  // digits before the point
  if (whole <= 0) t << "0.";
  for (int i = whole; i < 0; ++i) t << "0";
  std::int64_t unit = 1;
  for (int i = 1; i < count; ++i) unit *= 10;
  for (int i = 0; i < count; ++i, unit /= 10) t << (i == whole && i > 0 ? "." : "") << digits / unit % 10;
  for (int i = count; i < whole; ++i) t << "0";
  if (scientific) t << "e" << exponent;
}
template <class T>
requires std::integral<T> || std::is_enum_v<T>
constexpr void print_value(text& t, const symbol_table&, T x) { t << static_cast<std::int64_t>(x); }

}  // namespace detail

template <class Op> constexpr void encode(const Op& op, vector<std::int64_t>& codes) {
  if constexpr (detail::has_attributes<Op>)
    Op::attributes(op, [&](const char*, const auto& x) {
      using T = std::remove_cvref_t<decltype(x)>;
      if constexpr (detail::is_list<T>) {
        codes.push_back(static_cast<std::int64_t>(x.count));
        for (std::size_t i = 0; i < x.count; ++i) codes.push_back(detail::to_code(x.items[i]));
      } else codes.push_back(detail::to_code(x));
    });
}

template <class Op> constexpr Op decode(const std::int64_t* codes) {
  Op op{};
  if constexpr (detail::has_attributes<Op>)
    Op::attributes(op, [&](const char*, auto& x) {
      using T = std::remove_cvref_t<decltype(x)>;
      if constexpr (detail::is_list<T>) {
        x.clear();
        for (std::int64_t n = *codes++; n > 0; --n) x.push_back(detail::from_code<typename T::value_type>(*codes++));
      } else x = detail::from_code<T>(*codes++);
    });
  return op;
}

// Positions of the codes that are dimensions whose value is known only when the network runs.
template <class Op> constexpr vector<std::size_t> symbolic_codes(const Op& op) {
  vector<std::size_t> found;
  std::size_t position = 0;
  if constexpr (detail::has_attributes<Op>)
    Op::attributes(op, [&](const char*, const auto& x) {
      using T = std::remove_cvref_t<decltype(x)>;
      if constexpr (detail::is_list<T>) {
        ++position;  // of the length
        if constexpr (std::same_as<typename T::value_type, dim>)
          for (std::size_t i = 0; i < x.count; ++i)
            if (!x.items[i].is_known()) found.push_back(position + i);
        position += x.count;
      } else {
        if constexpr (std::same_as<T, dim>)
          if (!x.is_known()) found.push_back(position);
        ++position;
      }
    });
  return found;
}

// "kernel_shape=[3, 3] group=1"
template <class Op> constexpr void print_attributes(const Op& op, const symbol_table& table, text& t) {
  if constexpr (detail::has_attributes<Op>) {
    bool first = true;
    Op::attributes(op, [&](std::string_view name, const auto& x) {
      t << (first ? "" : " ") << name << "=";
      first = false;
      if constexpr (std::same_as<std::remove_cvref_t<decltype(x)>, attribute_text>) {
        t << std::string_view(x.begin(), x.size());
      } else if constexpr (detail::is_list<std::remove_cvref_t<decltype(x)>>) {
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
